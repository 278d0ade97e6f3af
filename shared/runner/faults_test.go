package runner_test

import (
	"context"
	"errors"
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

// on fails every call of the given kinds before its effect.
func on(err error, ops ...string) runnertest.Hook {
	return func(c runnertest.Call) runnertest.Effect {
		if slices.Contains(ops, c.Op) {
			return runnertest.Effect{Before: err}
		}
		return runnertest.Effect{}
	}
}

// after fails every call of the given kinds although it takes effect.
func after(err error, ops ...string) runnertest.Hook {
	return func(c runnertest.Call) runnertest.Effect {
		if slices.Contains(ops, c.Op) {
			return runnertest.Effect{After: err}
		}
		return runnertest.Effect{}
	}
}

func TestAHoldGoesOutWithoutALedgerAndItsPageSaysThatThereIsNoRecord(t *testing.T) {
	tests := map[string]struct {
		hook runnertest.Hook
		says string
	}{
		"the state cannot be loaded":               {on(fault.Throttled, runnertest.OpLoad), "no record of this hold"},
		"the state cannot be written":              {on(fault.Throttled, runnertest.OpSave), "has no record"},
		"access to the table is denied":            {on(fault.Refused, runnertest.OpLoad, runnertest.OpSave, runnertest.OpLoadRegion, runnertest.OpSaveRegion, runnertest.OpReserve, runnertest.OpPutAction), "no record of this hold"},
		"whether it was written is not known":      {after(fault.Unknown, runnertest.OpSave), "has no record"},
		"the write fails in a way nobody expected": {on(errors.New("boom"), runnertest.OpSave), "has no record"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := failing(t, false)
			b.look(t, test.hook)
			if len(g.Suspended) != 3 {
				t.Errorf("suspended %v, want all three", g.Suspended)
			}
			if !slices.ContainsFunc(b.Pages, func(n runner.Notice) bool { return strings.Contains(n.Text, test.says) && n.Urgent }) {
				t.Errorf("no urgent page says %q: %+v", test.says, b.Pages)
			}
			if sum := b.sums[len(b.sums)-1]; groupResult(t, sum, g.Name).Failure == "" {
				t.Errorf("summary %+v, want a failed look", sum)
			}
		})
	}
}

func TestAHoldWithoutARecordIsSomebodyElsesLater(t *testing.T) {
	b, g := failing(t, false)
	b.look(t, on(fault.Throttled, runnertest.OpSave))
	b.Heal(g, 0, 1, 2, 3, 4, 5)
	b.ticks(t, 30)
	if len(b.Calls(guard.ActResume)) != 0 || len(g.Suspended) != 3 {
		t.Errorf("resumed %+v although there is no record", b.Calls(guard.ActResume))
	}
	if len(b.pages(guard.PageForeignSuspension)) < 3 {
		t.Errorf("pages %+v, want one for each suspension that is not known", b.Pages)
	}
}

func TestAHoldWhoseWriteWasCalledUnknownIsOursIfItWasWritten(t *testing.T) {
	b, _ := failing(t, false)
	b.look(t, after(fault.Unknown, runnertest.OpSave))
	b.tick(t)
	heldWell(t, b, false)
}

func TestNothingIsMarkedWithoutAReservation(t *testing.T) {
	tests := map[string]runnertest.Hook{
		"the state cannot be loaded":               on(fault.Throttled, runnertest.OpLoad),
		"the Region's item cannot be loaded":       on(fault.Throttled, runnertest.OpLoadRegion),
		"the reservation fails":                    on(fault.Throttled, runnertest.OpReserve),
		"the reservation's outcome is not known":   on(fault.Unknown, runnertest.OpReserve),
		"it was written and nobody said so":        after(fault.Unknown, runnertest.OpReserve),
		"every reservation is overtaken":           on(fault.Conflict, runnertest.OpReserve),
		"it fails in a way that nobody expected":   on(errors.New("boom"), runnertest.OpReserve),
		"another runner is first, then all breaks": thenBreak(),
	}
	for name, hook := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := ripe(t, 8, 3)
			b.look(t, hook)
			if len(b.Marks()) != 0 {
				t.Fatal("marked without a reservation")
			}
			b.ticks(t, 25)
			settled(t, b, g)
			if len(b.Marks()) != 1 {
				t.Errorf("%d marks in the 25 minutes after, want 1", len(b.Marks()))
			}
			for _, p := range safe(b) {
				t.Error(p)
			}
		})
	}
}

