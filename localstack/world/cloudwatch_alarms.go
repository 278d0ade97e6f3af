package world

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// neverEvaluated is the reason of an alarm before its first evaluation.
const neverEvaluated = "Unchecked: Initial alarm creation"

// putMetricAlarm makes an alarm that only SetAlarmState moves. Like in AWS a new
// alarm begins without data. It is shown as it was put.
func (w *cloudWatch) putMetricAlarm(in *cw.PutMetricAlarmInput) (*cw.PutMetricAlarmOutput, error) {
	spec := sim.AlarmSpec{
		Name: aws.ToString(in.AlarmName), Description: aws.ToString(in.AlarmDescription),
		Period:      time.Duration(aws.ToInt32(in.Period)) * time.Second,
		Evaluations: int(aws.ToInt32(in.EvaluationPeriods)), State: sim.AlarmInsufficient,
	}
	var err error
	w.server.Do(func(c *sim.Cloud) {
		for _, old := range c.Alarms() {
			if old.Name == spec.Name { // an update keeps what drives the alarm
				spec.Dependency = old.Dependency
			}
		}
		err = c.PutAlarm(spec)
	})
	if err != nil {
		return nil, alarmError(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.puts == nil {
		w.puts = map[string]cw.PutMetricAlarmInput{}
	}
	w.puts[spec.Name] = *in
	return &cw.PutMetricAlarmOutput{}, nil
}

// asPut returns an alarm as a client put it.
func (w *cloudWatch) asPut(name string) (cw.PutMetricAlarmInput, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in, ok := w.puts[name]
	return in, ok
}

// tells reports whether an alarm has an action that begins with the prefix.
func (w *cloudWatch) tells(name string, prefix *string) bool {
	if prefix == nil {
		return true
	}
	in, _ := w.asPut(name)
	return slices.ContainsFunc(slices.Concat(in.AlarmActions, in.OKActions, in.InsufficientDataActions), func(action string) bool {
		return strings.HasPrefix(action, *prefix)
	})
}

// metricAlarmOf shows an alarm: one of the simulator's as if it were on a metric
// of the dependency, one that a client put as it was put.
func (w *cloudWatch) metricAlarmOf(a sim.Alarm) types.MetricAlarm {
	out := types.MetricAlarm{
		AlarmName: aws.String(a.Name), AlarmArn: aws.String(a.ARN), AlarmDescription: text(a.Description),
		ActionsEnabled: aws.Bool(true),
		StateValue:     types.StateValue(a.State), StateReason: text(a.Reason),
		StateUpdatedTimestamp: instant(a.Updated), StateTransitionedTimestamp: instant(a.Transitioned),
		Namespace: aws.String("Holdfast/World"), MetricName: text(a.Dependency), Statistic: types.StatisticMaximum,
		Period: seconds(a.Period), EvaluationPeriods: number(a.Evaluations), Threshold: aws.Float64(0),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
	}
	in, ok := w.asPut(a.Name)
	if !ok {
		return out
	}
	if in.ActionsEnabled != nil {
		out.ActionsEnabled = in.ActionsEnabled
	}
	if out.StateReason == nil && a.State == sim.AlarmInsufficient {
		out.StateReason = aws.String(neverEvaluated)
	}
	out.AlarmActions, out.OKActions, out.InsufficientDataActions = in.AlarmActions, in.OKActions, in.InsufficientDataActions
	out.Namespace, out.MetricName, out.Dimensions, out.Statistic = in.Namespace, in.MetricName, in.Dimensions, in.Statistic
	out.ExtendedStatistic, out.Threshold, out.ComparisonOperator = in.ExtendedStatistic, in.Threshold, in.ComparisonOperator
	out.DatapointsToAlarm, out.TreatMissingData, out.Unit = in.DatapointsToAlarm, in.TreatMissingData, in.Unit
	return out
}

// describeForMetric finds the alarms that clients put on exactly this metric.
func (w *cloudWatch) describeForMetric(in *cw.DescribeAlarmsForMetricInput) (*cw.DescribeAlarmsForMetricOutput, error) {
	if in.Namespace == nil || in.MetricName == nil {
		return nil, invalidMetric("Namespace and MetricName are required")
	}
	want := metricKey(*in.Namespace, *in.MetricName, in.Dimensions)
	var all []sim.Alarm
	w.server.Do(func(c *sim.Cloud) { all = c.Alarms() })
	out := &cw.DescribeAlarmsForMetricOutput{MetricAlarms: []types.MetricAlarm{}}
	for _, a := range all {
		put, ok := w.asPut(a.Name)
		if ok && metricKey(aws.ToString(put.Namespace), aws.ToString(put.MetricName), put.Dimensions) == want {
			out.MetricAlarms = append(out.MetricAlarms, w.metricAlarmOf(a))
		}
	}
	return out, nil
}
