package sim_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func TestASpotInstanceIsTakenAfterItsNoticeAndReplaced(t *testing.T) {
	f := newFleet(t)
	id := f.id(1)
	f.must(f.Interrupt(id))
	f.pass(spotNotice - time.Second)
	if m, _ := f.Instance(id); m.EC2State != "running" {
		t.Fatalf("before the notice is over the machine is %s", m.EC2State)
	}
	f.pass(2 * time.Second)
	if m, _ := f.Instance(id); m.EC2State != "terminated" || f.target(id) != "unused[Target.InvalidState]" {
		t.Fatalf("after it the machine is %s, its target %s", m.EC2State, f.target(id))
	}
	if err := f.Repair(id); !errors.Is(err, sim.ErrInvalid) {
		t.Errorf("repair of a machine that is gone: %v", err)
	}
	f.pass(5 * time.Minute)
	f.wantCount("4 0 0")
	if s := f.stats(); s.BrokenTerminated != 1 || s.HealthyTerminated != 0 {
		t.Errorf("stats are %+v", s)
	}
}

const spotNotice = 2 * time.Minute

func TestAnInterruptionOfAMemberThatIsGoneDoesNothing(t *testing.T) {
	f := newFleet(t)
	id := f.id(0)
	f.must(f.Interrupt(id))
	f.must(f.SetInstanceHealth(id, sim.Unhealthy, false))
	f.pass(10 * time.Minute)
	if s := f.stats(); s.HealthyTerminated != 1 || s.BrokenTerminated != 0 || s.Launches != 1 {
		t.Errorf("stats are %+v", s)
	}
}

func TestARefreshReplacesEveryMemberOneByOneAndLosesNobody(t *testing.T) {
	f := newFleet(t, elbChecks)
	before := f.members()
	f.must(f.SetLaunchTemplate("web", 2, false))
	f.must(f.StartRefresh("web", 90))
	if err := f.StartRefresh("web", 90); !errors.Is(err, sim.ErrInvalid) {
		t.Errorf("a second refresh: %v", err)
	}
	for range 60 {
		f.pass(15 * time.Second)
		s, err := f.SampleNow("web")
		f.must(err)
		if s.Serving < 3 {
			t.Fatalf("at %s only %d serve", f.since(), s.Serving)
		}
	}
	old := map[string]bool{}
	for _, m := range before {
		old[m.ID] = true
	}
	for _, m := range f.members() {
		if old[m.ID] || m.LaunchTemplateVersion != 2 {
			t.Errorf("%s of version %d is still there", m.ID, m.LaunchTemplateVersion)
		}
	}
	g, _ := f.Group("web")
	if len(g.Refreshes) != 1 || g.Refreshes[0].Status != "Successful" {
		t.Errorf("refreshes are %+v", g.Refreshes)
	}
	if s := f.stats(); s.HealthyTerminated != 0 || s.OtherTerminated != 4 {
		t.Errorf("stats are %+v", s)
	}
}

func TestARefreshWaits(t *testing.T) {
	for name, block := range map[string]func(f fleet){
		"while its process is suspended": func(f fleet) { f.must(f.SuspendProcesses("web", []string{"InstanceRefresh"})) },
		"while a member is not healthy":  func(f fleet) { f.must(f.Break(f.id(0), sim.FalseCheck)); f.pass(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, elbChecks)
			f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy"}))
			block(f)
			f.must(f.StartRefresh("web", 90))
			f.pass(30 * time.Minute)
			if n := f.kinds(sim.EventTerminate); n != 0 {
				t.Errorf("%d members were terminated", n)
			}
		})
	}
}

func TestACancelledRefreshStops(t *testing.T) {
	f := newFleet(t, elbChecks)
	f.must(f.StartRefresh("web", 90))
	f.pass(2 * time.Second)
	f.must(f.SetRefresh("web", "Cancelled"))
	f.pass(30 * time.Minute)
	if n := f.kinds(sim.EventTerminate); n != 1 {
		t.Errorf("%d members were terminated, want the one before the end", n)
	}
	f.must(f.StartRefresh("web", 90))
}

func TestAFalseCheckHitsTheCheckAndNotTheRequests(t *testing.T) {
	for kind, status := range map[sim.Kind]string{sim.FalseCheck: "ok", sim.FalseAlarm: "failing"} {
		f := newFleet(t)
		f.must(f.Break(f.id(0), kind))
		f.pass(2 * time.Minute)
		share, err := f.FailShare("web")
		f.must(err)
		truth, _ := f.Truth(f.id(0))
		beat, _ := f.Heartbeat(f.id(0))
		if f.target(f.id(0)) != "unhealthy[Target.ResponseCodeMismatch]" || share != 0 || !truth.Serves || beat.Status != status {
			t.Errorf("%s: target %s, share %v, truth %+v, beat %s", kind, f.target(f.id(0)), share, truth, beat.Status)
		}
	}
}

func TestAMemberThatIsCutOffServesNobodyAndSaysOK(t *testing.T) {
	for _, path := range []sim.PathKind{sim.PathStatic, sim.PathLocal, sim.PathOwn} {
		f := newFleet(t, func(o *options) { o.target.Path = path })
		f.must(f.Break(f.id(0), sim.CutOff))
		f.pass(2 * time.Minute)
		truth, _ := f.Truth(f.id(0))
		beat, _ := f.Heartbeat(f.id(0))
		if f.target(f.id(0)) != "unhealthy[Target.Timeout]" || truth.Serves || truth.Sound || beat.Status != "ok" || f.Now().Sub(beat.At) > time.Minute {
			t.Errorf("%s: target %s, truth %+v, beat %s of %s", path, f.target(f.id(0)), truth, beat.Status, beat.At)
		}
	}
}

