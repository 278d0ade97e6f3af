package sim_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func (f fleet) suspended() []string {
	f.t.Helper()
	g, ok := f.Group("web")
	if !ok {
		f.t.Fatal("group web is gone")
	}
	var out []string
	for _, s := range g.Suspended {
		out = append(out, s.Process+": "+s.Reason)
	}
	return out
}

func (f fleet) wantSuspended(want ...string) {
	f.t.Helper()
	if got := f.suspended(); !slices.Equal(got, want) {
		f.t.Fatalf("suspended are %q, want %q", got, want)
	}
}

func TestSuspendAndResume(t *testing.T) {
	t.Run("the reason text says when, in UTC and whole seconds", func(t *testing.T) {
		f := newFleet(t)
		f.pass(1500 * time.Millisecond)
		f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy", "AZRebalance"}))
		f.wantSuspended("AZRebalance: User suspended at 2026-11-30T12:00:01Z", "ReplaceUnhealthy: User suspended at 2026-11-30T12:00:01Z")
	})
	t.Run("a second suspension keeps the first text", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"HealthCheck"}))
		f.pass(time.Hour)
		f.must(f.SuspendProcesses("web", []string{"HealthCheck", "Launch"}))
		f.wantSuspended("HealthCheck: User suspended at 2026-11-30T12:00:00Z", "Launch: User suspended at 2026-11-30T13:00:00Z")
	})
	t.Run("an empty list means all nine, both ways", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", nil))
		if got := f.suspended(); len(got) != 9 {
			t.Fatalf("suspended are %q, want nine", got)
		}
		f.must(f.ResumeProcesses("web", []string{}))
		f.wantSuspended()
	})
	t.Run("only what is named is resumed", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"HealthCheck", "Launch"}))
		f.must(f.ResumeProcesses("web", []string{"Launch", "Terminate"}))
		f.wantSuspended("HealthCheck: User suspended at 2026-11-30T12:00:00Z")
	})
	t.Run("an unknown name is refused and nothing is changed", func(t *testing.T) {
		f := newFleet(t)
		for _, call := range []func(string, []string) error{f.SuspendProcesses, f.ResumeProcesses} {
			var unknown *sim.UnknownProcessError
			if err := call("web", []string{"Launch", "Replace"}); !errors.As(err, &unknown) || unknown.Name != "Replace" {
				t.Fatalf("got %v, want an UnknownProcessError", err)
			}
			f.wantSuspended()
		}
	})
	t.Run("an unknown group is not found", func(t *testing.T) {
		f := newFleet(t)
		var missing *sim.NotFoundError
		if err := f.SuspendProcesses("api", nil); !errors.As(err, &missing) {
			t.Fatalf("got %v, want a NotFoundError", err)
		}
	})
}

func TestInstanceRefreshIsAStatus(t *testing.T) {
	f := newFleet(t)
	f.must(f.SetRefresh("web", "InProgress"))
	f.pass(time.Minute)
	f.must(f.SetRefresh("web", "Successful"))
	f.pass(time.Minute)
	f.must(f.SetRefresh("web", "Pending"))
	g, _ := f.Group("web")
	if len(g.Refreshes) != 2 || g.Refreshes[0].Status != "Pending" || !g.Refreshes[0].Ended.IsZero() {
		t.Fatalf("refreshes are %+v", g.Refreshes)
	}
	if old := g.Refreshes[1]; old.Status != "Successful" || old.Ended.Sub(old.Started) != time.Minute {
		t.Fatalf("the older refresh is %+v", old)
	}
}

func TestAGroupThatIsCreatedAgainHasAnotherARN(t *testing.T) {
	f := newFleet(t)
	old, _ := f.Group("web")
	f.must(f.DeleteGroup("web"))
	if targets, err := f.TargetHealth("web"); err != nil || len(targets) != 0 {
		t.Fatalf("targets of a deleted group: %v %v", targets, err)
	}
	f.must(f.CreateGroup(sim.GroupSpec{Name: "web", Desired: 1, TargetGroups: []string{"web"}}))
	fresh, _ := f.Group("web")
	if old.ARN == fresh.ARN {
		t.Fatalf("both are %s", old.ARN)
	}
	f.pass(10 * time.Minute)
	f.wantCount("1 0 0")
}

func TestGroupsThatCannotBe(t *testing.T) {
	f := newFleet(t)
	var missing *sim.NotFoundError
	if err := f.CreateGroup(sim.GroupSpec{Name: "web", Desired: 1}); !errors.Is(err, sim.ErrExists) {
		t.Errorf("a taken name: %v", err)
	}
	if err := f.CreateGroup(sim.GroupSpec{Name: "b", Desired: 5, Max: 4}); !errors.Is(err, sim.ErrInvalid) {
		t.Errorf("desired above max: %v", err)
	}
	if err := f.CreateGroup(sim.GroupSpec{Name: "b", TargetGroups: []string{"none"}}); !errors.As(err, &missing) {
		t.Errorf("an unknown target group: %v", err)
	}
	if err := f.SetDesired("web", 41); !errors.Is(err, sim.ErrInvalid) {
		t.Errorf("desired set above max: %v", err)
	}
}

func TestSnapshotsAreCopies(t *testing.T) {
	f := newFleet(t, func(o *options) { o.group.Tags = map[string]string{"team": "a"} })
	g, _ := f.Group("web")
	g.Tags["team"], g.Zones[0], g.HealthCheckTypes[0] = "b", "x", "y"
	g.Members[0].Tags["aws:autoscaling:groupName"] = "c"
	again, _ := f.Group("web")
	if again.Tags["team"] != "a" || again.Zones[0] == "x" || again.HealthCheckTypes[0] == "y" ||
		again.Members[0].Tags["aws:autoscaling:groupName"] != "web" {
		t.Fatalf("a change of a copy changed the group: %+v", again)
	}
}
