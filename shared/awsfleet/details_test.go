package awsfleet_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	as "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	lb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// guarded lists the groups and fails the test if that fails.
func guarded(t *testing.T, run *awsfleet.Run) []guard.Group {
	t.Helper()
	groups, err := run.Guarded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func TestTargetsGoToTheirMembers(t *testing.T) {
	c := newCloud()
	g := c.addGroup("web", []string{"i-0a", "i-0b"})
	g.TargetGroupARNs = []string{targetGroupARN("web")}
	g.TrafficSources = []as.TrafficSourceIdentifier{
		{Identifier: aws.String(targetGroupARN("web")), Type: aws.String("elbv2")},
		{Identifier: aws.String(targetGroupARN("api")), Type: aws.String("elbv2")},
		{Identifier: aws.String("arn:aws:vpc-lattice:us-east-1:111122223333:targetgroup/tg-1"), Type: aws.String("vpc-lattice")},
		{Identifier: aws.String("classic"), Type: aws.String("elb")},
	}
	c.used[targetGroupARN("web")], c.used[targetGroupARN("api")] = true, false
	slow := target("i-0a", 80, lb.TargetHealthStateEnumUnhealthy)
	slow.TargetHealth.Reason = lb.TargetHealthReasonEnumTimeout
	slow.AnomalyDetection = &lb.AnomalyDetection{Result: lb.AnomalyResultEnumAnomalous}
	shifted := target("i-0b", 80, lb.TargetHealthStateEnumUnused)
	shifted.AnomalyDetection = &lb.AnomalyDetection{Result: lb.AnomalyResultEnumNormal}
	shifted.AdministrativeOverride = &lb.AdministrativeOverride{State: lb.TargetAdministrativeOverrideStateEnumZonalShiftActive}
	delegated := target("i-0b", 8080, lb.TargetHealthStateEnumHealthy)
	delegated.AdministrativeOverride = &lb.AdministrativeOverride{State: lb.TargetAdministrativeOverrideStateEnumZonalShiftDelegatedToDns}
	calm := target("i-0a", 8080, lb.TargetHealthStateEnumHealthy)
	calm.AdministrativeOverride = &lb.AdministrativeOverride{State: lb.TargetAdministrativeOverrideStateEnumNoOverride}
	c.health[targetGroupARN("web")] = []lb.TargetHealthDescription{shifted, slow, target("i-0gone", 80, lb.TargetHealthStateEnumDraining)}
	c.health[targetGroupARN("api")] = []lb.TargetHealthDescription{delegated, calm}
	c.addInstance("i-0b", "10.0.0.2", "holdfast:guard", "False")

	run := c.run()
	before := guarded(t, run)[0]
	got, reads := run.Details(t.Context(), before)
	check(t, "reads", reads, guard.Reads{})
	check(t, "target groups", got.TargetGroups, []guard.TargetGroup{{Name: "api"}, {Name: "web", InUse: true}})
	check(t, "foreign targets", got.ForeignTargets, []guard.ForeignTarget{{Group: "web", Target: "i-0gone", State: "draining"}})
	check(t, "members", got.Members, []guard.Member{
		{ID: "i-0a", Lifecycle: "InService", Zone: "us-east-1a", Targets: []guard.Target{
			{Group: "api", Port: 8080, State: "healthy"},
			{Group: "web", Port: 80, State: "unhealthy", Reason: "Target.Timeout", Anomalous: true},
		}},
		{ID: "i-0b", Lifecycle: "InService", Zone: "us-east-1a", OptedOut: true, Targets: []guard.Target{
			{Group: "api", Port: 8080, State: "healthy", Shifted: true},
			{Group: "web", Port: 80, State: "unused", Shifted: true},
		}},
	})
	if before.Members[0].Targets != nil || before.Members[1].OptedOut {
		t.Error("the group that was handed in has been changed")
	}
	again, _ := run.Details(t.Context(), got)
	check(t, "details of details", again, got)
}

func TestAddressTargetsGoToTheMembersThatHaveTheAddress(t *testing.T) {
	c := newCloud()
	c.addGroup("we*b", []string{"i-0a", "i-0b"}, "ip")
	arn := targetGroupARN("ip")
	c.health[arn] = []lb.TargetHealthDescription{
		target("10.0.0.1", 80, lb.TargetHealthStateEnumHealthy),
		target("2001:db8:0::b", 80, lb.TargetHealthStateEnumHealthy),
		target("::ffff:10.0.0.2", 81, lb.TargetHealthStateEnumHealthy),
		target("10.0.0.9", 80, lb.TargetHealthStateEnumUnhealthy),
		target("10.0.0.8", 80, lb.TargetHealthStateEnumUnhealthy),
		target("arn:aws:lambda:us-east-1:111122223333:function:f", 0, lb.TargetHealthStateEnumUnavailable),
	}
	// The fake compares filter values as they are; EC2 would take the backslash off.
	c.addInstance("i-0a", "10.0.0.1", "aws:autoscaling:groupName", `we\*b`)
	c.addInstance("i-0b", "10.0.0.2", "aws:autoscaling:groupName", `we\*b`)
	c.instances[1].NetworkInterfaces = []ec2types.InstanceNetworkInterface{{
		Ipv6Addresses: []ec2types.InstanceIpv6Address{{Ipv6Address: aws.String("2001:0db8::000b")}},
	}}
	c.addInstance("i-0c", "10.0.0.9", "aws:autoscaling:groupName", `we\*b`) // in EC2 still, but no member any more
	run := c.run()
	g, reads := run.Details(t.Context(), guarded(t, run)[0])
	check(t, "reads", reads, guard.Reads{})
	check(t, "targets of i-0a", g.Members[0].Targets, []guard.Target{{Group: "ip", Port: 80, State: "healthy"}})
	check(t, "targets of i-0b", g.Members[1].Targets, []guard.Target{
		{Group: "ip", Port: 80, State: "healthy"}, {Group: "ip", Port: 81, State: "healthy"},
	})
	check(t, "foreign targets", g.ForeignTargets, []guard.ForeignTarget{
		{Group: "ip", Target: "10.0.0.8", State: "unhealthy"},
		{Group: "ip", Target: "10.0.0.9", State: "unhealthy"},
		{Group: "ip", Target: "arn:aws:lambda:us-east-1:111122223333:function:f", State: "unavailable"},
	})
	check(t, "EC2 calls", c.calls[opInstances], 2)

	c.fail = failing(opInstances, 3, throttle())
	run = c.run()
	groups := guarded(t, run)
	c.calls[opInstances] = 1 // the next is the opt-outs, then the addresses
	g, reads = run.Details(t.Context(), groups[0])
	if !strings.Contains(reads.Targets, "describe instances of we*b: throttled") {
		t.Errorf("reads of targets %q, want the throttled addresses", reads.Targets)
	}
	check(t, "foreign targets with the addresses unread", len(g.ForeignTargets), 1)
}

func TestWithoutAddressTargetsOnlyTheOptOutsAreAskedOfEC2(t *testing.T) {
	c := newCloud()
	c.addGroup("web", ids("a", 3), "web")
	run := c.run()
	run.Details(t.Context(), guarded(t, run)[0])
	check(t, "EC2 calls", c.calls[opInstances], 1)
}

// addTwoGroups adds two groups that share a target group and have one of their own each.
func addTwoGroups(c *cloud) {
	c.addGroup("a", ids("a", 2), "shared", "only-a")
	c.addGroup("b", ids("b", 2), "shared", "only-b")
	for _, tg := range []string{"shared", "only-a", "only-b"} {
		c.used[targetGroupARN(tg)] = true
	}
}

func TestEachFailedReadIsToldAndLeavesTheRest(t *testing.T) {
	cases := []struct {
		name                       string
		op                         string
		n                          int
		optOuts, targets, activity string // what the first group's Reads must have
		memberTargets              int    // of the first member
		other                      bool   // the second group has a failed read too
	}{
		{"nothing fails", "", 0, "", "", "", 2, false},
		{"the opt-outs are throttled", opInstances, 0, "describe opted-out instances: throttled", "", "", 2, true},
		{"one target group is throttled", opHealth, 2, "", "describe target health of only-a: throttled", "", 1, false},
		{"the shared target group is throttled", opHealth, 1, "", "describe target health of shared: throttled", "", 1, true},
		{"every target group is throttled", opHealth, 0, "", "describe target health of only-a: throttled", "", 0, true},
		{"the batch of target groups is throttled", opUsage, 1, "", "", "", 2, false},
		{"all reads of target groups are throttled", opUsage, 0, "", "describe target groups: throttled", "", 2, true},
		{"the activities are throttled", opActivities, 1, "", "", "describe scaling activities of a: throttled", 2, false},
		{"the refreshes are throttled", opRefreshes, 1, "", "", "describe instance refreshes of a: throttled", 2, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := newCloud()
			addTwoGroups(c)
			c.fail = failing(tc.op, tc.n, throttle())
			run := c.run()
			groups := guarded(t, run)
			g, reads := run.Details(t.Context(), groups[0])
			for _, r := range []struct{ source, got, want string }{
				{"group", reads.Group, ""}, {"opt-outs", reads.OptOuts, tc.optOuts}, {"targets", reads.Targets, tc.targets}, {"activities", reads.Activities, tc.activity},
			} {
				if (r.got == "") != (r.want == "") || !strings.Contains(r.got, r.want) {
					t.Errorf("read of %s is %q, want %q in it", r.source, r.got, r.want)
				}
			}
			check(t, "targets of the first member", len(g.Members[0].Targets), tc.memberTargets)
			// What is not known to be idle counts as in use.
			check(t, "target groups", g.TargetGroups, []guard.TargetGroup{{Name: "only-a", InUse: true}, {Name: "shared", InUse: true}})
			_, reads = run.Details(t.Context(), groups[1])
			if got := reads != (guard.Reads{}); got != tc.other {
				t.Errorf("the other group has a failed read: %t, want %t: %+v", got, tc.other, reads)
			}
		})
	}
}

