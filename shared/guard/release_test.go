package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// story looks n times and tells each look: stage of the hold, then the calls.
func story(f *guardtest.Fleet, n int) string {
	var out []string
	for range n {
		v := f.Sweep()
		stage := "free"
		if h := f.In.State.Hold; h != nil {
			stage = fmt.Sprint(h.Stage)
		}
		out = append(out, strings.TrimSpace(stage+" "+actions(v)))
	}
	return strings.Join(out, " | ")
}

// quieted is a group that was held for two bad members, and is well again for as long as its release needs: the next look
// leaves the first stage.
func quieted(t *testing.T) *guardtest.Fleet {
	t.Helper()
	f := held(t)
	f.Heal(0, 1)
	want(t, "the quiet time", f.Sweeps(10).Mode, guard.Held)
	return f
}

func TestReleaseGoesStageByStage(t *testing.T) {
	f := quieted(t)
	want(t, "the release", story(f, 5), "2 | 3 resume HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy | free | free")
	if len(f.In.Group.Suspended) != 0 {
		t.Errorf("still suspended: %v", f.Suspended())
	}
}

func TestReleaseTellsItsEnd(t *testing.T) {
	f := quieted(t)
	f.Sweeps(3)
	v := f.Sweep()
	want(t, "pages", pages(v), "released")
	want(t, "text", pageText(v, guard.PageReleased), "the hold of 2026-03-02 12:01:00Z ended after 14m; it began with: 2 of 8 eligible members of the group are bad, the limit is 2")
	if f.In.State.Onsets != nil || f.In.State.Rolling != nil || f.In.State.ReleasedAt != guard.At(f.In.Now) {
		t.Error("the end of a hold does not clear its records")
	}
	f.Break(5)
	want(t, "a member that breaks after it", fate(f.Sweep(), f.ID(5)), "grace=60/300")
	if f.Verdict.Members.Broken != 1 {
		t.Error("the fresh grace is against marks only")
	}
}

func TestRestoresComeBeforeTheResume(t *testing.T) {
	f := held(t)
	for i := range 4 {
		f.M(i).Unhealthy = true
	}
	f.Heal(0, 1)
	f.Failing = true
	f.Sweeps(4) // calls do not stick yet
	f.Failing = false
	f.Sweep()
	for i := range 4 {
		if f.M(i).Unhealthy {
			t.Errorf("%s is not restored", f.ID(i))
		}
	}
	f = quieted(t)
	f.M(4).Unhealthy = true
	f.Sweep()
	if f.M(4).Unhealthy {
		t.Error("a member with ten good looks is restored in the look that sees the mark")
	}
	f.M(4).Unhealthy = true // it did not stick
	f.Failing = true
	want(t, "no resume while a restore is pending", story(f, 3), "2 restore i-00004 | 2 restore i-00004 | 2 restore i-00004")
	f.Failing = false
	want(t, "after it took", story(f, 3), "2 restore i-00004 | 3 resume HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy")
}

func TestAMarkThatComesBackWithHealthCheck(t *testing.T) {
	f := quieted(t)
	want(t, "HealthCheck runs again", story(f, 2), "2 | 3 resume HealthCheck")
	f.M(4).Unhealthy = true
	want(t, "what it marked is restored first", story(f, 2), "3 restore i-00004 | 5 resume AZRebalance,ReplaceUnhealthy")
}

