package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// watch looks as mode observe does: the verdict is withheld and its state kept.
func watch(f *guardtest.Fleet) guard.Verdict {
	f.In.Policy.Mode = guard.ModeObserve
	f.In.Now = f.In.Now.Add(guardtest.Interval)
	for i := range f.In.Group.Members {
		f.M(i).Beat.At, f.M(i).Beat.Seq = f.In.Now, f.M(i).Beat.Seq+1
	}
	v := guard.Withhold(f.In, guard.Decide(f.In))
	f.In.State = guard.Delivered(guard.Reserve(v.State, v.Marks(), f.In.Now, true), v.Pages)
	return v
}

func TestObserveDecidesTheSameAndCallsNothing(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	same := f.In
	v := watch(f)
	same.Policy.Mode, same.Now = guard.ModeObserve, f.In.Now
	want(t, "the actions", actions(v), all)
	want(t, "why it is not made", v.Actions[0].Withheld, "mode")
	for _, p := range v.Pages {
		if !strings.HasPrefix(p.Text, "observe: ") {
			t.Errorf("page %q does not begin with observe:", p.Text)
		}
	}
	if !hold(t, f).Observed {
		t.Error("the hold is not flagged as not made")
	}
	want(t, "the next look", actions(watch(f)), "")
	f.Heal(0, 1)
	for range 10 {
		watch(f)
	}
	want(t, "the release is observed too", actions(watch(f))+actions(watch(f))+" | "+actions(watch(f)), "resume HealthCheck | resume AZRebalance,ReplaceUnhealthy")
	want(t, "its end", watch(f).Mode, guard.Watching)
}

func TestAMarkInObserve(t *testing.T) {
	f := calm(guardtest.New(8))
	f.Break(0)
	watch(f)
	v := watch(f)
	want(t, "the action", actions(v)+" "+v.Actions[0].Withheld, "mark i-00000 mode")
	want(t, "the deferral", deferral(v, f.ID(0)).Text, "observe: would be marked")
	m := f.In.State.Marks[0]
	if !m.Observed || m.Outcome != guard.OutcomeDone {
		t.Errorf("the record %+v is not flagged as observed", m)
	}
	want(t, "it counts across sweeps", fate(watch(f), f.ID(0)), "waiting")
}

func TestPrepareDropsWhatWasOnlyObserved(t *testing.T) {
	s := guard.State{Hold: &guard.Hold{Observed: true}, Marks: []guard.Mark{{ID: "a", Observed: true}, {ID: "b"}}}
	p := guard.Defaults()
	if got := guard.Prepare(s, p); got.Hold != nil || len(got.Marks) != 1 || got.Marks[0].ID != "b" {
		t.Errorf("mode act keeps %+v", got)
	}
	if len(s.Marks) != 2 {
		t.Error("the given state was changed")
	}
	p.Action = guard.ActionAlertOnly
	if guard.Prepare(s, p).Hold == nil {
		t.Error("alert-only makes no call in mode act either: its hold is kept")
	}
	p.Mode = guard.ModeObserve
	if got := guard.Prepare(s, p); got.Hold == nil || len(got.Marks) != 2 {
		t.Errorf("mode observe drops something: %+v", got)
	}
	s.Hold = &guard.Hold{}
	if guard.Prepare(s, guard.Defaults()).Hold == nil {
		t.Error("a hold that was made is dropped")
	}
}

func TestObserveDuringARealHold(t *testing.T) {
	f := held(t)
	f.M(5).Unhealthy = true
	f.Heal(0, 1)
	v := watch(f)
	want(t, "pages", pages(v), "paused-while-held")
	want(t, "mode", v.Mode, guard.Held)
	for look := range 29 {
		if told := pages(watch(f)); strings.Contains(told, "paused") {
			t.Fatalf("look %d tells %q", look, told)
		}
	}
	v = watch(f)
	if !strings.Contains(pages(v), "paused-while-held again") {
		t.Errorf("after the interval: %q", pages(v))
	}
	n := 0
	for _, s := range f.In.State.Pages {
		if s.Key == guard.PagePausedWhileHeld {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the condition is remembered %d times, want once", n)
	}
	f.In.Policy.Mode = guard.ModeAct
	want(t, "back in mode act the member can still be restored", actions(f.Sweep()), "restore "+f.ID(5))
	want(t, "and the quiet time starts now", f.Sweeps(8).Mode, guard.Held)
	f.Sweeps(6)
	want(t, "the end", f.Verdict.Mode+strings.Join(f.Suspended(), ","), guard.Watching)
}

func TestObserveTellsUnsentPagesOnce(t *testing.T) {
	f := held(t)
	f.In.State.Unsent = []guard.Page{{Key: guard.PageReleased, Text: "old"}}
	want(t, "pages", pages(watch(f)), "released, paused-while-held")
}

func TestAlertOnlyHoldsOnPaper(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1)
	v := f.Sweep()
	want(t, "the call", actions(v)+" "+v.Actions[0].Withheld, all+" alert-only")
	want(t, "pages", pages(v), "held!")
	f.Heal(0, 1)
	f.Sweeps(14)
	want(t, "the end", f.Verdict.Mode+strings.Join(f.Suspended(), ","), guard.Watching)
}

