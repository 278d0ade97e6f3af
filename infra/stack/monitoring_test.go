package stack_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/infra/example"
	"github.com/holdfast-aws/holdfast/infra/stack"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

func readAll(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cdk.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// findings are the annotations of a stack, errors and warnings.
func findings(t *testing.T, path string, build func(awscdk.Stack)) []string {
	t.Helper()
	var out []string
	err := try(func() error {
		s := newStack(t)
		build(s)
		all := assertions.Annotations_FromStack(s)
		for _, m := range *all.FindError(jsii.String(path), assertions.Match_AnyValue()) {
			out = append(out, text(m))
		}
		for _, m := range *all.FindWarning(jsii.String(path), assertions.Match_AnyValue()) {
			out = append(out, text(m))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestThreeMinutesWithoutASweepBreach(t *testing.T) {
	for _, p := range guardian(t).properties("AWS::CloudWatch::Alarm") {
		if p["MetricName"] != telemetry.SweepCompleted {
			continue
		}
		if p["TreatMissingData"] != "breaching" || p["Period"] != 60.0 || p["EvaluationPeriods"] != 3.0 || p["DatapointsToAlarm"] != 3.0 || p["ComparisonOperator"] != "LessThanThreshold" || p["Threshold"] != 1.0 {
			t.Errorf("%s", text(p))
		}
		return
	}
	t.Error("no alarm on completed sweeps")
}

func TestEveryAlarmTellsSomebodyAndSaysWhatMissingDataMeans(t *testing.T) {
	for _, name := range []string{app.GuardianStack, app.ExampleStack} {
		alarms := appStack(t, name).properties("AWS::CloudWatch::Alarm")
		if len(alarms) == 0 {
			t.Errorf("%s has no alarm", name)
		}
		for _, p := range alarms {
			if p["AlarmActions"] == nil || p["OKActions"] == nil || p["TreatMissingData"] == nil || p["AlarmDescription"] == nil || p["AlarmName"] != nil {
				t.Errorf("%s", text(p))
			}
		}
	}
}

func TestWhatMustBeWatchedIsWatched(t *testing.T) {
	var have []string
	for _, p := range guardian(t).properties("AWS::CloudWatch::Alarm") {
		name, ok := p["MetricName"].(string)
		if !ok {
			t.Fatalf("an alarm without a metric: %s", text(p))
		}
		have = append(have, name)
		if p["Namespace"] == telemetry.Namespace {
			if _, ok := telemetry.Unit(name); !ok || !strings.Contains(text(p["Dimensions"]), `"Name":"function"`) {
				t.Errorf("no function emits %s", text(p))
			}
		}
	}
	for name, times := range map[string]int{
		telemetry.SweepCompleted: 1, telemetry.GroupsBlind: 1, telemetry.GroupsHeld: 1, telemetry.GroupFailures: 1, telemetry.PageFailures: 2,
		telemetry.DeadlineMarginMS: 1, telemetry.TicksDropped: 1, telemetry.ProbeRunCompleted: 1, telemetry.ProbeSourcesRefused: 1, telemetry.AuditCompleted: 1,
		"Errors": len(stack.Functions()), "Throttles": len(stack.Functions()), "ApproximateNumberOfMessagesVisible": len(stack.Functions()) + 1,
	} {
		n := 0
		for _, h := range have {
			if h == name {
				n++
			}
		}
		if n != times {
			t.Errorf("%d alarms on %s, want %d", n, name, times)
		}
	}
}

func TestTheDashboardShowsOnlyWhatIsEmitted(t *testing.T) {
	body := text(guardian(t).properties("AWS::CloudWatch::Dashboard")[0])
	own := regexp.MustCompile(`\{Holdfast,[a-z,]+\} MetricName=[\\"]+([a-z_0-9]+)|Holdfast[\\"]+,[\\"]+([a-z_0-9]+)`).FindAllStringSubmatch(body, -1)
	var names []string
	for _, m := range own {
		name := m[1] + m[2]
		if _, ok := telemetry.Unit(name); !ok {
			t.Errorf("nobody emits %s", name)
		}
		names = append(names, name)
	}
	for _, want := range []string{
		telemetry.GroupsHeld, telemetry.MembersBad, telemetry.Deferred, telemetry.MarksDetected, telemetry.MarksEnforced, telemetry.ProbeLatencyMS,
		telemetry.ProbeFailures, telemetry.SweepDurationMS, telemetry.Pages,
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not shown; shown are %q", want, names)
		}
	}
	for _, want := range []string{"GroupInServiceInstances", "GroupDesiredCapacity", "HealthyHostCount", "UnHealthyHostCount"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not shown", want)
		}
	}
}

// nagged are the findings of cdk-nag that nobody has explained.
func nagged(t *testing.T, build func(awscdk.Stack)) []string {
	t.Helper()
	return findings(t, "*", func(s awscdk.Stack) {
		build(s)
		options := &awscdk.AspectOptions{Priority: awscdk.AspectPriority_READONLY()}
		awscdk.Aspects_Of(s).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), options)
		awscdk.Aspects_Of(s).Add(cdknag.NewServerlessChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), options)
	})
}

func TestNothingThatTheNagPacksFindIsUnexplained(t *testing.T) {
	needNode(t)
	for _, finding := range nagged(t, func(s awscdk.Stack) { stack.NewGuardian(s, "Holdfast", stack.GuardianProps{CodeDir: code(t)}) }) {
		t.Errorf("Guardian: %s", finding)
	}
	for _, finding := range nagged(t, func(s awscdk.Stack) {
		built := code(t)
		g := stack.NewGuardian(s, "Holdfast", stack.GuardianProps{CodeDir: built})
		example.New(s, example.Props{Register: register(t), AgentPath: filepath.Join(built, app.AgentFile), Topic: g.Topic})
	}) {
		t.Errorf("Example: %s", finding)
	}
}

func TestTheNagPacksAreAwake(t *testing.T) {
	if found := nagged(t, func(s awscdk.Stack) { bareQueue(s) }); len(found) == 0 {
		t.Error("a bare queue is nothing to them")
	}
}

// bareQueue is a resource that AWS's rules object to.
func bareQueue(s awscdk.Stack) {
	awssqs.NewQueue(s, jsii.String("Queue"), nil)
}

// TestCloudFormationsOwnRulesAreAwake wants the validation that the app is synthesized with to refuse what CloudFormation would refuse:
// that it finds nothing in our templates says something only then.
func TestCloudFormationsOwnRulesAreAwake(t *testing.T) {
	needNode(t)
	build := func(memory float64) error {
		return try(func() error {
			context, err := app.Context(cdkFile)
			if err != nil {
				return err
			}
			a := awscdk.NewApp(&awscdk.AppProps{Context: &context})
			s := awscdk.NewStack(a, jsii.String("Small"), nil)
			awscdk.NewCfnResource(s, jsii.String("Function"), &awscdk.CfnResourceProps{Type: jsii.String("AWS::Lambda::Function"), Properties: &map[string]any{
				"Code": map[string]any{"S3Bucket": "bucket", "S3Key": "key"}, "Role": "arn:aws:iam::111122223333:role/r", "Runtime": "provided.al2023", "Handler": "bootstrap", "MemorySize": memory,
			}})
			a.Synth(nil)
			return nil
		})
	}
	if err := build(64); err == nil {
		t.Error("a function with 64 MB passes")
	} else {
		t.Logf("64 MB: %.300v", err)
	}
	if err := build(128); err != nil {
		t.Errorf("a function with 128 MB: %v", err)
	}
}
