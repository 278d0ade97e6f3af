package guard_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

const moment = time.Millisecond

func TestBeatAges(t *testing.T) {
	tests := map[string]struct {
		age   time.Duration
		class string // with an unhealthy target
	}{
		"just fresh":  {60*time.Second - moment, "signals-disagree"},
		"just late":   {60 * time.Second, "signals-disagree"},
		"still late":  {180*time.Second - moment, "signals-disagree"},
		"just stale":  {180 * time.Second, "confirming"},
		"long silent": {time.Hour, "confirming"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(8))
			f.Sweep()
			f.Silence(0)
			f.Aim(0, "unhealthy", "Target.Timeout")
			f.Remember(0).AdvancedAt = guard.At(f.In.Now.Add(guardtest.Interval - test.age))
			want(t, "verdict", string(deferral(f.Sweep(), f.ID(0)).Reason), test.class)
			if broken := deferral(f.Verdict, f.ID(0)).Broken; broken != (test.class == "confirming") {
				t.Errorf("broken: %v", broken)
			}
		})
	}
	late := func(age time.Duration) string {
		f := guardtest.New(8)
		f.Sweep()
		for i := range 2 {
			f.Silence(i)
			f.M(i).Beat.At = f.In.Now.Add(guardtest.Interval - age)
			f.Remember(i).AdvancedAt, f.Remember(i).Stamp = guard.At(f.M(i).Beat.At), guard.At(f.M(i).Beat.At)
		}
		return pages(f.Sweep())
	}
	want(t, "two beats a moment before they are late", late(60*time.Second-moment), "")
	want(t, "two beats that are late", late(60*time.Second), "heartbeat-lag")
	want(t, "two beats a moment before they are stale", late(180*time.Second-moment), "heartbeat-lag")
	want(t, "two beats that are stale", late(180*time.Second), "heartbeat-path")
}

func TestGraceOfANewMember(t *testing.T) {
	tests := map[string]struct {
		own, group, age time.Duration
		fate            string
	}{
		"before the built-in grace is over":      {300 * time.Second, 0, 300*time.Second - moment, "grace=299/300"},
		"when the built-in grace is over":        {300 * time.Second, 0, 300 * time.Second, "confirming=1/2"},
		"the group's longer grace counts":        {300 * time.Second, 1500 * time.Second, 1499 * time.Second, "grace=1499/1500"},
		"when the group's longer grace is over":  {300 * time.Second, 1500 * time.Second, 1500 * time.Second, "confirming=1/2"},
		"the group's shorter grace does not":     {300 * time.Second, 10 * time.Second, 299 * time.Second, "grace=299/300"},
		"without any grace it is judged at once": {0, 0, 0, "confirming=1/2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(8))
			f.In.Policy.BootGraceSeconds, f.In.Group.Grace = int(test.own.Seconds()), test.group
			f.Break(0)
			m := f.Remember(0)
			m.Old, m.Since = false, guard.At(f.In.Now.Add(guardtest.Interval-test.age))
			v := f.Sweep()
			want(t, "verdict", fate(v, f.ID(0)), test.fate)
			if outside := v.Members.Outside == 1; outside != (test.age < max(test.own, test.group)) {
				t.Errorf("outside: %v", outside)
			}
		})
	}
}

func TestMarksOfAnUnknownGroupWaitForTheFirstGrace(t *testing.T) {
	f := calm(guardtest.New(8))
	f.In.State = guard.State{}
	f.Break(0)
	want(t, "first look", fate(f.Sweep(), f.ID(0)), "warm-up")
	if f.Verdict.Members.Broken != 1 {
		t.Error("a member in service at a first look is evidence at once")
	}
	want(t, "a minute later", fate(f.Sweep(), f.ID(0)), "grace=60/300")
	want(t, "after four minutes", fate(f.Sweeps(3), f.ID(0)), "grace=240/300")
	want(t, "when the grace is over", fate(f.Sweep(), f.ID(0)), "mark")
}

func TestTimeForTheFirstBeat(t *testing.T) {
	for age, reason := range map[time.Duration]guard.Reason{900*time.Second - moment: guard.ReasonSignalsDisagree, 900 * time.Second: guard.ReasonConfirming} {
		f := calm(guardtest.New(8))
		f.M(0).Beat = guard.Beat{}
		f.Aim(0, "unhealthy", "Target.Timeout")
		m := f.Remember(0)
		*m = guard.MemberState{ID: m.ID, Lifecycle: m.Lifecycle, Since: guard.At(f.In.Now.Add(guardtest.Interval - age))}
		want(t, "after "+age.String(), string(deferral(f.Sweep(), f.ID(0)).Reason), string(reason))
	}
}

