package collect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

func names(unread []audit.Unread) string {
	var b strings.Builder
	for _, u := range unread {
		fmt.Fprintf(&b, "%s %q %s: %s\n", u.Kind, u.Name, u.What, u.Why)
	}
	return b.String()
}

// TestACallThatIsDeniedIsUnreadOnceAndAskedForNoMore goes through every call that is made: one permission that is missing leaves
// everything else.
func TestACallThatIsDeniedIsUnreadOnceAndAskedForNoMore(t *testing.T) {
	for operation, kind := range map[string]string{
		"autoscaling:DescribeAutoScalingGroups": "group", "autoscaling:DescribeScalingActivities": "group", "autoscaling:DescribeInstanceRefreshes": "group",
		"elasticloadbalancing:DescribeTargetGroups": "target-group", "elasticloadbalancing:DescribeTargetGroupAttributes": "target-group",
		"elasticloadbalancing:DescribeTags": "target-group", "elasticloadbalancing:DescribeTargetHealth": "target-group", "ec2:DescribeApplicationStatusChecks": "status-check", "ec2:DescribeApplicationStatus": "status-check",
		"ec2:DescribeApplicationStatusCheckAssociations": "status-check", "cloudwatch:DescribeAlarms": "alarm", "cloudwatch:DescribeAlarmsForMetric": "guardian",
		"cloudwatch:GetMetricData": "target-group", "ssm:GetParametersByPath": "guardian", "sns:GetTopicAttributes": "guardian",
		"dynamodb:Query": "group", "dynamodb:BatchGetItem": "group",
	} {
		t.Run(operation, func(t *testing.T) {
			l := newLab(t)
			l.fleet(t)
			l.notices(t)
			l.Do(func(c *sim.Cloud) { must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy})) })
			l.SetStatusChecks(world.StatusCheck{ID: "asc-1", Path: "/", Tags: [][2]string{{"aws:autoscaling:groupName", "web"}}})
			must(t, l.SetFaults(world.Fault{Operation: operation, FailFirst: -1, Error: wire.Error{
				Code: "AccessDenied", Message: "not authorized to perform " + operation, Status: 403}}))
			o := l.options()
			o.Metrics, o.Concurrency = true, 1
			a := l.read(t, o)
			if operation == "cloudwatch:DescribeAlarms" { // which serves Holdfast's own alarms too
				if len(a.Unread) != 2 || a.Unread[1].Kind != audit.KindGuardian {
					t.Errorf("unread\n%s", names(a.Unread))
				}
				a.Unread = a.Unread[:1]
			}
			if len(a.Unread) != 1 || a.Unread[0].Kind != kind || a.Unread[0].Name != "" || !strings.Contains(a.Unread[0].Why, "AccessDenied: not authorized") {
				t.Errorf("unread\n%s", names(a.Unread))
			}
			if n := l.Calls()[operation]; n != 1 {
				t.Errorf("asked %d times, want once", n)
			}
			if len(l.slept) != 0 {
				t.Errorf("slept %v for what no repetition mends", l.slept)
			}
			if operation != "autoscaling:DescribeAutoScalingGroups" && len(a.Groups) != 2 || operation != "elasticloadbalancing:DescribeTargetGroups" && len(a.TargetGroups) != 2 {
				t.Errorf("%d groups and %d target groups", len(a.Groups), len(a.TargetGroups))
			}
		})
	}
}

func TestAHoldThatCannotBeReadLeavesSuspensionsOut(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	l.Do(func(c *sim.Cloud) { must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy})) })
	must(t, l.SetFaults(world.Fault{Operation: "dynamodb:Query", FailFirst: -1}))
	a := l.read(t, l.options())
	if s := groupNamed(t, a, "web").Suspended; len(s) != 0 || !strings.Contains(names(a.Unread), `group "web" the group's holds`) {
		t.Errorf("suspended %v, unread\n%s", s, names(a.Unread))
	}
}

