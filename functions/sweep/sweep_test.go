package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// world is the ports of a Region with one guarded group of one healthy member; listing can be made to fail.
type world struct {
	listErr error
	runs    int
	acts    int
}

func (w *world) Guarded(context.Context) ([]guard.Group, error) {
	if w.listErr != nil {
		return nil, w.listErr
	}
	return []guard.Group{groupWeb()}, nil
}

func groupWeb() guard.Group {
	return guard.Group{
		ARN: "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0a:autoScalingGroupName/web", Name: "web", OptedIn: true, Desired: 1, Max: 2,
		Members: []guard.Member{{ID: "i-1", Lifecycle: "InService", Zone: "a"}},
	}
}

func (w *world) Group(context.Context, string) (guard.Group, error) { return groupWeb(), nil }

func (w *world) Details(_ context.Context, g guard.Group) (guard.Group, guard.Reads) {
	return g, guard.Reads{}
}

func (w *world) Beats(_ context.Context, g guard.Group) (map[string]guard.Beat, error) {
	out := map[string]guard.Beat{}
	for _, m := range g.Members {
		out[m.ID] = guard.Beat{Found: true, At: tick(), Seq: 1, Boot: "b", Status: "ok"}
	}
	return out, nil
}

func (w *world) Alarms(context.Context, []string) map[string]guard.AlarmReading { return nil }

func (w *world) Policies(context.Context, []string) runner.PolicySet {
	return runner.PolicySet{Switch: guard.Switch{}, Groups: map[string][]guard.Layer{}}
}

func (w *world) act() error { w.acts++; return nil }

func (w *world) Mark(context.Context, string) error              { return w.act() }
func (w *world) Restore(context.Context, string) error           { return w.act() }
func (w *world) Suspend(context.Context, string, []string) error { return w.act() }
func (w *world) Resume(context.Context, string, []string) error  { return w.act() }

func (w *world) PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	return &eventbridge.PutEventsOutput{}, nil
}

// tick is the time of the sample events.
func tick() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// fixture is the real handler and the real runner over a world, at a given time after the tick.
type fixture struct {
	*handler
	world  *world
	ledger *memledger.Ledger
	out    bytes.Buffer
}

func newFixture(after time.Duration) *fixture {
	f := &fixture{world: &world{}, ledger: memledger.New()}
	now := func() time.Time { return tick().Add(after) }
	f.handler = &handler{
		log: telemetry.NewLogger(&f.out, function), metrics: telemetry.NewEmitter(&f.out, now), now: now, shard: 0, shards: 1,
		newRun: func(log *slog.Logger) (*runner.Runner, *report.Reporter, error) {
			f.world.runs++
			r := report.New(f.world, report.Options{Bus: "bus", Log: log})
			run, err := runner.New(runner.Ports{
				Fleet: f.world, Beats: f.world, Alarms: f.world, Policies: f.world, Ledger: f.ledger, Actor: f.world, Reporter: r,
			}, runner.Options{Now: now, SweepInterval: time.Minute, Concurrency: 1})
			return run, r, err
		},
	}
	return f
}

// lines returns what was written, by message; metrics stand under "_aws".
func (f *fixture) lines(t *testing.T) map[string][]map[string]any {
	t.Helper()
	out := map[string][]map[string]any{}
	for _, text := range strings.Split(strings.TrimSpace(f.out.String()), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		key, _ := line["message"].(string)
		if _, ok := line["_aws"]; ok {
			key = "_aws"
		}
		out[key] = append(out[key], line)
	}
	return out
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "events", name))
	if err != nil {
		t.Fatalf("read sample event: %v", err)
	}
	return raw
}

func withRequest(id string) context.Context {
	return lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: id})
}

