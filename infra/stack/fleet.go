package stack

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsautoscaling"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	elb "github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/review"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Listener is where a fleet takes its requests from; it may belong to another stack, or to none.
type Listener struct {
	// ARN is the listener's. Priority is 1 to 50000 and unique on it.
	ARN      *string
	Priority int
	// Paths and Hosts are what the rule matches; at least one of them is stated.
	Paths, Hosts []string
	// BalancerGroups are the load balancer's security groups, MemberGroups the members': traffic and health checks from the first to
	// the second are let through, by rules in the fleet's own stack. Leave them out where the rules stand already.
	BalancerGroups, MemberGroups []awsec2.ISecurityGroup
}

// FleetProps are the settings of a GuardedFleet. Service, Register, Group, VPC and Port are required.
type FleetProps struct {
	// Service names the reviewed thresholds in Register.
	Service  string
	Register *review.Register
	// Group is the Auto Scaling group, of this stack or imported by its name.
	Group awsautoscaling.IAutoScalingGroup
	VPC   awsec2.IVpc
	// Port is where the members serve.
	Port int
	// Listener routes to the target group; nil leaves that to the caller.
	Listener *Listener
	// Role is the members' role, which may then write heartbeats; nil leaves that to the caller (see HeartbeatStatement).
	Role awsiam.IRole
	// HeartbeatTableName is the Guardian's; "" means DefaultHeartbeatTable.
	HeartbeatTableName string
	// Topic is told of the dependency alarms that are made here; required if there are any.
	Topic awssns.ITopic
	// Policy is what the service declares, as a JSON object without dependencies; "" means {}.
	Policy       string
	Dependencies []Dependency
}

// Dependency is an alarm on something that the service shares with others.
type Dependency struct {
	// ID names it in the stack, Kind is hard or soft, Missing how INSUFFICIENT_DATA reads: unknown or ok.
	ID, Kind, Missing string
	// Alarm is one that exists. Without it, one is made of the following.
	Alarm   awscloudwatch.IAlarm
	Metric  awscloudwatch.IMetric
	AtLeast float64
	// Periods is how many periods in a row it must be so, 1 or more.
	Periods int
	// MissingData must be stated.
	MissingData awscloudwatch.TreatMissingData
}

// GuardedFleet is a target group at reviewed thresholds, with a group wired to it and put under guard.
type GuardedFleet struct {
	scope constructs.Construct
	// TargetGroup has every number stated.
	TargetGroup elb.ApplicationTargetGroup
	// Thresholds are the reviewed numbers in it.
	Thresholds review.Thresholds

	props    FleetProps
	problems problems
}

// NewGuardedFleet declares the fleet. Every rule that it breaks is told at synth, all of them at once.
func NewGuardedFleet(scope constructs.Construct, id string, p FleetProps) *GuardedFleet {
	f := &GuardedFleet{scope: constructs.NewConstruct(scope, jsii.String(id)), props: p}
	if p.Policy == "" {
		f.props.Policy = "{}"
	}
	if p.HeartbeatTableName == "" {
		f.props.HeartbeatTableName = DefaultHeartbeatTable
	}
	f.scope.Node().AddValidation(&f.problems)
	if !f.complete() {
		return f
	}
	for _, problem := range f.Thresholds.Problems() {
		f.problems.add("%s: %s", problem.Rule, problem.Text)
	}
	f.newTargetGroup()
	f.route()
	f.attach()
	f.declare()
	f.allowHeartbeats()
	f.warn()
	return f
}

// problems are told by CDK when the app is synthesized, with and without the command line, and cannot be switched off.
type problems struct{ texts []string }

func (p *problems) add(format string, args ...any) {
	p.texts = append(p.texts, fmt.Sprintf(format, args...))
}

// Validate implements constructs.IValidation.
func (p *problems) Validate() *[]*string { return jsii.Strings(p.texts...) }

// complete says whether there is enough to go on.
func (f *GuardedFleet) complete() bool {
	p := f.props
	if p.Register == nil || p.Group == nil || p.VPC == nil {
		f.problems.add("%s: Register, Group and VPC are required", p.Service)
		return false
	}
	t, err := p.Register.Of(p.Service)
	if err != nil {
		f.problems.add("%s: %v", review.RuleReview, err)
		return false
	}
	f.Thresholds = t
	if p.Port < 1 || p.Port > 65535 {
		f.problems.add("%s: port %d, want 1 to 65535", p.Service, p.Port)
	}
	if _, own := f.ownGroup(); own && *awscdk.Stack_Of(p.Group).Node().Path() != *awscdk.Stack_Of(f.scope).Node().Path() {
		f.problems.add("%s: the group is in another stack of this app, and each stack would need the other; put the GuardedFleet into the group's stack, or import the group by its name", p.Service)
		return false
	}
	return true
}