func deepOn(dependency string) func(*options) {
	return func(o *options) {
		o.target.Path, o.target.Dependencies, o.group.Uses = sim.PathDeep, []string{dependency}, []string{dependency}
	}
}

func TestADependencyThatReachesSomeMembersFailsOnlyThose(t *testing.T) {
	f := newFleet(t, size(40), func(o *options) { o.group.Max = 80 }, deepOn("cache"))
	f.must(f.SetDependencyFor("cache", sim.DependencyDown, 0.5, 0.25))
	share, err := f.FailShare("web")
	f.must(err)
	f.pass(time.Minute)
	felt := 0
	for _, m := range f.members() {
		if f.target(m.ID) != "healthy" {
			felt++
		}
	}
	if felt < 4 || felt > 16 {
		t.Errorf("%d of 40 targets fail, want about ten", felt)
	}
	if want := 0.5 * float64(felt) / 40; math.Abs(share-want) > 1e-9 {
		t.Errorf("%v of the requests fail, want %v", share, want)
	}
	f.must(f.SetDependency("cache", sim.DependencyOK, 0))
	f.pass(time.Minute)
	if f.kinds(sim.EventTarget) != 2*felt {
		t.Errorf("%d changes of targets, want %d members to leave and return", f.kinds(sim.EventTarget), felt)
	}
}

func TestOverloadMakesSoundTargetsFlap(t *testing.T) {
	f := newFleet(t, size(10), func(o *options) { o.group.Demand, o.group.Overload = 8, true })
	f.pass(20 * time.Minute)
	if n := f.kinds(sim.EventTarget); n != 0 {
		t.Fatalf("%d changes of targets below full load", n)
	}
	f.must(f.SetDemand("web", 14))
	f.pass(20 * time.Minute)
	left, back := 0, 0
	for _, e := range f.Timeline() {
		switch {
		case e.Kind != sim.EventTarget:
		case e.Text == "web healthy":
			back++
		default:
			left++
		}
	}
	if left < 5 || back < 5 {
		t.Errorf("targets left %d times and came back %d times", left, back)
	}
	f.must(f.SetDemand("web", 8))
	f.pass(5 * time.Minute)
	for _, m := range f.members() {
		if f.target(m.ID) != "healthy" {
			t.Errorf("after the overload target %s is %s", m.ID, f.target(m.ID))
		}
	}
}

func TestAColdCacheCostsCapacityUntilItIsWarm(t *testing.T) {
	f := newFleet(t, func(o *options) {
		o.group.Demand, o.group.Cache, o.group.Warming, o.group.ColdCapacity = 3, "cache", 10*time.Minute, 0.25
	})
	share := func() float64 {
		t.Helper()
		s, err := f.FailShare("web")
		f.must(err)
		return s
	}
	f.must(f.SetDependency("cache", sim.DependencyDown, 0))
	f.pass(20 * time.Minute) // does not warm up while the cache is away
	if got := share(); math.Abs(got-2.0/3) > 1e-9 {
		t.Errorf("with the cache away %v of the requests fail, want two thirds: four members carry one of three", got)
	}
	f.must(f.SetDependency("cache", sim.DependencyOK, 0))
	last := 1.0
	for range 10 {
		f.pass(time.Minute)
		if now := share(); now > last {
			t.Errorf("at %s %v fail, more than %v before", f.since(), now, last)
		} else {
			last = now
		}
	}
	if last != 0 {
		t.Errorf("with a warm cache %v of the requests fail", last)
	}
	f.FlushCache("cache")
	if got := share(); math.Abs(got-2.0/3) > 1e-9 {
		t.Errorf("with an empty cache %v of the requests fail, want two thirds", got)
	}
}

func TestAThrottledTableRefusesItsShare(t *testing.T) {
	f := newFleet(t)
	if f.TableRefuses() {
		t.Error("refuses without a throttle")
	}
	f.must(f.SetTableThrottle(0.3))
	refused := 0
	for range 1000 {
		if f.TableRefuses() {
			refused++
		}
	}
	if refused < 250 || refused > 350 {
		t.Errorf("%d of 1000 calls were refused, want about 300", refused)
	}
	if err := f.SetTableThrottle(1.1); !errors.Is(err, sim.ErrInvalid) {
		t.Errorf("a share of 1.1: %v", err)
	}
}

func TestAMemberThatIsTerminatedByHandIsReplacedEvenWhileTheGroupIsHeld(t *testing.T) {
	f := newFleet(t)
	f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy", "HealthCheck", "AZRebalance"}))
	id := f.id(2)
	f.must(f.TerminateMember(id))
	var leaving *sim.LifecycleError
	if err := f.TerminateMember(id); !errors.As(err, &leaving) {
		t.Errorf("a second time: %v", err)
	}
	f.pass(5 * time.Minute)
	f.wantCount("4 0 0")
	if s := f.stats(); s.OtherTerminated != 1 || s.Launches != 1 || s.HealthyTerminated != 0 {
		t.Errorf("stats are %+v", s)
	}
}
