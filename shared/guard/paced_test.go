package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// stuck is a group of eight that was held for three members that never recovered; the next look is past the maximum.
func stuck(t *testing.T) *guardtest.Fleet {
	t.Helper()
	f := guardtest.New(8)
	p := &f.In.Policy
	p.HoldMaxSeconds, p.HoldExit = 3600, guard.ExitPaced
	f.Break(0, 1, 2)
	want(t, "the hold", actions(f.Sweep()), all)
	for i := range 3 {
		f.M(i).Unhealthy = true // AWS's own check marked them before it was suspended
	}
	want(t, "an hour later", f.Sweeps(59).Mode, guard.Held)
	return f
}

func TestPacedExitFromBeginToEnd(t *testing.T) {
	f := stuck(t)
	v := f.Sweep()
	if !hold(t, f).Paced {
		t.Fatalf("no paced exit past the maximum: %v", v.Explain())
	}
	want(t, "pages", pages(v), "held! again, hold-too-long!")
	f.Sweep()
	for i := range 3 {
		if f.M(i).Unhealthy {
			t.Errorf("%s is not set Healthy before anything is resumed", f.ID(i))
		}
	}
	want(t, "the way out after its quiet time", story(f, 11), "1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 2 | 5 resume AZRebalance,ReplaceUnhealthy | free")
	want(t, "what stays suspended", strings.Join(f.Suspended(), ","), "HealthCheck")
	want(t, "who is repaired", fmt.Sprint(f.In.State.Paced.Members), "[i-00000 i-00001 i-00002]")
	want(t, "a fresh grace", fate(f.Sweep(), f.ID(0)), "grace=60/300")
	repaired := 0
	for range 90 {
		v := f.Sweep()
		if v.Mode != guard.Watching {
			t.Fatalf("held again after %d repairs: %s", repaired, causes(v))
		}
		if n := len(v.Marks()); n > 1 {
			t.Fatalf("%d marks at once", n)
		}
		for i := range f.In.Group.Members {
			if f.M(i).Unhealthy {
				f.Replace(i)
				repaired++
				break
			}
		}
		if len(f.In.Group.Suspended) == 0 {
			break
		}
		if repaired < 3 && strings.Join(f.Suspended(), ",") != "HealthCheck" {
			t.Fatalf("after %d repairs suspended: %v", repaired, f.Suspended())
		}
	}
	if repaired != 3 || len(f.In.Group.Suspended) != 0 {
		t.Errorf("%d repaired, still suspended %v", repaired, f.Suspended())
	}
	f.Sweep()
	if f.In.State.Paced != nil {
		t.Error("the paced exit does not end")
	}
}

func TestPacedExitNeedsHealthCheck(t *testing.T) {
	f := guardtest.New(8)
	p := &f.In.Policy
	p.HoldMaxSeconds, p.HoldExit, p.HoldProcesses = 3600, guard.ExitPaced, []string{"ReplaceUnhealthy", "AZRebalance"}
	f.Break(0, 1)
	f.Sweeps(60)
	v := f.Sweep()
	want(t, "pages", pages(v), "held! again, hold-too-long!, resume-blocked!")
	for range 60 {
		if f.Sweep(); hold(t, f).Paced {
			t.Fatal("a paced exit without HealthCheck among the suspended processes")
		}
	}
}

func TestWhoIsNotRepairedOneByOne(t *testing.T) {
	tests := map[string]func(*guardtest.Fleet){
		"the policy leaves it to an operator": func(f *guardtest.Fleet) { f.In.Policy.HoldExit = guard.ExitOperator },
		"new members keep the trigger true":   func(f *guardtest.Fleet) { f.Break(5, 6) },
		"a dependency is red":                 func(f *guardtest.Fleet) { depend(f, guard.AlarmRed) },
		"the look is blind":                   func(f *guardtest.Fleet) { f.In.Reads.Activities = "throttled" },
		"a person holds the group":            func(f *guardtest.Fleet) { f.In.State.Hold.Sticky = true },
	}
	for name, lay := range tests {
		t.Run(name, func(t *testing.T) {
			f := stuck(t)
			lay(f)
			f.Sweep()
			if hold(t, f).Paced {
				t.Error("a paced exit begins")
			}
		})
	}
	t.Run("one good look makes members impermanent", func(t *testing.T) {
		f := guardtest.New(8)
		f.In.Policy.HoldMaxSeconds, f.In.Policy.HoldExit = 3600, guard.ExitPaced
		f.Break(0, 1, 2, 3)
		f.Sweeps(30)
		f.Heal(0, 1)
		f.Sweep()
		f.Break(0, 1)
		f.Sweeps(40)
		if hold(t, f).Paced {
			t.Error("a paced exit begins, though two of four were well in between")
		}
		f.Sweeps(30) // bad for the length of hold_max_seconds now
		if !hold(t, f).Paced {
			t.Error("no paced exit after being bad for as long as a hold may last")
		}
	})
}

