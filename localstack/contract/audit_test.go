package contract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
)

// auditRules are about what only the audit reads.
func auditRules() []rule {
	return []rule{
		{service: "loadbalancing", name: "a target group's attributes have AWS's defaults", check: attributesAreWhole},
		{service: "loadbalancing", name: "a target group has the tags that it was given", check: tagsOfTargetGroups},
		{service: "cloudwatch", name: "an alarm is found by its metric with its dimensions", check: alarmByMetric},
		{service: "cloudwatch", name: "an alarm is found by the beginning of an action", check: alarmByAction},
		{service: "sns", name: "a topic counts its confirmed subscriptions", check: subscriptionsCounted},
		{service: "autoscaling", name: "Holdfast's audit reads a group and its target group", check: auditReads},
	}
}

// attributesAreWhole asks for what was never set. Source: SDK doc comment of TargetGroupAttribute.Key.
func attributesAreWhole(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	out, err := s.elb.DescribeTargetGroupAttributes(ctx, &elb.DescribeTargetGroupAttributesInput{TargetGroupArn: aws.String(f.targetGroup)})
	if err != nil {
		return err
	}
	have := map[string]string{}
	for _, a := range out.Attributes {
		have[aws.ToString(a.Key)] = aws.ToString(a.Value)
	}
	const health = "target_group_health."
	var errs []error
	for key, want := range map[string]string{
		"deregistration_delay.timeout_seconds": "300", "slow_start.duration_seconds": "0",
		health + "unhealthy_state_routing.minimum_healthy_targets.count": "1", health + "unhealthy_state_routing.minimum_healthy_targets.percentage": "off",
		health + "dns_failover.minimum_healthy_targets.count": "1", health + "dns_failover.minimum_healthy_targets.percentage": "off",
	} {
		errs = append(errs, differ(key, have[key], want))
	}
	return errors.Join(errs...)
}

func tagsOfTargetGroups(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	_, err = s.elb.AddTags(ctx, &elb.AddTagsInput{ResourceArns: []string{f.targetGroup}, Tags: []elbtypes.Tag{{Key: aws.String("holdfast:service"), Value: aws.String("web")}}})
	if err != nil {
		return fmt.Errorf("add tags: %w", err)
	}
	out, err := s.elb.DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: []string{f.targetGroup}})
	if err != nil || len(out.TagDescriptions) != 1 {
		return errors.Join(err, errors.New("not one description"))
	}
	d := out.TagDescriptions[0]
	return errors.Join(differ("ARN", aws.ToString(d.ResourceArn), f.targetGroup), differ("has the tag", slices.ContainsFunc(d.Tags, func(tag elbtypes.Tag) bool {
		return aws.ToString(tag.Key) == "holdfast:service" && aws.ToString(tag.Value) == "web"
	}), true))
}

// ownAlarm makes an alarm on a metric with a dimension, which tells a topic.
func (s *subject) ownAlarm(ctx context.Context, word, topic string) (string, []types.Dimension, error) {
	name := s.name(word)
	dims := []types.Dimension{{Name: aws.String("function"), Value: aws.String(name)}}
	_, err := s.cloudwatch.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String(name), Namespace: aws.String("Contract"), MetricName: aws.String("runs"), Dimensions: dims, Statistic: types.StatisticSum,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(3), Threshold: aws.Float64(1), TreatMissingData: aws.String("breaching"),
		ComparisonOperator: types.ComparisonOperatorLessThanThreshold, AlarmActions: []string{topic},
	})
	return name, dims, err
}

