package guard_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

func TestVariantsOfTheGates(t *testing.T) {
	launch := func(f *guardtest.Fleet, age time.Duration, status string) {
		a := guard.Activity{ID: age.String(), At: f.In.Now.Add(guardtest.Interval - age), Kind: "launch", Status: status}
		f.In.Group.Activities = append(f.In.Group.Activities, a)
	}
	tests := map[string]struct {
		lay  func(*guardtest.Fleet)
		fate string
	}{
		"protection that is not respected lets pass": {func(f *guardtest.Fleet) { f.M(0).Protected, f.In.Policy.RespectScaleInProtection = true, false }, "mark"},
		"protection of another member lets pass":     {func(f *guardtest.Fleet) { f.M(1).Protected = true }, "mark"},
		"an opt-out of another member lets pass":     {func(f *guardtest.Fleet) { f.M(1).OptedOut = true }, "mark"},
		"a dependency that is well lets pass":        {func(f *guardtest.Fleet) { depend(f, guard.AlarmOK) }, "mark"},
		"a dependency without data lets pass":        {func(f *guardtest.Fleet) { depend(f, guard.AlarmNoData) }, "mark"},
		"a dependency that is missing denies":        {func(f *guardtest.Fleet) { depend(f, guard.AlarmMissing) }, "dependency=1/0"},
		"a dependency that is red holds":             {func(f *guardtest.Fleet) { depend(f, guard.AlarmRed) }, "held"},
		"a soft dependency that is red lets pass": {func(f *guardtest.Fleet) {
			depend(f, guard.AlarmRed)
			f.In.Group.Dependencies[0].Kind = guard.DependencySoft
		}, "mark"},
		"a soft dependency that is unread lets pass": {func(f *guardtest.Fleet) {
			depend(f, guard.AlarmUnread)
			f.In.Group.Dependencies[0].Kind = guard.DependencySoft
		}, "mark"},
		"a refresh that waits denies":                   {func(f *guardtest.Fleet) { f.In.Group.Refresh = "Pending" }, "refreshing"},
		"a refresh that is cancelled denies":            {func(f *guardtest.Fleet) { f.In.Group.Refresh = "Cancelling" }, "refreshing"},
		"a refresh that rolls back denies":              {func(f *guardtest.Fleet) { f.In.Group.Refresh = "RollbackInProgress" }, "refreshing"},
		"a refresh that bakes denies":                   {func(f *guardtest.Fleet) { f.In.Group.Refresh = "Baking" }, "refreshing"},
		"a refresh that has ended lets pass":            {func(f *guardtest.Fleet) { f.In.Group.Refresh = "Successful" }, "mark"},
		"a refresh that has failed lets pass":           {func(f *guardtest.Fleet) { f.In.Group.Refresh = "RollbackFailed" }, "mark"},
		"a foreign ReplaceUnhealthy denies":             {func(f *guardtest.Fleet) { f.Suspend(f.In.Now, guard.ProcessReplaceUnhealthy) }, "cannot-replace"},
		"a foreign Terminate denies":                    {func(f *guardtest.Fleet) { f.Suspend(f.In.Now, guard.ProcessTerminate) }, "cannot-replace"},
		"a foreign HealthCheck lets pass":               {func(f *guardtest.Fleet) { f.Suspend(f.In.Now, guard.ProcessHealthCheck) }, "mark"},
		"a foreign AZRebalance lets pass":               {func(f *guardtest.Fleet) { f.Suspend(f.In.Now, guard.ProcessAZRebalance) }, "mark"},
		"one failed launch lets pass":                   {func(f *guardtest.Fleet) { launch(f, time.Minute, "Failed") }, "mark"},
		"two failed launches deny":                      {func(f *guardtest.Fleet) { launch(f, time.Minute, "Failed"); launch(f, 30*time.Minute-moment, "Failed") }, "cannot-replace=2/2"},
		"a failed launch half an hour ago is forgotten": {func(f *guardtest.Fleet) { launch(f, time.Minute, "Failed"); launch(f, 30*time.Minute, "Failed") }, "mark"},
		"a launch that succeeded since lets pass": {func(f *guardtest.Fleet) {
			launch(f, time.Minute, "Successful")
			launch(f, 2*time.Minute, "Failed")
			launch(f, 3*time.Minute, "Failed")
		}, "mark"},
		"a success before two failures does not help": {func(f *guardtest.Fleet) {
			launch(f, 3*time.Minute, "Successful")
			launch(f, time.Minute, "Failed")
			launch(f, 2*time.Minute, "Failed")
		}, "cannot-replace=2/2"},
		"a launch under way says nothing": {func(f *guardtest.Fleet) {
			launch(f, time.Minute, "InProgress")
			launch(f, 2*time.Minute, "Failed")
			launch(f, 3*time.Minute, "Failed")
		}, "cannot-replace=2/2"},
		"a Region's budget that cannot be read denies": {func(f *guardtest.Fleet) { f.In.Reads.Region = "throttled" }, "region-budget"},
		"one look is enough if one is wanted":          {func(f *guardtest.Fleet) { f.In.Policy.ConfirmSweeps = 1 }, "mark"},
		"a mark by AWS that is still there waits":      {func(f *guardtest.Fleet) { f.M(0).Unhealthy = true }, "waiting"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := ready(8)
			test.lay(f)
			want(t, "the broken member", fate(f.Sweep(), f.ID(0)), test.fate)
		})
	}
}

