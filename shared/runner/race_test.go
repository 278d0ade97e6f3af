package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
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

func start(t testing.TB, from *bench, entries []entry) (runnertest.Scene, *race) {
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
		"one later, in any order":   {{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "b", 5 * time.Second}},
		"all three":                 {{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "b", 0}, {"c", runner.TriggerSweep, "c", 5 * time.Second}},
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) { everyOrder(t, from, entries, oneMark(t)) })
	}
}

func TestTwoRipeMembersAndABudgetOfOneGiveOneMarkInEveryOrder(t *testing.T) {
	from, _ := ripe(t, 12, 2, 7)
	everyOrder(t, from, []entry{{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerManual, "b", time.Second}}, oneMark(t))
}

// sixRipe is a group of forty in which six members became ripe one after the other while they were protected, so that no rule of
// many members is true.
func sixRipe(t testing.TB) *bench {
	t.Helper()
	b, g := quiet(t, 40)
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
		{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerSweep, "b", 0}, {"c", runner.TriggerAlarm, "c", time.Second},
		{"a2", runner.TriggerSweep, "a", 2 * time.Millisecond}, {"b2", runner.TriggerSweep, "b", 3 * time.Millisecond}, {"c2", runner.TriggerAlarm, "c", 2 * time.Second},
	}
	t.Run("every order of the three events", func(t *testing.T) { everyOrder(t, from, all[:3], oneMark(t)) })
	t.Run("all six deliveries in a thousand orders", func(t *testing.T) {
		orders := 1000
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

var _ = guard.ActMark
