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

// probableCause names what the bad members share and the good ones do not, with counts; "" when nothing tells them apart.
func (k *look) probableCause() string {
	tally := map[string]*cohort{}
	bads, goods := 0, 0
	for i := range k.views {
		v := &k.views[i]
		if v.class == outside {
			continue
		}
		if v.isBad() {
			bads++
		} else {
			goods++
		}
		for _, p := range k.properties(v) {
			c := tally[p]
			if c == nil {
				c = &cohort{text: p}
				tally[p] = c
			}
			if v.isBad() {
				c.bad++
			} else {
				c.good++
			}
		}
	}
	return bestCohort(tally, bads, goods)
}

// bestCohort picks the property that tells the bad from the good best: at least two bad members have it, and its share among the
// bad is at least half above its share among the good.
func bestCohort(tally map[string]*cohort, bads, goods int) string {
	var all []*cohort
	score := func(c *cohort) int {
		s := 100 * c.bad / max(1, bads)
		if goods > 0 {
			s -= 100 * c.good / goods
		}
		return s
	}
	for _, name := range sortedNames(tally) {
		if c := tally[name]; c.bad >= 2 && score(c) >= 50 && (goods > 0 || c.bad == bads) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b *cohort) int {
		byScore := cmp.Compare(score(b), score(a))
		if goods == 0 {
			return byScore // everybody fails: how they fail says more than what they all are
		}
		return cmp.Or(byScore, cmp.Compare(symptom(a), symptom(b)))
	})
	var parts []string
	for _, c := range all {
		if score(c) < score(all[0]) || len(parts) == 3 {
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d of %d bad, %d of %d good)", c.text, c.bad, bads, c.good, goods))
	}
	return strings.Join(parts, "; ")
}

// symptom ranks how members fail below what they are: the second is nearer to the cause.
func symptom(c *cohort) int {
	if strings.HasPrefix(c.text, "failing ") {
		return 1
	}
	return 0
}

// properties are what a member may share with others.
func (k *look) properties(v *view) []string {
	var out []string
	add := func(what, value string) {
		if value != "" {
			out = append(out, what+" "+value)
		}
	}
	add("zone", v.m.Zone)
	add("launch template version", v.m.LaunchTemplate)
	add("instance type", v.m.InstanceType)
	add("agent version", v.m.Beat.Agent)
	if k.now.sub(v.next.Since) < young {
		add("in service for less than", "an hour")
	}
	for i := range v.m.Targets {
		if t := &v.m.Targets[i]; targetAim(t) == aimBad {
			add("failing in target group", t.Group)
			add("failing with", t.Reason)
		}
	}
	for _, f := range v.m.Beat.Failing {
		add("failing check", f)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// heldText is the text of the held page: what happened, the probable cause with counts, what Holdfast did and will do next.
func (k *look) heldText(h *Hold) string {
	var s []string
	for _, t := range k.triggers {
		s = append(s, t.Text)
	}
	if len(s) == 0 {
		s = append(s, h.Text)
	}
	if c := k.probableCause(); c != "" {
		s = append(s, "the bad members share: "+c)
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
	case h.Sticky:
		s = append(s, "only a person ends this hold: holdfast release "+k.in.Group.Name)
	default:
		s = append(s, "suspended: "+k.heldProcesses(h)+"; it is released in stages after "+span(seconds(k.p.QuietSeconds))+" of quiet")
	}
	return "held since " + clock(h.Since) + ": " + strings.Join(s, ". ")
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
		if inService(k.views[i].m) {
			groups = k.addTargets(groups, &k.views[i])
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
