package stack_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/infra/stack"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

var update = flag.Bool("update", false, "write the golden templates anew")

func TestTheTemplatesAreTheGoldenOnes(t *testing.T) {
	for _, name := range []string{app.GuardianStack, app.ExampleStack} {
		golden := filepath.Join("testdata", name+".template.json")
		have := []byte(appStack(t, name).text)
		if *update {
			if err := os.WriteFile(golden, have, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(have) {
			t.Errorf("%s has changed: write it anew with -update and read the difference", golden)
		}
	}
}

func TestNoTemplateNamesAPartitionARegionOrAnAccount(t *testing.T) {
	literal := regexp.MustCompile(`arn:aws[a-z-]*:|amazonaws\.com\.cn|\.amazonaws\.com/|\b(us|eu|ap|cn)(-gov)?-[a-z]+-\d\b|\b\d{12}\b`)
	for _, name := range []string{app.GuardianStack, app.ExampleStack} {
		if found := literal.FindAllString(appStack(t, name).text, -1); len(found) > 0 {
			t.Errorf("%s has %q", name, found)
		}
	}
}

func TestWhatKeepsStateHasItsNameForEver(t *testing.T) {
	g := guardian(t)
	for id, want := range map[string]struct{ kind, name string }{
		"StateTable":     {"AWS::DynamoDB::Table", "holdfast-state"},
		"HeartbeatTable": {"AWS::DynamoDB::Table", "holdfast-heartbeats"},
	} {
		r := g.Resources[id]
		name := r.Properties["TableName"]
		if r.Type != want.kind || name != want.name || r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s: type %q, name %v, deletion %q, replacement %q", id, r.Type, name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
	}
}

func TestTheTablesAreKeptRestorableAndClean(t *testing.T) {
	for _, id := range []string{"StateTable", "HeartbeatTable"} {
		p := guardian(t).Resources[id].Properties
		if p["DeletionProtectionEnabled"] != true || p["BillingMode"] != "PAY_PER_REQUEST" ||
			text(p["PointInTimeRecoverySpecification"]) != `{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":35}` ||
			text(p["TimeToLiveSpecification"]) != `{"AttributeName":"expires","Enabled":true}` {
			t.Errorf("%s: %s", id, text(p))
		}
	}
	keys := func(id string) string { return text(guardian(t).Resources[id].Properties["KeySchema"]) }
	if keys("StateTable") != `[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]` || keys("HeartbeatTable") != `[{"AttributeName":"pk","KeyType":"HASH"}]` {
		t.Errorf("keys %s and %s", keys("StateTable"), keys("HeartbeatTable"))
	}
}

func TestEveryFunctionIsSmallAloneAndLogsForAWhile(t *testing.T) {
	g := guardian(t)
	functions := g.properties("AWS::Lambda::Function")
	if len(functions) != len(stack.Functions()) {
		t.Fatalf("%d functions: %s", len(functions), text(functions))
	}
	for _, p := range functions {
		if p["Runtime"] != "provided.al2023" || text(p["Architectures"]) != `["arm64"]` || p["Handler"] != "bootstrap" {
			t.Errorf("runtime %v, architectures %v, handler %v", p["Runtime"], p["Architectures"], p["Handler"])
		}
		if p["ReservedConcurrentExecutions"] == nil || p["Timeout"] == nil || !strings.Contains(text(p["LoggingConfig"]), `"LogFormat":"JSON"`) || !strings.Contains(text(p["LoggingConfig"]), "LogGroup") {
			t.Errorf("%s", text(p))
		}
	}
	for _, p := range g.properties("AWS::Logs::LogGroup") {
		if p["RetentionInDays"] != 90.0 || p["LogGroupName"] != nil {
			t.Errorf("log group %s", text(p))
		}
	}
	if n := len(g.of("AWS::Logs::LogGroup")); n != len(functions) {
		t.Errorf("%d log groups", n)
	}
	for _, r := range g.Resources {
		if strings.HasPrefix(r.Type, "Custom::") {
			t.Errorf("a custom resource %s", r.Type)
		}
	}
}

func TestNoEventIsLostInSilence(t *testing.T) {
	g := guardian(t)
	configs := g.properties("AWS::Lambda::EventInvokeConfig")
	if len(configs) != len(stack.Functions()) {
		t.Fatalf("%d invocation settings", len(configs))
	}
	for _, p := range configs {
		if p["MaximumRetryAttempts"] == nil || p["MaximumEventAgeInSeconds"] == nil || !strings.Contains(text(p["DestinationConfig"]), "OnFailure") {
			t.Errorf("%s", text(p))
		}
	}
	rules := g.properties("AWS::Events::Rule")
	if len(rules) != 5 {
		t.Errorf("%d rules", len(rules))
	}
	for _, p := range rules {
		targets := text(p["Targets"])
		if !strings.Contains(targets, "DeadLetterConfig") || !strings.Contains(targets, "MaximumEventAgeInSeconds") || p["State"] != "ENABLED" {
			t.Errorf("%s", text(p))
		}
	}
}

func TestEachShardHasItsScheduleAndItsAlarm(t *testing.T) {
	three, err := synth(t, func(s awscdk.Stack) { stack.NewGuardian(s, "G", stack.GuardianProps{CodeDir: code(t), Shards: 3}) })
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, p := range three.properties("AWS::Events::Rule") {
		if targets := text(p["Targets"]); strings.Contains(targets, "shards") {
			inputs = append(inputs, targets)
		}
	}
	if len(inputs) != 3 || !strings.Contains(inputs[2], `\"shard\":2,\"shards\":3`) {
		t.Errorf("inputs %q", inputs)
	}
	alarms := 0
	for _, p := range three.properties("AWS::CloudWatch::Alarm") {
		if p["MetricName"] == "sweep_completed" {
			alarms++
		}
	}
	if alarms != 3 {
		t.Errorf("%d alarms on completed sweeps", alarms)
	}
}

func TestADeployLeavesWhatTheOperatorSet(t *testing.T) {
	changed, err := synth(t, func(s awscdk.Stack) {
		stack.NewGuardian(s, "Holdfast", stack.GuardianProps{CodeDir: code(t), MemoryMB: 2048, Defaults: `{"marks_per_hour":2}`, Shards: 2})
		awscdk.Tags_Of(s).Add(jsii.String("team"), jsii.String("orders"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	// What no template has, no deploy can write: the operator's layers and the switch.
	for _, tpl := range []template{guardian(t), changed, appStack(t, app.ExampleStack)} {
		for _, p := range tpl.properties("AWS::SSM::Parameter") {
			if name := text(p["Name"]); strings.Contains(name, guard.LayerGroups) || strings.Contains(name, guard.ModeParameter) {
				t.Errorf("a template writes %s", name)
			}
		}
	}
	if command := text(guardian(t).Outputs["CreateSwitch"]); !strings.Contains(command, guard.ModeParameter) || !strings.Contains(command, "--value observe") {
		t.Errorf("the command that creates the switch: %s", command)
	}
	if changed.Resources["PolicyDefaults"].Properties["Value"] != `{"marks_per_hour":2}` {
		t.Errorf("the declared defaults: %s", text(changed.Resources["PolicyDefaults"]))
	}
	for _, p := range changed.properties("AWS::Lambda::Function") {
		if p["MemorySize"] != 2048.0 || !strings.Contains(text(p["Tags"]), "orders") {
			t.Errorf("the change did not reach %s", text(p))
		}
	}
}

func TestTheAuditKnowsTheReviewedThresholds(t *testing.T) {
	for _, p := range guardian(t).properties("AWS::SSM::Parameter") {
		if p["Name"] != daily.ParameterThresholds {
			continue
		}
		value, ok := p["Value"].(string)
		if !ok {
			t.Fatalf("%s", text(p))
		}
		have, err := audit.DecodePromises([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(thresholdsFile)
		if err != nil {
			t.Fatal(err)
		}
		want, err := audit.DecodePromises(raw)
		if err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("have %v, want %v, %v", have, want, err)
		}
		return
	}
	t.Error("no template tells the audit of the thresholds")
}

func TestThresholdsThatNoParameterHoldsAreRefused(t *testing.T) {
	for name, value := range map[string]string{"audit thresholds: ": `{"web":{}}`, "a parameter holds 8192": strings.Repeat(" ", 8193)} {
		_, err := synth(t, func(s awscdk.Stack) {
			stack.NewGuardian(s, "Holdfast", stack.GuardianProps{CodeDir: code(t), AuditThresholds: value})
		})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAdoptingCreatesNothingThatIsThereAlready(t *testing.T) {
	adopted, err := synth(t, func(s awscdk.Stack) {
		stack.NewGuardian(s, "Holdfast", stack.GuardianProps{CodeDir: code(t), Adopt: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(adopted.of("AWS::DynamoDB::Table")) != 0 {
		t.Errorf("tables %q", adopted.of("AWS::DynamoDB::Table"))
	}
	if !strings.Contains(adopted.text, "table/holdfast-state") {
		t.Error("nothing names the adopted table")
	}
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		props stack.GuardianProps
		says  string
	}{
		{"no code", stack.GuardianProps{}, "no CodeDir"},
		{"shards below 1", stack.GuardianProps{CodeDir: "x", Shards: -1}, "-1 shards"},
		{"shards above 1000", stack.GuardianProps{CodeDir: "x", Shards: 1001}, "1001 shards, want 1 to 1000"},
		{"memory of 127 MB", stack.GuardianProps{CodeDir: "x", MemoryMB: 127}, "127 MB"},
		{"memory of 10241 MB", stack.GuardianProps{CodeDir: "x", MemoryMB: 10241}, "10241 MB"},
		{"defaults that are no JSON", stack.GuardianProps{CodeDir: "x", Defaults: "{"}, "policy defaults: no valid JSON"},
		{"defaults with an unknown key", stack.GuardianProps{CodeDir: "x", Defaults: `{"mark_per_hour":1}`}, "mark_per_hour"},
		{"defaults out of range", stack.GuardianProps{CodeDir: "x", Defaults: `{"confirm_sweeps":11}`}, "confirm_sweeps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := synth(t, func(s awscdk.Stack) { stack.NewGuardian(s, "G", c.props) })
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("have %v, want %q", err, c.says)
			}
		})
	}
}
