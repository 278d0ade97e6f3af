package awsfleet_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	as "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Fleet = (*awsfleet.Run)(nil)

func names(groups []guard.Group) string {
	var out []string
	for _, g := range groups {
		out = append(out, g.Name)
	}
	return strings.Join(out, " ")
}

func TestEveryFieldOfAGroupIsRead(t *testing.T) {
	c := newCloud()
	c.groups = []as.AutoScalingGroup{{
		AutoScalingGroupName: aws.String("web"), AutoScalingGroupARN: aws.String(groupARN("web")),
		DesiredCapacity: aws.Int32(6), MinSize: aws.Int32(2), MaxSize: aws.Int32(12),
		HealthCheckType: aws.String("EC2, ELB,,EBS "), HealthCheckGracePeriod: aws.Int32(240),
		Operator: &as.Operator{Principal: aws.String("eks.amazonaws.com")},
		Tags: []as.TagDescription{
			{Key: aws.String("Name"), Value: aws.String("web")}, {Key: aws.String("holdfast:guard"), Value: aws.String("true")},
		},
		SuspendedProcesses: []as.SuspendedProcess{
			{ProcessName: aws.String("ReplaceUnhealthy"), SuspensionReason: aws.String("User suspended at 2026-11-30T11:00:00Z")},
			{ProcessName: aws.String("AZRebalance"), SuspensionReason: aws.String("User suspended at 2026-11-30T10:00:00Z")},
		},
		Instances: []as.Instance{
			{
				InstanceId: aws.String("i-0b"), LifecycleState: as.LifecycleStateInService, HealthStatus: aws.String("UNHEALTHY"),
				AvailabilityZone: aws.String("us-east-1b"), InstanceType: aws.String("m7g.large"), ProtectedFromScaleIn: aws.Bool(true),
				LaunchTemplate: &as.LaunchTemplateSpecification{
					LaunchTemplateId: aws.String("lt-1"), LaunchTemplateName: aws.String("web"), Version: aws.String("7"),
				},
				WeightedCapacity: aws.String("3"),
			},
			{
				InstanceId: aws.String("i-0a"), LifecycleState: as.LifecycleStatePendingWait, HealthStatus: aws.String("Healthy"),
				AvailabilityZone: aws.String("us-east-1a"), LaunchConfigurationName: aws.String("old-config"),
			},
		},
	}}
	groups, err := c.run().Guarded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(t, "groups", groups, []guard.Group{{
		ARN: groupARN("web"), Name: "web", OptedIn: true, Operator: "eks.amazonaws.com",
		Desired: 6, Min: 2, Max: 12, Weighted: true,
		HealthCheckTypes: []string{"EC2", "ELB", "EBS"}, Grace: 240 * time.Second,
		Suspended: []guard.Suspension{
			{Process: "AZRebalance", Reason: "User suspended at 2026-11-30T10:00:00Z"},
			{Process: "ReplaceUnhealthy", Reason: "User suspended at 2026-11-30T11:00:00Z"},
		},
		Members: []guard.Member{
			{ID: "i-0a", Lifecycle: "Pending:Wait", Zone: "us-east-1a", LaunchTemplate: "old-config"},
			{
				ID: "i-0b", Lifecycle: "InService", Unhealthy: true, Protected: true, Zone: "us-east-1b",
				InstanceType: "m7g.large", LaunchTemplate: "web:7", Weight: 3,
			},
		},
	}})
}

func TestGuardedListsTheGroupsWithTheTag(t *testing.T) {
	for _, tagless := range []bool{false, true} {
		testGuarded(t, tagless)
	}
}

func testGuarded(t *testing.T, tagless bool) {
	t.Helper()
	c := newCloud()
	c.tagless = tagless
	c.addGroup("b", ids("b", 2))
	c.addGroup("a", ids("a", 2))
	c.addGroup("out", ids("o", 2)).Tags[0].Value = aws.String("false")
	c.addGroup("plain", ids("p", 2)).Tags = nil
	groups, err := c.run().Guarded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(t, "groups", names(groups), "a b")
}

