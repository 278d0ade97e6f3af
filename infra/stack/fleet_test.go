package stack_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsautoscaling"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	elb "github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/infra/review"
	"github.com/holdfast-aws/holdfast/infra/stack"
)

func importedVPC(s constructs.Construct) awsec2.IVpc {
	return awsec2.Vpc_FromVpcAttributes(s, jsii.String("Vpc"), &awsec2.VpcAttributes{
		VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("a", "b"), PrivateSubnetIds: jsii.Strings("subnet-1", "subnet-2"),
	})
}

func ownGroup(s constructs.Construct, vpc awsec2.IVpc) awsautoscaling.AutoScalingGroup {
	template := awsec2.NewLaunchTemplate(s, jsii.String("Template"), &awsec2.LaunchTemplateProps{
		InstanceType: awsec2.NewInstanceType(jsii.String("t4g.micro")), SecurityGroup: awsec2.SecurityGroup_FromSecurityGroupId(s, jsii.String("Members"), jsii.String("sg-2"), nil),
		MachineImage: awsec2.MachineImage_LatestAmazonLinux2023(&awsec2.AmazonLinux2023ImageSsmParameterProps{CpuType: awsec2.AmazonLinuxCpuType_ARM_64}),
	})
	return awsautoscaling.NewAutoScalingGroup(s, jsii.String("Group"), &awsautoscaling.AutoScalingGroupProps{Vpc: vpc, LaunchTemplate: template})
}

// registerWith is the repository's register after a change of the example's numbers, reviewed anew.
func registerWith(t *testing.T, change func(map[string]any)) *review.Register {
	t.Helper()
	raw, err := os.ReadFile(thresholdsFile)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	entry := all["example-web"]
	change(entry)
	for range 2 { // the first round tells the fingerprint
		r, err := review.Parse([]byte(text(all)))
		if err != nil {
			t.Fatal(err)
		}
		th, err := r.Of("example-web")
		if err != nil {
			t.Fatal(err)
		}
		entry["review"].(map[string]any)["fingerprint"] = th.Fingerprint()
	}
	r, err := review.Parse([]byte(text(all)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fleet synthesizes a guarded group of its own with changed props.
func fleet(t *testing.T, change func(awscdk.Stack, *stack.FleetProps)) (template, error) {
	t.Helper()
	return synth(t, func(s awscdk.Stack) {
		vpc := importedVPC(s)
		p := stack.FleetProps{
			Service: "example-web", Register: register(t), Group: ownGroup(s, vpc), VPC: vpc, Port: 8080,
			Topic: awssns.Topic_FromTopicArn(s, jsii.String("Topic"), awscdk.Stack_Of(s).FormatArn(&awscdk.ArnComponents{Service: jsii.String("sns"), Resource: jsii.String("t")})),
		}
		change(s, &p)
		stack.NewGuardedFleet(s, "Web", p)
	})
}

func metric() awscloudwatch.IMetric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: jsii.String("N"), MetricName: jsii.String("m")})
}

func TestAFleetStatesEveryThreshold(t *testing.T) {
	tpl, err := fleet(t, func(awscdk.Stack, *stack.FleetProps) {})
	if err != nil {
		t.Fatal(err)
	}
	p := tpl.properties("AWS::ElasticLoadBalancingV2::TargetGroup")[0]
	for key, want := range map[string]any{
		"HealthCheckPath": "/health", "HealthCheckPort": "traffic-port", "HealthCheckProtocol": "HTTP", "HealthCheckIntervalSeconds": 10.0,
		"HealthCheckTimeoutSeconds": 5.0, "HealthyThresholdCount": 2.0, "UnhealthyThresholdCount": 3.0, "HealthCheckEnabled": true,
	} {
		if p[key] != want {
			t.Errorf("%s is %v, want %v", key, p[key], want)
		}
	}
	for _, want := range []string{`"unhealthy_state_routing.minimum_healthy_targets.percentage","Value":"50"`, `"deregistration_delay.timeout_seconds","Value":"60"`, `dns_failover.minimum_healthy_targets.percentage","Value":"off"`} {
		if !strings.Contains(strings.ReplaceAll(text(p), "target_group_health.", ""), strings.TrimPrefix(want, `"`)) {
			t.Errorf("no %s in %s", want, text(p))
		}
	}
	g := tpl.properties("AWS::AutoScaling::AutoScalingGroup")[0]
	if g["HealthCheckType"] != "EC2" || g["HealthCheckGracePeriod"] != 300.0 || text(g["InstanceMaintenancePolicy"]) != `{"MaxHealthyPercentage":150,"MinHealthyPercentage":100}` ||
		text(g["Tags"]) != `[{"Key":"holdfast:guard","PropagateAtLaunch":false,"Value":"true"}]` {
		t.Errorf("group %s", text(g))
	}
}

