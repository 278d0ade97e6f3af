package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func TestTargetStates(t *testing.T) {
	cases := []struct {
		name   string
		path   sim.PathKind
		kind   sim.Kind
		want   string
		status string // of the heartbeat, or silent
	}{
		{"a full disk fails a local check", sim.PathLocal, sim.FullDisk, "unhealthy[Target.ResponseCodeMismatch]", "failing"},
		{"a full disk passes a static check", sim.PathStatic, sim.FullDisk, "healthy", "failing"},
		{"a full disk fails the agent's own check", sim.PathOwn, sim.FullDisk, "unhealthy[Target.ResponseCodeMismatch]", "failing"},
		{"a full disk fails a deep check", sim.PathDeep, sim.FullDisk, "unhealthy[Target.ResponseCodeMismatch]", "failing"},
		{"a lost pool fails a local check", sim.PathLocal, sim.BadPool, "unhealthy[Target.ResponseCodeMismatch]", "failing"},
		{"a lost pool passes a static check", sim.PathStatic, sim.BadPool, "healthy", "failing"},
		{"a hang times out a local check", sim.PathLocal, sim.Hang, "unhealthy[Target.Timeout]", "failing"},
		{"a hang is told by the agent's own check", sim.PathOwn, sim.Hang, "unhealthy[Target.ResponseCodeMismatch]", "failing"},
		{"a hang passes a static check", sim.PathStatic, sim.Hang, "healthy", "failing"},
		{"a freeze times out even a static check", sim.PathStatic, sim.Freeze, "unhealthy[Target.Timeout]", "silent"},
		{"a crash refuses connections", sim.PathStatic, sim.Crash, "unhealthy[Target.FailedHealthChecks]", "silent"},
		{"a stopped machine is no target", sim.PathLocal, sim.Stopped, "unused[Target.InvalidState]", "silent"},
		{"an impaired machine times out", sim.PathLocal, sim.Impaired, "unhealthy[Target.Timeout]", "silent"},
		{"a broken agent passes a local check", sim.PathLocal, sim.BrokenAgent, "healthy", "silent"},
		{"a broken agent fails its own check", sim.PathOwn, sim.BrokenAgent, "unhealthy[Target.FailedHealthChecks]", "silent"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			f := newFleet(t, func(o *options) { o.target.Path = tc.path })
			must := f.must
			must(f.SuspendProcesses("web", nil))
			id := f.id(0)
			f.pass(time.Minute)
			must(f.Break(id, tc.kind))
			f.pass(25 * time.Second)
			if got := f.target(id); got != tc.want {
				t.Errorf("target is %s, want %s", got, tc.want)
			}
			if got := f.heartStatus(id, 20*time.Second); got != tc.status {
				t.Errorf("heartbeat is %s, want %s", got, tc.status)
			}
			must(f.Repair(id))
			f.pass(80 * time.Second)
			if got := f.target(id); got != "healthy" {
				t.Errorf("after the repair the target is %s", got)
			}
			if got := f.heartStatus(id, 20*time.Second); got != "ok" {
				t.Errorf("after the repair the heartbeat is %s", got)
			}
		})
	}
}

func TestDependenciesFailOnlyDeepChecks(t *testing.T) {
	cases := []struct {
		name  string
		path  sim.PathKind
		state sim.DependencyState
		want  string
	}{
		{"slow times out a deep check", sim.PathDeep, sim.DependencySlow, "unhealthy[Target.Timeout]"},
		{"down fails a deep check", sim.PathDeep, sim.DependencyDown, "unhealthy[Target.ResponseCodeMismatch]"},
		{"slow passes a local check", sim.PathLocal, sim.DependencySlow, "healthy"},
		{"down passes a static check", sim.PathStatic, sim.DependencyDown, "healthy"},
		{"down passes the agent's own check", sim.PathOwn, sim.DependencyDown, "healthy"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			f := newFleet(t, func(o *options) { o.target.Path, o.target.Dependencies = tc.path, []string{"db"} })
			f.must(f.SetDependency("db", tc.state, 1))
			f.pass(25 * time.Second)
			for _, m := range f.members() {
				if got := f.target(m.ID); got != tc.want {
					t.Errorf("target is %s, want %s", got, tc.want)
				}
			}
			open, err := f.FailOpen("web")
			f.must(err)
			if want := tc.want != "healthy"; open != want {
				t.Errorf("fail-open is %t, want %t", open, want)
			}
		})
	}
}

