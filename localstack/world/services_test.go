package world_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func (l *lab) targetGroup(t *testing.T) elbtypes.TargetGroup {
	t.Helper()
	out, err := l.elb.DescribeTargetGroups(context.Background(), &elb.DescribeTargetGroupsInput{Names: []string{"web"}})
	must(t, err)
	if len(out.TargetGroups) != 1 {
		t.Fatalf("%d target groups", len(out.TargetGroups))
	}
	return out.TargetGroups[0]
}

func TestTargetGroupShowsItsHealthCheck(t *testing.T) {
	l := newLab(t)
	g := l.targetGroup(t)
	if aws.ToString(g.HealthCheckPath) != "/health" || aws.ToInt32(g.HealthCheckIntervalSeconds) != 30 ||
		aws.ToInt32(g.UnhealthyThresholdCount) != 2 || aws.ToInt32(g.Port) != 8080 || len(g.LoadBalancerArns) != 1 {
		t.Errorf("got %+v", g)
	}
	_, err := l.elb.DescribeTargetGroups(context.Background(), &elb.DescribeTargetGroupsInput{Names: []string{"nothing"}})
	refused(t, err, "TargetGroupNotFound", "")
}

func TestTargetHealthFollowsTheInstance(t *testing.T) {
	l := newLab(t)
	arn := l.targetGroup(t).TargetGroupArn
	id := l.member(t, "web", 0)
	l.Do(func(c *sim.Cloud) {
		must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy}))
		must(t, c.Break(id, sim.Hang))
	})
	l.clock.Add(3 * time.Minute)
	out, err := l.elb.DescribeTargetHealth(context.Background(), &elb.DescribeTargetHealthInput{
		TargetGroupArn: arn, Targets: []elbtypes.TargetDescription{
			{Id: aws.String(id)}, {Id: aws.String("i-00000000")}, {Id: aws.String(l.member(t, "web", 1)), Port: aws.Int32(8081)}}})
	must(t, err)
	var got []string
	for _, d := range out.TargetHealthDescriptions {
		got = append(got, string(d.TargetHealth.State)+" "+string(d.TargetHealth.Reason))
		if d.AnomalyDetection != nil {
			t.Error("anomaly detection was not asked for")
		}
	}
	// the broken one on its two ports, the unknown one, the healthy one on one port
	want := []string{"unhealthy Target.Timeout", "unhealthy Target.Timeout", "unused Target.NotRegistered", "healthy "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	all, err := l.elb.DescribeTargetHealth(context.Background(), &elb.DescribeTargetHealthInput{TargetGroupArn: arn,
		Include: []elbtypes.DescribeTargetHealthInputIncludeEnum{elbtypes.DescribeTargetHealthInputIncludeEnumAll}})
	must(t, err)
	if n := len(all.TargetHealthDescriptions); n != 8 {
		t.Errorf("%d registrations, want 8: four members on two ports", n)
	}
	for _, d := range all.TargetHealthDescriptions {
		if d.AnomalyDetection == nil || d.AdministrativeOverride == nil || d.Target.Port == nil {
			t.Errorf("incomplete %+v", d)
		}
	}
}

func TestHealthOfAnUnknownTargetGroupIsAnError(t *testing.T) {
	l := newLab(t)
	_, err := l.elb.DescribeTargetHealth(context.Background(), &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String("web")})
	refused(t, err, "TargetGroupNotFound", "")
}

func (l *lab) alarms(t *testing.T, in *cloudwatch.DescribeAlarmsInput) map[string]string {
	t.Helper()
	out, err := l.cloudwatch.DescribeAlarms(context.Background(), in)
	must(t, err)
	got := map[string]string{}
	for _, a := range out.MetricAlarms {
		got[aws.ToString(a.AlarmName)] = string(a.StateValue)
	}
	for _, a := range out.CompositeAlarms {
		got["composite "+aws.ToString(a.AlarmName)] = string(a.StateValue)
	}
	return got
}

