package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// actions are the items of the list of actions.
func (b *bench) actions(t *testing.T, g *runnertest.Group) []runner.ActionRecord {
	t.Helper()
	list, ok := b.Ledger.(interface {
		Actions(context.Context, string, time.Time) ([]runner.ActionRecord, error)
	})
	if !ok {
		t.Fatal("the ledger has no list of actions")
	}
	out, err := list.Actions(context.Background(), g.ARN, runnertest.Start())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The grace flag itself is set by the actor; here it counts what its answers come to.
func TestAR32ARefusedOrContendedMarkIsNeverRecordedAsDoneNorRepeatedInTheRun(t *testing.T) {
	tests := map[string]struct {
		err     error
		outcome string
		// spent says that the budget is spent; next is when it is tried again, after the first try.
		spent bool
		next  time.Duration
	}{
		"the member is too young":          {fault.TooYoung, "refused", false, 5 * time.Minute},
		"the member is gone, says AWS":     {fault.Gone, "refused", false, time.Minute},
		"access is denied":                 {fault.Refused, "refused", false, time.Minute},
		"the call was throttled":           {fault.Throttled, "refused", false, time.Minute},
		"the resource is contended":        {fmt.Errorf("set health: %w: ResourceContention", fault.Unknown), guard.OutcomeUnknown, true, 10 * time.Minute},
		"an answer that nobody knows":      {fmt.Errorf("odd"), guard.OutcomeUnknown, true, 10 * time.Minute},
		"a timeout after nothing was done": {fmt.Errorf("set health: %w", context.DeadlineExceeded), guard.OutcomeUnknown, true, 10 * time.Minute},
		"the group was changed in between": {fault.Conflict, "refused", false, time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := ripe(t, 8, 3)
			calls := 0
			b.look(t, func(c runnertest.Call) runnertest.Effect {
				if c.Op != guard.ActMark {
					return runnertest.Effect{}
				}
				calls++
				return runnertest.Effect{Before: test.err}
			})
			if calls != 1 {
				t.Errorf("tried %d times in one run", calls)
			}
			r := b.last(t, g)
			if len(r.Calls) != 1 || r.Calls[0].Outcome != test.outcome || r.Calls[0].Error == "" {
				t.Errorf("calls %+v, want %s with the error", r.Calls, test.outcome)
			}
			if a := b.actions(t, g); len(a) != 1 || a[0].Outcome != test.outcome || a[0].Detail == "" {
				t.Errorf("list of actions %+v, want one that is %s", a, test.outcome)
			}
			if spent := len(b.state(t, g).Marks) == 1; spent != test.spent {
				t.Errorf("the group's budget is spent: %v", spent)
			}
			if spent := len(b.region(t).Marks) == 1; spent != test.spent {
				t.Errorf("the Region's budget is spent: %v", spent)
			}
			at := b.Now
			for len(b.Marks()) == 0 && b.Now.Sub(at) < 15*time.Minute {
				b.tick(t)
			}
			if later := b.Now.Sub(at); later != test.next {
				t.Errorf("marked %s after the refusal, want %s", later, test.next)
			}
		})
	}
}

func TestAMarkWhoseAnswerWasLostIsKnownByWhatAWSDid(t *testing.T) {
	b, g := ripe(t, 8, 3)
	b.look(t, after(fault.Unknown, guard.ActMark))
	if m := b.state(t, g).Marks; len(m) != 1 || m[0].Outcome != guard.OutcomeUnknown {
		t.Fatalf("marks %+v, want one unknown", m)
	}
	b.tick(t)
	if m := b.state(t, g).Marks; len(m) != 1 || m[0].Outcome != guard.OutcomeDone {
		t.Errorf("marks %+v, want one done, because the member is leaving", m)
	}
	b.ticks(t, 10)
	settled(t, b, g)
	if len(b.Marks()) != 1 {
		t.Errorf("marked %d times", len(b.Marks()))
	}
}