func TestAFleetThatBreaksARuleFailsTheSynthWithTheSum(t *testing.T) {
	needNode(t)
	number := func(key string, value any) func(awscdk.Stack, *stack.FleetProps) {
		return func(_ awscdk.Stack, p *stack.FleetProps) {
			p.Register = registerWith(t, func(e map[string]any) { e[key] = value })
		}
	}
	dependency := func(d stack.Dependency) func(awscdk.Stack, *stack.FleetProps) {
		return func(_ awscdk.Stack, p *stack.FleetProps) { p.Dependencies = []stack.Dependency{d} }
	}
	for _, c := range []struct {
		name   string
		change func(awscdk.Stack, *stack.FleetProps)
		says   string
	}{
		{"a restart budget of 40 s", number("restart_seconds", 40), "restart budget 40s is not below the detection window 3 x 10s + 5s = 35s"},
		{"a timeout of 6 s with an interval of 5", func(_ awscdk.Stack, p *stack.FleetProps) {
			p.Register = registerWith(t, func(e map[string]any) { e["interval_seconds"], e["timeout_seconds"] = 5, 6 })
		}, "probe timeout 6s is not below interval 5s"},
		{"an unhealthy count of 1", number("unhealthy_count", 1), "unhealthy count 1: one lost probe"},
		{"an empty path", number("path", ""), "the health path is empty"},
		{"a deep path", number("path", "/health/deep"), "a deep check fails on all targets at once"},
		{"ELB checks with a grace of 0", func(_ awscdk.Stack, p *stack.FleetProps) {
			p.Register = registerWith(t, func(e map[string]any) { e["health_check_types"], e["grace_seconds"] = []string{"EC2", "ELB"}, 0 })
		}, "grace 0 s with ELB health checks"},
		{"an unknown service", func(_ awscdk.Stack, p *stack.FleetProps) { p.Service = "orders" }, `no reviewed thresholds for service "orders"`},
		{"no register", func(_ awscdk.Stack, p *stack.FleetProps) { p.Register = nil }, "Register, Group and VPC are required"},
		{"no port", func(_ awscdk.Stack, p *stack.FleetProps) { p.Port = 0 }, "port 0, want 1 to 65535"},
		{"a policy that a sweep would refuse", func(_ awscdk.Stack, p *stack.FleetProps) { p.Policy = `{"confirm_sweeps": 0}` }, "confirm_sweeps"},
		{"a policy with dependencies of its own", func(_ awscdk.Stack, p *stack.FleetProps) { p.Policy = `{"dependencies": []}` }, "state them as Dependencies"},
		{"a policy that is no object", func(_ awscdk.Stack, p *stack.FleetProps) { p.Policy = `[]` }, "no JSON object"},
		{"a dependency of an unknown kind", dependency(stack.Dependency{ID: "Db", Kind: "firm", Missing: "ok", Metric: metric(), Periods: 1, MissingData: awscloudwatch.TreatMissingData_MISSING}), "firm"},
		{"a dependency whose missing data is not stated", dependency(stack.Dependency{ID: "Db", Kind: "hard", Missing: "ok", Metric: metric(), Periods: 1}), "a stated MissingData"},
		{"a dependency without a metric", dependency(stack.Dependency{ID: "Db", Kind: "hard", Missing: "ok"}), "dependency Db needs an Alarm"},
		{"a listener that matches nothing", func(_ awscdk.Stack, p *stack.FleetProps) {
			p.Listener = &stack.Listener{ARN: jsii.String("l"), Priority: 1}
		}, "Paths or Hosts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := fleet(t, c.change); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("have %v\nwant %q", err, c.says)
			}
		})
	}
}

