package stack

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/probe"
)

// sweepSeconds is the time between two sweeps: a rule's shortest.
const sweepSeconds = 60

// auditMemoryMB is what makes the audit's simulation take minutes and no longer: Lambda gives processor time by memory.
const auditMemoryMB = 1024

// Guardian is Holdfast, once for an account and Region.
type Guardian struct {
	scope constructs.Construct
	// State and Heartbeats are the tables, Topic takes notices and alarms.
	State, Heartbeats awsdynamodb.ITable
	Topic             awssns.ITopic

	props     GuardianProps
	bus       awsevents.EventBus
	undone    awssqs.Queue
	functions map[string]awslambda.Function
}

// NewGuardian declares everything that Holdfast needs. Like every construct it panics on props that make no sense.
func NewGuardian(scope constructs.Construct, id string, props GuardianProps) *Guardian {
	p, err := props.settled()
	if err != nil {
		panic(fmt.Sprintf("guardian %s: %v", id, err))
	}
	g := &Guardian{scope: constructs.NewConstruct(scope, jsii.String(id)), props: p, functions: map[string]awslambda.Function{}}
	m := newMemory(g.scope, p)
	g.State, g.Heartbeats = m.state, m.heartbeats
	g.Topic = p.Topic
	if g.Topic == nil {
		g.Topic = newTopic(g.scope, p.Emails)
	}
	g.bus = awsevents.NewEventBus(g.scope, jsii.String("Bus"), &awsevents.EventBusProps{EventBusName: jsii.String(p.BusName)})
	g.undone = newQueue(g.scope, "Undelivered")
	for _, s := range g.specs(m) {
		g.functions[s.name] = newFunction(g.scope, s, p)
	}
	g.triggers()
	g.watch()
	g.dashboard()
	g.outputs()
	suppress(g)
	return g
}

// specs are the five functions. A tick that is not taken at once is dropped, because the next one sees more.
func (g *Guardian) specs(m memory) []spec {
	p := g.props
	run := map[string]string{
		config.EnvStateTable: *m.state.TableName(), config.EnvHeartbeatTable: *m.heartbeats.TableName(), config.EnvEventBus: *g.bus.EventBusName(),
		config.EnvShards: strconv.Itoa(p.Shards), config.EnvSweepInterval: fmt.Sprintf("%ds", sweepSeconds),
	}
	tell := map[string]string{config.EnvStateTable: *m.state.TableName(), notify.EnvTopic: *g.Topic.TopicArn()}
	topics := []*string{g.Topic.TopicArn()}
	for name, value := range map[string]string{notify.EnvChatTopic: p.ChatTopicARN, notify.EnvSlackSecret: p.SlackSecret, notify.EnvPagerDutySecret: p.PagerDutySecret} {
		if value != "" {
			tell[name] = value
		}
	}
	if p.ChatTopicARN != "" {
		topics = append(topics, jsii.String(p.ChatTopicARN))
	}
	runAlarm := map[string]string{}
	for k, v := range run {
		runAlarm[k] = v
	}
	return []spec{
		// One more than there are schedules: a person's own run must not take the place of a scheduled one.
		{name: Sweep, seconds: 55, concurrency: p.Shards + 1, retries: 0, ageSeconds: sweepSeconds, env: run, statements: runs(m, g.bus.EventBusArn())},
		{name: Alarm, seconds: 55, concurrency: 2, retries: 1, ageSeconds: 300, env: runAlarm, statements: runs(m, g.bus.EventBusArn())},
		{name: Notify, seconds: 60, concurrency: 2, retries: 2, ageSeconds: 6 * 3600, env: tell, statements: delivers(m, p, topics)},
		// Long enough for the longest run that its parameter may ask for, and 15 s more.
		{
			name: Probe, seconds: probe.RunTimeoutMax + 15, concurrency: 1, retries: 0, ageSeconds: sweepSeconds,
			env: map[string]string{config.EnvStateTable: *m.state.TableName()}, statements: asks(m, p.ProbeVPC != nil), vpc: p.ProbeVPC,
		},
		// A large account is thousands of reads and a simulation of every group, once a day.
		{
			name: Audit, seconds: 900, memoryMB: auditMemoryMB, concurrency: 1, retries: 2, ageSeconds: 6 * 3600, statements: audits(m, g.bus.EventBusArn(), g.Topic.TopicArn()),
			env: map[string]string{
				config.EnvStateTable: *m.state.TableName(), config.EnvHeartbeatTable: *m.heartbeats.TableName(), config.EnvEventBus: *g.bus.EventBusName(),
			},
		},
	}
}

// newTopic declares the notices' topic. A policy of one's own replaces the topic's default one, so CloudWatch must be let in again, or
// alarms could not publish. Source: SNS developer guide, "Example cases for access control".
func newTopic(scope constructs.Construct, emails []string) awssns.ITopic {
	topic := awssns.NewTopic(scope, jsii.String("Notices"), &awssns.TopicProps{DisplayName: jsii.String("Holdfast"), EnforceSSL: jsii.Bool(true)})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid: jsii.String("AllowAlarms"), Actions: jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
	}))
	for _, e := range emails {
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(e), nil))
	}
	return topic
}

// outputs name what the command line and other stacks need.
func (g *Guardian) outputs() {
	for _, o := range []struct {
		name  string
		value *string
	}{
		{"StateTableName", g.State.TableName()}, {"HeartbeatTableName", g.Heartbeats.TableName()},
		{"HeartbeatTableArn", g.Heartbeats.TableArn()}, {"TopicArn", g.Topic.TopicArn()},
		{"CreateSwitch", jsii.String(CreateSwitch())},
	} {
		awscdk.NewCfnOutput(g.scope, jsii.String(o.name), &awscdk.CfnOutputProps{Value: o.value}).OverrideLogicalId(jsii.String(o.name))
	}
}
