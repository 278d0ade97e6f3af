package probe_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// lab is everything that a run uses, in memory. Each part fails while its error is set.
type lab struct {
	raw                               string
	absent                            bool
	readErr, loadErr, saveErr, ec2Err error

	mem    probe.Remembered
	saves  int
	groups map[string][]string

	mu      sync.Mutex
	lookUp  int // how often members were read
	now     time.Time
	dead    map[string]bool // addresses that refuse
	dialled []string
	wait    time.Duration // how long a connection takes
	open    int
	openMax int
}

func newLab(raw string) *lab {
	return &lab{raw: raw, now: noon(), dead: map[string]bool{}, groups: map[string][]string{}}
}

func (l *lab) Read(context.Context) (string, bool, error) { return l.raw, !l.absent, l.readErr }
func (l *lab) Load(context.Context) (probe.Remembered, error) {
	return probe.Remembered{Version: l.mem.Version, Records: maps.Clone(l.mem.Records), LastGood: l.mem.LastGood}, l.loadErr
}

func (l *lab) Save(_ context.Context, r probe.Remembered) error {
	if l.saveErr != nil {
		return l.saveErr
	}
	if r.Version != l.mem.Version {
		return fault.Conflict
	}
	l.saves++
	r.Version++
	l.mem = r
	return nil
}

func (l *lab) InService(_ context.Context, group string) ([]string, error) {
	l.mu.Lock()
	l.lookUp++
	l.mu.Unlock()
	members, ok := l.groups[group]
	if !ok {
		return nil, fault.Gone
	}
	return members, nil
}

// Addresses makes 10.0.0.7 of i-7; i-0 has none.
func (l *lab) Addresses(_ context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range ids {
		if id != "i-0" {
			out[id] = "10.0.0." + strings.TrimPrefix(id, "i-")
		}
	}
	return out, l.ec2Err
}

