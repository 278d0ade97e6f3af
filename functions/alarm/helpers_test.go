package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/holdfast-aws/holdfast/functions/internal/alarmevent"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// The groups of the fixture. The first is the one of the samples and depends on three alarms, the second on one about the first;
// nobody depends on anything through the third.
const (
	orders   = "orders-web-asg"
	upstream = "upstream-web-asg"
	batch    = "batch-asg"
)

// moment is when the sample alarms went red.
func moment() time.Time { return time.Date(2026, 11, 30, 11, 41, 12, 0, time.UTC) }

// bus keeps what the reporter puts on it.
type bus struct{ keys []string }

func (b *bus) PutEvents(_ context.Context, in *eventbridge.PutEventsInput, _ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	for _, e := range in.Entries {
		var d report.Detail
		if err := json.Unmarshal([]byte(*e.Detail), &d); err != nil {
			return nil, err
		}
		b.keys = append(b.keys, d.Group+" "+d.Key)
	}
	return &eventbridge.PutEventsOutput{}, nil
}

// fixture is the real handler, runner and reporter over a world in memory.
type fixture struct {
	*handler
	world *runnertest.World
	bus   bus
	runs  int
	hook  runnertest.Hook
	out   bytes.Buffer
}

// newFixture is a world at a time, in which every alarm is OK.
func newFixture(now time.Time) *fixture {
	f := &fixture{world: runnertest.New(memledger.New())}
	f.world.Now = now
	for _, name := range []string{orders, upstream, batch} {
		f.world.Add(name, 4)
	}
	f.world.Find(orders).Policy = `{"dependencies":[{"alarm":"dep-orders-db-connections","kind":"hard"},{"alarm":"dep-any-orders","kind":"hard"},{"alarm":"dep-payments-api-5xx","kind":"soft"}]}`
	f.world.Find(upstream).Policy = `{"dependencies":[{"alarm":"orders-web-unhealthy-percent","kind":"hard"}]}`
	for _, name := range []string{"dep-orders-db-connections", "dep-any-orders", "dep-payments-api-5xx", "orders-web-unhealthy-percent"} {
		f.alarm(name, guard.AlarmOK)
	}
	clock := func() time.Time { return f.world.Now }
	f.handler = &handler{
		log: telemetry.NewLogger(&f.out, function), metrics: telemetry.NewEmitter(&f.out, clock), now: clock,
		newRun: func(log *slog.Logger) (*runner.Runner, *report.Reporter, error) {
			f.runs++
			p := f.world.Process(fmt.Sprint("run-", f.runs))
			p.Hook = f.hook
			ports := p.Ports()
			r := report.New(&f.bus, report.Options{Bus: "bus", Log: log})
			ports.Reporter = r
			run, err := runner.New(ports, runner.Options{Now: p.Now, SweepInterval: time.Minute, Concurrency: 2})
			return run, r, err
		},
	}
	return f
}

// alarm sets what a read of an alarm answers.
func (f *fixture) alarm(name, state string) {
	f.world.Alarms[name] = guard.AlarmReading{State: state, Since: f.world.Now.Add(-time.Second)}
}

// handle gives the handler an event and returns the groups that were looked at.
func (f *fixture) handle(t *testing.T, raw []byte) []string {
	t.Helper()
	ctx := lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	sum, err := f.Handle(ctx, raw)
	if err != nil {
		t.Fatalf("handle: %v", err)
	}
	if sum.Run != "req-1" {
		t.Errorf("run %q, want the request's id", sum.Run)
	}
	groups := []string{}
	for _, g := range sum.Groups {
		if g.Failure != "" {
			g.Group += "!"
		}
		groups = append(groups, g.Group)
	}
	return groups
}

// lines returns the log lines of one message.
func (f *fixture) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, text := range strings.Split(strings.TrimSpace(f.out.String()), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		if line["message"] == message {
			out = append(out, line)
		}
	}
	return out
}

func (f *fixture) suspends() int { return len(f.world.Calls(guard.ActSuspend)) }

func (f *fixture) notices(key string) int {
	return len(slices.DeleteFunc(slices.Clone(f.bus.keys), func(k string) bool { return !strings.HasSuffix(k, " "+key) }))
}

// sample reads a sample event.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "events", name))
	if err != nil {
		t.Fatalf("read sample event: %v", err)
	}
	return raw
}

// dated is when a sample happened.
func dated(t *testing.T, raw []byte) time.Time {
	t.Helper()
	e, err := alarmevent.Decode(raw)
	if err != nil {
		t.Fatalf("decode sample: %v", err)
	}
	return e.At
}

// replaced is an event with one text put for another, which must be in it.
func replaced(t *testing.T, raw []byte, old, with string) []byte {
	t.Helper()
	if !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("the sample has no %s", old)
	}
	return bytes.ReplaceAll(raw, []byte(old), []byte(with))
}
