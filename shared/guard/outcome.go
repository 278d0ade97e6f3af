package guard

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Prepare drops what was only observed, when calls are made again: a hold that suspended nothing and marks that were not sent.
func Prepare(s State, p Policy) State {
	if p.Mode != ModeAct {
		return s
	}
	if observed(s.Hold) && p.Action != ActionAlertOnly {
		s.Hold = nil
	}
	s.Marks = slices.DeleteFunc(slices.Clone(s.Marks), func(m Mark) bool { return m.Observed })
	return s
}

// Withhold turns a verdict into what mode observe records: the same decision, no call, notices that begin with "observe:". A hold
// that was made for real before stays as it is, and that nothing will be released is paged.
func Withhold(in Input, v Verdict) Verdict {
	v.Actions = slices.Clone(v.Actions)
	for i := range v.Actions {
		a := &v.Actions[i]
		a.Withheld = ReasonModeWithheld
		if a.Kind == ActMark {
			v.Deferred = append(slices.Clone(v.Deferred), Deferral{Member: a.Member, Reason: ReasonMode, Text: "observe: would be marked", Broken: true})
		}
	}
	slices.SortStableFunc(v.Deferred, func(a, b Deferral) int { return cmp.Compare(a.Member, b.Member) })
	// A hold that ends here had resumed everything before the mode changed: no call is kept back, so the end stands.
	if made := in.State.Hold; made != nil && !made.Observed && v.State.Hold != nil {
		kept := *made
		kept.Stage, kept.QuietSince = StageQuiet, 0
		v.State.RequestID = in.State.RequestID // what an operator asked for waits until calls are made again
		v.State.Hold, v.Mode, v.Cause = &kept, Held, kept.Cause
		v.State.Members = untried(v)
		v = pausePage(in, v, &kept)
	} else if v.State.Hold != nil {
		kept := *v.State.Hold
		kept.Observed = true
		v.State.Hold = &kept
	}
	v.Pages = slices.Clone(v.Pages)
	for i := range v.Pages {
		v.Pages[i].Text = "observe: " + strings.TrimPrefix(v.Pages[i].Text, "observe: ")
	}
	v.State.Unsent = v.Pages
	return v
}

// untried takes back the count of restores that are not sent, so that a pause uses up no tries of a real hold. Nothing else names a member
// while a hold is in force.
func untried(v Verdict) []MemberState {
	members := slices.Clone(v.State.Members)
	for _, a := range v.Actions {
		if j, ok := memberAt(members, a.Member); ok {
			members[j].RestoreTries--
		}
	}
	return members
}

// ReasonModeWithheld is the reason of a call that mode observe keeps back.
const ReasonModeWithheld = string(ReasonMode)

// pausePage adds the page paused-while-held by the same rules as any other condition.
func pausePage(in Input, v Verdict, h *Hold) Verdict {
	k := newLook(&in)
	k.told = []Page{k.pausedPage(h)}
	k.tell()
	paused := func(key string) bool { return key == PagePausedWhileHeld }
	if told := slices.ContainsFunc(v.Pages, func(p Page) bool { return paused(p.Key) }); !told {
		v.Pages = append(slices.Clone(v.Pages), slices.DeleteFunc(k.v.Pages, func(p Page) bool { return !paused(p.Key) })...)
	}
	pages := slices.DeleteFunc(slices.Clone(v.State.Pages), func(s PageState) bool { return paused(s.Key) })
	for _, s := range k.next.Pages {
		if paused(s.Key) {
			pages = append(pages, s)
		}
	}
	slices.SortFunc(pages, func(a, b PageState) int { return cmp.Compare(a.Key, b.Key) })
	v.State.Pages = pages
	return v
}

// Reserve adds the marks of a verdict to the state as reservations; observed says that no call will follow.
func Reserve(s State, marks []Action, now time.Time, observed bool) State {
	s.Marks = slices.Clone(s.Marks)
	outcome := OutcomeReserved
	if observed {
		outcome = OutcomeDone
	}
	for _, a := range marks {
		s.Marks = append(s.Marks, Mark{ID: a.ID, Member: a.Member, At: At(now), By: "guard", Outcome: outcome, Weight: a.Weight, Observed: observed, Note: a.Note})
	}
	return s
}

// regionID names a mark in the Region's budget.
func regionID(group, id string) string { return group + "/" + id }

// ReserveRegion adds the marks to the Region's budget and drops what has left its window.
func ReserveRegion(r RegionState, group string, marks []Action, now time.Time) RegionState {
	at := At(now)
	r.Marks = slices.DeleteFunc(slices.Clone(r.Marks), func(m RegionMark) bool { return at.sub(m.At) >= time.Hour })
	for _, a := range marks {
		r.Marks = append(r.Marks, RegionMark{ID: regionID(group, a.ID), At: at})
	}
	return r
}