func TestAMarkThatIsSentTwiceCountsOnce(t *testing.T) {
	b, g := ripe(t, 8, 3)
	b.look(t, func(c runnertest.Call) runnertest.Effect { return runnertest.Effect{Twice: c.Op == guard.ActMark} })
	if m := b.state(t, g).Marks; len(m) != 1 || len(b.region(t).Marks) != 1 {
		t.Errorf("marks %+v, Region %+v", m, b.region(t).Marks)
	}
}

func TestAR45AReservationWithoutAnOutcomeIsSpentForTenMinutesToTheSecond(t *testing.T) {
	tests := map[string]struct {
		later  time.Duration
		marked bool
		reason guard.Reason
	}{
		"seven minutes old":               {7 * time.Minute, false, guard.ReasonWaiting},
		"a second before ten minutes":     {10*time.Minute - time.Second, false, guard.ReasonWaiting},
		"ten minutes old":                 {10 * time.Minute, true, ""},
		"a second past ten minutes":       {10*time.Minute + time.Second, true, ""},
		"a moment old, at the next sweep": {time.Minute, false, guard.ReasonWaiting},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := ripe(t, 8, 3)
			reserved := b.Now
			b.look(t, func(c runnertest.Call) runnertest.Effect {
				return runnertest.Effect{CrashBefore: c.Op == guard.ActMark}
			})
			if m := b.state(t, g).Marks; len(m) != 1 || m[0].Outcome != guard.OutcomeReserved {
				t.Fatalf("marks %+v, want a reservation", m)
			}
			for b.Now.Add(runnertest.Interval).Before(reserved.Add(min(test.later, 10*time.Minute))) {
				b.tick(t)
				if len(b.Marks()) != 0 {
					t.Fatalf("marked %s after the reservation", b.Now.Sub(reserved))
				}
			}
			b.Now = reserved.Add(test.later)
			b.look(t, nil)
			if marked := len(b.Marks()) == 1; marked != test.marked {
				t.Errorf("marked: %v, want %v", marked, test.marked)
			}
			if r := b.reason(t, g, g.Members[3].ID); r != test.reason {
				t.Errorf("deferred for %q, want %q", r, test.reason)
			}
		})
	}
}

func TestAR64AMarkThatWentOnWhileADependencyWasUnknownSaysSoInItsRecords(t *testing.T) {
	b := newBench()
	g := b.Add("web", 8)
	g.Policy = `{"dependencies":[{"alarm":"db","kind":"hard","missing":"unknown"},{"alarm":"cache","kind":"hard","missing":"ok"}]}`
	b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmNoData}
	b.Alarms["cache"] = guard.AlarmReading{State: guard.AlarmNoData}
	b.ticks(t, 7)
	b.Break(g, 3)
	b.before(t, guard.ActMark)
	b.look(t, nil)
	const want = "marked while the state of db was unknown"
	if c := b.last(t, g).Calls; len(c) != 1 || c[0].Note != want {
		t.Errorf("calls %+v, want the note", c)
	}
	if m := b.state(t, g).Marks; len(m) != 1 || m[0].Note != want {
		t.Errorf("marks %+v, want the note", m)
	}
	if a := b.actions(t, g); len(a) != 1 || a[0].Detail != want || a[0].Outcome != guard.OutcomeDone {
		t.Errorf("list of actions %+v, want the note", a)
	}
}

// between lets another run pass just before the n-th process makes a call of the given kind.
func between(t *testing.T, b *bench, op string, then runnertest.Effect) runnertest.Hook {
	t.Helper()
	passed := false
	return func(c runnertest.Call) runnertest.Effect {
		if c.Op != op || passed {
			return runnertest.Effect{}
		}
		passed = true
		b.look(t, nil)
		return then
	}
}