func TestADependencyHoldsByItsAlarm(t *testing.T) {
	needNode(t)
	tpl, err := fleet(t, func(s awscdk.Stack, p *stack.FleetProps) {
		p.Policy = `{"marks_per_hour": 2}`
		p.Dependencies = []stack.Dependency{
			{ID: "Db", Kind: "hard", Missing: "unknown", Metric: metric(), AtLeast: 1, Periods: 3, MissingData: awscloudwatch.TreatMissingData_MISSING},
			{ID: "Cache", Kind: "soft", Missing: "ok", Alarm: awscloudwatch.Alarm_FromAlarmName(s, jsii.String("Cache"), jsii.String("cache-down"))},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	alarms := tpl.of("AWS::CloudWatch::Alarm")
	if len(alarms) != 1 {
		t.Fatalf("alarms %q", alarms)
	}
	a := tpl.Resources[alarms[0]].Properties
	if a["TreatMissingData"] != "missing" || a["AlarmActions"] == nil || a["InsufficientDataActions"] == nil || !strings.Contains(text(a["Tags"]), "holdfast:group") {
		t.Errorf("%s", text(a))
	}
	declared := text(tpl.properties("AWS::SSM::Parameter")[0])
	for _, want := range []string{"/holdfast/declared/", alarms[0], `cache-down`, `marks_per_hour`} {
		if !strings.Contains(declared, want) {
			t.Errorf("no %s in %s", want, declared)
		}
	}
}

func TestAnImportedGroupIsLeftAsItIs(t *testing.T) {
	tpl, err := fleet(t, func(s awscdk.Stack, p *stack.FleetProps) {
		p.Group = awsautoscaling.AutoScalingGroup_FromAutoScalingGroupName(s, jsii.String("Old"), jsii.String("orders web/1"))
		p.Listener = &stack.Listener{ARN: jsii.String("listener"), Priority: 7, Hosts: []string{"orders.example.com"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := tpl.properties("AWS::SSM::Parameter")[0]; p["Name"] != "/holdfast/declared/orders_20web_2F1" {
		t.Errorf("the layer is %v", p["Name"])
	}
	outputs := text(tpl.Outputs)
	for _, want := range []string{"attach-traffic-sources --auto-scaling-group-name orders web/1", "--health-check-type EC2", "Key=holdfast:guard,Value=true,ResourceId=orders web/1"} {
		if !strings.Contains(outputs, want) {
			t.Errorf("no %q in %s", want, outputs)
		}
	}
}

func TestAListenerOfAnotherStackMakesNoCycle(t *testing.T) {
	needNode(t)
	err := try(func() error {
		a := newApp(t)
		front, back := awscdk.NewStack(a, jsii.String("Front"), nil), awscdk.NewStack(a, jsii.String("Back"), nil)
		vpc := awsec2.NewVpc(front, jsii.String("Vpc"), &awsec2.VpcProps{MaxAzs: jsii.Number(2), NatGateways: jsii.Number(0), RestrictDefaultSecurityGroup: jsii.Bool(false)})
		balancer := elb.NewApplicationLoadBalancer(front, jsii.String("Balancer"), &elb.ApplicationLoadBalancerProps{Vpc: vpc})
		listener := balancer.AddListener(jsii.String("Http"), &elb.BaseApplicationListenerProps{Port: jsii.Number(80), DefaultAction: elb.ListenerAction_FixedResponse(jsii.Number(404), nil)})
		members := awsec2.NewSecurityGroup(back, jsii.String("Members"), &awsec2.SecurityGroupProps{Vpc: vpc})
		stack.NewGuardedFleet(back, "Web", stack.FleetProps{
			Service: "example-web", Register: register(t), VPC: vpc, Port: 8080, Group: awsautoscaling.AutoScalingGroup_FromAutoScalingGroupName(back, jsii.String("Old"), jsii.String("old")),
			Listener: &stack.Listener{
				ARN: listener.ListenerArn(), Priority: 1, Paths: []string{"/*"}, BalancerGroups: *balancer.Connections().SecurityGroups(), MemberGroups: []awsec2.ISecurityGroup{members},
			},
		})
		all, err := templates(a.Synth(nil).Directory())
		if err != nil {
			return err
		}
		if strings.Contains(all["Front"].text, "ImportValue") || !strings.Contains(all["Back"].text, "ImportValue") {
			t.Error("the listener's stack needs the fleet's")
		}
		for _, kind := range []string{"AWS::ElasticLoadBalancingV2::ListenerRule", "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"} {
			if len(all["Back"].of(kind)) != 1 || len(all["Front"].of(kind)) != 0 {
				t.Errorf("%s: %d in the fleet's stack", kind, len(all["Back"].of(kind)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAGroupOfAnotherStackIsRefusedBeforeItIsACycle(t *testing.T) {
	err := try(func() error {
		a := newApp(t)
		one, two := awscdk.NewStack(a, jsii.String("One"), nil), awscdk.NewStack(a, jsii.String("Two"), nil)
		vpc := importedVPC(one)
		stack.NewGuardedFleet(two, "Web", stack.FleetProps{Service: "example-web", Register: register(t), Group: ownGroup(one, vpc), VPC: vpc, Port: 8080})
		a.Synth(nil)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "put the GuardedFleet into the group's stack") {
		t.Errorf("have %v", err)
	}
}

func TestAnyOtherStackOfTheAppIsJudged(t *testing.T) {
	report := func(build func(awscdk.Stack)) (string, error) {
		var told []byte
		err := try(func() error {
			a := newApp(t)
			s := awscdk.NewStack(a, jsii.String("Other"), nil)
			build(s)
			stack.Judge(a, register(t))
			defer func() {
				told, _ = os.ReadFile(*a.Outdir() + "/validation-report.json") // an empty report fails the test below
			}()
			a.Synth(nil)
			return nil
		})
		return string(bytes.ToValidUTF8(told, nil)), err
	}
	bad := func(s awscdk.Stack) {
		elb.NewApplicationTargetGroup(s, jsii.String("Tg"), &elb.ApplicationTargetGroupProps{
			Vpc: importedVPC(s), Port: jsii.Number(80), Protocol: elb.ApplicationProtocol_HTTP, TargetType: elb.TargetType_INSTANCE,
			HealthCheck: &elb.HealthCheck{
				Path: jsii.String("/health/deep"), Interval: awscdk.Duration_Seconds(jsii.Number(10)), Timeout: awscdk.Duration_Seconds(jsii.Number(5)),
				HealthyThresholdCount: jsii.Number(2), UnhealthyThresholdCount: jsii.Number(2), HealthyHttpCodes: jsii.String("200"), Port: jsii.String("traffic-port"), Protocol: elb.Protocol_HTTP,
			},
		})
	}
	if told, err := report(bad); err == nil || !strings.Contains(told+err.Error(), "a deep check fails on all targets at once") {
		t.Errorf("have %v, report %q", err, told)
	}
	if _, err := report(func(s awscdk.Stack) { awssns.NewTopic(s, jsii.String("T"), nil) }); err != nil {
		t.Errorf("a stack without target groups: %v", err)
	}
}

func TestELBHealthChecksOfAGuardedGroupAreAFinding(t *testing.T) {
	messages := findings(t, "*", func(s awscdk.Stack) {
		vpc := importedVPC(s)
		stack.NewGuardedFleet(s, "Web", stack.FleetProps{
			Service: "example-web", Group: ownGroup(s, vpc), VPC: vpc, Port: 8080,
			Register: registerWith(t, func(e map[string]any) { e["health_check_types"] = []string{"EC2", "ELB"} }),
		})
	})
	if !strings.Contains(strings.Join(messages, "\n"), "beyond every limit of Holdfast") {
		t.Errorf("findings %q", messages)
	}
}

func TestStagesPutAGuardianIntoEachAccountAndRegion(t *testing.T) {
	settings := strings.Replace(readAll(t, cdkFile), `"holdfast": {}`, `"holdfast": {"stages": [{"name": "eu", "account": "111122223333", "region": "eu-central-1"}, {"name": "us", "account": "111122223333", "region": "us-east-1"}], "guardian": {"shards": 2}}`, 1)
	err := try(func() error {
		a, err := app.New(app.Files{CDK: write(t, settings), Thresholds: thresholdsFile, CodeDir: code(t)})
		if err != nil {
			return err
		}
		stacks := 0
		for _, child := range *a.Synth(nil).NestedAssemblies() {
			stacks += len(*child.NestedAssembly().Stacks())
		}
		if stacks != 2 {
			t.Errorf("%d stacks", stacks)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(app.Files{CDK: write(t, strings.Replace(settings, `"shards"`, `"shard"`, 1)), Thresholds: thresholdsFile, CodeDir: "x"}); err == nil || !strings.Contains(err.Error(), "shard") {
		t.Errorf("a misspelt setting: %v", err)
	}
}
