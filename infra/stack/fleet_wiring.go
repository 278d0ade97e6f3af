package stack

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsautoscaling"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	elb "github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/review"
)

// tagGroup is the tag of an alarm that names the groups to look at when it changes.
const tagGroup = "holdfast:group"

// route adds a rule to the listener. All of it stands in the fleet's own stack, as bare resources that need the listener's stack and are
// not needed by it: the listener may belong to another stack without a cycle.
func (f *GuardedFleet) route() {
	l := f.props.Listener
	if l == nil {
		return
	}
	if len(l.Paths)+len(l.Hosts) == 0 || l.ARN == nil {
		f.problems.add("%s: a Listener needs its ARN, and Paths or Hosts to match", f.props.Service)
		return
	}
	var conditions []any
	if len(l.Paths) > 0 {
		conditions = append(conditions, &elb.CfnListenerRule_RuleConditionProperty{Field: jsii.String("path-pattern"), PathPatternConfig: &elb.CfnListenerRule_PathPatternConfigProperty{Values: jsii.Strings(l.Paths...)}})
	}
	if len(l.Hosts) > 0 {
		conditions = append(conditions, &elb.CfnListenerRule_RuleConditionProperty{Field: jsii.String("host-header"), HostHeaderConfig: &elb.CfnListenerRule_HostHeaderConfigProperty{Values: jsii.Strings(l.Hosts...)}})
	}
	elb.NewCfnListenerRule(f.scope, jsii.String("Route"), &elb.CfnListenerRuleProps{
		ListenerArn: l.ARN, Priority: jsii.Number(l.Priority), Conditions: &conditions,
		Actions: &[]any{&elb.CfnListenerRule_ActionProperty{Type: jsii.String("forward"), TargetGroupArn: f.TargetGroup.TargetGroupArn()}},
	})
	for i, from := range l.BalancerGroups {
		for j, to := range l.MemberGroups {
			suffix := jsii.String(string(rune('A'+i)) + string(rune('A'+j)))
			port := jsii.Number(f.props.Port)
			awsec2.NewCfnSecurityGroupIngress(f.scope, jsii.String("FromBalancer"+*suffix), &awsec2.CfnSecurityGroupIngressProps{
				IpProtocol: jsii.String("tcp"), FromPort: port, ToPort: port, GroupId: to.SecurityGroupId(), SourceSecurityGroupId: from.SecurityGroupId(),
				Description: jsii.String("requests and health checks of the load balancer"),
			})
			awsec2.NewCfnSecurityGroupEgress(f.scope, jsii.String("ToMembers"+*suffix), &awsec2.CfnSecurityGroupEgressProps{
				IpProtocol: jsii.String("tcp"), FromPort: port, ToPort: port, GroupId: from.SecurityGroupId(), DestinationSecurityGroupId: to.SecurityGroupId(),
				Description: jsii.String("requests and health checks to the members"),
			})
		}
	}
}

// attach wires a group of this stack. CloudFormation cannot change a group that it did not make: for an imported one the commands are
// put into the stack's outputs.
func (f *GuardedFleet) attach() {
	group, own := f.ownGroup()
	if !own {
		f.attachLater()
		return
	}
	group.AttachToApplicationTargetGroup(f.TargetGroup)
	awscdk.Tags_Of(group).Add(jsii.String(review.TagGuard), jsii.String(review.GuardValue), &awscdk.TagProps{ApplyToLaunchedInstances: jsii.Bool(false)})
	c, ok := group.Node().DefaultChild().(awsautoscaling.CfnAutoScalingGroup)
	if !ok {
		f.problems.add("%s: the group has no resource of its own", f.props.Service)
		return
	}
	t := f.Thresholds
	c.SetHealthCheckType(jsii.String(strings.Join(t.HealthCheckTypes, ",")))
	c.SetHealthCheckGracePeriod(jsii.Number(t.GraceSeconds))
	c.SetInstanceMaintenancePolicy(&awsautoscaling.CfnAutoScalingGroup_InstanceMaintenancePolicyProperty{
		MinHealthyPercentage: jsii.Number(t.MinHealthyPercent), MaxHealthyPercentage: jsii.Number(t.MaxHealthyPercent),
	})
}