func TestOthersStillHoldDuringAPacedExit(t *testing.T) {
	f := stuck(t)
	f.Sweeps(13)
	want(t, "out", f.Verdict.Mode, guard.Watching)
	f.Break(3)
	want(t, "one more is single", causes(f.Sweep()), "")
	f.Break(4)
	v := f.Sweep()
	want(t, "two more hold", causes(v), "correlated=2/2 target-group:web=2/2")
	want(t, "only what is missing is suspended", actions(v), "suspend AZRebalance,ReplaceUnhealthy")
	if ours := len(hold(t, f).Ours); ours != 3 || f.In.State.Paced != nil {
		t.Errorf("%d processes of ours, want 3 with the HealthCheck of the paced exit", ours)
	}
}

func TestARelapseEndsThePacedExit(t *testing.T) {
	f := stuck(t)
	f.Sweeps(11)
	f.Break(3, 4)
	f.Sweeps(2)
	if h := hold(t, f); h.Stage != guard.StageQuiet {
		t.Errorf("stage %d after others failed too", h.Stage)
	}
}

func TestSomebodyResumesTheHealthCheckOfAPacedExit(t *testing.T) {
	f := stuck(t)
	f.Sweeps(13)
	f.Resume("HealthCheck")
	f.Heal(0, 1, 2)
	f.Sweeps(2)
	if f.In.State.Paced != nil {
		t.Error("the paced exit waits for ever for what somebody did")
	}
}

func TestPacedExitInModeOffDoesNothing(t *testing.T) {
	f := stuck(t)
	f.Sweeps(13)
	f.Heal(0, 1, 2)
	f.In.Policy.Mode = guard.ModeOff
	want(t, "calls", actions(f.Sweep()), "")
	f.In.Policy.Mode = guard.ModeAct
	want(t, "calls afterwards", actions(f.Sweep()), "resume HealthCheck")
	want(t, "a minute later", actions(f.Step(time.Minute)), "")
}

func TestAPacedExitOwnsItsOwnProcessOnly(t *testing.T) {
	f := stuck(t)
	f.Sweeps(13)
	want(t, "suspended", strings.Join(f.Suspended(), ","), "HealthCheck")
	// Somebody else suspended another process in the very same second, so that AWS's text is the same.
	f.In.Group.Suspended = append(f.In.Group.Suspended, guard.Suspension{Process: "Launch", Reason: f.In.Group.Suspended[0].Reason})
	want(t, "pages", pages(f.Sweep()), "foreign-suspension/Launch")
	f.Sweeps(5)
	want(t, "a broken member", fate(f.Verdict, f.ID(0)), "cannot-replace")
}

func TestAPacedExitThatLeftNothingSuspendedGivesAHoldNothing(t *testing.T) {
	for theirs, missing := range map[string]string{"AZRebalance": "HealthCheck,ReplaceUnhealthy", "HealthCheck": "AZRebalance,ReplaceUnhealthy"} {
		f := guardtest.New(8)
		f.In.State.Paced = &guard.Paced{Since: guard.At(f.In.Now.Add(-48 * time.Hour)), Members: []string{f.ID(0)}}
		f.Suspend(f.In.Now.Add(-time.Hour), theirs)
		f.Break(0)
		want(t, "what is suspended is somebody else's", pages(f.Sweep()), "foreign-suspension/"+theirs)
		f.Break(3, 4)
		want(t, "the hold", actions(f.Sweep()), "suspend "+missing)
		if n := len(hold(t, f).Ours); n != 2 || f.In.State.Paced != nil {
			t.Errorf("%d processes of ours, want 2", n)
		}
	}
}

func TestAMemberOutOfServiceIsNotRestoredInAPacedExit(t *testing.T) {
	for _, lifecycle := range []string{"Standby", "Terminating", "Terminating:Wait"} {
		f := stuck(t)
		f.Sweep()
		f.Failing = true
		f.M(0).Lifecycle = lifecycle
		want(t, lifecycle, actions(f.Sweep()), "restore i-00001; restore i-00002")
	}
}

