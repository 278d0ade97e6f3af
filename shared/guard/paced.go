package guard

import (
	"slices"
)

// The paced exit: past the maximum of a hold, or when a person forces its release, members that were bad all along are repaired one by
// one through the ordinary gates, instead of keeping the group held for ever.

// keepPaced forgets a paced exit for which HealthCheck is not suspended any more, because somebody resumed it: AWS then takes its members
// all at once, so they must count in the triggers again. One that was only observed suspended nothing, and ends when calls are made.
func (k *look) keepPaced() {
	p := k.next.Paced
	if p == nil {
		return
	}
	calls := k.p.Mode == ModeAct && k.p.Action != ActionAlertOnly
	if _, there := k.suspension(ProcessHealthCheck); !there && (calls || p.Process == nil || p.Process.Reason != "") {
		k.next.Paced = nil
	}
}

// repairedOneByOne says that a member is in a paced exit, and so counts in no trigger.
func (k *look) repairedOneByOne(v *view) bool {
	if p := k.next.Paced; p != nil {
		_, in := slices.BinarySearch(p.Members, v.m.ID)
		return in
	}
	return k.prev.Hold != nil && k.prev.Hold.Paced && k.badAllAlong(v)
}

// badAllAlong is permanently bad: in every look since the hold began, or for as long as a hold may last.
func (k *look) badAllAlong(v *view) bool {
	n := v.next
	return n.BadAllHold || n.Bad && n.BadSince != 0 && k.now.sub(n.BadSince) >= seconds(k.p.HoldMaxSeconds) // no time is no long time
}

// Whether a hold can be left by the paced exit: it must have suspended HealthCheck itself, and AWS must have confirmed that.
type pace int

const (
	noPace pace = iota
	paceLater
	paceNow
)

func (k *look) canPace(h *Hold) pace {
	i := slices.IndexFunc(h.Ours, func(p HeldProcess) bool { return p.Process == ProcessHealthCheck })
	switch {
	case i < 0:
		return noPace
	case h.Conflict && !k.keepsHealthCheck(h):
		return noPace // somebody resumed it, and it is left to people
	case h.Ours[i].Reason == "" && !h.Observed:
		return paceLater
	}
	return paceNow
}

// keepsHealthCheck says that HealthCheck is suspended by this hold, as AWS says in this look.
func (k *look) keepsHealthCheck(h *Hold) bool {
	s, _ := k.suspension(ProcessHealthCheck)
	return h.Observed || k.ours(s) != nil // one that is not there is nobody's
}

// unpaced stops a paced exit whose members would be AWS's at once, because HealthCheck is not suspended by this hold: it waits for the call
// that suspends it once more, and is void when it is left to people.
func (k *look) unpaced(h *Hold) bool {
	if !h.Paced || k.keepsHealthCheck(h) {
		return false
	}
	resumed := slices.ContainsFunc(h.Ours, func(p HeldProcess) bool { return p.Process == ProcessHealthCheck && p.Resumed != 0 })
	if resumed || k.canPace(h) == noPace {
		k.relapse(h)
	}
	return true
}

// wantsPaced says that the paced exit is asked for: by a person, now, or by the policy, past the maximum of a hold that no person has to end.
func (k *look) wantsPaced(h *Hold) bool {
	return h.Forced || k.p.HoldExit == ExitPaced && !h.Sticky && k.now.sub(h.Since) >= seconds(k.p.HoldMaxSeconds)
}

// tryPaced starts the paced exit when it is asked for and no trigger is true without the members that were bad all along.
func (k *look) tryPaced(h *Hold) {
	if h.Paced || k.blind() || !k.wantsPaced(h) {
		return
	}
	switch k.canPace(h) {
	case paceLater:
		return
	case noPace:
		k.page(Page{Key: PageResumeBlocked, Urgent: true, Text: "the paced exit needs HealthCheck among the processes that this hold suspended; release by hand: holdfast release " + k.in.Group.Name})
		return
	case paceNow:
	}
	saved := k.triggers
	for i := range k.views {
		k.views[i].permanent = k.badAllAlong(&k.views[i])
	}
	k.triggers = slices.DeleteFunc(slices.Clone(saved), func(t Trigger) bool { return t.Cause != CauseDependency })
	k.shares()
	if k.prolonging() == nil {
		h.Paced, h.QuietSince = true, k.now
		k.note("the paced exit begins: only members that were bad all along keep the triggers true")
		return
	}
	k.triggers = saved // nothing asks in the rest of a look without a paced exit who is permanent
}

// startPaced leaves HealthCheck suspended and lists the members to repair. HealthCheck is among the hold's own: canPace and unpaced see to it.
func (k *look) startPaced(h *Hold) {
	p := &Paced{Since: k.now}
	for i := range k.views {
		if k.views[i].permanent {
			p.Members = append(p.Members, k.views[i].m.ID)
		}
	}
	for _, o := range h.Ours {
		if o.Process == ProcessHealthCheck {
			p.Process = &o
		}
	}
	k.next.Paced = p
}

// tendPaced resumes HealthCheck after the last of the members is repaired.
func (k *look) tendPaced() {
	p := k.next.Paced
	if p == nil || k.next.Hold != nil || k.blind() || k.warmUp || k.unknownDependency() || k.p.Mode == ModeOff {
		return
	}
	var left []string
	for _, id := range p.Members {
		if v := k.find(id); v != nil && v.class != healthy {
			left = append(left, id)
		}
	}
	next := *p
	next.Members = left
	k.next.Paced = &next
	if len(left) > 0 || k.limits.InFlight > 0 {
		return
	}
	if s, _ := k.suspension(ProcessHealthCheck); k.ours(s) == nil {
		k.next.Paced = nil
		return
	}
	k.v.Actions = append(k.v.Actions, Action{Kind: ActResume, Processes: []string{ProcessHealthCheck}, ID: "resume-health-check"})
}
