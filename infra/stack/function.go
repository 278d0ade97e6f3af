package stack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Names of the functions, which are the folders below functions/.
const (
	Sweep  = "sweep"
	Alarm  = "alarm"
	Notify = "notify"
	Probe  = "probe"
	Audit  = "audit"
)

// Functions lists the functions that a Guardian has.
func Functions() []string { return []string{Sweep, Alarm, Notify, Probe, Audit} }

// spec is what differs from one function to the next.
type spec struct {
	name string
	// seconds is its timeout, concurrency what is reserved for it.
	seconds, concurrency int
	// memoryMB is the least that it needs, 0 for no more than the props say.
	memoryMB int
	// retries and ageSeconds are those of an asynchronous invocation.
	retries, ageSeconds int
	env                 map[string]string
	statements          []awsiam.PolicyStatement
	vpc                 awsec2.IVpc
}

// newFunction declares a function with a role, a log group and a failure destination of its own. The role has no managed policy and no
// permission that is not in the spec, but for its own log group and its own destination.
func newFunction(scope constructs.Construct, s spec, p GuardianProps) awslambda.Function {
	title := strings.ToUpper(s.name[:1]) + s.name[1:]
	group := awslogs.NewLogGroup(scope, jsii.String(title+"Logs"), &awslogs.LogGroupProps{
		Retention: awslogs.RetentionDays_THREE_MONTHS, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	if c, ok := group.Node().DefaultChild().(awslogs.CfnLogGroup); ok {
		c.SetRetentionInDays(jsii.Number(p.LogRetentionDays))
	}
	role := awsiam.NewRole(scope, jsii.String(title+"Role"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description: jsii.String("Holdfast: what the function " + s.name + " may do"),
	})
	for _, statement := range append(s.statements, logStatement(group.LogGroupArn())) {
		role.AddToPolicy(statement)
	}
	failed := newQueue(scope, title+"Failed")
	env := map[string]*string{}
	for _, variables := range []map[string]string{p.Environment, s.env} {
		for name, value := range variables {
			env[name] = jsii.String(value)
		}
	}
	props := &awslambda.FunctionProps{
		Runtime: awslambda.Runtime_PROVIDED_AL2023(), Architecture: awslambda.Architecture_ARM_64(), Handler: jsii.String("bootstrap"),
		Code: awslambda.Code_FromAsset(jsii.String(p.code(s.name)), nil), Role: role, LogGroup: group,
		LoggingFormat: awslambda.LoggingFormat_JSON, SystemLogLevelV2: awslambda.SystemLogLevel_WARN, ApplicationLogLevelV2: awslambda.ApplicationLogLevel_INFO,
		MemorySize: jsii.Number(max(p.MemoryMB, s.memoryMB)), Timeout: awscdk.Duration_Seconds(jsii.Number(s.seconds)), Environment: &env,
		Description:   jsii.String("Holdfast: " + s.name),
		RetryAttempts: jsii.Number(s.retries), MaxEventAge: awscdk.Duration_Seconds(jsii.Number(s.ageSeconds)),
		OnFailure: awslambdadestinations.NewSqsDestination(failed), Vpc: s.vpc,
	}
	if !p.NoReservedConcurrency {
		props.ReservedConcurrentExecutions = jsii.Number(s.concurrency)
	}
	return awslambda.NewFunction(scope, jsii.String(title), props)
}

// deadLetterDays is the longest that SQS keeps a message. Source: SQS developer guide, quotas of messages.
const deadLetterDays = 14

func newQueue(scope constructs.Construct, id string) awssqs.Queue {
	return awssqs.NewQueue(scope, jsii.String(id), &awssqs.QueueProps{
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(deadLetterDays)), EnforceSSL: jsii.Bool(true), Encryption: awssqs.QueueEncryption_SQS_MANAGED,
	})
}
