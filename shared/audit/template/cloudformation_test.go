package template_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/template"
)

func read(t *testing.T, name, text string) audit.Account {
	t.Helper()
	a, err := template.Read(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func readFile(t *testing.T, name string) audit.Account {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, name, string(text))
}

func ptr[T any](v T) *T { return &v }

// why finds the reason for which a property was not read.
func why(a audit.Account, what string) string {
	for _, u := range a.Unread {
		if u.What == what {
			return u.Why
		}
	}
	return ""
}

func TestATemplateIsReadWithItsFunctionsComputed(t *testing.T) {
	a := readFile(t, "web.yaml")
	if !a.Static || a.Format != audit.Format || a.Source != "web.yaml" || !a.At.IsZero() {
		t.Errorf("account is %+v", a)
	}
	wantGroup := audit.Group{
		Name: "Group", Where: "web.yaml:16: Group", Tags: map[string]string{"holdfast:guard": "true"},
		Min: ptr(4), Max: ptr(8), Desired: ptr(4), HealthCheckTypes: []string{"EBS", "EC2", "ELB"}, GraceSeconds: ptr(240),
		MinHealthyPercent: ptr(90), MaxHealthyPercent: ptr(120), CapacityRebalance: ptr(false), ProtectedFromScale: ptr(false),
		TargetGroups: []string{"Targets"}, RefreshMinHealthy: ptr(75), BootSeconds: ptr(audit.NotSet),
	}
	if len(a.Groups) != 1 || !reflect.DeepEqual(a.Groups[0], wantGroup) {
		t.Errorf("groups are\n%+v, want\n%+v", a.Groups, wantGroup)
	}
	wantTarget := audit.TargetGroup{
		ID: "Targets", Where: "web.yaml:37: Targets", Tags: map[string]string{}, TargetType: "instance", Protocol: "HTTP", CheckProtocol: "HTTP",
		Path: ptr("/health/prod"), Port: ptr("traffic-port"), Matcher: ptr("200-299"), IntervalSeconds: ptr(10), TimeoutSeconds: ptr(5),
		HealthyCount: ptr(5), UnhealthyCount: ptr(2), DrainSeconds: ptr(30), SlowStartSeconds: ptr(0), FailOpenCount: ptr(1),
		FailOpenPercent: ptr(audit.NotSet), DNSCount: ptr(audit.NotSet), DNSPercent: ptr(20), LoadBalancers: []string{"Balancer"},
	}
	if len(a.TargetGroups) != 1 || !reflect.DeepEqual(a.TargetGroups[0], wantTarget) {
		t.Errorf("target groups are\n%+v, want\n%+v", a.TargetGroups, wantTarget)
	}
	wantAlarm := audit.Alarm{Name: "Alarm", Where: "web.yaml:57: Alarm", ActionsEnabled: ptr(false), Actions: []string{"Page"}, TreatMissing: "missing"}
	if len(a.Alarms) != 1 || !reflect.DeepEqual(a.Alarms[0], wantAlarm) {
		t.Errorf("alarms are\n%+v, want\n%+v", a.Alarms, wantAlarm)
	}
	for what, want := range map[string]string{
		"Group.Properties.DefaultInstanceWarmup": "it depends on condition IsDebug: parameter Debug has no default",
		"Group.Properties.VPCZoneIdentifier":     "parameter Subnets has no default",
		"AWS::CloudFormation::Stack":             "it is a template of its own: audit that too",
		"Group.Properties.HealthCheckType":       "judged at the default of parameter Stage",
		"Group.Properties.CapacityRebalance":     "judged at the default of parameter Stage",
		"OnlyForTests.Condition":                 "not there at the default of parameter Stage, and so not judged: audit it with the other choice as the default too",
	} {
		if got := why(a, what); got != want {
			t.Errorf("%s is unread because of %q, want %q", what, got, want)
		}
	}
	if len(a.Unread) != 6 {
		t.Errorf("unread is %+v, want 6 entries", a.Unread)
	}
}

// resource is a template of one group and one target group with the given properties.
func resource(group, target string) string {
	return `{"Parameters": {"None": {"Type": "String"}}, "Resources": {
		"G": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {` + group + `}},
		"T": {"Type": "AWS::ElasticLoadBalancingV2::TargetGroup", "Properties": {` + target + `}},
		"S1": {"Type": "AWS::EC2::Subnet", "Properties": {"AvailabilityZone": {"Fn::Select": [0, {"Fn::GetAZs": ""}]}}},
		"S2": {"Type": "AWS::EC2::Subnet", "Properties": {"AvailabilityZone": {"Fn::Select": [1, {"Fn::GetAZs": ""}]}}},
		"S3": {"Type": "AWS::EC2::Subnet", "Properties": {"AvailabilityZone": {"Fn::Select": [1, {"Fn::GetAZs": ""}]}}},
		"Nested": {"Type": "AWS::CloudFormation::Stack"}}}`
}

func TestWhatATemplateLeavesOutIsAWSsDefault(t *testing.T) {
	for _, c := range []struct {
		name, target                          string
		check, path, matcher                  string
		interval, timeout, healthy, unhealthy int
	}{
		{"an application load balancer's", `"Protocol": "HTTPS"`, "HTTP", "/", "200", 30, 5, 5, 2},
		{"a network load balancer's", `"Protocol": "TCP"`, "TCP", "", "", 30, 10, 5, 2},
		{"a network load balancer's that asks by HTTP", `"Protocol": "TLS", "HealthCheckProtocol": "HTTP"`, "HTTP", "/", "200-399", 30, 6, 5, 2},
		{"a gRPC one", `"Protocol": "HTTP", "ProtocolVersion": "GRPC"`, "HTTP", "/AWS.ALB/healthcheck", "12", 30, 5, 5, 2},
		{"a function's", `"TargetType": "lambda"`, "HTTP", "/", "200", 35, 30, 5, 5},
		{"a gateway load balancer's", `"Protocol": "GENEVE"`, "TCP", "", "", 10, 5, 5, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg := read(t, "x", resource("", c.target)).TargetGroups[0]
			got := []any{tg.CheckProtocol, *tg.Path, *tg.Matcher, *tg.IntervalSeconds, *tg.TimeoutSeconds, *tg.HealthyCount, *tg.UnhealthyCount}
			want := []any{c.check, c.path, c.matcher, c.interval, c.timeout, c.healthy, c.unhealthy}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("check is %v, want %v", got, want)
			}
		})
	}
	g := read(t, "x", resource(`"MinSize": "2", "MaxSize": 3`, "")).Groups[0]
	if *g.GraceSeconds != 0 || !slices.Equal(g.HealthCheckTypes, []string{"EC2"}) || *g.WarmupSeconds != audit.NotSet || *g.MinHealthyPercent != audit.NotSet ||
		*g.Desired != 2 || *g.RefreshMinHealthy != audit.NotSet || g.TargetGroups == nil || len(g.TargetGroups) != 0 {
		t.Errorf("group is %+v", g)
	}
}