func alarmByMetric(ctx context.Context, s *subject) error {
	topic := "arn:aws:sns:" + region + ":111122223333:" + s.name("by-metric")
	name, dims, err := s.ownAlarm(ctx, "by-metric", topic)
	if err != nil {
		return err
	}
	ask := func(dims []types.Dimension) ([]string, error) {
		out, err := s.cloudwatch.DescribeAlarmsForMetric(ctx, &cloudwatch.DescribeAlarmsForMetricInput{
			Namespace: aws.String("Contract"), MetricName: aws.String("runs"), Dimensions: dims,
		})
		if err != nil {
			return nil, err
		}
		found := []string{}
		for _, a := range out.MetricAlarms {
			found = append(found, aws.ToString(a.AlarmName)+" tells "+fmt.Sprint(a.AlarmActions))
		}
		return found, nil
	}
	have, err := ask(dims)
	other, errOther := ask([]types.Dimension{{Name: aws.String("function"), Value: aws.String(s.name("nothing"))}})
	return errors.Join(err, errOther, differ("alarms of the metric", have, []string{name + " tells [" + topic + "]"}), differ("alarms of another metric", other, []string{}))
}

func alarmByAction(ctx context.Context, s *subject) error {
	topic := "arn:aws:sns:" + region + ":111122223333:" + s.name("by-action")
	name, _, err := s.ownAlarm(ctx, "by-action", topic)
	if err != nil {
		return err
	}
	out, err := s.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{ActionPrefix: aws.String(topic)})
	if err != nil {
		return err
	}
	have := []string{}
	for _, a := range out.MetricAlarms {
		have = append(have, aws.ToString(a.AlarmName)+" "+aws.ToString(a.TreatMissingData))
	}
	return differ("alarms with that action", have, []string{name + " breaching"})
}

func subscriptionsCounted(ctx context.Context, s *subject) error {
	_, queue, err := s.queue(ctx, "counted")
	if err != nil {
		return err
	}
	topic, err := s.sns.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String(s.name("counted"))})
	if err != nil {
		return fmt.Errorf("create topic: %w", err)
	}
	count := func() (string, error) {
		out, err := s.sns.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: topic.TopicArn})
		if err != nil {
			return "", err
		}
		return out.Attributes["SubscriptionsConfirmed"], nil
	}
	before, err := count()
	if err != nil {
		return err
	}
	if _, err := s.sns.Subscribe(ctx, &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(queue)}); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	after, err := count()
	return errors.Join(err, differ("before and after a queue subscribed", []string{before, after}, []string{"0", "1"}))
}

// auditReads reads by Holdfast's own code; the status checks of EC2 are left to the embedded peer, which alone has them.
func auditReads(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	api := collect.API{AutoScaling: s.autoscaling, LoadBalancing: s.elb, EC2: s.ec2, CloudWatch: s.cloudwatch, SNS: s.sns, Policies: s.ssm}
	account, err := collect.Read(ctx, api, collect.Options{
		Region: region, Groups: []string{f.group}, Now: s.now, Concurrency: 1, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		return err
	}
	if len(account.Groups) != 1 || len(account.TargetGroups) != 1 {
		return differ("groups and target groups", []int{len(account.Groups), len(account.TargetGroups)}, []int{1, 1})
	}
	g, t := account.Groups[0], account.TargetGroups[0]
	members, states := []string{}, []string{}
	for _, m := range g.Members {
		members, states = append(members, m.ID), append(states, m.Targets[f.targetGroup])
	}
	unread := []string{}
	for _, u := range account.Unread {
		unread = append(unread, u.What)
	}
	return errors.Join(
		differ("members", members, f.ids), differ("states", states, []string{"healthy", "healthy", "healthy"}),
		differ("types", g.HealthCheckTypes, []string{"EC2", "ELB"}), differ("its target groups", g.TargetGroups, []string{f.targetGroup}),
		differ("interval, timeout, counts, delay", numbers(t.IntervalSeconds, t.TimeoutSeconds, t.HealthyCount, t.UnhealthyCount, t.DrainSeconds), []int{30, 5, 5, 2, 300}),
		differ("fail-open and DNS", numbers(t.FailOpenCount, t.FailOpenPercent, t.DNSCount, t.DNSPercent), []int{1, audit.NotSet, 1, audit.NotSet}),
		differ("what could not be read", unread, []string{"heartbeats"}), // no table was named
	)
}

// numbers are the values of settings; one that is unknown shows as -99.
func numbers(all ...*int) []int {
	out := []int{}
	for _, n := range all {
		if n == nil {
			out = append(out, -99)
			continue
		}
		out = append(out, *n)
	}
	return out
}
