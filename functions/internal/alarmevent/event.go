package alarmevent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Event is what an alarm's event asks for.
type Event struct {
	// At is when it happened, by its own account.
	At time.Time
	// Alarm is the alarm's name.
	Alarm string
	// Groups are those that the alarm's tag names, sorted, each once; TagTrouble says why tags could not be read.
	Groups     []string
	TagTrouble string
	// Ignored says why an event that is an alarm's asks for nothing, "" if it does ask.
	Ignored string
}

// What the events of alarms carry. Source: CloudWatch user guide, alarm events and EventBridge.
const (
	Source                = "aws.cloudwatch"
	StateDetailType       = "CloudWatch Alarm State Change"
	ConfigDetailType      = "CloudWatch Alarm Configuration Change"
	ContributorDetailType = "CloudWatch Alarm Contributor State Change"
)

// Decode reads an event of the bus, or the payload of an alarm's own action. The latter has the same source, and a time that is not
// in the form of the bus: it is told by its key alarmData, before anything else is read. What is no alarm's event is an error.
func Decode(raw json.RawMessage) (Event, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return Event{}, fmt.Errorf("want a JSON object: %w", err)
	}
	if _, direct := keys["alarmData"]; direct {
		return decodeDirect(raw)
	}
	return decodeEnvelope(raw)
}

func decodeDirect(raw json.RawMessage) (Event, error) {
	var d struct {
		Time string `json:"time"`
		tagged
		AlarmData detail `json:"alarmData"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return Event{}, err
	}
	return d.AlarmData.event(d.Time, d.tagged, d.AlarmData.tagged)
}

func decodeEnvelope(raw json.RawMessage) (Event, error) {
	var e struct {
		Source     string          `json:"source"`
		DetailType string          `json:"detail-type"`
		Time       string          `json:"time"`
		Detail     json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return Event{}, err
	}
	if e.Source != Source {
		return Event{}, fmt.Errorf("source %q with detail-type %q is no alarm", e.Source, e.DetailType)
	}
	ignored := ""
	switch e.DetailType {
	case StateDetailType:
	case ConfigDetailType:
		ignored = "a change of an alarm's configuration; the next sweep reads the alarm as it is then, also one that was deleted"
	case ContributorDetailType:
		ignored = "a change of one contributor; what counts is the state of the whole alarm, which has events of its own"
	default:
		return Event{}, fmt.Errorf("detail-type %q is no change of an alarm's state", e.DetailType)
	}
	var d detail
	if err := json.Unmarshal(e.Detail, &d); err != nil {
		return Event{}, fmt.Errorf("detail: %w", err)
	}
	out, err := d.event(e.Time, d.tagged)
	out.Ignored = ignored
	return out, err
}

// Request makes a runner's request of it, for the groups of every shard.
func (e Event) Request(run string) runner.Request {
	return runner.Request{Run: run, Trigger: runner.TriggerAlarm, Alarms: []string{e.Alarm}, Groups: e.Groups}
}