func TestCompositeAlarmsComeOnlyWhenAskedFor(t *testing.T) {
	l := newLab(t)
	if got := l.alarms(t, &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{"db-down", "any-down", "nothing"}}); len(got) != 1 || got["db-down"] != "OK" {
		t.Errorf("without AlarmTypes: %v", got)
	}
	got := l.alarms(t, &cloudwatch.DescribeAlarmsInput{AlarmTypes: []cwtypes.AlarmType{
		cwtypes.AlarmTypeMetricAlarm, cwtypes.AlarmTypeCompositeAlarm}})
	if len(got) != 2 || got["composite any-down"] != "OK" {
		t.Errorf("with both types: %v", got)
	}
}

func TestAlarmsFollowTheDependency(t *testing.T) {
	l := newLab(t)
	l.Do(func(c *sim.Cloud) { must(t, c.SetDependency("db", sim.DependencyDown, 1)) })
	l.clock.Add(5 * time.Minute)
	got := l.alarms(t, &cloudwatch.DescribeAlarmsInput{StateValue: cwtypes.StateValueAlarm,
		AlarmTypes: []cwtypes.AlarmType{cwtypes.AlarmTypeMetricAlarm, cwtypes.AlarmTypeCompositeAlarm}})
	if len(got) != 2 {
		t.Errorf("red alarms %v, want the alarm and its composite", got)
	}
}

func TestAlarmStateCanBeSetByHand(t *testing.T) {
	l := newLab(t)
	_, err := l.cloudwatch.PutMetricAlarm(context.Background(), &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("by-hand"), EvaluationPeriods: aws.Int32(1), Period: aws.Int32(60),
		ComparisonOperator: cwtypes.ComparisonOperatorGreaterThanThreshold, Threshold: aws.Float64(1)})
	must(t, err)
	if got := l.alarms(t, &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: aws.String("by-")}); got["by-hand"] != "INSUFFICIENT_DATA" {
		t.Errorf("a new alarm is %v", got)
	}
	_, err = l.cloudwatch.SetAlarmState(context.Background(), &cloudwatch.SetAlarmStateInput{
		AlarmName: aws.String("by-hand"), StateValue: cwtypes.StateValueAlarm, StateReason: aws.String("drill")})
	must(t, err)
	if got := l.alarms(t, &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: aws.String("by-")}); got["by-hand"] != "ALARM" {
		t.Errorf("after SetAlarmState %v", got)
	}
	_, err = l.cloudwatch.SetAlarmState(context.Background(), &cloudwatch.SetAlarmStateInput{
		AlarmName: aws.String("nothing"), StateValue: cwtypes.StateValueAlarm, StateReason: aws.String("drill")})
	refused(t, err, "ResourceNotFound", "")
}

func TestMetricDataComesBackAsStatistics(t *testing.T) {
	l := newLab(t)
	dims := []cwtypes.Dimension{{Name: aws.String("Group"), Value: aws.String("web")}}
	start := l.clock.Now()
	_, err := l.cloudwatch.PutMetricData(context.Background(), &cloudwatch.PutMetricDataInput{
		Namespace: aws.String("Holdfast"), MetricData: []cwtypes.MetricDatum{
			{MetricName: aws.String("Holds"), Dimensions: dims, Timestamp: aws.Time(start), Value: aws.Float64(2)},
			{MetricName: aws.String("Holds"), Dimensions: dims, Timestamp: aws.Time(start.Add(10 * time.Second)), Value: aws.Float64(4)},
			{MetricName: aws.String("Holds"), Dimensions: dims, Timestamp: aws.Time(start.Add(time.Minute)), Value: aws.Float64(9)},
			{MetricName: aws.String("Holds"), Timestamp: aws.Time(start), Value: aws.Float64(100)},
		}})
	must(t, err)
	query := func(id, stat string) cwtypes.MetricDataQuery {
		return cwtypes.MetricDataQuery{Id: aws.String(id), MetricStat: &cwtypes.MetricStat{
			Metric: &cwtypes.Metric{Namespace: aws.String("Holdfast"), MetricName: aws.String("Holds"), Dimensions: dims},
			Period: aws.Int32(60), Stat: aws.String(stat)}}
	}
	out, err := l.cloudwatch.GetMetricData(context.Background(), &cloudwatch.GetMetricDataInput{
		StartTime: aws.Time(start), EndTime: aws.Time(start.Add(time.Hour)),
		MetricDataQueries: []cwtypes.MetricDataQuery{query("s", "Sum"), query("a", "Average"), query("m", "Maximum"), query("n", "SampleCount")}})
	must(t, err)
	want := map[string][]float64{"s": {9, 6}, "a": {9, 3}, "m": {9, 4}, "n": {1, 2}}
	for _, r := range out.MetricDataResults {
		if !slices.Equal(r.Values, want[aws.ToString(r.Id)]) {
			t.Errorf("%s: %v, want %v", aws.ToString(r.Id), r.Values, want[aws.ToString(r.Id)])
		}
		if len(r.Timestamps) != 2 || !r.Timestamps[1].Equal(start) {
			t.Errorf("times %v", r.Timestamps)
		}
	}
}

