package guard

import (
	"fmt"
	"slices"
	"time"
)

// watchFor is how long after a release terminations beyond the budget start the hold again.
const watchFor = 15 * time.Minute

// release takes at most one step on the way out of a hold. Every step is a sweep of its own.
func (k *look) release(h *Hold) {
	switch {
	case k.prolonging() != nil, k.standStill && h.Stage > StageQuiet:
		k.relapse(h)
	case k.blind():
		k.pauseQuiet(h)
	case h.Stage > StageQuiet && h.Stage < StageResumed && (k.warmUp || k.unknownDependency()):
		// After a gap the first look only looks, and what is unknown releases nothing, whatever stage the way out has reached.
	case k.warmUp || h.QuietSince == 0:
		h.QuietSince = k.now
		if h.Stage > StageQuiet {
			k.step(h)
		}
	case h.Forced && !h.Paced && h.Stage == StageQuiet && k.canPace(h) != noPace:
		k.tryPaced(h)
	default:
		k.step(h)
	}
}

// relapse starts the quiet time again, and takes back what a release had already resumed.
func (k *look) relapse(h *Hold) {
	if h.QuietSince = 0; h.Stage == StageQuiet {
		k.tryPaced(h)
		return
	}
	h.ReleaseBy, h.Forced, h.Paced = "", false, false // a relapse needs a new request
	k.takeBack(h)
}

// takeBack goes back to the first stage of a release and suspends anew what it had resumed.
func (k *look) takeBack(h *Hold) {
	k.enter(h, StageQuiet)
	var again []string
	for i := range h.Ours {
		p := &h.Ours[i]
		if p.Resumed == 0 {
			continue
		}
		p.Resumed = 0
		if _, there := k.suspension(p.Process); !there || h.Observed {
			p.IntentAt, p.Reason = k.now, ""
			again = append(again, p.Process)
		}
	}
	k.suspend(again)
}

// pauseQuiet does not count a blind sweep as quiet; too many in a row start it again.
func (k *look) pauseQuiet(h *Hold) {
	if h.QuietSince == 0 {
		return
	}
	h.QuietSince += max(0, k.now-k.prev.LastSweep)
	if k.next.BlindRun > blindRunMax {
		h.QuietSince = 0
	}
}

func (k *look) step(h *Hold) {
	switch h.Stage {
	case StageQuiet:
		if !k.quiet(h) {
			return
		}
		k.enter(h, StageRestore)
	case StageRestore:
		if k.pendingRestores(h) {
			return
		}
		k.stepHealthCheck(h)
	case StageHealthCheck:
		if slices.Contains(k.notResumed(h), ProcessHealthCheck) {
			k.enter(h, StageHealthCheck) // the call was lost: HealthCheck still comes a sweep before the rest
			k.resume(h, []string{ProcessHealthCheck})
			return
		}
		if k.now.sub(h.StageAt) < k.in.SweepInterval*3/4 || k.pendingRestores(h) {
			return
		}
		k.stepResume(h)
	case StageResume:
		if !k.pendingRestores(h) {
			k.stepResume(h)
		}
	case StageResumed:
		k.stepEnd(h)
	default:
		k.enter(h, StageQuiet) // another version's stage: the way out begins anew, or nobody could ever end this hold
	}
}

func (k *look) enter(h *Hold, stage int) { h.Stage, h.StageAt = stage, k.now }

// quiet says that stage 1 is over: quiet for long enough, or a person asked; a hold that only a person ends needs the person.
func (k *look) quiet(h *Hold) bool {
	if k.unknownDependency() {
		return false
	}
	if h.ReleaseBy != "" {
		return true
	}
	return !h.Sticky && k.now.sub(h.QuietSince) >= seconds(k.p.QuietSeconds) && !k.clusterLasts(h)
}

