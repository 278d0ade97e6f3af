package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// underRepair is a group whose hold ended by the paced exit: three members are to be repaired one by one, and HealthCheck is suspended.
func underRepair(t *testing.T) *guardtest.Fleet {
	t.Helper()
	f := ailing(t)
	force(f, "1")
	f.Sweeps(6)
	if f.In.State.Paced == nil || strings.Join(f.Suspended(), ",") != "HealthCheck" {
		t.Fatalf("no paced exit: suspended %v", f.Suspended())
	}
	return f
}

// look is a look in the policy's mode, as a run makes it; in mode observe nothing is carried out.
func look(f *guardtest.Fleet) guard.Verdict {
	f.In.State = guard.Prepare(f.In.State, f.In.Policy)
	if f.In.Policy.Mode != guard.ModeObserve {
		return f.Sweep()
	}
	f.In.Now = f.In.Now.Add(guardtest.Interval)
	for i := range f.In.Group.Members {
		f.M(i).Beat.At, f.M(i).Beat.Seq = f.In.Now, f.M(i).Beat.Seq+1
	}
	f.Verdict = guard.Withhold(f.In, guard.Decide(f.In))
	f.In.State = guard.Delivered(guard.Reserve(f.Verdict.State, f.Verdict.Marks(), f.In.Now, true), f.Verdict.Pages)
	return f.Verdict
}

func TestAPacedExitWithoutItsHealthCheckIsNone(t *testing.T) {
	f := underRepair(t)
	f.Resume("HealthCheck") // AWS would take all three as soon as it has looked at them
	v := f.Sweep()
	want(t, "mode", v.Mode, guard.Held)
	want(t, "calls", actions(v), all)
}

func TestWhatWasOnlyObservedSilencesNoTriggerLater(t *testing.T) {
	for name, change := range map[string]func(*guard.Policy){
		"of mode observe":       func(p *guard.Policy) { p.Mode = guard.ModeObserve },
		"of action alert-only":  func(p *guard.Policy) { p.Action = guard.ActionAlertOnly },
		"of both, one after it": func(p *guard.Policy) { p.Mode, p.Action = guard.ModeObserve, guard.ActionAlertOnly },
	} {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			change(&f.In.Policy)
			f.Break(0, 1, 2)
			look(f)
			force(f, "1")
			for range 8 {
				look(f)
			}
			if f.In.State.Paced == nil || f.In.State.Hold != nil {
				t.Fatalf("the paced exit is not observed: %+v", f.In.State.Hold)
			}
			f.In.Policy.Mode, f.In.Policy.Action = guard.ModeAct, guard.ActionReplace
			v := look(f)
			want(t, "mode", v.Mode, guard.Held)
			want(t, "calls", actions(v), all)
		})
	}
}

func TestAPacedExitWaitsForHealthCheckToBeSuspendedOnceMore(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	f.Sweeps(2)
	f.Resume("HealthCheck")
	want(t, "it is, before anything is resumed", story(f, 3), "2 suspend HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy | free")
	want(t, "suspended", strings.Join(f.Suspended(), ","), "HealthCheck")
}

func TestAPacedExitThatIsLeftToPeopleResumesNothing(t *testing.T) {
	for name, before := range map[string]int{"before the rest is resumed": 1, "when the rest was resumed": 3} {
		t.Run(name, func(t *testing.T) {
			f := ailing(t)
			f.In.State.Hold.Removed = 1 // somebody has resumed HealthCheck before
			force(f, "1")
			f.Sweeps(before)
			f.Resume("HealthCheck")
			f.Sweeps(3)
			want(t, "mode", f.Verdict.Mode, guard.Held)
			want(t, "suspended", strings.Join(f.Suspended(), ","), "AZRebalance,ReplaceUnhealthy")
		})
	}
}

func TestAHealthCheckThatIsResumedInTheLastStageHasARecordLater(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	f.Sweeps(3)
	want(t, "the last stage", strings.Join(f.Suspended(), ","), "HealthCheck")
	f.Resume("HealthCheck")
	for range 4 {
		if text := pageText(f.Sweep(), guard.PageForeignSuspension); text != "" {
			t.Errorf("what this hold suspended once more is called somebody else's: %s", text)
		}
	}
	want(t, "what is suspended", strings.Join(f.Suspended(), ","), "HealthCheck")
	if f.In.State.Paced == nil || f.In.State.Hold != nil {
		t.Errorf("hold %+v, paced %v", f.In.State.Hold, f.In.State.Paced)
	}
}