func TestResumeFitsTheBudget(t *testing.T) {
	tests := map[string]struct {
		unhealthy int
		lay       func(*guardtest.Fleet)
		stage     string
	}{
		"nobody is Unhealthy":                        {0, func(*guardtest.Fleet) {}, "free"},
		"one fits a budget of one":                   {1, func(*guardtest.Fleet) {}, "free"},
		"two do not fit a budget of one":             {2, func(*guardtest.Fleet) {}, "4"},
		"one does not fit when ten minutes are full": {1, func(f *guardtest.Fleet) { spent(f, -3*time.Minute) }, "4"},
		"one does not fit when the day is full":      {1, func(f *guardtest.Fleet) { f.In.Policy.MarksPerDay = 0 }, "4"},
		"one does not fit when the Region is full":   {1, func(f *guardtest.Fleet) { f.In.Policy.RegionMarksPerHour = 0 }, "4"},
		"one does not fit when the hour's only mark is spent": {1, func(f *guardtest.Fleet) {
			f.In.Policy.MarksPerHour = 1
			spent(f, 30*time.Minute)
		}, "4"},
		"one does not fit when the day's only mark is spent": {1, func(f *guardtest.Fleet) {
			f.In.Policy.MarksPerDay = 1
			spent(f, 2*time.Hour)
		}, "4"},
		"one does not fit when the Region's only mark is spent": {1, func(f *guardtest.Fleet) {
			f.In.Policy.RegionMarksPerHour = 1
			f.In.Region.Marks = []guard.RegionMark{{ID: "other/1", At: guard.At(f.In.Now)}}
		}, "4"},
		"one that is leaving needs no budget": {1, func(f *guardtest.Fleet) {
			f.In.Policy.MarksPerHour = 0
			f.M(0).Lifecycle = "Terminating"
		}, "free"},
		"one does not fit when others use the Region": {1, func(f *guardtest.Fleet) {
			for i := range 6 {
				f.In.Region.Marks = append(f.In.Region.Marks, guard.RegionMark{ID: fmt.Sprint("other/", i), At: guard.At(f.In.Now)})
			}
		}, "4"},
		"one does not fit an unread Region": {1, func(f *guardtest.Fleet) { f.In.Reads.Region = "throttled" }, "4"},
		"none fits any budget":              {0, func(f *guardtest.Fleet) { f.In.Policy.MarksPerHour = 0 }, "free"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(20))
			f.In.Policy.CorrelatedPercent, f.In.Policy.CorrelatedMin = 50, 10
			f.Break(upTo(10)...)
			want(t, "the hold", actions(f.Sweep()), all)
			f.Heal(upTo(10)...)
			for i := range test.unhealthy {
				f.M(i).Unhealthy = true
				f.Break(i) // broken, so that it is not restorable; too few to be a trigger
			}
			f.Sweeps(10)
			test.lay(f)
			f.Sweeps(4)
			stage := "free"
			if h := f.In.State.Hold; h != nil {
				stage = fmt.Sprint(h.Stage)
			}
			want(t, "stage", stage, test.stage)
			if blocked := len(f.Suspended()) == 2; blocked != (test.stage == "4") {
				t.Errorf("suspended %v", f.Suspended())
			}
		})
	}
}

func TestResumeBlockedIsToldAndEndsByItself(t *testing.T) {
	f := quieted(t)
	f.Break(4)
	f.M(4).Unhealthy = true
	f.In.Policy.MarksPerHour = 0
	f.Sweeps(2)
	want(t, "pages", pages(f.Sweep()), "resume-blocked!")
	f.In.Policy.MarksPerHour = 3
	want(t, "when there is room", story(f, 2), "5 resume AZRebalance,ReplaceUnhealthy | free")
}

func TestTheSlotOfAMarkedMemberIsForItself(t *testing.T) {
	f := ready(8)
	f.In.Policy.CorrelatedMin = 2
	want(t, "one is marked", fate(f.Sweep(), f.ID(0)), "mark")
	f.Break(1, 2, 3)
	want(t, "then many fail, before it is replaced", actions(f.Sweep()), all)
	f.Heal(1, 2, 3)
	f.Sweeps(12)
	want(t, "its own mark does not block the release", story(f, 3), "5 resume AZRebalance,ReplaceUnhealthy | free | free")
}

func TestMarksThatAWSMadeBeforeTheHoldStillBlock(t *testing.T) {
	f := calm(guardtest.New(8))
	f.Break(0, 1, 2)
	for i := range 3 {
		f.M(i).Unhealthy = true
	}
	f.Sweep() // AWS marked three by itself; no rule holds the group yet
	f.In.Policy.CorrelatedMin = 4
	f.Break(3)
	want(t, "the hold", actions(f.Sweep()), all)
	f.Heal(3)
	f.Sweeps(13)
	want(t, "stage", fmt.Sprint(hold(t, f).Stage), "4")
	want(t, "ReplaceUnhealthy", strings.Join(f.Suspended(), ","), "AZRebalance,ReplaceUnhealthy")
}

func TestRelapseInEveryStage(t *testing.T) {
	for looks, stage := range []string{"1", "2", "3", "5"} {
		t.Run("stage "+stage, func(t *testing.T) {
			f := quieted(t)
			f.Sweeps(looks)
			want(t, "stage", fmt.Sprint(hold(t, f).Stage), stage)
			f.Break(0, 1)
			f.Sweep()
			want(t, "suspended after the relapse", strings.Join(f.Suspended(), ","), "AZRebalance,HealthCheck,ReplaceUnhealthy")
			want(t, "stage after it", fmt.Sprint(hold(t, f).Stage), "1")
			f.Heal(0, 1)
			want(t, "the quiet time runs anew", f.Sweeps(10).Mode, guard.Held)
			want(t, "and the release again", story(f, 4), "2 | 3 resume HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy | free")
		})
	}
}

