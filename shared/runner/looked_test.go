package runner_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

func (b *bench) looked(t *testing.T, g *runnertest.Group) runner.Looked {
	t.Helper()
	rec, err := b.Ledger.Load(context.Background(), g.ARN)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Looked.At != 0 && rec.Looked.At != rec.State.LastSweep {
		t.Errorf("what was seen is of %s, the state of %s", rec.Looked.At.Time(), rec.State.LastSweep.Time())
	}
	return rec.Looked
}

func TestTheRecordKeepsWhatTheLastLookSaw(t *testing.T) {
	tests := map[string]struct {
		broken  []int
		reasons []guard.Reason
		trigger string
	}{
		"nothing is wrong":                    {},
		"members of a hold, with its trigger": {broken: []int{1, 2, 3}, reasons: []guard.Reason{guard.ReasonHeld, guard.ReasonHeld, guard.ReasonHeld}, trigger: guard.CauseCorrelated},
		"a member that one witness calls bad": {broken: []int{3}, reasons: []guard.Reason{guard.ReasonSignalsDisagree}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := quiet(t, 8)
			b.Break(g, test.broken...)
			for range 10 {
				b.tick(t)
				if len(b.last(t, g).Verdict.Deferred) > 0 {
					break
				}
			}
			have, v := b.looked(t, g), b.last(t, g).Verdict
			var reasons []guard.Reason
			for _, d := range have.Deferred {
				reasons = append(reasons, d.Reason)
			}
			if !slices.Equal(reasons, test.reasons) || !reflect.DeepEqual(have.Deferred, v.Deferred) || !reflect.DeepEqual(have.Triggers, v.Triggers) || have.LeftOut != nil {
				t.Errorf("the record has %+v, the verdict %+v and %+v", have, v.Deferred, v.Triggers)
			}
			if (have.At == 0) != (test.broken == nil) {
				t.Errorf("seen at %s; want a time if something is wrong, and nothing if not", have.At.Time())
			}
			if (test.trigger != "") != (len(have.Triggers) > 0) || test.trigger != "" && have.Triggers[0].Cause != test.trigger {
				t.Errorf("triggers %+v, want %q first", have.Triggers, test.trigger)
			}
		})
	}
}

func TestADependencyThatIsNotKnownIsKeptForPeopleAlthoughNothingElseIsWrong(t *testing.T) {
	b, g := quiet(t, 8)
	g.Policy = `{"dependencies":[{"alarm":"typo","kind":"hard"}]}`
	b.tick(t)
	have := b.looked(t, g)
	if !slices.Equal(have.Unknown, []string{"typo"}) || have.At == 0 {
		t.Errorf("the record has %+v, want the alarm that does not exist", have)
	}
	g.Policy = ""
	b.tick(t)
	if have := b.looked(t, g); have.Unknown != nil || have.At != 0 {
		t.Errorf("the record has %+v, want nothing", have)
	}
}

func TestWhyAMarkWasWithdrawnIsKept(t *testing.T) {
	b, g := ripe(t, 8, 3)
	reads := 0
	b.look(t, func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpGroup {
			reads++
			return runnertest.Effect{Before: fault.Throttled}
		}
		return runnertest.Effect{}
	})
	d := b.looked(t, g).Deferred
	if reads == 0 || len(d) != 1 || d[0].Reason != guard.ReasonBlind || !strings.HasPrefix(d[0].Text, "the second look failed: ") {
		t.Errorf("after %d reads the record has %+v", reads, d)
	}
}

func TestWhatAFasterRunSawStays(t *testing.T) {
	b, g := ripe(t, 8, 3)
	faster := between(t, b, guard.ActMark, runnertest.Effect{})
	began := b.Now
	b.look(t, func(c runnertest.Call) runnertest.Effect {
		if c.Op == guard.ActMark && b.Now.Equal(began) {
			b.Now = began.Add(5 * time.Second)
		}
		return faster(c)
	})
	if at := b.looked(t, g).At.Time(); !at.After(began) {
		t.Errorf("what was seen is of %s, want that of the run after %s", at, began)
	}
	if len(b.Marks()) != 1 {
		t.Errorf("marked %d times", len(b.Marks()))
	}
}

func TestOfAHugeGroupTheRecordKeepsTwoHundredMembersAndCountsTheOthers(t *testing.T) {
	b := newBench()
	g := b.Add("web", 260)
	b.ticks(t, 7)
	var all []int
	for i := range g.Members {
		all = append(all, i)
	}
	b.Break(g, all...)
	b.ticks(t, 5)
	have := b.looked(t, g)
	if n := len(b.last(t, g).Verdict.Deferred); n != 260 || len(have.Deferred) != 200 || !reflect.DeepEqual(have.LeftOut, map[guard.Reason]int{guard.ReasonHeld: 60}) {
		t.Errorf("%d deferred; the record has %d of them and left out %v", n, len(have.Deferred), have.LeftOut)
	}
	if !slices.IsSortedFunc(have.Deferred, func(a, b guard.Deferral) int { return strings.Compare(a.Member, b.Member) }) {
		t.Error("they are not sorted by member")
	}
}

func TestALongTextOfADeferralIsCut(t *testing.T) {
	b, g := quiet(t, 8)
	b.Break(g, 3)
	b.before(t, guard.ActMark)
	long := fmt.Errorf("%w: %s", fault.Throttled, strings.Repeat("é", 1000))
	b.look(t, on(long, runnertest.OpGroup))
	d := b.looked(t, g).Deferred
	if len(d) != 1 || len(d[0].Text) > 300 || len(d[0].Text) < 290 || !strings.HasSuffix(d[0].Text, "é [cut]") {
		t.Errorf("the record has %+v", d)
	}
}

func TestTheRecordKeepsAllUnknownDependenciesOfWhichAPolicyTakesFifty(t *testing.T) {
	for n, want := range map[int]int{49: 49, 50: 50, 51: 0} {
		b, g := quiet(t, 4)
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"alarm":"typo-%02d","kind":"hard"}`, i))
		}
		g.Policy = `{"dependencies":[` + strings.Join(all, ",") + `]}`
		b.tick(t)
		if got := len(b.looked(t, g).Unknown); got != want {
			t.Errorf("of %d the record has %d, want %d", n, got, want)
		}
	}
}
