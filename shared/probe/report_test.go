package probe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

func facts() probe.Facts {
	return probe.Facts{Function: "probe", Run: "r1", Duration: 1500 * time.Millisecond, Margin: 20 * time.Second}
}

// emitted are the metrics of a report as CloudWatch would read them: name, dimensions in the order told, value.
func emitted(t *testing.T, r probe.Report) map[string]string {
	t.Helper()
	var out bytes.Buffer
	e := telemetry.NewEmitter(&out, noon)
	for _, set := range r.Metrics(facts()) {
		if err := e.Emit(set); err != nil {
			t.Fatalf("emit: %v", err)
		}
	}
	all := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var root map[string]json.RawMessage
		var aws struct {
			CloudWatchMetrics []struct {
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		}
		if err := errors.Join(json.Unmarshal([]byte(line), &root), json.Unmarshal(root["_aws"], &aws)); err != nil {
			t.Fatalf("decode %s: %v", line, err)
		}
		for _, d := range aws.CloudWatchMetrics[0].Dimensions {
			var values []string
			for _, name := range d {
				values = append(values, strings.Trim(string(root[name]), `"`))
			}
			for _, m := range aws.CloudWatchMetrics[0].Metrics {
				key := m.Name + " " + strings.Join(values, "/")
				if _, twice := all[key]; twice {
					t.Errorf("%s is told twice", key)
				}
				all[key] = string(root[m.Name])
			}
		}
	}
	return all
}

func compare(t *testing.T, have, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if have[key] != value {
			t.Errorf("%s: have %q, want %q", key, have[key], value)
		}
	}
	for key, value := range have {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: have %q, want none", key, value)
		}
	}
}

func verdicts() probe.Report {
	days := 30.5
	s := func(name string, kind probe.Kind) probe.Source {
		return probe.Source{Name: name, Kind: kind, Every: time.Minute, FailuresInRow: 2, Sample: 3}
	}
	call := func(o probe.Outcome, c probe.Cause, ms int) probe.Result {
		return probe.Result{Outcome: o, Cause: c, Latency: time.Duration(ms) * time.Millisecond}
	}
	cert := call(probe.Passed, "", 7)
	cert.Days = &days
	return probe.Report{Completed: true, Sources: 5, Load: probe.Load{CallsPerRun: 7, PerMinute: 7}, Notes: []string{"auth: /healthz names a health endpoint of another service"}, Verdicts: []probe.Verdict{
		{Source: s("auth", probe.KindHTTP), Outcome: probe.Failed, Cause: probe.CauseTimeout, Detail: "slow", InRow: 2, Counted: true, Calls: []probe.Result{call(probe.Failed, probe.CauseTimeout, 800)}},
		{Source: s("web", probe.KindInstances), Outcome: probe.Passed, Counted: true, Before: probe.Record{InRow: 4}, Calls: []probe.Result{
			call(probe.Passed, "", 10), call(probe.Failed, probe.CauseRefused, 1), call(probe.Failed, probe.CauseBody, 30),
		}},
		{Source: s("cert", probe.KindTLS), Outcome: probe.Passed, Calls: []probe.Result{cert}},
		{Source: s("db", probe.KindTCP), Detail: "address refused", Calls: []probe.Result{call(probe.Unknown, "", 5)}, Counted: true, InRow: 1},
		{Source: s("gone", probe.KindInstances), Detail: "unread", Counted: true},
	}}
}

func TestMetricsAreToldByDependencyAndCause(t *testing.T) {
	compare(t, emitted(t, verdicts()), map[string]string{
		"probe_run_completed probe": "1", "probe_sources_refused probe": "0", "probe_memory_failures probe": "0", "probe_requests_per_minute probe": "7",
		"probe_duration_ms probe": "1500", "deadline_margin_ms probe": "20000", "probe_calls probe": "6",
		"probe_failed auth/probe": "1", "probe_unknown auth/probe": "0", "probe_failures_in_row auth/probe": "2", "probe_down auth/probe": "1", "probe_latency_ms auth/probe": "[800]",
		"probe_failed web/probe": "0", "probe_unknown web/probe": "0", "probe_failures_in_row web/probe": "0", "probe_down web/probe": "0", "probe_latency_ms web/probe": "[10,30]",
		"probe_failed cert/probe": "0", "probe_unknown cert/probe": "0", "probe_latency_ms cert/probe": "[7]", "probe_days_to_expiry cert/probe": "30.5",
		"probe_unknown db/probe": "1", "probe_unknown gone/probe": "1",
		"probe_failures probe/timeout": "1", "probe_failures probe/auth/timeout": "1", "probe_failures probe/refused": "1", "probe_failures probe/web/refused": "1",
		"probe_failures probe/body": "1", "probe_failures probe/web/body": "1",
	})
}

