package guard_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// ahead does something while the guard's clock is a day fast, and turns it back.
func ahead(f *guardtest.Fleet, do func()) {
	f.In.Now = f.In.Now.Add(24 * time.Hour)
	do()
	f.In.Now = f.In.Now.Add(-24 * time.Hour)
}

// sweepsToRelease counts the looks until the hold has ended, 100 at most.
func sweepsToRelease(f *guardtest.Fleet) int {
	n := 0
	for ; n < 100 && f.In.State.Hold != nil; n++ {
		f.Sweep()
	}
	return n
}

func TestAHoldThatSawAFastClockIsReleasedInTime(t *testing.T) {
	for name, stage := range map[string]int{"in the quiet time": guard.StageQuiet, "when the release comes to HealthCheck": guard.StageRestore} {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(6)
			f.Break(0, 1, 2)
			f.Sweep()
			f.Heal(0, 1, 2)
			for f.Sweep(); f.In.State.Hold.Stage != stage; {
				f.Sweep()
			}
			ahead(f, func() { f.Sweep() })
			if n := sweepsToRelease(f); n > 20 {
				t.Errorf("the hold is still there after %d sweeps: %+v", n, f.In.State.Hold)
			}
		})
	}
}

func TestABlindLookAfterAStepBackShortensNoQuiet(t *testing.T) {
	f := guardtest.New(6)
	f.Break(0, 1, 2)
	f.Sweep()
	f.Heal(0, 1, 2)
	f.Sweeps(5)
	f.In.Now = f.In.Now.Add(-time.Hour)
	f.In.Reads.Targets = "throttled"
	f.Sweep()
	f.In.Reads.Targets = ""
	f.Sweep()
	if h := f.In.State.Hold; h == nil || h.Stage != guard.StageQuiet {
		t.Errorf("hold %+v, want its quiet time to go on", h)
	}
}

func TestAReleaseUnderAFastClockLeavesTheTriggersAwake(t *testing.T) {
	f := guardtest.New(20)
	f.In.Policy.BootGraceSeconds = 0
	f.Break(0, 1, 2, 3, 4, 5)
	f.Sweep()
	f.Heal(0, 1, 2, 3, 4, 5)
	f.Ask("1", guard.RequestRelease)
	f.Sweep()
	ahead(f, func() { sweepsToRelease(f) })
	if f.In.State.Hold != nil {
		t.Fatal("the hold did not end")
	}
	f.Sweep()
	f.Break(7, 8, 9)
	if v := f.Sweep(); v.Mode != guard.Held {
		t.Errorf("mode %s with triggers %q, want a hold by its onsets", v.Mode, causes(v))
	}
}

func TestAHoldBegunUnderAFastClockSeesWhatIsTakenFromIt(t *testing.T) {
	f := guardtest.New(6)
	ahead(f, func() {
		f.Break(0, 1, 2)
		f.Sweep()
	})
	f.Sweep()
	f.Resume("ReplaceUnhealthy")
	v := f.Sweep()
	want(t, "actions", actions(v), "suspend ReplaceUnhealthy")
}

func TestAReminderIsNotPutOffByAFastClock(t *testing.T) {
	f := guardtest.New(6)
	ahead(f, func() {
		f.Break(0, 1, 2)
		want(t, "first", pages(f.Sweep()), "held!")
	})
	reminders := 0
	for range 31 {
		for _, p := range f.Sweep().Pages {
			if p.Key == guard.PageHeld && p.Reminder {
				reminders++
			}
		}
	}
	if reminders != 1 {
		t.Errorf("%d reminders of the hold in 31 minutes, want 1", reminders)
	}
}

// AWS's times of a termination and a launch are by its own clock, that of the mark by the guard's.
func TestUselessRepairIsSeenUnderAFastClock(t *testing.T) {
	f := ready(8)
	f.In.Policy.ConvergeFailures, f.In.Policy.BootGraceSeconds = 1, 0
	aws := f.In.Now
	f.In.Now = f.In.Now.Add(81 * time.Minute)
	f.In.State.LastSweep = guard.At(f.In.Now)
	want(t, "the first", fate(f.Sweep(), f.ID(0)), "mark")
	fast := f.In.Now
	f.In.Now = aws.Add(3 * guardtest.Interval)
	f.Replace(0)
	f.In.Now = fast
	f.Break(7)
	f.In.Now = f.In.Now.Add(9 * guardtest.Interval)
	f.In.State.LastSweep = guard.At(f.In.Now)
	want(t, "its replacement never serves", causes(f.Sweeps(2)), "not-converging=1/1")
}

func TestAReleaseIsObeyedAfterTheClockWentBack(t *testing.T) {
	f := guardtest.New(6)
	f.Break(0, 1, 2)
	f.Sweep()
	f.Heal(0, 1, 2)
	f.In.Now = f.In.Now.Add(-time.Hour)
	f.Sweep()
	f.Ask("1", guard.RequestRelease)
	f.Sweep()
	if h := f.In.State.Hold; h == nil || h.ReleaseBy == "" {
		t.Errorf("a request of this minute is taken for one of before the hold: %q", f.Verdict.Notes)
	}
}
