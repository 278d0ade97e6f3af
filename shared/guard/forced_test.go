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

// force puts a person's forced release into the next look.
func force(f *guardtest.Fleet, id string) {
	f.Ask(id, guard.RequestRelease)
	f.In.Request.Force = true
}

// ailing is a group of eight that is held for three members that do not recover and that AWS calls Unhealthy.
func ailing(t *testing.T) *guardtest.Fleet {
	t.Helper()
	f := guardtest.New(8)
	f.Break(0, 1, 2)
	want(t, "the hold", actions(f.Sweep()), all)
	for i := range 3 {
		f.M(i).Unhealthy = true
	}
	f.Sweeps(5)
	return f
}

// repair replaces whoever is marked until nothing is suspended any more, and counts; it fails at two marks at once or at a new hold.
func repair(t *testing.T, f *guardtest.Fleet) int {
	t.Helper()
	n := 0
	for range 90 {
		v := f.Sweep()
		if v.Mode != guard.Watching || len(v.Marks()) > 1 {
			t.Fatalf("after %d repairs: mode %s, %d marks, %s", n, v.Mode, len(v.Marks()), causes(v))
		}
		for i := range f.In.Group.Members {
			if f.M(i).Unhealthy {
				f.Replace(i)
				n++
				break
			}
		}
		if len(f.In.Group.Suspended) == 0 {
			return n
		}
	}
	t.Fatalf("still suspended: %v", f.Suspended())
	return n
}

func TestAForcedReleaseRepairsOneByOne(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	want(t, "restores first, then all but HealthCheck", story(f, 5),
		"1 | 2 restore i-00000; restore i-00001; restore i-00002 | 5 resume AZRebalance,ReplaceUnhealthy | free | free")
	want(t, "who is repaired", fmt.Sprint(f.In.State.Paced.Members), "[i-00000 i-00001 i-00002]")
	want(t, "what stays suspended", strings.Join(f.Suspended(), ","), "HealthCheck")
	began := f.In.Now
	want(t, "repaired", fmt.Sprint(repair(t, f)), "3")
	if took := f.In.Now.Sub(began); took < 20*time.Minute {
		t.Errorf("three were repaired within %v: the limit is one in ten minutes", took)
	}
}

func TestAPlainReleaseWaitsForWhatHolds(t *testing.T) {
	f := ailing(t)
	f.Ask("1", guard.RequestRelease)
	want(t, "an hour later", f.Sweeps(60).Mode, guard.Held)
	if h := hold(t, f); h.Paced || h.Stage != guard.StageQuiet {
		t.Errorf("paced %v, stage %d", h.Paced, h.Stage)
	}
}

func TestAForcedReleaseEndsAHoldThatOnlyAPersonEnds(t *testing.T) {
	f := ailing(t)
	f.Ask("1", guard.RequestHold)
	f.Sweep()
	force(f, "2")
	want(t, "after it", f.Sweeps(6).Mode, guard.Watching)
}

func TestAForcedReleaseOfReplacementsThatDidNotConverge(t *testing.T) {
	f := guardtest.New(8)
	at := guard.At(f.In.Now.Add(-2 * time.Hour))
	for _, id := range []string{"m1", "m2"} {
		f.In.State.Marks = append(f.In.State.Marks, guard.Mark{ID: id, Member: id, At: at, By: "guard", Outcome: guard.OutcomeDone, Closed: true, Failed: true})
	}
	f.Break(0, 1, 2)
	want(t, "the hold", f.Sweep().Cause, guard.CauseNotConverging)
	f.Sweeps(5)
	force(f, "1")
	f.Sweeps(5)
	want(t, "repaired", fmt.Sprint(repair(t, f)), "3")
}

func TestAForcedReleaseFromABlockedResume(t *testing.T) {
	f := calm(guardtest.New(20))
	f.In.Policy.CorrelatedPercent, f.In.Policy.CorrelatedMin = 50, 10
	f.Break(upTo(10)...)
	f.Sweep()
	f.Heal(upTo(10)...)
	f.Break(0, 1)
	f.M(0).Unhealthy, f.M(1).Unhealthy = true, true
	f.Sweeps(14)
	want(t, "blocked", strings.Join(f.Suspended(), ","), "AZRebalance,ReplaceUnhealthy")
	force(f, "1")
	want(t, "HealthCheck is suspended again before anything else", story(f, 1), "1 suspend HealthCheck")
	want(t, "what blocked is not told again", pageText(f.Verdict, guard.PageResumeBlocked)+f.Verdict.Mode, guard.Held)
	if slices.ContainsFunc(f.In.State.Pages, func(s guard.PageState) bool { return s.Key == guard.PageResumeBlocked && s.Open }) {
		t.Error("the release that was taken back counts as blocked")
	}
	want(t, "then", story(f, 4),
		"1 | 2 restore i-00000; restore i-00001 | 5 resume AZRebalance,ReplaceUnhealthy | free")
	want(t, "repaired", fmt.Sprint(repair(t, f)), "2")
}

