package world

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// groupOf shows a group as DescribeAutoScalingGroups does.
func groupOf(g sim.Group) types.AutoScalingGroup {
	out := types.AutoScalingGroup{
		AutoScalingGroupName:   aws.String(g.Name),
		AutoScalingGroupARN:    aws.String(g.ARN),
		AvailabilityZones:      g.Zones,
		CreatedTime:            instant(g.Created),
		DefaultCooldown:        aws.Int32(300),
		DesiredCapacity:        number(g.Desired),
		MinSize:                number(g.Min),
		MaxSize:                number(g.Max),
		HealthCheckType:        aws.String(strings.Join(g.HealthCheckTypes, ",")),
		HealthCheckGracePeriod: seconds(g.Grace),
		LaunchTemplate:         templateOf(g, g.LaunchTemplateVersion),
		TargetGroupARNs:        g.TargetGroupARNs,
		TerminationPolicies:    []string{"Default"},
	}
	if g.InstanceWarmup > 0 {
		out.DefaultInstanceWarmup = seconds(g.InstanceWarmup)
	}
	if g.Operator != "" {
		out.Operator = &types.Operator{Principal: aws.String(g.Operator)}
	}
	for _, arn := range g.TargetGroupARNs {
		out.TrafficSources = append(out.TrafficSources, types.TrafficSourceIdentifier{
			Identifier: aws.String(arn), Type: aws.String("elbv2"),
		})
	}
	for _, s := range g.Suspended {
		out.SuspendedProcesses = append(out.SuspendedProcesses, types.SuspendedProcess{
			ProcessName: aws.String(s.Process), SuspensionReason: aws.String(s.Reason),
		})
	}
	for _, key := range slices.Sorted(maps.Keys(g.Tags)) {
		out.Tags = append(out.Tags, types.TagDescription{
			Key: aws.String(key), Value: aws.String(g.Tags[key]), PropagateAtLaunch: aws.Bool(false),
			ResourceId: aws.String(g.Name), ResourceType: aws.String("auto-scaling-group"),
		})
	}
	for _, m := range g.Members {
		out.Instances = append(out.Instances, types.Instance{
			InstanceId: aws.String(m.ID), InstanceType: text(m.InstanceType),
			AvailabilityZone: aws.String(m.Zone), AvailabilityZoneId: zoneID(m.Zone),
			HealthStatus: aws.String(string(m.Health)), LifecycleState: types.LifecycleState(m.Lifecycle),
			ProtectedFromScaleIn: aws.Bool(m.Protected), LaunchTemplate: templateOf(g, m.LaunchTemplateVersion),
			WeightedCapacity: weightOf(m),
		})
	}
	return out
}

// detailsOf shows a member as DescribeAutoScalingInstances does, where the health
// status is spelled in capitals. Source: AWS CLI examples of the two calls.
func detailsOf(g sim.Group, m sim.Member) types.AutoScalingInstanceDetails {
	return types.AutoScalingInstanceDetails{
		AutoScalingGroupName: aws.String(g.Name), InstanceId: aws.String(m.ID), InstanceType: text(m.InstanceType),
		AvailabilityZone: aws.String(m.Zone), AvailabilityZoneId: zoneID(m.Zone),
		HealthStatus: aws.String(strings.ToUpper(string(m.Health))), LifecycleState: aws.String(string(m.Lifecycle)),
		ProtectedFromScaleIn: aws.Bool(m.Protected), LaunchTemplate: templateOf(g, m.LaunchTemplateVersion),
		WeightedCapacity: weightOf(m),
	}
}

// weightOf is set only in groups with weights: AWS leaves it out otherwise.
func weightOf(m sim.Member) *string {
	if m.Weight <= 1 {
		return nil
	}
	return aws.String(strconv.Itoa(m.Weight))
}

func templateOf(g sim.Group, version int) *types.LaunchTemplateSpecification {
	return &types.LaunchTemplateSpecification{
		LaunchTemplateId: text(g.LaunchTemplateID), LaunchTemplateName: text(g.LaunchTemplateName),
		Version: aws.String(strconv.Itoa(version)),
	}
}

func activityOf(a sim.Activity) types.Activity {
	return types.Activity{
		ActivityId: aws.String(a.ID), AutoScalingGroupName: aws.String(a.Group), AutoScalingGroupARN: aws.String(a.GroupARN),
		Cause: aws.String(a.Cause), Description: aws.String(a.Description), Details: aws.String(detailsText(a)),
		StartTime: instant(a.Start), EndTime: instant(a.End), Progress: number(a.Progress),
		StatusCode: types.ScalingActivityStatusCode(a.Status), StatusMessage: text(a.StatusMessage),
	}
}

func detailsText(a sim.Activity) string {
	if a.InstanceID == "" {
		return "{}"
	}
	return fmt.Sprintf("{\"InstanceId\":%q}", a.InstanceID)
}