func TestSingleBadMembersDoNotBreakTheQuiet(t *testing.T) {
	f := held(t)
	f.Heal(1) // member 0 stays bad
	f.Sweeps(10)
	want(t, "released all the same", story(f, 1), "2")
}

func TestWhatIsUnknownReleasesNothing(t *testing.T) {
	for _, state := range []string{guard.AlarmNoData, guard.AlarmMissing, guard.AlarmUnread} {
		f := quieted(t)
		depend(f, state)
		want(t, state, story(f, 3), "1 | 1 | 1")
		f.Ask("1", guard.RequestRelease)
		want(t, state+", though a person asked", story(f, 3), "1 | 1 | 1")
		depend(f, guard.AlarmOK)
		want(t, "when it is well", story(f, 1), "2")
	}
	f := quieted(t)
	depend(f, guard.AlarmNoData)
	f.In.Group.Dependencies[0].Missing = guard.MissingOK
	want(t, "missing data that read as OK", story(f, 1), "2")
}

func TestBlindLooksPauseTheQuiet(t *testing.T) {
	f := held(t)
	f.Heal(0, 1)
	f.Sweeps(6)
	f.In.Reads.Heartbeats = "throttled"
	f.Sweeps(3)
	f.In.Reads.Heartbeats = ""
	want(t, "three blind looks count nothing", story(f, 5), "1 | 1 | 1 | 1 | 2")
	f = held(t)
	f.Heal(0, 1)
	f.Sweeps(6)
	f.In.Reads.Heartbeats = "throttled"
	f.Sweeps(4)
	f.In.Reads.Heartbeats = ""
	want(t, "four void what was quiet before", story(f, 11), "1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 2")
}

func TestABlindLookReleasesNothing(t *testing.T) {
	f := quieted(t)
	f.In.Reads.Activities = "throttled"
	want(t, "blind", story(f, 3), "1 | 1 | 1")
}

func TestAGapStartsTheQuietAgain(t *testing.T) {
	f := quieted(t)
	f.Step(time.Hour)
	want(t, "after an hour without a sweep", story(f, 10), "1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 2")
}

func TestModeOffStartsTheReleaseAgain(t *testing.T) {
	for looks := range 4 {
		f := quieted(t)
		f.Sweeps(looks)
		f.In.Policy.Mode = guard.ModeOff
		v := f.Sweep()
		want(t, "calls in mode off", actions(v), "")
		want(t, "pages", pages(v), "paused-while-held")
		want(t, "mode", v.Mode, guard.Off)
		f.In.Policy.Mode = guard.ModeAct
		f.Sweep()
		want(t, "what is suspended afterwards", strings.Join(f.Suspended(), ","), "AZRebalance,HealthCheck,ReplaceUnhealthy")
		want(t, "nine minutes later", f.Sweeps(9).Mode, guard.Held)
		want(t, "the release", story(f, 4), "2 | 3 resume HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy | free")
	}
}

func TestAResumeThatDidNotTakeIsTriedAgain(t *testing.T) {
	f := quieted(t)
	f.Sweeps(2)
	f.Failing = true
	want(t, "calls", story(f, 3), "5 resume AZRebalance,ReplaceUnhealthy | 5 resume AZRebalance,ReplaceUnhealthy | 5 resume AZRebalance,ReplaceUnhealthy")
	f.Failing = false
	want(t, "when it takes", story(f, 2), "5 resume AZRebalance,ReplaceUnhealthy | free")
}

func TestAResumeThatWasDecidedOnceIsWeighedAgainInALaterRelease(t *testing.T) {
	f := quieted(t)
	f.Sweeps(2)
	f.Failing = true
	want(t, "a resume that does not take", story(f, 1), "5 resume AZRebalance,ReplaceUnhealthy")
	f.In.Policy.Mode = guard.ModeOff
	f.Sweep()
	f.Failing = false
	f.In.Policy.Mode, f.In.Policy.MarksPerHour = guard.ModeAct, 0
	f.Break(4) // one alone, which is no trigger
	f.M(4).Unhealthy = true
	f.Sweeps(10)
	want(t, "the next release", story(f, 3), "2 | 3 resume HealthCheck | 4")
	want(t, "pages", pages(f.Verdict), "resume-blocked!")
}

