package template_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

const (
	webTargets  = `module.front["eu"].aws_lb_target_group.this["web"]`
	bareTargets = `module.front["eu"].aws_lb_target_group.bare`
)

func TestAPlanIsReadWithItsModules(t *testing.T) {
	a := readFile(t, "plan.json")
	if a.Region != "eu-west-1" || !a.Static || len(a.Groups) != 2 || len(a.TargetGroups) != 2 || len(a.Alarms) != 1 {
		t.Fatalf("account is %+v", a)
	}
	want := audit.Group{
		Name: "web", Where: "plan.json: aws_autoscaling_group.web", Tags: map[string]string{"holdfast:guard": "true"},
		Min: ptr(4), Max: ptr(8), Desired: ptr(4), HealthCheckTypes: []string{"EC2", "ELB"}, GraceSeconds: ptr(300), WarmupSeconds: ptr(audit.NotSet),
		MinHealthyPercent: ptr(90), MaxHealthyPercent: ptr(120), ZoneCount: ptr(2), CapacityRebalance: ptr(false), ProtectedFromScale: ptr(false),
		TargetGroups: []string{webTargets}, Suspended: []audit.Suspension{{Process: "AZRebalance", Reason: "stated in the plan"}},
		RefreshMinHealthy: ptr(50), BootSeconds: ptr(audit.NotSet),
	}
	if !reflect.DeepEqual(a.Groups[0], want) {
		t.Errorf("group is\n%+v, want\n%+v", a.Groups[0], want)
	}
	bare := a.Groups[1]
	if !slices.Equal(bare.HealthCheckTypes, []string{"EC2"}) || bare.WarmupSeconds != nil || *bare.ZoneCount != 1 || !slices.Equal(bare.TargetGroups, []string{bareTargets}) {
		t.Errorf("the group of the attachment is %+v", bare)
	}
	if got := why(a, "aws_autoscaling_group.bare.default_instance_warmup"); !strings.Contains(got, "data.aws_ssm_parameter.warm.value") {
		t.Errorf("what is known after apply only is unread because of %q", got)
	}
	alarm := a.Alarms[0]
	if alarm.Name != "slow-database" || len(alarm.Actions) != 1 || !strings.HasPrefix(alarm.Actions[0], "unknown: ") {
		t.Errorf("alarm is %+v", alarm)
	}
}

func TestAPlansTargetGroupsHaveTheRightDefaults(t *testing.T) {
	a := readFile(t, "plan.json")
	want := audit.TargetGroup{
		ID: webTargets, Name: "web-tg", Where: "plan.json: " + webTargets, Tags: map[string]string{"holdfast:service": "web"}, TargetType: "instance",
		Protocol: "HTTP", CheckProtocol: "HTTP", Path: ptr("/health"), Port: ptr("traffic-port"), Matcher: ptr("200"), IntervalSeconds: ptr(30), TimeoutSeconds: ptr(5),
		HealthyCount: ptr(3), UnhealthyCount: ptr(3), DrainSeconds: ptr(300), SlowStartSeconds: ptr(0), FailOpenCount: ptr(2), FailOpenPercent: ptr(audit.NotSet),
		DNSCount: ptr(audit.NotSet), DNSPercent: ptr(30), LoadBalancers: []string{`module.front["eu"].aws_alb.this`},
	}
	if !reflect.DeepEqual(a.TargetGroups[0], want) {
		t.Errorf("target group is\n%+v, want\n%+v", a.TargetGroups[0], want)
	}
	// Without a block Terraform says nothing to AWS about the check, so that AWS's own numbers hold, not the block's.
	bare := a.TargetGroups[1]
	if *bare.HealthyCount != 5 || *bare.UnhealthyCount != 2 || *bare.Path != "/" || *bare.FailOpenCount != 1 || *bare.DNSPercent != audit.NotSet {
		t.Errorf("the target group without a block is %+v", bare)
	}
	if !slices.Equal(bare.LoadBalancers, []string{`module.front["eu"].aws_alb.this`}) {
		t.Errorf("load balancers by a rule are %v", bare.LoadBalancers)
	}
}

func TestAStateThatWasShownIsReadByItsARNs(t *testing.T) {
	a := read(t, "state.json", `{"format_version": "1.0", "terraform_version": "1.9.5", "values": {"root_module": {"resources": [
		{"address": "aws_autoscaling_group.a", "mode": "managed", "type": "aws_autoscaling_group", "name": "a", "values": {"name": "a", "min_size": 1, "max_size": 2,
			"desired_capacity": 2, "health_check_type": "EC2", "target_group_arns": ["arn:tg", "arn:elsewhere"], "vpc_zone_identifier": ["subnet-1", "subnet-2"]}},
		{"address": "aws_lb_target_group.t", "mode": "managed", "type": "aws_lb_target_group", "name": "t", "values": {"arn": "arn:tg", "protocol": "TCP",
			"health_check": [{"protocol": "TCP", "interval": 10, "timeout": 10, "healthy_threshold": 2, "unhealthy_threshold": 2, "matcher": "", "path": "", "port": "80"}]}}]}}}`)
	g, tg := a.Groups[0], a.TargetGroups[0]
	if !slices.Equal(g.TargetGroups, []string{"arn:elsewhere", "aws_lb_target_group.t"}) || *g.Desired != 2 || *g.ZoneCount != 2 {
		t.Errorf("group is %+v", g)
	}
	if tg.CheckProtocol != "TCP" || *tg.Path != "" || *tg.IntervalSeconds != 10 || *tg.Port != "80" {
		t.Errorf("target group is %+v", tg)
	}
}

func TestWhatADynamicBlockHidesIsNotTakenForADefault(t *testing.T) {
	a := read(t, "plan.json", `{"planned_values": {"root_module": {"resources": [
		{"address": "aws_lb_target_group.t", "mode": "managed", "type": "aws_lb_target_group", "name": "t", "values": {"protocol": "HTTP", "health_check": [{"interval": 15}]}}]}},
		"resource_changes": [{"address": "aws_lb_target_group.t", "change": {"after_unknown": {"health_check": [{"path": true}]}}}],
		"configuration": {"root_module": {"resources": [{"address": "aws_lb_target_group.t", "mode": "managed", "type": "aws_lb_target_group", "name": "t", "expressions": {}}]}}}`)
	if tg := a.TargetGroups[0]; tg.Path != nil || *tg.IntervalSeconds != 15 || why(a, "aws_lb_target_group.t.health_check.path") != "it is known after apply" {
		t.Errorf("target group is %+v, unread %+v", tg, a.Unread)
	}
}
