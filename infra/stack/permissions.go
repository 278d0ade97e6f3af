package stack

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/review"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/heartbeat"
	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/probe/probeaws"
	"github.com/holdfast-aws/holdfast/shared/report"
)

// statement is one IAM statement in plain words.
type statement struct {
	sid       string
	deny      bool
	actions   []string
	resources []*string
	when      map[string]any
}

func (s statement) policy() awsiam.PolicyStatement {
	effect := awsiam.Effect_ALLOW
	if s.deny {
		effect = awsiam.Effect_DENY
	}
	props := &awsiam.PolicyStatementProps{Sid: jsii.String(s.sid), Effect: effect, Actions: jsii.Strings(s.actions...), Resources: &s.resources}
	if s.when != nil {
		props.Conditions = &s.when
	}
	return awsiam.NewPolicyStatement(props)
}

func everything() []*string { return []*string{jsii.String("*")} }

// arn makes an ARN of the stack's partition, Region and account.
func arn(service, resource string) *string {
	return awscdk.Fn_Join(jsii.String(":"), &[]*string{
		jsii.String("arn"), awscdk.Aws_PARTITION(), jsii.String(service), awscdk.Aws_REGION(), awscdk.Aws_ACCOUNT_ID(), jsii.String(resource),
	})
}

// looks are the reads of a run. Those on * know no resource level, and cloudwatch:DescribeAlarms leaves composite alarms silently out
// where it is granted on less. Source: service authorization reference; SDK doc comment of DescribeAlarms.
func looks() []statement {
	return []statement{
		{sid: "Look", resources: everything(), actions: []string{
			"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeInstanceRefreshes", "autoscaling:DescribeScalingActivities",
			"cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData",
			"ec2:DescribeInstances",
			"elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeTargetHealth",
		}},
		{sid: "LookAtQueues", actions: []string{"sqs:GetQueueAttributes"}, resources: []*string{arn("sqs", "*")}},
		{sid: "ReadPolicies", actions: []string{"ssm:GetParametersByPath"}, resources: []*string{arn("ssm", "parameter/holdfast"), arn("ssm", "parameter/holdfast/*")}},
	}
}