func TestAForeignTextIsNeverResumed(t *testing.T) {
	f := quieted(t)
	f.Sweep()
	for i := range f.In.Group.Suspended {
		if f.In.Group.Suspended[i].Process == "ReplaceUnhealthy" {
			f.In.Group.Suspended[i].Reason = "User suspended at 2026-03-02T12:09:00Z"
		}
	}
	f.Sweeps(5)
	want(t, "what is left", strings.Join(f.Suspended(), ","), "ReplaceUnhealthy")
}

func TestTheWatchAfterARelease(t *testing.T) {
	f := quieted(t)
	f.Sweeps(4)
	want(t, "released", f.Verdict.Mode, guard.Watching)
	f.M(0).Unhealthy = true
	want(t, "one that AWS marks is in the budget", causes(f.Sweep()), "")
	f.M(1).Unhealthy = true
	want(t, "the second is beyond it", actions(f.Sweep()), all)
	want(t, "cause", f.Verdict.Cause, "backlog")

	f = quieted(t)
	f.Sweeps(4)
	f.Sweeps(15)
	f.M(0).Unhealthy, f.M(1).Unhealthy = true, true
	want(t, "a quarter of an hour later nobody watches", causes(f.Sweeps(2)), "")
}

func TestAHoldThatTurnsOutUselessEndsByAPersonOnly(t *testing.T) {
	f := held(t)
	f.In.Policy.ConvergeFailures = 1
	f.In.State.Marks = []guard.Mark{{ID: "m", Member: "gone", At: guard.At(f.In.Now), By: "guard", Outcome: guard.OutcomeDone, Closed: true, Failed: true}}
	f.Heal(0, 1)
	f.Sweep()
	f.In.State.Marks = nil // forgotten after a day; the hold is not
	want(t, "an hour after all are well", f.Sweeps(60).Mode, guard.Held)
	f.Ask("1", guard.RequestRelease)
	want(t, "after a person asked", f.Sweeps(6).Mode, guard.Watching)
}

func TestAHoldInAStageOfAnotherVersionCanBeEnded(t *testing.T) {
	for _, stage := range []int{-1, 0, 9} {
		f := guardtest.New(6)
		f.Break(0, 1, 2)
		f.Sweep()
		f.Heal(0, 1, 2)
		f.In.State.Hold.Stage = stage
		f.Sweep()
		f.Ask("1", guard.RequestRelease)
		if f.Sweeps(10); f.In.State.Hold != nil {
			t.Errorf("stage %d: %+v", stage, f.In.State.Hold)
		}
		want(t, "suspended", strings.Join(f.Suspended(), ","), "")
	}
}

func TestAReleaseUnderWayStandsStillWhileADependencyIsUnknown(t *testing.T) {
	for _, state := range []string{guard.AlarmMissing, guard.AlarmUnread, guard.AlarmNoData} {
		f := held(t)
		f.Heal(0, 1)
		f.Sweeps(11)
		want(t, "before", f.Verdict.Mode, guard.Releasing)
		dep := guard.Dependency{Alarm: "db", Kind: guard.DependencyHard, Missing: guard.MissingUnknown}
		f.In.Group.Dependencies = []guard.DependencyReading{{Dependency: dep, AlarmReading: guard.AlarmReading{State: state}}}
		for range 10 {
			want(t, state, actions(f.Sweep()), "")
		}
		f.In.Group.Dependencies[0].State = guard.AlarmOK
		want(t, "known again", f.Sweeps(5).Mode, guard.Watching)
	}
}

func TestTheFirstLookAfterAGapReleasesNothing(t *testing.T) {
	f := held(t)
	f.Heal(0, 1)
	f.Sweeps(11)
	want(t, "before", f.Verdict.Mode, guard.Releasing)
	want(t, "after an hour away", actions(f.Step(time.Hour)), "")
	want(t, "then", f.Sweeps(5).Mode, guard.Watching)
}

func TestARelapseLeavesToPeopleWhatTheyTookTwice(t *testing.T) {
	f := held(t)
	for range 2 { // somebody insists
		f.Resume("AZRebalance")
		f.Sweeps(2)
	}
	f.Heal(0, 1)
	f.Sweeps(12)
	want(t, "suspended when the relapse comes", strings.Join(f.Suspended(), ","), "ReplaceUnhealthy")
	f.Break(3, 4)
	want(t, "the relapse", actions(f.Sweep()), "suspend HealthCheck")
}

