package sim_test

import (
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

func TestRequestsTellWhoFailsAndWhatFailsForAll(t *testing.T) {
	f := newFleet(t, func(o *options) { o.group.Uses = []string{"database"} })
	f.pass(time.Minute)
	f.must(f.Break(f.id(1), sim.FullDisk))
	f.must(f.SetDependency("database", sim.DependencySlow, 0.25))
	seen := func() (all, served int, shared float64) {
		shared = f.Requests("web", func(id string, serves bool) {
			all++
			if serves {
				served++
			} else if id != f.id(1) {
				t.Errorf("%s fails requests, want only %s", id, f.id(1))
			}
		})
		return all, served, shared
	}
	if all, served, shared := seen(); all != 4 || served != 3 || shared != 0.25 {
		t.Errorf("before its checks failed: %d members, %d serve, %v shared; want 4, 3, 0.25", all, served, shared)
	}
	f.pass(time.Minute)
	if all, served, _ := seen(); all != 3 || served != 3 {
		t.Errorf("after its checks failed: %d members, %d serve; want 3, 3", all, served)
	}
}
