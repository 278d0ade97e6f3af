package tick_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/tick"
)

func TestATickSaysForWhenItWasDue(t *testing.T) {
	due := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "null": {}, "{}": {}, `{"kind":"tick"}`: {},
		`{"kind":"tick","scheduledTime":"2026-11-30T12:00:00Z","attempt":"1"}`:                               due,
		`{"source":"aws.events","detail-type":"Scheduled Event","time":"2026-11-30T12:00:00Z","detail":{}}`:  due,
		`{"source":"aws.scheduler","detail-type":"Scheduled Event","time":"2026-11-30T12:00:00Z","new":"x"}`: due,
	} {
		have, err := tick.Decode([]byte(text))
		if err != nil || !have.Equal(want) {
			t.Errorf("%s: %v, %v", text, have, err)
		}
	}
	for text, says := range map[string]string{
		"[]": "want a JSON object", `{"kind":"tock"}`: `kind "tock", want tick`, `{"group":"web"}`: `unknown field "group"`, `{"kind":"tick","kind":"tick"}`: "twice",
		`{"source":"nobody","detail-type":"Nothing"}`:             `source "nobody" with detail-type "Nothing" is no schedule`,
		`{"source":"aws.events","detail-type":"Scheduled Event"}`: "the schedule has no time",
	} {
		if _, err := tick.Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
}
