package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func near(got, want float64) bool { return math.Abs(got-want) < 1e-9 }

func (f fleet) wantFailing(want float64) {
	f.t.Helper()
	got, err := f.FailShare("web")
	f.must(err)
	if !near(got, want) {
		f.t.Fatalf("share of failing requests is %v, want %v", got, want)
	}
}

func TestRequests(t *testing.T) {
	t.Run("a broken member fails its share until the load balancer evicts it", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.wantFailing(0.25)
		f.pass(30 * time.Second)
		f.wantFailing(0)
	})
	t.Run("behind a static check it fails its share for ever", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.target.Path = sim.PathStatic })
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(time.Hour)
		f.wantFailing(0.25)
		if got := f.stats().ErrorMinutes; !near(got, 15) {
			t.Fatalf("%v error minutes in an hour, want 15", got)
		}
	})
	t.Run("when every target is unhealthy all of them get requests", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.target.Path, o.target.Dependencies = sim.PathDeep, []string{"db"} })
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.must(f.SetDependency("db", sim.DependencyDown, 0))
		f.pass(30 * time.Second)
		if open, err := f.FailOpen("web"); err != nil || !open {
			t.Fatalf("fail-open is %t, %v", open, err)
		}
		f.wantFailing(0.25)
	})
	t.Run("a higher threshold opens earlier", func(t *testing.T) {
		for threshold, want := range map[int]bool{3: false, 4: true} {
			f := newFleet(t, func(o *options) { o.target.MinHealthyTargets = threshold })
			f.must(f.Break(f.id(0), sim.FullDisk))
			f.pass(30 * time.Second)
			if open, _ := f.FailOpen("web"); open != want {
				t.Errorf("three of four healthy, threshold %d: fail-open is %t", threshold, open)
			}
		}
	})
	t.Run("a dependency fails the requests that need it", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.Uses = []string{"db"} })
		f.must(f.SetDependency("db", sim.DependencySlow, 0.4))
		f.wantFailing(0.4)
		f.must(f.SetDependency("other", sim.DependencyDown, 1))
		f.wantFailing(0.4)
		f.must(f.SetDependency("db", sim.DependencyOK, 0))
		f.wantFailing(0)
	})
	t.Run("fewer members than the demand fail the rest", func(t *testing.T) {
		for _, ports := range [][]int{{80}, {8080, 8081}} {
			f := newFleet(t, func(o *options) { o.group.Demand, o.target.Ports = 4, ports })
			f.must(f.SuspendProcesses("web", []string{"Launch"}))
			f.mark(f.id(0))
			f.pass(time.Second)
			f.wantFailing(0.25)
		}
	})
	t.Run("nobody to send to fails everything", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
		f.wantFailing(1)
	})
	t.Run("a zone under a zonal shift gets no requests", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.target.Path = sim.PathStatic })
		for _, m := range f.members() {
			if m.Zone == "us-east-1b" {
				f.must(f.Break(m.ID, sim.BadPool))
			}
		}
		f.wantFailing(0.5)
		f.must(f.SetZonalShift("web", "us-east-1b", true))
		f.wantFailing(0)
	})
}

func TestStats(t *testing.T) {
	t.Run("lost capacity runs from the break to the end of the warm-up", func(t *testing.T) {
		f := newFleet(t)
		f.pass(10 * time.Second)
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(50 * time.Second) // one minute of a broken member, less 10 s
		f.mark(f.id(0))
		f.pass(time.Hour) // 1 s to react, 60 s to launch, 30 s to warm up
		if got, want := f.stats().CapacityMinutesLost, (50.0+91)/60; !near(got, want) {
			t.Fatalf("%v capacity minutes, want %v", got, want)
		}
	})
	t.Run("healthy and broken terminations are told apart by the truth", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.must(f.Break(f.id(1), sim.BrokenAgent))
		f.mark(f.id(0), f.id(1), f.id(2))
		f.pass(10 * time.Minute)
		got := f.stats()
		if got.BrokenTerminated != 1 || got.HealthyTerminated != 2 || got.Launches != 3 || got.WorstServing != 1 {
			t.Fatalf("stats are %+v", got)
		}
	})
	t.Run("a steady fleet loses nothing", func(t *testing.T) {
		f := newFleet(t, elbChecks)
		f.pass(24 * time.Hour)
		if got := f.stats(); got != (sim.Stats{WorstServing: 4}) {
			t.Fatalf("stats are %+v", got)
		}
	})
	t.Run("asking does not change the answer", func(t *testing.T) {
		f, quiet := newFleet(t), newFleet(t)
		for _, c := range []fleet{f, quiet} {
			c.mark(c.id(0))
		}
		for range 100 {
			f.pass(3 * time.Second)
			f.stats()
		}
		quiet.pass(5 * time.Minute)
		if f.stats() != quiet.stats() {
			t.Fatalf("%+v and %+v", f.stats(), quiet.stats())
		}
	})
}

func TestSamplesDrawMembersOverTime(t *testing.T) {
	f := newFleet(t)
	bad := f.id(0)
	f.must(f.Break(bad, sim.FullDisk))
	f.pass(time.Minute)
	samples := f.Samples()
	if len(samples) != 2 || samples[1].At.Sub(samples[0].At) != 30*time.Second {
		t.Fatalf("samples are %+v", samples)
	}
	last := samples[1]
	if last.Desired != 4 || last.Serving != 3 || len(last.Members) != 4 {
		t.Fatalf("the last sample is %+v", last)
	}
	for _, m := range last.Members {
		want := sim.TargetHealthy
		if m.ID == bad {
			want = sim.TargetUnhealthy
		}
		if m.Target != want || m.Lifecycle != sim.InService || m.Health != sim.Healthy || m.Truth.Serves == (m.ID == bad) {
			t.Errorf("member is %+v", m)
		}
	}
}

func TestAScriptRunsBeforeThePeriodicWorkOfTheSameInstant(t *testing.T) {
	f := newFleet(t)
	bad := f.id(0)
	f.At(f.Now().Add(30*time.Second), func(c *sim.Cloud) { f.must(c.Break(bad, sim.FullDisk)) })
	f.pass(30 * time.Second)
	if samples := f.Samples(); len(samples) != 1 || samples[0].Serving != 3 {
		t.Fatalf("samples are %+v", samples)
	}
}
