package guard_test

import (
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

func layers(defaults, declared, groups string) []guard.Layer {
	out := []guard.Layer{{Name: guard.LayerDefaults}, {Name: guard.LayerDeclared + "shop"}, {Name: operatorLayer}}
	for i, content := range []string{defaults, declared, groups} {
		if content != "" {
			out[i].Raw = []byte(content)
		}
	}
	return out
}

func TestLaterLayersWinKeyByKey(t *testing.T) {
	r := guard.Resolve(layers(`{"marks_per_hour": 1, "marks_per_day": 1, "quiet_seconds": 61}`, `{"marks_per_hour": 2, "marks_per_day": 2}`, `{"marks_per_hour": 3}`), guard.Switch{Value: "act", Found: true})
	want(t, "problems", rule(r), "")
	p := r.Policy
	if p.MarksPerHour != 3 || p.MarksPerDay != 2 || p.QuietSeconds != 61 || p.ZonePercent != 50 {
		t.Errorf("policy %+v", p)
	}
	want(t, "sources", r.Sources["marks_per_hour"]+" "+r.Sources["marks_per_day"]+" "+r.Sources["quiet_seconds"]+" "+r.Sources["zone_percent"],
		"/holdfast/groups/shop /holdfast/declared/shop /holdfast/defaults built-in")
	if len(r.Good) != 3 {
		t.Errorf("%d layers are kept as good, want 3", len(r.Good))
	}
}

func TestFreshStaysBelowStaleAcrossLayers(t *testing.T) {
	r := guard.Resolve(layers(`{"heartbeat_stale_seconds": 100}`, "", `{"heartbeat_fresh_seconds": 100}`), guard.Switch{Value: "act", Found: true})
	want(t, "rule", rule(r), operatorLayer+": heartbeat_fresh_seconds 100 is not below heartbeat_stale_seconds 100")
	if r.Policy.HeartbeatFreshSeconds != 60 || r.Policy.HeartbeatStaleSeconds != 100 {
		t.Errorf("policy %+v", r.Policy)
	}
	r = guard.Resolve(layers(`{"heartbeat_stale_seconds": 100}`, "", `{"heartbeat_fresh_seconds": 99}`), guard.Switch{Value: "act", Found: true})
	want(t, "one below", rule(r), "")
}

func TestTheLastGoodContentStaysInForce(t *testing.T) {
	tests := map[string]struct {
		layer guard.Layer
		marks int
		rule  string
	}{
		"bad, with a last good": {guard.Layer{Raw: []byte(`{"marks_per_hour": "6O"}`), LastGood: []byte(`{"marks_per_hour": 2}`)}, 2,
			`marks_per_hour: "6O" is not a number; its last good content stays in force`},
		"bad, without one": {guard.Layer{Raw: []byte(`{"marks_per_hour": "6O"}`)}, 3, `marks_per_hour: "6O" is not a number; the layer below stays in force`},
		"unreadable, with a last good": {guard.Layer{ReadError: "denied", LastGood: []byte(`{"marks_per_hour": 2}`)}, 2,
			"cannot be read: denied; its last good content stays in force"},
		"unreadable, without one":  {guard.Layer{ReadError: "denied"}, 3, "cannot be read: denied; the layer below stays in force"},
		"absent, with a last good": {guard.Layer{LastGood: []byte(`{"marks_per_hour": 2}`)}, 3, ""}, // deleted on purpose
		"bad, with a bad last good": {guard.Layer{Raw: []byte(`{"marks_per_hour": -1}`), LastGood: []byte(`{"x": 2}`)}, 3,
			"marks_per_hour: -1, want 0 or more; its last good content stays in force"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.layer.Name = operatorLayer
			r := guard.Resolve([]guard.Layer{test.layer}, guard.Switch{Value: "act", Found: true})
			if r.Policy.MarksPerHour != test.marks {
				t.Errorf("marks_per_hour %d, want %d", r.Policy.MarksPerHour, test.marks)
			}
			got := ""
			if len(r.Problems) > 0 {
				got = strings.TrimPrefix(r.Problems[0].String(), operatorLayer+": ")
			}
			want(t, "rule", got, test.rule)
			if kept := string(r.Good[operatorLayer]); test.marks == 2 && kept != `{"marks_per_hour": 2}` || test.marks == 3 && kept != "" {
				t.Errorf("kept as good: %q", kept)
			}
		})
	}
}

