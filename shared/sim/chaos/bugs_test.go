package chaos_test

import (
	"context"
	"slices"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim/chaos"
)

// The rules are tried on planted bugs: each stands between the runner and the world, or the ledger, and must be found.

type badLedger struct {
	runner.Ledger
	// loaded changes what a load gives; feigned says that a reservation was made.
	loaded  func(*runner.Record)
	region  func(*runner.RegionRecord)
	feigned bool
}

func (l badLedger) Load(ctx context.Context, arn string) (runner.Record, error) {
	rec, err := l.Ledger.Load(ctx, arn)
	if l.loaded != nil {
		l.loaded(&rec)
	}
	return rec, err
}

func (l badLedger) LoadRegion(ctx context.Context) (runner.RegionRecord, error) {
	rec, err := l.Ledger.LoadRegion(ctx)
	if l.region != nil {
		l.region(&rec)
	}
	return rec, err
}

func (l badLedger) Save(ctx context.Context, arn string, rec runner.Record) (int64, error) {
	return l.Ledger.Save(ctx, arn, rec)
}

func (l badLedger) Reserve(ctx context.Context, r runner.Reservation) error {
	if l.feigned {
		return nil
	}
	return l.Ledger.Reserve(ctx, r)
}

type badFleet struct {
	runner.Fleet
	change func(*guard.Group, *guard.Reads)
	// once answers the second look from the first.
	once map[string]guard.Group
}

func (f badFleet) Guarded(ctx context.Context) ([]guard.Group, error) {
	all, err := f.Fleet.Guarded(ctx)
	for i := range all {
		all[i].Members = slices.Clone(all[i].Members)
		if f.change != nil {
			f.change(&all[i], &guard.Reads{})
		}
	}
	return all, err
}

func (f badFleet) Group(ctx context.Context, name string) (guard.Group, error) {
	g, err := f.Fleet.Group(ctx, name)
	g.Members = slices.Clone(g.Members)
	if f.change != nil {
		f.change(&g, &guard.Reads{})
	}
	return g, err
}

func (f badFleet) Details(ctx context.Context, g guard.Group) (guard.Group, guard.Reads) {
	if old, ok := f.once[g.Name]; ok {
		return old, guard.Reads{}
	}
	full, reads := f.Fleet.Details(ctx, g)
	full.Members = slices.Clone(full.Members)
	if f.change != nil {
		f.change(&full, &reads)
	}
	if f.once != nil {
		f.once[g.Name] = full
	}
	return full, reads
}

type badBeats struct{ from runner.Beats }

func (b badBeats) Beats(ctx context.Context, g guard.Group) (map[string]guard.Beat, error) {
	beats, _ := b.from.Beats(ctx, g)
	return beats, nil
}

type badPolicies struct{ from runner.Policies }

func (p badPolicies) Policies(ctx context.Context, groups []string) runner.PolicySet {
	set := p.from.Policies(ctx, groups)
	set.Switch = guard.Switch{Value: guard.ModeAct, Found: true}
	for name := range set.Groups {
		set.Groups[name] = nil
	}
	return set
}

type badActor struct {
	runner.Actor
	suspend, resume func([]string) []string
	restore         func() bool
}

func (a badActor) Suspend(ctx context.Context, group string, processes []string) error {
	if a.suspend != nil {
		processes = a.suspend(processes)
	}
	return a.Actor.Suspend(ctx, group, processes)
}

func (a badActor) Resume(ctx context.Context, group string, processes []string) error {
	if a.resume != nil {
		if processes = a.resume(processes); processes == nil {
			return nil
		}
	}
	return a.Actor.Resume(ctx, group, processes)
}

func (a badActor) Mark(ctx context.Context, member string) error {
	err := a.Actor.Mark(ctx, member)
	if a.restore != nil && a.restore() {
		err = a.Actor.Mark(ctx, member)
	}
	return err
}

func ledger(l badLedger) func(runner.Ports) runner.Ports {
	return func(p runner.Ports) runner.Ports {
		l.Ledger = p.Ledger
		p.Ledger = l
		return p
	}
}

func fleet(change func(*guard.Group, *guard.Reads)) func(runner.Ports) runner.Ports {
	return func(p runner.Ports) runner.Ports {
		p.Fleet = badFleet{Fleet: p.Fleet, change: change}
		return p
	}
}

func actor(a badActor) func(runner.Ports) runner.Ports {
	return func(p runner.Ports) runner.Ports {
		a.Actor = p.Actor
		p.Actor = a
		return p
	}
}

// planted is a bug, and the rules of which one must find it; "unhealed" is the heal phase.
type planted struct {
	name  string
	spoil func(runner.Ports) runner.Ports
	rules []string
	// from is where to begin, for bugs that need rare weather.
	from uint64
}

