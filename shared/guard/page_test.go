package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

func TestAConditionIsToldOnceAndReminded(t *testing.T) {
	f := guardtest.New(8)
	quiet := func() { quietFor(f, 0) }
	f.Sweep()
	quiet()
	want(t, "first", pages(f.Sweep()), "heartbeat-path")
	since := f.Verdict.Pages[0].Since
	for range 29 {
		want(t, "in between", pages(f.Sweep()), "")
	}
	want(t, "a moment before the interval is over", pages(f.Step(guardtest.Interval-moment)), "")
	want(t, "after the interval", pages(f.Step(moment)), "heartbeat-path again")
	if got := f.Verdict.Pages[0].Since; got != since {
		t.Errorf("since %v, want the begin of the condition %v", got, since)
	}
}

func TestAConditionThatComesBack(t *testing.T) {
	for away, told := range map[int]string{1: "", 28: "", 29: "heartbeat-path", 60: "heartbeat-path"} {
		f := guardtest.New(8)
		f.Sweep()
		quietFor(f, 0)
		want(t, "first", pages(f.Sweep()), "heartbeat-path")
		f.Heal(0)
		f.Sweeps(away)
		quietFor(f, 0)
		v := f.Sweep()
		want(t, "back after a while", pages(v), told)
		if told != "" && v.Pages[0].Since != guard.At(f.In.Now) {
			t.Error("a condition that was over begins anew")
		}
	}
}

func TestAConditionThatTurnsUrgentIsToldAtOnce(t *testing.T) {
	f := guardtest.New(8)
	f.Sweep()
	quietFor(f, 0, 1, 2)
	want(t, "some", pages(f.Sweep()), "heartbeat-path")
	quietFor(f, 3, 4, 5)
	want(t, "most", pages(f.Sweep()), "heartbeat-path! again")
	want(t, "and no more", pages(f.Sweep()), "")
	f.Heal(3, 4, 5)
	want(t, "when it is less again", pages(f.Sweep()), "")
}

func TestSubjectsAreToldApart(t *testing.T) {
	f := guardtest.New(8)
	f.In.Problems = []guard.Problem{{Layer: "/holdfast/groups/shop", Key: "kind", Rule: "no"}, {Layer: "/holdfast/groups/shop", Key: "mode", Rule: "no"}}
	want(t, "two problems", pages(f.Sweep()), "config//holdfast/groups/shop kind, config//holdfast/groups/shop mode")
	want(t, "a minute later", pages(f.Sweep()), "")
	f.In.Problems = append(f.In.Problems, guard.Problem{Layer: "/holdfast/defaults", Rule: "is not JSON"})
	want(t, "a third", pages(f.Sweep()), "config//holdfast/defaults")
}

func TestPagesThatWereNotDeliveredComeAgain(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	v := f.Sweep()
	f.In.State.Unsent = v.Pages // the bus refused them
	want(t, "the next look", pages(f.Sweep()), "held!")
	want(t, "delivered", pages(f.Sweep()), "")
	f.In.State.Unsent = []guard.Page{{Key: guard.PageHeld, Text: "old"}, {Key: guard.PageReleased, Text: "old"}}
	f.In.Now = f.In.Now.Add(time.Hour)
	v = f.Sweep()
	want(t, "with a reminder due, the condition is told once", pages(v), "held! again, released")
	if pageText(v, guard.PageHeld) == "old" {
		t.Error("the old text is told although the condition is told anew")
	}
	left := guard.Delivered(v.State, v.Pages[:1])
	if len(left.Unsent) != 1 || left.Unsent[0].Key != guard.PageReleased {
		t.Errorf("unsent %v, want released only", left.Unsent)
	}
}

func TestUrgentPages(t *testing.T) {
	tests := map[string]struct {
		fleet func(t *testing.T) *guardtest.Fleet
		told  string
	}{
		"held": {func(*testing.T) *guardtest.Fleet { f := guardtest.New(8); f.Break(0, 1); return f }, "held!"},
		"hold-too-long": {func(t *testing.T) *guardtest.Fleet {
			f := held(t)
			f.In.Policy.HoldMaxSeconds = 600
			f.Sweeps(9)
			return f
		}, "hold-too-long!"},
		"heartbeat-coverage": {func(*testing.T) *guardtest.Fleet { f := guardtest.New(8); f.Sweep(); neverSpoke(f, 8); return f }, "heartbeat-coverage!"},
		"cannot-replace": {func(*testing.T) *guardtest.Fleet {
			f := ready(8)
			f.Suspend(f.In.Now, "Terminate")
			return f
		}, "cannot-replace!"},
		"daily-limit":   {func(*testing.T) *guardtest.Fleet { f := ready(8); f.In.Policy.MarksPerDay = 0; return f }, "daily-limit!"},
		"last-instance": {func(*testing.T) *guardtest.Fleet { f := guardtest.New(1); f.Break(0); return f }, ""},
		"replacement-stuck": {func(*testing.T) *guardtest.Fleet {
			f := ready(8)
			f.Sweeps(15)
			return f
		}, "replacement-stuck!"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := test.fleet(t).Sweep()
			if test.told != "" && !strings.Contains(pages(v), test.told) {
				t.Errorf("pages %q, want %q", pages(v), test.told)
			}
		})
	}
}