// ownGroup is the group's resource, if it is declared by this app.
func (f *GuardedFleet) ownGroup() (awsautoscaling.AutoScalingGroup, bool) {
	own, ok := f.props.Group.(awsautoscaling.AutoScalingGroup)
	return own, ok
}

// newTargetGroup states every number on the resource itself, so that nothing is left to a default of CDK or AWS.
func (f *GuardedFleet) newTargetGroup() {
	t := f.Thresholds
	f.TargetGroup = elb.NewApplicationTargetGroup(f.scope, jsii.String("Targets"), &elb.ApplicationTargetGroupProps{
		Vpc: f.props.VPC, Port: jsii.Number(f.props.Port), Protocol: elb.ApplicationProtocol_HTTP, TargetType: elb.TargetType_INSTANCE,
	})
	for _, a := range t.Attributes() {
		f.TargetGroup.SetAttribute(jsii.String(a.Key), jsii.String(a.Value))
	}
	g, ok := f.TargetGroup.Node().DefaultChild().(elb.CfnTargetGroup)
	if !ok {
		f.problems.add("%s: the target group has no resource of its own", t.Service)
		return
	}
	g.SetHealthCheckEnabled(jsii.Bool(true))
	g.SetHealthCheckPath(jsii.String(t.Path))
	g.SetHealthCheckPort(jsii.String(t.Port))
	g.SetHealthCheckProtocol(jsii.String(t.Protocol))
	g.SetHealthCheckIntervalSeconds(jsii.Number(t.IntervalSeconds))
	g.SetHealthCheckTimeoutSeconds(jsii.Number(t.TimeoutSeconds))
	g.SetHealthyThresholdCount(jsii.Number(t.HealthyCount))
	g.SetUnhealthyThresholdCount(jsii.Number(t.UnhealthyCount))
	g.SetMatcher(&elb.CfnTargetGroup_MatcherProperty{HttpCode: jsii.String(t.Matcher)})
	awscdk.Tags_Of(f.TargetGroup).Add(jsii.String(review.TagService), jsii.String(t.Service), nil)
}

// declare writes the service's layer of the policy. The operator's layer is another parameter, which no template has.
func (f *GuardedFleet) declare() {
	if strings.Contains(f.props.Policy, `"dependencies"`) {
		f.problems.add("%s: Policy must not have dependencies: state them as Dependencies", f.props.Service)
		return
	}
	declared := map[string]any{}
	if err := json.Unmarshal([]byte(f.props.Policy), &declared); err != nil {
		f.problems.add("%s: Policy is no JSON object: %v", f.props.Service, err)
		return
	}
	judged := map[string]any{}
	for key, value := range declared {
		judged[key] = value
	}
	var named, stand []map[string]string
	for i, d := range f.props.Dependencies {
		named = append(named, map[string]string{"alarm": *f.alarm(d), "kind": d.Kind, "missing": d.Missing})
		stand = append(stand, map[string]string{"alarm": fmt.Sprintf("alarm-%d", i), "kind": d.Kind, "missing": d.Missing})
	}
	if len(named) > 0 {
		declared["dependencies"], judged["dependencies"] = named, stand
	}
	// Names of alarms are known at deploy only: what is judged has others in their place.
	text, err := json.Marshal(judged)
	if err == nil {
		err = CheckPolicy(guard.LayerDeclared+f.props.Service, string(text))
	}
	if err != nil {
		f.problems.add("%s: Policy: %v", f.props.Service, err)
	}
	newParameter(f.scope, "Declared", parameter{
		*f.declaredName(), *awscdk.Stack_Of(f.scope).ToJsonString(declared, nil), "Holdfast: what " + f.props.Service + " declares; written by the stack",
	})
}

// declaredName is the layer's name. A group's name that CloudFormation makes has no byte that would have to be escaped.
func (f *GuardedFleet) declaredName() *string {
	name := f.props.Group.AutoScalingGroupName()
	if *awscdk.Token_IsUnresolved(name) {
		return awscdk.Fn_Join(jsii.String(""), &[]*string{jsii.String(guard.LayerDeclared), name})
	}
	return jsii.String(guard.LayerDeclared + guard.EscapeName(*name))
}
