package sim_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// busy starts a cloud with a script that uses every kind of trouble; all of it is planned, so only Advance is needed.
func busy(seed uint64) (*sim.Cloud, error) {
	c := sim.NewCloud(sim.Config{Seed: seed})
	in, ok := sim.Find("brownout")
	if !ok {
		return nil, fmt.Errorf("brownout is missing")
	}
	if err := in.Start(c); err != nil {
		return nil, err
	}
	nth := func(n int) string {
		g, _ := c.Group("web")
		if n >= len(g.Members) {
			return ""
		}
		return g.Members[n].ID
	}
	// Calls that do not fit the moment are refused, which is part of the behaviour under test.
	for n, do := range []func(){
		func() { _ = c.Break(nth(0), sim.Stopped) },
		func() { _ = c.SuspendProcesses("web", []string{"ReplaceUnhealthy"}) },
		func() { _ = c.Break(nth(3), sim.Freeze) },
		func() { _ = c.SetInstanceHealth(nth(5), sim.Unhealthy, true) },
		func() { _ = c.ResumeProcesses("web", []string{"ReplaceUnhealthy"}) },
		func() { c.SetZoneDown("us-east-1a", true) },
		func() { _ = c.Repair(nth(3)) },
		func() { c.SetZoneDown("us-east-1a", false) },
		func() { _ = c.SetLaunchFailure("web", "no capacity") },
		func() { _ = c.SetLaunchFailure("web", "") },
	} {
		c.At(c.Now().Add(time.Duration(n+1)*3*time.Minute+time.Duration(n)*777*time.Millisecond), func(*sim.Cloud) { do() })
	}
	return c, nil
}

func TestStepSizeChangesNothing(t *testing.T) {
	const length = 45 * time.Minute
	for seed := range uint64(20) {
		one, err := busy(seed)
		if err != nil {
			t.Fatal(err)
		}
		many, err := busy(seed)
		if err != nil {
			t.Fatal(err)
		}
		var beatsOne, beatsMany []sim.Beat
		one.OnBeat = func(b sim.Beat) { beatsOne = append(beatsOne, b) }
		many.OnBeat = func(b sim.Beat) { beatsMany = append(beatsMany, b) }

		end := one.Now().Add(length)
		one.Advance(end)
		steps := rand.New(rand.NewPCG(seed, 1))
		for many.Now().Before(end) {
			to := many.Now().Add(time.Duration(steps.Int64N(int64(90 * time.Second))))
			if to.After(end) {
				to = end
			}
			many.Advance(to)
		}
		if a, b := story(one.Timeline(), one.Config().Start), story(many.Timeline(), many.Config().Start); a != b {
			t.Fatalf("seed %d: one step\n%s\nmany steps\n%s", seed, a, b)
		}
		statsOne, _ := one.Stats("web")
		statsMany, _ := many.Stats("web")
		if statsOne != statsMany {
			t.Errorf("seed %d: stats are %+v and %+v", seed, statsOne, statsMany)
		}
		if !reflect.DeepEqual(one.Samples(), many.Samples()) || !reflect.DeepEqual(beatsOne, beatsMany) {
			t.Errorf("seed %d: samples or beats differ", seed)
		}
		if !reflect.DeepEqual(one.Groups(), many.Groups()) || !reflect.DeepEqual(one.Activities("web"), many.Activities("web")) {
			t.Errorf("seed %d: groups or activities differ", seed)
		}
		if len(beatsOne) == 0 || statsOne.Launches == 0 {
			t.Errorf("seed %d: nothing happened", seed)
		}
	}
}

func TestAnotherSeedGivesAnotherStory(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(5) {
		c, err := busy(seed)
		if err != nil {
			t.Fatal(err)
		}
		c.Advance(c.Now().Add(20 * time.Minute))
		seen[story(c.Timeline(), c.Config().Start)] = true
	}
	if len(seen) != 5 {
		t.Fatalf("%d different stories of five seeds", len(seen))
	}
}