func ledgerBugs() []planted {
	return []planted{
		{"a ledger that feigns reservations", ledger(badLedger{feigned: true}), []string{"mark-without-record"}, 0},
		{"a ledger that forgets marks, and activities that nobody reads", func(p runner.Ports) runner.Ports {
			p = ledger(badLedger{loaded: func(r *runner.Record) { r.State.Marks = nil }})(p)
			return fleet(func(g *guard.Group, _ *guard.Reads) { g.Activities = nil })(p)
		}, []string{"budget", "in-flight"}, 0},
		{"a ledger that forgets the Region's marks", ledger(badLedger{region: func(r *runner.RegionRecord) { r.State.Marks = nil }}), []string{"region-budget"}, 0},
		{"a ledger that forgets holds", ledger(badLedger{loaded: func(r *runner.Record) { r.State.Hold = nil }}), []string{"mark-while-held", "mark-in-grace", "shared-cause", "unhealed", "page-repeated"}, 0},
		{"a ledger that forgets pages", ledger(badLedger{loaded: func(r *runner.Record) { r.State.Pages = nil }}), []string{"page-repeated"}, 0},
		{"a ledger that gives no confirmations back", ledger(badLedger{loaded: func(r *runner.Record) {
			for i := range r.State.Members {
				r.State.Members[i].BrokenLooks = 9
			}
		}}), []string{"mark-unconfirmed"}, 0},
	}
}

func readBugs() []planted {
	return []planted{
		{"failed reads that nobody notices", fleet(func(_ *guard.Group, r *guard.Reads) { *r = guard.Reads{} }), []string{"mark-while-blind", "release-while-blind"}, 0},
		{"failed heartbeats that nobody notices", func(p runner.Ports) runner.Ports { p.Beats = badBeats{p.Beats}; return p }, []string{"mark-while-blind", "release-while-blind"}, 0},
		{"fences that nobody reads", fleet(func(g *guard.Group, _ *guard.Reads) {
			for i := range g.Members {
				g.Members[i].OptedOut, g.Members[i].Protected = false, false
			}
		}), []string{"mark-of-fenced-member"}, 0},
		{"suspensions that nobody reads", fleet(func(g *guard.Group, _ *guard.Reads) { g.Suspended = nil }), []string{"mark-without-replacement", "unhealed", "page-repeated"}, 0},
		{"a refresh that nobody reads", fleet(func(g *guard.Group, _ *guard.Reads) { g.Refresh = "" }), []string{"mark-while-refreshing"}, 0},
		{"activities that nobody reads", fleet(func(g *guard.Group, _ *guard.Reads) { g.Activities = nil }), []string{"budget", "mark-without-replacement"}, 0},
		{"policies that nobody obeys", func(p runner.Ports) runner.Ports { p.Policies = badPolicies{p.Policies}; return p }, []string{"call-in-mode", "mark-against-action", "budget", "capacity", "min-healthy", "mark-with-dependency", "mark-unconfirmed"}, 0},
		{"a second look from memory", func(p runner.Ports) runner.Ports {
			p.Fleet = badFleet{Fleet: p.Fleet, once: map[string]guard.Group{}}
			return p
		}, []string{"mark-unseen"}, 0},
	}
}

func callBugs() []planted {
	return []planted{
		{"a suspension of everything", actor(badActor{suspend: func([]string) []string { return []string{} }}), []string{"empty-list"}, 0},
		{"a suspension of launches", actor(badActor{suspend: func(p []string) []string { return append(slices.Clone(p), "Launch") }}), []string{"foreign-process"}, 0},
		{"a resume of everything", actor(badActor{resume: func([]string) []string { return guardable() }}), []string{"foreign-resume", "resume-without-record"}, 0},
		{"a resume that is never made", actor(badActor{resume: func([]string) []string { return nil }}), []string{"unhealed", "restore-without-hold"}, 0},
		{"a mark that is made again", actor(badActor{restore: func() bool { return true }}), []string{"budget", "in-flight", "region-budget"}, 0},
	}
}

func guardable() []string {
	return []string{guard.ProcessAZRebalance, guard.ProcessHealthCheck, guard.ProcessLaunch, guard.ProcessReplaceUnhealthy, guard.ProcessTerminate}
}

func TestChaosFindsPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("the planted bugs are looked for without -short: each needs many seeds")
	}
	n := uint64(seeds(t, 60))
	for _, bug := range slices.Concat(ledgerBugs(), readBugs(), callBugs()) {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			for seed := bug.from; seed < bug.from+n; seed++ {
				r, err := chaos.Run(t.Context(), chaos.Options{Seed: seed, Spoil: bug.spoil})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Bad() {
					continue
				}
				rule := "unhealed"
				if len(r.Violations) > 0 {
					rule = r.Violations[0].Rule
				}
				if !slices.Contains(bug.rules, rule) {
					t.Errorf("seed %d: found by %s, want one of %v:%s", seed, rule, bug.rules, tell(r))
				}
				t.Logf("first seed %d, by %s", seed, rule)
				return
			}
			t.Errorf("not found by %d seeds from %d", n, bug.from)
		})
	}
}