func TestAPacedExitWithoutAnEndIsPaged(t *testing.T) {
	f := underRepair(t)
	f.In.Policy.HoldMaxSeconds = 3600
	f.M(0).Lifecycle = "Standby" // nobody repairs it, and it is not bad
	f.Heal(1, 2)
	first := 0
	for n := 1; n <= 70 && first == 0; n++ {
		if text := pageText(f.Sweep(), guard.PageHoldTooLong); text != "" {
			first = n
			if !strings.Contains(text, f.ID(0)) || !strings.Contains(text, "HealthCheck") {
				t.Errorf("the page says %q", text)
			}
		}
	}
	if began := f.In.State.Paced.Since; first == 0 || f.In.Now.Sub(began.Time()) != time.Hour {
		t.Errorf("paged at look %d, begun at %s, now %s", first, began.Time(), f.In.Now)
	}
}

func TestAPacedExitInModeOffIsPaged(t *testing.T) {
	f := underRepair(t)
	f.In.Policy.Mode = guard.ModeOff
	want(t, "page", pageText(f.Sweep(), guard.PagePausedWhileHeld), "mode is off while a paced exit is under way since 2026-03-02 12:10:00Z: HealthCheck stays suspended")
	if p := f.Verdict.Pages[0]; p.Since != f.In.State.Paced.Since {
		t.Errorf("true since %s, want since the paced exit began: %s", p.Since.Time(), f.In.State.Paced.Since.Time())
	}
	f.In.Policy.HoldMaxSeconds = 600
	want(t, "a page past the maximum of a hold", pageText(f.Step(4*time.Hour), guard.PageHoldTooLong), "")
}

func TestAPacedExitThatIsOnlyWatchedEndsWithItsHealthCheckToo(t *testing.T) {
	for name, change := range map[string]func(*guard.Policy){
		"mode observe":      func(p *guard.Policy) { p.Mode = guard.ModeObserve },
		"mode off":          func(p *guard.Policy) { p.Mode = guard.ModeOff },
		"action alert-only": func(p *guard.Policy) { p.Action = guard.ActionAlertOnly },
	} {
		f := underRepair(t)
		change(&f.In.Policy)
		if look(f); f.In.State.Paced == nil {
			t.Errorf("%s: the paced exit is forgotten while HealthCheck is suspended", name)
		}
		f.Resume("HealthCheck")
		if look(f); f.In.State.Paced != nil {
			t.Errorf("%s: the paced exit goes on without HealthCheck", name)
		}
	}
}

// TestAPacedExitThatSuspendedNothingIsNobodys has a state that no look leaves: the exit names no process of its own.
func TestAPacedExitThatSuspendedNothingIsNobodys(t *testing.T) {
	for name, mode := range map[string]string{"mode act": guard.ModeAct, "mode off": guard.ModeOff} {
		f := guardtest.New(8)
		f.In.Policy.Mode = mode
		f.In.State.Paced = &guard.Paced{Since: guard.At(f.In.Now.Add(-48 * time.Hour)), Members: []string{f.ID(0)}}
		f.Break(0)
		if f.Sweep(); f.In.State.Paced != nil {
			t.Errorf("%s: it goes on without HealthCheck", name)
		}
	}
}

func TestAHoldThatIsLeftToPeopleMayHaveItsPacedExitWithItsOwnHealthCheck(t *testing.T) {
	f := ailing(t)
	f.In.State.Hold.Removed = 1
	f.Resume("AZRebalance")
	want(t, "pages", pages(f.Sweep()), "suspension-conflict!")
	force(f, "1")
	f.Sweep()
	if !hold(t, f).Paced {
		t.Errorf("no paced exit: %v", f.Verdict.Explain())
	}
}

func TestAPacedExitWhoseHealthCheckSomebodyTookOverIsVoid(t *testing.T) {
	f := stuck(t)
	f.Sweep()
	f.Resume("HealthCheck")
	f.Suspend(f.In.Now.Add(10*time.Minute), "HealthCheck")
	want(t, "an hour later", f.Sweeps(60).Mode, guard.Held)
	if h := hold(t, f); h.Paced || len(h.Ours) != 2 || len(f.In.Group.Suspended) != 3 || f.In.State.Paced != nil {
		t.Errorf("hold %+v, suspended %v: want no paced exit, and nothing resumed", h, f.Suspended())
	}
}

func TestAPacedExitResumesNoHealthCheckThatSomebodyTookOver(t *testing.T) {
	f := underRepair(t)
	f.Resume("HealthCheck")
	f.Suspend(f.In.Now.Add(10*time.Minute), "HealthCheck")
	f.Heal(0, 1, 2)
	for i := range 3 {
		want(t, fmt.Sprint("look ", i), actions(f.Sweep()), "")
	}
	want(t, "suspended", strings.Join(f.Suspended(), ","), "HealthCheck")
	if f.In.State.Paced != nil {
		t.Errorf("the paced exit goes on: %+v", f.In.State.Paced)
	}
}
