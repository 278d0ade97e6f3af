package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits of a hold's own bookkeeping.
const (
	// intentWindow is how far a suspension's time may lie from our intent to be ours: the call may hang for a run's length.
	intentBefore = 5 * time.Second
	intentWindow = 2 * time.Minute
	restoreTries = 5
	// requestSkew is how far an operator's clock may be behind the guard's.
	requestSkew = 5 * time.Minute
)

// reasonTime is the form of the time in AWS's reason text, in UTC and whole seconds.
const (
	reasonPrefix = "User suspended at "
	reasonTime   = "2006-01-02T15:04:05Z"
)

// suspendedAt reads the time out of a reason text; false for a text of another form.
func suspendedAt(reason string) (time.Time, bool) {
	rest, ok := strings.CutPrefix(reason, reasonPrefix)
	if !ok {
		return time.Time{}, false
	}
	at, err := time.Parse(reasonTime, strings.TrimSpace(rest))
	return at, err == nil
}

// suspension is what AWS says of a process; one that is not suspended has no name.
func (k *look) suspension(process string) (Suspension, bool) {
	for _, s := range k.in.Group.Suspended {
		if s.Process == process {
			return s, true
		}
	}
	return Suspension{}, false
}

// ours returns our record of a suspended process, nil if it is not ours. A hold that made no call has suspended nothing.
func (k *look) ours(s Suspension) *HeldProcess {
	if s.Process == "" {
		return nil // what is not suspended is nobody's, whatever a state without a name says
	}
	if h := k.next.Hold; h != nil && !h.Observed {
		for i := range h.Ours {
			if p := &h.Ours[i]; p.Process == s.Process && (p.Reason == s.Reason || p.Reason == "") {
				return p
			}
		}
	}
	if p := k.next.Paced; p != nil && p.Process != nil && p.Process.Process == s.Process && p.Process.Reason == s.Reason {
		return p.Process
	}
	return nil
}

