package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// marked puts one mark of the guard into the state, so old as stated in the next look.
func marked(f *guardtest.Fleet, member, outcome string, age time.Duration) *guard.Mark {
	at := guard.At(f.In.Now.Add(guardtest.Interval - age))
	f.In.State.Marks = []guard.Mark{{ID: "x", Member: member, At: at, By: "guard", Outcome: outcome, Weight: 1}}
	return &f.In.State.Marks[0]
}

// onlyMark is the one mark that a look left; the zero mark when none is left.
func onlyMark(t *testing.T, v guard.Verdict) guard.Mark {
	t.Helper()
	switch len(v.State.Marks) {
	case 0:
		return guard.Mark{}
	case 1:
		return v.State.Marks[0]
	}
	t.Fatalf("%d marks, want one at most: %+v", len(v.State.Marks), v.State.Marks)
	return guard.Mark{}
}

func TestWhoIsRepairedByAPacedExit(t *testing.T) {
	const ago = 30 * time.Minute
	for name, c := range map[string]struct {
		member int
		age    time.Duration
		paced  bool
	}{
		"a member of the exit, marked since it began":       {0, ago - time.Minute, true},
		"a member of the exit, marked as it began":          {0, ago, true},
		"a member of the exit, marked before the hold":      {0, ago + time.Second, false},
		"another one, marked while the exit is on its way":  {5, ago - time.Minute, false},
		"another one, marked before anything of it existed": {5, ago + time.Hour, false},
	} {
		f := calm(guardtest.New(20))
		marked(f, f.ID(c.member), guard.OutcomeDone, c.age)
		f.In.State.Paced = &guard.Paced{Since: guard.At(f.In.Now.Add(guardtest.Interval - ago)), Members: []string{f.ID(0)}}
		if m := onlyMark(t, f.Sweep()); m.Paced != c.paced {
			t.Errorf("%s: repaired by the exit: %t", name, m.Paced)
		}
	}
}

func TestAReservationWhoseMemberLeavesWasUsed(t *testing.T) {
	for name, c := range map[string]struct {
		lay     func(*guard.Member)
		outcome string
	}{
		"in service and well":               {func(*guard.Member) {}, guard.OutcomeReserved},
		"in standby":                        {func(m *guard.Member) { m.Lifecycle = "Standby" }, guard.OutcomeReserved},
		"Unhealthy to Auto Scaling":         {func(m *guard.Member) { m.Unhealthy = true }, guard.OutcomeDone},
		"leaving, and not called Unhealthy": {func(m *guard.Member) { m.Lifecycle = "Terminating" }, guard.OutcomeDone},
		"waiting to leave":                  {func(m *guard.Member) { m.Lifecycle = "Terminating:Wait" }, guard.OutcomeDone},
	} {
		f := calm(guardtest.New(20))
		marked(f, f.ID(0), guard.OutcomeReserved, 5*time.Minute)
		c.lay(f.M(0))
		want(t, name, onlyMark(t, f.Sweep()).Outcome, c.outcome)
	}
}

func TestAReservationOfWhichNothingIsSeenIsGivenBackAfterTenMinutes(t *testing.T) {
	for age, kept := range map[time.Duration]string{10*time.Minute - time.Millisecond: guard.OutcomeUnknown, 10 * time.Minute: ""} {
		f := calm(guardtest.New(20))
		marked(f, f.ID(0), guard.OutcomeUnknown, age)
		want(t, fmt.Sprint("after ", age), onlyMark(t, f.Sweep()).Outcome, kept)
	}
}

// TestAMarkedMemberThatIsOnItsWayOutKeepsItsSlot has AWS call it Healthy no longer or again, as it likes: it leaves.
func TestAMarkedMemberThatIsOnItsWayOutKeepsItsSlot(t *testing.T) {
	for lifecycle, closed := range map[string]bool{"Terminating": false, "Terminating:Wait": false, "Standby": false, "InService": true} {
		f := calm(guardtest.New(20))
		marked(f, f.ID(0), guard.OutcomeDone, 20*time.Minute)
		f.M(0).Lifecycle = lifecycle
		if m := onlyMark(t, f.Sweep()); m.Closed != closed {
			t.Errorf("%s: its slot is free: %t", lifecycle, m.Closed)
		}
	}
}

func TestReplacementsThatFailedUpToTheReleaseAreForgottenWithIt(t *testing.T) {
	for after, expected := range map[time.Duration]string{-time.Minute: "mark", 0: "mark", time.Millisecond: "held"} {
		f := ready(40)
		released := f.In.Now.Add(-3 * time.Hour)
		f.In.State.ReleasedAt = guard.At(released)
		for i := range 2 {
			at := guard.At(released.Add(after))
			f.In.State.Marks = append(f.In.State.Marks, guard.Mark{ID: fmt.Sprint(i), Member: fmt.Sprint("gone-", i), At: at, By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Gone: true, Closed: true, Failed: true})
		}
		want(t, fmt.Sprint("marked so long after the release: ", after), strings.Split(fate(f.Sweep(), f.ID(0)), "=")[0], expected)
	}
}

