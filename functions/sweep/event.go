package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/strict"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// tickAgeMax is how old a scheduled event may be. Lambda's queue may hand over a tick long after its minute, and a look on its
// behalf would only take the place of a newer one. Source: Lambda developer guide, asynchronous invocation.
const tickAgeMax = 5 * time.Minute

// event is what an invocation asks for.
type event struct {
	at            time.Time
	trigger       string
	groups        []string
	shard, shards int
}

// envelope is an event of EventBridge or its Scheduler. The detail says nothing that a sweep needs, and its form differs: a rule
// sends an object, the Scheduler a string that holds one.
type envelope struct {
	Source     string `json:"source"`
	DetailType string `json:"detail-type"`
	Time       string `json:"time"`
}

// input is what a schedule or a person may send instead. It is strict: a misspelt "groups" would look at all of them.
type input struct {
	Trigger string   `json:"trigger"`
	Groups  []string `json:"groups"`
	Shard   int      `json:"shard"`
	Shards  int      `json:"shards"`
	// Kind and the keys after it are what a schedule fills in: "tick", and the context attributes of EventBridge Scheduler.
	Kind          string          `json:"kind"`
	ScheduledTime time.Time       `json:"scheduledTime"`
	ScheduleARN   string          `json:"scheduleArn"`
	ExecutionID   string          `json:"executionId"`
	Attempt       json.RawMessage `json:"attempt"`
}

const scheduledDetailType = "Scheduled Event"

// decode reads an event of a schedule, an input, or nothing at all, which asks for a sweep.
func decode(raw json.RawMessage) (event, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return event{trigger: runner.TriggerSweep}, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return event{}, fmt.Errorf("want a JSON object: %w", err)
	}
	_, source := keys["source"]
	_, detailType := keys["detail-type"]
	if source || detailType {
		return decodeEnvelope(raw)
	}
	return decodeInput(raw)
}

func decodeEnvelope(raw json.RawMessage) (event, error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return event{}, err
	}
	scheduler := e.Source == "aws.events" || e.Source == "aws.scheduler"
	if !scheduler || e.DetailType != scheduledDetailType {
		return event{}, fmt.Errorf("source %q with detail-type %q is no schedule", e.Source, e.DetailType)
	}
	at, err := time.Parse(time.RFC3339, e.Time)
	if err != nil {
		return event{}, fmt.Errorf("time of the schedule: %w", err)
	}
	return event{at: at, trigger: runner.TriggerSweep}, nil
}

func decodeInput(raw json.RawMessage) (event, error) {
	var in input
	if err := strict.Object(raw, &in, "trigger", "groups", "shard", "shards", "kind", "scheduledTime", "scheduleArn", "executionId", "attempt"); err != nil {
		return event{}, err
	}
	if in.Kind != "" && in.Kind != "tick" {
		return event{}, fmt.Errorf("kind %q, want tick", in.Kind)
	}
	if slices.Contains(in.Groups, "") {
		return event{}, fmt.Errorf("groups: an empty name")
	}
	if in.Groups != nil && len(in.Groups) == 0 {
		return event{}, fmt.Errorf("groups: an empty list; leave it out to look at all of them")
	}
	if in.Shards < 0 || in.Shards > config.ShardsMax || in.Shard < 0 || in.Shard >= max(1, in.Shards) {
		return event{}, fmt.Errorf("shard %d of %d", in.Shard, in.Shards)
	}
	switch in.Trigger {
	case runner.TriggerSweep, runner.TriggerManual:
	case "":
		in.Trigger = runner.TriggerSweep
		if len(in.Groups) > 0 {
			in.Trigger = runner.TriggerManual
		}
	default:
		return event{}, fmt.Errorf("trigger %q, want sweep or manual", in.Trigger)
	}
	return event{at: in.ScheduledTime, trigger: in.Trigger, groups: in.Groups, shard: in.Shard, shards: in.Shards}, nil
}

// age is how long ago the event was due; an event without a time is never old.
func (e event) age(now time.Time) time.Duration {
	if e.at.IsZero() {
		return 0
	}
	return now.Sub(e.at)
}

// request makes a runner's request of it; an event that names no shards means the function's own.
func (e event) request(run string, shard, shards int) runner.Request {
	if e.shards > 0 {
		shard, shards = e.shard, e.shards
	}
	return runner.Request{Run: run, Trigger: e.trigger, Groups: e.groups, Shard: shard, Shards: shards}
}
