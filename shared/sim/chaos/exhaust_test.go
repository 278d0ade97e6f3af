package chaos_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// small is a world with one group, swept once a step.
type small struct {
	*runnertest.World
	ledger  *memledger.Ledger
	runs    int
	resolve func([]guard.Layer, guard.Switch) guard.Resolution
}

func newSmall(n int, broken []int) *small {
	l := memledger.NewOfValues()
	s := &small{World: runnertest.New(l), ledger: l, resolve: remembered()}
	g := s.Add("web", n)
	for range 7 {
		s.Step()
		s.look(nil)
	}
	s.Break(g, broken...)
	return s
}

func (s *small) request() runner.Request {
	s.runs++
	return runner.Request{Run: fmt.Sprintf("run-%d", s.runs), Trigger: runner.TriggerSweep}
}

func (s *small) look(hook runnertest.Hook) int {
	p := s.Process(fmt.Sprintf("p%d", s.runs))
	p.Hook = hook
	s.run(p, s.request())
	return p.Calls()
}

// run is one run of a process; policies that were laid before are remembered.
func (s *small) run(p *runnertest.Process, req runner.Request) {
	o := runner.Options{Now: p.Now, SweepInterval: runnertest.Interval, Concurrency: 1, Resolve: s.resolve}
	_, _ = p.RunWith(context.Background(), req, o) // a crash is no error of the test
}

// remembered answers as guard.Resolve does, which says the same to the same layers.
func remembered() func([]guard.Layer, guard.Switch) guard.Resolution {
	var mu sync.Mutex
	known := map[string]guard.Resolution{}
	return func(layers []guard.Layer, sw guard.Switch) guard.Resolution {
		key := fmt.Sprintf("%v %v", layers, sw)
		mu.Lock()
		defer mu.Unlock()
		if _, ok := known[key]; !ok {
			known[key] = guard.Resolve(layers, sw)
		}
		return known[key]
	}
}

func (s *small) clone(t *testing.T) *small {
	t.Helper()
	ctx, l := context.Background(), memledger.NewOfValues()
	rec, err := s.ledger.Load(ctx, s.Groups[0].ARN)
	region, regionErr := s.ledger.LoadRegion(ctx)
	if err != nil || regionErr != nil {
		t.Fatal(err, regionErr)
	}
	if rec.Version > 0 {
		rec.Version = 0
		if _, err := l.Save(ctx, s.Groups[0].ARN, rec); err != nil {
			t.Fatal(err)
		}
	}
	if region.Version > 0 {
		region.Version = 0
		if _, err := l.SaveRegion(ctx, region); err != nil {
			t.Fatal(err)
		}
	}
	return &small{World: s.Clone(l), ledger: l, runs: s.runs, resolve: s.resolve}
}

// broke lists the rules that the calls of a world have broken: one mark in ten minutes, none while held or of two broken members,
// nothing foreign resumed, and no resume of ReplaceUnhealthy over more than one Unhealthy member.
func (s *small) broke(correlated bool) []string {
	var out []string
	var last time.Time
	for _, d := range s.Done {
		switch d.Op {
		case guard.ActMark:
			if !last.IsZero() && d.At.Sub(last) < 10*time.Minute {
				out = append(out, fmt.Sprintf("%s marked %s after the mark before", d.Member, d.At.Sub(last)))
			}
			if last = d.At; d.Held || correlated {
				out = append(out, d.Member+" marked while the group is or should be held")
			}
			if len(s.Groups[0].Members) == 1 {
				out = append(out, "the only member was marked")
			}
		case guard.ActResume:
			if d.Foreign || len(d.Processes) == 0 || slices.Contains(d.Processes, guard.ProcessReplaceUnhealthy) && d.Marked > 1 {
				out = append(out, fmt.Sprintf("resumed %v, foreign %v, over %d Unhealthy members", d.Processes, d.Foreign, d.Marked))
			}
		case guard.ActSuspend:
			if len(d.Processes) == 0 || slices.Contains(d.Processes, guard.ProcessLaunch) || slices.Contains(d.Processes, guard.ProcessTerminate) {
				out = append(out, fmt.Sprintf("suspended %v", d.Processes))
			}
		}
	}
	return out
}

// subsets are the sets of the numbers below n, one of each kind: members of one zone differ in nothing but their names, and zones in
// nothing but theirs, so that sets with the same numbers of broken members in zones of the same sizes are one.
func subsets(n int) [][]int {
	var out [][]int
	seen := map[string]bool{}
	for bits := range 1 << n {
		var set []int
		zones := make([][2]int, 3)
		for i := range n {
			zones[i%3][0]++
			if bits>>i&1 == 1 {
				zones[i%3][1]++
				set = append(set, i)
			}
		}
		slices.SortFunc(zones, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		if kind := fmt.Sprint(zones); !seen[kind] {
			seen[kind] = true
			out = append(out, set)
		}
	}
	return out
}

// TestChaosExhaustive tries every group of one to four members, of one to two with -short, with every set of broken members: two
// sweeps at once in every order of their calls, with a crash of the first at each of its calls, before and after the effect, in the
// sweep in which the group acts; then the world goes on for a while.
func TestChaosExhaustive(t *testing.T) {
	t.Parallel()
	most := 4
	if testing.Short() {
		most = 2
	}
	executions, orders := 0, 0
	for n := 1; n <= most; n++ {
		for _, broken := range subsets(n) {
			from := newSmall(n, broken)
			for range 6 {
				from.Step()
				acted := len(from.Done)
				probe := from.clone(t)
				calls := probe.look(nil)
				if len(probe.Done) > acted || len(broken) == 0 {
					e, o := everyCrash(t, from, calls, len(broken) > 1)
					executions, orders = executions+e, orders+o
					break
				}
				from.look(nil)
			}
			if t.Failed() {
				return
			}
		}
		t.Logf("groups of 1 to %d members: %d executions to their end, %d scenes", n, executions, orders)
	}
	if executions < 500 {
		t.Errorf("only %d executions", executions)
	}
}

// everyCrash explores the scene once for each crash, and once without any.
func everyCrash(t *testing.T, from *small, calls int, correlated bool) (executions, scenes int) {
	t.Helper()
	for at := range calls + 1 {
		for _, after := range []bool{false, true} {
			if at == 0 && after {
				continue
			}
			var now *small
			crash := func(c runnertest.Call) runnertest.Effect {
				return runnertest.Effect{CrashBefore: c.N == at && !after, CrashAfter: c.N == at && after}
			}
			done := runnertest.Explore(func() runnertest.Scene {
				now = from.clone(t)
				a, b := now.Process("a"), now.Process("b")
				a.Hook = crash
				b.Skew = time.Second
				reqs := []runner.Request{now.request(), now.request()}
				scene := runnertest.Scene{World: now.World, Processes: []*runnertest.Process{a, b}}
				world := now
				scene.Start = func(i int) { world.run(scene.Processes[i], reqs[i]) }
				return scene
			}, func(_ runnertest.Scene, trace []string) bool {
				broke := now.broke(correlated)
				if len(broke) == 0 {
					for range 3 {
						now.Step()
						now.look(nil)
					}
					broke = now.broke(correlated)
				}
				for _, b := range broke {
					t.Errorf("%d members, crash at call %d (after %v): %s\n%v", len(from.Groups[0].Members), at, after, b, trace)
				}
				return len(broke) == 0
			})
			executions += done.Schedules
			scenes++
			if t.Failed() {
				return executions, scenes
			}
		}
	}
	return executions, scenes
}
