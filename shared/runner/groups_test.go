package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// wide makes one sweep with eight groups at once.
func (b *bench) wide(t *testing.T, hook runnertest.Hook) runner.Summary {
	t.Helper()
	p := b.Process("wide")
	p.Hook = hook
	sum, err := p.RunWith(context.Background(), b.request(), runner.Options{Now: p.Now, SweepInterval: runnertest.Interval, Concurrency: 8})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestOneGroupsFailureOrPanicTouchesNoOther(t *testing.T) {
	const groups = 40
	ops := []string{
		runnertest.OpLoad, runnertest.OpDetails, runnertest.OpBeats, runnertest.OpSave, runnertest.OpReserve, runnertest.OpGroup,
		guard.ActSuspend, runnertest.OpPage, runnertest.OpPutAction,
	}
	from := newBench()
	for i := range groups {
		from.Add(fmt.Sprintf("g%02d", i), 8)
	}
	from.ticks(t, 7)
	for _, op := range ops {
		for _, panics := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, panic %v", op, panics), func(t *testing.T) {
				b := from.clone(t)
				for _, g := range b.Groups {
					b.Fail(g, 0, 1, 2)
				}
				b.Step()
				bad := b.Groups[17]
				sum := b.wide(t, func(c runnertest.Call) runnertest.Effect {
					if c.Op != op || c.Group != bad.Name && c.Group != bad.ARN {
						return runnertest.Effect{}
					}
					if panics {
						return runnertest.Effect{Panic: true}
					}
					return runnertest.Effect{Before: fault.Refused}
				})
				if sum.Looked != groups {
					t.Errorf("looked at %d groups", sum.Looked)
				}
				for _, r := range sum.Groups {
					if g := b.Find(r.Group); g != bad && (r.Failure != "" || r.Mode != guard.Held || len(g.Suspended) != 3) {
						t.Errorf("%+v, suspended %v", r, g.Suspended)
					}
				}
				if panics && op != runnertest.OpReserve && op != runnertest.OpGroup && !strings.Contains(groupResult(t, sum, bad.Name).Failure, "panic") {
					t.Errorf("the panic is not told: %+v", groupResult(t, sum, bad.Name))
				}
				b.tick(t)
				if len(bad.Suspended) != 3 {
					t.Error("the group itself is not held by the next sweep")
				}
			})
		}
	}
}

func TestAPanicBeforeTheDecisionDecidesNothing(t *testing.T) {
	b, g := quiet(t, 8)
	b.Step()
	before := b.state(t, g)
	first := true
	sum := b.look(t, func(c runnertest.Call) runnertest.Effect {
		panics := c.Op == runnertest.OpLoad && first
		first = first && !panics
		return runnertest.Effect{Panic: panics}
	})
	if sum.Failed != 1 || len(b.Done) != 0 {
		t.Errorf("summary %+v, calls %+v", sum, b.Done)
	}
	if s := b.state(t, g); s.Hold != nil || s.LastSweep != before.LastSweep {
		t.Errorf("something was decided without a policy: last sweep %d, hold %+v", s.LastSweep, s.Hold)
	}
}

func TestAPanicWhileTheRegionIsReadAgainLocksNobodyOut(t *testing.T) {
	b := newBench()
	a, c := b.Add("a", 8), b.Add("b", 8)
	b.ticks(t, 7)
	b.Step()
	conflicts := 0
	sum := b.wide(t, func(call runnertest.Call) runnertest.Effect {
		if call.Op == runnertest.OpSave && call.Group == a.ARN && conflicts == 0 {
			conflicts++
			return runnertest.Effect{Before: fault.Conflict}
		}
		return runnertest.Effect{Panic: call.Op == runnertest.OpLoadRegion && call.N > 1 && conflicts == 1 && again(&conflicts)}
	})
	if r := groupResult(t, sum, c.Name); r.Failure != "" || r.Mode != guard.Watching {
		t.Errorf("the other group: %+v", r)
	}
}

func again(n *int) bool { *n++; return true }

// gathered lets n groups come to the same call before any of them goes on, so that all decide at once.
func gathered(op string, n int) runnertest.Hook {
	var mu sync.Mutex
	waiting, open := 0, make(chan struct{})
	return func(c runnertest.Call) runnertest.Effect {
		if c.Op != op {
			return runnertest.Effect{}
		}
		mu.Lock()
		if waiting++; waiting == n {
			close(open)
		}
		mu.Unlock()
		<-open
		return runnertest.Effect{}
	}
}