func TestASettledReservation(t *testing.T) {
	now := guardtest.Start()
	s := guard.State{Members: []guard.MemberState{{ID: "i-1"}, {ID: "i-2"}}}
	s = guard.Reserve(s, []guard.Action{{ID: "a", Member: "i-1", Weight: 2, Note: "n"}, {ID: "b", Member: "i-2"}}, now, false)
	want(t, "reserved", fmt.Sprint(s.Marks[0]), fmt.Sprint(guard.Mark{ID: "a", Member: "i-1", At: guard.At(now), By: "guard", Outcome: guard.OutcomeReserved, Weight: 2, Note: "n"}))
	want(t, "done", guard.Settle(s, "a", guard.OutcomeDone, now).Marks[0].Outcome, guard.OutcomeDone)
	back := guard.GiveBack(s, "a", now)
	if len(back.Marks) != 1 || back.Marks[0].ID != "b" || back.Members[0].NoMarkBefore != guard.At(now.Add(5*time.Minute)) || back.Members[1].NoMarkBefore != 0 {
		t.Errorf("a member that was too young: %+v", back)
	}
	if len(s.Marks) != 2 || s.Members[0].NoMarkBefore != 0 {
		t.Error("the given state was changed")
	}
	if got := guard.GiveBack(s, "no such", now); len(got.Marks) != 2 {
		t.Error("an unknown reservation changes something")
	}
}

func TestTheRegionsBook(t *testing.T) {
	now := guardtest.Start()
	r := guard.RegionState{Marks: []guard.RegionMark{{ID: "old", At: guard.At(now.Add(-time.Hour))}, {ID: "new", At: guard.At(now.Add(-time.Hour + moment))}}}
	r = guard.ReserveRegion(r, "arn", []guard.Action{{ID: "a"}}, now)
	want(t, "after a reservation", fmt.Sprint(r.Marks), fmt.Sprintf("[{new %d} {arn/a %d}]", guard.At(now.Add(-time.Hour+moment)), guard.At(now)))
	want(t, "after it was given back", fmt.Sprint(len(guard.Return(r, "arn", []string{"a"}).Marks)), "1")
	want(t, "another group's is not given back", fmt.Sprint(len(guard.Return(r, "other", []string{"a"}).Marks)), "2")

	onset := guard.RegionOnset{Group: "b", Member: "x", At: guard.At(now)}
	r, changed := guard.MergeRegion(guard.RegionState{}, guard.RegionDelta{Group: "b", Eligible: 5, Onsets: []guard.RegionOnset{onset}}, now)
	if !changed || r.Eligible["b"] != 5 || len(r.Onsets) != 1 {
		t.Errorf("merged %+v, changed %v", r, changed)
	}
	if _, changed := guard.MergeRegion(r, guard.RegionDelta{Group: "b", Eligible: 5, Onsets: []guard.RegionOnset{onset}}, now); changed {
		t.Error("the same again is a change")
	}
	r, _ = guard.MergeRegion(r, guard.RegionDelta{Group: "a", Eligible: 1, Onsets: []guard.RegionOnset{{Group: "a", Member: "y", At: guard.At(now)}}}, now)
	want(t, "sorted by group", r.Onsets[0].Group+r.Onsets[1].Group, "ab")
	r, _ = guard.MergeRegion(r, guard.RegionDelta{Group: "a"}, now.Add(time.Hour))
	if n, known := r.Eligible["a"]; len(r.Onsets) != 0 || n != 0 || !known {
		t.Errorf("an hour later %+v, want no onset, and a known without eligible members", r)
	}
	r, changed = guard.MergeRegion(r, guard.RegionDelta{Group: "a", Forget: true}, now.Add(time.Hour))
	if _, known := r.Eligible["a"]; known || !changed || len(r.Eligible) != 1 {
		t.Errorf("%+v, want a forgotten", r)
	}
	if _, changed := guard.MergeRegion(r, guard.RegionDelta{Group: "a", Forget: true}, now.Add(time.Hour)); changed {
		t.Error("forgetting it again is a change")
	}
}