func TestThresholds(t *testing.T) {
	slow := func(o *options) {
		o.target.Interval, o.target.UnhealthyCount, o.target.HealthyCount = 30*time.Second, 3, 4
		o.group.Desired = 1
	}
	t.Run("a target leaves after the unhealthy count, and not before", func(t *testing.T) {
		f := newFleet(t, slow)
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(60*time.Second - time.Millisecond)
		if got := f.target(f.id(0)); got != "healthy" {
			t.Fatalf("after at most two failures it is %s", got)
		}
		f.pass(30 * time.Second)
		if got := f.target(f.id(0)); got == "healthy" {
			t.Fatal("after three failures it is still healthy")
		}
	})
	t.Run("it returns after the healthy count, and not before", func(t *testing.T) {
		f := newFleet(t, slow)
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(2 * time.Minute)
		f.must(f.Repair(f.id(0)))
		f.pass(90*time.Second - time.Millisecond)
		if got := f.target(f.id(0)); got == "healthy" {
			t.Fatal("after at most three passes it is healthy")
		}
		f.pass(30 * time.Second)
		if got := f.target(f.id(0)); got != "healthy" {
			t.Fatalf("after four passes it is %s", got)
		}
	})
	t.Run("a single failure in between starts the count again", func(t *testing.T) {
		f := newFleet(t, slow)
		for range 10 {
			f.must(f.Break(f.id(0), sim.FullDisk))
			f.pass(60*time.Second - time.Millisecond)
			f.must(f.Repair(f.id(0)))
			f.pass(30 * time.Second)
		}
		if got := f.target(f.id(0)); got != "healthy" {
			t.Fatalf("it is %s", got)
		}
	})
	t.Run("a single failure in between starts the way back again", func(t *testing.T) {
		f := newFleet(t, slow)
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(2 * time.Minute)
		for range 10 {
			f.must(f.Repair(f.id(0)))
			f.pass(90*time.Second - time.Millisecond)
			f.must(f.Break(f.id(0), sim.FullDisk))
			f.pass(30 * time.Second)
		}
		if got := f.target(f.id(0)); got == "healthy" {
			t.Fatal("it is healthy after three passes at most")
		}
	})
	t.Run("a time-out is known only after the timeout", func(t *testing.T) {
		when := func(kind sim.Kind) time.Time {
			f := newFleet(t, slow)
			f.must(f.Break(f.id(0), kind))
			f.pass(5 * time.Minute)
			for _, e := range f.Timeline() {
				if e.Kind == sim.EventTarget {
					return e.At
				}
			}
			t.Fatal(f.story())
			return time.Time{}
		}
		if got := when(sim.Hang).Sub(when(sim.FullDisk)); got != 2*time.Second {
			t.Fatalf("known %s later, want 2s", got)
		}
	})
	t.Run("a new target needs one success", func(t *testing.T) {
		f := newFleet(t, slow, func(o *options) { o.group.SteadyFor, o.group.WarmUp = 0, time.Second })
		f.pass(62 * time.Second)
		id := f.id(0)
		if got := f.target(id); got != "initial[Elb.InitialHealthChecking]" && got != "healthy" {
			t.Fatalf("at first it is %s", got)
		}
		f.pass(31 * time.Second)
		if got := f.target(id); got != "healthy" {
			t.Fatalf("after one probe it is %s", got)
		}
	})
	t.Run("a new target that never passes becomes unhealthy", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor, o.group.WarmUp = 0, time.Hour })
		f.pass(62 * time.Second)
		f.pass(20 * time.Second)
		if got := f.target(f.id(0)); got != "unhealthy[Target.FailedHealthChecks]" {
			t.Fatalf("it is %s", got)
		}
	})
}

