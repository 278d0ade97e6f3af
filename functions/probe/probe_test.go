package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// due is the time of the sample events.
func due() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// wires connects to nothing: every address answers with 204, but for those that are dead.
type wires struct {
	dead string

	mu    sync.Mutex
	asked []string
}

func (w *wires) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("10.99.0.1")}, nil
}

func (w *wires) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	w.mu.Lock()
	w.asked = append(w.asked, address)
	w.mu.Unlock()
	if strings.HasPrefix(address, w.dead) {
		return nil, errors.New("nobody listens")
	}
	near, far := net.Pipe()
	go func() {
		_, _ = far.Read(make([]byte, 4096))                         // a request, or the end
		_, _ = far.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n")) // a TCP check is gone by now
		_ = far.Close()                                             // a pipe closes always
	}()
	return near, nil
}

// fixture is the assembled handler against a simulated Region, over HTTP, at a time that the test sets.
type fixture struct {
	*handler
	region *world.Region
	sdk    aws.Config
	wires  *wires
	now    time.Time
	out    bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	region, err := world.NewRegion(sim.Config{Start: due(), Seed: 1})
	if err != nil {
		t.Fatalf("new region: %v", err)
	}
	server := httptest.NewServer(region)
	t.Cleanup(server.Close)
	f := &fixture{region: region, wires: &wires{dead: "none"}, now: due(), sdk: aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}}
	now := func() time.Time { return f.now }
	f.handler = assemble(world.StateTable, f.sdk, probe.Net{Resolver: f.wires, Dialer: f.wires, Now: now})
	f.log, f.metrics = telemetry.NewLogger(&f.out, function), telemetry.NewEmitter(&f.out, now)
	return f
}

// put writes the sources.
func (f *fixture) put(t *testing.T, raw string) {
	t.Helper()
	_, err := ssm.NewFromConfig(f.sdk).PutParameter(t.Context(), &ssm.PutParameterInput{
		Name: aws.String(probe.Parameter), Value: aws.String(raw), Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true),
	})
	if err != nil {
		t.Fatalf("put parameter: %v", err)
	}
}

func (f *fixture) handle(t *testing.T, raw string) summary {
	t.Helper()
	f.out.Reset()
	s, err := f.Handle(lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"}), []byte(raw))
	if err != nil {
		t.Fatalf("handle: %v", err)
	}
	return s
}

func (f *fixture) said(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(f.out.String(), text) {
			t.Errorf("%s is not in\n%s", text, f.out.String())
		}
	}
}

func TestTheAssembledFunctionProbesASampleAndADependency(t *testing.T) {
	f := newFixture(t)
	f.region.Do(func(c *sim.Cloud) {
		if err := c.CreateGroup(sim.GroupSpec{Name: "web", Desired: 4, Min: 2, Max: 8, Zones: []string{"us-east-1a"}, SteadyFor: time.Hour}); err != nil {
			t.Fatalf("create group: %v", err)
		}
	})
	f.put(t, `{"sources":[
		{"name":"web","type":"instances","group":"web","port":8080,"path":"/health/deep","sample":3},
		{"name":"auth","type":"http","url":"http://auth.internal/healthz","failures_in_row":2}]}`)
	s := f.handle(t, string(event(t, "scheduled-event-rule.json")))
	if s.Sources != 2 || s.Checked["web"].Outcome != "passed" || s.Checked["auth"].Outcome != "passed" || len(s.Notes) != 1 || len(f.wires.asked) != 4 {
		t.Fatalf("summary %+v, asked %v", s, f.wires.asked)
	}
	f.said(t, `"probe_run_completed":1`, `"probe_down":0`, `"dependency":"auth"`, `"probe_requests_per_minute":4`, `"load":"2 sources, at most 4 calls a run`,
		"auth: /healthz names a health endpoint of another service", `"cold_start":true`, `"request_id":"req-1"`)

	f.wires.dead = "10.99."
	for i, down := range []string{`"probe_down":0`, `"probe_down":1`} {
		f.now = f.now.Add(time.Minute)
		s = f.handle(t, `{}`)
		if a := s.Checked["auth"]; a.Outcome != "failed" || a.Cause != probe.CauseRefused || a.InRow != i+1 {
			t.Errorf("run %d: %+v", i, s)
		}
		f.said(t, down, `"cause":"refused"`, `"probe_failures":1`, `"message":"dependency failed"`, `"cold_start":false`)
	}
}