func (f *GuardedFleet) attachLater() {
	name := f.props.Group.AutoScalingGroupName()
	t := f.Thresholds
	command := func(id string, parts ...*string) {
		awscdk.NewCfnOutput(f.scope, jsii.String(id), &awscdk.CfnOutputProps{Value: awscdk.Fn_Join(jsii.String(""), &parts)})
	}
	command("AttachTargets", jsii.String("aws autoscaling attach-traffic-sources --auto-scaling-group-name "), name,
		jsii.String(" --traffic-sources Type=elbv2,Identifier="), f.TargetGroup.TargetGroupArn())
	command("SetHealthChecks", jsii.String("aws autoscaling update-auto-scaling-group --auto-scaling-group-name "), name,
		jsii.String(" --health-check-type "+strings.Join(t.HealthCheckTypes, ",")), jsii.String(" --health-check-grace-period "), number(t.GraceSeconds),
		jsii.String(" --instance-maintenance-policy MinHealthyPercentage="), number(t.MinHealthyPercent), jsii.String(",MaxHealthyPercentage="), number(t.MaxHealthyPercent))
	command("PutUnderGuard", jsii.String("aws autoscaling create-or-update-tags --tags ResourceType=auto-scaling-group,PropagateAtLaunch=false,Key="+
		review.TagGuard+",Value="+review.GuardValue+",ResourceId="), name)
}

// alarm is the dependency's alarm, made here if there is none yet. It returns the name.
func (f *GuardedFleet) alarm(d Dependency) *string {
	if d.Alarm != nil {
		return d.Alarm.AlarmName()
	}
	name := "dependency " + d.ID
	if d.Metric == nil || d.Periods < 1 || f.props.Topic == nil || d.MissingData == "" {
		f.problems.add("%s: %s needs an Alarm; or a Metric, Periods, a stated MissingData, and a Topic that is told", f.props.Service, name)
		return jsii.String("none")
	}
	alarm := awscloudwatch.NewAlarm(f.scope, jsii.String("Dependency"+d.ID), &awscloudwatch.AlarmProps{
		AlarmDescription: jsii.String("Holdfast: " + f.props.Service + " depends on " + d.ID), Metric: d.Metric, Threshold: jsii.Number(d.AtLeast),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		EvaluationPeriods:  jsii.Number(d.Periods), DatapointsToAlarm: jsii.Number(d.Periods), TreatMissingData: d.MissingData,
	})
	action := awscloudwatchactions.NewSnsAction(f.props.Topic)
	alarm.AddAlarmAction(action)
	alarm.AddOkAction(action)
	alarm.AddInsufficientDataAction(action)
	awscdk.Tags_Of(alarm).Add(jsii.String(tagGroup), f.props.Group.AutoScalingGroupName(), nil)
	return alarm.AlarmName()
}

func (f *GuardedFleet) allowHeartbeats() {
	if f.props.Role != nil {
		f.props.Role.AddToPrincipalPolicy(HeartbeatStatement(arn("dynamodb", "table/"+f.props.HeartbeatTableName)))
	}
}

// warn tells what is allowed and yet against the design.
func (f *GuardedFleet) warn() {
	if slices.Contains(f.Thresholds.HealthCheckTypes, review.TypeELB) {
		awscdk.Annotations_Of(f.scope).AddWarningV2(jsii.String("holdfast:elb-health-checks"), jsii.String(f.props.Service+
			": with ELB health checks AWS itself replaces members, beyond every limit of Holdfast; a hold stops it, and one sweep may pass before that"), nil)
	}
}