func TestNothingReadIsAnErrorAndNothingThereIsNone(t *testing.T) {
	empty := newLab(t)
	if a := empty.read(t, empty.options()); len(a.Groups)+len(a.TargetGroups)+len(a.Unread) != 0 || a.Region != "" {
		t.Errorf("an empty account: %s", text(t, a))
	}
	for _, faulty := range [][]string{{"*"}, {"autoscaling:*", "elasticloadbalancing:*"}} {
		l := newLab(t)
		l.fleet(t)
		var faults []world.Fault
		for _, operation := range faulty {
			faults = append(faults, world.Fault{Operation: operation, FailFirst: -1, Error: wire.Error{Code: "ExpiredToken", Message: "The security token is expired", Status: 403}})
		}
		must(t, l.SetFaults(faults...))
		_, err := collect.Read(t.Context(), l.api, l.options())
		if err == nil || !strings.Contains(err.Error(), "nothing could be read: DescribeAutoScalingGroups: ExpiredToken: The security token is expired") {
			t.Errorf("%v: have %v", faulty, err)
		}
	}
}

func TestAReadThatStaysThrottledIsNamedAfterMoreAndSlowerTries(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	must(t, l.SetFaults(world.Fault{Operation: "elasticloadbalancing:DescribeTargetHealth", Throttle: 1}))
	a := l.read(t, l.options())
	want := `target-group "idle" DescribeTargetHealth: Throttling: Rate exceeded
target-group "web" DescribeTargetHealth: Throttling: Rate exceeded
`
	if have := names(a.Unread); have != want {
		t.Errorf("unread\n%s", have)
	}
	// Each of the two waits a second after each of its four tries, and both wait between the rounds.
	slices.Sort(l.slept)
	second := time.Second
	if !slices.Equal(l.slept, []time.Duration{second, second, second, second, second, second, second, second, second, 2 * second, 4 * second}) {
		t.Errorf("slept %v", l.slept)
	}
	for _, tg := range a.TargetGroups {
		if tg.States != nil || tg.DrainSeconds == nil {
			t.Errorf("%s: states %v, attributes %v", tg.Name, tg.States, tg.DrainSeconds)
		}
	}
}

func TestAPassingFaultIsMendedByTheNextRound(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	must(t, l.SetFaults(world.Fault{Operation: "elasticloadbalancing:DescribeTargetGroups", FailFirst: 7}, world.Fault{Operation: "ssm:GetParametersByPath", FailFirst: 7}))
	a := l.read(t, l.options())
	if len(a.Unread) != 0 || len(a.TargetGroups) != 2 || groupNamed(t, a, "web").Policy == nil || !slices.Equal(l.slept, []time.Duration{time.Second, time.Second}) {
		t.Errorf("slept %v, unread\n%s", l.slept, names(a.Unread))
	}
}

func TestAnEndedContextLeavesTheRestUnread(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := l.options()
	o.Concurrency = 1
	o.Progress = func(p collect.Progress) {
		if strings.HasPrefix(p.Stage, "details") && p.Done == 2 {
			cancel()
		}
	}
	a, err := collect.Read(ctx, l.api, o)
	must(t, err)
	if len(a.Groups) != 2 || !strings.Contains(names(a.Unread), `target-group "web" DescribeTargetHealth: context canceled`) {
		t.Errorf("unread\n%s", names(a.Unread))
	}
}

func TestPagesMayBeShortOrEmptyAndProgressReachesItsEnd(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	l.notices(t)
	whole := text(t, l.read(t, l.options()))
	for _, operation := range []string{
		"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeScalingActivities", "elasticloadbalancing:DescribeTargetGroups",
		"ec2:DescribeApplicationStatusChecks", "cloudwatch:DescribeAlarms", "ssm:GetParametersByPath",
	} {
		must(t, l.SetFaults(world.Fault{Operation: operation, PageMax: 1, EmptyPages: 1}))
		last := map[string]collect.Progress{}
		o := l.options()
		o.Progress = func(p collect.Progress) { last[p.Stage] = p }
		if have := text(t, l.read(t, o)); have != whole {
			t.Errorf("%s: in short pages\n%s\nwhole\n%s", operation, have, whole)
		}
		for stage, p := range last {
			if p.Done != p.Total || p.Total == 0 {
				t.Errorf("%s ended at %d of %d", stage, p.Done, p.Total)
			}
		}
		if len(last) != 4 {
			t.Errorf("stages %v", last)
		}
	}
}
