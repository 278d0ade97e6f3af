package world

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// loadBalancing answers Elastic Load Balancing v2 from the simulator.
type loadBalancing struct {
	server *Server

	mu sync.Mutex
	// tags are what clients added to target groups, by ARN.
	tags map[string]map[string]string
}

// Handle implements wire.Service.
func (l *loadBalancing) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "DescribeTargetGroups":
		return wire.Do(call, l.describeGroups)
	case "DescribeTargetGroupAttributes":
		return wire.Do(call, l.describeAttributes)
	case "AddTags":
		return wire.Do(call, l.addTags)
	case "DescribeTags":
		return wire.Do(call, l.describeTags)
	case "DescribeTargetHealth":
		return wire.Do(call, l.describeHealth)
	}
	return nil, wire.UnknownOperation(call.Operation)
}

func noTargetGroup() error {
	return &types.TargetGroupNotFoundException{Message: aws.String("One or more target groups not found")}
}

func (l *loadBalancing) describeGroups(in *elb.DescribeTargetGroupsInput) (*elb.DescribeTargetGroupsOutput, error) {
	var all []sim.TargetGroup
	l.server.Do(func(c *sim.Cloud) { all = c.TargetGroups() })
	var found []types.TargetGroup
	seen := map[string]bool{}
	for _, g := range all {
		ofBalancer := in.LoadBalancerArn == nil || g.LoadBalancerARN == *in.LoadBalancerArn
		if ofBalancer && one(in.TargetGroupArns, g.ARN) && one(in.Names, g.Name) {
			found = append(found, targetGroupOf(g))
			seen[g.ARN], seen[g.Name] = true, true
		}
	}
	for _, want := range append(append([]string(nil), in.TargetGroupArns...), in.Names...) {
		if !seen[want] {
			return nil, noTargetGroup()
		}
	}
	part, next, err := page(l.server, found, pageAsk{
		operation: "elasticloadbalancing:DescribeTargetGroups", token: in.Marker, asked: in.PageSize,
		fallback: 400, most: 400, badToken: validation("Marker is not valid"),
	})
	if err != nil {
		return nil, err
	}
	return &elb.DescribeTargetGroupsOutput{TargetGroups: part, NextMarker: next}, nil
}

func targetGroupOf(g sim.TargetGroup) types.TargetGroup {
	out := types.TargetGroup{
		TargetGroupArn: aws.String(g.ARN), TargetGroupName: aws.String(g.Name),
		TargetType: types.TargetTypeEnumInstance, Protocol: types.ProtocolEnumHttp, ProtocolVersion: aws.String("HTTP1"),
		HealthCheckEnabled: aws.Bool(true), HealthCheckProtocol: types.ProtocolEnumHttp,
		HealthCheckPath: text(g.HTTPPath), HealthCheckPort: aws.String("traffic-port"),
		HealthCheckIntervalSeconds: seconds(g.Interval), HealthCheckTimeoutSeconds: seconds(g.Timeout),
		HealthyThresholdCount: number(g.HealthyCount), UnhealthyThresholdCount: number(g.UnhealthyCount),
		Matcher: &types.Matcher{HttpCode: aws.String("200")}, LoadBalancerArns: []string{},
	}
	if len(g.Ports) > 0 {
		out.Port = number(g.Ports[0])
	}
	if g.LoadBalancerARN != "" {
		out.LoadBalancerArns = append(out.LoadBalancerArns, g.LoadBalancerARN)
	}
	return out
}

