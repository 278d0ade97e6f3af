package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// young is the age below which members count as a cohort of their own.
const young = time.Hour

// cohort is a property that some members share.
type cohort struct {
	text      string
	bad, good int
}

// cohorts counts who among the bad and the good has which property.
type cohorts struct {
	tally       map[string]*cohort
	bads, goods int
}

func (c *cohorts) add(isBad bool, properties []string) {
	if isBad {
		c.bads++
	} else {
		c.goods++
	}
	for _, p := range properties {
		of := c.tally[p]
		if of == nil {
			of = &cohort{text: p}
			c.tally[p] = of
		}
		if isBad {
			of.bad++
		} else {
			of.good++
		}
	}
}

// probableCause names what the bad members share and the good ones do not, with counts, and how they fail alike; "" when nothing
// tells them apart.
func (k *look) probableCause() string {
	traits, symptoms := cohorts{tally: map[string]*cohort{}}, cohorts{tally: map[string]*cohort{}}
	for i := range k.views {
		if v := &k.views[i]; v.class != outside {
			traits.add(v.isBad(), k.traits(v))
			symptoms.add(v.isBad(), k.symptoms(v))
		}
	}
	var parts []string
	if traits.goods > 0 { // where everybody fails, what they all are says nothing
		if best := traits.best(); best != "" {
			parts = append(parts, "the bad members share: "+best)
		}
	}
	if best := symptoms.best(); best != "" {
		parts = append(parts, "they fail alike: "+best)
	}
	return strings.Join(parts, "; ")
}

// best picks the properties that tell the bad from the good best: at least two bad members have one, and its share among the bad is
// at least half above its share among the good.
func (c *cohorts) best() string {
	const most = 3
	score := func(of *cohort) int {
		s := 100 * of.bad / c.bads
		if c.goods > 0 {
			s -= 100 * of.good / c.goods
		}
		return s
	}
	var all []*cohort
	for _, name := range sortedNames(c.tally) {
		if of := c.tally[name]; of.bad >= 2 && score(of) >= 50 {
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(a, b *cohort) int { return cmp.Compare(score(b), score(a)) })
	var parts []string
	for _, of := range all {
		if score(of) < score(all[0]) || len(parts) == most {
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d of %d bad, %d of %d good)", of.text, of.bad, c.bads, of.good, c.goods))
	}
	return strings.Join(parts, "; ")
}

// traits are what a member is.
func (k *look) traits(v *view) []string {
	out := named(nil, "zone", v.m.Zone)
	out = named(out, "launch template version", v.m.LaunchTemplate)
	out = named(out, "instance type", v.m.InstanceType)
	out = named(out, "agent version", v.m.Beat.Agent)
	if k.now.sub(v.next.Since) < young {
		out = append(out, "in service for less than an hour")
	}
	return out
}

// symptoms are how a member fails. A group with one target group can fail in no other, so that says nothing.
func (k *look) symptoms(v *view) []string {
	var out []string
	for i := range v.m.Targets {
		if t := &v.m.Targets[i]; targetAim(t) == aimBad {
			if len(k.in.Group.TargetGroups) > 1 {
				out = named(out, "failing in target group", t.Group)
			}
			out = named(out, "failing with", t.Reason)
		}
	}
	for _, f := range v.m.Beat.Failing {
		out = named(out, "failing check", f)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func named(out []string, what, value string) []string {
	if value == "" {
		return out
	}
	return append(out, what+" "+value)
}

// heldText is the text of the held page: what happened, the probable cause with counts, what Holdfast did and will do next.
func (k *look) heldText(h *Hold) string {
	s := k.heldBy(h)
	if c := k.probableCause(); c != "" {
		s = append(s, c)
	}
	for _, name := range k.allRed() {
		s = append(s, "every target of target group "+name+" is unhealthy: the load balancer then routes to all of them, so users may still be served")
	}
	if refreshing(k.in.Group.Refresh) {
		s = append(s, "an instance refresh is "+k.in.Group.Refresh+" and may stall while the hold lasts")
	}
	switch {
	case k.in.Reads.State != "":
		s = append(s, "the state could not be read, so no record of this hold is made: later it is treated as somebody else's, to be resumed by hand")
	case h.Observed:
		s = append(s, "no call is made")
	case h.Stage > StageQuiet:
		s = append(s, fmt.Sprintf("the release is at stage %d of %d", h.Stage, StageResumed))
	case h.ReleaseBy != "":
		s = append(s, "a release was asked for by "+h.ReleaseBy)
	case h.Sticky:
		s = append(s, "only a person ends this hold: holdfast release "+k.in.Group.Name)
	default:
		s = append(s, "suspended: "+k.heldProcesses(h)+"; it is released in stages after "+span(seconds(k.p.QuietSeconds))+" of quiet"+k.beginnersText(h))
	}
	if unknown := k.unknownDependencies(); len(unknown) > 0 {
		s = append(s, "nothing is released while the state of "+listed(unknown)+" is not known")
	}
	return "held since " + clock(h.Since) + ": " + strings.Join(s, ". ")
}

// heldBy is what holds: every trigger in the look that begins a hold, and afterwards those that keep it from ending, or what it began with.
func (k *look) heldBy(h *Hold) []string {
	var s []string
	for _, t := range k.triggers {
		if t.Prolongs || h.Since == k.now {
			s = append(s, t.Text)
		}
	}
	switch {
	case len(s) > 0:
	case h.Since == k.now:
		s = append(s, h.Text)
	default:
		s = append(s, "it began with: "+h.Text)
	}
	return s
}

// beginnersText says what a hold that onsets began waits for beside the quiet time.
func (k *look) beginnersText(h *Hold) string {
	if !h.byOnsets() {
		return ""
	}
	return ", and when the members that began to fail together are well or it is " + span(seconds(k.p.RollingWindowSeconds)) + " old"
}

func (k *look) heldProcesses(h *Hold) string {
	var names []string
	for _, p := range h.Ours {
		names = append(names, p.Process)
	}
	if len(names) == 0 {
		return "nothing, all was suspended already"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// allRed lists the target groups in which every target that says anything is unhealthy: below the routing threshold the load
// balancer routes to all targets. Source: Application Load Balancers user guide, "Target group health".
func (k *look) allRed() []string {
	var groups []share
	for i := range k.views {
		if v := k.views[i]; inService(v.m) {
			v.permanent = false // who is repaired one by one counts in no trigger, and fails all the same
			groups = k.addTargets(groups, &v)
		}
	}
	var out []string
	for _, g := range sortedShares(groups) {
		if g.bad == g.eligible {
			out = append(out, g.name)
		}
	}
	return out
}