func (l *lab) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	l.mu.Lock()
	l.dialled = append(l.dialled, host)
	l.open++
	l.openMax = max(l.openMax, l.open)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.open--
		l.mu.Unlock()
	}()
	if l.wait > 0 {
		select {
		case <-time.After(l.wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if l.dead[host] {
		return nil, errUnreachable
	}
	near, far := net.Pipe()
	go func() {
		buffer := make([]byte, 4096)
		_, _ = far.Read(buffer)                                                  // a request, or the end
		_, _ = far.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) // a TCP check is gone by now
		_ = far.Close()                                                          // a pipe closes always
	}()
	return near, nil
}

func (l *lab) clock() time.Time { return l.now }

func (l *lab) run(t *testing.T) probe.Report {
	t.Helper()
	r, err := l.prober(l.clock).Run(t.Context())
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return r
}

func (l *lab) prober(now func() time.Time) *probe.Prober {
	dns := names{"db": {"10.0.1.1"}, "auth": {"10.0.1.2"}}
	return probe.New(probe.Ports{Documents: l, Members: l, Memory: l, Net: probe.Net{Resolver: dns, Dialer: l, Now: now}},
		probe.Options{Now: now, Margin: 5 * time.Second})
}

const dbOnly = `{"sources":[{"name":"db","type":"tcp","address":"db:5432","failures_in_row":3}]}`

func TestFailuresInARowAreCountedAndForgottenAfterASuccess(t *testing.T) {
	l := newLab(dbOnly)
	for i, c := range []struct {
		dead  bool
		inRow int
		down  bool
	}{{false, 0, false}, {true, 1, false}, {true, 2, false}, {true, 3, true}, {true, 4, true}, {false, 0, false}, {true, 1, false}} {
		l.now, l.dead["10.0.1.1"] = noon().Add(time.Duration(i)*time.Minute), c.dead
		r := l.run(t)
		if len(r.Verdicts) != 1 {
			t.Fatalf("run %d: %+v", i, r)
		}
		v := r.Verdicts[0]
		if v.InRow != c.inRow || v.Down() != c.down || !v.Counted || (v.Outcome == probe.Failed) != c.dead {
			t.Errorf("run %d: %+v, want %d in a row, down %v", i, v, c.inRow, c.down)
		}
		var since time.Time
		if c.inRow > 0 {
			since = l.now.Add(-time.Duration(c.inRow-1) * time.Minute)
		}
		if !v.Since.Equal(since) {
			t.Errorf("run %d: since %s, want %s", i, v.Since, since)
		}
	}
}

func TestWhatIsUnknownNeitherAddsToARowNorEndsIt(t *testing.T) {
	l := newLab(`{"sources":[{"name":"web","type":"instances","group":"web","port":80,"path":"/deep","sample":2}]}`)
	l.groups["web"] = []string{"i-1", "i-2"}
	l.dead["10.0.0.1"], l.dead["10.0.0.2"] = true, true
	if v := l.run(t).Verdicts[0]; v.InRow != 1 || v.Cause != probe.CauseRefused {
		t.Fatalf("first %+v", v)
	}
	delete(l.groups, "web")
	l.now = l.now.Add(time.Minute)
	if v := l.run(t).Verdicts[0]; v.InRow != 1 || v.Outcome != probe.Unknown || v.Detail != "list members of web: gone" {
		t.Errorf("unread: %+v", v)
	}
	l.groups["web"], l.now = []string{"i-1", "i-2"}, l.now.Add(time.Minute)
	if v := l.run(t).Verdicts[0]; v.InRow != 2 || !v.Since.Equal(noon()) {
		t.Errorf("again %+v", v)
	}
}

func TestAChangedSourceIsCountedAnew(t *testing.T) {
	l := newLab(dbOnly)
	l.dead["10.0.1.1"], l.dead["10.0.1.2"] = true, true
	l.run(t)
	l.raw, l.now = strings.Replace(dbOnly, "db:5432", "auth:443", 1), l.now.Add(time.Second)
	if v := l.run(t).Verdicts; len(v) != 1 || v[0].InRow != 1 {
		t.Errorf("have %+v, want a check at once and a row of one", v)
	}
	l.raw, l.now = `{"sources":[]}`, l.now.Add(time.Minute)
	if r := l.run(t); len(r.Verdicts) != 0 || len(l.mem.Records) != 0 {
		t.Errorf("a source that is gone is remembered: %+v", l.mem)
	}
}

func TestASourceIsDueByItsOwnSchedule(t *testing.T) {
	l := newLab(`{"sources":[{"name":"db","type":"tcp","address":"db:1"},{"name":"auth","type":"tcp","address":"auth:1","every_seconds":180}]}`)
	for _, c := range []struct {
		at   time.Duration
		want string
	}{
		{0, "[db auth]"}, {time.Second, "[]"}, {29 * time.Second, "[]"}, {58 * time.Second, "[db]"}, {2 * time.Minute, "[db]"}, {149 * time.Second, "[]"},
		{175 * time.Second, "[db auth]"}, {4 * time.Minute, "[db]"}, {20 * time.Minute, "[db auth]"}, {-time.Hour, "[db auth]"},
	} {
		l.now = noon().Add(c.at)
		due := []string{}
		for _, v := range l.run(t).Verdicts {
			due = append(due, v.Source.Name)
		}
		if fmt.Sprint(due) != c.want {
			t.Errorf("at %s: %v are due, want %s", c.at, due, c.want)
		}
	}
}

// The stack's schedule ticks each minute, whatever interval the document names.
func TestTheRequestsMadeAreThoseOfTheLoad(t *testing.T) {
	for _, interval := range []int{60, 120, 300, 3600} {
		l := newLab(fmt.Sprintf(`{"interval_seconds":%d,"sources":[{"name":"db","type":"tcp","address":"db:5432"}]}`, interval))
		const minutes = 24 * 60
		calls, told := 0, 0.0
		for i := range minutes {
			late := time.Duration(i%3) * 7 * time.Second // no tick is exact
			l.now = noon().Add(time.Duration(i)*time.Minute + late)
			r := l.run(t)
			calls, told = calls+len(r.Verdicts), r.Load.PerMinute
		}
		if want := minutes * 60 / interval; calls != want || told*minutes != float64(want) {
			t.Errorf("each %d s: %d requests in a day, and the load is %v a minute; want %d", interval, calls, told, want)
		}
	}
}

func TestASampleTurnsThroughTheWholeGroup(t *testing.T) {
	l := newLab(`{"sources":[{"name":"web","type":"instances","group":"web","port":80,"path":"/deep","sample":3},
		{"name":"api","type":"instances","group":"web","port":81,"path":"/deep","sample":2}]}`)
	for i := range 7 {
		l.groups["web"] = append(l.groups["web"], fmt.Sprint("i-", 7-i))
	}
	asked := map[string]int{}
	for i := range 7 {
		l.now = noon().Add(time.Duration(i) * time.Minute)
		v := l.run(t).Verdicts[0]
		if len(v.Calls) != 3 || v.Outcome != probe.Passed {
			t.Fatalf("run %d: %+v", i, v)
		}
		for _, c := range v.Calls {
			asked[c.Member]++
		}
	}
	if len(asked) != 7 || slices.Max(slices.Collect(maps.Values(asked))) != 3 {
		t.Errorf("in 7 runs of 3: %v", asked)
	}
	if l.lookUp != 7 {
		t.Errorf("the group was read %d times in 7 runs of two sources", l.lookUp)
	}
}

func TestOneBrokenInstanceIsNoBrokenDependency(t *testing.T) {
	const all = `{"sources":[{"name":"web","type":"instances","group":"web","port":80,"path":"/deep","sample":%d}]}`
	cases := map[string]struct {
		sample  int
		members string
		dead    string
		outcome probe.Outcome
		detail  string
	}{
		"all pass":                           {3, "i-1 i-2 i-3", "", probe.Passed, "0 of 3 failed"},
		"one of three fails":                 {3, "i-1 i-2 i-3", "2", probe.Passed, "1 of 3 failed; i-2: refused connect"},
		"two of three fail":                  {3, "i-1 i-2 i-3", "2 3", probe.Failed, "2 of 3 failed; i-"},
		"one of two fails":                   {2, "i-1 i-2", "2", probe.Passed, "1 of 2 failed"},
		"both fail":                          {2, "i-1 i-2", "1 2", probe.Failed, "2 of 2 failed"},
		"two of four fail":                   {4, "i-1 i-2 i-3 i-4", "1 2", probe.Passed, "2 of 4 failed"},
		"a group of one proves nothing":      {3, "i-1", "1", probe.Unknown, "1 instances gave a result, want at least 2; i-1: refused"},
		"an empty group proves nothing":      {3, "", "", probe.Unknown, "0 instances gave a result, want at least 2"},
		"who has no address gives no result": {2, "i-0 i-1", "1", probe.Unknown, "i-0: it has no private address"},
		"a member listed twice is one":       {3, "i-1 i-1 i-1", "1", probe.Unknown, "1 instances gave"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(fmt.Sprintf(all, c.sample))
			l.groups["web"] = strings.Fields(c.members)
			for _, d := range strings.Fields(c.dead) {
				l.dead["10.0.0."+d] = true
			}
			v := l.run(t).Verdicts[0]
			if v.Outcome != c.outcome || !strings.Contains(v.Detail, c.detail) || (v.Cause == probe.CauseRefused) != (c.outcome == probe.Failed) {
				t.Errorf("have %q %q %q, want %q %q", v.Outcome, v.Cause, v.Detail, c.outcome, c.detail)
			}
		})
	}
}