func TestAHoldOnPaperEndsThoughSomebodySuspendedSomething(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1)
	f.Sweep()
	f.Suspend(f.In.Now.Add(10*time.Minute), "AZRebalance")
	f.Heal(0, 1)
	f.Sweeps(15)
	want(t, "the end", f.Verdict.Mode+" "+strings.Join(f.Suspended(), ","), "watching AZRebalance")
}

func TestABlockedReleaseStillSuspendsWhatIsMissing(t *testing.T) {
	f := guardtest.New(8)
	f.Suspend(f.In.Now.Add(-time.Hour), "ReplaceUnhealthy")
	f.Break(0, 1)
	want(t, "hold", actions(f.Sweep()), "suspend AZRebalance,HealthCheck")
	f.Heal(0, 1)
	f.Sweeps(10)
	f.Break(4)
	f.M(4).Unhealthy = true
	f.In.Policy.MarksPerHour = 0
	f.Sweeps(3)
	want(t, "pages", pages(f.Verdict), "resume-blocked!")
	f.Resume("ReplaceUnhealthy")
	v := f.Sweep()
	want(t, "blocked", actions(v), "suspend ReplaceUnhealthy")
	f.In.Policy.MarksPerHour = 3
	f.Sweep()
	want(t, "the end", story(f, 1)+strings.Join(f.Suspended(), ","), "free")
}

func TestARelapseOfAHoldOnPaperTakesBackOnPaperWhatItResumed(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1)
	want(t, "on paper", actions(f.Sweep()), all)
	f.Suspend(f.In.Now.Add(10*time.Minute), "HealthCheck") // somebody really does
	f.Heal(0, 1)
	f.Sweeps(11)
	want(t, "resumed on paper", actions(f.Sweep()), "resume HealthCheck")
	f.Break(3, 4)
	want(t, "the relapse", actions(f.Sweep()), "suspend HealthCheck")
}

// TestWhatSomebodyResumesAsAHoldEndsIsNotSuspendedForIt would otherwise be left suspended by a hold that is over.
func TestWhatSomebodyResumesAsAHoldEndsIsNotSuspendedForIt(t *testing.T) {
	f := guardtest.New(8)
	f.Suspend(f.In.Now.Add(-time.Hour), "ReplaceUnhealthy")
	f.Break(0, 1)
	want(t, "hold", actions(f.Sweep()), "suspend AZRebalance,HealthCheck")
	f.Heal(0, 1)
	f.Sweeps(12)
	want(t, "the last step", story(f, 1), "5 resume AZRebalance")
	f.Resume("ReplaceUnhealthy")
	want(t, "the end", story(f, 1)+strings.Join(f.Suspended(), ","), "free")
}

func TestWhatAReleaseWaitsForIsToldWhileADependencyIsUnknown(t *testing.T) {
	const waits = "nothing is released while the state of db is not known"
	for _, state := range []string{guard.AlarmMissing, guard.AlarmUnread, guard.AlarmNoData} {
		f := held(t)
		if text := pageText(f.Verdict, guard.PageHeld); strings.Contains(text, waits) || f.Verdict.Unknown != nil {
			t.Errorf("known: %q, unknown %q", text, f.Verdict.Unknown)
		}
		f.Heal(0, 1)
		depend(f, state)
		f.Ask("1", guard.RequestRelease)
		told := ""
		for range 60 {
			v := f.Sweep()
			want(t, state, strings.Join(v.Unknown, ","), "db")
			if text := pageText(v, guard.PageHeld); text != "" {
				told = text
			}
		}
		if !strings.Contains(told, "a release was asked for by an operator. "+waits) {
			t.Errorf("%s: the reminder %q, want who asked and what it waits for", state, told)
		}
	}
}

func TestAReleaseByNobodyReleasesNothing(t *testing.T) {
	for _, force := range []bool{false, true} {
		for by, mode := range map[string]string{"": guard.Held, "  ": guard.Held, "sam": guard.Watching} {
			f := held(t)
			f.Heal(0, 1)
			f.Ask("1", guard.RequestRelease)
			f.In.Request.By, f.In.Request.Force = by, force
			want(t, fmt.Sprintf("asked by %q, force %v", by, force), f.Sweeps(5).Mode, mode)
			want(t, "forced", fmt.Sprint(f.In.State.Hold != nil && f.In.State.Hold.Forced), "false")
		}
	}
}