// Nothing but the scheduler comes between a decision and its reservation, so the same moment is tried many times.
func TestGroupsOfOneRunNeverPassTheRegionsBudgetTogether(t *testing.T) {
	const groups = 8
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	from := newBench()
	from.Defaults = `{"region_marks_per_hour":1}`
	for i := range groups {
		g := from.Add(fmt.Sprintf("g%d", i), 40)
		g.Policy = `{"onset_count":100,"boot_grace_seconds":0}` // the Region's onset rule is moved out of the way
	}
	from.ticks(t, 2)
	for _, g := range from.Groups {
		from.Break(g, 3)
	}
	from.ticks(t, 3)
	from.Step()
	for range rounds {
		b := from.clone(t)
		sum := b.wide(t, gathered(runnertest.OpBeats, groups))
		if have, book := len(b.Marks()), len(b.region(t).Marks); have != 1 || book != 1 {
			t.Fatalf("%d marks in one run and %d in the Region's budget, the limit is 1", have, book)
		}
		if sum.Failed != 0 || sum.LostRaces != 0 {
			t.Fatalf("summary %+v, want no failure", sum)
		}
		waiting := 0
		for _, g := range b.Groups {
			if b.reason(t, g, g.Members[3].ID) == guard.ReasonRegionBudget {
				waiting++
			}
		}
		if waiting != groups-1 {
			t.Fatalf("%d members wait for the Region's budget, want %d", waiting, groups-1)
		}
	}
}

func TestAGroupThatVanishesIsPagedOnceAndSaysWhetherItWasHeld(t *testing.T) {
	for _, held := range []bool{false, true} {
		for _, how := range []string{"deleted", "without its tag"} {
			t.Run(fmt.Sprintf("%s, held %v", how, held), func(t *testing.T) {
				b, g := quiet(t, 8)
				b.Add("stays", 4)
				b.tick(t)
				if held {
					b.Fail(g, 0, 1, 2, 3)
					b.tick(t)
				}
				g.Gone, g.Unlisted = how == "deleted", how != "deleted"
				b.Pages = nil
				sum := b.tick(t)
				p := b.pages(guard.PageConfig)
				if len(p) != 1 || p[0].Group != g.Name || strings.Contains(p[0].Text, "resume its processes by hand") != held {
					t.Fatalf("pages %+v", b.Pages)
				}
				if r := groupResult(t, sum, g.Name); r.Failure == "" {
					t.Errorf("summary %+v does not list it", sum)
				}
				b.ticks(t, 3)
				if n := len(b.Pages); n != 1 {
					t.Errorf("%d pages, want the one", n)
				}
			})
		}
	}
}

func TestAVanishedGroupIsPagedAgainUntilThePageIsDelivered(t *testing.T) {
	b, g := quiet(t, 8)
	b.Add("stays", 4)
	b.tick(t)
	g.Gone = true
	b.Step()
	b.look(t, on(fault.Throttled, runnertest.OpPage))
	if len(b.Pages) != 0 {
		t.Fatal("delivered")
	}
	b.tick(t)
	if p := b.pages(guard.PageConfig); len(p) != 1 || p[0].Group != g.Name {
		t.Errorf("pages %+v, want it once", b.Pages)
	}
}

func TestAGroupWithoutEligibleMembersThatVanishesWhileHeldIsPagedToo(t *testing.T) {
	b, g := quiet(t, 4)
	b.Add("stays", 4)
	b.Fail(g, 0, 1, 2, 3)
	b.tick(t)
	for _, m := range g.Members {
		m.Lifecycle = "Standby"
	}
	b.tick(t)
	g.Gone = true
	b.tick(t)
	if p := b.pages(guard.PageConfig); len(p) != 1 || !strings.Contains(p[0].Text, "resume its processes by hand") {
		t.Errorf("pages %+v, want the open hold told", p)
	}
}