func TestWhatACallShowedIsKeptThoughAnotherRunHasWrittenMeanwhile(t *testing.T) {
	tests := map[string]struct {
		then  runnertest.Effect
		spent int
		youth bool
		again time.Duration
	}{
		"the mark was done":        {runnertest.Effect{}, 1, false, 0},
		"the mark was refused":     {runnertest.Effect{Before: fault.Refused}, 0, false, time.Minute},
		"the member was too young": {runnertest.Effect{Before: fault.TooYoung}, 0, true, 5 * time.Minute},
		"the outcome is not known": {runnertest.Effect{Before: fault.Unknown}, 1, false, 10 * time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := ripe(t, 8, 3)
			sum := b.look(t, between(t, b, guard.ActMark, test.then))
			if sum.Failed != 0 {
				t.Errorf("summary %+v", sum)
			}
			s := b.state(t, g)
			if len(s.Marks) != test.spent || len(b.region(t).Marks) != test.spent {
				t.Errorf("the group's budget has %+v, the Region's %+v, want %d each", s.Marks, b.region(t).Marks, test.spent)
			}
			if test.spent == 1 && s.Marks[0].Outcome == guard.OutcomeReserved {
				t.Error("the outcome was forgotten")
			}
			at := b.Now
			for test.again > 0 && len(b.Marks()) == 0 && b.Now.Sub(at) < 15*time.Minute {
				b.tick(t)
			}
			if later := b.Now.Sub(at); later != test.again {
				t.Errorf("marked %s later, want %s", later, test.again)
			}
		})
	}
}

func TestALastWriteThatIsAlwaysOvertakenIsALostRaceAndSettledByTheNextSweep(t *testing.T) {
	b, g := ripe(t, 8, 3)
	sum := b.look(t, on(fault.Conflict, runnertest.OpSave))
	if sum.LostRaces != 1 || sum.Failed != 0 || len(b.Marks()) != 1 {
		t.Errorf("summary %+v, marks %+v; want the mark and a lost race", sum, b.Marks())
	}
	b.ticks(t, 12)
	settled(t, b, g)
	if len(b.Marks()) != 1 {
		t.Errorf("marked %d times", len(b.Marks()))
	}
}

func TestASecondLookThatAnotherRunOvertookDoesNothingAndGivesBack(t *testing.T) {
	b, g := ripe(t, 8, 3)
	seconds := 0
	sum := b.look(t, func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpGroup {
			if seconds++; seconds == 1 {
				b.Fail(g, 0, 1, 2) // the second look differs, so it writes
				b.look(t, nil)     // and another run is faster
			}
		}
		return runnertest.Effect{}
	})
	if sum.LostRaces != 1 || sum.Failed != 0 || len(b.Marks()) != 0 {
		t.Errorf("summary %+v, marks %+v; want a lost race", sum, b.Marks())
	}
	for _, m := range b.state(t, g).Marks {
		t.Errorf("a reservation is left: %+v", m)
	}
	if n := len(b.region(t).Marks); n != 0 {
		t.Errorf("the Region's budget has %d marks", n)
	}
	if n := len(b.Calls(guard.ActSuspend)); n != 1 {
		t.Errorf("suspended %d times, want once, by the faster run", n)
	}
	if n := len(b.pages(guard.PageHeld)); n != 1 {
		t.Errorf("%d held notices, want one", n)
	}
	b.tick(t)
	if s := b.state(t, g); s.Hold == nil || len(s.Hold.Ours) != 3 || s.Hold.Removed != 0 {
		t.Errorf("hold %+v", s.Hold)
	}
}

// lastMoment lets something happen after the second look's reads, before the process makes any other call.
func lastMoment(t *testing.T, happen func()) runnertest.Hook {
	t.Helper()
	beats, done := 0, false
	return func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpBeats {
			beats++
		} else if beats == 2 && !done {
			done = true
			happen()
		}
		return runnertest.Effect{}
	}
}