func TestAPacedExitUnderWayIsNotCalledImpossible(t *testing.T) {
	f := stuck(t)
	f.Sweeps(2)
	f.Resume("HealthCheck") // somebody does; it is suspended once more
	f.Break(3, 4)           // and others fail, which keeps the exit waiting
	v := f.Sweep()
	want(t, "calls", actions(v), "suspend HealthCheck")
	want(t, "pages", pages(v), "suspension-removed")
	if h := hold(t, f); !h.Paced || h.QuietSince != 0 {
		t.Errorf("hold %+v, want its paced exit to wait", h)
	}
}

func TestWhoIsRepairedOneByOneBeginsNoOnset(t *testing.T) {
	f := stuck(t)
	f.Sweeps(13)
	f.In.Policy.OnsetCount = 2
	for i := range 3 {
		f.Aim(i, "initial", "Elb.RegistrationInProgress") // nobody can tell of them for a moment
	}
	f.Sweep()
	f.Break(0, 1, 2)
	v := f.Sweep()
	want(t, "triggers", causes(v), "")
	if v.Members.Broken != 3 || len(f.In.State.Onsets) != 0 {
		t.Errorf("%d broken, onsets %v", v.Members.Broken, f.In.State.Onsets)
	}
}

func TestAPacedExitRestoresOnlyWhoWasBadAllAlong(t *testing.T) {
	f := stuck(t)
	f.Sweep()
	f.Failing = true
	f.Break(5)
	f.M(5).Unhealthy = true
	want(t, "calls", actions(f.Sweep()), "restore i-00000; restore i-00001; restore i-00002")
}

func TestAPacedExitResumesNothingInDoubt(t *testing.T) {
	for name, lay := range map[string]func(*guardtest.Fleet){
		"a blind look":                 func(f *guardtest.Fleet) { f.In.Reads.Activities = "throttled" },
		"a dependency that is missing": func(f *guardtest.Fleet) { depend(f, guard.AlarmMissing) },
		"a dependency without data":    func(f *guardtest.Fleet) { depend(f, guard.AlarmNoData) },
	} {
		f := stuck(t)
		f.Sweeps(13)
		f.Heal(0, 1, 2)
		lay(f)
		want(t, name, actions(f.Sweep()), "")
	}
}

func TestBadForAsLongAsAHoldMayLastIsBadAllAlong(t *testing.T) {
	for short, paced := range map[time.Duration]bool{0: true, time.Millisecond: false} {
		f := stuck(t)
		for i := range 3 { // well in some look of the hold, and bad since its first minute
			n := f.Remember(i)
			n.BadAllHold, n.BadSince = false, guard.At(f.In.Now.Add(guardtest.Interval-time.Hour+short))
		}
		f.Sweep()
		if h := hold(t, f); h.Paced != paced {
			t.Errorf("%s short of the maximum of a hold: a paced exit: %t", short, h.Paced)
		}
	}
}

func TestAHoldOnPaperIsLeftByAPacedExitOnPaper(t *testing.T) {
	f := guardtest.New(8)
	p := &f.In.Policy
	p.HoldMaxSeconds, p.HoldExit, p.Action = 3600, guard.ExitPaced, guard.ActionAlertOnly
	f.Break(0, 1, 2)
	f.Sweeps(60)
	if hold(t, f).Paced {
		t.Fatal("a paced exit before the maximum of a hold")
	}
	f.Sweep()
	if !hold(t, f).Paced {
		t.Errorf("no paced exit: %v", f.Verdict.Explain())
	}
}

func TestAnExitThatCannotBePacedYetLeavesEveryTriggerTrue(t *testing.T) {
	f := stuck(t)
	f.Break(5, 6)
	want(t, "triggers", causes(f.Sweep()), "correlated=5/2 zone:eu-west-1a=2/2 zone:eu-west-1c=2/2 target-group:web=5/2 rolling=5/3")
}

// TestAPauseDuringAReleaseOnPaperKeepsNoPacedExitFromItsEnd resumes HealthCheck on paper, is switched off and on, and is then left by a
// paced exit, as it would be if calls were made.
func TestAPauseDuringAReleaseOnPaperKeepsNoPacedExitFromItsEnd(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1, 2)
	f.Sweep()
	f.Heal(0, 1, 2)
	f.Sweeps(11)
	want(t, "on paper", actions(f.Sweep()), "resume HealthCheck")
	f.In.Policy.Mode = guard.ModeOff
	f.Sweep()
	f.In.Policy.Mode = guard.ModeAct
	f.Break(0, 1, 2)
	f.Sweep()
	force(f, "1")
	f.Sweeps(5)
	if p := f.In.State.Paced; f.In.State.Hold != nil || p == nil || len(p.Members) != 3 {
		t.Errorf("hold %+v, paced exit %+v, want three members that are repaired one by one", f.In.State.Hold, p)
	}
}