func TestATargetGroupThatIsGoneIsItsOwnGroupsFailureOnly(t *testing.T) {
	c := newCloud()
	addTwoGroups(c)
	delete(c.used, targetGroupARN("only-b"))
	run := c.run()
	groups := guarded(t, run)
	g, reads := run.Details(t.Context(), groups[0])
	check(t, "reads of the group that has all", reads, guard.Reads{})
	check(t, "target groups", g.TargetGroups, []guard.TargetGroup{{Name: "only-a", InUse: true}, {Name: "shared", InUse: true}})
	_, reads = run.Details(t.Context(), groups[1])
	for _, want := range []string{"describe target health of only-b: gone", "describe target groups: gone"} {
		if !strings.Contains(reads.Targets, want) {
			t.Errorf("read of targets %q, want %q in it", reads.Targets, want)
		}
	}
}

func TestATargetGroupThatTheAnswerLeavesOutIsAFailedRead(t *testing.T) {
	c := newCloud()
	addTwoGroups(c)
	c.hideUsage = targetGroupARN("only-a")
	run := c.run()
	groups := guarded(t, run)
	_, reads := run.Details(t.Context(), groups[0])
	if !strings.Contains(reads.Targets, "partial: only-a was asked for and not returned") {
		t.Errorf("read of targets %q", reads.Targets)
	}
	_, reads = run.Details(t.Context(), groups[1])
	check(t, "reads of the other group", reads, guard.Reads{})
}

