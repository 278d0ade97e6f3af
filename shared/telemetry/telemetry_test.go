package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

func clock() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func emit(t *testing.T, s telemetry.Set) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := telemetry.NewEmitter(&out, clock).Emit(s)
	return out.String(), err
}

func TestMetricsAreOneLineOfEmbeddedFormat(t *testing.T) {
	line, err := emit(t, telemetry.Set{
		Dimensions: map[string]string{"function": "sweep", "shard": "0"},
		By:         [][]string{{"function"}, {"function", "shard"}},
		Values:     map[string]float64{telemetry.SweepCompleted: 1, telemetry.SweepDurationMS: 1234.5},
		Properties: map[string]any{"run": "r\n1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_aws":{"CloudWatchMetrics":[{"Namespace":"Holdfast","Dimensions":[["function"],["function","shard"]],` +
		`"Metrics":[{"Name":"sweep_completed","Unit":"Count"},{"Name":"sweep_duration_ms","Unit":"Milliseconds"}]}],"Timestamp":1796040000000},` +
		`"function":"sweep","run":"r\n1","shard":"0","sweep_completed":1,"sweep_duration_ms":1234.5}` + "\n"
	if line != want {
		t.Errorf("have %s\nwant %s", line, want)
	}
	line, err = emit(t, telemetry.Set{Dimensions: map[string]string{"reason": "grace", "function": "sweep"}, Values: map[string]float64{telemetry.Deferred: 2}})
	if err != nil || !strings.Contains(line, `"Dimensions":[["function","reason"]]`) {
		t.Errorf("without By: %s, %v; want all dimensions together", line, err)
	}
}

func TestAListOfValuesIsOneMetric(t *testing.T) {
	line, err := emit(t, telemetry.Set{
		Dimensions: map[string]string{"dependency": "auth"}, Lists: map[string][]float64{telemetry.ProbeLatencyMS: {3, 1.5}},
	})
	want := `{"_aws":{"CloudWatchMetrics":[{"Namespace":"Holdfast","Dimensions":[["dependency"]],` +
		`"Metrics":[{"Name":"probe_latency_ms","Unit":"Milliseconds"}]}],"Timestamp":1796040000000},"dependency":"auth","probe_latency_ms":[3,1.5]}` + "\n"
	if err != nil || line != want {
		t.Errorf("have %s, %v\nwant %s", line, err, want)
	}
}

func TestWhatWouldSilentlyBeNoMetricIsRefused(t *testing.T) {
	function := map[string]string{"function": "sweep"}
	one := map[string]float64{telemetry.Pages: 1}
	many := map[string]float64{}
	for i := range 101 {
		many[fmt.Sprint("m", i)] = 1
	}
	cases := map[string]telemetry.Set{
		"no metric":                   {Dimensions: function},
		"an undeclared metric":        {Dimensions: function, Values: map[string]float64{"made_up": 1}},
		"too many metrics":            {Dimensions: function, Values: many},
		"an empty list":               {Dimensions: function, Lists: map[string][]float64{telemetry.ProbeLatencyMS: {}}},
		"a list that is too long":     {Dimensions: function, Lists: map[string][]float64{telemetry.ProbeLatencyMS: make([]float64, 101)}},
		"an undeclared list":          {Dimensions: function, Lists: map[string][]float64{"made_up": {1}}},
		"a list and a value alike":    {Dimensions: function, Values: one, Lists: map[string][]float64{telemetry.Pages: {1}}},
		"not a number":                {Dimensions: function, Values: map[string]float64{telemetry.Pages: math.NaN()}},
		"infinity":                    {Dimensions: function, Values: map[string]float64{telemetry.Pages: math.Inf(1)}},
		"an empty dimension":          {Dimensions: map[string]string{"function": ""}, Values: one},
		"a dimension beyond ASCII":    {Dimensions: map[string]string{"function": "swéep"}, Values: one},
		"a dimension without a value": {Dimensions: function, By: [][]string{{"function", "shard"}}, Values: one},
		"a property named as metric":  {Dimensions: function, Values: one, Properties: map[string]any{telemetry.Pages: "x"}},
		"a property named _aws":       {Dimensions: function, Values: one, Properties: map[string]any{"_aws": "x"}},
		"a property without a form":   {Dimensions: function, Values: one, Properties: map[string]any{"f": func() {}}},
	}
	for name, s := range cases {
		if line, err := emit(t, s); err == nil || line != "" {
			t.Errorf("%s: wrote %q, error %v", name, line, err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestAFailedWriteIsAnError(t *testing.T) {
	err := telemetry.NewEmitter(full{}, clock).Emit(telemetry.Set{Dimensions: map[string]string{"function": "sweep"}, Values: map[string]float64{telemetry.Pages: 1}})
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("have %v", err)
	}
}

func TestEveryMetricIsDeclaredOnceWithUnitAndMeaning(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range telemetry.Metrics() {
		if seen[m.Name] || !regexp.MustCompile(`^[a-z][a-z_]+$`).MatchString(m.Name) || m.Meaning == "" {
			t.Errorf("metric %+v", m)
		}
		seen[m.Name] = true
		if unit, ok := telemetry.Unit(m.Name); !ok || unit != m.Unit || (unit == telemetry.UnitMilliseconds) != strings.HasSuffix(m.Name, "_ms") {
			t.Errorf("metric %s has unit %q", m.Name, unit)
		}
	}
	if _, ok := telemetry.Unit("made_up"); ok {
		t.Error("an undeclared metric has a unit")
	}
}

func TestEveryLogLineSaysWhoWroteIt(t *testing.T) {
	var out bytes.Buffer
	log := telemetry.ForRequest(telemetry.NewLogger(&out, "sweep"), "req-1", true)
	log.Debug("too quiet")
	log.Info("verdict", "group", "web")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("not one JSON object: %v\n%s", err, out.String())
	}
	if line["timestamp"] == "" || line["timestamp"] == nil {
		t.Error("no timestamp")
	}
	delete(line, "timestamp")
	want := map[string]any{
		"level": "INFO", "message": "verdict", "service": "holdfast", "function": "sweep", "version": telemetry.Version(),
		"request_id": "req-1", "cold_start": true, "group": "web",
	}
	if !reflect.DeepEqual(line, want) {
		t.Errorf("have %v\nwant %v", line, want)
	}
}
