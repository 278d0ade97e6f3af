package sim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func TestSetInstanceHealth(t *testing.T) {
	t.Run("a marked member is terminated at once and replaced", func(t *testing.T) {
		f := newFleet(t)
		id := f.id(1)
		f.mark(id)
		if got := f.health(id); got != sim.Unhealthy {
			t.Fatalf("health right after the call is %s, want Unhealthy", got)
		}
		f.wantCount("4 0 0")
		f.pass(time.Second)
		f.wantCount("3 1 1")
		f.pass(29 * time.Second)
		f.wantCount("3 1 1")
		f.pass(time.Second)
		f.wantCount("3 1 0")
		f.pass(30 * time.Second)
		f.wantCount("4 0 0")
	})
	t.Run("any number of marked members go together", func(t *testing.T) {
		f := newFleet(t, size(10))
		f.mark(f.id(0), f.id(3), f.id(4), f.id(5), f.id(9))
		f.pass(time.Second)
		f.wantCount("5 5 5")
	})
	t.Run("a mark inside the grace period is refused with the age and the grace", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
		f.pass(91 * time.Second) // launched at 1 s, InService at 61 s
		err := f.SetInstanceHealth(f.id(0), sim.Unhealthy, true)
		var grace *sim.GraceError
		if !errors.As(err, &grace) || grace.Age != 30 || grace.Grace != 120 {
			t.Fatalf("got %v, want a GraceError of 30 and 120 s", err)
		}
		if f.health(f.id(0)) != sim.Healthy || f.kinds(sim.EventRefused) != 1 {
			t.Fatal("a refused mark changed something, or left no trace")
		}
	})
	t.Run("the grace period ends exactly when it has passed", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
		f.pass(181*time.Second - time.Millisecond)
		var grace *sim.GraceError
		if err := f.SetInstanceHealth(f.id(0), sim.Unhealthy, true); !errors.As(err, &grace) {
			t.Fatalf("just before the end: got %v, want a GraceError", err)
		}
		f.pass(time.Millisecond)
		f.mark(f.id(0))
	})
	t.Run("a mark that overrides the grace period is accepted inside it", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
		f.pass(70 * time.Second)
		f.must(f.SetInstanceHealth(f.id(0), sim.Unhealthy, false))
		f.pass(time.Second)
		f.wantCount("3 1 1")
	})
	t.Run("a Pending member has not begun its grace period", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
		f.pass(30 * time.Second)
		var grace *sim.GraceError
		if err := f.SetInstanceHealth(f.id(0), sim.Unhealthy, true); !errors.As(err, &grace) || grace.Age != 0 {
			t.Fatalf("got %v, want a GraceError of age 0", err)
		}
	})
	t.Run("an unknown instance is not found", func(t *testing.T) {
		var missing *sim.NotFoundError
		if err := newFleet(t).SetInstanceHealth("i-0", sim.Unhealthy, true); !errors.As(err, &missing) {
			t.Fatalf("got %v, want a NotFoundError", err)
		}
	})
	t.Run("a member that is terminating already says so, and is not found when it is gone", func(t *testing.T) {
		f := newFleet(t)
		id := f.id(0)
		f.mark(id)
		f.pass(time.Second)
		var state *sim.LifecycleError
		if err := f.SetInstanceHealth(id, sim.Healthy, true); !errors.As(err, &state) || state.State != sim.Terminating {
			t.Fatalf("got %v, want a LifecycleError", err)
		}
		f.pass(time.Minute)
		var missing *sim.NotFoundError
		if err := f.SetInstanceHealth(id, sim.Healthy, true); !errors.As(err, &missing) {
			t.Fatalf("got %v, want a NotFoundError", err)
		}
	})
	t.Run("another status than the two is invalid", func(t *testing.T) {
		f := newFleet(t)
		if err := f.SetInstanceHealth(f.id(0), "HEALTHY", true); !errors.Is(err, sim.ErrInvalid) {
			t.Fatalf("got %v, want ErrInvalid", err)
		}
	})
	t.Run("scale-in protection does not protect from a mark", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SetProtection(f.id(0), true))
		f.mark(f.id(0))
		f.pass(time.Second)
		f.wantCount("3 1 1")
	})
	t.Run("a mark that is taken back before anything happened costs nothing", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy", "HealthCheck"}))
		f.mark(f.id(0))
		f.pass(10 * time.Minute)
		f.must(f.SetInstanceHealth(f.id(0), sim.Healthy, true))
		f.must(f.ResumeProcesses("web", nil))
		f.pass(10 * time.Minute)
		if f.stats().HealthyTerminated != 0 {
			t.Fatal(f.story())
		}
	})
}

