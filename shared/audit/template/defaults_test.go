package template_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// staged is a template whose group and target group are there in production only, and whose default is not production.
const staged = `
Parameters:
  Env: {Type: String, Default: dev}
  Zone: {Type: String}
Conditions:
  Prod: !Equals [!Ref Env, prod]
  Never: !And [!Equals [a, b], !Equals [!Ref Env, prod]]
  Either: !Or [!Condition Prod, !Equals [!Ref Zone, x]]
Resources:
  G:
    Type: AWS::AutoScaling::AutoScalingGroup
    Condition: Prod
    Properties: {MinSize: '2', MaxSize: '4', HealthCheckType: ELB, VPCZoneIdentifier: [a, b], TargetGroupARNs: [!Ref T]}
  T: {Type: AWS::ElasticLoadBalancingV2::TargetGroup, Condition: Prod, Properties: {Name: web, Protocol: HTTP, HealthCheckPath: /db}}
`

func entry(kind, name, what, why string) audit.Unread {
	return audit.Unread{Kind: kind, Name: name, What: what, Why: why}
}

func TestWhatIsNotThereAtADefaultIsNamed(t *testing.T) {
	const why = "not there at the default of parameter Env, and so not judged: audit it with the other choice as the default too"
	a := read(t, "t.yaml", staged)
	want := []audit.Unread{entry("group", "G", "G.Condition", why), entry("target-group", "web", "T.Condition", why)}
	if len(a.Groups)+len(a.TargetGroups) != 0 || !slices.Equal(a.Unread, want) {
		t.Errorf("unread %+v, want %+v", a.Unread, want)
	}
	if a := read(t, "t.yaml", strings.Replace(staged, "Default: dev", "Default: prod", 1)); len(a.Groups) != 1 || len(a.TargetGroups) != 1 {
		t.Errorf("in production there are %d groups", len(a.Groups))
	}
	if a := read(t, "t.yaml", strings.ReplaceAll(staged, "Condition: Prod", "Condition: Never")); len(a.Groups)+len(a.Unread) != 0 {
		t.Errorf("what no choice makes is named: %+v", a.Unread)
	}
	if a := read(t, "t.yaml", strings.ReplaceAll(staged, "Condition: Prod", "Condition: Either")); len(a.Groups) != 1 {
		t.Errorf("what may be there, by a parameter without a default, is not judged: %+v", a.Unread)
	}
}

func TestAValueThatADefaultChoosesIsJudgedAndNamed(t *testing.T) {
	for _, c := range []struct {
		name, properties string
		// what is the property that is named, "" for none.
		what string
	}{
		{"a number", `MinSize: !If [Prod, 4, 2]`, "MinSize"},
		{"a part of a list", `VPCZoneIdentifier: [a, !If [Prod, b, !Ref AWS::NoValue]]`, "VPCZoneIdentifier"},
		{"inside another function", `HealthCheckType: !Join ['', [E, !If [Prod, LB, C2]]]`, "HealthCheckType"},
		{"a setting inside a setting", `InstanceMaintenancePolicy: {MinHealthyPercentage: !If [Prod, 100, 50], MaxHealthyPercentage: !If [Prod, 110, 150]}`, "InstanceMaintenancePolicy"},
		{"an If of an If", `MinSize: !If [Never, 1, !If [Prod, 4, 2]]`, "MinSize"},
		{"both choices alike", `MinSize: !If [Prod, 2, 2]`, ""},
		{"no choice of a person", `MinSize: !If [Never, 4, 2]`, ""},
		{"in the branch that is not taken", `MinSize: !If [Never, !If [Prod, 4, 2], 2]`, ""},
		{"nothing that is judged", `LaunchConfigurationName: !If [Prod, a, b]`, ""},
	} {
		text := strings.NewReplacer("    Condition: Prod\n", "", "Condition: Prod, ", "").Replace(staged)
		key, _, _ := strings.Cut(c.properties, ":")
		from := map[string]string{"MinSize": "MinSize: '2'", "VPCZoneIdentifier": "VPCZoneIdentifier: [a, b]", "HealthCheckType": "HealthCheckType: ELB"}[key]
		if from == "" {
			from, c.properties = "MinSize: '2'", "MinSize: '2', "+c.properties
		}
		a := read(t, "t.yaml", strings.Replace(text, from, c.properties, 1))
		var want []audit.Unread
		if c.what != "" {
			want = []audit.Unread{entry("group", "G", "G.Properties."+c.what, "judged at the default of parameter Env")}
		}
		var have []audit.Unread
		for _, u := range a.Unread {
			if u.Kind == "group" {
				have = append(have, u)
			}
		}
		if !slices.Equal(have, want) || (len(have) > 0 && !have[0].Judged()) {
			t.Errorf("%s: unread %+v, want %+v", c.name, have, want)
		}
	}
}