// foreign lists the suspensions that are not ours.
func (k *look) foreign() []Suspension {
	var out []Suspension
	for _, s := range k.in.Group.Suspended {
		if k.ours(s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// hold begins a hold on first sight of any trigger, or looks after the one that is in force.
func (k *look) hold() {
	if k.next.Hold != nil {
		h := *k.next.Hold
		h.Ours = slices.Clone(h.Ours)
		k.next.Hold = &h
	}
	had := k.next.Hold != nil
	k.obey()
	switch {
	case k.p.Mode == ModeOff:
		if h := k.next.Hold; h != nil {
			h.QuietSince, h.Stage, h.StageAt, h.Paced = 0, StageQuiet, k.now, false
		}
	case had:
		k.tend(k.next.Hold)
	case k.next.Hold != nil: // an operator's request began it just now
	case len(k.triggers) > 0:
		k.begin(k.leadingTrigger(), false)
	}
}

// obey carries out an operator's request once.
func (k *look) obey() {
	r := k.in.Request
	if r.ID == "" || r.ID == k.prev.RequestID || k.p.Mode == ModeOff || k.in.Reads.State != "" {
		return
	}
	if r.Force && k.in.Reads.Group != "" {
		return // it is for those who are bad in the look that obeys, and this one sees nobody
	}
	k.next.RequestID = r.ID
	h := k.next.Hold
	switch {
	case r.Kind == RequestHold && h == nil:
		k.begin(Trigger{Cause: CauseOperator, Text: "asked for by " + r.By + ": " + r.Reason}, true)
	case r.Kind == RequestHold:
		h.Sticky, h.ReleaseBy, h.Forced, h.Paced = true, "", false, false
		k.standStill = true
		k.note("an operator's hold by %s: %s", r.By, r.Reason)
	case r.Kind == RequestRelease && h != nil && At(r.At).add(requestSkew) < min(h.Since, k.now):
		k.note("release asked for by %s at %s is older than this hold: it was for another one", r.By, clock(At(r.At)))
	case r.Kind == RequestRelease && strings.TrimSpace(r.By) == "":
		k.note("a release without the name of who asks is not obeyed: the hold stays")
	case r.Kind == RequestRelease && h != nil:
		h.ReleaseBy = r.By
		if r.Force && !h.Paced {
			h.Forced = true
			for i := range k.views {
				k.views[i].next.BadAllHold = k.views[i].next.Bad
			}
		}
		k.note("release asked for by %s: %s", r.By, r.Reason)
	}
}

// leadingTrigger is the trigger that names the hold: repair that does not converge first, because only a person ends such a hold, then the
// dependency, then the shares.
func (k *look) leadingTrigger() Trigger {
	for _, cause := range []string{CauseNotConverging, CauseBacklog, CauseDependency} {
		for _, t := range k.triggers {
			if t.Cause == cause {
				return t
			}
		}
	}
	return k.triggers[0]
}

func (k *look) begin(t Trigger, sticky bool) {
	h := &Hold{
		ID: fmt.Sprintf("hold@%d", int64(k.now)/1000), Since: k.now, Cause: strings.TrimSpace(t.Cause + " " + t.Name), Text: t.Text,
		Sticky: sticky || t.Cause == CauseNotConverging, Before: slices.Clone(k.in.Group.Suspended), Stage: StageQuiet, StageAt: k.now,
		Observed: k.p.Action == ActionAlertOnly,
	}
	if k.prolonging() == nil {
		h.QuietSince = k.now
	}
	if p := k.next.Paced; p != nil && p.Process != nil {
		h.Ours = append(h.Ours, *p.Process)
	}
	k.next.Paced, k.next.Watch = nil, nil
	k.next.Hold = h
	for i := range k.views {
		n := k.views[i].next
		n.GoodLooks, n.RestoreTries, n.BadAllHold = 0, 0, n.Bad
	}
	k.dropSeen()
	k.suspendMissing(h)
}

// dropSeen forgets members that AWS marked in the very sweep that begins the hold: the hold keeps them from being replaced.
func (k *look) dropSeen() {
	k.next.Marks = slices.DeleteFunc(k.next.Marks, func(m Mark) bool { return strings.HasPrefix(m.ID, seenPrefix) && m.At == k.now })
}

// suspendMissing decides to suspend what a hold needs and nobody has suspended yet.
func (k *look) suspendMissing(h *Hold) {
	if k.in.Reads.Group != "" {
		return
	}
	var names []string
	for _, p := range k.p.HoldProcesses {
		_, there := k.suspension(p)
		known := slices.ContainsFunc(h.Ours, func(o HeldProcess) bool { return o.Process == p })
		if !there && !known {
			h.Ours = append(h.Ours, HeldProcess{Process: p, IntentAt: k.now})
			names = append(names, p)
		}
	}
	k.suspend(names)
}

func (k *look) suspend(names []string) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	k.v.Actions = append(k.v.Actions, Action{Kind: ActSuspend, Processes: names, ID: fmt.Sprintf("suspend@%d", int64(k.now)/1000)})
}

// tend settles what became of our suspensions, repairs what went missing, and takes the next step of the release.
func (k *look) tend(h *Hold) {
	if slices.ContainsFunc(k.triggers, func(t Trigger) bool { return t.Cause == CauseNotConverging }) {
		h.Sticky = true
	}
	if k.in.Reads.Group == "" && !h.Observed {
		k.reconcile(h)
	}
	k.restore(h)
	k.release(h)
}

// reconcile compares our record with what AWS says is suspended.
func (k *look) reconcile(h *Hold) {
	var again []string
	removed := false
	kept := h.Ours[:0]
	for _, p := range h.Ours {
		s, there := k.suspension(p.Process)
		switch {
		case !there && p.Resumed != 0 && h.Stage == StageQuiet:
			p.Resumed, p.IntentAt, p.Reason = 0, k.now, "" // a pause sent the release back to its beginning
			again = append(again, p.Process)
		case there && p.Resumed != 0 && h.Stage == StageQuiet && p.Reason == s.Reason:
			p.Resumed = 0 // the same, and the resume was lost
		case there && p.Reason == "" && !adoptable(s, p):
			k.note("%s is suspended by somebody else: %s", p.Process, s.Reason)
			continue
		case there && p.Reason == "":
			p.Reason = s.Reason // a crash between intent and record is settled here
		case there && p.Reason != s.Reason:
			k.note("%s was suspended anew by somebody else: %s", p.Process, s.Reason)
			continue
		case !there && p.Resumed != 0:
		case !there && p.Reason == "":
			again = append(again, p.Process)
			p.IntentAt = k.now
		case !there && 2*k.now.sub(p.IntentAt).Abs() < k.in.SweepInterval:
			// Another run suspended it a moment ago; this one may have read the group before that.
		case !there && h.Removed == 0:
			removed = true
			again = append(again, p.Process)
			p.IntentAt, p.Reason = k.now, ""
		case !there:
			removed = true
		}
		kept = append(kept, p)
	}
	h.Ours = kept
	if removed {
		k.removed(h)
	}
	if !h.Conflict {
		k.suspend(again)
		if h.Stage <= StageResume { // one that is blocked there is still a hold
			k.suspendMissing(h)
		}
	}
}

// adoptable says that a suspension can be the one we meant to make: its time lies in the intent's window.
func adoptable(s Suspension, p HeldProcess) bool {
	at, ok := suspendedAt(s.Reason)
	d := at.Sub(p.IntentAt.Time())
	return ok && d >= -intentBefore && d <= intentWindow
}

// removed pages that somebody resumed what we hold: once it is suspended again, the second time it is left to people.
func (k *look) removed(h *Hold) {
	if h.Conflict {
		return
	}
	h.Removed++
	if h.Removed == 1 {
		k.page(Page{Key: PageSuspensionRemoved, Text: "somebody resumed processes that this hold had suspended; they are suspended once more. To end the hold on purpose: holdfast release " + k.in.Group.Name})
		return
	}
	h.Conflict = true
}

// restore sets members Healthy that AWS calls Unhealthy although their witnesses have been good for long enough in this hold.
func (k *look) restore(h *Hold) {
	if k.blind() {
		return
	}
	for i := range k.views {
		v := &k.views[i]
		if !k.restorable(h, v) || v.next.GoodLooks < k.p.ConfirmSweeps && !k.pacedMember(h, v) {
			continue
		}
		v.next.RestoreTries++
		a := Action{Kind: ActRestore, Member: v.m.ID, ID: fmt.Sprintf("restore/%s@%d", v.m.ID, int64(k.now)/1000)}
		k.v.Actions = append(k.v.Actions, a)
	}
}

// restorable says that a member is to be restored before anything is resumed, now or after more looks.
func (k *look) restorable(h *Hold, v *view) bool {
	if !v.m.Unhealthy || !inService(v.m) || v.next.RestoreTries >= restoreTries {
		return false
	}
	return v.good() || k.pacedMember(h, v)
}

func (k *look) pacedMember(h *Hold, v *view) bool { return h.Paced && v.permanent }
