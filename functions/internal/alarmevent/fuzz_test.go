package alarmevent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/functions/internal/alarmevent"
)

// FuzzDecode: whatever comes in, an event is refused, or has an alarm and a time and names groups that could exist.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "events", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no sample events: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"alarmData":{"alarmName":"db","alarmTags":{"holdfast:group":"a b a"}},"time":"2026-11-30T11:41:12.331+0000"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := alarmevent.Decode(raw)
		if err != nil {
			return
		}
		if e.Alarm == "" || e.At.IsZero() && !strings.Contains(string(raw), "0001-01-01") {
			t.Errorf("event %+v", e)
		}
		req := e.Request("r")
		if len(req.Alarms) != 1 || req.Alarms[0] == "" {
			t.Errorf("request %+v, which would look at every group", req)
		}
		if !slices.IsSorted(e.Groups) || len(slices.Compact(slices.Clone(e.Groups))) != len(e.Groups) {
			t.Errorf("groups %q", e.Groups)
		}
		for _, g := range e.Groups {
			if g == "" || strings.ContainsAny(g, " \t\n") {
				t.Errorf("group %q", g)
			}
		}
	})
}