// describeAttributes shows the settings that the simulator has, and AWS's presets of the others that are asked for by anybody here.
// Source: SDK doc comment of TargetGroupAttribute.Key.
func (l *loadBalancing) describeAttributes(in *elb.DescribeTargetGroupAttributesInput) (*elb.DescribeTargetGroupAttributesOutput, error) {
	var found sim.TargetGroup
	known := false
	l.server.Do(func(c *sim.Cloud) {
		for _, g := range c.TargetGroups() {
			if g.ARN == aws.ToString(in.TargetGroupArn) { // the API takes no names
				found, known = g, true
			}
		}
	})
	if !known {
		return nil, noTargetGroup()
	}
	const health = "target_group_health."
	out := &elb.DescribeTargetGroupAttributesOutput{}
	for _, a := range [][2]string{
		{"deregistration_delay.timeout_seconds", strconv.Itoa(int(max(0, found.DeregistrationDelay) / time.Second))},
		{"load_balancing.algorithm.type", "round_robin"},
		{"slow_start.duration_seconds", "0"},
		{"stickiness.enabled", "false"},
		{health + "dns_failover.minimum_healthy_targets.count", "1"},
		{health + "dns_failover.minimum_healthy_targets.percentage", "off"},
		{health + "unhealthy_state_routing.minimum_healthy_targets.count", strconv.Itoa(found.MinHealthyTargets)},
		{health + "unhealthy_state_routing.minimum_healthy_targets.percentage", "off"},
	} {
		out.Attributes = append(out.Attributes, types.TargetGroupAttribute{Key: aws.String(a[0]), Value: aws.String(a[1])})
	}
	return out, nil
}

func (l *loadBalancing) describeHealth(in *elb.DescribeTargetHealthInput) (*elb.DescribeTargetHealthOutput, error) {
	arn := aws.ToString(in.TargetGroupArn)
	var targets []sim.Target
	var err error
	l.server.Do(func(c *sim.Cloud) {
		err = noTargetGroup()
		for _, g := range c.TargetGroups() {
			if g.ARN == arn { // the API takes no names
				targets, err = c.TargetHealth(arn)
			}
		}
	})
	var missing *sim.NotFoundError
	if errors.As(err, &missing) {
		err = noTargetGroup()
	}
	if err != nil {
		return nil, err
	}
	anomalies := len(in.Include) > 0
	out := &elb.DescribeTargetHealthOutput{TargetHealthDescriptions: []types.TargetHealthDescription{}}
	add := func(d types.TargetHealthDescription) {
		out.TargetHealthDescriptions = append(out.TargetHealthDescriptions, d)
	}
	if len(in.Targets) == 0 {
		for _, t := range targets {
			add(healthOf(t, anomalies))
		}
		return out, nil
	}
	for _, asked := range in.Targets {
		found := false
		for _, t := range targets {
			if t.ID == aws.ToString(asked.Id) && (asked.Port == nil || int(*asked.Port) == t.Port) {
				add(healthOf(t, anomalies))
				found = true
			}
		}
		if !found {
			add(unregistered(asked))
		}
	}
	return out, nil
}

// unregistered is the answer for a target that the group does not have: no error,
// a state. Source: SDK doc comment of TargetHealth.Reason.
func unregistered(asked types.TargetDescription) types.TargetHealthDescription {
	return types.TargetHealthDescription{
		Target: &types.TargetDescription{Id: asked.Id, Port: asked.Port},
		TargetHealth: &types.TargetHealth{
			State: types.TargetHealthStateEnumUnused, Reason: types.TargetHealthReasonEnumNotRegistered,
			Description: aws.String("Target is not registered to the target group"),
		},
	}
}

func healthOf(t sim.Target, anomalies bool) types.TargetHealthDescription {
	out := types.TargetHealthDescription{
		Target:          &types.TargetDescription{Id: aws.String(t.ID), Port: number(t.Port), AvailabilityZone: text(t.Zone)},
		HealthCheckPort: aws.String(strconv.Itoa(t.Port)),
		TargetHealth: &types.TargetHealth{
			State: types.TargetHealthStateEnum(t.State), Reason: types.TargetHealthReasonEnum(t.Reason), Description: text(t.Description),
		},
		AdministrativeOverride: &types.AdministrativeOverride{State: types.TargetAdministrativeOverrideStateEnumNoOverride},
	}
	if t.Shifted {
		out.AdministrativeOverride.State = types.TargetAdministrativeOverrideStateEnumZonalShiftActive
	}
	if anomalies {
		out.AnomalyDetection = &types.AnomalyDetection{
			Result: types.AnomalyResultEnumNormal, MitigationInEffect: types.MitigationInEffectEnumNo,
		}
		if t.Anomalous {
			out.AnomalyDetection.Result = types.AnomalyResultEnumAnomalous
		}
	}
	return out
}
