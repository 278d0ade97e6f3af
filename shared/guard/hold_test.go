package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

const all = "suspend AZRebalance,HealthCheck,ReplaceUnhealthy"

// held is a group of eight with two broken members, held in its last look.
func held(t *testing.T) *guardtest.Fleet {
	t.Helper()
	f := guardtest.New(8)
	f.Break(0, 1)
	want(t, "the hold", actions(f.Sweep()), all)
	return f
}

// hold is the record of the hold in force; it fails the test when there is none.
func hold(t *testing.T, f *guardtest.Fleet) *guard.Hold {
	t.Helper()
	if f.In.State.Hold == nil {
		t.Fatal("no hold in force")
	}
	return f.In.State.Hold
}

func TestAHoldSuspendsOnlyWhatIsMissing(t *testing.T) {
	tests := map[string]struct {
		already []string
		calls   string
	}{
		"nothing is suspended":   {nil, all},
		"one is suspended":       {[]string{"AZRebalance"}, "suspend HealthCheck,ReplaceUnhealthy"},
		"two are suspended":      {[]string{"HealthCheck", "ReplaceUnhealthy"}, "suspend AZRebalance"},
		"all are suspended":      {[]string{"AZRebalance", "HealthCheck", "ReplaceUnhealthy"}, ""},
		"another one is no part": {[]string{"AlarmNotification"}, all},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			f.Suspend(f.In.Now.Add(-time.Hour), test.already...)
			before := f.In.Group.Suspended
			f.Break(0, 1)
			v := f.Sweep()
			want(t, "calls", actions(v), test.calls)
			want(t, "mode", v.Mode, guard.Held)
			h := hold(t, f)
			if len(h.Before) != len(before) || len(h.Ours) != 3-len(test.already)+btoi(name == "another one is no part") {
				t.Errorf("before-image %v, ours %v", h.Before, h.Ours)
			}
			for _, p := range h.Ours {
				if p.Reason == "" || p.IntentAt != guard.At(f.In.Now) {
					t.Errorf("the record of %s is incomplete: %+v", p.Process, p)
				}
			}
			want(t, "calls of the next look", actions(f.Sweep()), "")
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAReviewedSubsetIsUsedAsItIs(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.HoldProcesses = []string{"ReplaceUnhealthy"}
	f.Break(0, 1)
	want(t, "calls", actions(f.Sweep()), "suspend ReplaceUnhealthy")
	f.Heal(0, 1)
	f.Sweeps(14)
	want(t, "at the end", strings.Join(f.Suspended(), ",")+f.Verdict.Mode, guard.Watching)
}

func TestACrashBetweenIntentAndRecord(t *testing.T) {
	tests := map[string]struct {
		at   time.Duration // of the suspension, from the intent
		text string        // of the reason, "" for AWS's
		ours bool
	}{
		"in the same second":                {0, "", true},
		"a clock five seconds behind":       {-5 * time.Second, "", true},
		"six seconds before the intent":     {-6 * time.Second, "", false},
		"two minutes after the intent":      {2 * time.Minute, "", true},
		"a second more":                     {121 * time.Second, "", false},
		"a text that is not AWS's":          {0, "suspended by hand", false},
		"a time and no more":                {0, "2026-03-02T12:01:00Z", false},
		"AWS's own suspension of the group": {0, "Admin suspended at 2026-03-02T12:01:00Z", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			f.Break(0, 1)
			f.Failing = true // the run crashed: nothing is recorded after the call
			f.Sweep()
			f.Suspend(f.In.Now.Add(test.at), "AZRebalance", "HealthCheck", "ReplaceUnhealthy")
			if test.text != "" {
				for i := range f.In.Group.Suspended {
					f.In.Group.Suspended[i].Reason = test.text
				}
			}
			f.Failing = false
			want(t, "calls", actions(f.Sweep()), "")
			if told := strings.Contains(strings.Join(f.Verdict.Notes, "\n"), "AZRebalance is suspended by somebody else: "+f.In.Group.Suspended[0].Reason); told == test.ours {
				t.Errorf("notes %q, ours: %v", f.Verdict.Notes, test.ours)
			}
			if ours := len(hold(t, f).Ours); ours != 3*btoi(test.ours) {
				t.Errorf("%d suspensions are ours, want %v", ours, test.ours)
			}
			want(t, "mode", f.Verdict.Mode, guard.Held)
			f.Heal(0, 1)
			f.Sweeps(15)
			want(t, "the end", f.Verdict.Mode, guard.Watching)
			if left := len(f.In.Group.Suspended); left != 3*btoi(!test.ours) {
				t.Errorf("%d suspensions are left, ours: %v", left, test.ours)
			}
		})
	}
}

func TestACallThatWasNeverMadeIsMadeAgain(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	f.Failing = true
	want(t, "first look", actions(f.Sweep()), all)
	want(t, "second look", actions(f.Sweep()), all)
	f.Failing = false
	want(t, "third look", actions(f.Sweep()), all)
	want(t, "fourth look", actions(f.Sweep()), "")
}

func TestSomebodyResumesWhatIsHeld(t *testing.T) {
	f := held(t)
	f.Resume("ReplaceUnhealthy")
	v := f.Sweep()
	want(t, "the first time", actions(v)+" | "+pages(v), "suspend ReplaceUnhealthy | suspension-removed")
	want(t, "a look later", actions(f.Sweep())+pages(f.Verdict), "")
	f.Resume("ReplaceUnhealthy")
	v = f.Sweep()
	want(t, "the second time", actions(v)+" | "+pages(v), " | suspension-conflict!")
	v = f.Sweeps(3)
	want(t, "later", actions(v)+pages(v), "")
	want(t, "mode", v.Mode, guard.Held)
}

func TestSomebodySuspendsAnewWhatIsHeld(t *testing.T) {
	f := held(t)
	f.Resume("AZRebalance")
	f.Suspend(f.In.Now.Add(7*time.Minute), "AZRebalance")
	v := f.Sweep()
	want(t, "calls", actions(v), "")
	want(t, "pages", pages(v), "foreign-suspension/AZRebalance")
	f.Heal(0, 1)
	f.Sweeps(15)
	want(t, "what is left", strings.Join(f.Suspended(), ","), "AZRebalance")
}

func TestAForeignSuspensionIsToldWithItsAge(t *testing.T) {
	f := guardtest.New(8)
	f.Suspend(f.In.Now.Add(-20*24*time.Hour), "ReplaceUnhealthy")
	v := f.Sweep()
	want(t, "pages", pages(v), "foreign-suspension/ReplaceUnhealthy")
	if text := pageText(v, guard.PageForeignSuspension); !strings.Contains(text, "20 days ago") {
		t.Errorf("text %q has no age", text)
	}
}

func TestTheHoldThatAPersonAskedFor(t *testing.T) {
	f := guardtest.New(8)
	f.Ask("1", guard.RequestHold)
	want(t, "calls", actions(f.Sweep()), all)
	want(t, "cause", f.Verdict.Cause, "operator")
	f.Sweeps(60)
	want(t, "an hour later", f.Verdict.Mode, guard.Held)
	f.Ask("2", guard.RequestRelease)
	f.Sweeps(2)
	want(t, "after the release was asked for", f.Verdict.Mode, guard.Releasing)
	f.Sweeps(4)
	want(t, "the end", f.Verdict.Mode+strings.Join(f.Suspended(), ","), guard.Watching)
	want(t, "the request stays, and is not obeyed again", f.Sweeps(3).Mode, guard.Watching)
	f.Ask("1", guard.RequestHold)
	f.In.State.RequestID = "1"
	want(t, "an old request", f.Sweep().Mode, guard.Watching)
}

func TestARequestToHoldDuringAReleaseTakesItBack(t *testing.T) {
	for _, looks := range []int{1, 2, 3} {
		f := held(t)
		f.Heal(0, 1)
		f.Sweeps(10 + looks)
		want(t, "before", f.Verdict.Mode, guard.Releasing)
		f.Ask("1", guard.RequestHold)
		f.Sweep()
		want(t, "what is suspended again", strings.Join(f.Suspended(), ","), "AZRebalance,HealthCheck,ReplaceUnhealthy")
		want(t, "an hour later", f.Sweeps(60).Mode, guard.Held)
	}
	f := held(t)
	f.Ask("1", guard.RequestRelease)
	f.Sweep() // the triggers are true, so the release waits
	f.Ask("2", guard.RequestHold)
	f.Heal(0, 1)
	want(t, "a later request to hold voids the one to release", f.Sweeps(60).Mode, guard.Held)
}

func TestARequestMadeWhileObservingARealHoldWaits(t *testing.T) {
	f := held(t)
	f.Heal(0, 1)
	f.In.Policy.Mode = guard.ModeObserve
	f.Ask("1", guard.RequestRelease)
	f.In.State = guard.Withhold(f.In, guard.Decide(f.In)).State
	want(t, "the request that was used up", f.In.State.RequestID, "")
	f.In.Policy.Mode = guard.ModeAct
	f.Sweeps(2)
	want(t, "when calls are made again", f.Verdict.Mode, guard.Releasing)
}

func TestAReleaseAskedForBeforeAHoldBeganIsForAnotherHold(t *testing.T) {
	for _, c := range []struct {
		before time.Duration
		mode   string
	}{{5*time.Minute + time.Second, guard.Held}, {5 * time.Minute, guard.Releasing}} {
		f := held(t)
		f.Heal(0, 1)
		f.Ask("1", guard.RequestRelease)
		f.In.Request.At = hold(t, f).Since.Time().Add(-c.before)
		f.Sweeps(3)
		want(t, c.before.String()+" before", f.Verdict.Mode, c.mode)
	}
}

func TestAHoldThatBeganTwiceSuspendsOnce(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	f.Ask("1", guard.RequestHold)
	want(t, "calls", actions(f.Sweep()), all)
	if !hold(t, f).Sticky {
		t.Error("a person's hold ends by itself")
	}
}

func TestAHoldBecauseRepairIsUselessEndsByAPersonOnly(t *testing.T) {
	f := calm(guardtest.New(8))
	f.In.Policy.ConvergeFailures = 1
	f.In.State.Marks = []guard.Mark{{ID: "m", Member: "gone", At: guard.At(f.In.Now.Add(-2 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Closed: true, Failed: true}}
	v := f.Sweep()
	want(t, "cause", v.Cause, "not-converging")
	want(t, "pages", pages(v), "held!, not-converging!")
	want(t, "three hours later", f.Sweeps(180).Mode, guard.Held)
	f.Ask("1", guard.RequestRelease)
	want(t, "after a person asked", f.Sweeps(6).Mode, guard.Watching)
	want(t, "and the same failure does not hold again", causes(f.Sweep()), "")
}

func TestTheTriggerThatNamesTheHold(t *testing.T) {
	useless := func(f *guardtest.Fleet) {
		f.In.Policy.ConvergeFailures = 1
		f.In.State.Marks = []guard.Mark{{ID: "m", Member: "gone", At: guard.At(f.In.Now.Add(-2 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Closed: true, Failed: true}}
	}
	tests := map[string]struct {
		lay    func(*guardtest.Fleet)
		cause  string
		sticky bool
	}{
		"a share alone":                        {func(f *guardtest.Fleet) { f.Break(0, 1) }, "correlated", false},
		"a dependency before a share":          {func(f *guardtest.Fleet) { f.Break(0, 1); depend(f, guard.AlarmRed) }, "dependency db", false},
		"useless repair before a share":        {func(f *guardtest.Fleet) { f.Break(0, 1); useless(f) }, "not-converging", true},
		"useless repair before the dependency": {func(f *guardtest.Fleet) { depend(f, guard.AlarmRed); useless(f) }, "not-converging", true},
		"a backlog before the dependency": {func(f *guardtest.Fleet) {
			depend(f, guard.AlarmRed)
			f.In.State.Watch = &guard.Watch{Since: guard.At(f.In.Now), Until: guard.At(f.In.Now.Add(time.Hour)), Budget: 0}
			f.M(0).Unhealthy = true
		}, "backlog", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			test.lay(f)
			want(t, "cause", f.Sweep().Cause, test.cause)
			if h := hold(t, f); h.Sticky != test.sticky {
				t.Errorf("only a person ends it: %v, want %v", h.Sticky, test.sticky)
			}
		})
	}
}

func TestTheHeldPageNamesTheCause(t *testing.T) {
	f := guardtest.New(12)
	for i := range 3 {
		f.M(i).LaunchTemplate = "2"
	}
	f.Break(0, 1, 2)
	f.In.Group.Refresh = "InProgress"
	text := pageText(f.Sweep(), guard.PageHeld)
	for _, part := range []string{
		"3 of 12 eligible members of the group are bad, the limit is 3", "launch template version 2 (3 of 3 bad, 0 of 9 good)",
		"an instance refresh is InProgress and may stall", "suspended: AZRebalance, HealthCheck, ReplaceUnhealthy",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page %q does not say %q", text, part)
		}
	}
	f = guardtest.New(8)
	depend(f, guard.AlarmRed)
	want(t, "cause", f.Sweep().Cause, "dependency db")
	f = guardtest.New(4)
	f.Break(0, 1, 2, 3)
	if text := pageText(f.Sweep(), guard.PageHeld); !strings.Contains(text, "every target of target group web is unhealthy") {
		t.Errorf("the page %q does not say that the load balancer fails open", text)
	}
}

func TestMembersAreRestoredOnlyWhileHeld(t *testing.T) {
	f := guardtest.New(8)
	f.M(5).Unhealthy = true
	want(t, "without a hold", actions(f.Sweeps(3)), "")
	f.Break(0, 1)
	f.Sweep()
	want(t, "looks from before the hold do not count", actions(f.Sweep()), "")
	want(t, "two good looks in the hold", actions(f.Sweep()), "restore "+f.ID(5))
	want(t, "read back", actions(f.Sweep()), "")
	f.M(6).Unhealthy = true
	f.M(6).OptedOut, f.M(6).Protected = true, true
	want(t, "opted-out and protected members are restored too", actions(f.Sweep()), "restore "+f.ID(6))
}

func TestARestoreIsTriedFiveTimes(t *testing.T) {
	f := held(t)
	f.M(5).Unhealthy = true
	f.Failing = true
	f.Sweep()
	for try := 1; try <= 5; try++ {
		want(t, "try "+string(rune('0'+try)), actions(f.Sweep()), "restore "+f.ID(5))
	}
	want(t, "the sixth look", actions(f.Sweep()), "")
}

func TestNobodyInDoubtIsRestored(t *testing.T) {
	for name, lay := range map[string]func(*guardtest.Fleet){
		"a late beat": func(f *guardtest.Fleet) {
			f.Silence(5)
			f.Remember(5).AdvancedAt = guard.At(f.In.Now.Add(-time.Minute))
		},
		"a failing beat":   func(f *guardtest.Fleet) { f.M(5).Beat.Status = "failing" },
		"a failing target": func(f *guardtest.Fleet) { f.Aim(5, "unhealthy", "") },
		"a silent target":  func(f *guardtest.Fleet) { f.Aim(5, "initial", "") },
		"no service":       func(f *guardtest.Fleet) { f.M(5).Lifecycle = "Terminating" },
		"a blind look":     func(f *guardtest.Fleet) { f.In.Reads.Activities = "throttled" },
	} {
		f := held(t)
		f.Sweeps(3)
		f.M(5).Unhealthy = true
		lay(f)
		want(t, name, actions(f.Sweep()), "")
	}
}

func TestWhatAHoldKeepsFromBeingReplacedIsNoMark(t *testing.T) {
	f := guardtest.New(40)
	f.In.Policy.MaxInFlight = 2
	f.M(9).Unhealthy = true
	f.Break(9)
	f.Sweep() // AWS marked it before the hold: it is on its way out
	f.Break(upTo(10)...)
	f.M(0).Unhealthy, f.M(1).Unhealthy = true, true
	f.In.Group.Activities = append(f.In.Group.Activities, guard.Activity{
		ID: "a", At: f.In.Now.Add(guardtest.Interval), Kind: "terminate", Status: "Successful", Member: "gone", Cause: "a user health-check",
	})
	for _, when := range []string{"in the look that begins the hold", "a look later"} {
		want(t, when, f.Sweep().Mode, guard.Held)
		var members []string
		for _, m := range f.In.State.Marks {
			members = append(members, m.Member)
		}
		want(t, when+", what counts", strings.Join(members, ","), f.ID(9)+",gone")
	}
	if n := f.Verdict.Limits.Day; n != 2 {
		t.Errorf("%d marks in a day, want 2", n)
	}
}

func TestAResumeThatWasLostBeforeAPauseIsStillOurs(t *testing.T) {
	f := quieted(t)
	f.Sweep()
	f.Failing = true
	want(t, "the call that is lost", actions(f.Sweep()), "resume HealthCheck")
	f.In.Policy.Mode = guard.ModeOff
	f.Sweep()
	f.In.Policy.Mode, f.Failing = guard.ModeAct, false
	want(t, "what is suspended is not suspended again", actions(f.Sweeps(5)), "")
	f.Sweeps(12)
	want(t, "the end", f.Verdict.Mode+strings.Join(f.Suspended(), ","), guard.Watching)
}

func TestARequestIsObeyedOnceThoughALookBetweenHadNone(t *testing.T) {
	f := guardtest.New(8)
	f.Ask("1", guard.RequestHold)
	f.Sweep()
	f.Ask("2", guard.RequestRelease)
	asked := f.In.Request
	f.Sweeps(8)
	want(t, "released", f.Verdict.Mode, guard.Watching)
	f.In.Request = guard.Request{}
	f.Break(0, 1)
	want(t, "held again", f.Sweep().Mode, guard.Held)
	f.In.Request, f.In.Request.At = asked, f.In.Now // the ledger's read is an old one
	f.Heal(0, 1)
	want(t, "the quiet time is not cut short", f.Sweeps(9).Mode, guard.Held)
}

func TestARequestOfAnUnknownKindDoesNothing(t *testing.T) {
	for _, before := range []time.Duration{0, time.Hour} {
		f := held(t)
		f.Heal(0, 1)
		f.Ask("1", "extend") // another version's
		f.In.Request.At = f.In.Now.Add(-before)
		v := f.Sweep()
		for _, n := range v.Notes {
			if strings.Contains(n, "release asked for") {
				t.Errorf("the note %q", n)
			}
		}
		want(t, "the hold", f.Sweeps(5).Mode, guard.Held)
	}
}

func TestWhatCannotBeReadWasNotResumedByAnybody(t *testing.T) {
	f := held(t)
	group := f.In.Group
	f.In.Group, f.In.Reads.Group = guard.Group{ARN: group.ARN, Name: group.Name}, "throttled"
	want(t, "calls", actions(f.Sweep()), "")
	want(t, "pages", pages(f.Verdict), "blind")
	f.In.Group, f.In.Reads.Group = group, ""
	want(t, "a look later", actions(f.Sweep())+pages(f.Verdict), "")
	if h := hold(t, f); h.Removed != 0 || len(h.Ours) != 3 {
		t.Errorf("hold %+v, want its record as it was", h)
	}
}

func TestAHoldInWhichRepairTurnsOutUselessEndsByAPersonOnlyThoughAllIsWell(t *testing.T) {
	f := held(t)
	f.Heal(0, 1)
	f.Sweep()
	f.In.Policy.ConvergeFailures = 1
	f.In.State.Marks = []guard.Mark{{ID: "m", Member: "gone", At: guard.At(f.In.Now.Add(-2 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Closed: true, Failed: true}}
	want(t, "the only trigger", causes(f.Sweep()), "not-converging=1/1")
	f.In.State.Marks = nil
	want(t, "an hour later", f.Sweeps(60).Mode, guard.Held)
}

func TestWhatSomebodySuspendsDuringAHoldOnPaperIsTheirs(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1)
	f.Sweep()
	f.Suspend(f.In.Now.Add(-10*time.Minute), "ReplaceUnhealthy")
	want(t, "pages", pages(f.Sweep()), "foreign-suspension/ReplaceUnhealthy")
}

// TestWhileTheGuardIsOffARecordIsStillItsOwn has a run crash between its intent and its record, and the guard switched off before the next.
func TestWhileTheGuardIsOffARecordIsStillItsOwn(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	f.Failing = true
	f.Sweep()
	f.Suspend(f.In.Now, "AZRebalance", "HealthCheck", "ReplaceUnhealthy")
	f.In.Policy.Mode = guard.ModeOff
	want(t, "pages", pages(f.Sweep()), "paused-while-held")
}

func TestWhatSomebodySuspendsAnewWhileTheGuardIsOffIsTheirs(t *testing.T) {
	f := held(t)
	f.Sweep()
	f.In.Policy.Mode = guard.ModeOff
	f.Resume("AZRebalance")
	f.Suspend(f.In.Now.Add(10*time.Second), "AZRebalance")
	want(t, "pages", pages(f.Sweep()), "foreign-suspension/AZRebalance, paused-while-held")
}

func TestWhatIsLeftToPeopleIsNotSuspendedAgain(t *testing.T) {
	f := held(t)
	f.Resume("AZRebalance")
	f.Failing = true
	want(t, "the first time", actions(f.Sweep()), "suspend AZRebalance") // the call fails
	f.Resume("HealthCheck")
	v := f.Sweep()
	want(t, "the second time", actions(v), "")
	want(t, "pages", pages(v), "suspension-conflict!")
}

func TestWhatSomebodySuspendsAnewAfterALostResumeIsToldAtOnce(t *testing.T) {
	f := quieted(t)
	f.Sweep()
	want(t, "the resume", actions(f.Sweep()), "resume HealthCheck")
	f.In.Policy.Mode = guard.ModeOff
	f.Sweep()
	f.In.Policy.Mode = guard.ModeAct
	f.Suspend(f.In.Now.Add(10*time.Second), "HealthCheck")
	v := f.Sweep()
	if told := strings.Join(v.Notes, "\n"); !strings.Contains(told, "HealthCheck was suspended anew by somebody else") || len(hold(t, f).Ours) != 2 {
		t.Errorf("notes %q, %d processes of ours", told, len(hold(t, f).Ours))
	}
}