func TestHealthCheckProcess(t *testing.T) {
	t.Run("it overrides a custom mark that cannot be acted on", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy"}))
		f.mark(f.id(0))
		f.pass(time.Minute)
		if got := f.health(f.id(0)); got != sim.Healthy {
			t.Fatalf("health is %s, want Healthy", got)
		}
	})
	t.Run("it leaves alone a mark that is being acted on, whenever it runs", func(t *testing.T) {
		for second := range 60 {
			f := newFleet(t, func(o *options) { o.config.ReactAfter = 30 * time.Second })
			f.pass(time.Duration(second) * time.Second)
			f.mark(f.id(0))
			f.pass(30 * time.Second)
			f.wantCount("3 1 1")
		}
	})
	t.Run("suspended, it overrides nothing", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy", "HealthCheck"}))
		f.mark(f.id(0))
		f.pass(time.Hour)
		if got := f.health(f.id(0)); got != sim.Unhealthy {
			t.Fatalf("health is %s, want Unhealthy", got)
		}
	})
	t.Run("it undoes a restore while the load balancer still complains", func(t *testing.T) {
		f := newFleet(t, elbChecks)
		f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy"}))
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(2 * time.Minute)
		f.must(f.SetInstanceHealth(f.id(0), sim.Healthy, true))
		f.pass(time.Minute)
		if got := f.health(f.id(0)); got != sim.Unhealthy {
			t.Fatalf("health is %s, want Unhealthy", got)
		}
	})
	t.Run("without ELB checks a failing target is no reason", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(time.Hour)
		f.wantCount("4 0 0")
		if got := f.target(f.id(0)); got != "unhealthy[Target.ResponseCodeMismatch]" {
			t.Fatalf("target is %s", got)
		}
	})
	t.Run("a stopped machine is replaced even in its grace period", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor, o.group.Grace = 0, time.Hour })
		f.pass(2 * time.Minute)
		f.must(f.Break(f.id(0), sim.Stopped))
		f.pass(62 * time.Second)
		if f.stats().BrokenTerminated != 1 {
			t.Fatal(f.story())
		}
		if cause := f.Activities("web")[1].Cause; !strings.HasSuffix(cause, "terminated or stopped.") {
			t.Fatalf("cause is %q", cause)
		}
	})
	t.Run("an impaired machine is marked only after the status check has noticed", func(t *testing.T) {
		f := newFleet(t)
		id := f.id(0)
		f.must(f.Break(id, sim.Impaired))
		f.pass(3 * time.Minute)
		if got := f.health(id); got != sim.Healthy {
			t.Fatalf("after three minutes health is %s", got)
		}
		f.pass(62 * time.Second)
		if f.stats().BrokenTerminated != 1 {
			t.Fatal(f.story())
		}
	})
	t.Run("marks of its own last unless the configuration lets them recover", func(t *testing.T) {
		for _, recover := range []bool{false, true} {
			f := newFleet(t, elbChecks, func(o *options) { o.config.MarksRecover = recover })
			f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy"}))
			f.must(f.Break(f.id(0), sim.BadPool))
			f.pass(2 * time.Minute)
			if f.health(f.id(0)) != sim.Unhealthy {
				t.Fatal("the member was not marked")
			}
			f.must(f.Repair(f.id(0)))
			f.pass(2 * time.Minute)
			if got := f.health(f.id(0)) == sim.Healthy; got != recover {
				t.Fatalf("MarksRecover %t: healthy again is %t", recover, got)
			}
		}
	})
}
