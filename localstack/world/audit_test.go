package world_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

func TestAttributesAreThoseOfTheTargetGroup(t *testing.T) {
	l := newLab(t)
	var arn string
	l.Do(func(c *sim.Cloud) {
		var err error
		arn, err = c.CreateTargetGroup(sim.TargetGroupSpec{Name: "other", DeregistrationDelay: -1, MinHealthyTargets: 3})
		must(t, err)
	})
	for _, c := range []struct {
		arn, drain, count string
	}{
		{aws.ToString(l.targetGroup(t).TargetGroupArn), "300", "1"},
		{arn, "0", "3"},
	} {
		out, err := l.elb.DescribeTargetGroupAttributes(context.Background(), &elb.DescribeTargetGroupAttributesInput{TargetGroupArn: aws.String(c.arn)})
		must(t, err)
		have := map[string]string{}
		for _, a := range out.Attributes {
			have[aws.ToString(a.Key)] = aws.ToString(a.Value)
		}
		if have["deregistration_delay.timeout_seconds"] != c.drain ||
			have["target_group_health.unhealthy_state_routing.minimum_healthy_targets.count"] != c.count ||
			have["target_group_health.dns_failover.minimum_healthy_targets.percentage"] != "off" {
			t.Errorf("%s: %v", c.arn, have)
		}
	}
	_, err := l.elb.DescribeTargetGroupAttributes(context.Background(), &elb.DescribeTargetGroupAttributesInput{TargetGroupArn: aws.String("web")})
	refused(t, err, "TargetGroupNotFound", "")
}

func TestTargetGroupsHaveTheTagsThatWereAdded(t *testing.T) {
	l := newLab(t)
	arn := aws.ToString(l.targetGroup(t).TargetGroupArn)
	_, err := l.elb.AddTags(context.Background(), &elb.AddTagsInput{ResourceArns: []string{arn}, Tags: []elbtypes.Tag{
		{Key: aws.String("team"), Value: aws.String("shop")}, {Key: aws.String("holdfast:service"), Value: aws.String("web")}}})
	must(t, err)
	_, err = l.elb.AddTags(context.Background(), &elb.AddTagsInput{ResourceArns: []string{arn}, Tags: []elbtypes.Tag{{Key: aws.String("team"), Value: aws.String("cart")}}})
	must(t, err)
	out, err := l.elb.DescribeTags(context.Background(), &elb.DescribeTagsInput{ResourceArns: []string{arn}})
	must(t, err)
	if len(out.TagDescriptions) != 1 || len(out.TagDescriptions[0].Tags) != 2 ||
		aws.ToString(out.TagDescriptions[0].Tags[0].Key) != "holdfast:service" || aws.ToString(out.TagDescriptions[0].Tags[1].Value) != "cart" {
		t.Errorf("tags %+v", out.TagDescriptions)
	}
	_, err = l.elb.DescribeTags(context.Background(), &elb.DescribeTagsInput{ResourceArns: []string{arn, arn + "0"}})
	refused(t, err, "TargetGroupNotFound", "")
	_, err = l.elb.DescribeTags(context.Background(), &elb.DescribeTagsInput{ResourceArns: make([]string, 21)})
	refused(t, err, "ValidationError", "")
}

