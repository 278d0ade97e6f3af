package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// runIncident runs an incident without a guardian; prepare may change the fleet after it was set up.
func runIncident(t *testing.T, name string, seed uint64, prepare func(*sim.Cloud) error) (*sim.Cloud, sim.Stats) {
	t.Helper()
	in, ok := sim.Find(name)
	if !ok {
		t.Fatalf("no incident %s", name)
	}
	c := sim.NewCloud(sim.Config{Seed: seed})
	if err := in.Start(c); err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		if err := prepare(c); err != nil {
			t.Fatal(err)
		}
	}
	c.Advance(c.Now().Add(in.Duration))
	for _, e := range c.Timeline() {
		if strings.HasPrefix(e.Text, "script:") {
			t.Fatalf("seed %d: %s", seed, e.Text)
		}
	}
	stats, err := c.Stats(in.Group)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, seed %d: healthy lost %d, broken replaced %d, capacity minutes lost %.1f, error minutes %.2f, worst serving %d",
		name, seed, stats.HealthyTerminated, stats.BrokenTerminated, stats.CapacityMinutesLost, stats.ErrorMinutes, stats.WorstServing)
	return c, stats
}

func checks(group string, types ...string) func(*sim.Cloud) error {
	return func(c *sim.Cloud) error { return c.SetGroupChecks(group, types, 300*time.Second) }
}

// lastOutage is how long after the start requests failed for the last time.
func lastOutage(c *sim.Cloud) time.Duration {
	var last time.Duration
	for _, s := range c.Samples() {
		if s.FailShare > 0 {
			last = s.At.Sub(c.Config().Start)
		}
	}
	return last
}

const seeds = 50

func TestBrownoutWithoutAGuardian(t *testing.T) {
	for seed := range uint64(seeds) {
		c, stats := runIncident(t, "brownout", seed, nil)
		if stats.HealthyTerminated <= 4 || stats.BrokenTerminated != 0 {
			t.Errorf("seed %d: stats are %+v, want more than half of eight healthy members terminated", seed, stats)
		}
		// The dependency is slow from 5:00 to 6:30.
		if got := lastOutage(c); got < 10*time.Minute || got > 50*time.Minute {
			t.Errorf("seed %d: requests failed until %s, want far longer than the 90 s, and an end", seed, got)
		}
		g, _ := c.Group("web")
		for _, m := range g.Members {
			if m.Lifecycle != sim.InService || m.Health != sim.Healthy {
				t.Errorf("seed %d: at the end a member is %+v", seed, m)
			}
		}
	}
}

func TestBrownoutOpensTheLoadBalancerAndTurnsTheAlarm(t *testing.T) {
	for seed := range uint64(seeds) {
		c, _ := runIncident(t, "brownout", seed, nil)
		open, alarm, terminated := false, time.Duration(0), time.Duration(0)
		for _, s := range c.Samples() {
			open = open || s.FailOpen
		}
		for _, e := range c.Timeline() {
			at := e.At.Sub(c.Config().Start)
			if e.Kind == sim.EventAlarm && alarm == 0 {
				alarm = at
			}
			if e.Kind == sim.EventTerminate && terminated == 0 {
				terminated = at
			}
		}
		if !open || alarm == 0 || alarm > 5*time.Minute+30*time.Second || terminated <= alarm {
			t.Errorf("seed %d: opened %t, alarm at %s, first termination at %s", seed, open, alarm, terminated)
		}
	}
}

func TestBrownoutWithNothingThatReplaces(t *testing.T) {
	for seed := range uint64(seeds) {
		_, stats := runIncident(t, "brownout", seed, checks("web", "EC2"))
		// 90 s at three requests in ten are 0.45 minutes; the rest is the uneven way in and out of rotation.
		if stats.HealthyTerminated != 0 || stats.CapacityMinutesLost != 0 || stats.ErrorMinutes > 3 {
			t.Errorf("seed %d: stats are %+v", seed, stats)
		}
	}
}

func TestSingleBrokenWithoutAGuardian(t *testing.T) {
	for seed := range uint64(seeds) {
		_, stats := runIncident(t, "single-broken", seed, checks("api", "EC2", "ELB"))
		if stats.BrokenTerminated != 1 || stats.HealthyTerminated != 0 || stats.CapacityMinutesLost > 6 {
			t.Errorf("seed %d, ELB checks: stats are %+v, want one broken member replaced", seed, stats)
		}
		_, stats = runIncident(t, "single-broken", seed, nil)
		if stats.BrokenTerminated != 0 || stats.CapacityMinutesLost < 34.9 {
			t.Errorf("seed %d, EC2 checks: stats are %+v, want the broken member to stay", seed, stats)
		}
	}
}

func TestIncidentsCanBeFound(t *testing.T) {
	for _, in := range sim.Incidents() {
		found, ok := sim.Find(in.Name)
		if !ok || found.About == "" || found.Group == "" || found.Duration <= 0 || len(found.Script) == 0 {
			t.Errorf("incident %q is incomplete", in.Name)
		}
		for n, step := range in.Script {
			if step.At >= in.Duration || step.About == "" || n > 0 && step.At < in.Script[n-1].At {
				t.Errorf("incident %q: step %d is out of order or empty", in.Name, n)
			}
		}
	}
	if _, ok := sim.Find("none"); ok {
		t.Error("found an incident that does not exist")
	}
}