func TestAddressesThatCannotBeReadMakeASampleUnknown(t *testing.T) {
	l := newLab(`{"sources":[{"name":"web","type":"instances","group":"web","port":80,"path":"/deep"},{"name":"db","type":"tcp","address":"db:1"}]}`)
	l.groups["web"], l.ec2Err = []string{"i-1", "i-2"}, fault.Throttled
	v := l.run(t).Verdicts
	if v[0].Outcome != probe.Unknown || v[0].Detail != "look up addresses: throttled" || len(v[0].Calls) != 0 || v[1].Outcome != probe.Passed {
		t.Errorf("have %+v", v)
	}
}

func TestRefusedSourcesLeaveTheLastGoodOnesInForce(t *testing.T) {
	l := newLab(dbOnly)
	l.run(t)
	good := l.mem.LastGood
	for name, spoil := range map[string]func(){
		"a wrong document":         func() { l.raw = `{"sources":[{}]}` },
		"an unreadable parameter":  func() { l.raw, l.readErr = "", fault.Refused },
		"an unreadable, then good": func() { l.readErr = errors.New("no answer") },
	} {
		l.raw, l.readErr = dbOnly, nil
		spoil()
		l.now = l.now.Add(time.Minute)
		r := l.run(t)
		if len(r.Verdicts) != 1 || r.Refused == nil || !strings.HasPrefix(r.Refused.Error(), "read /holdfast/probes: ") || l.mem.LastGood != good || good != dbOnly {
			t.Errorf("%s: %+v", name, r)
		}
	}
	l.readErr, l.absent, l.now = nil, true, l.now.Add(time.Minute)
	if r := l.run(t); r.Refused != nil || r.Sources != 0 || !r.Completed {
		t.Errorf("a parameter that was deleted: %+v", r)
	}
}

func TestWithoutAnySourcesKnownTheRunFails(t *testing.T) {
	l := newLab(`{}`)
	r, err := l.prober(l.clock).Run(t.Context())
	if err == nil || err.Error() != "read /holdfast/probes: sources: is missing" || r.Completed || l.saves != 0 {
		t.Errorf("have %+v, %v", r, err)
	}
	l.mem = probe.Remembered{Version: 4, LastGood: "{"}
	if _, err = l.prober(l.clock).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "read the last good sources: ") {
		t.Errorf("have %v", err)
	}
}