func TestAnAlarmIsFoundByItsMetricAndByItsAction(t *testing.T) {
	l := newLab(t)
	dims := []cwtypes.Dimension{{Name: aws.String("function"), Value: aws.String("sweep")}, {Name: aws.String("shard"), Value: aws.String("0")}}
	_, err := l.cloudwatch.PutMetricAlarm(context.Background(), &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("no-sweep"), EvaluationPeriods: aws.Int32(3), Period: aws.Int32(60), TreatMissingData: aws.String("breaching"),
		Namespace: aws.String("Holdfast"), MetricName: aws.String("sweep_completed"), Dimensions: dims, Statistic: cwtypes.StatisticSum,
		ComparisonOperator: cwtypes.ComparisonOperatorLessThanThreshold, Threshold: aws.Float64(1), ActionsEnabled: aws.Bool(false),
		AlarmActions: []string{"arn:aws:sns:us-east-1:111122223333:notices"},
	})
	must(t, err)
	ask := func(dims []cwtypes.Dimension) []cwtypes.MetricAlarm {
		out, err := l.cloudwatch.DescribeAlarmsForMetric(context.Background(), &cloudwatch.DescribeAlarmsForMetricInput{
			Namespace: aws.String("Holdfast"), MetricName: aws.String("sweep_completed"), Dimensions: dims})
		must(t, err)
		return out.MetricAlarms
	}
	found := ask([]cwtypes.Dimension{dims[1], dims[0]})
	if len(found) != 1 || aws.ToString(found[0].TreatMissingData) != "breaching" || aws.ToBool(found[0].ActionsEnabled) ||
		aws.ToString(found[0].StateReason) != "Unchecked: Initial alarm creation" {
		t.Errorf("by its metric: %+v", found)
	}
	if found := ask(dims[:1]); len(found) != 0 {
		t.Errorf("another metric has %d alarms", len(found))
	}
	for prefix, want := range map[string]int{"arn:aws:sns:us-east-1:111122223333:notices": 1, "arn:aws:sns:": 1, "arn:aws:lambda:": 0} {
		if got := l.alarms(t, &cloudwatch.DescribeAlarmsInput{ActionPrefix: aws.String(prefix)}); len(got) != want {
			t.Errorf("%s: %v, want %d", prefix, got, want)
		}
	}
	if got := l.alarms(t, &cloudwatch.DescribeAlarmsInput{}); len(got) != 2 {
		t.Errorf("without a prefix: %v, want two metric alarms", got)
	}
}

func TestStatusChecksAreReadByTheEC2Client(t *testing.T) {
	l := newLab(t)
	must(t, l.SetFaults(world.Fault{Operation: "ec2:DescribeApplicationStatusCheckAssociations", PageMax: 1}))
	l.SetStatusChecks(
		world.StatusCheck{ID: "asc-1", Path: "/ready", Tags: [][2]string{{"aws:autoscaling:groupName", "web"}}, Instances: []string{"i-1", "i-2"}},
		world.StatusCheck{ID: "asc-2", Path: "/", Excluded: true, Failures: 5},
	)
	checks, err := l.ec2.DescribeApplicationStatusChecks(context.Background(), &ec2.DescribeApplicationStatusChecksInput{})
	must(t, err)
	if len(checks.ApplicationStatusChecks) != 2 {
		t.Fatalf("%d checks", len(checks.ApplicationStatusChecks))
	}
	a, b := checks.ApplicationStatusChecks[0], checks.ApplicationStatusChecks[1]
	if aws.ToString(a.Path) != "/ready" || aws.ToInt32(a.FailureThreshold) != 2 || aws.ToInt32(a.Interval) != 60 || a.Aggregation != "included" ||
		aws.ToInt32(b.FailureThreshold) != 5 || b.Aggregation != "excluded" {
		t.Errorf("checks %+v and %+v", a, b)
	}
	var got []string
	in := &ec2.DescribeApplicationStatusCheckAssociationsInput{}
	for pages := 1; ; pages++ {
		out, err := l.ec2.DescribeApplicationStatusCheckAssociations(context.Background(), in)
		must(t, err)
		for _, x := range out.Associations {
			got = append(got, string(x.AssociationType)+" "+aws.ToString(x.Key)+" "+aws.ToString(x.Value))
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
	}
	want := []string{"tag aws:autoscaling:groupName web", "instance-id  i-1", "instance-id  i-2"}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("associations %q, want %q", got, want)
	}
}

func TestSuppressedInstancesAreFoundByTheirStatus(t *testing.T) {
	l := newLab(t)
	id := l.member(t, "web", 1)
	l.SuppressStatusChecks(id)
	ask := func(filters ...ec2types.Filter) []ec2types.InstanceApplicationStatus {
		out, err := l.ec2.DescribeApplicationStatus(context.Background(), &ec2.DescribeApplicationStatusInput{Filters: filters})
		must(t, err)
		return out.ApplicationStatuses.Instances
	}
	got := ask(ec2types.Filter{Name: aws.String("status"), Values: []string{"suppressed"}})
	if len(got) != 1 || aws.ToString(got[0].InstanceId) != id || got[0].ApplicationStatus.Status != ec2types.ApplicationStatusEnumSuppressed {
		t.Errorf("got %+v", got)
	}
	if all := ask(); len(all) != 6 {
		t.Errorf("%d statuses, want one for each member", len(all))
	}
	_, err := l.ec2.DescribeApplicationStatus(context.Background(), &ec2.DescribeApplicationStatusInput{
		Filters: []ec2types.Filter{{Name: aws.String("colour"), Values: []string{"red"}}}})
	refused(t, err, "InvalidParameterValue", "")
}
