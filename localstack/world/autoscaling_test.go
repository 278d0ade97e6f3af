package world_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func (l *lab) group(t *testing.T, name string) types.AutoScalingGroup {
	t.Helper()
	out, err := l.autoscaling.DescribeAutoScalingGroups(context.Background(),
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	must(t, err)
	if len(out.AutoScalingGroups) != 1 {
		t.Fatalf("%d groups named %s", len(out.AutoScalingGroups), name)
	}
	return out.AutoScalingGroups[0]
}

func (l *lab) mark(id string, status string, respect *bool) error {
	_, err := l.autoscaling.SetInstanceHealth(context.Background(), &autoscaling.SetInstanceHealthInput{
		InstanceId: aws.String(id), HealthStatus: aws.String(status), ShouldRespectGracePeriod: respect,
	})
	return err
}

func TestGroupsAreFoundByNameAndTag(t *testing.T) {
	l := newLab(t)
	filter := func(name string, values ...string) types.Filter {
		return types.Filter{Name: aws.String(name), Values: values}
	}
	cases := []struct {
		name string
		in   autoscaling.DescribeAutoScalingGroupsInput
		want []string
	}{
		{"all groups without a question", autoscaling.DescribeAutoScalingGroupsInput{}, []string{"web", "batch"}},
		{"unknown names are absent, not an error", autoscaling.DescribeAutoScalingGroupsInput{
			AutoScalingGroupNames: []string{"web", "nothing"}}, []string{"web"}},
		{"by tag and value", autoscaling.DescribeAutoScalingGroupsInput{
			Filters: []types.Filter{filter("tag:holdfast:managed", "true")}}, []string{"web"}},
		{"any of the values of one filter", autoscaling.DescribeAutoScalingGroupsInput{
			Filters: []types.Filter{filter("tag:team", "shop", "data")}}, []string{"web", "batch"}},
		{"all filters must pass", autoscaling.DescribeAutoScalingGroupsInput{
			Filters: []types.Filter{filter("tag:team", "data"), filter("tag-key", "holdfast:managed")}}, nil},
		{"by the value of any tag", autoscaling.DescribeAutoScalingGroupsInput{
			Filters: []types.Filter{filter("tag-value", "data")}}, []string{"batch"}},
		{"operated groups can be left out", autoscaling.DescribeAutoScalingGroupsInput{
			IncludeManagedResources: aws.Bool(false)}, []string{"web"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := l.autoscaling.DescribeAutoScalingGroups(context.Background(), &c.in)
			must(t, err)
			var got []string
			for _, g := range out.AutoScalingGroups {
				got = append(got, aws.ToString(g.AutoScalingGroupName))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestUnknownGroupFilterIsRefused(t *testing.T) {
	l := newLab(t)
	_, err := l.autoscaling.DescribeAutoScalingGroups(context.Background(), &autoscaling.DescribeAutoScalingGroupsInput{
		Filters: []types.Filter{{Name: aws.String("colour"), Values: []string{"red"}}}})
	refused(t, err, "ValidationError", "")
}

func TestGroupIsShownWhole(t *testing.T) {
	l := newLab(t)
	g := l.group(t, "web")
	var want sim.Group
	l.Do(func(c *sim.Cloud) { want, _ = c.Group("web") })
	if aws.ToString(g.AutoScalingGroupARN) != want.ARN || aws.ToInt32(g.DesiredCapacity) != 4 ||
		aws.ToInt32(g.MinSize) != 2 || aws.ToInt32(g.MaxSize) != 8 || aws.ToInt32(g.HealthCheckGracePeriod) != 300 {
		t.Errorf("group %+v", g)
	}
	if aws.ToString(g.HealthCheckType) != strings.Join(want.HealthCheckTypes, ",") || !slices.Equal(g.TargetGroupARNs, want.TargetGroupARNs) {
		t.Errorf("checks %q on %v", aws.ToString(g.HealthCheckType), g.TargetGroupARNs)
	}
	if len(g.Tags) != 2 || aws.ToString(g.Tags[0].Key) != "holdfast:managed" || g.Operator != nil {
		t.Errorf("tags %+v operator %v", g.Tags, g.Operator)
	}
	if len(g.Instances) != 4 {
		t.Fatalf("%d instances, want 4", len(g.Instances))
	}
	for i, m := range g.Instances {
		if aws.ToString(m.InstanceId) != want.Members[i].ID || m.LifecycleState != types.LifecycleStateInService ||
			aws.ToString(m.HealthStatus) != "Healthy" || aws.ToString(m.AvailabilityZone) != want.Members[i].Zone {
			t.Errorf("instance %d is %+v, want %+v", i, m, want.Members[i])
		}
	}
	ids := []string{aws.ToString(g.Instances[0].AvailabilityZoneId), aws.ToString(g.Instances[1].AvailabilityZoneId)}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"use1-az1", "use1-az2"}) {
		t.Errorf("zone IDs %v", ids)
	}
	if op := l.group(t, "batch").Operator; op == nil || aws.ToString(op.Principal) != "ecs.amazonaws.com" {
		t.Errorf("operator %+v", op)
	}
}

func TestMarkedMemberIsReplaced(t *testing.T) {
	l := newLab(t)
	id := l.member(t, "web", 0)
	must(t, l.mark(id, "Unhealthy", nil))
	l.clock.Add(20 * time.Minute)
	for _, m := range l.group(t, "web").Instances {
		if aws.ToString(m.InstanceId) == id {
			t.Errorf("member %s is still there as %s", id, m.LifecycleState)
		}
	}
	out, err := l.autoscaling.DescribeScalingActivities(context.Background(),
		&autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String("web")})
	must(t, err)
	var terminations int
	for _, a := range out.Activities {
		if strings.Contains(aws.ToString(a.Cause), "user health-check") && strings.Contains(aws.ToString(a.Description), id) {
			terminations++
		}
	}
	if terminations != 1 {
		t.Errorf("%d terminations of %s in %+v", terminations, id, out.Activities)
	}
}

func TestMarkInsideTheGracePeriodIsRefusedWithTheTextOfAWS(t *testing.T) {
	l := newLab(t)
	must(t, l.mark(l.member(t, "web", 0), "Unhealthy", nil))
	var young sim.Member
	for range 60 { // until the replacement is in service
		l.clock.Add(20 * time.Second)
		l.Do(func(c *sim.Cloud) {
			g, _ := c.Group("web")
			for _, m := range g.Members {
				if m.Lifecycle == sim.InService && c.Now().Sub(m.EnteredInService) < 300*time.Second {
					young = m
				}
			}
		})
		if young.ID != "" {
			break
		}
	}
	if young.ID == "" {
		t.Fatal("no replacement came into service")
	}
	age := int(l.clock.Now().Sub(young.EnteredInService) / time.Second)
	text := fmt.Sprintf("The age of the instance (%d seconds) is less than the configured grace period of 300 seconds", age)
	refused(t, l.mark(young.ID, "Unhealthy", nil), "ValidationError", text)
	refused(t, l.mark(young.ID, "Unhealthy", aws.Bool(true)), "ValidationError", text)
	must(t, l.mark(young.ID, "Unhealthy", aws.Bool(false)))
}

func TestMarksThatCannotBeAreRefused(t *testing.T) {
	l := newLab(t)
	refused(t, l.mark("i-00000000", "Unhealthy", nil), "ValidationError",
		"Instance Id not found - No managed instance found for instance ID: i-00000000")
	refused(t, l.mark(l.member(t, "web", 0), "Sick", nil), "ValidationError", "")
}

func TestSuspensionHoldsReplacementsAndNamesItsTime(t *testing.T) {
	l := newLab(t)
	// HealthCheck too: it would overwrite the mark, since nothing is wrong here.
	_, err := l.autoscaling.SuspendProcesses(context.Background(), &autoscaling.SuspendProcessesInput{
		AutoScalingGroupName: aws.String("web"), ScalingProcesses: []string{"ReplaceUnhealthy", "HealthCheck"}})
	must(t, err)
	id := l.member(t, "web", 1)
	must(t, l.mark(id, "Unhealthy", nil))
	l.clock.Add(time.Minute)
	g := l.group(t, "web")
	if len(g.SuspendedProcesses) != 2 || aws.ToString(g.SuspendedProcesses[1].ProcessName) != "ReplaceUnhealthy" ||
		aws.ToString(g.SuspendedProcesses[1].SuspensionReason) != "User suspended at 2026-11-30T12:00:00Z" {
		t.Errorf("suspended %+v", g.SuspendedProcesses)
	}
	kept := slices.ContainsFunc(g.Instances, func(m types.Instance) bool {
		return aws.ToString(m.InstanceId) == id && aws.ToString(m.HealthStatus) == "Unhealthy" && m.LifecycleState == types.LifecycleStateInService
	})
	if !kept {
		t.Errorf("the marked member is not kept: %+v", g.Instances)
	}
	_, err = l.autoscaling.ResumeProcesses(context.Background(), &autoscaling.ResumeProcessesInput{
		AutoScalingGroupName: aws.String("web"), ScalingProcesses: []string{"ReplaceUnhealthy"}})
	must(t, err)
	if left := l.group(t, "web").SuspendedProcesses; len(left) != 1 || aws.ToString(left[0].ProcessName) != "HealthCheck" {
		t.Errorf("still suspended: %+v", left)
	}
	l.clock.Add(time.Minute)
	for _, m := range l.group(t, "web").Instances {
		if aws.ToString(m.InstanceId) == id && m.LifecycleState == types.LifecycleStateInService {
			t.Error("the backlog was not released by the resume")
		}
	}
}

func TestEmptyListSuspendsEverything(t *testing.T) {
	for name, list := range map[string][]string{"no list": nil, "an empty list": {}} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			_, err := l.autoscaling.SuspendProcesses(context.Background(), &autoscaling.SuspendProcessesInput{
				AutoScalingGroupName: aws.String("web"), ScalingProcesses: list})
			must(t, err)
			if got := len(l.group(t, "web").SuspendedProcesses); got != len(sim.Processes()) {
				t.Errorf("%d processes suspended, want %d", got, len(sim.Processes()))
			}
		})
	}
}