func TestWhatIsUnknownStaysUnknownAndIsListed(t *testing.T) {
	none := `{"Ref": "None"}`
	for _, c := range []struct{ name, group, target, what, why string }{
		{"a parameter without a default", `"HealthCheckGracePeriod": ` + none, "", "G.Properties.HealthCheckGracePeriod", "parameter None has no default"},
		{"health check types", `"HealthCheckType": ` + none, "", "G.Properties.HealthCheckType", "parameter None has no default"},
		{"a size that is not stated", `"MaxSize": 1`, "", "G.Properties.MinSize", "the template does not state it"},
		{"a number that is none", `"MinSize": "many"`, "", "G.Properties.MinSize", `"many" is no whole number`},
		{"a truth that is none", `"CapacityRebalance": "perhaps"`, "", "G.Properties.CapacityRebalance", `"perhaps" is neither true nor false`},
		{"a pseudo parameter", "", `"HealthCheckPath": {"Fn::Sub": "/${AWS::Region}"}`, "T.Properties.HealthCheckPath", "AWS::Region is known at deployment only"},
		{"another stack's value", "", `"HealthCheckPath": {"Fn::ImportValue": "x"}`, "T.Properties.HealthCheckPath", "it is imported from another stack (Fn::ImportValue)"},
		{"a secret", "", `"HealthCheckPath": "{{resolve:ssm:/path}}"`, "T.Properties.HealthCheckPath", "it is a dynamic reference, which AWS resolves"},
		{"a macro", "", `"HealthCheckPath": {"Fn::Transform": {"Name": "x"}}`, "T.Properties.HealthCheckPath", "it is computed by Fn::Transform"},
		{"a reference where text is wanted", "", `"HealthCheckPath": {"Ref": "S1"}`, "T.Properties.HealthCheckPath", "it is a value of S1, which AWS makes at deployment"},
		{"a reference to nothing", "", `"HealthCheckPath": {"Ref": "Gone"}`, "T.Properties.HealthCheckPath", "Gone is no parameter and no resource of the template"},
		{"an output of a nested stack", `"TargetGroupARNs": [{"Fn::GetAtt": ["Nested", "Outputs.TG"]}]`, "", "G.Properties.TargetGroupARNs.0", "it is Outputs.TG of Nested, which is no AWS::ElasticLoadBalancingV2::TargetGroup of the template"},
		{"attributes as a whole", "", `"TargetGroupAttributes": ` + none, "T.Properties.TargetGroupAttributes", "parameter None has no default"},
		{"a default that hangs on an unknown setting", "", `"HealthCheckProtocol": ` + none, "T.Properties.HealthCheckPath", "it is not stated, and its default hangs on a setting that is unknown"},
		{"a classic load balancer", `"LoadBalancerNames": ["x"]`, "", "G.Properties.LoadBalancerNames", "a Classic Load Balancer's health check is not judged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, "x", resource(c.group, c.target))
			if got := why(a, c.what); got != c.why {
				t.Errorf("%s is unread because of %q, want %q; all are %+v", c.what, got, c.why, a.Unread)
			}
		})
	}
	a := read(t, "x", resource(`"HealthCheckGracePeriod": `+none+`, "HealthCheckType": `+none+`, "TargetGroupARNs": `+none, `"TargetGroupAttributes": `+none+`, "HealthCheckProtocol": `+none))
	g, tg := a.Groups[0], a.TargetGroups[0]
	if g.GraceSeconds != nil || g.HealthCheckTypes != nil || g.TargetGroups != nil || tg.DrainSeconds != nil || tg.FailOpenPercent != nil || tg.CheckProtocol != "" || tg.Path != nil || tg.Matcher != nil {
		t.Errorf("something unknown has a value: %+v, %+v", g, tg)
	}
}

