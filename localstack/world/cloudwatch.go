package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// cloudWatch answers alarms from the simulator, and keeps the metric data that
// clients put. It evaluates no alarm against that data: the simulator's alarms
// follow its dependencies, or stay where SetAlarmState put them.
type cloudWatch struct {
	server *Server

	mu   sync.Mutex
	data []datum
	// puts are the alarms that clients put, as they put them.
	puts map[string]cw.PutMetricAlarmInput
}

// Handle implements wire.Service.
func (w *cloudWatch) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "DescribeAlarms":
		return wire.Do(call, w.describeAlarms)
	case "DescribeAlarmsForMetric":
		return wire.Do(call, w.describeForMetric)
	case "SetAlarmState":
		return wire.Do(call, w.setAlarmState)
	case "PutMetricAlarm":
		return wire.Do(call, w.putMetricAlarm)
	case "PutMetricData":
		return wire.Do(call, w.putMetricData)
	case "GetMetricData":
		return wire.Do(call, w.getMetricData)
	}
	return nil, wire.UnknownOperation(call.Operation)
}

func invalidMetric(format string, args ...any) error {
	return &types.InvalidParameterValueException{Message: aws.String(fmt.Sprintf(format, args...))}
}

func (w *cloudWatch) describeAlarms(in *cw.DescribeAlarmsInput) (*cw.DescribeAlarmsOutput, error) {
	if len(in.AlarmNames) > 100 {
		return nil, invalidMetric("AlarmNames has more than 100 members")
	}
	kinds := in.AlarmTypes
	if len(kinds) == 0 {
		// Source: SDK doc comment of AlarmTypes: without it only metric alarms come.
		kinds = []types.AlarmType{types.AlarmTypeMetricAlarm}
	}
	var found []sim.Alarm
	w.server.Do(func(c *sim.Cloud) {
		for _, a := range c.Alarms() {
			if one(kinds, kindOf(a)) && one(in.AlarmNames, a.Name) &&
				strings.HasPrefix(a.Name, aws.ToString(in.AlarmNamePrefix)) &&
				(in.StateValue == "" || string(in.StateValue) == string(a.State)) && w.tells(a.Name, in.ActionPrefix) {
				found = append(found, a)
			}
		}
	})
	part, next, err := page(w.server, found, pageAsk{
		operation: "cloudwatch:DescribeAlarms", token: in.NextToken, asked: in.MaxRecords,
		fallback: 50, most: 100,
		badToken: &types.InvalidNextToken{Message: aws.String("The next token specified is invalid.")},
	})
	if err != nil {
		return nil, err
	}
	out := &cw.DescribeAlarmsOutput{NextToken: next, MetricAlarms: []types.MetricAlarm{}, CompositeAlarms: []types.CompositeAlarm{}}
	for _, a := range part {
		if a.Composite {
			out.CompositeAlarms = append(out.CompositeAlarms, compositeOf(a))
		} else {
			out.MetricAlarms = append(out.MetricAlarms, w.metricAlarmOf(a))
		}
	}
	return out, nil
}

func kindOf(a sim.Alarm) types.AlarmType {
	if a.Composite {
		return types.AlarmTypeCompositeAlarm
	}
	return types.AlarmTypeMetricAlarm
}

func compositeOf(a sim.Alarm) types.CompositeAlarm {
	rules := make([]string, 0, len(a.AnyOf))
	for _, name := range a.AnyOf {
		rules = append(rules, fmt.Sprintf("ALARM(%q)", name))
	}
	return types.CompositeAlarm{
		AlarmName: aws.String(a.Name), AlarmArn: aws.String(a.ARN), AlarmDescription: text(a.Description),
		ActionsEnabled: aws.Bool(true), AlarmRule: aws.String(strings.Join(rules, " OR ")),
		StateValue: types.StateValue(a.State), StateReason: text(a.Reason),
		StateUpdatedTimestamp: instant(a.Updated), StateTransitionedTimestamp: instant(a.Transitioned),
	}
}

func (w *cloudWatch) setAlarmState(in *cw.SetAlarmStateInput) (*cw.SetAlarmStateOutput, error) {
	var err error
	w.server.Do(func(c *sim.Cloud) {
		err = c.SetAlarmState(aws.ToString(in.AlarmName), sim.AlarmState(in.StateValue), aws.ToString(in.StateReason))
	})
	if err != nil {
		return nil, alarmError(err)
	}
	return &cw.SetAlarmStateOutput{}, nil
}

func alarmError(err error) error {
	var missing *sim.NotFoundError
	if errors.As(err, &missing) {
		return &types.ResourceNotFound{Message: aws.String("Unknown alarm " + missing.Name)}
	}
	return invalidMetric("%v", err)
}