// clusterLasts says that members of the cluster of onsets that began a hold are still bad: began to fail within onset_window_seconds of
// the hold's beginning, and never well since. What began together is one cause until it is seen to end, or until the hold is
// rolling_window_seconds old: no longer than that is anything taken for related.
func (k *look) clusterLasts(h *Hold) bool {
	if !h.byOnsets() || k.now.sub(h.Since).Abs() >= seconds(k.p.RollingWindowSeconds) { // a clock that went back prolongs nothing for longer
		return false
	}
	left := 0
	for i := range k.views {
		n := k.views[i].next
		began := n.BadSince.sub(h.Since).Abs() <= seconds(k.p.OnsetWindowSeconds)
		gap := n.BadAllHold && n.BadSince > h.Since // bad since the hold began: a gap in the looks has moved its time
		if began || gap {
			left++
		}
	}
	if left > 0 {
		k.note("the hold waits for %s that began to fail together and %s still bad", Counted(left, "member"), are(left))
	}
	return left > 0
}

// byOnsets says that a cluster of onsets began the hold, in the group or in the Region.
func (h *Hold) byOnsets() bool { return h.Cause == CauseOnset || h.Cause == CauseRegion }

// unknownDependencies are the hard dependencies whose state is not known: missing, unreadable or without data.
func (k *look) unknownDependencies() []string { return slices.Concat(k.unread, k.nodata) }

func (k *look) unknownDependency() bool { return len(k.unread) > 0 || len(k.nodata) > 0 }

// pendingRestores says that members are to be restored first, or that one was sent just now and is not read back yet.
func (k *look) pendingRestores(h *Hold) bool {
	if slices.ContainsFunc(k.v.Actions, func(a Action) bool { return a.Kind == ActRestore }) {
		return true
	}
	for i := range k.views {
		if k.restorable(h, &k.views[i]) {
			return true
		}
	}
	return false
}

// stepHealthCheck resumes HealthCheck a sweep before the rest, so that the members' marks are true when replacement resumes. In a
// paced exit it comes last, after the repair.
func (k *look) stepHealthCheck(h *Hold) {
	i := slices.IndexFunc(h.Ours, func(p HeldProcess) bool { return p.Process == ProcessHealthCheck })
	if i < 0 || h.Paced {
		k.stepResume(h)
		return
	}
	k.enter(h, StageHealthCheck)
	h.Ours[i].Resumed = k.now
	k.resume(h, []string{ProcessHealthCheck})
}

// stepResume resumes the rest of what is ours if the members that AWS still calls Unhealthy fit the remaining budget.
func (k *look) stepResume(h *Hold) {
	if k.unpaced(h) {
		return
	}
	k.enter(h, StageResume)
	marked, spent := k.stillUnhealthy()
	left := k.budgetLeft(spent)
	if marked > left && h.Forced && !h.Paced && k.canPace(h) != noPace {
		k.takeBack(h) // the paced exit needs HealthCheck suspended while it repairs them
		return
	}
	if marked > left {
		k.page(Page{Key: PageResumeBlocked, Urgent: true, Text: fmt.Sprintf("%s %s still Unhealthy to Auto Scaling and the budget left is %d: resuming ReplaceUnhealthy would replace them at once, so the hold stays", Counted(marked, "member"), are(marked), left)})
		return
	}
	k.enter(h, StageResumed)
	var names []string
	for i := range h.Ours {
		p := &h.Ours[i]
		if p.Process == ProcessHealthCheck && (h.Paced || p.Resumed != 0) {
			continue
		}
		p.Resumed = k.now
		names = append(names, p.Process)
	}
	k.resume(h, names)
}

// stillUnhealthy counts the members that AWS calls Unhealthy, and what of the budget their own marks have taken already: that
// part is there for them, and must not be asked of them twice.
func (k *look) stillUnhealthy() (marked int, own Limits) {
	for i := range k.views {
		v := &k.views[i]
		if !inService(v.m) || !v.m.Unhealthy {
			continue
		}
		marked++
		if m := k.markOf(v.m.ID); m != nil {
			own.add(m, k.ageOf(m))
			if id := regionID(k.in.Group.ARN, m.ID); slices.ContainsFunc(k.in.Region.Marks, func(r RegionMark) bool { return r.ID == id && k.now.sub(r.At) < time.Hour }) {
				own.RegionHour++
			}
		}
	}
	return marked, own
}