func TestEverySchedulesEventIsASweep(t *testing.T) {
	for _, name := range []string{"scheduled-event-rule.json", "scheduled-event-scheduler-default-input.json", "scheduled-event-scheduler-custom-input.json"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(time.Second)
			sum, err := f.Handle(withRequest("req-1"), sample(t, name))
			if err != nil || sum.Looked != 1 || sum.Run != "req-1" {
				t.Fatalf("summary %+v, %v", sum, err)
			}
			lines := f.lines(t)
			verdict := lines["verdict"]
			if len(verdict) != 1 || verdict[0]["trigger"] != "sweep" || verdict[0]["request_id"] != "req-1" || verdict[0]["cold_start"] != true {
				t.Errorf("verdict lines %v", verdict)
			}
			if text := f.out.String(); strings.Count(text, `"sweep_completed":1`) != 1 {
				t.Errorf("want one sweep_completed in\n%s", text)
			}
			if f.world.acts != 0 {
				t.Errorf("%d calls that change something, with one healthy member", f.world.acts)
			}
			if rec, err := f.ledger.Load(context.Background(), groupWeb().ARN); err != nil || rec.Version == 0 {
				t.Errorf("the sweep left no record: version %d, %v", rec.Version, err)
			}
		})
	}
}

func TestAnOldTickIsDroppedAndCountedAndIsNoError(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		runs  int
	}{
		"at five minutes it is looked at": {5 * time.Minute, 1}, "a second later it is dropped": {5*time.Minute + time.Second, 0},
		"from the future it is looked at": {-time.Minute, 1},
	} {
		for _, file := range []string{"scheduled-event-rule.json", "scheduled-event-scheduler-custom-input.json"} {
			f := newFixture(c.after)
			sum, err := f.Handle(context.Background(), sample(t, file))
			if err != nil || f.world.runs != c.runs || sum.Looked != c.runs {
				t.Errorf("%s: %s: %d runs, %+v, %v", name, file, f.world.runs, sum, err)
			}
			dropped := strings.Contains(f.out.String(), `"ticks_dropped":1`) && len(f.lines(t)["tick dropped"]) == 1
			if dropped != (c.runs == 0) {
				t.Errorf("%s: %s: dropped %v", name, file, dropped)
			}
		}
	}
}

func TestEventsAreDecodedIntoRequests(t *testing.T) {
	own := runner.Request{Run: "r", Trigger: "sweep", Shard: 2, Shards: 3}
	cases := map[string]runner.Request{
		``: own, `null`: own, ` {} `: own, `{"trigger":"sweep"}`: own,
		`{"trigger":"manual","groups":["web"],"shard":0,"shards":4}`: {Run: "r", Trigger: "manual", Groups: []string{"web"}, Shards: 4},
		`{"groups":["web","api"]}`:                                   {Run: "r", Trigger: "manual", Groups: []string{"web", "api"}, Shard: 2, Shards: 3},
		`{"shard":3,"shards":4}`:                                     {Run: "r", Trigger: "sweep", Shard: 3, Shards: 4},
		`{"source":"aws.events","detail-type":"Scheduled Event","time":"2026-11-30T12:00:00Z","detail":{}}`:     own,
		`{"source":"aws.scheduler","detail-type":"Scheduled Event","time":"2026-11-30T12:00:00Z","detail":"x"}`: own,
	}
	for raw, want := range cases {
		e, err := decode([]byte(raw))
		if have := e.request("r", 2, 3); err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("%s: have %+v, %v\nwant %+v", raw, have, err, want)
		}
	}
}