func TestZonesAreCountedAsFarAsTheTemplateTells(t *testing.T) {
	for _, c := range []struct {
		name, group string
		want        *int
	}{
		{"subnets that the template puts into different zones", `"VPCZoneIdentifier": [{"Ref": "S1"}, {"Ref": "S2"}]`, ptr(2)},
		{"two subnets in one zone", `"VPCZoneIdentifier": [{"Ref": "S2"}, {"Ref": "S3"}]`, ptr(1)},
		{"literal subnets", `"VPCZoneIdentifier": ["subnet-1", "subnet-2", "subnet-3"]`, ptr(3)},
		{"literal zones", `"AvailabilityZones": ["eu-west-1a"]`, ptr(1)},
		{"the account's zones", `"AvailabilityZones": {"Fn::GetAZs": ""}`, nil},
		{"two subnets that parameters will name", `"VPCZoneIdentifier": [{"Ref": "None"}, {"Fn::ImportValue": "b"}]`, ptr(2)},
		{"one subnet that a parameter will name", `"VPCZoneIdentifier": [{"Ref": "None"}]`, ptr(1)},
		{"a list that a parameter will name", `"VPCZoneIdentifier": {"Ref": "None"}`, nil},
		{"a subnet that may not be there", `"VPCZoneIdentifier": ["subnet-1", {"Fn::If": ["Perhaps", "subnet-2", {"Ref": "AWS::NoValue"}]}]`, nil},
		{"nothing", `"MinSize": 1`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(t, "x", resource(c.group, "")).Groups[0].ZoneCount; !reflect.DeepEqual(got, c.want) {
				t.Errorf("zone count is %v, want %v", got, c.want)
			}
		})
	}
}

func TestAnUpdatePolicyTellsHowManyStay(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		want         int
	}{
		{"no policy", `{}`, audit.NotSet},
		{"one at a time, as when nothing is stated", `{"AutoScalingRollingUpdate": {}}`, 75},
		{"two at a time", `{"AutoScalingRollingUpdate": {"MaxBatchSize": "2"}}`, 50},
		{"all at once", `{"AutoScalingRollingUpdate": {"MaxBatchSize": 9}}`, 0},
		{"all at once but three", `{"AutoScalingRollingUpdate": {"MaxBatchSize": 9, "MinInstancesInService": 3}}`, 75},
		{"more than there are", `{"AutoScalingRollingUpdate": {"MinInstancesInService": 5}}`, 100},
		{"a group beside the old one", `{"AutoScalingReplacingUpdate": {"WillReplace": true}, "AutoScalingRollingUpdate": {"MaxBatchSize": 9}}`, audit.NotSet},
		{"an instance refresh", `{"AutoScalingInstanceRefresh": {"Preferences": {"MinHealthyPercentage": 80}}}`, 80},
		{"an instance refresh that states nothing", `{"AutoScalingInstanceRefresh": {}}`, 90},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `{"Resources": {"G": {"Type": "AWS::AutoScaling::AutoScalingGroup", "UpdatePolicy": ` + c.policy + `, "Properties": {"MinSize": 4, "MaxSize": 8}}}}`
			if got := read(t, "x", text).Groups[0].RefreshMinHealthy; got == nil || *got != c.want {
				t.Errorf("minimum healthy percentage is %v, want %d", got, c.want)
			}
		})
	}
}

