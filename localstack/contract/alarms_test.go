package contract_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/holdfast-aws/holdfast/shared/alarms"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

func alarmRules() []rule {
	list := []rule{
		{name: "CloudWatch is understood in its client's own protocol", check: ownProtocol},
		{name: "an alarm is described as it was put", check: alarmIsWhole},
		{name: "a new alarm has insufficient data", check: newAlarm},
		{name: "an alarm's state can be set, that of an unknown one cannot", check: setAlarm},
		{name: "composite alarms come only when asked for", check: composites},
		{name: "metric data come back as statistics of the period", check: metricData},
		{name: "the newest statistics come first", check: newestFirst},
		{name: "Holdfast reads alarms, and one that is not there is missing", check: readsAlarms},
	}
	for i := range list {
		list[i].service = "cloudwatch"
	}
	return list
}

// alarm makes an alarm on a metric that has no data.
func (s *subject) alarm(ctx context.Context, word string) (string, error) {
	name := s.name(word)
	_, err := s.cloudwatch.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String(name), Namespace: aws.String("Contract"), MetricName: aws.String(name), Statistic: types.StatisticSum,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
	})
	return name, err
}

func (s *subject) setAlarm(ctx context.Context, name string, state types.StateValue) error {
	_, err := s.cloudwatch.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{AlarmName: aws.String(name), StateValue: state, StateReason: aws.String("drill")})
	return err
}

// alarmStates are the states of the alarms of this run with a word in their names: of metric alarms, and of composite ones.
func (s *subject) alarmStates(ctx context.Context, prefix string, kinds ...types.AlarmType) (metric, composite []string, err error) {
	metric, composite = []string{}, []string{}
	out, err := s.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: aws.String(prefix), AlarmTypes: kinds})
	if err != nil {
		return nil, nil, err
	}
	for _, a := range out.MetricAlarms {
		metric = append(metric, string(a.StateValue))
	}
	for _, a := range out.CompositeAlarms {
		composite = append(composite, string(a.StateValue))
	}
	return metric, composite, nil
}

// ownProtocol asks in Smithy RPC v2 CBOR.
func ownProtocol(ctx context.Context, s *subject) error {
	name, err := s.alarm(ctx, "cbor")
	if err != nil {
		return err
	}
	out, err := s.cloudwatchCBOR.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{name}})
	if err != nil {
		return err
	}
	if len(out.MetricAlarms) != 1 {
		return differ("alarms", len(out.MetricAlarms), 1)
	}
	a := out.MetricAlarms[0]
	return errors.Join(differ("name", aws.ToString(a.AlarmName), name),
		differ("has a time", a.StateUpdatedTimestamp == nil || a.StateUpdatedTimestamp.IsZero(), false))
}

func alarmIsWhole(ctx context.Context, s *subject) error {
	name, err := s.alarm(ctx, "whole")
	if err != nil {
		return err
	}
	out, err := s.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{name}})
	if err != nil || len(out.MetricAlarms) != 1 {
		return errors.Join(err, errors.New("not one alarm"))
	}
	a := out.MetricAlarms[0]
	return errors.Join(
		differ("metric", []string{aws.ToString(a.Namespace), aws.ToString(a.MetricName), string(a.Statistic)}, []string{"Contract", name, "Sum"}),
		differ("period and periods", []int32{aws.ToInt32(a.Period), aws.ToInt32(a.EvaluationPeriods)}, []int32{60, 1}),
		differ("threshold", aws.ToFloat64(a.Threshold), 1.0),
		differ("comparison", a.ComparisonOperator, types.ComparisonOperatorGreaterThanThreshold))
}

func newAlarm(ctx context.Context, s *subject) error {
	name, err := s.alarm(ctx, "new")
	if err != nil {
		return err
	}
	have, _, err := s.alarmStates(ctx, name)
	return errors.Join(err, differ("states", have, []string{"INSUFFICIENT_DATA"}))
}

func setAlarm(ctx context.Context, s *subject) error {
	name, err := s.alarm(ctx, "set")
	if err != nil {
		return err
	}
	for _, state := range []types.StateValue{types.StateValueAlarm, types.StateValueOk} {
		if err := s.setAlarm(ctx, name, state); err != nil {
			return err
		}
		have, _, err := s.alarmStates(ctx, name)
		if err = errors.Join(err, differ("states", have, []string{string(state)})); err != nil {
			return err
		}
	}
	return refused("an unknown alarm", s.setAlarm(ctx, s.name("nothing"), types.StateValueOk), "ResourceNotFound")
}

