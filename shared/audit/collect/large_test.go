package collect_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// many makes groups with two target groups and two members each.
func (l *lab) many(t *testing.T, groups int) {
	t.Helper()
	l.Do(func(c *sim.Cloud) {
		for i := range groups {
			var both []string
			for j := range 2 {
				name := fmt.Sprintf("tg-%03d-%d", i, j)
				_, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: name})
				must(t, err)
				both = append(both, name)
			}
			must(t, c.CreateGroup(sim.GroupSpec{
				Name: fmt.Sprintf("group-%03d", i), Desired: 2, TargetGroups: both, HealthCheckTypes: []string{"ELB"}, SteadyFor: time.Hour,
				Tags: map[string]string{"holdfast:guard": []string{"true", "false"}[i%2]},
			}))
		}
	})
	must(t, l.PutParameter("/holdfast/mode", "observe"))
}

// answered counts the calls that were not refused for their rate.
func answered(log []world.Entry) (all, good int) {
	for _, e := range log {
		all++
		if e.Code == "" {
			good++
		}
	}
	return all, good
}

func whole(t *testing.T, a audit.Account, groups int) {
	t.Helper()
	if len(a.Unread) != 0 || len(a.Groups) != groups || len(a.TargetGroups) != 2*groups {
		t.Fatalf("%d groups, %d target groups, unread %s", len(a.Groups), len(a.TargetGroups), names(a.Unread))
	}
	for _, g := range a.Groups {
		if g.RefreshMinHealthy == nil || len(g.Members) != 2 || len(g.Members[0].Targets) != 2 || (g.Policy != nil) != (g.Tags["holdfast:guard"] == "true") {
			t.Fatalf("group %s", text(t, g))
		}
	}
	for _, tg := range a.TargetGroups {
		if tg.DrainSeconds == nil || tg.States["healthy"] != 2 || len(tg.LoadBalancers) != 1 {
			t.Fatalf("target group %s", text(t, tg))
		}
	}
}

// callsMax is what a reading may cost: pages, then two calls for each group and target group, the heartbeats of each opted-in group, the
// tags of twenty target groups at once, the policies, and a few.
func callsMax(groups int) int {
	return 2*groups + 2*2*groups + groups/2 + groups/100 + 2*groups/400 + 2*groups/20 + 22
}

func TestFiveHundredGroupsAreReadWholeWhileThreeReadsOfTenAreThrottled(t *testing.T) {
	groups := 500
	if testing.Short() {
		groups = 60
	}
	l := newLab(t)
	l.many(t, groups)
	must(t, l.SetFaults(world.Fault{Operation: "*", Throttle: 0.3}))
	a := l.read(t, l.options())
	whole(t, a, groups)
	all, good := answered(l.Log())
	if good > callsMax(groups) {
		t.Errorf("%d calls, want at most %d: %v", good, callsMax(groups), l.Calls())
	}
	t.Logf("%d calls, %d of them throttled, rounds slept %v", all, all-good, l.slept)
}

// TestMeasureALargeAccount measures the same with the real waits between tries; it takes about half a minute.
func TestMeasureALargeAccount(t *testing.T) {
	if os.Getenv("HOLDFAST_MEASURE") == "" {
		t.Skip("HOLDFAST_MEASURE is not set")
	}
	const groups, most = 500, 2 * time.Minute
	l := newLab(t)
	l.many(t, groups)
	must(t, l.SetFaults(world.Fault{Operation: "*", Throttle: 0.3}))
	api, err := collect.FromSDK(l.sdk, collect.Sources{StateTable: world.StateTable, HeartbeatTable: world.HeartbeatTable, Now: l.Clock.Now})
	must(t, err)
	began := time.Now()
	a, err := collect.Read(t.Context(), api, collect.Options{Now: l.Clock.Now})
	must(t, err)
	took := time.Since(began)
	whole(t, a, groups)
	all, good := answered(l.Log())
	t.Logf("%s: %d calls, %d of them throttled; dump of %d bytes", took.Round(100*time.Millisecond), all, all-good, len(text(t, a)))
	if took > most {
		t.Errorf("took %s, want at most %s", took, most)
	}
}
