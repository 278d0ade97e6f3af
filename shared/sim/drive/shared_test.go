package drive_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// pair is one Region with two readers: one that keeps its answers, and one that asks every time.
type pair struct {
	t           *testing.T
	c           *sim.Cloud
	dice        *rand.Rand
	kept, asked drive.World
	older       []guard.Group // what was guarded a while ago
	what        string        // what happened last
}

func newPair(t *testing.T, seed uint64) *pair {
	c := sim.NewCloud(sim.Config{Seed: seed, Lean: true})
	for _, name := range []string{"one", "both"} {
		spec := sim.TargetGroupSpec{Name: name, Path: sim.PathDeep, Dependencies: []string{"db"}, Interval: 10 * time.Second, UnhealthyCount: 2, HealthyCount: 2}
		if _, err := c.CreateTargetGroup(spec); err != nil {
			t.Fatal(err)
		}
	}
	p := &pair{t: t, c: c, dice: rand.New(rand.NewPCG(seed, 1)), kept: drive.OpenShared(c), asked: drive.Open(c)}
	p.create("api", "one", "both")
	p.create("web", "both")
	return p
}

func (p *pair) create(name string, targets ...string) {
	spec := sim.GroupSpec{
		Name: name, Tags: map[string]string{"holdfast:guard": "true"}, Desired: 4, Max: 12, Uses: []string{"db"}, TargetGroups: targets, SteadyFor: time.Hour,
	}
	if err := p.c.CreateGroup(spec); err != nil {
		p.t.Fatal(err)
	}
}

// edit makes one of the edits that can be made to a group and one of its members. An edit that is refused changes nothing, which is fine here.
func (p *pair) edit(group, id string) {
	c, on := p.c, p.dice.IntN(2) == 0
	word := []string{"true", "false"}[p.dice.IntN(2)]
	edits := map[string]func(){
		"desired":   func() { _ = c.SetDesired(group, 3+p.dice.IntN(4)) },
		"group tag": func() { _ = c.SetGroupTags(group, map[string]string{"holdfast:guard": word}) },
		"checks": func() {
			_ = c.SetGroupChecks(group, []string{"EC2", "ELB"}[:1+p.dice.IntN(2)], time.Duration(p.dice.IntN(300))*time.Second)
		},
		"template":      func() { _ = c.SetLaunchTemplate(group, p.dice.IntN(4), on) },
		"status":        func() { _ = c.SetRefresh(group, []string{"InProgress", "Cancelled"}[p.dice.IntN(2)]) },
		"refresh":       func() { _ = c.StartRefresh(group, 50) },
		"protection":    func() { _ = c.SetProtection(id, on) },
		"instance tag":  func() { _ = c.SetInstanceTag(id, "holdfast:guard", word) },
		"mark":          func() { _ = c.SetInstanceHealth(id, sim.Unhealthy, on) },
		"restore":       func() { _ = c.SetInstanceHealth(id, sim.Healthy, on) },
		"suspend":       func() { _ = c.SuspendProcesses(group, []string{sim.Processes()[p.dice.IntN(9)]}) },
		"resume":        func() { _ = c.ResumeProcesses(group, nil) },
		"hang":          func() { _ = c.Break(id, sim.Hang) },
		"full disk":     func() { _ = c.Break(id, sim.FullDisk) },
		"stop":          func() { _ = c.Break(id, sim.Stopped) },
		"repair":        func() { _ = c.Repair(id) },
		"terminate":     func() { _ = c.TerminateMember(id) },
		"interrupt":     func() { _ = c.Interrupt(id) },
		"standby":       func() { _ = c.EnterStandby(id) },
		"exit standby":  func() { _ = c.ExitStandby(id) },
		"zonal shift":   func() { _ = c.SetZonalShift("both", "us-east-1a", on) },
		"fault":         func() { _ = c.SetLoadBalancerFault("one", on) },
		"zone":          func() { c.SetZoneDown("us-east-1b", on) },
		"slow":          func() { _ = c.SetDependency("db", sim.DependencySlow, 0.5) },
		"down":          func() { _ = c.SetDependency("db", sim.DependencyDown, 1) },
		"well":          func() { _ = c.SetDependency("db", sim.DependencyOK, 0) },
		"launches fail": func() { _ = c.SetLaunchFailure(group, []string{"", "no capacity"}[p.dice.IntN(2)]) },
		"skew":          func() { _ = c.SetClockSkew(id, time.Minute) },
		"beats":         func() { c.SetBeatsLost(on) },
		"agent":         func() { _ = c.SetAgentVersion(group, "2", on, true) },
		"delete": func() {
			if p.dice.IntN(8) == 0 {
				_ = c.DeleteGroup("web")
			} else if _, there := c.Group("web"); !there {
				p.create("web", "both")
			}
		},
	}
	names := slices.Sorted(maps.Keys(edits))
	p.what = names[p.dice.IntN(len(names))]
	edits[p.what]()
}