// composites asks for them in both ways. Source: SDK doc comment of DescribeAlarmsInput.AlarmTypes.
func composites(ctx context.Context, s *subject) error {
	child, err := s.alarm(ctx, "comp-child")
	if err != nil {
		return err
	}
	parent := s.name("comp-parent")
	if s.world != nil {
		s.world.Do(func(c *sim.Cloud) { err = c.PutAlarm(sim.AlarmSpec{Name: parent, AnyOf: []string{child}}) })
	} else {
		_, err = s.cloudwatch.PutCompositeAlarm(ctx, &cloudwatch.PutCompositeAlarmInput{AlarmName: aws.String(parent), AlarmRule: aws.String(`ALARM("` + child + `")`)})
	}
	if err != nil {
		return err
	}
	metric, composite, err := s.alarmStates(ctx, parent)
	if err = errors.Join(err, differ("without asking", len(metric)+len(composite), 0)); err != nil {
		return err
	}
	metric, composite, err = s.alarmStates(ctx, parent, types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm)
	return errors.Join(err, differ("metric and composite", []int{len(metric), len(composite)}, []int{0, 1}))
}

// metricStart is the whole minute in which the data of measure begin.
func (s *subject) metricStart() time.Time {
	return s.now().UTC().Truncate(time.Minute).Add(-5 * time.Minute)
}

// measure writes three values in two minutes and returns the statistics of a minute: by id, the minutes and the values as they came.
func (s *subject) measure(ctx context.Context, word string, start time.Time) ([]types.MetricDataResult, error) {
	name := s.name(word)
	datum := func(after time.Duration, v float64) types.MetricDatum {
		return types.MetricDatum{MetricName: aws.String(name), Timestamp: aws.Time(start.Add(after)), Value: aws.Float64(v)}
	}
	_, err := s.cloudwatch.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("Contract"),
		MetricData: []types.MetricDatum{datum(0, 2), datum(10*time.Second, 4), datum(time.Minute, 9)}})
	if err != nil {
		return nil, fmt.Errorf("put metric data: %w", err)
	}
	in := &cloudwatch.GetMetricDataInput{StartTime: aws.Time(start), EndTime: aws.Time(start.Add(4 * time.Minute))}
	for _, stat := range []string{"Sum", "Average", "Maximum", "SampleCount"} {
		in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{Id: aws.String("q" + stat), MetricStat: &types.MetricStat{
			Metric: &types.Metric{Namespace: aws.String("Contract"), MetricName: aws.String(name)}, Period: aws.Int32(60), Stat: aws.String(stat)}})
	}
	out, err := s.cloudwatch.GetMetricData(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("get metric data: %w", err)
	}
	return out.MetricDataResults, nil
}

func metricData(ctx context.Context, s *subject) error {
	start := s.metricStart()
	results, err := s.measure(ctx, "metric", start)
	if err != nil {
		return err
	}
	have := map[string]map[time.Duration]float64{}
	for _, r := range results {
		if len(r.Values) != len(r.Timestamps) {
			return differ("values beside times", len(r.Values), len(r.Timestamps))
		}
		minutes := map[time.Duration]float64{}
		for i, at := range r.Timestamps {
			minutes[at.Sub(start)] = r.Values[i]
		}
		have[aws.ToString(r.Id)] = minutes
	}
	return differ("statistics", have, map[string]map[time.Duration]float64{
		"qSum": {0: 6, time.Minute: 9}, "qAverage": {0: 3, time.Minute: 9}, "qMaximum": {0: 4, time.Minute: 9}, "qSampleCount": {0: 2, time.Minute: 1},
	})
}

// newestFirst is what nobody asked to be otherwise. Source: CloudWatch API reference, GetMetricData, ScanBy.
func newestFirst(ctx context.Context, s *subject) error {
	start := s.metricStart()
	results, err := s.measure(ctx, "order", start)
	if err != nil {
		return err
	}
	for _, r := range results {
		if len(r.Timestamps) != 2 || !r.Timestamps[0].After(r.Timestamps[1]) {
			return differ("times", r.Timestamps, []time.Time{start.Add(time.Minute), start})
		}
	}
	return differ("results", len(results), 4)
}

func readsAlarms(ctx context.Context, s *subject) error {
	red, errA := s.alarm(ctx, "red")
	fresh, errB := s.alarm(ctx, "fresh")
	if err := errors.Join(errA, errB, s.setAlarm(ctx, red, types.StateValueAlarm)); err != nil {
		return err
	}
	missing := s.name("nothing")
	have := map[string]string{}
	for name, r := range alarms.New(s.cloudwatch).Alarms(ctx, []string{red, fresh, missing}) {
		have[name] = r.State
		if r.State == guard.AlarmUnread {
			have[name] += ": " + r.Detail
		}
	}
	return differ("alarms", have, map[string]string{red: "ALARM", fresh: "INSUFFICIENT_DATA", missing: "MISSING"})
}
