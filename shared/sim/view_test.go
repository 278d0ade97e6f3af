package sim_test

import (
	"maps"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// TestLookTellsWhatTheCopiesTell compares every view with the copies at each step of a run in which much happens.
func TestLookTellsWhatTheCopiesTell(t *testing.T) {
	f := newFleet(t, elbChecks, size(6))
	steps := map[int]func(){
		3:  func() { f.must(f.Break(f.id(1), sim.FullDisk)) },
		6:  func() { f.must(f.Break(f.id(2), sim.Freeze)) },
		9:  func() { f.must(f.SetZonalShift("web", "us-east-1b", true)) },
		12: func() { f.must(f.SetLoadBalancerFault("web", true)) },
		15: func() { f.must(f.SetLoadBalancerFault("web", false)) },
		18: func() { f.mark(f.id(0)) },
		21: func() { f.must(f.EnterStandby(f.id(3))) },
	}
	seen := map[sim.Lifecycle]bool{}
	for step := range 60 {
		if do := steps[step]; do != nil {
			do()
		}
		f.pass(10 * time.Second)
		members := map[string]sim.Member{}
		for _, m := range f.members() {
			members[m.ID] = m
		}
		beats := map[string]sim.Beat{}
		for _, b := range f.Heartbeats() {
			beats[b.InstanceID] = b
		}
		targets := map[string]sim.Target{}
		all, err := f.TargetHealth("web")
		f.must(err)
		for _, target := range all {
			targets[target.ID] = target
		}
		n := 0
		f.Look("web", func(v *sim.View) {
			n++
			seen[v.Lifecycle] = true
			m, b, target := members[v.ID], beats[v.ID], targets[v.ID]
			same := v.Zone == m.Zone && v.Lifecycle == m.Lifecycle && v.Health == m.Health && v.Launched.Equal(m.Launched) &&
				v.EnteredInService.Equal(m.EnteredInService) && v.Target == target.State && v.Reason == target.Reason &&
				v.Shifted == target.Shifted && v.BeatAt.Equal(b.At) && len(v.Failing) == len(b.Failing)
			if !same {
				t.Errorf("step %d: view %+v, want member %+v, target %+v, beat %+v", step, *v, m, target, b)
			}
		})
		if n != len(members) {
			t.Errorf("step %d: %d views of %d members", step, n, len(members))
		}
	}
	for _, state := range []sim.Lifecycle{sim.InService, sim.Pending, sim.Terminating, sim.Standby} {
		if !seen[state] {
			t.Errorf("no member was ever %s: the run shows too little", state)
		}
	}
}

func TestLookAtAnUnknownGroupSeesNobody(t *testing.T) {
	newFleet(t).Look("nobody", func(v *sim.View) { t.Errorf("saw %+v", *v) })
}

func TestRequestsTellWhoFailsWhom(t *testing.T) {
	f := newFleet(t, func(o *options) { o.group.Uses, o.group.Demand = []string{"database"}, 2 })
	f.pass(time.Minute)
	f.must(f.Break(f.id(1), sim.FullDisk))
	f.must(f.SetDependency("database", sim.DependencySlow, 0.25))
	check := func(when string, want map[string]float64) {
		t.Helper()
		got := map[string]float64{}
		f.Requests("web", func(id string, success float64) { got[id] = success })
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	check("before its checks fail", map[string]float64{f.id(0): 0.75, f.id(1): 0, f.id(2): 0.75, f.id(3): 0.75})
	f.pass(time.Minute)
	check("after its checks failed", map[string]float64{f.id(0): 0.75, f.id(2): 0.75, f.id(3): 0.75})
	f.must(f.SetDependency("database", sim.DependencyOK, 0))
	f.must(f.SetDemand("web", 6))
	check("with twice the traffic", map[string]float64{f.id(0): 0.5, f.id(2): 0.5, f.id(3): 0.5})
}

func TestChangesCountWhatALookWouldShow(t *testing.T) {
	f := newFleet(t)
	f.pass(time.Minute)
	before := f.Changes("web")
	f.pass(time.Hour)
	if got := f.Changes("web"); got != before {
		t.Errorf("%d changes of a quiet hour, want none", got-before)
	}
	for name, change := range map[string]func(){
		"a broken member":           func() { f.must(f.Break(f.id(1), sim.BrokenAgent)) },
		"lost heartbeats":           func() { f.SetBeatsLost(true) },
		"a mark":                    func() { f.must(f.SetInstanceHealth(f.id(0), sim.Unhealthy, false)) },
		"a fault of the balancer":   func() { f.must(f.SetLoadBalancerFault("web", true)) },
		"a zonal shift":             func() { f.must(f.SetZonalShift("web", "us-east-1a", true)) },
		"an agent that stops":       func() { f.must(f.SetAgentVersion("web", "2", true, true)) },
		"a dependency that is slow": func() { f.must(f.SetDependency("cache", sim.DependencySlow, 0.5)) },
	} {
		before := f.Changes("web")
		if change(); f.Changes("web") == before {
			t.Errorf("%s is not counted", name)
		}
	}
}