func (p *pair) same(what string, kept, asked any) {
	p.t.Helper()
	if !reflect.DeepEqual(kept, asked) {
		p.t.Fatalf("%s, after %s: %s kept\n%+v\nasked\n%+v", p.c.Now().Format(time.TimeOnly), p.what, what, kept, asked)
	}
}

// compare reads everything twice from the one that keeps and once from the other, also about groups as they were a while ago.
func (p *pair) compare() {
	ctx := p.t.Context()
	for range 2 {
		kept, err := p.kept.Guarded(ctx)
		asked, otherErr := p.asked.Guarded(ctx)
		p.same("guarded", []any{kept, err}, []any{asked, otherErr})
		for _, name := range []string{"api", "web", "nobody"} {
			kept, err := p.kept.Group(ctx, name)
			asked, otherErr := p.asked.Group(ctx, name)
			p.same("group", []any{kept, fmt.Sprint(err)}, []any{asked, fmt.Sprint(otherErr)})
		}
		for _, g := range append(append([]guard.Group{}, kept...), p.older...) {
			kept, reads := p.kept.Details(ctx, g)
			asked, otherReads := p.asked.Details(ctx, g)
			p.same("details", []any{kept, reads}, []any{asked, otherReads})
			keptBeats, err := p.kept.Beats(ctx, kept)
			askedBeats, otherErr := p.asked.Beats(ctx, kept)
			p.same("beats", []any{keptBeats, err}, []any{askedBeats, otherErr})
		}
		if p.dice.IntN(4) == 0 {
			p.older = kept
		}
	}
}

func TestKeptAnswersAreWhatAskingAgainWouldGive(t *testing.T) {
	for seed := range uint64(40) {
		p := newPair(t, seed)
		for range 150 {
			groups := p.c.Groups()
			g := groups[p.dice.IntN(len(groups))]
			id := ""
			if n := len(g.Members); n > 0 {
				id = g.Members[p.dice.IntN(n)].ID
			}
			p.edit(g.Name, id)
			p.compare() // in the same instant
			p.c.Advance(p.c.Now().Add(time.Duration(1+p.dice.IntN(40)) * time.Second))
			p.compare()
		}
		if t.Failed() {
			t.Logf("seed %d", seed)
			return
		}
	}
}

func TestActivitiesAreForgottenAfterADayAlsoWhenNothingHappens(t *testing.T) {
	p := newPair(t, 1)
	if err := p.c.SetDesired("api", 6); err != nil {
		t.Fatal(err)
	}
	p.c.Advance(p.c.Now().Add(time.Hour))
	first, listed := 0, 0
	for range 30 {
		p.compare()
		all, err := p.kept.Guarded(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		g, _ := p.kept.Details(t.Context(), all[0])
		listed = len(g.Activities)
		first = max(first, listed)
		p.c.Advance(p.c.Now().Add(time.Hour))
	}
	if first != 2 || listed != 0 {
		t.Errorf("%d activities are told at first and %d after more than a day, want 2 and none", first, listed)
	}
}