func TestWhatAForcedReleaseDoesNotPass(t *testing.T) {
	for name, c := range map[string]struct {
		lay  func(*guardtest.Fleet)
		want bool // whether the group is released within ten looks
	}{
		"nothing is in the way":            {func(*guardtest.Fleet) {}, true},
		"a dependency is red":              {func(f *guardtest.Fleet) { depend(f, guard.AlarmRed) }, false},
		"the looks are blind":              {func(f *guardtest.Fleet) { f.In.Reads.Activities = "throttled" }, false},
		"others began to fail afterwards":  {func(f *guardtest.Fleet) { f.Sweep(); f.Break(5, 6) }, false},
		"one of them had a good look":      {func(f *guardtest.Fleet) { f.Sweep(); f.Heal(0, 1); f.Sweep(); f.Break(0, 1) }, false},
		"the mode is off":                  {func(f *guardtest.Fleet) { f.In.Policy.Mode = guard.ModeOff }, false},
		"somebody else suspended the rest": {func(f *guardtest.Fleet) { f.In.State.Hold.Ours = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := ailing(t)
			force(f, "1")
			c.lay(f)
			f.Sweeps(10)
			if released := f.In.State.Hold == nil; released != c.want {
				t.Errorf("released: %v, want %v", released, c.want)
			}
		})
	}
}

func TestWithoutHealthCheckAForcedReleaseIsAPlainOne(t *testing.T) {
	f := ailing(t)
	h := f.In.State.Hold
	h.Ours = slices.DeleteFunc(h.Ours, func(p guard.HeldProcess) bool { return p.Process == guard.ProcessHealthCheck }) // somebody else's
	f.Heal(0, 1, 2)
	force(f, "1")
	if v := f.Sweeps(8); v.Mode != guard.Watching {
		t.Errorf("mode %s, stage %+v", v.Mode, f.In.State.Hold)
	}
}

func TestARelapseVoidsAForcedRelease(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	f.Sweeps(3)
	f.Break(4, 5)
	f.Sweep()
	if h := hold(t, f); h.Forced || h.Paced || h.ReleaseBy != "" || h.Stage != guard.StageQuiet {
		t.Errorf("after the relapse: %+v", h)
	}
	f.Ask("2", guard.RequestHold)
	f.Sweep()
	want(t, "a person's hold afterwards", f.Sweeps(30).Mode, guard.Held)
}

func TestAPersonsHoldTakesAForcedReleaseBack(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	f.Sweeps(2)
	f.Ask("2", guard.RequestHold)
	f.Sweep()
	if h := hold(t, f); h.Forced || h.ReleaseBy != "" || !h.Sticky {
		t.Errorf("the hold is %+v", h)
	}
}

func TestAPersonsHoldTakesAPacedExitBackAtOnce(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	f.Sweep() // the paced exit begins, and is in its quiet time
	f.Ask("2", guard.RequestHold)
	f.Sweep()
	want(t, "who is bad keeps the hold again", causes(f.Sweep()), "correlated=3/2 target-group:web=3/2 rolling=3/3")
	f.Ask("3", guard.RequestRelease)
	want(t, "a plain release waits for them", f.Sweeps(20).Mode, guard.Held)
}

func TestALostResumeBeforeAPauseIsForgotten(t *testing.T) {
	f := quieted(t)
	f.Failing = true
	f.Sweeps(2) // HealthCheck is to be resumed, and the call is lost
	f.Failing = false
	if h := hold(t, f); h.Stage != guard.StageHealthCheck || len(f.In.Group.Suspended) != 3 {
		t.Fatalf("stage %d, suspended %v", h.Stage, f.Suspended())
	}
	f.In.Policy.Mode = guard.ModeOff
	f.Sweep()
	f.In.Policy.Mode = guard.ModeAct
	f.Sweep()
	for _, p := range hold(t, f).Ours {
		if p.Resumed != 0 {
			t.Errorf("%s is suspended and counts as resumed", p.Process)
		}
	}
}

func TestAForcedReleaseOfAHoldThatIsLeftToPeopleEnds(t *testing.T) {
	f := ailing(t)
	f.Failing = true // the call that suspends HealthCheck once more is lost, and then the rest is resumed too
	f.Resume("HealthCheck")
	f.Sweep()
	f.Resume("ReplaceUnhealthy")
	f.Sweep()
	f.Failing = false
	if h := hold(t, f); !h.Conflict {
		t.Fatalf("no conflict: %+v", h)
	}
	f.Heal(0, 1, 2)
	force(f, "1")
	want(t, "after it", f.Sweeps(10).Mode, guard.Watching)
}

func TestAForcedReleaseDuringAPacedExitTakesInNobodyElse(t *testing.T) {
	f := stuck(t)
	f.Sweeps(2)
	f.Break(3)
	f.Sweep()
	force(f, "1")
	if n := sweepsToRelease(f); n > 30 {
		t.Fatalf("still held after %d looks", n)
	}
	want(t, "who is repaired", fmt.Sprint(f.In.State.Paced.Members), "[i-00000 i-00001 i-00002]")
}

func TestAForcedReleaseIsObeyedByALookThatSeesTheMembers(t *testing.T) {
	f := ailing(t)
	f.Break(5) // the request is for this one too
	f.Sweep()
	force(f, "1")
	members := f.In.Group.Members
	f.In.Group.Members, f.In.Reads.Group = nil, "throttled"
	f.Sweep()
	f.In.Group.Members, f.In.Reads.Group = members, ""
	f.Sweeps(8)
	if p := f.In.State.Paced; p == nil || fmt.Sprint(p.Members) != "[i-00000 i-00001 i-00002 i-00005]" {
		t.Errorf("the paced exit is %+v", p)
	}
}
