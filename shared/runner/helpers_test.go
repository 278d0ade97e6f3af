package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

var (
	_ runner.Fleet    = (*runnertest.Process)(nil)
	_ runner.Beats    = (*runnertest.Process)(nil)
	_ runner.Alarms   = (*runnertest.Process)(nil)
	_ runner.Queues   = (*runnertest.Process)(nil)
	_ runner.Policies = (*runnertest.Process)(nil)
	_ runner.Ledger   = (*runnertest.Process)(nil)
	_ runner.Actor    = (*runnertest.Process)(nil)
	_ runner.Reporter = (*runnertest.Process)(nil)
)

// bench is a world with a ledger, swept once a step.
type bench struct {
	*runnertest.World
	sweeps int
	// sums are the summaries of the sweeps.
	sums []runner.Summary
}

func newBench() *bench { return &bench{World: runnertest.New(memledger.New())} }

// request is a scheduled sweep with a name of its own.
func (b *bench) request() runner.Request {
	b.sweeps++
	return runner.Request{Run: fmt.Sprintf("run-%d", b.sweeps), Trigger: runner.TriggerSweep}
}

// look makes one run now, each of its calls passing the hook, which may be nil.
func (b *bench) look(t *testing.T, hook runnertest.Hook) runner.Summary {
	t.Helper()
	p := b.Process(fmt.Sprintf("p%d", b.sweeps+1))
	p.Hook = hook
	sum, err := p.Run(context.Background(), b.request())
	if err != nil && !p.Crashed() {
		t.Fatal(err)
	}
	b.sums = append(b.sums, sum)
	return sum
}

// tick lets one interval pass and sweeps.
func (b *bench) tick(t *testing.T) runner.Summary {
	t.Helper()
	b.Step()
	return b.look(t, nil)
}

func (b *bench) ticks(t *testing.T, n int) {
	t.Helper()
	for range n {
		b.tick(t)
	}
}

// clone copies the bench with its ledger.
func (b *bench) clone(t *testing.T) *bench {
	t.Helper()
	l := memledger.New()
	ctx := context.Background()
	for _, g := range b.Groups {
		rec, err := b.Ledger.Load(ctx, g.ARN)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Request.ID != "" {
			if err := l.PutRequest(ctx, g.ARN, rec.Request); err != nil {
				t.Fatal(err)
			}
		}
		if rec.Version == 0 {
			continue
		}
		rec.Version = 0
		if _, err := l.Save(ctx, g.ARN, rec); err != nil {
			t.Fatal(err)
		}
	}
	region, err := b.Ledger.LoadRegion(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if region.Version != 0 {
		region.Version = 0
		if _, err := l.SaveRegion(ctx, region); err != nil {
			t.Fatal(err)
		}
	}
	return &bench{World: b.Clone(l), sweeps: b.sweeps, sums: slices.Clone(b.sums)}
}

// before lets time pass until the next tick would make a call of the given kind, and steps to the moment of that tick without
// sweeping.
func (b *bench) before(t *testing.T, kind string) {
	t.Helper()
	b.beforeCall(t, func(d runnertest.Done) bool { return d.Op == kind })
}

func (b *bench) beforeCall(t *testing.T, want func(runnertest.Done) bool) {
	t.Helper()
	for range 60 {
		try := b.clone(t)
		have := len(try.Done)
		try.tick(t)
		if slices.ContainsFunc(try.Done[have:], want) {
			b.Step()
			return
		}
		b.tick(t)
	}
	t.Fatal("an hour passed without the call that the test waits for")
}

func (b *bench) state(t *testing.T, g *runnertest.Group) guard.State {
	t.Helper()
	rec, err := b.Ledger.Load(context.Background(), g.ARN)
	if err != nil {
		t.Fatal(err)
	}
	return rec.State
}

func (b *bench) region(t *testing.T) guard.RegionState {
	t.Helper()
	rec, err := b.Ledger.LoadRegion(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rec.State
}

// last is the newest record of a group.
func (b *bench) last(t *testing.T, g *runnertest.Group) runner.Report {
	t.Helper()
	for i := len(b.Reports) - 1; i >= 0; i-- {
		if b.Reports[i].ARN == g.ARN {
			return b.Reports[i]
		}
	}
	t.Fatalf("no record of %s", g.Name)
	return runner.Report{}
}

// reason is why a member was deferred in the newest record, "" if it was not.
func (b *bench) reason(t *testing.T, g *runnertest.Group, id string) guard.Reason {
	t.Helper()
	for _, d := range b.last(t, g).Verdict.Deferred {
		if d.Member == id {
			return d.Reason
		}
	}
	return ""
}

// pages are the delivered notices of one key, oldest first.
func (b *bench) pages(key string) []runner.Notice {
	return slices.DeleteFunc(slices.Clone(b.Pages), func(n runner.Notice) bool { return n.Key != key })
}

// quiet is a world with one group of n members that was swept for a while.
func quiet(t *testing.T, n int) (*bench, *runnertest.Group) {
	t.Helper()
	b := newBench()
	g := b.Add("web", n)
	b.ticks(t, 7)
	return b, g
}

// ripe is a world in which the next sweep marks one of the given members: they are broken and confirmed.
func ripe(t *testing.T, n int, members ...int) (*bench, *runnertest.Group) {
	t.Helper()
	b, g := quiet(t, n)
	b.Break(g, members...)
	b.before(t, guard.ActMark)
	return b, g
}

func ids(g *runnertest.Group, members ...int) []string {
	var out []string
	for _, i := range members {
		out = append(out, g.Members[i].ID)
	}
	return out
}

// safe judges everything that took effect: never more marks of a group in ten minutes than one, no mark while ReplaceUnhealthy
// is suspended, nothing resumed that is not ours, and no resume of ReplaceUnhealthy over more Unhealthy members than the budget of
// one.
func safe(b *bench) []string {
	var out []string
	last := map[string]time.Time{}
	for _, d := range b.Done {
		switch d.Op {
		case guard.ActMark:
			if at, ok := last[d.Group]; ok && d.At.Sub(at) < 10*time.Minute {
				out = append(out, fmt.Sprintf("%s marked at %s, only %s after the mark before", d.Member, d.At.Format(time.TimeOnly), d.At.Sub(at)))
			}
			last[d.Group] = d.At
			if d.Held {
				out = append(out, d.Member+" marked while ReplaceUnhealthy is suspended")
			}
		case guard.ActResume:
			if d.Foreign {
				out = append(out, "resumed what is not ours: "+strings.Join(d.Processes, ", "))
			}
			if slices.Contains(d.Processes, guard.ProcessReplaceUnhealthy) && d.Marked > 1 {
				out = append(out, fmt.Sprintf("ReplaceUnhealthy resumed over %d Unhealthy members", d.Marked))
			}
		}
	}
	return out
}