func TestAReasonIsRecordedOnlyIfItCanBeOurs(t *testing.T) {
	now := guardtest.Start()
	s := guard.State{Hold: &guard.Hold{Ours: []guard.HeldProcess{{Process: "HealthCheck", IntentAt: guard.At(now)}, {Process: "AZRebalance", IntentAt: guard.At(now), Reason: "kept"}}}}
	text := "User suspended at " + now.Format(time.RFC3339)
	got := guard.RecordSuspended(s, []guard.Suspension{{Process: "HealthCheck", Reason: text}, {Process: "AZRebalance", Reason: text}})
	want(t, "reasons", got.Hold.Ours[0].Reason+" "+got.Hold.Ours[1].Reason, text+" kept")
	want(t, "the given record", s.Hold.Ours[0].Reason, "")
	got = guard.RecordSuspended(s, []guard.Suspension{{Process: "HealthCheck", Reason: "User suspended at 2020-01-01T00:00:00Z"}})
	want(t, "a foreign text", got.Hold.Ours[0].Reason, "")
	if guard.RecordSuspended(guard.State{}, nil).Hold != nil {
		t.Error("a record without a hold")
	}
}

// Two runs suspend at once, and each reads back what it may: AWS keeps the younger text.
func TestTheYoungerOfTwoReasonsOfOursIsRecorded(t *testing.T) {
	now := guardtest.Start()
	text := func(after time.Duration) string { return "User suspended at " + now.Add(after).Format(time.RFC3339) }
	for _, test := range []struct{ recorded, read, kept time.Duration }{{3 * time.Second, time.Second, 3 * time.Second}, {3 * time.Second, 5 * time.Second, 5 * time.Second}} {
		s := guard.State{Hold: &guard.Hold{Ours: []guard.HeldProcess{{Process: "HealthCheck", IntentAt: guard.At(now), Reason: text(test.recorded)}}}}
		got := guard.RecordSuspended(s, []guard.Suspension{{Process: "HealthCheck", Reason: text(test.read)}})
		want(t, "the record", got.Hold.Ours[0].Reason, text(test.kept))
	}
}

func TestExplainTellsTheVerdict(t *testing.T) {
	f := ready(8)
	f.M(1).OptedOut = true
	f.Break(1)
	lines := strings.Join(f.Sweep().Explain(), "\n")
	for _, part := range []string{"shop: watching, 8 eligible, 6 healthy, 2 bad, 2 broken, 0 outside", "mark i-00000", "deferred i-00001: opted-out"} {
		if !strings.Contains(lines, part) {
			t.Errorf("%q is not in:\n%s", part, lines)
		}
	}
	f = held(t)
	lines = strings.Join(f.Verdict.Explain(), "\n")
	for _, part := range []string{"cause correlated", "trigger: 2 of 8 eligible", "suspend AZRebalance, HealthCheck, ReplaceUnhealthy", "deferred i-00000: held (2 of 2)", "page held: "} {
		if !strings.Contains(lines, part) {
			t.Errorf("%q is not in:\n%s", part, lines)
		}
	}
}

func TestAlertOnlyStillReleasesARealHold(t *testing.T) {
	f := held(t)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Heal(0, 1)
	f.Sweeps(15)
	want(t, "the end", f.Verdict.Mode+strings.Join(f.Suspended(), ","), guard.Watching)
}

func TestObserveLetsAHoldEndThatHadResumedEverything(t *testing.T) {
	f := held(t)
	f.Heal(0, 1)
	for f.In.State.Hold == nil || f.In.State.Hold.Stage != guard.StageResumed {
		if f.Sweep(); f.In.State.Hold == nil {
			t.Fatal("the hold ended before its last stage was seen")
		}
	}
	v := watch(f)
	want(t, "pages", pages(v), "released")
	if v.State.Hold != nil || v.Mode != guard.Watching || len(v.Actions) > 0 {
		t.Errorf("still %s: %+v, %+v", v.Mode, v.State.Hold, v.Actions)
	}
}