func TestDisagreementBecomesBrokenness(t *testing.T) {
	f := calm(guardtest.New(8))
	f.Aim(0, "unhealthy", "Target.Timeout")
	want(t, "first look", fate(f.Sweep(), f.ID(0)), "signals-disagree=0/900")
	want(t, "after 14 minutes", fate(f.Sweeps(14), f.ID(0)), "signals-disagree=840/900")
	want(t, "a moment before", fate(f.Step(guardtest.Interval-moment), f.ID(0)), "signals-disagree=899/900")
	want(t, "after 15 minutes", fate(f.Step(moment), f.ID(0)), "confirming=1/2")
	want(t, "the next look", fate(f.Sweep(), f.ID(0)), "mark")
}

func TestOneGoodLookStartsTheDisagreementAgain(t *testing.T) {
	f := calm(guardtest.New(8))
	f.Aim(0, "unhealthy", "Target.Timeout")
	f.Sweeps(15)
	f.Heal(0)
	f.Sweep()
	f.Aim(0, "unhealthy", "Target.Timeout")
	want(t, "after one good look", fate(f.Sweep(), f.ID(0)), "signals-disagree=0/900")
}

func TestOnsetWindow(t *testing.T) {
	for age, triggers := range map[time.Duration]string{300*time.Second - moment: "onset=3/3", 300 * time.Second: ""} {
		f := calm(guardtest.New(100))
		f.In.Policy.OnsetCount = 3
		f.Sweep()
		for _, m := range []string{"x", "y"} {
			f.In.State.Onsets = append(f.In.State.Onsets, guard.Onset{Member: m, At: guard.At(f.In.Now.Add(guardtest.Interval - age))})
		}
		f.Break(0)
		want(t, "onsets "+age.String()+" ago", causes(f.Sweep()), triggers)
	}
	for age, triggers := range map[time.Duration]string{300*time.Second - moment: "region-onset=3/3", 300 * time.Second: ""} {
		f := guardtest.New(100)
		f.In.Region.Onsets = []guard.RegionOnset{{Group: "a", Member: "x", At: guard.At(f.In.Now.Add(guardtest.Interval - age))}, {Group: "b", Member: "y", At: guard.At(f.In.Now)}}
		f.Break(0)
		want(t, "the Region's onsets "+age.String()+" ago", causes(f.Sweep()), triggers)
	}
}

func TestRollingWindow(t *testing.T) {
	for age, triggers := range map[time.Duration]string{time.Hour - moment: "rolling=3/3", time.Hour: ""} {
		f := calm(guardtest.New(8))
		f.In.Policy.RollingPercent = 25
		f.In.State.Rolling = []guard.Onset{{Member: "x", At: guard.At(f.In.Now)}, {Member: "y", At: guard.At(f.In.Now.Add(guardtest.Interval - age))}}
		f.Break(0)
		want(t, "bad "+age.String()+" ago", causes(f.Sweep()), triggers)
	}
}

func TestOnlyDifferentMembersRoll(t *testing.T) {
	f := calm(guardtest.New(12))
	f.In.Policy.RollingPercent = 25
	for range 5 {
		for _, i := range []int{0, 1} {
			f.Aim(i, "unhealthy", "Target.Timeout")
			want(t, "two members that flap", causes(f.Sweep()), "")
			f.Heal(i)
		}
	}
	f.In.Group.Activities = []guard.Activity{{ID: "a", At: f.In.Now, Kind: "terminate", Status: "Successful", Member: "third", Cause: "a user health-check"}}
	want(t, "a third that AWS terminated", causes(f.Sweep()), "rolling=3/3")
}

func TestPendingMember(t *testing.T) {
	for age, fates := range map[time.Duration]string{900 * time.Second: "mark", 900*time.Second + moment: "cannot-replace=900/900"} {
		f := ready(8)
		f.In.Policy.MinHealthyPercent = 0
		f.M(7).Lifecycle = "Pending:Wait"
		f.Sweep() // counts as a look; the mark is in its state and undone here
		f = undo(f)
		f.Remember(7).Since = guard.At(f.In.Now.Add(guardtest.Interval - age))
		want(t, "pending for "+age.String(), fate(f.Sweep(), f.ID(0)), fates)
	}
}