func TestTheOnlyMember(t *testing.T) {
	f := ready(1)
	want(t, "by default", fate(f.Sweep(), f.ID(0)), "last-instance=1/1")
	want(t, "its page", pages(f.Verdict), "last-instance!")
	f.In.Policy.ActOnLastInstance = true
	want(t, "when its owner allowed it", fate(f.Sweep(), f.ID(0)), "mark")
}

func TestOrderOfCandidates(t *testing.T) {
	f := calm(guardtest.New(8))
	f.Break(3)
	f.Sweep()
	f.Break(1, 2)
	f.M(2).Targets[0].Anomalous = true
	f.In.Policy.MaxInFlight = 0
	f.Sweep()
	f.In.Policy.MaxInFlight = 1
	want(t, "longest broken first", actions(f.Sweep()), "mark "+f.ID(3))
	f.M(3).Lifecycle = "Standby"
	f.M(3).Unhealthy = false
	undo(f)
	want(t, "then the anomalous one", actions(f.Sweep()), "mark "+f.ID(2))
	undo(f)
	f.M(2).Lifecycle = "Standby"
	want(t, "then by name", actions(f.Sweep()), "mark "+f.ID(1))
}

func TestAMarkSaysWhatWasUnknown(t *testing.T) {
	f := ready(8)
	depend(f, guard.AlarmNoData)
	v := f.Sweep()
	want(t, "note", v.Actions[0].Note, "marked while the state of db was unknown")
	if f.In.State.Marks[0].Note != v.Actions[0].Note {
		t.Error("the record of the mark does not say it")
	}
	f = ready(8)
	depend(f, guard.AlarmNoData)
	f.In.Group.Dependencies[0].Missing = guard.MissingOK
	want(t, "note when missing data reads as OK", f.Sweep().Actions[0].Note, "")
}

func TestARedAlarmOfUnknownAgeHolds(t *testing.T) {
	f := guardtest.New(8)
	depend(f, guard.AlarmRed)
	f.In.Group.Dependencies[0].Since = time.Time{}
	want(t, "triggers", causes(f.Sweep()), "dependency:db=0/0")
}

func TestAMemberMarkedTwiceWaitsForItsNewestMark(t *testing.T) {
	f := ready(40)
	p := &f.In.Policy
	p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour = 2, 2, 4
	f.In.State.Marks = []guard.Mark{
		{ID: "old", Member: f.ID(0), At: guard.At(f.In.Now.Add(-2 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Closed: true},
		{ID: "new", Member: f.ID(0), At: guard.At(f.In.Now.Add(-time.Minute)), By: "guard", Outcome: guard.OutcomeUnknown, Weight: 1},
	}
	want(t, "with an open mark after a closed one", fate(f.Sweep(), f.ID(0)), "waiting")
}

func TestAMemberThatAWSMarksAgainCountsAgain(t *testing.T) {
	f := ready(8)
	f.In.State.Marks = []guard.Mark{{ID: "old", Member: f.ID(5), At: guard.At(f.In.Now.Add(-2 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Closed: true}}
	f.M(5).Unhealthy = true
	want(t, "another member", fate(f.Sweep(), f.ID(0)), "in-flight=1/1")
}

func TestAReservationWithoutAnOutcome(t *testing.T) {
	for _, outcome := range []string{guard.OutcomeReserved, guard.OutcomeUnknown} {
		f := ready(8)
		f.In.State.Marks = []guard.Mark{{ID: "m", Member: f.ID(0), At: guard.At(f.In.Now.Add(guardtest.Interval - 10*time.Minute + moment)), By: "guard", Outcome: outcome, Weight: 1}}
		want(t, outcome+": spent for its window", fate(f.Sweep(), f.ID(0)), "waiting")
		want(t, outcome+": not done after ten minutes", fate(f.Step(moment), f.ID(0)), "mark")

		f = ready(8)
		f.In.State.Marks = []guard.Mark{{ID: "m", Member: f.ID(0), At: guard.At(f.In.Now.Add(guardtest.Interval - 10*time.Minute)), By: "guard", Outcome: outcome, Weight: 1}}
		f.M(0).Unhealthy = true
		want(t, outcome+": the group shows that it was done", fate(f.Sweep(), f.ID(0)), "waiting")
		want(t, outcome+": settled as", f.In.State.Marks[0].Outcome, guard.OutcomeDone)
	}
}

// TestAMemberThatAWSMarkedWaitsInTheLookThatEndsAHold has no grace, so that nothing else keeps the member from a mark in that look.
func TestAMemberThatAWSMarkedWaitsInTheLookThatEndsAHold(t *testing.T) {
	f := quieted(t)
	f.In.Policy.BootGraceSeconds = 0
	f.Break(4)
	f.M(4).Unhealthy = true
	f.Sweeps(3)
	v := f.Sweep()
	want(t, "the end", pages(v), "released")
	want(t, "the member", fate(v, f.ID(4)), "waiting")
	want(t, "and a look later", fate(f.Sweep(), f.ID(4)), "waiting")
}
