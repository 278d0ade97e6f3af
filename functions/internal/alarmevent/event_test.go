package alarmevent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/alarmevent"
)

func TestTimesAreReadInBothForms(t *testing.T) {
	want := time.Date(2026, 11, 30, 11, 41, 12, 0, time.UTC)
	for text, after := range map[string]time.Duration{
		"2026-11-30T11:41:12Z": 0, "2026-11-30T11:41:12+0000": 0, "2026-11-30T11:41:12.331+0000": 331 * time.Millisecond,
		"2026-11-30T12:41:12.3+0100": 300 * time.Millisecond, "2026-11-30T12:41:12+01:00": 0,
	} {
		for _, form := range []string{
			`{"alarmData":{"alarmName":"db"},"time":%q}`,
			`{"source":"aws.cloudwatch","detail-type":"CloudWatch Alarm State Change","detail":{"alarmName":"db"},"time":%q}`,
		} {
			e, err := alarmevent.Decode(fmt.Appendf(nil, form, text))
			if err != nil || !e.At.Equal(want.Add(after)) || e.Alarm != "db" {
				t.Errorf("%s: have %+v, %v", text, e, err)
			}
		}
	}
}

func TestAGroupNamedTwiceIsNamedOnce(t *testing.T) {
	e, err := alarmevent.Decode([]byte(`{"alarmTags":{"holdfast:group":"b a"},"time":"2026-11-30T11:41:12Z","alarmData":{"alarmName":"db","alarmTags":{"holdfast:group":"a b a"}}}`))
	if err != nil || fmt.Sprint(e.Groups) != "[a b]" {
		t.Errorf("groups %q, %v", e.Groups, err)
	}
}
