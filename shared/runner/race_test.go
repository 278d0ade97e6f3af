package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// entry is one run of a race.
type entry struct {
	name, trigger, run string
	skew               time.Duration
}

// race makes a scene of several runs over a copy of a world.
type race struct {
	bench *bench
	sums  []runner.Summary
	errs  []error
}

func start(t *testing.T, from *bench, entries []entry) (runnertest.Scene, *race) {
	t.Helper()
	r := &race{bench: from.clone(t), sums: make([]runner.Summary, len(entries)), errs: make([]error, len(entries))}
	r.bench.Pages = nil
	scene := runnertest.Scene{World: r.bench.World}
	for _, e := range entries {
		p := r.bench.Process(e.name)
		p.Skew = e.skew
		scene.Processes = append(scene.Processes, p)
	}
	scene.Start = func(i int) {
		req := runner.Request{Run: entries[i].run, Trigger: entries[i].trigger}
		r.sums[i], r.errs[i] = scene.Processes[i].Run(context.Background(), req)
	}
	return scene, r
}

// everyOrder tries every order of the runs' calls and judges each end.
func everyOrder(t *testing.T, from *bench, entries []entry, judge func(*race) []string) {
	t.Helper()
	var now *race
	done := runnertest.Explore(func() runnertest.Scene {
		scene, r := start(t, from, entries)
		now = r
		return scene
	}, func(_ runnertest.Scene, trace []string) bool {
		problems := append(safe(now.bench), judge(now)...)
		for _, p := range problems {
			t.Errorf("%s\nin the order:\n%s", p, strings.Join(trace, "\n"))
		}
		return len(problems) == 0
	})
	t.Logf("%d schedules to their end, %d states, %d schedules that met a state again", done.Schedules, done.States, done.Cut)
	if done.Schedules < 2 {
		t.Error("only one order was tried")
	}
}

// oneMark wants one mark, no page, no error, no failed look, and the mark's reservation in both budgets once.
func oneMark(t *testing.T) func(*race) []string {
	return func(r *race) []string {
		var out []string
		if n := len(r.bench.Marks()); n != 1 {
			out = append(out, fmt.Sprintf("%d marks, want 1", n))
		}
		if n := len(r.bench.Pages); n != 0 {
			out = append(out, fmt.Sprintf("%d pages, want none: %+v", n, r.bench.Pages))
		}
		for i, err := range r.errs {
			if err != nil || r.sums[i].Failed != 0 {
				out = append(out, fmt.Sprintf("run %d: %v, summary %+v", i, err, r.sums[i]))
			}
		}
		g := r.bench.Groups[0]
		if have := r.bench.state(t, g).Marks; len(have) != 1 {
			out = append(out, fmt.Sprintf("the group's budget has %+v, want one mark", have))
		}
		if have := r.bench.region(t).Marks; len(have) != 1 {
			out = append(out, fmt.Sprintf("the Region's budget has %+v, want one mark", have))
		}
		return out
	}
}

func TestAR46TwoRunsOfOneTickAndOneFiveSecondsLaterMarkOnce(t *testing.T) {
	from, _ := ripe(t, 8, 3)
	tests := map[string][]entry{
		"two runs of the same tick": {{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "b", 0}},
		"one event delivered twice": {{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "a", time.Millisecond}},
		"one of them later":         {{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "b", 5 * time.Second}},
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) {
			everyOrder(t, from, entries, func(r *race) []string {
				third := r.bench.Process("third")
				third.Skew = 5 * time.Second
				sum, err := third.Run(context.Background(), runner.Request{Run: "c", Trigger: runner.TriggerSweep})
				r.sums, r.errs = append(r.sums, sum), append(r.errs, err)
				return oneMark(t)(r)
			})
		})
	}
}

func TestTwoRipeMembersAndABudgetOfOneGiveOneMarkInEveryOrder(t *testing.T) {
	from, _ := ripe(t, 12, 2, 7)
	everyOrder(t, from, []entry{{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerManual, "b", time.Second}}, oneMark(t))
}

