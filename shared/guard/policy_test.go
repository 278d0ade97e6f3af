package guard_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

const operatorLayer = guard.LayerGroups + "shop"

// one resolves a single operator's layer in mode act.
func one(content string) guard.Resolution {
	return guard.Resolve([]guard.Layer{{Name: operatorLayer, Raw: []byte(content)}}, guard.Switch{Value: "act", Found: true})
}

// rule is the rule that a document breaks, without what stays in force; "" for a good one.
func rule(r guard.Resolution) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, strings.TrimSuffix(p.String(), "; the layer below stays in force"))
	}
	return strings.Join(out, " | ")
}

func TestEveryNumberHasItsRange(t *testing.T) {
	numbers := 0
	for _, k := range guard.Keys() {
		if k.Max == 0 || len(k.Words) > 0 || k.Name == "dependencies" {
			continue
		}
		numbers++
		t.Run(k.Name, func(t *testing.T) {
			name := operatorLayer
			if k.DefaultsOnly {
				name = guard.LayerDefaults
			}
			try := func(value string) string {
				r := guard.Resolve([]guard.Layer{{Name: name, Raw: []byte(`{"` + k.Name + `": ` + value + `}`)}}, guard.Switch{Value: "act", Found: true})
				return strings.TrimPrefix(rule(r), name+": "+k.Name+": ")
			}
			within := []int{k.Min, k.Max}
			switch k.Name {
			case "heartbeat_fresh_seconds":
				within = []int{k.Min, 179} // its relation to the other is another test
			case "heartbeat_stale_seconds":
				within = []int{61, k.Max}
			}
			for _, n := range within {
				want(t, fmt.Sprint(n), try(fmt.Sprint(n)), "")
			}
			want(t, "below", try(fmt.Sprint(k.Min-1)), fmt.Sprintf("%d, want %s", k.Min-1, k.Range()))
			above := k.Range()
			if strings.HasSuffix(above, "or more") {
				above = fmt.Sprintf("at most %d", k.Max)
			}
			want(t, "above", try(fmt.Sprint(k.Max+1)), fmt.Sprintf("%d, want %s", k.Max+1, above))
			for _, bad := range []string{`"6O"`, `""`, `"60"`, `null`, `[60]`, `{}`, `true`} {
				want(t, bad, try(bad), bad+" is not a number")
			}
			for _, bad := range []string{`1.5`, `1e99`, `-1e99`, `99999999999999999999`} {
				want(t, bad, try(bad), bad+" is not a whole number in range")
			}
		})
	}
	if numbers != 27 {
		t.Errorf("%d numbers were tried, want 27", numbers)
	}
}

func TestEveryFlagAndWordIsStrict(t *testing.T) {
	flags := map[string]bool{"self_report_alone": true, "act_on_last_instance": true, "respect_scale_in_protection": true}
	words := map[string][]string{
		"mode": {"act", "observe", "off"}, "kind": {"web", "worker"}, "action": {"replace", "hold-only", "alert-only"}, "hold_exit": {"operator", "paced"},
	}
	for name := range flags {
		for _, good := range []string{"true", "false"} {
			want(t, name+" "+good, rule(one(`{"`+name+`": `+good+`}`)), "")
		}
		for _, bad := range []string{`"true"`, `1`, `null`, `[]`, `{}`} {
			want(t, name+" "+bad, rule(one(`{"`+name+`": `+bad+`}`)), operatorLayer+": "+name+": "+bad+", want true or false")
		}
	}
	for name, good := range words {
		for _, w := range good {
			want(t, name+" "+w, rule(one(`{"`+name+`": "`+w+`"}`)), "")
		}
		for _, bad := range []string{`"Act"`, `""`, `"act "`, `1`, `null`, `["act"]`} {
			want(t, name+" "+bad, rule(one(`{"`+name+`": `+bad+`}`)), operatorLayer+": "+name+": "+bad+", want "+strings.Join(good, ", "))
		}
	}
}

