package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Logical ids of what keeps state. They never change: a changed one is a new and empty table.
const (
	IDStateTable     = "StateTable"
	IDHeartbeatTable = "HeartbeatTable"
	IDDefaults       = "PolicyDefaults"
)

// recoveryDays is how far back a table can be restored. Source: DynamoDB developer guide, point-in-time recovery.
const recoveryDays = 35

// memory is what outlives the stack.
type memory struct{ state, heartbeats awsdynamodb.ITable }

// newMemory declares the tables and the defaults, or adopts what an earlier stack left behind.
func newMemory(scope constructs.Construct, p GuardianProps) memory {
	newDefaults(scope, p.Defaults)
	if p.AuditThresholds != "" {
		newParameter(scope, "AuditThresholds", parameter{daily.ParameterThresholds, p.AuditThresholds, "Holdfast: what services promise, for the audit; written by the stack"})
	}
	if p.Adopt {
		return memory{
			state:      awsdynamodb.Table_FromTableName(scope, jsii.String(IDStateTable), jsii.String(p.StateTableName)),
			heartbeats: awsdynamodb.Table_FromTableName(scope, jsii.String(IDHeartbeatTable), jsii.String(p.HeartbeatTableName)),
		}
	}
	return memory{
		state:      newTable(scope, IDStateTable, p.StateTableName, "sk"),
		heartbeats: newTable(scope, IDHeartbeatTable, p.HeartbeatTableName, ""),
	}
}

func newTable(scope constructs.Construct, id, name, sortKey string) awsdynamodb.ITable {
	key := func(n string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(n), Type: awsdynamodb.AttributeType_STRING}
	}
	props := &awsdynamodb.TableProps{
		TableName: jsii.String(name), PartitionKey: key("pk"), TimeToLiveAttribute: jsii.String("expires"),
		BillingMode: awsdynamodb.BillingMode_PAY_PER_REQUEST, DeletionProtection: jsii.Bool(true),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true), RecoveryPeriodInDays: jsii.Number(recoveryDays),
		},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	}
	if sortKey != "" {
		props.SortKey = key(sortKey)
	}
	table := awsdynamodb.NewTable(scope, jsii.String(id), props)
	pin(table, id)
	return table
}

// CreateSwitch is the command that creates the one big switch. No template has it: CloudFormation writes a parameter's value again
// whenever anything about it changes, a tag of the whole stack included, and would undo what the operator set. Until it is created
// the switch reads as observe.
func CreateSwitch() string {
	return "aws ssm put-parameter --type String --name " + guard.ModeParameter + " --allowed-pattern '" + guard.ModePattern + "' --value " + guard.ModeObserve
}

// newDefaults declares the layer that the stack owns: the next deploy overwrites what anybody else wrote there.
func newDefaults(scope constructs.Construct, value string) {
	newParameter(scope, IDDefaults, parameter{guard.LayerDefaults, value, "Holdfast: values for every group; written by the stack"})
}

type parameter struct{ name, value, description string }

func newParameter(scope constructs.Construct, id string, p parameter) {
	r := awscdk.NewCfnResource(scope, jsii.String(id), &awscdk.CfnResourceProps{
		Type:       jsii.String("AWS::SSM::Parameter"),
		Properties: &map[string]any{"Name": p.name, "Type": "String", "Tier": "Intelligent-Tiering", "Value": p.value, "Description": p.description},
	})
	if id == IDDefaults {
		r.OverrideLogicalId(jsii.String(id))
	}
}

// pin gives a construct's resource a logical id that no move of the construct changes.
func pin(c constructs.Construct, id string) {
	if e, ok := c.Node().DefaultChild().(awscdk.CfnElement); ok {
		e.OverrideLogicalId(jsii.String(id))
	}
}