// sixRipe is a group of fourteen in which six members became ripe one after the other while they were protected. The rules of many
// members are moved out of the way: each needs seven.
func sixRipe(t *testing.T) *bench {
	t.Helper()
	b := newBench()
	g := b.Add("web", 14)
	g.Policy = `{"correlated_percent":50,"rolling_percent":50,"zone_percent":100,"correlated_min":7}`
	b.ticks(t, 7)
	for i := range 6 {
		g.Members[i].Protected = true
		b.Break(g, i)
		b.ticks(t, 3)
	}
	b.ticks(t, 6)
	for i := range 6 {
		g.Members[i].Protected = false
	}
	b.Step()
	return b
}

func TestAV01AnyInterleavingGivesOneMarkInTenMinutes(t *testing.T) {
	from := sixRipe(t)
	// Two sweeps and an alarm run, each event delivered twice.
	all := []entry{
		{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "b", 0}, {"c", runner.TriggerAlarm, "c", 5 * time.Second},
		{"a2", runner.TriggerSweep, "a", 2 * time.Millisecond}, {"b2", runner.TriggerSweep, "b", 3 * time.Millisecond}, {"c2", runner.TriggerAlarm, "c", 2 * time.Second},
	}
	t.Run("every order of the three events", func(t *testing.T) {
		if testing.Short() {
			t.Skip("some nine thousand runs of three processes")
		}
		everyOrder(t, from, all[:3], oneMark(t))
	})
	t.Run("all six deliveries in many orders", func(t *testing.T) {
		orders := 300
		if testing.Short() {
			orders = 50
		}
		for seed := range uint64(orders) {
			rng := rand.New(rand.NewPCG(seed, 46))
			scene, r := start(t, from, all)
			trace := runnertest.Once(scene, func(ready []int) int { return ready[rng.IntN(len(ready))] })
			problems := append(safe(r.bench), oneMark(t)(r)...)
			for _, p := range problems {
				t.Errorf("seed %d: %s\nin the order:\n%s", seed, p, strings.Join(trace, "\n"))
			}
			if len(problems) > 0 {
				return
			}
		}
	})
}

func TestTwoRunsThatFindAMassFailureHoldItAsOneInEveryOrder(t *testing.T) {
	for _, renew := range []bool{false, true} {
		t.Run(fmt.Sprintf("a second suspension renews the text: %v", renew), func(t *testing.T) {
			from, _ := failing(t, true)
			from.Renew = renew
			everyOrder(t, from, []entry{{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerAlarm, "b", 2 * time.Second}}, func(r *race) []string {
				var out []string
				for i, err := range r.errs {
					if err != nil || r.sums[i].Failed != 0 {
						out = append(out, fmt.Sprintf("run %d: %v, %+v", i, err, r.sums[i]))
					}
				}
				if len(r.bench.pages("held")) == 0 {
					out = append(out, "the hold was not paged")
				}
				// A sweep later nothing is in doubt: ours is ours, and nobody is said to have meddled.
				r.bench.tick(t)
				h := r.bench.state(t, r.bench.Groups[0]).Hold
				if h == nil || len(h.Ours) != 2 || len(h.Before) != 1 || h.Removed != 0 || h.Ours[0].Reason == "" || h.Ours[1].Reason == "" {
					out = append(out, fmt.Sprintf("hold %+v", h))
				}
				return out
			})
		})
	}
}

func TestTwoRunsAtAnyStageOfAReleaseResumeOnceInEveryOrder(t *testing.T) {
	for i, from := range releasing(t) {
		t.Run(fmt.Sprintf("sweep %d of the release", i), func(t *testing.T) {
			everyOrder(t, from, []entry{{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerManual, "b", time.Second}}, func(r *race) []string {
				var out []string
				for i, err := range r.errs {
					if err != nil || r.sums[i].Failed != 0 {
						out = append(out, fmt.Sprintf("run %d: %v, %+v", i, err, r.sums[i]))
					}
				}
				r.bench.ticks(t, 20)
				g := r.bench.Groups[0]
				if s := r.bench.state(t, g); s.Hold != nil || len(g.Suspended) != 0 || len(r.bench.pages("suspension-removed")) != 0 {
					out = append(out, fmt.Sprintf("hold %+v, suspended %v, pages %+v", s.Hold, g.Suspended, r.bench.Pages))
				}
				return out
			})
		})
	}
}

