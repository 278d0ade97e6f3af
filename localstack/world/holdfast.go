package world

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/localstack/world/bus"
	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Names of what Holdfast uses in a Region of ours.
const (
	StateTable     = "holdfast-state"
	HeartbeatTable = "holdfast-heartbeats"
	SweepFunction  = "holdfast-sweep"
	AlarmFunction  = "holdfast-alarm"
	NotifyFunction = "holdfast-notify"
	NoticeTopic    = "holdfast-notices"
)

// beatLife is how long a heartbeat row lives after its last beat; expiry is housekeeping only.
const beatLife = 24 * time.Hour

func (r *Region) createTables() error {
	attribute := func(name string) dynamotypes.AttributeDefinition {
		return dynamotypes.AttributeDefinition{AttributeName: aws.String(name), AttributeType: dynamotypes.ScalarAttributeTypeS}
	}
	key := func(name string, kind dynamotypes.KeyType) dynamotypes.KeySchemaElement {
		return dynamotypes.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	for _, in := range []*dynamodb.CreateTableInput{
		{
			TableName: aws.String(StateTable), BillingMode: dynamotypes.BillingModePayPerRequest,
			AttributeDefinitions: []dynamotypes.AttributeDefinition{attribute("pk"), attribute("sk")},
			KeySchema:            []dynamotypes.KeySchemaElement{key("pk", dynamotypes.KeyTypeHash), key("sk", dynamotypes.KeyTypeRange)},
		},
		{
			TableName: aws.String(HeartbeatTable), BillingMode: dynamotypes.BillingModePayPerRequest,
			AttributeDefinitions: []dynamotypes.AttributeDefinition{attribute("pk")},
			KeySchema:            []dynamotypes.KeySchemaElement{key("pk", dynamotypes.KeyTypeHash)},
		},
	} {
		if _, err := r.Tables.CreateTable(in); err != nil {
			return fmt.Errorf("create table %s: %w", *in.TableName, err)
		}
	}
	return nil
}

// storeBeat is the heartbeat agent's write to its own row.
func (r *Region) storeBeat(b sim.Beat) {
	number := func(n int64) dynamotypes.AttributeValue {
		return &dynamotypes.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	text := func(s string) dynamotypes.AttributeValue { return &dynamotypes.AttributeValueMemberS{Value: s} }
	row := dynamo.Item{
		"pk": text(b.InstanceARN), "beat": number(b.Stamp.UnixMilli()), "seq": number(int64(b.Seq)), "boot": text(b.Boot),
		"status": text(b.Status), "agent": text(b.Agent), "expires": number(b.Stamp.Add(beatLife).Unix()),
	}
	if len(b.Failing) > 0 {
		list := &dynamotypes.AttributeValueMemberL{}
		for _, name := range b.Failing {
			list.Value = append(list.Value, text(name))
		}
		row["failing"] = list
	}
	if err := r.Tables.Put(HeartbeatTable, row); err != nil {
		r.failed(fmt.Errorf("store heartbeat of %s: %w", b.InstanceID, err))
	}
}

// alarmState is a state inside the detail of an alarm's event.
type alarmState struct {
	Value     string `json:"value"`
	Reason    string `json:"reason,omitempty"`
	Timestamp string `json:"timestamp"`
}

// alarmDetail is the detail of "CloudWatch Alarm State Change". Source: CloudWatch user guide, "Alarm events and EventBridge".
type alarmDetail struct {
	AlarmName     string         `json:"alarmName"`
	State         alarmState     `json:"state"`
	PreviousState alarmState     `json:"previousState"`
	Configuration map[string]any `json:"configuration"`
}

func (r *Region) publishAlarm(c sim.AlarmChange) {
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000-0700") }
	_, err := r.Bus.Publish(bus.Entry{
		Source: "aws.cloudwatch", DetailType: "CloudWatch Alarm State Change", Resources: []string{c.Alarm.ARN}, Time: c.At,
		Detail: alarmDetail{
			AlarmName:     c.Alarm.Name,
			State:         alarmState{Value: string(c.Alarm.State), Reason: c.Alarm.Reason, Timestamp: stamp(c.At)},
			PreviousState: alarmState{Value: string(c.Previous), Timestamp: stamp(c.PreviousSince)},
			Configuration: map[string]any{"description": c.Alarm.Description},
		},
	})
	if err != nil {
		r.failed(fmt.Errorf("publish alarm %s: %w", c.Alarm.Name, err))
	}
}

// CreateSwitch creates the one big switch as a deployed Holdfast has it, or turns one that exists: SSM refuses every value but the modes.
func (r *Region) CreateSwitch(mode string) error {
	_, err := r.Params.PutParameter(&ssm.PutParameterInput{
		Name: aws.String(guard.ModeParameter), Value: aws.String(mode), Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true),
		AllowedPattern: aws.String(guard.ModePattern),
	})
	if err != nil {
		return fmt.Errorf("create the switch %s: %w", guard.ModeParameter, err)
	}
	return nil
}

// PutParameter writes a parameter as a person would with put-parameter --overwrite.
func (r *Region) PutParameter(name, value string) error {
	_, err := r.Params.PutParameter(&ssm.PutParameterInput{
		Name: aws.String(name), Value: aws.String(value), Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true),
	})
	if err != nil {
		return fmt.Errorf("put parameter %s: %w", name, err)
	}
	return nil
}