func TestAStricterModeInABadLayerStillApplies(t *testing.T) {
	tests := map[string]struct{ defaults, groups, mode, source string }{
		"off in a bad layer":           {"", `{"mode": "off", "x": 1}`, "off", operatorLayer},
		"observe in a bad layer":       {"", `{"mode": "observe", "x": 1}`, "observe", operatorLayer},
		"act in a bad layer":           {`{"mode": "observe"}`, `{"mode": "act", "x": 1}`, "observe", guard.LayerDefaults},
		"a bad mode in a bad layer":    {"", `{"mode": "stop", "x": 1}`, "act", guard.LayerBuiltIn},
		"off before the JSON breaks":   {"", `{"mode": "off", }`, "off", operatorLayer},
		"off in half a document":       {"", `{"mode": "off"`, "off", operatorLayer},
		"off, and later act":           {"", `{"mode": "off", "mode": "act"}`, "off", operatorLayer},
		"act before the JSON breaks":   {`{"mode": "observe"}`, `{"mode": "act", }`, "observe", guard.LayerDefaults},
		"half a mode":                  {"", `{"mode": "of`, "act", guard.LayerBuiltIn},
		"a list":                       {"", `["mode", "off"]`, "act", guard.LayerBuiltIn},
		"less strict than what holds":  {`{"mode": "off"}`, `{"mode": "observe", "x": 1}`, "off", guard.LayerDefaults},
		"act in a good layer above it": {`{"mode": "off", "x": 1}`, `{"mode": "act"}`, "off", guard.LayerDefaults},
	}
	for name, test := range tests {
		r := guard.Resolve(layers(test.defaults, "", test.groups), guard.Switch{Value: "act", Found: true})
		want(t, name, r.Policy.Mode+" by "+r.Sources["mode"], test.mode+" by "+test.source)
	}
}

func TestTheSwitch(t *testing.T) {
	tests := map[string]struct {
		sw         guard.Switch
		mode, kept string
		rule       string
	}{
		"act":                  {guard.Switch{Value: "act", Found: true}, "act", "act", ""},
		"observe":              {guard.Switch{Value: "observe", Found: true}, "observe", "observe", ""},
		"off":                  {guard.Switch{Value: "off", Found: true}, "off", "off", ""},
		"missing":              {guard.Switch{}, "observe", "", "/holdfast/mode: does not exist; it reads as observe"},
		"missing, once act":    {guard.Switch{LastGood: "act"}, "observe", "", "/holdfast/mode: does not exist; it reads as observe"},
		"never readable":       {guard.Switch{ReadError: "denied"}, "observe", "", "/holdfast/mode: cannot be read: denied"},
		"unreadable, once act": {guard.Switch{ReadError: "denied", LastGood: "act"}, "act", "act", "/holdfast/mode: cannot be read: denied"},
		"unreadable, once off": {guard.Switch{ReadError: "denied", LastGood: "off"}, "off", "off", "/holdfast/mode: cannot be read: denied"},
		"invalid, never valid": {guard.Switch{Value: "on", Found: true}, "observe", "", `/holdfast/mode: "on", want act, observe or off`},
		"invalid, once act":    {guard.Switch{Value: "on", Found: true, LastGood: "act"}, "act", "act", `/holdfast/mode: "on", want act, observe or off`},
		"empty, once observe":  {guard.Switch{Found: true, LastGood: "observe"}, "observe", "observe", `/holdfast/mode: "", want act, observe or off`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := guard.Resolve(nil, test.sw)
			want(t, "mode", r.Policy.Mode, test.mode)
			want(t, "kept", r.GoodMode, test.kept)
			want(t, "rule", rule(r), test.rule)
			if test.mode != "act" {
				want(t, "source", r.Sources["mode"], guard.ModeParameter)
			}
		})
	}
	r := guard.Resolve(layers("", "", `{"mode": "off"}`), guard.Switch{Value: "act", Found: true})
	want(t, "a group is off though the switch is on", r.Policy.Mode+" by "+r.Sources["mode"], "off by "+operatorLayer)
}

// TestALastGoodContentThatIsGoodNoMoreIsLeftOut has a layer that cannot be read, whose last good content was so by another version's rules.
func TestALastGoodContentThatIsGoodNoMoreIsLeftOut(t *testing.T) {
	for _, content := range []string{`{"marks_per_hour": 1, "typo": 1}`, `{"marks_per_hour": 1, "heartbeat_fresh_seconds": 200}`, `{"marks_per_hour": 1`} {
		r := guard.Resolve([]guard.Layer{{Name: operatorLayer, ReadError: "throttled", LastGood: []byte(content)}}, guard.Switch{Value: guard.ModeAct, Found: true})
		if r.Policy.MarksPerHour != 3 || len(r.Good) != 0 || r.Sources["marks_per_hour"] != guard.LayerBuiltIn {
			t.Errorf("%s: %d marks per hour by %s, kept as good: %v", content, r.Policy.MarksPerHour, r.Sources["marks_per_hour"], r.Good)
		}
	}
}

func TestEscapeName(t *testing.T) {
	for name, wanted := range map[string]string{
		"shop": "shop", "AZaz09": "AZaz09", "A-z.0-9": "A-z.0-9", "a_b": "a_5Fb", "a/b": "a_2Fb", "*": "_2A", "a b": "a_20b", "é": "_C3_A9", "": "", "_2F": "_5F2F",
	} {
		want(t, name, guard.EscapeName(name), wanted)
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range guard.Keys() {
		if seen[k.Name] || k.Meaning == "" || k.Default == "" {
			t.Errorf("key %q stands twice, or has no meaning or default", k.Name)
		}
		seen[k.Name] = true
	}
	if len(seen) != 37 {
		t.Errorf("%d keys, want the 37 of the design", len(seen))
	}
}
