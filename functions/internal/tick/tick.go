package tick

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/strict"
)

// envelope is an event of an EventBridge rule or of the Scheduler; only its time matters.
type envelope struct {
	Source     string    `json:"source"`
	DetailType string    `json:"detail-type"`
	Time       time.Time `json:"time"`
}

// tick is what a schedule may send instead, with the context attributes of EventBridge Scheduler. It is strict: nobody shall
// believe that a key in it chose what is done.
type tick struct {
	Kind          string          `json:"kind"`
	ScheduledTime time.Time       `json:"scheduledTime"`
	ScheduleARN   string          `json:"scheduleArn"`
	ExecutionID   string          `json:"executionId"`
	Attempt       json.RawMessage `json:"attempt"`
}

// Decode gives the time for which a schedule asked, the zero time if the event names none. An empty event is a tick too.
func Decode(raw json.RawMessage) (time.Time, error) {
	text := bytes.TrimSpace(raw)
	if len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return time.Time{}, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return time.Time{}, fmt.Errorf("want a JSON object: %w", err)
	}
	_, source := keys["source"]
	_, detailType := keys["detail-type"]
	if source || detailType {
		return decodeEnvelope(text)
	}
	var t tick
	if err := strict.Object(text, &t, "kind", "scheduledTime", "scheduleArn", "executionId", "attempt"); err != nil {
		return time.Time{}, err
	}
	if t.Kind != "" && t.Kind != "tick" {
		return time.Time{}, fmt.Errorf("kind %q, want tick", t.Kind)
	}
	return t.ScheduledTime, nil
}

func decodeEnvelope(raw []byte) (time.Time, error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return time.Time{}, err
	}
	if (e.Source != "aws.events" && e.Source != "aws.scheduler") || e.DetailType != "Scheduled Event" {
		return time.Time{}, fmt.Errorf("source %q with detail-type %q is no schedule", e.Source, e.DetailType)
	}
	if e.Time.IsZero() {
		return time.Time{}, errors.New("the schedule has no time")
	}
	return e.Time, nil
}