// Declare writes the declared policy layer of a group, one JSON object.
func (r *Region) Declare(group, policy string) error {
	return r.PutParameter(guard.LayerDeclared+guard.EscapeName(group), policy)
}

// alarmPattern takes every change of an alarm's state.
const alarmPattern = `{"source":["aws.cloudwatch"],"detail-type":["CloudWatch Alarm State Change"]}`

// Schedule makes the bus invoke the sweep each minute.
func (r *Region) Schedule() error {
	return r.putRule(&eventbridge.PutRuleInput{Name: aws.String("holdfast-sweep"), ScheduleExpression: aws.String("rate(1 minute)")},
		bustypes.Target{Id: aws.String("sweep"), Arn: r.functionARN(SweepFunction)})
}

// OnAlarms makes the bus invoke the alarm function whenever an alarm changes its state.
func (r *Region) OnAlarms() error {
	return r.putRule(&eventbridge.PutRuleInput{Name: aws.String("holdfast-alarm"), EventPattern: aws.String(alarmPattern)},
		bustypes.Target{Id: aws.String("alarm"), Arn: r.functionARN(AlarmFunction)})
}

// SweepOnAlarms makes the bus invoke the sweep for one group whenever an alarm changes its state: what an account without the alarm
// function can do.
func (r *Region) SweepOnAlarms(group string) error {
	return r.putRule(&eventbridge.PutRuleInput{Name: aws.String("holdfast-alarm"), EventPattern: aws.String(alarmPattern)},
		bustypes.Target{
			Id: aws.String("sweep"), Arn: r.functionARN(SweepFunction),
			Input: aws.String(fmt.Sprintf(`{"trigger":"manual","groups":[%q]}`, group)),
		})
}

// noticePattern takes every notice of Holdfast.
const noticePattern = `{"source":["` + report.Source + `"],"detail-type":["` + report.DetailType + `"]}`

// OnNotices makes the bus invoke the notify function with each notice, and makes the topic to which it publishes.
func (r *Region) OnNotices() error {
	if _, err := r.Topics.CreateTopic(&sns.CreateTopicInput{Name: aws.String(NoticeTopic)}); err != nil {
		return fmt.Errorf("create topic %s: %w", NoticeTopic, err)
	}
	return r.putRule(&eventbridge.PutRuleInput{Name: aws.String("holdfast-notify"), EventPattern: aws.String(noticePattern)},
		bustypes.Target{Id: aws.String("notify"), Arn: r.functionARN(NotifyFunction)})
}

func (r *Region) putRule(rule *eventbridge.PutRuleInput, to bustypes.Target) error {
	if _, err := r.Bus.PutRule(rule); err != nil {
		return fmt.Errorf("put rule %s: %w", *rule.Name, err)
	}
	if _, err := r.Bus.PutTargets(&eventbridge.PutTargetsInput{Rule: rule.Name, Targets: []bustypes.Target{to}}); err != nil {
		return fmt.Errorf("put target of rule %s: %w", *rule.Name, err)
	}
	return nil
}

func (r *Region) functionARN(name string) *string {
	return aws.String(r.arn("lambda", "function:"+name))
}

func (r *Region) arn(service, resource string) string {
	var c sim.Config
	r.Do(func(cloud *sim.Cloud) { c = cloud.Config() })
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, c.Region, c.Account, resource)
}

// FunctionEnv is the environment with which a function of Holdfast finds this Region at a URL. It holds no secret: nothing is
// signed for anybody who checks.
func (r *Region) FunctionEnv(url string) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_EC2_METADATA_DISABLED": "true",
		config.EnvStateTable: StateTable, config.EnvHeartbeatTable: HeartbeatTable, config.EnvEventBus: "default",
		ClockVariable: url + clockPath, notify.EnvTopic: r.arn("sns", NoticeTopic),
	}
}
