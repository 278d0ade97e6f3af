package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// newRegion is a Region with the fleet of the brownout, whose script runs.
func newRegion(t *testing.T) *world.Region {
	t.Helper()
	r, err := world.NewRegion(sim.Config{Seed: 1})
	must(t, err)
	t.Cleanup(r.Close)
	in, ok := sim.Find("brownout")
	if !ok {
		t.Fatal("no brownout")
	}
	r.Do(func(c *sim.Cloud) { err = in.Start(c) })
	must(t, err)
	return r
}

func TestEveryMemberBeatsIntoItsOwnRow(t *testing.T) {
	r := newRegion(t)
	must(t, r.Advance(t.Context(), time.Minute))
	rows := r.Tables.Items(world.HeartbeatTable)
	if len(rows) != 8 {
		t.Fatalf("%d rows, want one for each of 8 members", len(rows))
	}
	for _, row := range rows {
		key, ok := row["pk"].(*types.AttributeValueMemberS)
		if !ok || !strings.HasPrefix(key.Value, "arn:aws:ec2:us-east-1:111122223333:instance/i-") {
			t.Errorf("key %v, want the full ARN of the instance", row["pk"])
		}
		for _, name := range []string{"beat", "seq", "boot", "status", "agent", "expires"} {
			if row[name] == nil {
				t.Errorf("row %v has no %s", row, name)
			}
		}
	}
}

func TestAChangedAlarmReachesTheFunctionsAsAWSSendsIt(t *testing.T) {
	r := newRegion(t)
	var got []map[string]any
	r.Serve(world.AlarmFunction, func(_ context.Context, payload []byte) ([]byte, error) {
		var event map[string]any
		must(t, json.Unmarshal(payload, &event))
		got = append(got, event)
		return []byte(`{}`), nil
	})
	must(t, r.OnAlarms())
	must(t, r.Advance(t.Context(), 7*time.Minute))
	if len(got) != 2 {
		t.Fatalf("%d events, want red and well again", len(got))
	}
	detail, ok := got[0]["detail"].(map[string]any)
	if !ok || got[0]["detail-type"] != "CloudWatch Alarm State Change" || got[0]["time"] != "2026-11-30T12:05:20Z" || detail["alarmName"] != "authorization-slow" {
		t.Errorf("event %v", got[0])
	}
	state, _ := detail["state"].(map[string]any)
	previous, _ := detail["previousState"].(map[string]any)
	if state["value"] != "ALARM" || previous["value"] != "OK" || state["timestamp"] != "2026-11-30T12:05:20.000+0000" {
		t.Errorf("state %v, previous %v", state, previous)
	}
	inv := r.Invocations()
	if len(inv) != 2 || !inv[0].At.Equal(time.Date(2026, 11, 30, 12, 5, 20, 0, time.UTC)) || inv[0].Answer != "{}" || inv[0].Error != "" {
		t.Errorf("invocations %+v", inv)
	}
}

func TestTheScheduleInvokesTheSweepEachMinute(t *testing.T) {
	r := newRegion(t)
	var at []time.Duration
	r.Serve(world.SweepFunction, func(context.Context, []byte) ([]byte, error) {
		at = append(at, r.Clock.Now().Sub(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)))
		return nil, errors.New("always")
	})
	must(t, r.Schedule())
	must(t, r.Advance(t.Context(), 3*time.Minute+500*time.Millisecond))
	if len(at) != 3 || at[0] != time.Minute || at[2] != 3*time.Minute {
		t.Errorf("invoked at %v, want each minute", at)
	}
	for _, inv := range r.Invocations() {
		if inv.Error != "always" || inv.Answer != "" {
			t.Errorf("invocation %+v, want its error", inv)
		}
	}
}

func TestAnEventForAFunctionThatIsNotThereIsDropped(t *testing.T) {
	r := newRegion(t)
	must(t, r.Schedule())
	must(t, r.Advance(t.Context(), time.Minute))
	if d := r.Bus.Dropped(); len(d) != 1 || !strings.Contains(d[0].Cause.Error(), "function does not exist") || len(r.Invocations()) != 0 {
		t.Errorf("dropped %+v", d)
	}
}

func TestTimeNeverGoesBackAndEndsWithItsContext(t *testing.T) {
	r := newRegion(t)
	before := r.Clock.Now()
	must(t, r.Advance(t.Context(), -time.Hour))
	r.Clock.Add(-time.Hour)
	if !r.Clock.Now().Equal(before) {
		t.Errorf("the clock went from %s to %s", before, r.Clock.Now())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Advance(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("have %v", err)
	}
}