func TestRegistrations(t *testing.T) {
	t.Run("each member is registered on each port", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.target.Ports = []int{8080, 8081} })
		targets, err := f.TargetHealth("web")
		f.must(err)
		if len(targets) != 8 || targets[0].Port != 8080 || targets[1].Port != 8081 || targets[0].ID != targets[1].ID {
			t.Fatalf("targets are %+v", targets)
		}
	})
	t.Run("targets of a group without a listener are unused for ever", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.target.NotInUse = true })
		f.pass(time.Hour)
		if got := f.target(f.id(0)); got != "unused[Target.NotInUse]" {
			t.Fatalf("target is %s", got)
		}
		if open, _ := f.FailOpen("web"); open {
			t.Fatal("a group that is not in use is fail-open")
		}
	})
	t.Run("a terminating member drains and then is not registered", func(t *testing.T) {
		f := newFleet(t)
		id := f.id(0)
		f.mark(id)
		f.pass(30 * time.Second)
		if got := f.target(id); got != "draining[Target.DeregistrationInProgress]" {
			t.Fatalf("target is %s", got)
		}
		f.pass(time.Second)
		if got := f.target(id); got != "" {
			t.Fatalf("target is %s", got)
		}
	})
	t.Run("members of a bad launch template version never become healthy", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SetLaunchTemplate("web", 2, true))
		f.mark(f.id(0))
		f.pass(10 * time.Minute)
		for _, m := range f.members() {
			want := "healthy"
			if m.LaunchTemplateVersion == 2 {
				want = "unhealthy[Target.ResponseCodeMismatch]"
			}
			if got := f.target(m.ID); got != want {
				t.Errorf("version %d: target is %s, want %s", m.LaunchTemplateVersion, got, want)
			}
		}
	})
	t.Run("a target that fails requests behind a static check is anomalous", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.target.Path = sim.PathStatic })
		bad := f.id(2)
		f.must(f.Break(bad, sim.BadPool))
		targets, err := f.TargetHealth("web")
		f.must(err)
		for _, target := range targets {
			if target.Anomalous != (target.ID == bad) {
				t.Errorf("target %s: anomalous is %t", target.ID, target.Anomalous)
			}
		}
	})
	t.Run("a load balancer that cannot tell shows an internal error, and nobody is marked", func(t *testing.T) {
		f := newFleet(t, elbChecks)
		f.must(f.SetLoadBalancerFault("web", true))
		if got := f.target(f.id(0)); got != "unhealthy[Elb.InternalError]" {
			t.Fatalf("target is %s", got)
		}
		f.pass(time.Hour)
		f.wantCount("4 0 0")
		f.must(f.SetLoadBalancerFault("web", false))
		if got := f.target(f.id(0)); got != "healthy" || f.stats().ErrorMinutes != 0 {
			t.Fatalf("target is %s", got)
		}
	})
	t.Run("a stopped machine in a lost zone is still a stopped one", func(t *testing.T) {
		f := newFleet(t)
		f.SetZoneDown("us-east-1a", true)
		for _, m := range f.members() {
			f.must(f.Break(m.ID, sim.Stopped))
			if truth, _ := f.Truth(m.ID); truth.Broken != sim.Stopped {
				t.Errorf("in %s it is %s", m.Zone, truth.Broken)
			}
		}
	})
	t.Run("a lost zone is broken, told by the status check, and avoided by launches", func(t *testing.T) {
		f := newFleet(t)
		f.SetZoneDown("us-east-1b", true)
		f.pass(10 * time.Minute)
		f.wantCount("4 0 0")
		for _, m := range f.members() {
			if m.Zone != "us-east-1a" {
				t.Errorf("a member is in %s", m.Zone)
			}
		}
		if got := f.stats(); got.BrokenTerminated != 2 || got.HealthyTerminated != 0 {
			t.Errorf("stats are %+v", got)
		}
	})
}

func TestTargetGroupsThatCannotBe(t *testing.T) {
	f := newFleet(t)
	for name, spec := range map[string]sim.TargetGroupSpec{
		"no name":                  {},
		"timeout equals interval":  {Name: "a", Interval: 10 * time.Second, Timeout: 10 * time.Second},
		"unhealthy count of one":   {Name: "a", UnhealthyCount: 1},
		"healthy count of eleven":  {Name: "a", HealthyCount: 11},
		"unhealthy count too high": {Name: "a", UnhealthyCount: 11},
	} {
		if _, err := f.CreateTargetGroup(spec); !errors.Is(err, sim.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	if _, err := f.CreateTargetGroup(sim.TargetGroupSpec{Name: "web"}); !errors.Is(err, sim.ErrExists) {
		t.Errorf("a taken name: %v", err)
	}
}
