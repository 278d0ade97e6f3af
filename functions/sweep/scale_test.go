package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

var update = flag.Bool("update", false, "write the page of figures anew")

// scalePage holds the figures that this file measures.
const scalePage = "../../docs/scale.md"

// estates are what is measured: groups, members of each. Each group has one target group.
func estates() [][2]int {
	return [][2]int{{1, 1}, {1, 10}, {1, 100}, {1, 1000}, {1, 10000}, {10, 10}, {100, 10}, {500, 10}}
}

// meter is a client that calls a Region without a network and counts what a sweep asks of it.
type meter struct {
	region http.Handler

	mu            sync.Mutex
	calls         int
	bytes         int
	reads, writes float64 // request units of the tables
}

// Do implements the SDK's client. It asks the tables for what they charged, and hides that question and its answer from the count.
func (m *meter) Do(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	size := len(body)
	_, operation, table := strings.Cut(req.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	if table {
		body = append(body[:len(body)-1:len(body)-1], `,"ReturnConsumedCapacity":"TOTAL"}`...)
	}
	inner := req.Clone(req.Context())
	inner.Body, inner.ContentLength, inner.RequestURI = io.NopCloser(bytes.NewReader(body)), int64(len(body)), req.URL.RequestURI()
	rec := httptest.NewRecorder()
	m.region.ServeHTTP(rec, inner)
	answer := rec.Result()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	m.bytes += size + rec.Body.Len()
	if table {
		m.charge(operation, rec.Body.Bytes())
	}
	return answer, nil
}

func (m *meter) charge(operation string, answer []byte) {
	var whole map[string]json.RawMessage
	if json.Unmarshal(answer, &whole) != nil {
		return
	}
	raw := whole["ConsumedCapacity"]
	m.bytes -= len(`,"ConsumedCapacity":`) + len(raw)
	type capacity struct{ CapacityUnits float64 }
	var many []capacity
	if json.Unmarshal(raw, &many) != nil {
		many = make([]capacity, 1)
		if json.Unmarshal(raw, &many[0]) != nil {
			return
		}
	}
	for _, c := range many {
		switch operation {
		case "GetItem", "BatchGetItem", "Query":
			m.reads += c.CapacityUnits
		default:
			m.writes += c.CapacityUnits
		}
	}
}

// load is what one quiet sweep of an estate costs.
type load struct {
	groups, members int
	calls, bytes    int
	reads, writes   float64
	logs, metrics   int
}

// measureLoad sweeps three times and counts the third: the first one warms up, the second writes what has changed by that.
func measureLoad(t *testing.T, groups, members int) load {
	t.Helper()
	e := newEstate(t, groups, members, 1)
	m := &meter{region: e.Region}
	sdk := sdkFor("http://" + "embedded.invalid")
	sdk.HTTPClient = m
	e.handler = inWorldBy(e.Region, sdk, &e.out)
	for range 2 {
		e.sweep(t, 5*time.Minute)
		e.minute(t)
	}
	*m = meter{region: e.Region}
	e.out.Reset()
	if sum := e.sweep(t, 5*time.Minute); sum.Failed > 0 || sum.Looked != groups {
		t.Fatalf("%d groups of %d: looked at %d, failed %d", groups, members, sum.Looked, sum.Failed)
	}
	if f := failed(e); len(f) > 0 {
		t.Fatalf("%d groups of %d: calls failed: %v", groups, members, f)
	}
	if m.reads == 0 || m.writes == 0 {
		t.Fatalf("%d groups of %d: %g read and %g write units: the meter did not see the tables", groups, members, m.reads, m.writes)
	}
	return load{
		groups: groups, members: groups * members, calls: m.calls, bytes: m.bytes, reads: m.reads, writes: m.writes,
		logs: len(steady(e.out.Bytes())), metrics: metricsOf(t, e.out.Bytes()),
	}
}

// steady is a log with times of one length in place of those that it has: the one thing in it that is the machine's.
func steady(log []byte) []byte {
	log = regexp.MustCompile(`("[a-z_]+_ms":)[0-9.]+`).ReplaceAll(log, []byte("${1}10000"))
	return regexp.MustCompile(`("timestamp":)"[^"]*"`).ReplaceAll(log, []byte(`$1"2006-01-02T15:04:05.123456789Z"`))
}

// metricsOf counts the different metrics, each with its dimensions, that a log asks CloudWatch to keep.
func metricsOf(t *testing.T, log []byte) int {
	t.Helper()
	seen := map[string]bool{}
	for line := range bytes.Lines(log) {
		var fields map[string]any
		var doc struct {
			AWS struct {
				CloudWatchMetrics []struct {
					Dimensions [][]string
					Metrics    []struct{ Name string }
				}
			} `json:"_aws"`
		}
		if json.Unmarshal(line, &fields) != nil || json.Unmarshal(line, &doc) != nil {
			t.Fatalf("a line of the log is no JSON: %s", line)
		}
		for _, d := range doc.AWS.CloudWatchMetrics {
			for _, set := range d.Dimensions {
				key := ""
				for _, name := range set {
					key += fmt.Sprintf("|%s=%v", name, fields[name])
				}
				for _, metric := range d.Metrics {
					seen[metric.Name+key] = true
				}
			}
		}
	}
	return len(seen)
}

// Prices in US dollars, us-east-1, without any free allowance. Sources: the pricing pages of AWS Lambda (arm64, first tier), Amazon CloudWatch
// (custom metrics, first tier; logs ingested).
const (
	lambdaGBSecond = 0.0000133334
	lambdaRequest  = 0.20 / 1e6
	logsGB         = 0.50
	metricMonth    = 0.30
)

// Assumptions of the Lambda column.
const (
	callTime    = 25 * time.Millisecond
	concurrency = 8
	memoryGB    = 0.25
)

// dollars are those of 30 days of quiet sweeps, one a minute: the tables, Lambda, logs and metrics.
func (l load) dollars() (tables, compute, logs, metrics float64) {
	sweeps := timing.Month.Minutes()
	p := timing.ListPrices()
	tables = sweeps * (l.reads*p.Reads + l.writes*p.Writes) / 1e6
	compute = sweeps * (l.seconds()*memoryGB*lambdaGBSecond + lambdaRequest)
	return tables, compute, sweeps * float64(l.logs) / 1e9 * logsGB, float64(l.metrics) * metricMonth
}

// seconds is how long Lambda would bill a sweep, if waiting for AWS is what takes the time.
func (l load) seconds() float64 {
	return math.Ceil(float64(l.calls)/concurrency) * callTime.Seconds()
}

// TestScale measures what a quiet sweep costs from 1 to 10,000 members and 500 groups, and keeps the page that says so.
func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the largest estates take seconds each")
	}
	var loads []load
	for _, e := range estates() {
		loads = append(loads, measureLoad(t, e[0], e[1]))
	}
	page := scaleText(loads)
	if *update {
		if err := os.WriteFile(scalePage, []byte(page), 0o644); err != nil { //nolint:gosec // a page for everybody
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(scalePage)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != page {
		t.Errorf("%s is not what is measured now; `make golden` writes it anew:\n%s", scalePage, page)
	}
	byMembers, byGroups := loads[:5], loads[5:]
	if x := exponent(byMembers, func(l load) float64 { return float64(l.calls) }); x > 0.5 {
		t.Errorf("calls grow with the power %.2f of the members of a group, want far below 1", x)
	}
	if x := exponent(byGroups, func(l load) float64 { return float64(l.calls) }); x > 1.05 {
		t.Errorf("calls grow with the power %.2f of the groups, want at most 1", x)
	}
}

// exponent is the power of the members with which a figure grows from the first of the loads to the last.
func exponent(loads []load, of func(load) float64) float64 {
	first, last := loads[0], loads[len(loads)-1]
	return math.Log(of(last)/of(first)) / math.Log(float64(last.members)/float64(first.members))
}

func scaleText(loads []load) string {
	var b strings.Builder
	b.WriteString(`<!-- Made from functions/sweep by ` + "`make golden`" + `: change it there. -->
# What a sweep costs

One quiet sweep (nothing is broken, nothing is held) of the real handler through the real SDK against the embedded AWS. Each group has one target group. Calls, bytes of
bodies, request units of the tables, bytes of log and the number of metrics are counted; all of them are the same in every run.

| groups | members | calls | KB | read units | write units | log KB | metrics |
|---|---|---|---|---|---|---|---|
`)
	for _, l := range loads {
		fmt.Fprintf(&b, "| %d | %d | %d | %.1f | %.1f | %.1f | %.1f | %d |\n", l.groups, l.members, l.calls, float64(l.bytes)/1e3, l.reads, l.writes, float64(l.logs)/1e3, l.metrics)
	}
	b.WriteString("\nHow a figure grows, as a power of the members:\n\n| from … to | calls | bytes | read units | write units | log |\n|---|---|---|---|---|---|\n")
	for _, part := range []struct {
		name  string
		loads []load
	}{{"one group, 1 to 10,000 members", loads[:5]}, {"10 to 500 groups of 10", loads[5:]}} {
		fmt.Fprintf(&b, "| %s", part.name)
		for _, of := range []func(load) float64{
			func(l load) float64 { return float64(l.calls) }, func(l load) float64 { return float64(l.bytes) },
			func(l load) float64 { return l.reads }, func(l load) float64 { return l.writes }, func(l load) float64 { return float64(l.logs) },
		} {
			fmt.Fprintf(&b, " | %.2f", exponent(part.loads, of))
		}
		b.WriteString(" |\n")
	}
	fmt.Fprintf(&b, `
## Dollars a month

For 30 days of one sweep a minute, list prices of us-east-1, no free allowance. Lambda is not measured but modelled: %s a call, %d calls at once, %.2f GB;
what the sweep computes itself is small beside that ("make bench" prints it). The heartbeats' writes are not in it: "holdfast timing --heartbeats N --every S" has them.

| groups | members | Lambda seconds a sweep | tables | Lambda | logs | metrics | together |
|---|---|---|---|---|---|---|---|
`, callTime, concurrency, memoryGB)
	for _, l := range loads {
		tables, compute, logs, metrics := l.dollars()
		fmt.Fprintf(&b, "| %d | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", l.groups, l.members, l.seconds(), tables, compute, logs, metrics, tables+compute+logs+metrics)
	}
	b.WriteString("\nWhen the seconds come near the sweep's interval, more shards share the groups out.\n")
	return b.String()
}