// A mass failure strikes at any moment while two runs look at a group with one ripe member.
func TestAMassFailureAtAnyMomentOfTwoRunsIsHeldAndSeenByEverySecondLookAfterIt(t *testing.T) {
	if testing.Short() {
		t.Skip("some five thousand runs of two processes")
	}
	from, _ := ripe(t, 8, 3)
	from.Changing = true
	entries := []entry{{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerAlarm, "b", time.Second}}
	var now *race
	marked, late := 0, 0
	done := runnertest.Explore(func() runnertest.Scene {
		scene, r := start(t, from, entries)
		now = r
		runs := scene.Start
		scene.Processes = append(scene.Processes, r.bench.Process("failure"))
		scene.Start = func(i int) {
			if i < len(entries) {
				runs(i)
				return
			}
			scene.Processes[i].Happen(func() { r.bench.Fail(r.bench.Groups[0], 0, 1, 2) })
		}
		return scene
	}, func(_ runnertest.Scene, trace []string) bool {
		var problems []string
		struck := slices.Index(trace, "failure happen")
		for _, m := range now.bench.Marks() {
			marked++
			if m.Held {
				late++
			}
			// The reads of the second look are the last before the mark.
			look := lastBefore(trace, m.Process+" details", slices.Index(trace, m.Process+" "+m.Op))
			if struck < look {
				problems = append(problems, m.Member+" was marked although the second look could see the failure")
			}
		}
		if len(now.bench.Marks()) > 1 {
			problems = append(problems, "two marks")
		}
		now.bench.tick(t)
		h := now.bench.state(t, now.bench.Groups[0]).Hold
		if h == nil || len(h.Ours) != 3 || h.Removed != 0 || len(now.bench.Groups[0].Suspended) != 3 {
			problems = append(problems, fmt.Sprintf("a sweep later the hold is %+v", h))
		}
		for _, p := range problems {
			t.Errorf("%s\nin the order:\n%s", p, strings.Join(trace, "\n"))
		}
		return len(problems) == 0
	})
	t.Logf("%+v; %d orders with a mark, %d of them after the other run had suspended", done, marked, late)
	if marked == 0 {
		t.Error("no order led to a mark")
	}
}

func lastBefore(trace []string, call string, end int) int {
	for i := end - 1; i >= 0; i-- {
		if trace[i] == call {
			return i
		}
	}
	return -1
}

// One of two runs dies at any of its calls, in every order of both; the budget holds, and the member is replaced in the end.
func TestACrashOfOneOfTwoRunsInEveryOrderStaysInTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("every crash in every order")
	}
	from, _ := ripe(t, 8, 3)
	whole := from.clone(t)
	var calls []runnertest.Call
	whole.look(t, func(c runnertest.Call) runnertest.Effect { calls = append(calls, c); return runnertest.Effect{} })
	for _, c := range calls {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, %s, after its effect %v", c.N, c.Op, after), func(t *testing.T) {
				var now *race
				done := runnertest.Explore(func() runnertest.Scene {
					scene, r := start(t, from, []entry{{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "b", time.Second}})
					scene.Processes[0].Hook = crashAt(c.N, after)
					now = r
					return scene
				}, func(_ runnertest.Scene, trace []string) bool {
					marked := len(now.bench.Marks())
					now.bench.ticks(t, 16)
					problems := safe(now.bench)
					if marked > 1 || len(now.bench.Marks()) != 1 {
						problems = append(problems, fmt.Sprintf("%d marks, and %d in the end; want one", marked, len(now.bench.Marks())))
					}
					for _, p := range problems {
						t.Errorf("%s\nin the order:\n%s", p, strings.Join(trace, "\n"))
					}
					return len(problems) == 0
				})
				if done.Schedules == 0 {
					t.Error("no order was tried")
				}
			})
		}
	}
}