func TestEveryScheduleRunsAndALateTickIsDropped(t *testing.T) {
	for _, name := range []string{"scheduled-event-rule.json", "scheduled-event-scheduler-default-input.json", "scheduled-event-scheduler-custom-input.json"} {
		f := newFixture(t)
		f.now = due().Add(5 * time.Minute)
		f.handle(t, string(event(t, name)))
		f.said(t, `"probe_run_completed":1`)
		f.now = f.now.Add(time.Second)
		if s := f.handle(t, string(event(t, name))); s.Run != "req-1" || strings.Contains(f.out.String(), "probe_run_completed") {
			t.Errorf("%s: a late tick ran: %+v", name, s)
		}
		f.said(t, `"ticks_dropped":1`, `"message":"tick dropped"`)
	}
}

func TestWhatIsNoTickIsRefusedByName(t *testing.T) {
	for raw, says := range map[string]string{
		string(event(t, "alarm-state-change-single-metric.json")): `source "aws.cloudwatch" with detail-type "CloudWatch Alarm State Change" is no schedule`,
		`{"source":"aws.events","detail-type":"Scheduled Event"}`: "the schedule has no time",
		`{"source":1}`:               "cannot unmarshal",
		`{"sources":[{"name":"x"}]}`: `unknown field "sources"`,
		`{"kind":"tock"}`:            `kind "tock", want tick`,
		`{"scheduledTime":"noon"}`:   "noon",
		`[]`:                         "want a JSON object",
		`{} {}`:                      "want a JSON object",
	} {
		f := newFixture(t)
		if _, err := f.Handle(t.Context(), []byte(raw)); err == nil || !strings.HasPrefix(err.Error(), "decode event: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60s: %v, want %s", raw, err, says)
		}
		if len(f.wires.asked) != 0 || f.out.Len() != 0 {
			t.Errorf("%.60s: something was done", raw)
		}
	}
}

func TestRefusedSourcesFailARunOnlyIfNoneAreKnown(t *testing.T) {
	f := newFixture(t)
	f.put(t, `{"sources":[{"name":"db","type":"tcp"}]}`)
	_, err := f.Handle(t.Context(), nil)
	if want := "run probes: read /holdfast/probes: sources[0] db: address: is missing"; err == nil || err.Error() != want {
		t.Errorf("have %v, want %s", err, want)
	}
	f.said(t, `"probe_run_completed":0`, `"probe_sources_refused":1`, `"last_good_in_force":false`)
	f.put(t, `{"sources":[{"name":"db","type":"tcp","address":"db:1"}]}`)
	f.handle(t, "")
	f.put(t, `{"sources":`)
	f.now = f.now.Add(time.Minute)
	if s := f.handle(t, "null"); s.Checked["db"].Outcome != "passed" {
		t.Errorf("the last good source was not checked: %+v", s)
	}
	f.said(t, `"probe_run_completed":1`, `"probe_sources_refused":1`, `"last_good_in_force":true`)
}

func TestMetricsThatCannotBeWrittenFailNothing(t *testing.T) {
	f := newFixture(t)
	f.metrics = telemetry.NewEmitter(full{}, f.handler.now)
	f.handle(t, "")
	f.said(t, `"message":"metrics"`, "no room")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestTheEnvironmentNamesTheTable(t *testing.T) {
	t.Setenv(config.EnvStateTable, "")
	if _, err := newHandler(t.Context()); err == nil || err.Error() != config.EnvStateTable+": not set" {
		t.Errorf("have %v", err)
	}
	t.Setenv(config.EnvStateTable, "state")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	if h, err := newHandler(t.Context()); err != nil || h.prober == nil {
		t.Errorf("have %+v, %v", h, err)
	}
}

// TestTheRealNetworkRefusesItsOwnHost shows that what main assembles has the guard on addresses in place.
func TestTheRealNetworkRefusesItsOwnHost(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	defer func() { _ = listener.Close() }() // nobody is served
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	c, err := probe.Parse(fmt.Appendf(nil, `{"sources":[{"name":"self","type":"tcp","address":"localhost:%s"}]}`, port))
	if err != nil {
		t.Fatal(err)
	}
	r := network().Check(t.Context(), probe.Call{Source: c.Sources[0]})
	if r.Outcome != probe.Unknown || !strings.Contains(r.Detail, "address refused: ") {
		t.Errorf("have %+v", r)
	}
}

func event(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "events", name))
	if err != nil {
		t.Fatalf("read sample event: %v", err)
	}
	return raw
}