// thenBreak makes the first reservation lose its race and every later call of the ledger fail.
func thenBreak() runnertest.Hook {
	lost := false
	return func(c runnertest.Call) runnertest.Effect {
		switch {
		case c.Op == runnertest.OpReserve && !lost:
			lost = true
			return runnertest.Effect{Before: fault.Conflict}
		case lost && slices.Contains([]string{runnertest.OpLoad, runnertest.OpSave, runnertest.OpReserve, runnertest.OpLoadRegion}, c.Op):
			return runnertest.Effect{Before: fault.Throttled}
		}
		return runnertest.Effect{}
	}
}

func TestNothingIsResumedOrRestoredWithoutARecord(t *testing.T) {
	for i, b := range releasing(t) {
		for name, hook := range map[string]runnertest.Hook{
			"unread": on(fault.Throttled, runnertest.OpLoad), "unwritten": on(fault.Throttled, runnertest.OpSave), "unknown": after(fault.Unknown, runnertest.OpSave),
		} {
			t.Run(fmt.Sprintf("sweep %d, %s", i, name), func(t *testing.T) {
				b := b.clone(t)
				have := len(b.Done)
				b.look(t, hook)
				if made := b.Done[have:]; len(made) != 0 {
					t.Errorf("made %+v", made)
				}
				b.ticks(t, 20)
				settled(t, b, b.Groups[0])
				for _, p := range safe(b) {
					t.Error(p)
				}
			})
		}
	}
}

func TestTheListOfActionsIsForPeopleAndStopsNothing(t *testing.T) {
	b, _ := ripe(t, 8, 3)
	sum := b.look(t, on(fault.Throttled, runnertest.OpPutAction))
	if len(b.Marks()) != 1 || sum.Failed != 1 {
		t.Errorf("marks %+v, summary %+v; want the mark and a failure that is told", b.Marks(), sum)
	}
	b, g := failing(t, false)
	b.look(t, on(fault.Throttled, runnertest.OpPutAction))
	if len(g.Suspended) != 3 {
		t.Errorf("suspended %v", g.Suspended)
	}
	b.tick(t)
	heldWell(t, b, false)
}