// acts are the only three calls that change a group, on groups that carry the tag.
func acts() []statement {
	groups := []*string{arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/*")}
	calls := []string{"autoscaling:ResumeProcesses", "autoscaling:SetInstanceHealth", "autoscaling:SuspendProcesses"}
	tag := "aws:ResourceTag/" + review.TagGuard
	return []statement{
		{sid: "ActOnGuardedGroups", actions: calls, resources: groups, when: map[string]any{"StringEquals": map[string]any{tag: review.GuardValue}}},
		{sid: "NeverOnOtherGroups", deny: true, actions: calls, resources: everything(), when: map[string]any{"StringNotEquals": map[string]any{tag: review.GuardValue}}},
	}
}

// nevers are denied whatever else is allowed: every other way to end or resize something, the tag that opts in, and the policies.
func nevers() statement {
	return statement{sid: "Never", deny: true, resources: everything(), actions: []string{
		"autoscaling:AttachInstances", "autoscaling:BatchPutScheduledUpdateGroupAction", "autoscaling:CompleteLifecycleAction", "autoscaling:CreateOrUpdateTags",
		"autoscaling:DeleteAutoScalingGroup", "autoscaling:DeleteTags", "autoscaling:DetachInstances", "autoscaling:DetachLoadBalancerTargetGroups",
		"autoscaling:DetachTrafficSources", "autoscaling:EnterStandby", "autoscaling:ExecutePolicy", "autoscaling:PutScalingPolicy",
		"autoscaling:PutScheduledUpdateGroupAction", "autoscaling:RollbackInstanceRefresh", "autoscaling:SetDesiredCapacity", "autoscaling:SetInstanceProtection",
		"autoscaling:StartInstanceRefresh", "autoscaling:TerminateInstanceInAutoScalingGroup", "autoscaling:UpdateAutoScalingGroup",
		"ec2:CreateTags", "ec2:DeleteTags", "ec2:RebootInstances", "ec2:StopInstances", "ec2:TerminateInstances",
		"elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:ModifyTargetGroup", "elasticloadbalancing:ModifyTargetGroupAttributes",
		"ssm:DeleteParameter", "ssm:DeleteParameters", "ssm:PutParameter",
	}}
}

// remembers are the ledger's and the heartbeats' calls. A transaction needs the permission of each write in it.
func remembers(m memory) []statement {
	return []statement{
		{sid: "Remember", actions: []string{"dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"}, resources: []*string{m.state.TableArn()}},
		{sid: "ReadHeartbeats", actions: []string{"dynamodb:BatchGetItem"}, resources: []*string{m.heartbeats.TableArn()}},
	}
}

func tells(bus *string, detailTypes any) statement {
	return statement{sid: "Tell", actions: []string{"events:PutEvents"}, resources: []*string{bus}, when: map[string]any{
		"StringEquals": map[string]any{"events:source": report.Source, "events:detail-type": detailTypes},
	}}
}

// runs are the permissions of a function that looks at groups and acts.
func runs(m memory, bus *string) []awsiam.PolicyStatement {
	all := append(looks(), acts()...)
	all = append(all, remembers(m)...)
	return policies(append(all, tells(bus, report.DetailType), nevers())...)
}

// delivers are the permissions of notify.
func delivers(m memory, p GuardianProps, topics []*string) []awsiam.PolicyStatement {
	all := []statement{{sid: "RememberWhoWasTold", actions: []string{"dynamodb:GetItem", "dynamodb:PutItem"}, resources: []*string{m.state.TableArn()}}}
	if len(topics) > 0 {
		all = append(all, statement{sid: "Publish", actions: []string{"sns:Publish"}, resources: topics})
	}
	var secrets []*string
	for _, name := range []string{p.SlackSecret, p.PagerDutySecret} {
		if name != "" {
			secrets = append(secrets, arn("ssm", "parameter"+name))
		}
	}
	if len(secrets) > 0 {
		all = append(all, statement{sid: "ReadSecrets", actions: []string{"ssm:GetParameter"}, resources: secrets})
	}
	return policies(append(all, nevers())...)
}

// asks are the permissions of probe: it remembers in one item of the state table and reads one parameter.
func asks(m memory, inVPC bool) []awsiam.PolicyStatement {
	all := []statement{
		{sid: "LookForMembers", resources: everything(), actions: []string{"autoscaling:DescribeAutoScalingGroups", "ec2:DescribeInstances"}},
		{sid: "ReadSources", actions: []string{"ssm:GetParameter"}, resources: []*string{arn("ssm", "parameter"+probe.Parameter)}},
		{sid: "RememberResults", actions: []string{"dynamodb:GetItem", "dynamodb:PutItem"}, resources: []*string{m.state.TableArn()}, when: map[string]any{
			"ForAllValues:StringEquals": map[string]any{"dynamodb:LeadingKeys": []string{probeaws.PartitionKey}},
			"Null":                      map[string]any{"dynamodb:LeadingKeys": "false"},
		}},
		nevers(),
	}
	if inVPC {
		// What Lambda needs to attach a function to a VPC; none of it knows a resource level that would fit. Source: Lambda developer
		// guide, "Giving Lambda functions access to resources in an Amazon VPC".
		all = append(all, statement{sid: "AttachToVPC", resources: everything(), actions: []string{
			"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces",
			"ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
		}})
	}
	return policies(all...)
}

// audits are the permissions of audit: it reads everything that it judges, and writes its own item of the state table only.
func audits(m memory, bus, topic *string) []awsiam.PolicyStatement {
	return policies(
		statement{sid: "Look", resources: everything(), actions: []string{
			"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeInstanceRefreshes", "autoscaling:DescribeScalingActivities",
			"cloudwatch:DescribeAlarms", "cloudwatch:DescribeAlarmsForMetric", "cloudwatch:GetMetricData",
			"ec2:DescribeApplicationStatus", "ec2:DescribeApplicationStatusCheckAssociations", "ec2:DescribeApplicationStatusChecks",
			"elasticloadbalancing:DescribeTags", "elasticloadbalancing:DescribeTargetGroupAttributes", "elasticloadbalancing:DescribeTargetGroups",
			"elasticloadbalancing:DescribeTargetHealth",
		}},
		statement{sid: "CountSubscriptions", actions: []string{"sns:GetTopicAttributes"}, resources: []*string{topic}},
		statement{sid: "ReadPolicies", actions: []string{"ssm:GetParametersByPath"}, resources: []*string{arn("ssm", "parameter/holdfast"), arn("ssm", "parameter/holdfast/*")}},
		statement{sid: "ReadSettings", actions: []string{"ssm:GetParameters"}, resources: []*string{arn("ssm", "parameter"+daily.ParameterAccepted), arn("ssm", "parameter"+daily.ParameterThresholds)}},
		statement{sid: "ReadHolds", actions: []string{"dynamodb:Query"}, resources: []*string{m.state.TableArn()}},
		statement{sid: "ReadHeartbeats", actions: []string{"dynamodb:BatchGetItem"}, resources: []*string{m.heartbeats.TableArn()}},
		statement{sid: "RememberFindings", actions: []string{"dynamodb:GetItem", "dynamodb:PutItem"}, resources: []*string{m.state.TableArn()}, when: map[string]any{
			"ForAllValues:StringEquals": map[string]any{"dynamodb:LeadingKeys": []string{daily.PartitionKey}},
			"Null":                      map[string]any{"dynamodb:LeadingKeys": "false"},
		}},
		tells(bus, []string{daily.DetailType, report.DetailType}),
		nevers(),
	)
}

func logStatement(group *string) awsiam.PolicyStatement {
	return statement{sid: "Log", actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, resources: []*string{group}}.policy()
}

func policies(all ...statement) []awsiam.PolicyStatement {
	out := make([]awsiam.PolicyStatement, 0, len(all))
	for _, s := range all {
		out = append(out, s.policy())
	}
	return out
}

// HeartbeatStatement lets an instance write its own heartbeat and nothing else; it is the statement of heartbeat.Policy, which says why it
// is as it is.
func HeartbeatStatement(table *string) awsiam.PolicyStatement {
	text, err := heartbeat.Policy(*table)
	if err != nil {
		panic(fmt.Sprintf("heartbeat statement: %v", err))
	}
	var document struct{ Statement []map[string]any }
	if err := json.Unmarshal([]byte(text), &document); err != nil || len(document.Statement) != 1 {
		panic(fmt.Sprintf("heartbeat statement: %d statements, %v", len(document.Statement), err))
	}
	return awsiam.PolicyStatement_FromJson(document.Statement[0])
}