func TestWithoutMemoryEverythingIsCheckedAndNothingCounted(t *testing.T) {
	l := newLab(dbOnly)
	l.run(t)
	l.loadErr, l.dead["10.0.1.1"] = fault.Throttled, true
	before := l.mem
	for range 2 {
		r := l.run(t)
		if len(r.Verdicts) != 1 || r.Verdicts[0].Counted || r.Verdicts[0].Outcome != probe.Failed || !errors.Is(r.MemoryFailure, fault.Throttled) {
			t.Errorf("have %+v", r)
		}
	}
	if !reflect.DeepEqual(l.mem, before) {
		t.Error("a memory that could not be read was written")
	}
	l.loadErr, l.saveErr, l.now = nil, fault.Unknown, l.now.Add(time.Minute)
	if r := l.run(t); r.MemoryFailure == nil || r.Overtaken || r.Verdicts[0].Counted {
		t.Errorf("unwritten: %+v", r)
	}
	l.saveErr, l.now = fault.Conflict, l.now.Add(time.Minute)
	if r := l.run(t); r.MemoryFailure != nil || !r.Overtaken {
		t.Errorf("overtaken: %+v", r)
	}
}

func TestARowThatCannotBeKeptIsNotToldAsNotDown(t *testing.T) {
	l := newLab(dbOnly)
	l.run(t)
	told := func(r probe.Report) map[string]float64 {
		l.now = l.now.Add(time.Minute)
		for _, s := range r.Metrics(probe.Facts{Function: "probe"}) {
			if _, ok := s.Values[telemetry.ProbeFailed]; ok {
				return s.Values
			}
		}
		return nil
	}
	l.now, l.dead["10.0.1.1"] = l.now.Add(time.Minute), true
	told(l.run(t)) // one failed check is kept
	l.saveErr = fault.Throttled
	for range 4 {
		values := told(l.run(t))
		if _, down := values[telemetry.ProbeDown]; down || values[telemetry.ProbeFailed] != 1 {
			t.Errorf("a row that is not kept: %v, want probe_failed alone", values)
		}
		if _, row := values[telemetry.ProbeFailuresInRow]; row {
			t.Errorf("a row that is not kept: %v, want no count", values)
		}
	}
	l.saveErr = nil
	if values := told(l.run(t)); values[telemetry.ProbeDown] != 0 || values[telemetry.ProbeFailuresInRow] != 2 {
		t.Errorf("kept again: %v, want a row of 2", values)
	}
	l.saveErr = fault.Throttled
	for range 2 {
		if values := told(l.run(t)); values[telemetry.ProbeDown] != 1 || values[telemetry.ProbeFailuresInRow] != 3 {
			t.Errorf("down, and not kept: %v, want down all the same", values)
		}
	}
	delete(l.dead, "10.0.1.1")
	values := told(l.run(t))
	if down, ok := values[telemetry.ProbeDown]; !ok || down != 0 {
		t.Errorf("passed, and not kept: %v, want not down", values)
	}
}

func TestNothingNewIsNotWritten(t *testing.T) {
	l := newLab(`{"sources":[]}`)
	l.run(t)
	l.run(t)
	if l.saves != 1 {
		t.Errorf("%d writes, want one for the sources as such", l.saves)
	}
}

// slowSources are ten sources of 4 s and one of 2 s on three lanes.
func slowSources() string {
	text := `{"run_timeout_seconds":20,"concurrency":3,"sources":[`
	for i := range 10 {
		text += fmt.Sprintf(`{"name":"s%d","type":"tcp","address":"db:1","timeout_ms":4000},`, i)
	}
	return text + `{"name":"db","type":"tcp","address":"db:1"}]}`
}

func TestCallsStayWithinTheirLanesAndTheRunsTime(t *testing.T) {
	for name, c := range map[string]struct {
		wait, left, took time.Duration
		known            int
		cut              string
	}{
		"all are answered":                     {time.Second, time.Minute, 4 * time.Second, 11, ""},
		"all are slow":                         {time.Hour, time.Minute, 16 * time.Second, 11, ""},
		"the function ends early":              {3 * time.Second, 12 * time.Second, 7 * time.Second, 6, "run_timeout_seconds is 20s, and the function has 7s left"},
		"the function has ended for our needs": {time.Second, 4 * time.Second, 0, 0, "run_timeout_seconds is 20s, and the function has 0s left"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(slowSources())
				l.wait = c.wait
				ctx, cancel := context.WithTimeout(t.Context(), c.left)
				defer cancel()
				begin := time.Now()
				r, err := l.prober(time.Now).Run(ctx)
				if err != nil {
					t.Fatal(err)
				}
				known := 0
				for _, v := range r.Verdicts {
					for _, call := range v.Calls {
						if call.Outcome != probe.Unknown {
							known++
						} else if call.Detail != "the run ended first" {
							t.Errorf("unknown: %+v", call)
						}
					}
				}
				if took := time.Since(begin); took != c.took || known != c.known || r.Cut != c.cut || l.openMax > 3 {
					t.Errorf("took %s, %d known, %d at once, cut %q\nwant %s, %d, at most 3, %q", took, known, l.openMax, r.Cut, c.took, c.known, c.cut)
				}
			})
		})
	}
}