func TestWhatIsNoScheduleIsRefusedByName(t *testing.T) {
	cases := map[string]string{
		string(sample(t, "alarm-state-change-single-metric.json")): `source "aws.cloudwatch" with detail-type "CloudWatch Alarm State Change"`,
		string(sample(t, "alarm-direct-lambda-action.json")):       `source "aws.cloudwatch" with detail-type ""`,
		string(sample(t, "asg-launch-successful.json")):            `source "aws.autoscaling"`,
		`{"source":"aws.events","detail-type":"Other"}`:            `detail-type "Other"`,
		`{"source":"aws.events","detail-type":"Scheduled Event"}`:  "time of the schedule",
		`{"group":["web"]}`:                "group",
		`{"groups":"web"}`:                 "groups",
		`{"groups":[]}`:                    "an empty list",
		`{"groups":["web",""]}`:            "an empty name",
		`{"shard":4,"shards":4}`:           "shard 4 of 4",
		`{"shard":1}`:                      "shard 1 of 0",
		`{"shard":-1,"shards":4}`:          "shard -1",
		`{"trigger":"alarm"}`:              `trigger "alarm"`,
		`{"kind":"tock"}`:                  `kind "tock"`,
		`[]`:                               "JSON object",
		`"{}"`:                             "JSON object",
		`{"scheduledTime":"30 November"}`:  "30 November",
		`{"trigger":"sweep"} {"groups":1}`: "JSON object",
	}
	for raw, says := range cases {
		f := newFixture(0)
		sum, err := f.Handle(context.Background(), []byte(raw))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "decode event: ") {
			t.Errorf("%.80s: error %v, want it to say %s", raw, err, says)
		}
		if f.world.runs != 0 || sum.Looked != 0 {
			t.Errorf("%.80s: it was looked at", raw)
		}
	}
}

func TestAManualRunIsNoCompletedSweep(t *testing.T) {
	f := newFixture(0)
	sum, err := f.Handle(context.Background(), []byte(`{"trigger":"manual","groups":["web","gone"]}`))
	if err != nil || sum.Looked != 1 || sum.Failed != 1 {
		t.Fatalf("summary %+v, %v", sum, err)
	}
	if strings.Contains(f.out.String(), "sweep_completed") {
		t.Error("a manual run counts as a completed sweep")
	}
	failed := f.lines(t)["group failed"]
	if len(failed) != 1 || failed[0]["group"] != "gone" {
		t.Errorf("failed groups %v, want the one that does not exist", failed)
	}
}

func TestARunThatCouldNotListTheGroupsFailsAndIsCounted(t *testing.T) {
	f := newFixture(0)
	f.world.listErr = errors.New("no answer")
	if _, err := f.Handle(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("have %v", err)
	}
	lines := f.lines(t)
	if strings.Contains(f.out.String(), "sweep_completed") || len(lines["run"]) != 1 || lines["run"][0]["level"] != "ERROR" || len(lines["_aws"]) != 1 {
		t.Errorf("lines %v", lines)
	}
}

func TestAWarmContainerStartsEveryRunAnew(t *testing.T) {
	f := newFixture(0)
	deadline, cancel := context.WithDeadline(withRequest("req-1"), tick().Add(40*time.Second))
	defer cancel()
	for i := range 3 {
		f.out.Reset()
		sum, err := f.Handle(deadlineOnly{deadline}, nil)
		if err != nil || sum.Looked != 1 {
			t.Fatalf("run %d: %+v, %v", i, sum, err)
		}
		lines := f.lines(t)
		if cold := lines["run"][0]["cold_start"]; cold != (i == 0) {
			t.Errorf("run %d: cold_start %v", i, cold)
		}
		for _, line := range lines["_aws"] {
			if n, ok := line["groups_seen"]; ok && n != 1.0 {
				t.Errorf("run %d: groups_seen %v adds up over runs", i, n)
			}
			if n, ok := line["deadline_margin_ms"]; ok && n != 40_000.0 {
				t.Errorf("run %d: deadline_margin_ms %v", i, n)
			}
		}
	}
	if f.world.runs != 3 {
		t.Errorf("%d runs were made, want one for each invocation", f.world.runs)
	}
}

// deadlineOnly tells a deadline of the test's own clock without expiring by the machine's.
type deadlineOnly struct{ context.Context }

func (deadlineOnly) Done() <-chan struct{} { return nil }
func (deadlineOnly) Err() error            { return nil }

func TestARunThatCannotBeMadeIsAnError(t *testing.T) {
	f := newFixture(0)
	f.newRun = func(*slog.Logger) (*runner.Runner, *report.Reporter, error) { return nil, nil, fmt.Errorf("no table") }
	if _, err := f.Handle(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "make run: no table") {
		t.Errorf("have %v", err)
	}
}