func TestANumberThatADumpRefusesIsUnknownInATemplate(t *testing.T) {
	for _, c := range []struct{ from, to, what string }{
		{"MinSize: '2'", "MinSize: '9223372036854775807'", "G.Properties.MinSize"},
		{"MinSize: '2'", "MinSize: '-5'", "G.Properties.MinSize"},
		{"MinSize: '2'", "MinSize: -1", "min"},
		{"MinSize: '2'", "MinSize: '2', InstanceMaintenancePolicy: {MinHealthyPercentage: 101, MaxHealthyPercentage: 120}", "min_healthy_percent"},
		{"Protocol: HTTP", "Protocol: HTTP, UnhealthyThresholdCount: 1001", "unhealthy_count"},
		{"Protocol: HTTP", "Protocol: HTTP, HealthCheckIntervalSeconds: 1e9", "T.Properties.HealthCheckIntervalSeconds"},
		{"Protocol: HTTP", "Protocol: HTTP, TargetGroupAttributes: [{Key: deregistration_delay.timeout_seconds, Value: '-7'}]",
			"T.Properties.TargetGroupAttributes.deregistration_delay.timeout_seconds"},
		{"Protocol: HTTP", "Protocol: HTTP, TargetGroupAttributes: [{Key: target_group_health.dns_failover.minimum_healthy_targets.percentage, Value: '101'}]", "dns_percent"},
	} {
		a := read(t, "t.yaml", strings.Replace(strings.Replace(staged, "Default: dev", "Default: prod", 1), c.from, c.to, 1))
		if reason := why(a, c.what); !strings.Contains(reason, "is out of range, want 0 to ") {
			t.Errorf("%s: %s is unread because of %q; all: %+v", c.to, c.what, reason, a.Unread)
		}
		text := audit.Judge(a, audit.Options{})
		for _, f := range text.Findings {
			if strings.Contains(f.Saw+f.Sum, "9223372036854775807") {
				t.Errorf("%s: the number is judged: %s", c.to, f.Saw)
			}
		}
	}
}

func TestOnlyUnknownTagsHideThatNobodyReviewed(t *testing.T) {
	for _, c := range []struct {
		name, id, properties string
		found                bool
	}{
		{"a plain name", "Target", "HealthCheckPath: !ImportValue x", true},
		{"a name with the word tags", "StageTagsGroup", "HealthCheckPath: !ImportValue x", true},
		{"unknown tags", "Target", "Tags: !ImportValue x", false},
		{"a tag that may be any", "Target", "Tags: [{Key: !ImportValue x, Value: y}]", false},
		{"an unknown service", "Target", "Tags: [{Key: 'holdfast:service', Value: !ImportValue x}, {Key: a, Value: b}]", false},
		{"another unknown tag", "Target", "Tags: [{Key: owner, Value: !ImportValue x}]", true},
	} {
		text := "Resources:\n  G:\n    Type: AWS::AutoScaling::AutoScalingGroup\n" +
			"    Properties: {MinSize: '2', MaxSize: '4', HealthCheckType: ELB, VPCZoneIdentifier: [a, b], TargetGroupARNs: [!Ref " + c.id + "]}\n" +
			"  " + c.id + ": {Type: AWS::ElasticLoadBalancingV2::TargetGroup, Properties: {Protocol: HTTP, " + c.properties + "}}\n"
		found := false
		for _, f := range audit.Judge(read(t, "t.yaml", text), audit.Options{}).Findings {
			found = found || f.Rule == "HF003"
		}
		if found != c.found {
			t.Errorf("%s: HF003 found %t, want %t", c.name, found, c.found)
		}
	}
}

func TestAnAttributeThatMayBeAnyLeavesAllUnknown(t *testing.T) {
	text := strings.Replace(strings.Replace(staged, "Default: dev", "Default: prod", 1), "Protocol: HTTP",
		"Protocol: HTTP, TargetGroupAttributes: [{Key: !ImportValue x, Value: '7'}, {Key: deregistration_delay.timeout_seconds, Value: '30'}]", 1)
	a := read(t, "t.yaml", text)
	if tg := a.TargetGroups[0]; tg.DrainSeconds != nil || tg.FailOpenPercent != nil || why(a, "T.Properties.TargetGroupAttributes.0") == "" {
		t.Errorf("target group %+v, unread %+v", tg, a.Unread)
	}
}