func TestWhatIsDeferredForLongIsToldWithTheNumbersThatWereCompared(t *testing.T) {
	f := ready(8)
	f.In.Policy.MinHealthyPercent = 100
	told := ""
	for range 60 {
		if text := pageText(f.Sweep(), guard.PageDeferredTooLong); text != "" && told == "" {
			told = text
		}
	}
	if want := "(min-healthy, have 7, limit 8: healthy weight after the mark)"; !strings.Contains(told, want) {
		t.Errorf("the page %q, want %q in it", told, want)
	}
}

func TestOtherLimitsAreNoDailyLimit(t *testing.T) {
	f := ready(8)
	f.In.Policy.MarksPerHour = 0
	want(t, "pages", pages(f.Sweep()), "")
}

func TestAHeldPageBeginsWithEachHold(t *testing.T) {
	f := quieted(t)
	f.Sweeps(4)
	f.In.State.ReleasedAt = guard.At(f.In.Now)
	f.Break(3, 4)
	want(t, "a second hold within the interval", pages(f.Sweep()), "held!")
}

func TestPausedWhileHeldInModeOff(t *testing.T) {
	f := held(t)
	f.In.Policy.Mode = guard.ModeOff
	want(t, "first", pages(f.Sweep()), "paused-while-held")
	want(t, "later", pages(f.Sweeps(29)), "")
	want(t, "reminder", pages(f.Sweep()), "paused-while-held again")
	if text := pageText(f.Verdict, guard.PagePausedWhileHeld); !strings.Contains(text, "AZRebalance, HealthCheck, ReplaceUnhealthy") {
		t.Errorf("text %q does not name what stays suspended", text)
	}
}

func TestAHoldThatWasOnlyPausedIsNotToldAnew(t *testing.T) {
	f := guardtest.New(8)
	f.Sweep()
	f.Break(0, 1, 2)
	want(t, "first", pages(f.Sweep()), "held!")
	f.In.Policy.Mode = guard.ModeOff
	want(t, "paused", pages(f.Sweep()), "paused-while-held")
	f.In.Policy.Mode = guard.ModeAct
	want(t, "goes on", pages(f.Sweep()), "")
	f.Heal(0, 1, 2)
	for f.In.State.Hold != nil {
		f.Sweep()
	}
	f.Break(3, 4, 5)
	want(t, "the next hold is another condition", pages(f.Sweep()), "held!")
}

func TestAHoldOnPaperIsNotPaused(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1)
	f.Sweep()
	f.In.Policy.Mode = guard.ModeOff
	want(t, "nothing is suspended that could stay so", pages(f.Sweep()), "")
}

// TestARealHoldIsToldThoughAnObservedOneWas lets the mode change from observe to act while what holds lasts.
func TestARealHoldIsToldThoughAnObservedOneWas(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	want(t, "on paper", pages(watch(f)), "held!")
	f.In.Policy.Mode = guard.ModeAct
	f.In.State = guard.Prepare(f.In.State, f.In.Policy)
	v := f.Sweep()
	want(t, "for real", actions(v)+" | "+pages(v), all+" | held!")
}

func TestAHoldThatBeginsAfterAStepBackOfTheClockIsTold(t *testing.T) {
	f := quieted(t)
	f.Sweeps(4)
	want(t, "out", f.Verdict.Mode, guard.Watching)
	f.In.Now = f.In.Now.Add(-20 * time.Minute) // before the hold that has ended began
	f.In.State.LastSweep = guard.At(f.In.Now)
	f.Break(3, 4)
	want(t, "pages", pages(f.Sweep()), "held!")
}

