package baseline_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

func count(c *sim.Cloud, kind sim.EventKind) int {
	n := 0
	for _, e := range c.Timeline() {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// TestWhatTheRulesSee shows, by the simplest rule, what makes a member unwell in the eyes of all.
func TestWhatTheRulesSee(t *testing.T) {
	cases := []struct {
		name   string
		spec   func(*sim.GroupSpec)
		happen func(*testing.T, *sim.Cloud)
		want   int // members replaced within ten minutes
	}{
		{
			name: "a member that fails its health check is replaced",
			happen: func(t *testing.T, c *sim.Cloud) {
				t.Helper()
				breakSome(t, c, 1, sim.FullDisk)
			},
			want: 1,
		},
		{
			name: "a member that has no agent is judged by its target",
			spec: func(s *sim.GroupSpec) { s.NoAgent = true },
			happen: func(t *testing.T, c *sim.Cloud) {
				t.Helper()
				breakSome(t, c, 2, sim.FullDisk)
			},
			want: 2,
		},
		{
			name: "a member that falls silent is replaced, though it serves",
			happen: func(t *testing.T, c *sim.Cloud) {
				t.Helper()
				breakSome(t, c, 1, sim.BrokenAgent)
			},
			want: 1,
		},
		{
			name: "a failing check that names a dependency says nothing of the machine",
			spec: func(s *sim.GroupSpec) { s.AgentReports = []string{"cache"} },
			happen: func(t *testing.T, c *sim.Cloud) {
				t.Helper()
				must(t, c.SetDependency("cache", sim.DependencyDown, 0))
			},
			want: 0,
		},
		{
			name: "a fault of the load balancer makes every member unwell",
			happen: func(t *testing.T, c *sim.Cloud) {
				t.Helper()
				must(t, c.SetLoadBalancerFault("web", true))
				pass(c, 90*time.Second)
				must(t, c.SetLoadBalancerFault("web", false))
			},
			want: 10,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			change := []func(*sim.GroupSpec){}
			if tc.spec != nil {
				change = append(change, tc.spec)
			}
			c := fleet(t, baseline.Naive{}.Guardian(), change...)
			pass(c, 5*time.Minute)
			tc.happen(t, c)
			pass(c, 10*time.Minute)
			if n := terminations(c); n != tc.want {
				t.Errorf("%d members replaced, want %d", n, tc.want)
			}
		})
	}
}

func TestAMarkThatIsNotActedOnIsMadeOnce(t *testing.T) {
	c := fleet(t, baseline.Karpenter().Guardian())
	must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy, sim.ProcessHealthCheck}))
	breakSome(t, c, 1, sim.FullDisk)
	pass(c, 2*time.Hour)
	if marks, gone := count(c, sim.EventMark), terminations(c); marks != 1 || gone != 0 {
		t.Errorf("%d marks and %d terminations, want 1 and none", marks, gone)
	}
}

func TestAMemberOnStandbyIsNotMarked(t *testing.T) {
	c := fleet(t, baseline.Naive{}.Guardian())
	pass(c, 5*time.Minute)
	g, _ := c.Group("web")
	must(t, c.EnterStandby(g.Members[0].ID))
	must(t, c.Break(g.Members[0].ID, sim.Freeze))
	pass(c, 10*time.Minute)
	if n := count(c, sim.EventMark); n != 0 {
		t.Errorf("%d marks, want none", n)
	}
}

func TestAMachineThatIsUnwellInAnotherWayBeginsNoNewWait(t *testing.T) {
	c := fleet(t, baseline.DefaultMachineHealthCheck().Guardian())
	pass(c, 5*time.Minute)
	breakSome(t, c, 1, sim.BrokenAgent) // silent after 40 s
	pass(c, 200*time.Second)
	breakSome(t, c, 1, sim.FullDisk) // and now it speaks, and says that it is unwell
	pass(c, 180*time.Second)
	if n := terminations(c); n != 1 {
		t.Errorf("%d terminations 340 s after it was first silent, want 1", n)
	}
}

func TestOnlyNaiveRespectsTheGracePeriod(t *testing.T) {
	for want, guardian := range map[int]gameday.Guardian{0: baseline.Naive{}.Guardian(), 1: baseline.DefaultMachineHealthCheck().Guardian()} {
		c := fleet(t, guardian, func(s *sim.GroupSpec) { s.Grace = 48 * time.Hour })
		breakSome(t, c, 1, sim.FullDisk)
		pass(c, time.Hour)
		if n := terminations(c); n != want {
			t.Errorf("%s replaces %d members in their grace, want %d", guardian.Name(), n, want)
		}
	}
}