// Return gives back reservations of the Region's budget that were certainly not used: one for each ID, because two runs that mark the
// same member within a second give their marks the same one.
func Return(r RegionState, group string, ids []string) RegionState {
	r.Marks = slices.Clone(r.Marks)
	for _, id := range ids {
		if i := slices.IndexFunc(r.Marks, func(m RegionMark) bool { return m.ID == regionID(group, id) }); i >= 0 {
			r.Marks = slices.Delete(r.Marks, i, i+1)
		}
	}
	return r
}

// refusedGrace is how long a member that AWS called too young is left alone.
const refusedGrace = 5 * time.Minute

// Settle records what became of a reservation, OutcomeDone or OutcomeUnknown, and when the call was answered. Both stay spent. What another
// run has seen to be done stays done, though this run had no answer.
func Settle(s State, id, outcome string, at time.Time) State {
	s.Marks = slices.Clone(s.Marks)
	i := slices.IndexFunc(s.Marks, func(m Mark) bool { return m.ID == id })
	switch {
	case i < 0:
	case outcome == OutcomeUnknown && s.Marks[i].Outcome == OutcomeDone:
		s.Marks[i].Called = max(s.Marks[i].Called, At(at))
	default:
		s.Marks[i].Outcome, s.Marks[i].Called = outcome, At(at)
	}
	return s
}

// SettleRegion records in the Region's budget when the call of a reservation was answered.
func SettleRegion(r RegionState, group, id string, at time.Time) RegionState {
	r.Marks = slices.Clone(r.Marks)
	for i := range r.Marks {
		if r.Marks[i].ID == regionID(group, id) {
			r.Marks[i].At = max(r.Marks[i].At, At(at))
		}
	}
	return r
}

// GiveBack takes out a reservation of which certainly nothing came. tooYoungAt is when AWS refused because of the member's age, which
// leaves the member alone for a while; zero if that was not the reason.
func GiveBack(s State, id string, tooYoungAt time.Time) State {
	i := slices.IndexFunc(s.Marks, func(m Mark) bool { return m.ID == id })
	if i < 0 {
		return s
	}
	member := s.Marks[i].Member
	s.Marks = slices.Delete(slices.Clone(s.Marks), i, i+1)
	if !tooYoungAt.IsZero() {
		s.Members = slices.Clone(s.Members)
		if j, ok := memberAt(s.Members, member); ok {
			s.Members[j].NoMarkBefore = At(tooYoungAt.Add(refusedGrace))
		}
	}
	return s
}

// memberAt finds a member by its ID.
func memberAt(members []MemberState, id string) (int, bool) {
	return slices.BinarySearchFunc(members, id, func(m MemberState, id string) int { return cmp.Compare(m.ID, id) })
}

// RecordSuspended notes the reason texts of processes that were just suspended, as read back.
func RecordSuspended(s State, suspended []Suspension) State {
	if s.Hold == nil {
		return s
	}
	h := *s.Hold
	h.Ours = slices.Clone(h.Ours)
	for i := range h.Ours {
		p := &h.Ours[i]
		for _, now := range suspended {
			if now.Process == p.Process && adoptable(now, *p) && newer(now.Reason, p.Reason) {
				p.Reason = now.Reason
			}
		}
	}
	s.Hold = &h
	return s
}

// newer says that a reason text is younger than the one that is recorded, if there is one: two runs that suspend at once may each
// read their own text, and AWS keeps one of them.
func newer(text, recorded string) bool {
	at, _ := suspendedAt(text)
	was, known := suspendedAt(recorded)
	return recorded == "" || known && at.After(was)
}

// Delivered takes pages that were handed over off the list of those still to be sent.
func Delivered(s State, pages []Page) State {
	s.Unsent = slices.DeleteFunc(slices.Clone(s.Unsent), func(u Page) bool {
		return slices.ContainsFunc(pages, func(p Page) bool { return p.Key == u.Key && p.Subject == u.Subject })
	})
	return s
}

// onsetsKept is the longest onset window that a policy may ask for.
const onsetsKept = time.Hour

// MergeRegion puts one group's part into the Region's state and says whether anything changed.
func MergeRegion(r RegionState, d RegionDelta, now time.Time) (RegionState, bool) {
	at := At(now)
	var onsets []RegionOnset
	for _, o := range r.Onsets {
		if o.Group != d.Group && at.sub(o.At) < onsetsKept {
			onsets = append(onsets, o)
		}
	}
	onsets = append(onsets, d.Onsets...)
	slices.SortFunc(onsets, func(a, b RegionOnset) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Member, b.Member))
	})
	have, known := r.Eligible[d.Group]
	changed := !slices.Equal(onsets, r.Onsets) || have != d.Eligible || known == d.Forget
	if !changed {
		return r, false
	}
	r.Onsets = onsets
	eligible := map[string]int{}
	for group, n := range r.Eligible {
		eligible[group] = n
	}
	eligible[d.Group] = d.Eligible
	if d.Forget {
		delete(eligible, d.Group)
	}
	r.Eligible = eligible
	return r, true
}