// budgetLeft is the smallest of what is left of the mark limits and of the slots in flight, without the part that is given back;
// never below 0.
func (k *look) budgetLeft(back Limits) int {
	l := k.limits
	l.TenMinutes -= back.TenMinutes
	l.Hour -= back.Hour
	l.Day -= back.Day
	l.InFlight -= back.InFlight
	l.RegionHour -= back.RegionHour
	left := min(l.TenMinutesMax-l.TenMinutes, l.HourMax-l.Hour, l.DayMax-l.Day, l.InFlightMax-l.InFlight, l.RegionHourMax-l.RegionHour)
	if k.in.Reads.Region != "" {
		left = 0
	}
	return max(0, left)
}

// resume decides to resume processes of ours whose reason text is still the one we recorded.
func (k *look) resume(h *Hold, names []string) {
	var call []string
	for _, name := range names {
		if s, _ := k.suspension(name); h.Observed || k.ours(s) != nil {
			call = append(call, name)
		}
	}
	if len(call) == 0 {
		return
	}
	slices.Sort(call)
	k.v.Actions = append(k.v.Actions, Action{Kind: ActResume, Processes: call, ID: fmt.Sprintf("resume@%d", int64(k.now)/1000)})
}

// notResumed lists the processes whose resume was decided and that AWS still calls suspended, by us: the call failed or was lost.
func (k *look) notResumed(h *Hold) []string {
	var left []string
	for i := range h.Ours {
		if p := &h.Ours[i]; p.Resumed != 0 {
			if s, _ := k.suspension(p.Process); k.ours(s) != nil {
				left = append(left, p.Process)
			}
		}
	}
	return left
}

// stepEnd ends the hold once AWS says that all of ours is resumed. A resume that did not take is decided anew, because the members
// may have changed since.
func (k *look) stepEnd(h *Hold) {
	if k.unpaced(h) {
		return
	}
	left := k.notResumed(h)
	if len(left) == 0 {
		k.end(h)
		return
	}
	for i := range h.Ours {
		if slices.Contains(left, h.Ours[i].Process) {
			h.Ours[i].Resumed = 0
		}
	}
	k.enter(h, StageResume)
	if !k.pendingRestores(h) && !k.warmUp && !k.unknownDependency() {
		k.stepResume(h)
	}
}

// end closes a hold: its records start no new one, and every member gets a fresh grace against marks.
func (k *look) end(h *Hold) {
	k.page(Page{Key: PageReleased, Text: fmt.Sprintf("the hold of %s ended after %s; it began with: %s", clock(h.Since), span(k.now.sub(h.Since)), h.Text)})
	k.next.Hold = nil
	k.next.ReleasedAt = k.now
	k.next.Onsets, k.next.Rolling = nil, nil
	k.v.Region.Onsets = nil
	k.next.Watch = &Watch{Since: k.now, Until: k.now.add(watchFor), Budget: k.budgetLeft(Limits{})}
	if h.Paced {
		k.startPaced(h)
	}
	for i := range k.views {
		n := k.views[i].next
		n.NoMarkBefore = k.now.add(k.grace)
		n.BrokenLooks, n.BadAllHold, n.RestoreTries = 0, false, 0
	}
}

// watch holds again when more members are terminated after a release than the budget allowed.
func (k *look) watch() {
	w := k.next.Watch
	if w == nil {
		return
	}
	if k.now >= w.Until {
		k.next.Watch = nil
		return
	}
	n := 0
	for i := range k.next.Marks {
		if m := &k.next.Marks[i]; m.By == "aws" && m.At >= w.Since {
			n++
		}
	}
	if n > w.Budget {
		k.trigger(Trigger{Cause: CauseBacklog, Have: n, Limit: w.Budget, Text: fmt.Sprintf("%s %s terminated for health since the release, the budget was %d", Counted(n, "member"), were(n), w.Budget)})
	}
}