func TestAGroupThatVanishesDuringAPacedExitSaysWhatStaysSuspended(t *testing.T) {
	b := newBench()
	g := b.Add("web", 8)
	b.Add("stays", 4)
	g.Policy = `{"hold_exit":"paced","hold_max_seconds":600,"quiet_seconds":60}`
	b.ticks(t, 7)
	b.Break(g, 2, 5)
	for n := 0; b.state(t, g).Paced == nil; n++ {
		if n == 60 {
			t.Fatal("no paced exit")
		}
		b.tick(t)
	}
	g.Unlisted, b.Pages = true, nil
	b.tick(t)
	if p := b.pages(guard.PageConfig); len(p) != 1 || !strings.HasSuffix(p[0].Text, ": if the group exists, resume HealthCheck by hand") {
		t.Errorf("pages %+v", b.Pages)
	}
}

func TestAGroupAskedForByNameThatIsNotThereIsListed(t *testing.T) {
	b, _ := quiet(t, 4)
	p := b.Process("manual")
	req := b.request()
	req.Trigger, req.Groups = runner.TriggerManual, []string{"web", "nowhere"}
	sum, err := p.Run(context.Background(), req)
	if err != nil || sum.Looked != 1 || sum.Failed != 1 {
		t.Fatalf("%+v, %v; want one look and one failure", sum, err)
	}
	if r := groupResult(t, sum, "nowhere"); !strings.Contains(r.Failure, "no such guarded group") {
		t.Errorf("%+v", r)
	}
}

func TestGroupsThatAreNotOursAreNotTouched(t *testing.T) {
	tests := map[string]func(*runnertest.Group){
		"not opted in":       func(g *runnertest.Group) { g.OptedIn = false },
		"managed by Elastic": func(g *runnertest.Group) { g.Operator = "elasticbeanstalk.amazonaws.com" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := quiet(t, 8)
			change(g)
			version, _ := b.Ledger.Load(context.Background(), g.ARN)
			b.Fail(g, 0, 1, 2, 3)
			var ops []string
			b.Step()
			sum := b.look(t, func(c runnertest.Call) runnertest.Effect {
				if c.Group == g.Name || c.Group == g.ARN {
					ops = append(ops, c.Op)
				}
				return runnertest.Effect{}
			})
			if len(b.Done) != 0 || len(b.Pages) != 0 || sum.Failed != 0 {
				t.Errorf("calls %+v, pages %+v, summary %+v", b.Done, b.Pages, sum)
			}
			if slices.Contains(ops, runnertest.OpDetails) || slices.Contains(ops, runnertest.OpSave) {
				t.Errorf("read or written: %v", ops)
			}
			if rec, _ := b.Ledger.Load(context.Background(), g.ARN); rec.Version != version.Version {
				t.Error("its state was written")
			}
			if _, counted := b.region(t).Eligible[g.ARN]; counted {
				t.Error("it still counts in the Region's rules")
			}
		})
	}
}

func TestAnEmptyGroupIsWatchedAndNothingMore(t *testing.T) {
	b := newBench()
	g := b.Add("empty", 0)
	b.ticks(t, 5)
	if r := b.last(t, g); r.Failure != "" || r.Verdict.Mode != guard.Watching || len(b.Done) != 0 || len(b.Pages) != 0 {
		t.Errorf("report %+v, calls %+v, pages %+v", r, b.Done, b.Pages)
	}
}

func TestShardsPartitionAllGroupsExactlyOnce(t *testing.T) {
	b := newBench()
	for i := range 50 {
		b.Add(fmt.Sprintf("g%02d", i), 1)
	}
	for shards := 1; shards <= 7; shards++ {
		seen := map[string]int{}
		for shard := range shards {
			req := b.request()
			req.Shard, req.Shards = shard, shards
			sum, err := b.Process("s").Run(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range sum.Groups {
				seen[r.Group]++
			}
		}
		for _, g := range b.Groups {
			if seen[g.Name] != 1 {
				t.Errorf("%d shards: %s was looked at %d times", shards, g.Name, seen[g.Name])
			}
		}
	}
}

func TestAShardTellsOnlyItsOwnVanishedGroups(t *testing.T) {
	b, g := quiet(t, 4)
	b.Add("stays", 4)
	g.Gone = true
	own := runner.Shard(g.ARN, 3)
	for shard := range 3 {
		req := b.request()
		req.Shard, req.Shards = shard, 3
		if _, err := b.Process("s").Run(context.Background(), req); err != nil {
			t.Fatal(err)
		}
		if told := len(b.Pages) == 1; told != (shard >= own) {
			t.Errorf("after shard %d: %d pages, the group's shard is %d", shard, len(b.Pages), own)
		}
	}
}
