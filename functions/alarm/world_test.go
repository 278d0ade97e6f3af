package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/holdfast-aws/holdfast/functions/internal/assemble"
	embedded "github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

const functionName = "holdfast-alarm"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// watched is a Region with a web tier that needs a database, the database's alarm, and nobody on watch but this function: every
// change of an alarm's state goes to it, as the rule of the stack does it.
func watched(t *testing.T) *embedded.Region {
	t.Helper()
	r, err := embedded.NewRegion(sim.Config{Seed: 1})
	must(t, err)
	r.Do(func(c *sim.Cloud) {
		must(t, c.SetDependency("db", sim.DependencyOK, 0))
		_, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: "web", Ports: []int{8080}})
		must(t, err)
		must(t, c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: 4, Min: 2, Max: 8, Tags: map[string]string{"holdfast:guard": "true"}, HealthCheckTypes: []string{"EC2", "ELB"},
			Grace: 300 * time.Second, TargetGroups: []string{"web"}, SteadyFor: time.Hour, Uses: []string{"db"},
		}))
		must(t, c.PutAlarm(sim.AlarmSpec{Name: "db-down", Dependency: "db"}))
		must(t, c.PutAlarm(sim.AlarmSpec{Name: "somebody-elses"}))
	})
	must(t, r.PutParameter(guard.ModeParameter, guard.ModeAct))
	must(t, r.Declare("web", `{"dependencies":[{"alarm":"db-down","kind":"hard"}]}`))
	url, stop, err := stage.Listen(r)
	must(t, err)
	t.Cleanup(stop)
	h := newHandler(assemble.New(config.Config{
		StateTable: embedded.StateTable, HeartbeatTable: embedded.HeartbeatTable, EventBus: "default", Shards: 1, SweepInterval: time.Minute, Concurrency: 8,
	}, aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(url), RetryMode: aws.RetryModeAdaptive,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}, r.Clock.Now))
	h.log, h.metrics = telemetry.NewLogger(io.Discard, function), telemetry.NewEmitter(io.Discard, r.Clock.Now)
	r.Serve(functionName, func(ctx context.Context, payload []byte) ([]byte, error) {
		sum, err := h.Handle(ctx, payload)
		if err != nil {
			return nil, err
		}
		return json.Marshal(sum)
	})
	_, err = r.Bus.PutRule(&eventbridge.PutRuleInput{
		Name: aws.String("alarms"), EventPattern: aws.String(`{"source":["aws.cloudwatch"],"detail-type":["CloudWatch Alarm State Change"]}`),
	})
	must(t, err)
	_, err = r.Bus.PutTargets(&eventbridge.PutTargetsInput{Rule: aws.String("alarms"), Targets: []types.Target{{
		Id: aws.String("alarm"), Arn: aws.String("arn:aws:lambda:us-east-1:111122223333:function:" + functionName),
	}}})
	must(t, err)
	return r
}

func TestADependencysAlarmHoldsTheGroupBeforeAnySweep(t *testing.T) {
	r := watched(t)
	must(t, r.Advance(t.Context(), 30*time.Second))
	if n := len(r.Invocations()); n != 0 {
		t.Fatalf("%d invocations while no alarm has changed", n)
	}
	r.Do(func(c *sim.Cloud) { must(t, c.SetDependency("db", sim.DependencyDown, 1)) })
	must(t, r.Advance(t.Context(), 2*time.Minute))
	invocations := r.Invocations()
	if len(invocations) != 1 || invocations[0].Error != "" || !strings.Contains(invocations[0].Answer, `"group":"web","mode":"held"`) {
		t.Fatalf("invocations %+v, want one that holds web", invocations)
	}
	r.Do(func(c *sim.Cloud) {
		if g, _ := c.Group("web"); len(g.Suspended) != 3 || len(g.Members) != 4 {
			t.Errorf("suspended %v, %d members", g.Suspended, len(g.Members))
		}
	})
	if calls := r.Calls(); calls["autoscaling:SuspendProcesses"] != 1 || calls["autoscaling:SetInstanceHealth"] != 0 {
		t.Errorf("calls %v", calls)
	}
	if n := len(r.Notices()); n != 1 {
		t.Errorf("%d notices, want that of the hold", n)
	}
}

func TestSomebodyElsesAlarmLooksAtNothing(t *testing.T) {
	r := watched(t)
	for _, state := range []sim.AlarmState{sim.AlarmRed, sim.AlarmOK} {
		r.Do(func(c *sim.Cloud) { must(t, c.SetAlarmState("somebody-elses", state, "drill")) })
		must(t, r.Advance(t.Context(), 5*time.Second))
	}
	invocations := r.Invocations()
	if len(invocations) != 2 {
		t.Fatalf("invocations %+v", invocations)
	}
	for _, inv := range invocations {
		if inv.Error != "" || !strings.Contains(inv.Answer, `"looked":0`) {
			t.Errorf("invocation %+v", inv)
		}
	}
	calls := r.Calls()
	for _, call := range []string{"autoscaling:SuspendProcesses", "elasticloadbalancing:DescribeTargetHealth", "cloudwatch:DescribeAlarms", "dynamodb:TransactWriteItems"} {
		if calls[call] != 0 {
			t.Errorf("%d calls of %s: %v", calls[call], call, calls)
		}
	}
	if calls["dynamodb:PutItem"] != 1 {
		t.Errorf("%d writes, want one by the first look, which keeps the value of the switch: %v", calls["dynamodb:PutItem"], calls)
	}
}