func TestObservingMarksAMemberOnceForEachSpell(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Mode = guard.ModeObserve
	spell := func() (marks int) {
		for range 60 {
			f.In.Now = f.In.Now.Add(guardtest.Interval)
			for i := range f.In.Group.Members {
				f.M(i).Beat.At, f.M(i).Beat.Seq = f.In.Now, f.M(i).Beat.Seq+1
			}
			v := guard.Withhold(f.In, guard.Decide(f.In))
			f.In.State = guard.Reserve(v.State, v.Marks(), f.In.Now, true)
			marks += len(v.Marks())
		}
		return marks
	}
	for _, c := range []struct {
		what  string
		set   func(...int)
		marks int
	}{{"an hour of one spell", f.Break, 1}, {"an hour without", f.Heal, 0}, {"an hour of another spell", f.Break, 1}} {
		c.set(0)
		if got := spell(); got != c.marks {
			t.Errorf("%s: %d marks, want %d", c.what, got, c.marks)
		}
	}
}

// Two runs at once: one sees the member Unhealthy before the other, which had no answer to its call, writes down that it does not know.
func TestAMarkThatWasSeenToBeDoneStaysDoneThoughItsOwnRunDoesNotKnow(t *testing.T) {
	f := guardtest.New(8)
	seen := guard.At(f.In.Now.Add(time.Second))
	s := guard.State{Marks: []guard.Mark{{ID: "a", Member: f.ID(0), At: guard.At(f.In.Now), Called: seen, Outcome: guard.OutcomeDone}}}
	for _, c := range []struct {
		outcome string
		at      time.Duration
		called  guard.Instant
	}{{guard.OutcomeUnknown, 0, seen}, {guard.OutcomeUnknown, 3 * time.Second, guard.At(f.In.Now.Add(3 * time.Second))}, {guard.OutcomeDone, 0, guard.At(f.In.Now)}} {
		if m := guard.Settle(s, "a", c.outcome, f.In.Now.Add(c.at)).Marks[0]; m.Outcome != guard.OutcomeDone || m.Called != c.called {
			t.Errorf("%s answered after %s: %s called at %d, want done at %d", c.outcome, c.at, m.Outcome, m.Called, c.called)
		}
	}
	if s.Marks[0].Called != seen {
		t.Error("the state that was given was changed")
	}
}

func TestTheWindowsOfTheBudgetBeginWhenTheCallIsAnswered(t *testing.T) {
	f := guardtest.New(20)
	f.In.State.Marks = []guard.Mark{{ID: "a", Member: f.ID(0), At: guard.At(f.In.Now.Add(-10 * time.Minute)), By: "guard", Outcome: guard.OutcomeReserved, Weight: 1}}
	f.In.Region = guard.ReserveRegion(f.In.Region, f.In.Group.ARN, []guard.Action{{ID: "a"}}, f.In.Now.Add(-time.Hour))
	if l := guard.Decide(f.In).Limits; l.TenMinutes != 0 || l.RegionHour != 0 {
		t.Fatalf("limits %+v, want the reservation outside both windows", l)
	}
	answered := f.In.Now.Add(-9*time.Minute - 10*time.Second)
	f.In.State = guard.Settle(f.In.State, "a", guard.OutcomeDone, answered)
	f.In.Region = guard.SettleRegion(f.In.Region, f.In.Group.ARN, "a", answered)
	if l := guard.Decide(f.In).Limits; l.TenMinutes != 1 || l.RegionHour != 1 {
		t.Errorf("limits %+v, want the call in both windows", l)
	}
}

func TestAPauseInObserveStartsTheReleaseOfARealHoldAgain(t *testing.T) {
	for looks := range 3 {
		f := quieted(t)
		f.Sweeps(looks)
		watch(f)
		if h := hold(t, f); h.Stage != guard.StageQuiet {
			t.Errorf("after %d looks of the release and a pause: stage %d", looks, h.Stage)
		}
		f.In.Policy.Mode = guard.ModeAct
		f.Sweep()
		want(t, "what is suspended afterwards", strings.Join(f.Suspended(), ","), "AZRebalance,HealthCheck,ReplaceUnhealthy")
		want(t, "nine minutes later", f.Sweeps(9).Mode, guard.Held)
		want(t, "the release", story(f, 4), "2 | 3 resume HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy | free")
	}
}

func TestAnObservedHoldOfAGroupThatMayActSaysNothingOfAlertOnly(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	watch(f)
	f.Heal(0, 1)
	for len(watch(f).Actions) == 0 && f.In.State.Hold.Stage < guard.StageResumed {
		in := f.In
		in.Now = in.Now.Add(guardtest.Interval)
		for _, a := range guard.Decide(in).Actions {
			want(t, a.Kind+" is withheld because", a.Withheld, "")
		}
	}
	if f.In.State.Hold.Stage < guard.StageHealthCheck {
		t.Error("no call was decided")
	}
}