// What one does to one instance leaves the luck of the others alone: probes and beats of the rest keep their times.
func TestActingOnOneInstanceDoesNotChangeTheBeatsOfTheOthers(t *testing.T) {
	beats := func(mark bool) map[string][]time.Time {
		f := newFleet(t)
		out := map[string][]time.Time{}
		f.OnBeat = func(b sim.Beat) { out[b.InstanceID] = append(out[b.InstanceID], b.At) }
		ids := []string{f.id(1), f.id(2), f.id(3)}
		if mark {
			f.mark(f.id(0))
		}
		f.pass(20 * time.Minute)
		rest := map[string][]time.Time{}
		for _, id := range ids {
			rest[id] = out[id]
		}
		return rest
	}
	if quiet, marked := beats(false), beats(true); !reflect.DeepEqual(quiet, marked) {
		t.Fatalf("%v\n%v", quiet, marked)
	}
}

// walk is a random walk over the calls of a group; its check runs after every call.
type walk struct {
	c        *sim.Cloud
	blockers map[string]bool
	// healthTerminations at the moment at which terminations were last blocked
	blockedAt int
	blocked   bool
}

func (w *walk) member(t *rapid.T) (string, bool) {
	g, ok := w.c.Group("web")
	if !ok || len(g.Members) == 0 {
		return "", false
	}
	return rapid.SampledFrom(g.Members).Draw(t, "member").ID, true
}

func (w *walk) healthTerminations(t *rapid.T) int {
	s, err := w.c.Stats("web")
	if err != nil {
		t.Fatal(err)
	}
	return s.HealthyTerminated + s.BrokenTerminated
}

func (w *walk) setBlocked(t *rapid.T) {
	blocked := w.blockers["ReplaceUnhealthy"] || w.blockers["Terminate"]
	if blocked && !w.blocked {
		w.blockedAt = w.healthTerminations(t)
	}
	w.blocked = blocked
}

func (w *walk) toggle(t *rapid.T) {
	name := rapid.SampledFrom(sim.Processes()).Draw(t, "process")
	call := w.c.SuspendProcesses
	if w.blockers[name] {
		call = w.c.ResumeProcesses
	}
	if err := call("web", []string{name}); err != nil {
		t.Fatal(err)
	}
	w.blockers[name] = !w.blockers[name]
	w.setBlocked(t)
}

func (w *walk) trouble(t *rapid.T) {
	id, ok := w.member(t)
	if !ok {
		return
	}
	kind := rapid.SampledFrom([]sim.Kind{
		sim.FullDisk, sim.BadPool, sim.Hang, sim.Freeze, sim.Crash, sim.Stopped, sim.Impaired, sim.BrokenAgent,
	}).Draw(t, "kind")
	if rapid.Bool().Draw(t, "repair") {
		if err := w.c.Repair(id); err != nil {
			t.Fatal(err)
		}
		return
	}
	_ = w.c.Break(id, kind) // a stopped machine refuses
}

func (w *walk) mark(t *rapid.T) {
	id, ok := w.member(t)
	if !ok {
		return
	}
	health := rapid.SampledFrom([]sim.Health{sim.Healthy, sim.Unhealthy}).Draw(t, "health")
	_ = w.c.SetInstanceHealth(id, health, rapid.Bool().Draw(t, "grace")) // refusals are fine
}

func (w *walk) check(t *rapid.T) {
	g, _ := w.c.Group("web")
	weight := 0
	for _, m := range g.Members {
		if m.Lifecycle == sim.InService || m.Lifecycle == sim.Pending {
			weight += m.Weight
		}
		if m.Lifecycle == sim.InService && m.EnteredInService.IsZero() {
			t.Fatalf("member %s is InService since never", m.ID)
		}
	}
	if weight > g.Max {
		t.Fatalf("%d members of at most %d", weight, g.Max)
	}
	if got := w.healthTerminations(t); w.blocked && got != w.blockedAt {
		t.Fatalf("%d members were terminated for their health while that was suspended", got-w.blockedAt)
	}
	running := map[string]bool{}
	for _, m := range g.Members {
		running[m.ID] = true
	}
	targets, err := w.c.TargetHealth("web")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if !running[target.ID] {
			t.Fatalf("target %s is no member", target.ID)
		}
		if (target.State == sim.TargetHealthy) != (target.Reason == "") {
			t.Fatalf("target is %+v", target)
		}
	}
	sample, err := w.c.SampleNow("web")
	if err != nil {
		t.Fatal(err)
	}
	if sample.FailShare < 0 || sample.FailShare > 1 {
		t.Fatalf("share of failing requests is %v", sample.FailShare)
	}
}

func TestWhateverIsDoneTheRulesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &walk{c: sim.NewCloud(sim.Config{Seed: rapid.Uint64().Draw(t, "seed")}), blockers: map[string]bool{}}
		if _, err := w.c.CreateTargetGroup(sim.TargetGroupSpec{
			Name: "web", Path: sim.PathDeep, Dependencies: []string{"db"}, Interval: 10 * time.Second,
		}); err != nil {
			t.Fatal(err)
		}
		if err := w.c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: rapid.IntRange(0, 12).Draw(t, "desired"), Max: 12, HealthCheckTypes: []string{"EC2", "ELB"},
			Grace: 2 * time.Minute, TargetGroups: []string{"web"}, SteadyFor: time.Hour, Uses: []string{"db"}, Demand: 4,
		}); err != nil {
			t.Fatal(err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				w.c.Advance(w.c.Now().Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "seconds")) * time.Second))
			},
			"a process is suspended or resumed": w.toggle,
			"an instance breaks or is repaired": w.trouble,
			"a member is marked or restored":    w.mark,
			"the desired capacity changes":      func(t *rapid.T) { _ = w.c.SetDesired("web", rapid.IntRange(0, 12).Draw(t, "desired")) },
			"the database changes its state":    w.database,
			"":                                  w.check,
		})
		w.heals(t)
	})
}

func (w *walk) database(t *rapid.T) {
	state := rapid.SampledFrom([]sim.DependencyState{sim.DependencyOK, sim.DependencySlow, sim.DependencyDown}).Draw(t, "state")
	if err := w.c.SetDependency("db", state, 0.5); err != nil {
		t.Fatal(err)
	}
}

// heals: when everything is repaired and resumed, the group comes back to what it desires, and stays there.
func (w *walk) heals(t *rapid.T) {
	if err := w.c.SetDependency("db", sim.DependencyOK, 0); err != nil {
		t.Fatal(err)
	}
	g, _ := w.c.Group("web")
	for _, m := range g.Members {
		if err := w.c.Repair(m.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.c.ResumeProcesses("web", nil); err != nil {
		t.Fatal(err)
	}
	w.c.Advance(w.c.Now().Add(3 * time.Hour))
	s, err := w.c.SampleNow("web")
	if err != nil {
		t.Fatal(err)
	}
	if s.Serving != s.Desired || len(s.Members) != s.Desired {
		t.Fatalf("three hours later the group is %+v", s)
	}
	for _, m := range s.Members {
		// Members that were launched while AddToLoadBalancer was suspended are not registered later.
		if m.Target != sim.TargetHealthy && m.Target != "" || m.Health != sim.Healthy {
			t.Fatalf("three hours later a member is %+v", m)
		}
	}
}

// Heartbeats that nobody is told of are written down when they are read: what is read then is what would have been told.
func TestHeartbeatsThatAreReadAreThoseThatAreTold(t *testing.T) {
	for seed := range uint64(20) {
		told, err := busy(seed)
		if err != nil {
			t.Fatal(err)
		}
		read, err := busy(seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*sim.Cloud{told, read} {
			start := c.Now()
			c.At(start.Add(8*time.Minute+3*time.Second), func(c *sim.Cloud) { c.SetBeatsLost(true) })
			c.At(start.Add(11*time.Minute), func(c *sim.Cloud) { c.SetBeatsLost(false) })
			c.At(start.Add(13*time.Minute), func(c *sim.Cloud) { _ = c.SetAgentVersion("web", "2", false, true) })
			c.At(start.Add(14*time.Minute), func(c *sim.Cloud) { _ = c.SetLaunchTemplate("web", 1, true) })
			c.At(start.Add(16*time.Minute), func(c *sim.Cloud) { _ = c.SetLaunchTemplate("web", 1, false) })
		}
		newest := map[string]sim.Beat{}
		told.OnBeat = func(b sim.Beat) { newest[b.InstanceID] = b }
		for minute := range 45 {
			to := told.Now().Add(time.Minute + 137*time.Millisecond)
			told.Advance(to)
			read.Advance(to)
			got := read.Heartbeats()
			if len(got) != len(newest) {
				t.Fatalf("seed %d, minute %d: %d instances read, %d told", seed, minute, len(got), len(newest))
			}
			for _, b := range got {
				if want := newest[b.InstanceID]; fmt.Sprint(b) != fmt.Sprint(want) {
					t.Fatalf("seed %d, minute %d: read %+v, told %+v", seed, minute, b, want)
				}
			}
		}
	}
}