func TestGuardedFollowsShortAndEmptyPages(t *testing.T) {
	for _, page := range []int{1, 2, 3, 0} {
		for _, empty := range []int{0, 2} {
			c := newCloud()
			c.page, c.empty = page, empty
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				c.addGroup(name, ids(name, 1))
			}
			groups, err := c.run().Guarded(t.Context())
			if err != nil {
				t.Fatalf("pages of %d after %d empty ones: %v", page, empty, err)
			}
			check(t, "groups", names(groups), "a b c d e")
		}
	}
}

func TestAPageThatCannotBeReadMakesGuardedFail(t *testing.T) {
	for n := 1; n <= 3; n++ {
		c := newCloud()
		c.page, c.fail = 1, failing(opGroups, n, throttle())
		for _, name := range []string{"a", "b", "c"} {
			c.addGroup(name, ids(name, 1))
		}
		groups, err := c.run().Guarded(t.Context())
		if !errors.Is(err, fault.Throttled) || groups != nil {
			t.Errorf("call %d throttled: %d groups, error %v", n, len(groups), err)
		}
	}
}

func TestATokenThatComesBackMakesGuardedFail(t *testing.T) {
	c := newCloud()
	c.addGroup("a", ids("a", 1))
	c.loop = opGroups
	groups, err := c.run().Guarded(t.Context())
	if !errors.Is(err, fault.Partial) || groups != nil {
		t.Errorf("%d groups, error %v", len(groups), err)
	}
}

func TestGroupReadsOneGroupByName(t *testing.T) {
	c := newCloud()
	c.empty = 1
	c.addGroup("web", ids("a", 2))
	c.addGroup("web-2", ids("b", 2)).Tags = nil
	run := c.run()
	g, err := run.Group(t.Context(), "web-2")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "name", g.Name, "web-2")
	check(t, "opted in", g.OptedIn, false)
	if _, err := run.Group(t.Context(), "deleted"); !errors.Is(err, fault.Gone) {
		t.Errorf("a group that does not exist: %v, want gone", err)
	}
	c.fail = failing(opGroups, 0, throttle())
	if _, err := run.Group(t.Context(), "web"); !errors.Is(err, fault.Throttled) {
		t.Errorf("a throttled read: %v, want throttled", err)
	}
}

func TestWhatMakesNoSenseInAGroupIsItsFailedRead(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(*as.AutoScalingGroup)
		want  string
	}{
		{"a weight that is no number", func(g *as.AutoScalingGroup) { g.Instances[0].WeightedCapacity = aws.String("two") }, `the weight of member i-a000 is "two"`},
		{"a weight of zero", func(g *as.AutoScalingGroup) { g.Instances[1].WeightedCapacity = aws.String("0") }, `the weight of member i-a001 is "0"`},
		{"a group without a desired capacity", func(g *as.AutoScalingGroup) { g.DesiredCapacity = nil }, "no capacity"},
		{"a member without a lifecycle state", func(g *as.AutoScalingGroup) { g.Instances[0].LifecycleState = "" }, "no id or no lifecycle state"},
		{"a member without an id", func(g *as.AutoScalingGroup) { g.Instances[0].InstanceId = nil }, "no id or no lifecycle state"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := newCloud()
			tc.spoil(c.addGroup("a", ids("a", 2)))
			c.addGroup("b", ids("b", 2))
			run := c.run()
			groups, err := run.Guarded(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, reads := run.Details(t.Context(), groups[0])
			if !strings.Contains(reads.Group, tc.want) {
				t.Errorf("group read %q, want %q in it", reads.Group, tc.want)
			}
			_, reads = run.Details(t.Context(), groups[1])
			check(t, "reads of the other group", reads, guard.Reads{})
		})
	}
}