func TestInstancesAreReadByTheEC2Client(t *testing.T) {
	l := newLab(t)
	id := l.member(t, "web", 0)
	l.Do(func(c *sim.Cloud) { must(t, c.SetInstanceTag(id, "holdfast:exclude", "true")) })
	out, err := l.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	if len(out.Reservations) != 1 || len(out.Reservations[0].Instances) != 1 {
		t.Fatalf("got %+v", out.Reservations)
	}
	var want sim.Member
	l.Do(func(c *sim.Cloud) { want, _ = c.Instance(id) })
	got := out.Reservations[0].Instances[0]
	tags := map[string]string{}
	for _, tag := range got.Tags {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	if aws.ToString(got.InstanceId) != id || got.State.Name != ec2types.InstanceStateNameRunning || aws.ToInt32(got.State.Code) != 16 ||
		!aws.ToTime(got.LaunchTime).Equal(want.Launched.Truncate(time.Millisecond)) ||
		aws.ToString(got.Placement.AvailabilityZone) != want.Zone || aws.ToString(got.PrivateIpAddress) != want.PrivateIP ||
		string(got.InstanceType) != want.InstanceType {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if tags["holdfast:exclude"] != "true" || tags["aws:autoscaling:groupName"] != "web" {
		t.Errorf("tags %v", tags)
	}
}

func TestInstancesAreFilteredAndPaged(t *testing.T) {
	l := newLab(t)
	pages := ec2.NewDescribeInstancesPaginator(l.ec2, &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1),
		Filters: []ec2types.Filter{
			{Name: aws.String("tag:aws:autoscaling:groupName"), Values: []string{"web"}},
			{Name: aws.String("instance-state-name"), Values: []string{"running", "pending"}},
			{Name: aws.String("availability-zone"), Values: []string{"us-east-1a"}},
		}})
	var count, asked int
	for pages.HasMorePages() {
		out, err := pages.NextPage(context.Background())
		must(t, err)
		count += len(out.Reservations)
		asked++
	}
	if count != 2 || asked != 2 {
		t.Errorf("%d instances in %d pages, want 2 in 2", count, asked)
	}
	_, err := l.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: []string{"i-00000000"}})
	refused(t, err, "InvalidInstanceID.NotFound", "The instance ID 'i-00000000' does not exist")
}

func TestInstanceFiltersKnowWildcards(t *testing.T) {
	l := newLab(t)
	for value, want := range map[string]int{
		"web": 4, "w*": 4, "*": 6, "?eb": 4, "*e*": 4, "w": 0, "web?": 0, `w\*`: 0, `w\eb`: 4, "batc?": 2, "": 0,
	} {
		out, err := l.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
			{Name: aws.String("tag:aws:autoscaling:groupName"), Values: []string{value}}}})
		must(t, err)
		if len(out.Reservations) != want {
			t.Errorf("%q finds %d instances, want %d", value, len(out.Reservations), want)
		}
	}
}