func TestARefreshThatStatesNothingKeepsWhatTheMaintenancePolicyKeeps(t *testing.T) {
	text := func(least string) string {
		return `{"Parameters": {"None": {"Type": "Number"}}, "Resources": {"G": {"Type": "AWS::AutoScaling::AutoScalingGroup", "UpdatePolicy": {"AutoScalingInstanceRefresh": {}},
			"Properties": {"MinSize": 4, "MaxSize": 8, "InstanceMaintenancePolicy": {"MinHealthyPercentage": ` + least + `}}}}}`
	}
	if got := read(t, "x", text("60")).Groups[0].RefreshMinHealthy; got == nil || *got != 60 {
		t.Errorf("it keeps %v, want 60", got)
	}
	if got := read(t, "x", text(`{"Ref": "None"}`)).Groups[0].RefreshMinHealthy; got != nil {
		t.Errorf("it keeps %d although the policy is unknown", *got)
	}
}

func TestOnlyAListenerOfTheTemplateTellsTheLoadBalancer(t *testing.T) {
	listener := func(balancer string) string {
		return `{"Resources": {
			"T": {"Type": "AWS::ElasticLoadBalancingV2::TargetGroup", "Properties": {"Protocol": "HTTP"}},
			"B": {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer"},
			"R": {"Type": "AWS::ElasticLoadBalancingV2::ListenerRule", "Properties": {"ListenerArn": {"Ref": "L"},
				"Actions": [{"Type": "forward", "ForwardConfig": {"TargetGroups": [{"TargetGroupArn": {"Ref": "T"}}]}}]}},
			"L": {"Type": "AWS::ElasticLoadBalancingV2::Listener", "Properties": {"LoadBalancerArn": ` + balancer + `, "DefaultActions": [{"Type": "fixed-response"}]}}}}`
	}
	a := read(t, "x", listener(`{"Ref": "B"}`))
	if got := a.TargetGroups[0].LoadBalancers; !slices.Equal(got, []string{"B"}) {
		t.Errorf("load balancers are %v, want B by the rule of its listener", got)
	}
	a = read(t, "x", listener(`{"Fn::ImportValue": "shared"}`))
	if got, reason := a.TargetGroups[0].LoadBalancers, why(a, "load balancers"); got != nil || !strings.Contains(reason, "rule R") {
		t.Errorf("load balancers are %v because of %q, want unknown", got, reason)
	}
	if got := read(t, "x", resource("", "")).TargetGroups[0].LoadBalancers; got != nil {
		t.Errorf("load balancers are %v although another stack may have the listener", got)
	}
}

func TestWhatIsNoTemplateIsRefusedWithWhatWasExpected(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", " \n", "it is empty"},
		{"prose", "hello", "want a CloudFormation template (with Resources) or a Terraform plan"},
		{"a list", "- a\n- b", "want a CloudFormation template"},
		{"broken JSON", `{"Resources": {`, "read JSON:"},
		{"text after the end", `{"Resources": {}} {}`, "read JSON: there is text after the end"},
		{"broken YAML", "a: [", "read YAML:"},
		{"two documents", "Resources: {}\n---\nResources: {}\n", "several documents"},
		{"Terraform's source", `resource "aws_lb" "x" {}`, "this is Terraform's source"},
		{"a binary plan", "PK\x03\x04zip", "terraform show -json"},
		{"a raw state", `{"version": 4, "terraform_version": "1.9.0", "resources": []}`, "has no planned_values"},
		{"a saved audit", `{"format": 1, "groups": []}`, "give it with --from"},
		{"bytes", "a\x00b", "this is no text"},
		{"an anchor that contains itself", "Resources: &a\n  x: *a\n", "contains itself"},
		{"nesting without an end", strings.Repeat("[", 5000), "read YAML"},
		{"nested JSON without an end", strings.Repeat(`{"a":`, 5000), "values nest deeper than 200"},
		{"too much YAML", strings.Repeat("#\n", template.YAMLBytesMax), "at most 4194304 of YAML are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := template.Read("some/file", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "read template some/file: ") {
				t.Errorf("the error is %v, want the file's name and %q", err, c.want)
			}
		})
	}
}
