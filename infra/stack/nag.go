package stack

import (
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// suppress explains the findings of cdk-nag that are meant. Everything else it finds fails a test.
func suppress(g *Guardian) {
	suppressions := []*cdknag.NagPackSuppression{
		{
			Id: jsii.String("AwsSolutions-IAM5"),
			Reason: jsii.String("Describe calls know no resource level; alarms must be read on *, or composite ones are silently left out; groups are fenced by the tag " +
				"holdfast:guard = true instead of by name, and a deny covers all others; queues and policies are read by prefix."),
		},
		{
			Id:     jsii.String("AwsSolutions-SQS3"),
			Reason: jsii.String("These queues are dead-letter queues themselves: Lambda's failure destinations and the rules' dead letters. Each has an alarm."),
		},
		{
			Id:     jsii.String("Serverless-SQSRedrivePolicy"),
			Reason: jsii.String("These queues are dead-letter queues themselves; nothing consumes them but people."),
		},
		{
			Id:     jsii.String("Serverless-LambdaDLQ"),
			Reason: jsii.String("Each function has a failure destination, which keeps what a dead-letter queue keeps and also why the event failed. Its queue has an alarm."),
		},
		{
			Id:     jsii.String("Serverless-LambdaTracing"),
			Reason: jsii.String("A sampled trace says less than the verdict line of each run, and a guardian shall depend on as few services as it can."),
		},
	}
	cdknag.NagSuppressions_AddResourceSuppressions(g.scope, &suppressions, jsii.Bool(true))
}
