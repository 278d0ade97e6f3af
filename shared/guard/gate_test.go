package guard_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// barrier is one gate's condition, laid on a group whose first member would be marked in the next look.
type barrier struct {
	name string
	lay  func(*guardtest.Fleet)
	// fate is the deferral that the gate alone gives.
	fate string
}

// barriers are in the order of the gates in the design. Each shuts its gate and, as far as that is possible, no other.
func barriers() []barrier {
	return append(barriersOfTheGroup(), barriersOfTheMember()...)
}

func barriersOfTheGroup() []barrier {
	return []barrier{
		{"blind", func(f *guardtest.Fleet) { f.In.Reads.Activities = "throttled" }, "blind"},
		{"warm-up", func(f *guardtest.Fleet) {
			f.In.State.LastSweep = guard.At(f.In.Now.Add(-time.Hour))
			f.In.Policy.ConfirmSweeps = 1
		}, "warm-up"},
		{"grace", func(f *guardtest.Fleet) {
			f.Remember(0).NoMarkBefore = guard.At(f.In.Now.Add(2 * guardtest.Interval))
		}, "grace=240/300"},
		{"opted-out", func(f *guardtest.Fleet) { f.M(0).OptedOut = true }, "opted-out"},
		{"protected", func(f *guardtest.Fleet) { f.M(0).Protected = true }, "protected"},
		{"alert-only", func(f *guardtest.Fleet) { f.In.Policy.Action = guard.ActionAlertOnly }, "alert-only"},
		{"hold-only", func(f *guardtest.Fleet) { f.In.Policy.Action = guard.ActionHoldOnly }, "hold-only"},
		{"held", func(f *guardtest.Fleet) { f.Ask("1", guard.RequestHold) }, "held"},
		{"dependency", func(f *guardtest.Fleet) { depend(f, guard.AlarmUnread) }, "dependency=1/0"},
		{"refreshing", func(f *guardtest.Fleet) { f.In.Group.Refresh = "InProgress" }, "refreshing"},
		{"cannot-replace", func(f *guardtest.Fleet) { f.Suspend(f.In.Now, guard.ProcessLaunch) }, "cannot-replace"},
		{"not-converging", func(f *guardtest.Fleet) {
			f.In.Policy.ConvergeFailures, f.In.Policy.Mode = 1, guard.ModeOff
			f.In.State.Marks = []guard.Mark{{ID: "m", Member: "gone", At: guard.At(f.In.Now.Add(-2 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Closed: true, Failed: true}}
		}, "not-converging=1/1"}, // such a group is held at once, so only mode off, which holds nothing, shows this gate
	}
}

func barriersOfTheMember() []barrier {
	return []barrier{
		{"waiting", func(f *guardtest.Fleet) { f.M(0).Unhealthy = true }, "waiting"},
		{"signals-disagree", func(f *guardtest.Fleet) { f.M(0).Beat.Status = "ok" }, "signals-disagree=60/900"},
		{"confirming", func(f *guardtest.Fleet) { f.In.Policy.ConfirmSweeps = 3 }, "confirming=2/3"},
		{"last-instance", func(f *guardtest.Fleet) {
			for i := 1; i < 8; i++ {
				f.M(i).Lifecycle = "Standby"
			}
			f.In.Policy.CapacityLossPercentMax, f.In.Policy.MinHealthyPercent = 100, 0
		}, "last-instance=1/1"},
		{"in-flight", func(f *guardtest.Fleet) {
			f.In.State.Marks = []guard.Mark{{ID: "m", Member: f.ID(5), At: guard.At(f.In.Now.Add(-25 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1}}
			f.M(5).Unhealthy = true
		}, "in-flight=1/1"},
		{"budget", func(f *guardtest.Fleet) { f.In.Policy.MarksPerHour = 0 }, "budget"},
		{"region-budget", func(f *guardtest.Fleet) { f.In.Policy.RegionMarksPerHour = 0 }, "region-budget"},
		{"capacity", func(f *guardtest.Fleet) { f.In.Policy.CapacityLossPercentMax = 1 }, "capacity=1/0"},
		{"min-healthy", func(f *guardtest.Fleet) { f.In.Policy.MinHealthyPercent = 100 }, "min-healthy=7/8"},
		{"mode", func(f *guardtest.Fleet) {
			f.In.Policy.Mode = guard.ModeOff
			f.In.Policy.ConfirmSweeps = 0 // mode off counts no looks, so this gate is the last only for a policy without them
		}, "mode"},
	}
}

// depend gives the group one hard dependency, whose alarm is in a state since ten minutes.
func depend(f *guardtest.Fleet, state string) {
	f.In.Group.Dependencies = []guard.DependencyReading{{
		Dependency:   guard.Dependency{Alarm: "db", Kind: guard.DependencyHard, Missing: guard.MissingUnknown},
		AlarmReading: guard.AlarmReading{State: state, Since: f.In.Now.Add(-10 * time.Minute)},
	}}
}

func TestEachGateAlone(t *testing.T) {
	for _, b := range barriers() {
		t.Run(b.name, func(t *testing.T) {
			f := ready(8)
			want(t, "without the condition", fate(f.Sweep(), f.ID(0)), "mark")
			f = ready(8)
			b.lay(f)
			v := f.Sweep()
			want(t, "with the condition", fate(v, f.ID(0)), b.fate)
			if marks := v.Marks(); len(marks) > 0 {
				t.Errorf("marks: %v", marks)
			}
		})
	}
}

// Each earlier gate is laid over each later one: the earlier must be the reason.
func TestTheFirstGateIsTheReason(t *testing.T) {
	all := barriers()
	for i, first := range all {
		for _, later := range all[i+1:] {
			t.Run(first.name+" before "+later.name, func(t *testing.T) {
				f := ready(8)
				later.lay(f)
				first.lay(f)
				expected := first.name
				switch {
				case first.name == "held" && (later.name == "mode" || later.name == "not-converging"):
					expected = later.name // mode off obeys no request
				case first.name == "confirming" && later.name == "mode":
					f.In.Policy.ConfirmSweeps = 3
				}
				want(t, "reason", string(deferral(f.Sweep(), f.ID(0)).Reason), expected)
			})
		}
	}
}
