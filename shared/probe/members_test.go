package probe_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-aws/holdfast/shared/probe"
)

// hangs is Auto Scaling that answers for some groups only; each other read is given up after ten seconds, as the function's client does.
type hangs struct {
	*lab
	answers string
}

func (h hangs) InService(ctx context.Context, group string) ([]string, error) {
	if group == h.answers {
		return h.lab.InService(ctx, group)
	}
	h.mu.Lock()
	h.lookUp++
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	<-ctx.Done()
	return nil, ctx.Err()
}

// manyGroups are twenty groups of which the first answers, and one source that needs no members.
func manyGroups() string {
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprintf(`{"name":"g%d","type":"instances","group":"g%d","port":80,"path":"/deep","timeout_ms":500}`, i, i))
	}
	return `{"sources":[` + strings.Join(append(all, `{"name":"db","type":"tcp","address":"db:5432"}`), ",") + `]}`
}

func TestGroupsThatCannotBeReadTakeNoTimeOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		function, took time.Duration
		reads          int
	}{
		"the run's time is whole": {135 * time.Second, 15 * time.Second, 9},
		"the function has less":   {24 * time.Second, 9500 * time.Millisecond, 5},
		"the function has little": {15 * time.Second, 5 * time.Second, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(manyGroups())
				l.groups["g0"] = []string{"i-1", "i-2"}
				ctx, cancel := context.WithTimeout(t.Context(), c.function)
				defer cancel()
				begin := time.Now()
				p := probe.New(probe.Ports{Documents: l, Members: hangs{l, "g0"}, Memory: l, Net: probe.Net{Resolver: names{"db": {"10.0.1.1"}}, Dialer: l, Now: time.Now}},
					probe.Options{Now: time.Now, Margin: 5 * time.Second})
				r, err := p.Run(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range r.Verdicts {
					switch v.Source.Name {
					case "db", "g0":
						if v.Outcome != probe.Passed {
							t.Errorf("%s, which is well and can be read, is %q: %s", v.Source.Name, v.Outcome, v.Detail)
						}
					default:
						if v.Outcome != probe.Unknown || !strings.HasPrefix(v.Detail, "list members of "+v.Source.Group+": ") || len(v.Calls) != 0 {
							t.Errorf("%s, which cannot be read: %+v", v.Source.Name, v)
						}
					}
				}
				if took := time.Since(begin); took != c.took || len(r.Verdicts) != 21 || l.saves != 1 || r.MemoryFailure != nil || ctx.Err() != nil {
					t.Errorf("took %s, want %s; %d verdicts, %d saves, %v, %v", took, c.took, len(r.Verdicts), l.saves, r.MemoryFailure, ctx.Err())
				}
				if l.lookUp != c.reads {
					t.Errorf("%d groups were read, want %d", l.lookUp, c.reads)
				}
			})
		})
	}
}

// dated is a dialer that notes when it was called first.
type dated struct {
	*lab
	once sync.Once
	at   time.Time
}

func (d *dated) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.once.Do(func() { d.at = time.Now() })
	return d.lab.DialContext(ctx, network, address)
}

func TestWhatNeedsNoMembersDoesNotWaitForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(manyGroups())
		d := &dated{lab: l}
		begin := time.Now()
		n := probe.Net{Resolver: names{"db": {"10.0.1.1"}}, Dialer: d, Now: time.Now}
		p := probe.New(probe.Ports{Documents: l, Members: hangs{l, "none"}, Memory: l, Net: n}, probe.Options{Now: time.Now})
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !d.at.Equal(begin) {
			t.Errorf("db was called after %s, want at once", d.at.Sub(begin))
		}
	})
}

// deaf answers for groups and never for addresses.
type deaf struct{ *lab }

func (deaf) Addresses(ctx context.Context, _ []string) (map[string]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAddressesThatAreNotAnsweredEndWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(`{"sources":[{"name":"web","type":"instances","group":"web","port":80,"path":"/deep"},{"name":"db","type":"tcp","address":"db:1"}]}`)
		l.groups["web"] = []string{"i-1", "i-2"}
		begin := time.Now()
		n := probe.Net{Resolver: names{"db": {"10.0.1.1"}}, Dialer: l, Now: time.Now}
		r, err := probe.New(probe.Ports{Documents: l, Members: deaf{l}, Memory: l, Net: n}, probe.Options{Now: time.Now}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 30*time.Second || r.Verdicts[0].Outcome != probe.Unknown || r.Verdicts[1].Outcome != probe.Passed || l.saves != 1 {
			t.Errorf("after %s, %d saves: %+v", took, l.saves, r.Verdicts)
		}
	})
}