func TestUnknownProcessOrGroupIsRefused(t *testing.T) {
	l := newLab(t)
	_, err := l.autoscaling.SuspendProcesses(context.Background(), &autoscaling.SuspendProcessesInput{
		AutoScalingGroupName: aws.String("web"), ScalingProcesses: []string{"Everything"}})
	refused(t, err, "ValidationError", "")
	_, err = l.autoscaling.ResumeProcesses(context.Background(), &autoscaling.ResumeProcessesInput{
		AutoScalingGroupName: aws.String("nothing"), ScalingProcesses: []string{"Launch"}})
	refused(t, err, "ValidationError", "AutoScalingGroup name not found - AutoScalingGroup 'nothing' not found")
}

func TestInstancesAreShownInCapitals(t *testing.T) {
	l := newLab(t)
	id := l.member(t, "web", 2)
	must(t, l.mark(id, "Unhealthy", nil))
	out, err := l.autoscaling.DescribeAutoScalingInstances(context.Background(), &autoscaling.DescribeAutoScalingInstancesInput{
		InstanceIds: []string{l.member(t, "web", 3), "i-00000000", id}})
	must(t, err)
	got := map[string]string{}
	for _, m := range out.AutoScalingInstances {
		got[aws.ToString(m.InstanceId)] = aws.ToString(m.HealthStatus)
	}
	if len(got) != 2 || got[id] != "UNHEALTHY" || got[l.member(t, "web", 3)] != "HEALTHY" {
		t.Errorf("got %v", got)
	}
}

