package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/bus"
	"github.com/holdfast-aws/holdfast/localstack/world/queue"
)

// functions is an Invoker that writes down what it got and fails as often as a test says.
type functions struct {
	calls []call
	fail  int
}

type call struct {
	function string
	payload  string
}

func (f *functions) Invoke(_ context.Context, function string, payload []byte) error {
	if function == "missing" {
		return fmt.Errorf("invoke %s: %w", function, bus.ErrNoTarget)
	}
	f.calls = append(f.calls, call{function, string(payload)})
	if f.fail > 0 {
		f.fail--
		return errors.New("function cannot be reached")
	}
	return nil
}

// rig is a bus with a real SDK client in front of it and a clock that moves only when a test says so.
type rig struct {
	bus       *bus.Bus
	client    *eventbridge.Client
	functions *functions
	queues    *queue.Queues
	at        time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), functions: &functions{}}
	now := func() time.Time { return r.at }
	r.queues = queue.New(queue.Options{Now: now})
	r.queues.Create("dead")
	r.queues.Create("work")
	r.bus = bus.New(bus.Options{Now: now, Invoker: r.functions, Queues: r.queues})
	server := world.New(world.Options{Now: now})
	server.Mount(r.bus.Mount())
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	r.client = eventbridge.New(eventbridge.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(listener.URL), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	return r
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	if err != nil {
		return "not an API error: " + err.Error()
	}
	return ""
}

func functionARN(name string) string { return "arn:aws:lambda:us-east-1:111122223333:function:" + name }

// rule makes a rule with the given targets.
func (r *rig) rule(t *testing.T, in *eventbridge.PutRuleInput, targets ...types.Target) {
	t.Helper()
	if _, err := r.client.PutRule(context.Background(), in); err != nil {
		t.Fatalf("put rule: %v", err)
	}
	if len(targets) == 0 {
		return
	}
	_, err := r.client.PutTargets(context.Background(), &eventbridge.PutTargetsInput{Rule: in.Name, Targets: targets})
	if err != nil {
		t.Fatalf("put targets: %v", err)
	}
}

func target(id, arn string) types.Target {
	return types.Target{Id: aws.String(id), Arn: aws.String(arn)}
}

func onPattern(name, pattern string) *eventbridge.PutRuleInput {
	return &eventbridge.PutRuleInput{Name: &name, EventPattern: &pattern}
}

func onSchedule(name, schedule string) *eventbridge.PutRuleInput {
	return &eventbridge.PutRuleInput{Name: &name, ScheduleExpression: &schedule}
}

func entry(detail string) types.PutEventsRequestEntry {
	return types.PutEventsRequestEntry{Source: aws.String("holdfast"), DetailType: aws.String("Holdfast Page"), Detail: &detail}
}

func (r *rig) putEvents(t *testing.T, entries ...types.PutEventsRequestEntry) *eventbridge.PutEventsOutput {
	t.Helper()
	out, err := r.client.PutEvents(context.Background(), &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		t.Fatalf("put events: %v", err)
	}
	return out
}

func (r *rig) deliver() int { return r.bus.Deliver(context.Background()) }

func decode(t *testing.T, text string) bus.Event {
	t.Helper()
	var e bus.Event
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatalf("decode event: %v", err)
	}
	return e
}
