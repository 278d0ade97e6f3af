package alarmevent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// GroupTag is the tag of an alarm that names groups to look at, beside those whose policy depends on it. Its value is one name or
// several, with spaces between them: no name of a group has a space, and a comma may be part of one.
const GroupTag = "holdfast:group"

// tagsRead is the status of tags that were read. Source: CloudWatch user guide, alarm tags in action payloads.
const tagsRead = "SUCCESS"

// detail is what is taken from the description of a change. The state, the reason and the configuration are left where they are:
// what counts is read from CloudWatch, and their form differs from one type of alarm to the next.
type detail struct {
	AlarmName string `json:"alarmName"`
	tagged
}

// tagged are the alarm's tags, which come along if the alarm was told to pass them on. They are decoded apart, because an alarm whose
// tags make no sense is still an alarm.
type tagged struct {
	Tags   json.RawMessage `json:"alarmTags"`
	Status json.RawMessage `json:"alarmTagsStatus"`
}

// event makes an event of the detail, its time, and the places where its tags may stand.
func (d detail) event(at string, places ...tagged) (Event, error) {
	if d.AlarmName == "" {
		return Event{}, errors.New("the alarm has no name")
	}
	when, err := parseTime(at)
	if err != nil {
		return Event{}, err
	}
	e := Event{At: when, Alarm: d.AlarmName}
	var troubles []string
	for _, p := range places {
		groups, err := p.groups()
		if err != nil {
			troubles = append(troubles, err.Error())
		}
		e.Groups = append(e.Groups, groups...)
	}
	slices.Sort(e.Groups)
	e.Groups, e.TagTrouble = slices.Compact(e.Groups), strings.Join(troubles, "; ")
	return e, nil
}

// groups are the names in the tag. Tags of other keys say nothing here.
func (t tagged) groups() ([]string, error) {
	if len(t.Status) > 0 && string(t.Status) != `"`+tagsRead+`"` {
		return nil, fmt.Errorf("status of the tags: %.100s", t.Status)
	}
	if len(t.Tags) == 0 {
		return nil, nil
	}
	var tags map[string]string
	if err := json.Unmarshal(t.Tags, &tags); err != nil {
		return nil, fmt.Errorf("tags: %w", err)
	}
	return strings.Fields(tags[GroupTag]), nil
}

// cloudWatchTime is how CloudWatch itself writes times: with a zone that has no colon, which RFC 3339 does not know.
const cloudWatchTime = "2006-01-02T15:04:05.999-0700"

// parseTime reads a time of the bus or of CloudWatch.
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(cloudWatchTime, text)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("time %.100q is neither RFC 3339 nor CloudWatch's own form", text)
	}
	return at, nil
}