func TestBadDocuments(t *testing.T) {
	long := strings.Repeat("x", 80)
	tests := map[string]struct{ content, rule string }{
		"nothing at all":      {"", "is empty, want one JSON object"},
		"only blanks":         {" \n", "is empty, want one JSON object"},
		"null":                {"null", "is not a JSON object"},
		"a list":              {`[{"mode": "act"}]`, "is not a JSON object"},
		"a string":            {`"act"`, "is not a JSON object"},
		"no JSON at all":      {`nonsense`, "is not JSON: invalid character 'o'"},
		"NaN":                 {`{"marks_per_hour": NaN}`, "is not JSON: invalid character 'N' looking for beginning of value"},
		"Infinity":            {`{"marks_per_hour": Infinity}`, "is not JSON: invalid character 'I' looking for beginning of value"},
		"cut off":             {`{"mode": "act"`, "is not JSON: EOF"},
		"no quotes":           {`{mode: "act"}`, "is not JSON: invalid character 'm'"},
		"two objects":         {`{"mode": "act"}{}`, "has something after the JSON object"},
		"text after it":       {`{"mode": "act"} x`, "has something after the JSON object"},
		"a key twice":         {`{"mode": "act", "mode": "off"}`, `has the key "mode" twice`},
		"a key that is none":  {`{"modus": "act"}`, "modus: is no policy key"},
		"a key in capitals":   {`{"Mode": "act"}`, "Mode: is no policy key"},
		"two faults":          {`{"modus": 1, "kind": "x"}`, `kind: "x", want web, worker | /holdfast/groups/shop: modus: is no policy key`},
		"a key of defaults":   {`{"region_marks_per_hour": 3}`, "region_marks_per_hour: is accepted in /holdfast/defaults only"},
		"a value of sixty":    {`{"kind": "` + long[:58] + `"}`, `kind: "` + long[:58] + `", want web, worker`},
		"a long value is cut": {`{"kind": "` + long + `"}`, `kind: "` + long[:59] + "…, want web, worker"},
		"fresh above stale":   {`{"heartbeat_fresh_seconds": 200}`, "heartbeat_fresh_seconds 200 is not below heartbeat_stale_seconds 180"},
		"fresh equal stale":   {`{"heartbeat_stale_seconds": 60}`, "heartbeat_fresh_seconds 60 is not below heartbeat_stale_seconds 60"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := one(test.content)
			if got := rule(r); !strings.HasPrefix(got, operatorLayer+": "+test.rule) {
				t.Errorf("rule %q, want %q", got, operatorLayer+": "+test.rule)
			}
			if !reflect.DeepEqual(r.Policy, guard.Defaults()) || len(r.Good) != 0 {
				t.Errorf("a bad document changes the policy: %+v", r.Policy)
			}
		})
	}
}

func TestAKeyInTheWrongLayerIsRefusedForThatAlone(t *testing.T) {
	want(t, "rule", rule(one(`{"region_marks_per_hour": -1}`)), operatorLayer+": region_marks_per_hour: is accepted in /holdfast/defaults only")
}

