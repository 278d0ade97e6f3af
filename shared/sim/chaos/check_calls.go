package chaos

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// holdable are the only processes that a hold may suspend.
func holdable() []string {
	return []string{guard.ProcessReplaceUnhealthy, guard.ProcessHealthCheck, guard.ProcessAZRebalance}
}

func (p *process) checkSuspend(group string, processes []string) {
	if len(processes) == 0 {
		p.violate(p, "empty-list", "suspend of nothing in %s, which AWS reads as everything", group)
	}
	for _, name := range processes {
		if !slices.Contains(holdable(), name) {
			p.violate(p, "foreign-process", "suspend of %s in %s", name, group)
		}
	}
	if why := modeForbids(p.policy(group)); why != "" {
		p.violate(p, "call-in-mode", "suspend in %s: %s", group, why)
	}
}

func (p *process) checkRestore(group, member string) {
	pic := p.picture(group)
	if why := modeForbids(p.policy(group)); why != "" {
		p.violate(p, "call-in-mode", "restore of %s: %s", member, why)
	}
	if pic.rec.State.Hold == nil && pic.prior.State.Hold == nil { // the look that ends a hold may still restore
		p.violate(p, "restore-without-hold", "restore of %s in %s: no hold is recorded", member, group)
	}
	if why := p.blindTo(pic); why != "" {
		p.violate(p, "release-while-blind", "restore of %s in %s: %s", member, group, why)
	}
	for _, m := range pic.group.Members {
		if m.ID == member && !m.Unhealthy {
			p.violate(p, "restore-of-healthy", "restore of %s in %s, which was read as Healthy", member, group)
		}
	}
}

func (p *process) blindTo(pic *picture) string {
	switch {
	case pic.loadErr != nil:
		return "the state could not be read"
	case pic.reads != (guard.Reads{}):
		return fmt.Sprintf("reads failed: %+v", pic.reads)
	case pic.beatsErr != nil:
		return "heartbeats: " + pic.beatsErr.Error()
	}
	return ""
}

func (p *process) checkResume(group string, processes []string) {
	pic, pol := p.picture(group), p.policy(group)
	if len(processes) == 0 {
		p.violate(p, "empty-list", "resume of nothing in %s, which AWS reads as everything", group)
	}
	if why := modeForbids(pol); why != "" {
		p.violate(p, "call-in-mode", "resume in %s: %s", group, why)
	}
	if why := p.blindTo(pic); why != "" {
		p.violate(p, "release-while-blind", "resume of %v in %s: %s", processes, group, why)
	}
	for _, name := range processes {
		p.checkOwner(group, name)
		if !intended(pic.rec.State, name) {
			p.violate(p, "resume-without-record", "resume of %s in %s: the state that was written does not say so", name, group)
		}
	}
	if slices.Contains(processes, guard.ProcessReplaceUnhealthy) {
		p.checkBacklog(group, pol)
		if why := p.overruled(group); why != "" {
			p.violate(p, "resume-overruled", "resume of %v in %s: %s", processes, group, why)
		}
	}
	for _, d := range pol.Dependencies {
		a := p.alarms[d.Alarm]
		young := p.Now().Sub(a.Since) < time.Duration(pol.AlarmMaxAgeSeconds)*time.Second
		if d.Kind == guard.DependencyHard && a.State == guard.AlarmRed && young {
			p.violate(p, "release-with-dependency", "resume of %v in %s: hard dependency %s was read as red", processes, group, d.Alarm)
		}
	}
}

// checkOwner wants a resumed process to be one that a call of ours suspended. What somebody changed after this run had read the
// group cannot be known, and a suspension made within the window of an intent of ours is ours by design.
func (p *process) checkOwner(group, name string) {
	reason, suspended := p.suspendedNow(group)[name]
	if !suspended || p.book.owner[key(group, name)] == reason || p.book.meant(group, name, reason) {
		return
	}
	for _, s := range p.picture(group).suspended {
		if s.Process == name && s.Reason != reason {
			return
		}
	}
	p.violate(p, "foreign-resume", "resume of %s in %s, which is not ours: %s", name, group, reason)
}

func intended(s guard.State, process string) bool {
	if h := s.Hold; h != nil && slices.ContainsFunc(h.Ours, func(o guard.HeldProcess) bool { return o.Process == process && o.Resumed != 0 }) {
		return true
	}
	return s.Paced != nil && s.Paced.Process != nil && s.Paced.Process.Process == process
}

// checkBacklog wants no more Unhealthy members, as last read, than the tightest limit when ReplaceUnhealthy is resumed.
func (p *process) checkBacklog(group string, pol guard.Policy) {
	pic := p.picture(group)
	unhealthy, inService := 0, 0
	for _, m := range pic.group.Members {
		if m.Lifecycle == "InService" {
			inService++
			if m.Unhealthy {
				unhealthy++
			}
		}
	}
	limit := min(
		min(pol.MaxInFlight, pol.MarksPer10Minutes, max(1, percentOf(inService, 5))), min(pol.MarksPerHour, max(3, percentOf(inService, 10))),
		min(pol.MarksPerDay, max(8, percentOf(inService, 50))), pol.RegionMarksPerHour,
	)
	if unhealthy > limit {
		p.violate(p, "backlog", "resume of ReplaceUnhealthy in %s with %d of %d members read as Unhealthy, the limit is %d", group, unhealthy, inService, limit)
	}
}

// delivered checks that a condition is not told again before its interval is over.
func (p *process) delivered(n runner.Notice) {
	p.counts.Pages++
	if n.Key == guard.PageReleased || n.Key == guard.PageSuspensionRemoved {
		return
	}
	last := p.book.pages[key(n.Group, n.Key, n.Subject)]
	if last == nil {
		return
	}
	pic := p.picture(n.Group)
	repeat := min(last.repeat, time.Duration(p.policy(n.Group).PageRepeatSeconds)*time.Second)
	from, gap := last.decided, time.Duration(-1)
	for _, clock := range append(slices.Clone(p.clocks[last.run:]), n.At) {
		if clock.Before(from) {
			from = clock // the interval is counted anew from where a clock went back to
		}
		gap = max(gap, clock.Sub(from)) // and one that ran ahead has ended it
	}
	switch {
	case p.leapt, gap >= repeat-blur, gap < 0, n.Urgent && !last.urgent, n.Key == guard.PageHeld && n.Since != last.since:
		return
	case last.loose, last.by.crashed, last.by.raced, p.raced:
		p.counts.Repeats++
		return // its record may not know that it was told
	case pic.loadErr != nil, pic.unwritten, last.by.picture(n.Group).unwritten:
		p.counts.Repeats++
		return // without a record there is no memory
	}
	p.violate(p, "page-repeated", "%s of %s %s again after %s, the interval is %s: %s", n.Key, n.Group, n.Subject, gap, repeat, n.Text)
}

// checkLost wants a write to be on the version of the item that its writer had read: any other loses what came between. Where both
// fences are down, what comes of that is looked for instead.
func (p *process) checkLost(group string, own, there int64) {
	if own != there && !p.o.UnfencedRegion {
		p.violate(p, "lost-update", "write of the item of %s on version %d, and version %d is there", group, own, there)
	}
}