func TestAHoldOfAnotherRunAfterTheSecondLookStillStopsTheMark(t *testing.T) {
	b, g := ripe(t, 8, 3)
	sum := b.look(t, lastMoment(t, func() {
		b.Fail(g, 0, 1, 2)
		b.look(t, nil)
	}))
	if sum.LostRaces != 1 || sum.Failed != 0 || len(b.pages(guard.PageHeld)) != 1 {
		t.Errorf("summary %+v, pages %+v; want a lost race, and the hold paged by the other run", sum, b.Pages)
	}
	if len(b.Marks()) != 0 || len(b.Calls(guard.ActSuspend)) != 1 {
		t.Fatalf("made %+v, want the other run's suspension only", b.Done)
	}
	if r := b.reason(t, g, g.Members[3].ID); r != guard.ReasonLostRace {
		t.Errorf("deferred for %q, want lost-race", r)
	}
	if s := b.state(t, g); s.Hold == nil || len(s.Marks) != 0 || len(b.region(t).Marks) != 0 {
		t.Errorf("hold %+v, marks %+v, Region %+v; want the hold, and the reservation given back", s.Hold, s.Marks, b.region(t).Marks)
	}
}

func TestARelapseSeenByAnotherRunAfterTheSecondLookStillStopsTheResume(t *testing.T) {
	tried := 0
	for _, from := range releasing(t) {
		b := from.clone(t)
		g := b.Groups[0]
		b.look(t, lastMoment(t, func() {
			tried++
			b.Fail(g, 0, 1, 2, 3, 4, 5)
			b.look(t, nil)
		}))
		if tried == 0 {
			continue // this sweep takes no second look
		}
		for _, d := range b.Calls(guard.ActResume) {
			if slices.Contains(d.Processes, guard.ProcessReplaceUnhealthy) {
				t.Errorf("resumed %v into a relapse", d.Processes)
			}
		}
		b.tick(t)
		if s := b.state(t, g); s.Hold == nil || s.Hold.Removed != 0 || len(g.Suspended) != 3 {
			t.Errorf("hold %+v, suspended %v", s.Hold, g.Suspended)
		}
		return
	}
	t.Error("no sweep of the release took a second look")
}

func TestAStateThatCannotBeReadBeforeActingStopsTheMark(t *testing.T) {
	b, g := ripe(t, 8, 3)
	loads := 0
	sum := b.look(t, func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpLoad {
			if loads++; loads == 2 {
				return runnertest.Effect{Before: fault.Throttled}
			}
		}
		return runnertest.Effect{}
	})
	if len(b.Marks()) != 0 || len(b.state(t, g).Marks) != 0 || sum.Failed != 1 {
		t.Errorf("marks %+v, state %+v, summary %+v", b.Marks(), b.state(t, g).Marks, sum)
	}
}

func TestAHundredRestoresAtMostAreMadeInOneRun(t *testing.T) {
	b := newBench()
	g := b.Add("web", 230)
	b.ticks(t, 7)
	all := make([]int, 150)
	for i := range all {
		all[i] = i
	}
	b.Fail(g, all...)
	b.tick(t)
	for _, i := range all {
		g.Members[i].Unhealthy = true
	}
	b.tick(t)
	b.Heal(g, all...)
	var perRun []int
	for len(b.Calls(guard.ActRestore)) < 150 && len(perRun) < 20 {
		have := len(b.Calls(guard.ActRestore))
		b.tick(t)
		perRun = append(perRun, len(b.Calls(guard.ActRestore))-have)
	}
	if slices.Max(perRun) != 100 || len(b.Calls(guard.ActRestore)) != 150 {
		t.Errorf("restored %v a run, want at most 100 and 150 in all", perRun)
	}
	for _, m := range b.state(t, g).Members {
		if m.RestoreTries > 1 {
			t.Errorf("%s: %d tries are counted, although it was put off or restored at once", m.ID, m.RestoreTries)
		}
	}
}

func TestObserveMakesNoCallAndItsNoticesSaySo(t *testing.T) {
	b, g := failing(t, false)
	b.Mode = guard.ModeObserve
	b.look(t, nil)
	b.ticks(t, 3)
	if len(b.Done) != 0 {
		t.Errorf("made %+v", b.Done)
	}
	for _, p := range b.Pages[1:] {
		if !strings.HasPrefix(p.Text, "observe: ") {
			t.Errorf("page %q does not say that it only observes", p.Text)
		}
	}
	if s := b.state(t, g); s.Hold == nil || !s.Hold.Observed {
		t.Errorf("hold %+v, want an observed one", s.Hold)
	}
}