func TestAMachineWithoutAWordIsNoNode(t *testing.T) {
	// A release of the agent dies on new machines only: in Kubernetes words, their node never joins.
	newcomer := func(t *testing.T, g gameday.Guardian) *sim.Cloud {
		t.Helper()
		c := fleet(t, g)
		pass(c, 5*time.Minute)
		must(t, c.SetAgentVersion("web", "2", true, false))
		must(t, c.SetDesired("web", 11))
		pass(c, 15*time.Minute)
		return c
	}
	if n := terminations(newcomer(t, baseline.DefaultMachineHealthCheck().Guardian())); n != 1 {
		t.Errorf("machine health check replaces %d, want the one past its startup timeout", n)
	}
	if n := terminations(newcomer(t, baseline.Karpenter().Guardian())); n != 0 {
		t.Errorf("karpenter replaces %d, want none: there is no node", n)
	}
}

func TestRulesRunOnEC2Checks(t *testing.T) {
	c := fleet(t, baseline.Karpenter().Guardian(), func(s *sim.GroupSpec) { s.HealthCheckTypes = []string{"EC2", "ELB"} })
	if g, _ := c.Group("web"); !slices.Equal(g.HealthCheckTypes, []string{"EC2"}) || g.Grace != 300*time.Second {
		t.Errorf("checks %v, grace %s; want EC2 and the group's own grace", g.HealthCheckTypes, g.Grace)
	}
}

func TestAnUnknownGroupIsAnError(t *testing.T) {
	for _, guardian := range baseline.All() {
		g := guardian()
		c := sim.NewCloud(sim.Config{})
		day := gameday.Day{Name: "none", Groups: []string{"web"}, Draw: func(*gameday.Dice) gameday.Course { return gameday.Course{} }}
		err := g.Start(&gameday.World{Cloud: c, Day: day, Start: c.Now()})
		var unknown *sim.NotFoundError
		if !errors.As(err, &unknown) {
			t.Errorf("%s: %v, want NotFoundError", g.Name(), err)
		}
	}
}

func TestTheOracleTakesBackMarksOnSoundMembers(t *testing.T) {
	c := fleet(t, baseline.Oracle())
	must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy}))
	g, _ := c.Group("web")
	must(t, c.SetInstanceHealth(g.Members[0].ID, sim.Unhealthy, false))
	breakSome(t, c, 1, sim.BrokenAgent)
	pass(c, time.Minute)
	must(t, c.ResumeProcesses("web", []string{sim.ProcessReplaceUnhealthy}))
	pass(c, time.Minute)
	if n := terminations(c); n != 0 || count(c, sim.EventRestore) != 1 {
		t.Errorf("%d terminations and %d marks taken back, want none and 1", n, count(c, sim.EventRestore))
	}
}

func TestTheOracleWaitsUntilReplacingHelps(t *testing.T) {
	c := fleet(t, baseline.Oracle())
	must(t, c.SetLaunchFailure("web", "there is no capacity"))
	breakSome(t, c, 2, sim.FullDisk)
	pass(c, time.Hour)
	if n := terminations(c); n != 0 {
		t.Fatalf("%d terminations while launches fail, want none", n)
	}
	must(t, c.SetLaunchFailure("web", ""))
	pass(c, 10*time.Second)
	if n := terminations(c); n != 2 {
		t.Errorf("%d terminations when launches work again, want both", n)
	}
}

func TestByAgentTakesNoNoticeOfTheLoadBalancer(t *testing.T) {
	for _, guardian := range baseline.ByAgent() {
		name := guardian().Name()
		if !strings.HasSuffix(name, "-by-agent") {
			t.Errorf("%s does not say in its name what it sees", name)
		}
		replaced := func(kind sim.Kind) int {
			c := fleet(t, guardian())
			pass(c, 5*time.Minute)
			breakSome(t, c, 1, kind)
			pass(c, 2*time.Hour)
			return terminations(c)
		}
		if n := replaced(sim.FalseCheck); n != 0 {
			t.Errorf("%s replaces %d members for what only the load balancer finds, want none", name, n)
		}
		if n := replaced(sim.FullDisk); n != 1 {
			t.Errorf("%s replaces %d members for what the agent says, want 1", name, n)
		}
	}
}

func TestTheOracleLetsScaleInWaitForReplacements(t *testing.T) {
	c := fleet(t, baseline.Oracle())
	breakSome(t, c, 1, sim.FullDisk)
	pass(c, 10*time.Second)
	must(t, c.SetDesired("web", 8))
	pass(c, 10*time.Minute)
	s, err := c.Stats("web")
	must(t, err)
	if g, _ := c.Group("web"); len(g.Members) != 8 || s.WorstServing != 8 {
		t.Errorf("%d members in the end and %d serving at worst, want 8 and 8", len(g.Members), s.WorstServing)
	}
}