func TestLists(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"alarm": "a", "kind": "hard"},`, 51), ",")
	tests := map[string]struct{ content, rule string }{
		"processes, all":                {`{"hold_processes": ["ReplaceUnhealthy", "HealthCheck", "AZRebalance"]}`, ""},
		"processes, the least":          {`{"hold_processes": ["ReplaceUnhealthy"]}`, ""},
		"processes, none":               {`{"hold_processes": []}`, "hold_processes: [] has no ReplaceUnhealthy"},
		"processes, null":               {`{"hold_processes": null}`, "hold_processes: null is not a list of process names"},
		"processes, a word":             {`{"hold_processes": "ReplaceUnhealthy"}`, `hold_processes: "ReplaceUnhealthy" is not a list of process names`},
		"processes, Launch":             {`{"hold_processes": ["ReplaceUnhealthy", "Launch"]}`, `hold_processes: "Launch" is not one of ReplaceUnhealthy, HealthCheck, AZRebalance`},
		"processes, Terminate":          {`{"hold_processes": ["Terminate"]}`, `hold_processes: "Terminate" is not one of ReplaceUnhealthy, HealthCheck, AZRebalance`},
		"processes, an unknown one":     {`{"hold_processes": ["ReplaceUnhealthy", "Replace"]}`, `hold_processes: "Replace" is not one of ReplaceUnhealthy, HealthCheck, AZRebalance`},
		"processes, without the main":   {`{"hold_processes": ["HealthCheck"]}`, `hold_processes: ["HealthCheck"] has no ReplaceUnhealthy`},
		"processes, twice":              {`{"hold_processes": ["ReplaceUnhealthy", "ReplaceUnhealthy"]}`, `hold_processes: "ReplaceUnhealthy" stands twice`},
		"dependencies, none":            {`{"dependencies": []}`, ""},
		"dependencies, both kinds":      {`{"dependencies": [{"alarm": "a", "kind": "hard"}, {"alarm": "b", "kind": "soft", "missing": "ok"}]}`, ""},
		"dependencies, null":            {`{"dependencies": null}`, "dependencies: null is not a list of {alarm, kind, missing}"},
		"dependencies, an unknown key":  {`{"dependencies": [{"alarm": "a", "kind": "hard", "x": 1}]}`, `dependencies: [{"alarm": "a", "kind": "hard", "x": 1}] is not a list of {alarm, kind, missing}`},
		"dependencies, no alarm":        {`{"dependencies": [{"kind": "hard"}]}`, "dependencies: dependency 1 has no alarm"},
		"dependencies, no kind":         {`{"dependencies": [{"alarm": "a"}]}`, `dependencies: alarm "a": kind "", want hard or soft`},
		"dependencies, a wrong kind":    {`{"dependencies": [{"alarm": "a", "kind": "firm"}]}`, `dependencies: alarm "a": kind "firm", want hard or soft`},
		"dependencies, missing":         {`{"dependencies": [{"alarm": "a", "kind": "hard", "missing": "no"}]}`, `dependencies: alarm "a": missing "no", want unknown or ok`},
		"dependencies, twice":           {`{"dependencies": [{"alarm": "a", "kind": "hard"}, {"alarm": "a", "kind": "soft"}]}`, `dependencies: alarm "a" stands twice`},
		"dependencies, too many":        {`{"dependencies": [` + many + `]}`, "dependencies: 51 dependencies, want at most 50"},
		"queue, by address":             {`{"queue": {"sqs_url": "u"}}`, ""},
		"queue, by metric":              {`{"queue": {"namespace": "n", "metric": "m", "deep": 1}}`, ""},
		"queue, neither":                {`{"queue": {}}`, "queue: has neither sqs_url nor namespace and metric"},
		"queue, half a metric":          {`{"queue": {"metric": "m"}}`, "queue: has neither sqs_url nor namespace and metric"},
		"queue, the other half":         {`{"queue": {"namespace": "n"}}`, "queue: has neither sqs_url nor namespace and metric"},
		"queue, both":                   {`{"queue": {"sqs_url": "u", "metric": "m"}}`, "queue: has both sqs_url and a metric, want one of them"},
		"queue, both halves":            {`{"queue": {"sqs_url": "u", "namespace": "n"}}`, "queue: has both sqs_url and a metric, want one of them"},
		"queue, a dimension of neither": {`{"queue": {"sqs_url": "u", "dimensions": {"a": "1"}}}`, "queue: has both sqs_url and a metric, want one of them"},
		"queue, the deepest":            {`{"queue": {"sqs_url": "u", "deep": 1000000000}}`, ""},
		"queue, too deep":               {`{"queue": {"sqs_url": "u", "deep": 1000000001}}`, "queue: deep 1000000001, want 1 or more"},
		"queue, never deep":             {`{"queue": {"sqs_url": "u", "deep": 0}}`, "queue: deep 0, want 1 or more"},
		"queue, null":                   {`{"queue": null}`, "queue: null is not {sqs_url | namespace, metric, dimensions; deep}"},
		"queue, an unknown key":         {`{"queue": {"sqs": "u"}}`, `queue: {"sqs": "u"} is not {sqs_url | namespace, metric, dimensions; deep}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wanted := test.rule
			if wanted != "" {
				wanted = operatorLayer + ": " + wanted
			}
			want(t, "rule", rule(one(test.content)), wanted)
		})
	}
	r := one(`{"dependencies": [{"alarm": "a", "kind": "hard"}], "queue": {"sqs_url": "u"}}`)
	if r.Policy.Dependencies[0].Missing != guard.MissingUnknown || r.Policy.Queue.Deep != 1000 {
		t.Errorf("what is not stated: %+v %+v", r.Policy.Dependencies, r.Policy.Queue)
	}
}

func TestBuiltInValuesAreTheDesigns(t *testing.T) {
	p := guard.Defaults()
	got := fmt.Sprint(p.Mode, p.Kind, p.Action, p.HeartbeatFreshSeconds, p.HeartbeatStaleSeconds, p.FirstHeartbeatSeconds, p.BootGraceSeconds,
		p.ConfirmSweeps, p.DisagreeSeconds, p.SelfReportAlone, p.CorrelatedPercent, p.CorrelatedMin, p.ZonePercent, p.OnsetCount, p.OnsetWindowSeconds,
		p.RollingPercent, p.RollingWindowSeconds, p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.MarksPerDay, p.RegionMarksPerHour,
		p.CapacityLossPercentMax, p.MinHealthyPercent, p.ActOnLastInstance, p.RespectScaleInProtection, p.ConvergeFailures, p.ReplacementTimeoutSeconds,
		p.DeferredPageSeconds, p.HoldProcesses, p.QuietSeconds, p.HoldMaxSeconds, p.HoldExit, p.PageRepeatSeconds, p.Dependencies, p.AlarmMaxAgeSeconds, p.Queue == nil)
	want(t, "built-in policy", got, fmt.Sprint("act", "web", "replace", 60, 180, 900, 300, 2, 900, false, 25, 2, 50, 3, 300, 25, 3600, 1, 1, 3, 8, 6,
		50, 50, false, true, 2, 900, 1800, []string{"ReplaceUnhealthy", "HealthCheck", "AZRebalance"}, 600, 86400, "operator", 1800, []guard.Dependency(nil), 86400, true))
}