func TestALookWritesIntoNoMarkThatItWasGiven(t *testing.T) {
	f := calm(guardtest.New(20))
	before := *marked(f, "gone", guard.OutcomeUnknown, 5*time.Minute)
	f.In.Group.Activities = []guard.Activity{{ID: "a", At: f.In.Now, Kind: "terminate", Status: "Successful", Member: "gone", Cause: "a user health-check"}}
	given := f.In.State.Marks
	want(t, "the mark of the look", onlyMark(t, f.Sweep()).Outcome, guard.OutcomeDone)
	if given[0] != before {
		t.Errorf("the mark that it was given is now %+v", given[0])
	}
}

func TestAnOutcomeIsWrittenIntoNoStateThatSomebodyElseHolds(t *testing.T) {
	region := guard.RegionState{Marks: []guard.RegionMark{{ID: "g/a", At: 1000}, {ID: "g/b", At: 1000}}}
	if r := guard.Return(region, "g", []string{"a"}); len(r.Marks) != 1 || r.Marks[0].ID != "g/b" {
		t.Errorf("returned: %v", r.Marks)
	}
	if r := guard.SettleRegion(region, "g", "a", time.UnixMilli(9000)); r.Marks[0].At != 9000 || r.Marks[1].At != 1000 {
		t.Errorf("settled: %v", r.Marks)
	}
	if want := []guard.RegionMark{{ID: "g/a", At: 1000}, {ID: "g/b", At: 1000}}; !slices.Equal(region.Marks, want) {
		t.Errorf("the marks that were given are now %v", region.Marks)
	}
}

func TestACallWithoutAnAnswerLeavesItsReservationUnknown(t *testing.T) {
	s := guard.State{Marks: []guard.Mark{{ID: "a", Member: "i-1", At: 1000, Outcome: guard.OutcomeReserved}}}
	if m := guard.Settle(s, "a", guard.OutcomeUnknown, time.UnixMilli(9000)).Marks[0]; m.Outcome != guard.OutcomeUnknown || m.Called != 9000 {
		t.Errorf("%s, called at %d", m.Outcome, m.Called)
	}
}

func TestOnlyACallThatCameTooEarlyChangesAGrace(t *testing.T) {
	s := guard.State{Members: []guard.MemberState{{ID: "i-1", NoMarkBefore: 5000}}, Marks: []guard.Mark{{ID: "a", Member: "i-1", At: 1000}}}
	if n := guard.GiveBack(s, "a", time.Time{}).Members[0]; n.NoMarkBefore != 5000 {
		t.Errorf("spared until %d, want what it was: 5000", n.NoMarkBefore)
	}
	if n := guard.GiveBack(s, "a", time.UnixMilli(9000)).Members[0]; n.NoMarkBefore != 309000 || s.Members[0].NoMarkBefore != 5000 {
		t.Errorf("spared until %d, want five minutes from then; what was given says %d", n.NoMarkBefore, s.Members[0].NoMarkBefore)
	}
}

func TestWhatAReplacementThatServesIs(t *testing.T) {
	for name, c := range map[string]struct {
		fleet  func() *guardtest.Fleet
		lay    func(*guardtest.Fleet)
		served bool
	}{
		"in service with a healthy target":   {func() *guardtest.Fleet { return ready(8) }, func(*guardtest.Fleet) {}, true},
		"a healthy target before in service": {func() *guardtest.Fleet { return ready(8) }, func(f *guardtest.Fleet) { f.M(7).Lifecycle = "Pending:Wait" }, false},
		"a target that says nothing yet":     {func() *guardtest.Fleet { return ready(8) }, func(f *guardtest.Fleet) { f.Aim(7, "initial", "") }, false},
		"a worker that beats":                {func() *guardtest.Fleet { return worker(8) }, func(*guardtest.Fleet) {}, true},
		"a worker that has not beaten":       {func() *guardtest.Fleet { return worker(8) }, func(f *guardtest.Fleet) { f.M(7).Beat = guard.Beat{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.fleet()
			id := f.Replace(0)
			if f.ID(7) != id {
				t.Fatalf("the replacement is %s, not the last member %s", id, f.ID(7))
			}
			if f.In.Policy.Kind == guard.KindWorker {
				f.M(7).Targets = nil
			}
			c.lay(f)
			f.In.State.Marks = []guard.Mark{{ID: "m", Member: "gone", At: guard.At(f.In.Now.Add(-time.Minute)), By: "guard", Outcome: guard.OutcomeDone, Replacement: id}}
			f.Sweep()
			if got := f.In.State.Marks[0].Served; got != c.served {
				t.Errorf("served %v, want %v", got, c.served)
			}
		})
	}
}
