package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// The tests of this file were written for changes that no other test had noticed (make mutate).

func TestFiftyDependenciesAreTheMost(t *testing.T) {
	for n, good := range map[int]bool{1: true, 50: true, 51: false} {
		var deps []string
		for i := range n {
			deps = append(deps, fmt.Sprintf(`{"alarm":"a%d","kind":"hard"}`, i))
		}
		r := one(`{"dependencies":[` + strings.Join(deps, ",") + `]}`)
		if (len(r.Problems) == 0) != good || good && len(r.Policy.Dependencies) != n {
			t.Errorf("%d dependencies: %d taken, problems %v", n, len(r.Policy.Dependencies), r.Problems)
		}
	}
}

func TestNumbersOutOfAnIntegersReachAreRefused(t *testing.T) {
	for _, value := range []string{"1e15", "1e16", "-1e16", "1e400", "1e308", "0.5", "1e-400"} {
		r := one(`{"marks_per_hour":` + value + `}`)
		if value == "1e-400" { // it is 0 to every reader of numbers
			want(t, value, rule(r), "")
			continue
		}
		if len(r.Problems) != 1 || r.Policy.MarksPerHour != 3 {
			t.Errorf("%s: problems %v, %d in force", value, r.Problems, r.Policy.MarksPerHour)
		}
	}
	for _, list := range []string{`"ReplaceUnhealthy"`, `null`, `{}`, `[1]`, `["ReplaceUnhealthy",1]`} {
		if r := one(`{"hold_processes":` + list + `}`); len(r.Problems) != 1 || len(r.Policy.HoldProcesses) != 3 {
			t.Errorf("%s: problems %v, %v in force", list, r.Problems, r.Policy.HoldProcesses)
		}
	}
}

func TestReservingWritesIntoNoStateThatSomebodyElseHolds(t *testing.T) {
	before := guard.State{Marks: append(make([]guard.Mark, 0, 8), guard.Mark{ID: "a", Member: "i-1"})}
	one := guard.Reserve(before, []guard.Action{{Kind: guard.ActMark, ID: "b", Member: "i-2"}}, guardtest.Start(), false)
	two := guard.Reserve(before, []guard.Action{{Kind: guard.ActMark, ID: "c", Member: "i-3"}}, guardtest.Start(), false)
	if len(before.Marks) != 1 || one.Marks[1].ID != "b" || two.Marks[1].ID != "c" {
		t.Errorf("before %v, one %v, two %v", before.Marks, one.Marks, two.Marks)
	}
}

func TestAPageOfAnotherSubjectIsStillToBeSent(t *testing.T) {
	db, auth := guard.Page{Key: guard.PageConfig, Subject: "db"}, guard.Page{Key: guard.PageConfig, Subject: "auth"}
	have := guard.Delivered(guard.State{Unsent: []guard.Page{db, auth}}, []guard.Page{db})
	if len(have.Unsent) != 1 || have.Unsent[0].Subject != "auth" {
		t.Errorf("still to be sent: %v", have.Unsent)
	}
}

func TestWhatObserveTellsIsWhatIsStillToBeSent(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	in := f.In
	v := guard.Withhold(in, f.Sweep())
	if len(v.State.Unsent) == 0 || !strings.HasPrefix(v.State.Unsent[0].Text, "observe: ") {
		t.Errorf("to be sent again: %v", v.State.Unsent)
	}
}

func TestAReplacementOfAMarkThatWasOnlyObservedIsNone(t *testing.T) {
	f := calm(guardtest.New(20))
	f.Break(0)
	f.Sweep()
	v := f.Sweep()
	want(t, "fate", fate(v, f.ID(0)), "mark")
	// The same mark, but nobody made the call: a launch for another reason is no replacement of it.
	f.In.State = guard.Reserve(f.In.State, nil, f.In.Now, true)
	for i := range f.In.State.Marks {
		f.In.State.Marks[i].Observed = true
	}
	f.M(0).Unhealthy = false
	f.In.Group.Activities = append(f.In.Group.Activities, guard.Activity{ID: "l", At: f.In.Now.Add(time.Second), Kind: "launch", Status: "Successful", Member: f.ID(5)})
	f.Sweep()
	if m := f.In.State.Marks[0]; m.Replacement != "" || m.Served || m.Failed {
		t.Errorf("mark %+v, want no replacement", m)
	}
}

func TestAMarkWithoutAWeightCountsAsOne(t *testing.T) {
	f := calm(guardtest.New(20))
	p := &f.In.Policy
	p.MaxInFlight, p.MarksPer10Minutes, p.CapacityLossPercentMax = 1, 1, 5 // one of twenty
	f.In.State.Marks = []guard.Mark{{ID: "x", Member: "gone", At: guard.At(f.In.Now.Add(-20 * time.Minute)), By: "guard", Outcome: guard.OutcomeDone}}
	p.MaxInFlight = 5
	f.In.Group.Members = f.In.Group.Members[:19] // the place of the one that has gone is empty
	f.Break(0)
	f.Sweep()
	v := f.Sweep()
	if d := deferral(v, f.ID(0)); d.Reason != guard.ReasonInFlight && (d.Reason != guard.ReasonCapacity || d.Have != 2 || d.Limit != 1) {
		t.Errorf("deferred %+v, want the capacity of two", d)
	}
}

// TestHealthCheckComesThreeQuartersOfAnIntervalBeforeTheRest looks early after HealthCheck was resumed: just before that time nothing more is
// resumed, at it the rest is.
func TestHealthCheckComesThreeQuartersOfAnIntervalBeforeTheRest(t *testing.T) {
	for after, calls := range map[time.Duration]string{44 * time.Second: "", 45 * time.Second: "resume AZRebalance,ReplaceUnhealthy"} {
		f := quieted(t)
		f.Sweep()
		want(t, "the first call", actions(f.Sweep()), "resume HealthCheck")
		want(t, fmt.Sprint("after ", after), actions(f.Step(after)), calls)
	}
}

// TestAMarkOfTheRegionIsThereForItsOwnMember releases a group whose one marked member has taken the last slot of the Region itself.
func TestAMarkOfTheRegionIsThereForItsOwnMember(t *testing.T) {
	f := calm(guardtest.New(8))
	f.In.Policy.RegionMarksPerHour = 1
	f.Break(0)
	f.Sweep()
	want(t, "the mark", actions(f.Sweep()), "mark "+f.ID(0))
	f.Ask("1", guard.RequestHold)
	f.Sweep()
	want(t, "held", f.Verdict.Mode, guard.Held)
	f.Ask("2", guard.RequestRelease)
	for range 6 {
		f.Sweep()
	}
	want(t, "pages", pageText(f.Verdict, guard.PageResumeBlocked), "")
	if f.In.State.Hold != nil {
		t.Errorf("still held: %s", strings.Join(f.Verdict.Explain(), "\n"))
	}
}

func TestOnlyFailedLaunchesCountAsLaunchesThatFailed(t *testing.T) {
	f := calm(guardtest.New(20))
	for i := range 2 {
		f.In.Group.Activities = append(f.In.Group.Activities, guard.Activity{ID: fmt.Sprint(i), At: f.In.Now, Kind: "terminate", Status: "Failed", Member: "i-x"})
	}
	f.Break(0)
	f.Sweep()
	want(t, "terminations that failed", fate(f.Sweep(), f.ID(0)), "mark")
}