func TestInstanceRefreshesAreShownNewestFirst(t *testing.T) {
	l := newLab(t)
	l.Do(func(c *sim.Cloud) { must(t, c.SetRefresh("web", "InProgress")) })
	in := &autoscaling.DescribeInstanceRefreshesInput{AutoScalingGroupName: aws.String("web")}
	out, err := l.autoscaling.DescribeInstanceRefreshes(context.Background(), in)
	must(t, err)
	if len(out.InstanceRefreshes) != 1 || out.InstanceRefreshes[0].Status != types.InstanceRefreshStatusInProgress {
		t.Errorf("got %+v", out.InstanceRefreshes)
	}
	in.AutoScalingGroupName = aws.String("nothing")
	_, err = l.autoscaling.DescribeInstanceRefreshes(context.Background(), in)
	refused(t, err, "ValidationError", "")
}

func TestActivitiesAreFilteredByStatusAndTime(t *testing.T) {
	l := newLab(t)
	must(t, l.mark(l.member(t, "web", 0), "Unhealthy", nil))
	l.clock.Add(time.Hour)
	count := func(filters ...types.Filter) int {
		out, err := l.autoscaling.DescribeScalingActivities(context.Background(), &autoscaling.DescribeScalingActivitiesInput{
			AutoScalingGroupName: aws.String("web"), Filters: filters})
		must(t, err)
		return len(out.Activities)
	}
	since := types.Filter{Name: aws.String("StartTimeLowerBound"), Values: []string{"2026-11-30T12:00:00Z"}}
	later := types.Filter{Name: aws.String("StartTimeLowerBound"), Values: []string{"2026-11-30T12:59:00Z"}}
	failed := types.Filter{Name: aws.String("Status"), Values: []string{"Failed"}}
	if n := count(since); n != 2 {
		t.Errorf("%d activities since the mark, want termination and launch", n)
	}
	if n := count(later); n != 0 {
		t.Errorf("%d activities in the last minute, want none", n)
	}
	if n := count(since, failed); n != 0 {
		t.Errorf("%d failed activities, want none", n)
	}
}
