package guard_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// FuzzPolicy writes anything into a layer: nothing panics, every value stays in its range, and no limit passes its ceiling.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `{"mode": "off"}`, `{"marks_per_hour": 1e9}`, `{"marks_per_hour": "6O"}`, `{"marks_per_hour": NaN}`, `{"max_in_flight": 100}`,
		`{"hold_processes": []}`, `{"hold_processes": ["ReplaceUnhealthy"]}`, `{"dependencies": [{"alarm": "db", "kind": "hard"}]}`,
		`{"queue": {"sqs_url": "u", "deep": 1}}`, `{"heartbeat_fresh_seconds": 3600, "heartbeat_stale_seconds": 3600}`, `{"a": 1, "a": 2}`, "{\"mode\": \"\xff\"}",
	} {
		f.Add([]byte(seed), []byte(`{"marks_per_hour": 2}`), "act")
	}
	f.Fuzz(func(t *testing.T, raw, lastGood []byte, mode string) {
		r := guard.Resolve([]guard.Layer{{Name: guard.LayerDefaults, Raw: raw, LastGood: lastGood}, {Name: operatorLayer, Raw: raw, LastGood: lastGood}},
			guard.Switch{Value: mode, Found: true})
		p := r.Policy
		switch {
		case p.HeartbeatFreshSeconds >= p.HeartbeatStaleSeconds || p.HeartbeatFreshSeconds < 10 || p.HeartbeatStaleSeconds > 3600:
			t.Errorf("fresh %d, stale %d", p.HeartbeatFreshSeconds, p.HeartbeatStaleSeconds)
		case p.CorrelatedPercent < 1 || p.CorrelatedPercent > 50 || p.CorrelatedMin < 2 || p.ConfirmSweeps < 1 || p.OnsetCount < 2:
			t.Errorf("thresholds out of their ranges: %+v", p)
		case len(p.HoldProcesses) == 0 || len(p.HoldProcesses) > 3:
			t.Errorf("hold_processes %v", p.HoldProcesses)
		case mode != "act" && p.Mode == guard.ModeAct:
			t.Errorf("mode act though the switch says %q", mode)
		}
		fleet := guardtest.New(20)
		fleet.In.Policy = p
		if l := fleet.Sweep().Limits; l.InFlightMax > 1 || l.TenMinutesMax > 1 || l.HourMax > 3 || l.DayMax > 10 || l.RegionHourMax > 6 {
			t.Errorf("limits above their ceilings: %+v", l)
		}
		if again := guard.Resolve([]guard.Layer{{Name: operatorLayer, Raw: r.Good[operatorLayer]}}, guard.Switch{Value: "act", Found: true}); r.Good[operatorLayer] != nil && len(again.Problems) > 0 && p.HeartbeatStaleSeconds == 180 && p.HeartbeatFreshSeconds == 60 {
			t.Errorf("what is kept as good is refused: %v", again.Problems)
		}
	})
}