func TestANoticeIsNoFasterForTheNextHold(t *testing.T) {
	f := quieted(t)
	f.In.Policy.HoldMaxSeconds = 600
	var told []time.Time
	ended := false
	for range 60 {
		if strings.Contains(pages(f.Sweep()), guard.PageHoldTooLong) {
			told = append(told, f.In.Now)
		}
		if ended = ended || f.In.State.Hold == nil; ended {
			f.Break(3, 4) // the second hold lasts for longer than its maximum too
		}
	}
	if len(told) != 2 || told[1].Sub(told[0]) != 30*time.Minute {
		t.Errorf("hold-too-long is told at %v, want it twice and the interval of 30 minutes between: once for each hold", told)
	}
}

func TestNothingIsCalledForeignWhileTheStateCannotBeRead(t *testing.T) {
	f := guardtest.New(8)
	f.Suspend(f.In.Now, "AZRebalance", "HealthCheck")
	f.In.State, f.In.Reads.State = guard.State{}, "throttled"
	want(t, "pages", pages(f.Sweep()), "blind")
}

func TestASuspensionWithoutATimeIsToldWithoutAnAge(t *testing.T) {
	f := guardtest.New(8)
	f.In.Group.Suspended = []guard.Suspension{{Process: "Launch", Reason: "maintenance"}}
	want(t, "text", pageText(f.Sweep(), guard.PageForeignSuspension), "Launch is suspended, not by Holdfast: maintenance. It is never undone by Holdfast")
}

func TestAGroupThatWasNeverCoveredIsUrgentThoughFewAreSilent(t *testing.T) {
	f := guardtest.New(8)
	f.Sweep()
	neverSpoke(f, 2)
	for i := 2; i < 6; i++ { // late, which is not silent
		f.Silence(i)
		f.Remember(i).AdvancedAt = guard.At(f.In.Now.Add(-time.Minute))
	}
	want(t, "pages", pages(f.Sweep()), "heartbeat-coverage!, heartbeat-lag")
}

func TestAnObservedMarkWaitsForNoReplacement(t *testing.T) {
	for observed, told := range map[bool]string{true: "", false: "replacement-stuck!"} {
		f := calm(guardtest.New(20))
		marked(f, "gone", guard.OutcomeDone, 24*time.Hour).Observed = observed
		f.In.Group.Members = f.In.Group.Members[:19] // its place is empty
		want(t, fmt.Sprint("only observed: ", observed), pages(f.Sweep()), told)
	}
}

func TestAGroupThatServesTargetsHasNoStalledWorkers(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Queue = &guard.QueueSpec{SQSURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/jobs", Deep: 1000}
	f.In.Group.Queue = &guard.QueueReading{Depth: 1000, Trend: "rising"}
	quietFor(f, 0)
	want(t, "pages", pages(f.Sweep()), "heartbeat-path")
}

func TestAPageThatWasNotDeliveredIsSentAgainThoughAnotherSubjectIsTold(t *testing.T) {
	f := guardtest.New(8)
	f.In.Problems = []guard.Problem{{Layer: "a", Key: "x", Rule: "is no policy key"}}
	f.In.State = f.Sweep().State // nothing is delivered
	f.In.Problems = []guard.Problem{{Layer: "b", Key: "x", Rule: "is no policy key"}}
	want(t, "pages", pages(f.Sweep()), "config/b x, config/a x")
}

func TestAPacedExitOnPaperKeepsNothingSuspended(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1, 2)
	f.Sweep()
	force(f, "1")
	f.Sweeps(6)
	if f.In.State.Paced == nil {
		t.Fatalf("no paced exit: %v", f.Verdict.Explain())
	}
	f.In.Policy.HoldMaxSeconds = 600
	for range 30 {
		if text := pageText(f.Sweep(), guard.PageHoldTooLong); text != "" {
			t.Fatalf("told: %s", text)
		}
	}
	f.In.Policy.Mode = guard.ModeOff
	want(t, "while the guard is off", pageText(f.Sweep(), guard.PagePausedWhileHeld), "")
}

func TestAnAgeIsToldInDaysFromTwoOnAndInHoursBefore(t *testing.T) {
	for age, told := range map[time.Duration]string{47*time.Hour + 30*time.Minute: ", 47h30m ago.", 48 * time.Hour: ", 2 days ago.", 47 * 24 * time.Hour: ", 47 days ago."} {
		f := guardtest.New(8)
		f.Suspend(f.In.Now.Add(guardtest.Interval-age), "Launch")
		if text := pageText(f.Sweep(), guard.PageForeignSuspension); !strings.Contains(text, told) {
			t.Errorf("%s: the page %q, want %q in it", age, text, told)
		}
	}
}