// undo takes back the marks of the last look, as if its reservation had been refused.
func undo(f *guardtest.Fleet) *guardtest.Fleet {
	f.In.State.Marks, f.In.Region.Marks = nil, nil
	f.M(0).Unhealthy = false
	return f
}

func TestAgeOfAnAlarm(t *testing.T) {
	for age, triggers := range map[time.Duration]string{24 * time.Hour: "dependency:db=0/0", 24*time.Hour + moment: ""} {
		f := guardtest.New(8)
		f.In.Group.Dependencies = []guard.DependencyReading{{
			Dependency:   guard.Dependency{Alarm: "db", Kind: guard.DependencyHard, Missing: guard.MissingUnknown},
			AlarmReading: guard.AlarmReading{State: guard.AlarmRed, Since: f.In.Now.Add(guardtest.Interval - age)},
		}}
		v := f.Sweep()
		want(t, "red for "+age.String(), causes(v), triggers)
		if stuck := pageText(v, guard.PageStuckAlarm) != ""; stuck != (triggers == "") {
			t.Errorf("stuck-alarm page: %v", stuck)
		}
	}
}

func TestReplacementTimeout(t *testing.T) {
	f := ready(8)
	f.Sweep()
	f.Sweeps(14)
	want(t, "a moment before", pages(f.Step(guardtest.Interval-moment)), "")
	want(t, "at the timeout", pages(f.Step(moment)), "replacement-stuck!")
}

func TestDeferredForLong(t *testing.T) {
	f := calm(guardtest.New(8))
	f.M(0).OptedOut = true
	f.Break(0)
	f.Sweep()
	f.Sweeps(29)
	want(t, "a moment before", pages(f.Step(guardtest.Interval-moment)), "")
	want(t, "at 1800 s", pages(f.Step(moment)), "deferred-too-long")
}

func TestQuietTime(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	f.Sweep()
	f.Heal(0, 1)
	f.Sweep() // the first quiet look
	f.Sweeps(9)
	want(t, "a moment before", f.Step(guardtest.Interval-moment).Mode, guard.Held)
	want(t, "after 600 s", f.Step(moment).Mode, guard.Releasing)
}

func TestMaximumOfAHold(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.HoldMaxSeconds, f.In.Policy.PageRepeatSeconds = 600, 86400
	f.Break(0, 1)
	f.Sweep()
	f.Sweeps(9)
	want(t, "a moment before", pages(f.Step(guardtest.Interval-moment)), "")
	want(t, "after 600 s", pages(f.Step(moment)), "hold-too-long!")
}

func TestGapBetweenSweeps(t *testing.T) {
	for gap, reason := range map[time.Duration]string{3 * guardtest.Interval: "mark", 3*guardtest.Interval + moment: "warm-up"} {
		f := ready(8)
		f.In.State.Members[0].AdvancedAt = guard.At(f.In.Now)
		want(t, "after "+gap.String(), fate(f.Step(gap), f.ID(0)), reason)
	}
}

func TestAGapVoidsConfirmationsAndCountsAsOne(t *testing.T) {
	f := ready(8)
	f.In.Policy.ConfirmSweeps = 3
	f.Sweep()
	want(t, "the look after the gap", fate(f.Step(10*guardtest.Interval), f.ID(0)), "warm-up")
	want(t, "the second look", fate(f.Sweep(), f.ID(0)), "confirming=2/3")
	want(t, "the third look", fate(f.Sweep(), f.ID(0)), "mark")
}

func TestLooksThatFollowTooCloselyConfirmNothing(t *testing.T) {
	half := guardtest.Interval / 2
	f := ready(8)
	want(t, "a moment less than half an interval", fate(f.Step(half-moment), f.ID(0)), "confirming=1/2")
	want(t, "half an interval after the first", fate(f.Step(moment), f.ID(0)), "mark")

	f = calm(guardtest.New(8))
	f.Sweep()
	f.Break(0)
	want(t, "broken in a look soon after a good one", fate(f.Step(20*time.Second), f.ID(0)), "confirming=1/2")
	want(t, "ten seconds later", fate(f.Step(10*time.Second), f.ID(0)), "confirming=1/2")
	want(t, "half an interval after the first broken look", fate(f.Step(20*time.Second), f.ID(0)), "mark")
}