func TestTheRegionsItemIsMergedAgainWhenAnotherRunWasFirst(t *testing.T) {
	b := newBench()
	g, other := b.Add("web", 8), b.Add("other", 8)
	b.ticks(t, 7)
	b.Fail(g, 3)
	b.Fail(other, 5)
	b.Step()
	lookAt := func(name string, hook runnertest.Hook) runner.Summary {
		p, req := b.Process(name), b.request()
		p.Hook, req.Groups = hook, []string{name}
		sum, err := p.Run(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	overtaken := false
	sum := lookAt(g.Name, func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpSaveRegion && !overtaken {
			overtaken = true
			lookAt(other.Name, nil) // another run writes first
		}
		return runnertest.Effect{}
	})
	var have []string
	for _, o := range b.region(t).Onsets {
		have = append(have, o.Member)
	}
	if !overtaken || !slices.Equal(have, []string{"i-other-005", "i-web-003"}) && !slices.Equal(have, []string{"i-web-003", "i-other-005"}) {
		t.Errorf("onsets of %v, want those of both runs", have)
	}
	if sum.Failed != 0 {
		t.Errorf("summary %+v, want no failure", sum)
	}
}

func TestARegionThatCannotBeReadOrWrittenIsTold(t *testing.T) {
	for name, hook := range map[string]runnertest.Hook{
		"read": on(fault.Throttled, runnertest.OpLoadRegion), "written": on(fault.Throttled, runnertest.OpSaveRegion), "always overtaken": on(fault.Conflict, runnertest.OpSaveRegion),
	} {
		t.Run(name, func(t *testing.T) {
			b, g := quiet(t, 8)
			b.Fail(g, 3)
			b.Step()
			sum := b.look(t, hook)
			if r := groupResult(t, sum, "region"); r.Failure == "" || sum.Failed != 1 {
				t.Errorf("summary %+v, want the Region's item told as failed", sum)
			}
			if sum := b.tick(t); sum.Failed != 0 || len(b.region(t).Onsets) != 1 {
				t.Errorf("the next sweep: %+v, onsets %+v; want the onset in the Region's item", sum, b.region(t).Onsets)
			}
		})
	}
}

func TestANoticeThatCouldNotBeDeliveredComesAgainUntilItIs(t *testing.T) {
	b, g := failing(t, false)
	broken := on(errors.New("the bus is down"), runnertest.OpPage)
	sum := b.look(t, broken)
	if len(g.Suspended) != 3 || sum.Failed != 1 {
		t.Errorf("suspended %v, summary %+v; want the hold, and the failure told", g.Suspended, sum)
	}
	for range 3 {
		b.Step()
		b.look(t, broken)
	}
	b.tick(t)
	if n := len(b.pages(guard.PageHeld)); n != 1 {
		t.Errorf("%d held notices once the bus works, want 1", n)
	}
	b.ticks(t, 5)
	if n := len(b.pages(guard.PageHeld)); n != 1 {
		t.Errorf("%d held notices later, want no repeat", n)
	}
}

// untilLate makes one sweep in which the time for work ends at the n-th call, while the margin for the last writes is left.
func untilLate(t *testing.T, from *bench, n int) *bench {
	t.Helper()
	b := from.clone(t)
	// So far away that no clock reaches it; the time is over when the hook says so.
	ctx, cancel := context.WithDeadline(context.Background(), time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC))
	defer cancel()
	p := b.Process("late")
	p.Hook = func(c runnertest.Call) runnertest.Effect { return runnertest.Effect{Late: c.N == n} }
	o := runner.Options{Now: p.Now, SweepInterval: runnertest.Interval, Concurrency: 1, Margin: 5 * time.Second}
	if _, err := p.RunWith(ctx, b.request(), o); err != nil && n > 1 {
		t.Fatal(err)
	}
	return b
}

func TestADeadlineInTheMiddleStopsTheMarkAndLeavesTheLastWrite(t *testing.T) {
	from, _ := ripe(t, 8, 3)
	whole := from.clone(t)
	var calls []runnertest.Call
	whole.look(t, func(c runnertest.Call) runnertest.Effect { calls = append(calls, c); return runnertest.Effect{} })
	mark := slices.IndexFunc(calls, func(c runnertest.Call) bool { return c.Op == guard.ActMark })
	reserve := slices.IndexFunc(calls, func(c runnertest.Call) bool { return c.Op == runnertest.OpReserve })
	for i, c := range calls {
		t.Run(fmt.Sprintf("at call %d, %s", c.N, c.Op), func(t *testing.T) {
			b := untilLate(t, from, c.N)
			g := b.Groups[0]
			if marked := len(b.Marks()) == 1; marked != (i > mark) {
				t.Errorf("marked: %v", marked)
			}
			marks := b.state(t, g).Marks
			switch {
			case i > reserve && i < mark && len(marks) != 0:
				t.Errorf("the reservation was not given back in the last write: %+v", marks)
			case i == mark && (len(marks) != 1 || marks[0].Outcome != guard.OutcomeUnknown):
				t.Errorf("marks %+v, want one whose outcome is unknown", marks)
			case i > mark && (len(marks) != 1 || marks[0].Outcome != guard.OutcomeDone):
				t.Errorf("marks %+v, want one that is done", marks)
			}
			b.ticks(t, 25)
			settled(t, b, g)
			for _, p := range safe(b) {
				t.Error(p)
			}
		})
	}
}

func TestADeadlineInTheMiddleOfAHoldIsMadeGoodByTheNextSweep(t *testing.T) {
	from, _ := failing(t, false)
	for n := 1; n <= 14; n++ {
		b := untilLate(t, from, n)
		b.tick(t)
		heldWell(t, b, false)
		if len(b.pages(guard.PageHeld)) == 0 {
			t.Errorf("late at call %d: the hold was never paged", n)
		}
	}
}