func TestATargetWithoutAStateIsAFailedReadAndLeavesTheOthers(t *testing.T) {
	c := newCloud()
	c.addGroup("web", ids("a", 3), "web")
	c.health[targetGroupARN("web")][1].TargetHealth = nil
	run := c.run()
	g, reads := run.Details(t.Context(), guarded(t, run)[0])
	if !strings.Contains(reads.Targets, "partial: 1 targets without an id or a state") {
		t.Errorf("read of targets %q", reads.Targets)
	}
	check(t, "targets that were read", []int{len(g.Members[0].Targets), len(g.Members[1].Targets), len(g.Members[2].Targets)}, []int{1, 0, 1})
}

func TestSharedReadsAreMadeOnceARunUntilTheSecondLook(t *testing.T) {
	c := newCloud()
	addTwoGroups(c)
	run := c.run()
	groups := guarded(t, run)
	for range 2 {
		for _, g := range groups {
			run.Details(t.Context(), g)
		}
	}
	check(t, "reads of target health", c.calls[opHealth], 3)
	check(t, "reads of target groups", c.calls[opUsage], 1)
	check(t, "reads of opt-outs", c.calls[opInstances], 1)

	// Everything changes after the first look.
	c.health[targetGroupARN("shared")][0].TargetHealth.State = lb.TargetHealthStateEnumUnhealthy
	c.used[targetGroupARN("shared")] = false
	c.addInstance("i-a001", "10.0.0.1", "holdfast:guard", "false")
	stale, _ := run.Details(t.Context(), groups[0])
	check(t, "a first look stays as it was", stale.Members[0].Targets[1].State, "healthy")
	again, err := run.Group(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	again, reads := run.Details(t.Context(), again)
	check(t, "reads of the second look", reads, guard.Reads{})
	check(t, "state at the second look", again.Members[0].Targets[1].State, "unhealthy")
	check(t, "opted out at the second look", again.Members[1].OptedOut, true)
	check(t, "target groups at the second look", again.TargetGroups, []guard.TargetGroup{{Name: "only-a", InUse: true}, {Name: "shared"}})
	check(t, "reads of opt-outs", c.calls[opInstances], 2)
	check(t, "target groups of the second look", c.asked[len(c.asked)-2:], []string{targetGroupARN("shared"), targetGroupARN("only-a")})

	c.fail = failing(opInstances, 0, throttle())
	_, reads = run.Details(t.Context(), again)
	if !strings.Contains(reads.OptOuts, "throttled") {
		t.Errorf("a second look that could not read the opt-outs says %q", reads.OptOuts)
	}
}

func TestOptOutsAreReadToTheLastPage(t *testing.T) {
	c := newCloud()
	c.addGroup("web", ids("a", 3))
	c.page, c.empty = 1, 1
	c.addInstance("i-elsewhere", "10.0.0.1", "holdfast:guard", "false")
	c.addInstance("i-a000", "10.0.0.2", "holdfast:guard", "true")
	c.addInstance("i-a002", "10.0.0.3", "holdfast:guard", "false")
	run := c.run()
	g, reads := run.Details(t.Context(), guarded(t, run)[0])
	check(t, "reads", reads, guard.Reads{})
	check(t, "opted out", []bool{g.Members[0].OptedOut, g.Members[1].OptedOut, g.Members[2].OptedOut}, []bool{false, false, true})
}

func TestCallsGrowWithGroupsAndNotWithMembers(t *testing.T) {
	count := func(members int, fail func(string, int) error) (*cloud, int) {
		c := newCloud()
		c.fail = fail
		for i := range 40 {
			name := string(rune('a'+i/26)) + string(rune('a'+i%26))
			c.addGroup(name, ids(name, members), name+"-1", name+"-2")
		}
		run := c.run()
		blind := 0
		for _, g := range guarded(t, run) {
			if _, reads := run.Details(t.Context(), g); reads != (guard.Reads{}) {
				blind++
			}
		}
		return c, blind
	}
	small, _ := count(6, nil)
	large, blind := count(60, nil)
	check(t, "calls", large.calls, small.calls)
	check(t, "calls", large.calls, map[string]int{opGroups: 1, opHealth: 80, opUsage: 4, opInstances: 1, opActivities: 40, opRefreshes: 40})
	check(t, "blind groups", blind, 0)

	// Three of ten reads of a target group, after the SDK's own retries, are throttled.
	throttled, blind := count(60, func(op string, n int) error {
		if op == opHealth && n%10 < 3 {
			return throttle()
		}
		return nil
	})
	check(t, "calls with throttles", throttled.calls, large.calls)
	if blind == 0 || blind == 40 {
		t.Errorf("%d of 40 groups are blind, want those that were throttled", blind)
	}
}

func TestARunMayBeUsedByManyAtOnce(t *testing.T) {
	c := newCloud()
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		c.addGroup(name, ids(name, 4), "shared", name)
	}
	run := c.run()
	var wg sync.WaitGroup
	for _, g := range guarded(t, run) {
		wg.Go(func() {
			got, reads := run.Details(context.Background(), g)
			check(t, "reads", reads, guard.Reads{})
			check(t, "targets", len(got.Members[0].Targets), 2)
			if _, err := run.Group(context.Background(), g.Name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	check(t, "reads of target health", c.calls[opHealth], 7)
}

func TestAReadThatItsOwnDeadlineEndedIsNotKeptForOthers(t *testing.T) {
	c := newCloud()
	addTwoGroups(c)
	run := c.run()
	groups := guarded(t, run)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, reads := run.Details(ctx, groups[0])
	if reads.OptOuts == "" || reads.Targets == "" || reads.Activities == "" {
		t.Errorf("reads on a cancelled context: %+v", reads)
	}
	clear(c.calls)
	for _, g := range []int{1, 0} {
		_, reads = run.Details(t.Context(), groups[g])
		check(t, "reads of the group afterwards", reads, guard.Reads{})
	}
	check(t, "calls for the target groups of both", c.calls[opUsage], 1)
}

func TestDetailsOfAGroupThatTheRunHasNotSeenAreAFailedRead(t *testing.T) {
	_, reads := newCloud().run().Details(t.Context(), guard.Group{Name: "web", ARN: groupARN("web")})
	check(t, "reads", reads, guard.Reads{Group: "read details of web: this run has not seen the group"})
}
