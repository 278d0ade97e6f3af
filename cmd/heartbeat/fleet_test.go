package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// app is an application with a pool of workers behind an edge that answers its probe by itself.
type app struct {
	url  string
	busy atomic.Bool
}

func newApp(t *testing.T) *app {
	t.Helper()
	a := &app{}
	mux := http.NewServeMux()
	mux.HandleFunc("/edge", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/orders/1", func(_ http.ResponseWriter, r *http.Request) {
		if a.busy.Load() { // every worker waits for a third party
			<-r.Context().Done()
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

func (a *app) exhaust() { a.busy.Store(true) }

func (a *app) relieve() { a.busy.Store(false) }

func (a *app) edge(t *testing.T) int {
	t.Helper()
	res, err := http.Get(a.url + "/edge")
	must(t, err)
	_ = res.Body.Close() // it is empty
	return res.StatusCode
}

// fleet is a group of the embedded AWS whose members are looked after by agent processes, each beside an application of its own. The
// load balancer asks two paths: one that the edge answers by itself, and one that travels to the workers.
type fleet struct {
	*place
	ids  []string
	apps []*app
	seen map[string]int64
}

const membersOfFleet = 4

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{place: newPlace(t), seen: map[string]int64{}}
	f.region.Do(func(c *sim.Cloud) {
		for _, tg := range []sim.TargetGroupSpec{{Name: "edge", Path: sim.PathStatic}, {Name: "workers", Path: sim.PathLocal, Interval: 10 * time.Second}} {
			_, err := c.CreateTargetGroup(tg)
			must(t, err)
		}
		must(t, c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: membersOfFleet, Min: 2, Max: 8, Tags: map[string]string{"holdfast:guard": "true"}, HealthCheckTypes: []string{"EC2"},
			TargetGroups: []string{"edge", "workers"}, SteadyFor: time.Hour, NoAgent: true,
		}))
		g, _ := c.Group("web")
		for _, m := range g.Members {
			f.ids = append(f.ids, m.ID)
		}
	})
	must(t, f.region.PutParameter(guard.ModeParameter, guard.ModeAct))
	must(t, f.region.Declare("web", "{}"))
	must(t, stage.Built(world.SweepFunction, buildSweep(t))(t.Context(), f.region, f.url))
	must(t, f.region.Schedule())
	for _, id := range f.ids {
		one := newApp(t)
		f.apps = append(f.apps, one)
		m := *f.place
		m.imds = serveMetadata(t, &instanceMetadata{id: id, account: "111122223333", region: "us-east-1", lifecycle: "InService"})
		m.start(t, "checks:\n  - {name: app, type: http, url: \""+one.url+"/orders/1\", every: 1s, timeout: 300ms, failures: 2}\n")
	}
	return f
}

func buildSweep(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc,holdfast_world", "-trimpath", "-ldflags", "-s -w", "-o", out, "../../functions/sweep")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the sweep: %v\n%s", err, said)
	}
	return out
}

// rows tells number and status of each member's row.
func (f *fleet) rows(t *testing.T) (seq map[string]int64, status map[string]string) {
	t.Helper()
	seq, status = map[string]int64{}, map[string]string{}
	for _, item := range f.region.Tables.Items(world.HeartbeatTable) {
		pk, _ := item["pk"].(*types.AttributeValueMemberS)
		n, _ := item["seq"].(*types.AttributeValueMemberN)
		s, _ := item["status"].(*types.AttributeValueMemberS)
		id := pk.Value[strings.LastIndex(pk.Value, "/")+1:]
		var number int64
		_, err := fmt.Sscan(n.Value, &number)
		must(t, err)
		seq[id], status[id] = number, s.Value
	}
	return seq, status
}

// minutes lets time pass in the Region. Before each minute every agent must have beaten again, as it would have in a real one.
func (f *fleet) minutes(t *testing.T, n int) {
	t.Helper()
	for range n {
		until(t, "a beat of every agent", func() bool {
			seq, _ := f.rows(t)
			for _, id := range f.ids {
				if seq[id] <= f.seen[id] {
					return false
				}
			}
			f.seen = seq
			return true
		})
		must(t, f.region.Advance(t.Context(), time.Minute))
	}
}

func (f *fleet) waitFor(t *testing.T, status string, ids ...string) {
	t.Helper()
	until(t, status+" from "+strings.Join(ids, ", "), func() bool {
		_, got := f.rows(t)
		return !slices.ContainsFunc(ids, func(id string) bool { return got[id] != status })
	})
}

// members are the members of the group that are in service and were there at the beginning.
func (f *fleet) members() (ids []string) {
	f.region.Do(func(c *sim.Cloud) {
		g, _ := c.Group("web")
		for _, m := range g.Members {
			if m.Lifecycle == sim.InService && slices.Contains(f.ids, m.ID) {
				ids = append(ids, m.ID)
			}
		}
	})
	return ids
}

func (f *fleet) marks() int { return f.region.Calls()["autoscaling:SetInstanceHealth"] }

func (f *fleet) paged() (keys []string) {
	for _, n := range f.region.Notices() {
		keys = append(keys, string(n.Detail))
	}
	return keys
}

func (f *fleet) told(key string) bool {
	return slices.ContainsFunc(f.paged(), func(detail string) bool { return strings.Contains(detail, `"`+key+`"`) })
}

// TestAnExhaustedPoolIsFoundBehindAStaticPage is the incident "static-200" with real agents: the edge says 200 whatever its workers do.
func TestAnExhaustedPoolIsFoundBehindAStaticPage(t *testing.T) {
	t.Parallel()
	t.Run("one instance is replaced after the second witness", func(t *testing.T) {
		t.Parallel()
		f := newFleet(t)
		f.minutes(t, 3)
		f.apps[0].exhaust()
		f.waitFor(t, "failing", f.ids[0])
		f.minutes(t, 5)
		if f.marks() != 0 || f.apps[0].edge(t) != http.StatusOK || !f.told(guard.PageSignalsDisagree) {
			t.Fatalf("%d marks, edge %d, pages %v: want no mark while the load balancer is content, and a page that the signals disagree",
				f.marks(), f.apps[0].edge(t), f.paged())
		}
		f.region.Do(func(c *sim.Cloud) { must(t, c.Break(f.ids[0], sim.BadPool)) })
		f.minutes(t, 5)
		if f.marks() != 1 || slices.Contains(f.members(), f.ids[0]) || len(f.members()) != membersOfFleet-1 || f.told(guard.PageHeld) {
			t.Errorf("%d marks, members %v, want %s alone replaced; pages %v", f.marks(), f.members(), f.ids[0], f.paged())
		}
	})
	t.Run("the same on all instances is held", func(t *testing.T) {
		t.Parallel()
		f := newFleet(t)
		f.minutes(t, 3)
		for i, one := range f.apps {
			one.exhaust()
			f.region.Do(func(c *sim.Cloud) { must(t, c.Break(f.ids[i], sim.BadPool)) })
		}
		f.waitFor(t, "failing", f.ids...)
		f.minutes(t, 8)
		if f.marks() != 0 || len(f.members()) != membersOfFleet || !f.told(guard.PageHeld) || f.region.Calls()["autoscaling:SuspendProcesses"] != 1 {
			t.Errorf("%d marks, members %v, calls %v, pages %v: want all of them kept and the group held", f.marks(), f.members(), f.region.Calls(), f.paged())
		}
	})
}