func TestARunThatKnewNoSourcesSaysSo(t *testing.T) {
	r := probe.Report{Refused: errors.New("sources: is missing"), MemoryFailure: errors.New("throttled")}
	f := facts()
	sets := r.Metrics(f)
	if len(sets) != 1 || sets[0].Values[telemetry.ProbeRunCompleted] != 0 || sets[0].Values[telemetry.ProbeSourcesRefused] != 1 || sets[0].Values[telemetry.ProbeMemoryFailures] != 1 {
		t.Errorf("have %+v", sets)
	}
}

func TestTheLogNamesWhatFailsIsUnknownOrRecovered(t *testing.T) {
	var out bytes.Buffer
	r := verdicts()
	r.Cut, r.Refused, r.MemoryFailure = "too little time", errors.New("sources: is missing"), errors.New("throttled")
	r.Log(telemetry.NewLogger(&out, "probe"), facts())
	lines := map[string][]map[string]any{}
	for text := range strings.Lines(out.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("decode log: %v", err)
		}
		lines[line["message"].(string)] = append(lines[line["message"].(string)], line)
	}
	for message, want := range map[string][]any{
		"dependency failed": {"auth"}, "dependency unknown": {"db", "gone"}, "dependency recovered": {"web"}, "probe run": {nil},
		"sources refused": {nil}, "memory": {nil}, "run shortened": {nil},
	} {
		if len(lines[message]) != len(want) {
			t.Errorf("%d lines %q, want %d", len(lines[message]), message, len(want))
			continue
		}
		for i, name := range want {
			if lines[message][i]["dependency"] != name {
				t.Errorf("%s: %v, want %v", message, lines[message][i]["dependency"], name)
			}
		}
	}
	for message, want := range map[string]map[string]any{
		"dependency failed":    {"outcome": "failed", "cause": "timeout", "in_row": 2.0, "in_row_min": 2.0, "down": true},
		"dependency unknown":   {"outcome": "unknown", "cause": nil, "in_row": 1.0, "down": false},
		"dependency recovered": {"outcome": "passed", "cause": nil, "in_row": 0.0, "down": false},
	} {
		for key, value := range want {
			if have, told := lines[message][0][key]; have != value || told != (value != nil) {
				t.Errorf("%s: %s is %v, want %v", message, key, have, value)
			}
		}
	}
	run := lines["probe run"][0]
	for key, want := range map[string]any{
		"load":  "0 sources, at most 7 calls a run and 7.00 requests a minute",
		"calls": 6.0, "due": 5.0, "latency_p50_ms": 10.0, "latency_p95_ms": 800.0, "latency_max_ms": 800.0,
	} {
		if run[key] != want {
			t.Errorf("%s is %v, want %v", key, run[key], want)
		}
	}
	if !strings.Contains(out.String(), "auth: /healthz names a health endpoint of another service") || !strings.Contains(out.String(), `"failing":["auth"],"unknown":["db","gone"]`) {
		t.Errorf("the run's line: %v", run)
	}
}

func TestTheLogSaysNothingOfARowThatWasNotCounted(t *testing.T) {
	var out bytes.Buffer
	r := verdicts()
	r.Verdicts = r.Verdicts[:1]
	r.Verdicts[0].Counted = false
	r.Log(telemetry.NewLogger(&out, "probe"), facts())
	if !strings.Contains(out.String(), `"dependency failed"`) || strings.Contains(out.String(), `"in_row":`) || strings.Contains(out.String(), `"down":`) {
		t.Errorf("have %s", out.String())
	}
}

func TestPercentilesAreValuesThatOccurred(t *testing.T) {
	values := []float64{30, 10, 20, 40}
	for p, want := range map[float64]float64{0: 10, 25: 10, 26: 20, 50: 20, 75: 30, 95: 40, 100: 40} {
		if have := probe.Percentile(values, p); have != want {
			t.Errorf("p%v is %v, want %v", p, have, want)
		}
	}
	if !math.IsNaN(probe.Percentile(nil, 50)) || values[0] != 30 {
		t.Error("of none there is a percentile, or the values were sorted in place")
	}
}
