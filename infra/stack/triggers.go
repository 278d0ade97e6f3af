package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/shared/report"
)

// deliverySeconds is how long the bus tries to hand a tick over; later, the next one has taken its place.
const deliverySeconds = 60

// triggers declares the rules. Schedules are rules, because EventBridge Scheduler is not offered in every partition.
func (g *Guardian) triggers() {
	minute := awsevents.Schedule_Rate(awscdk.Duration_Seconds(jsii.Number(sweepSeconds)))
	for shard := range g.props.Shards {
		id := "EachMinute"
		var input awsevents.RuleTargetInput
		if g.props.Shards > 1 {
			id = fmt.Sprintf("EachMinute%d", shard)
			input = awsevents.RuleTargetInput_FromObject(map[string]any{
				"kind": "tick", "scheduledTime": awsevents.EventField_Time(), "shard": shard, "shards": g.props.Shards,
			})
		}
		g.rule(id, rule{function: Sweep, input: input, props: awsevents.RuleProps{Schedule: minute, Description: jsii.String("Holdfast: sweep")}})
	}
	g.rule("ProbeEachMinute", rule{function: Probe, props: awsevents.RuleProps{Schedule: minute, Description: jsii.String("Holdfast: deep checks")}})
	g.rule("AuditEachDay", rule{function: Audit, seconds: 6 * 3600, props: awsevents.RuleProps{
		Schedule: awsevents.Schedule_Rate(awscdk.Duration_Days(jsii.Number(1))), Description: jsii.String("Holdfast: audit"),
	}})
	g.rule("AlarmChanged", rule{function: Alarm, seconds: 300, props: awsevents.RuleProps{
		Description:  jsii.String("Holdfast: look at once when an alarm changes"),
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings("aws.cloudwatch"), DetailType: jsii.Strings("CloudWatch Alarm State Change")},
	}})
	g.rule("Notice", rule{function: Notify, seconds: 6 * 3600, props: awsevents.RuleProps{
		Description: jsii.String("Holdfast: notices to people"), EventBus: g.bus,
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings(report.Source), DetailType: jsii.Strings(report.DetailType)},
	}})
}

// rule is one rule with its only target.
type rule struct {
	function string
	input    awsevents.RuleTargetInput
	// seconds is how long delivery is tried; 0 means deliverySeconds.
	seconds int
	props   awsevents.RuleProps
}

// deliveryAttempts is small: an invocation that Lambda took is Lambda's to retry, by the function's own rules.
const deliveryAttempts = 3

func (g *Guardian) rule(id string, r rule) {
	if r.seconds == 0 {
		r.seconds = deliverySeconds
	}
	awsevents.NewRule(g.scope, jsii.String(id), &r.props).AddTarget(awseventstargets.NewLambdaFunction(g.functions[r.function], &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: g.undone, Event: r.input, RetryAttempts: jsii.Number(deliveryAttempts), MaxEventAge: awscdk.Duration_Seconds(jsii.Number(r.seconds)),
	}))
}
