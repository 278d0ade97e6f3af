package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/invocation"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// eventAgeMax is how old an alarm's event may be. The bus tries for up to 24 hours to deliver one, and by then many sweeps have read
// the alarm's state. Source: EventBridge user guide, retrying event delivery.
const eventAgeMax = 15 * time.Minute

// event is what an invocation asks for.
type event struct {
	at    time.Time
	alarm string
	// groups are those that the alarm's tag names, tagTrouble why its tags could not be read.
	groups     []string
	tagTrouble string
	// ignored says why an event that is an alarm's asks for nothing, "" if it does ask.
	ignored string
}

// source and detail types of the events of alarms. Source: CloudWatch user guide, alarm events and EventBridge.
const (
	alarmSource           = "aws.cloudwatch"
	stateDetailType       = "CloudWatch Alarm State Change"
	configDetailType      = "CloudWatch Alarm Configuration Change"
	contributorDetailType = "CloudWatch Alarm Contributor State Change"
)

// decode reads an event of the bus, or the payload of an alarm's own action. The latter has the same source, and a time that is not
// in the form of the bus: it is told by its key alarmData, before anything else is read.
func decode(raw json.RawMessage) (event, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return event{}, fmt.Errorf("want a JSON object: %w", err)
	}
	if _, direct := keys["alarmData"]; direct {
		return decodeDirect(raw)
	}
	return decodeEnvelope(raw)
}

func decodeDirect(raw json.RawMessage) (event, error) {
	var d struct {
		Time string `json:"time"`
		tagged
		AlarmData detail `json:"alarmData"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return event{}, err
	}
	return d.AlarmData.event(d.Time, d.tagged, d.AlarmData.tagged)
}

func decodeEnvelope(raw json.RawMessage) (event, error) {
	var e struct {
		Source     string          `json:"source"`
		DetailType string          `json:"detail-type"`
		Time       string          `json:"time"`
		Detail     json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return event{}, err
	}
	if e.Source != alarmSource {
		return event{}, fmt.Errorf("source %q with detail-type %q is no alarm", e.Source, e.DetailType)
	}
	ignored := ""
	switch e.DetailType {
	case stateDetailType:
	case configDetailType:
		ignored = "a change of an alarm's configuration; the next sweep reads the alarm as it is then, also one that was deleted"
	case contributorDetailType:
		ignored = "a change of one contributor; what counts is the state of the whole alarm, which has events of its own"
	default:
		return event{}, fmt.Errorf("detail-type %q is no change of an alarm's state", e.DetailType)
	}
	var d detail
	if err := json.Unmarshal(e.Detail, &d); err != nil {
		return event{}, fmt.Errorf("detail: %w", err)
	}
	out, err := d.event(e.Time, d.tagged)
	out.ignored = ignored
	return out, err
}

// request makes a runner's request of it, for the groups of every shard.
func (e event) request(run string) runner.Request {
	return runner.Request{Run: run, Trigger: runner.TriggerAlarm, Alarms: []string{e.alarm}, Groups: e.groups}
}

// worthALook says whether anybody should look now, and logs why not. Tags that could not be read are logged, and the policies still
// lead to the groups.
func (h *handler) worthALook(i invocation.Invocation, e event) (bool, error) {
	if e.ignored != "" {
		i.Log.Info("event ignored", "alarm", e.alarm, "reason", e.ignored)
		return false, nil
	}
	if age := i.Start.Sub(e.at); age > eventAgeMax {
		i.Log.Warn("event dropped", "alarm", e.alarm, "age_seconds", int(age.Seconds()), "age_seconds_max", int(eventAgeMax.Seconds()))
		return false, h.metrics.Emit(telemetry.Set{
			Dimensions: map[string]string{telemetry.DimensionFunction: function}, Values: map[string]float64{telemetry.EventsDropped: 1},
		})
	}
	if e.tagTrouble != "" {
		i.Log.Warn("alarm tags", "alarm", e.alarm, "trouble", e.tagTrouble)
	}
	return true, nil
}
