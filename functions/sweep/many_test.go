package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	embedded "github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// estate is a Region with many groups and the handler over it.
type estate struct {
	*embedded.Region
	*handler
	out bytes.Buffer
}

// newEstate makes groups of members, each behind so many target groups, and lets a minute pass so that all of them beat.
func newEstate(tb testing.TB, groups, members, targetGroups int) *estate {
	tb.Helper()
	r, err := embedded.NewRegion(sim.Config{Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	r.Do(func(c *sim.Cloud) {
		for g := range groups {
			spec := sim.GroupSpec{
				Name: fmt.Sprintf("group-%03d", g), Tags: map[string]string{"holdfast:guard": "true"}, Desired: members, SteadyFor: 24 * time.Hour, Grace: 300 * time.Second,
			}
			for n := range targetGroups {
				name := fmt.Sprintf("%s-%d", spec.Name, n)
				if _, err = c.CreateTargetGroup(sim.TargetGroupSpec{Name: name}); err != nil {
					return
				}
				spec.TargetGroups = append(spec.TargetGroups, name)
			}
			if err = c.CreateGroup(spec); err != nil {
				return
			}
		}
	})
	for _, err := range []error{err, r.PutParameter(guard.ModeParameter, guard.ModeAct), r.Advance(context.Background(), time.Minute)} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	url, stop, err := stage.Listen(r)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	e := &estate{Region: r}
	e.handler = inWorld(r, url, &e.out)
	return e
}

// sweep runs one sweep with so much real time.
func (e *estate) sweep(tb testing.TB, limit time.Duration) runner.Summary {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	sum, err := e.Handle(ctx, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return sum
}

// minute lets a minute pass, in which nobody is invoked.
func (e *estate) minute(tb testing.TB) {
	tb.Helper()
	if err := e.Advance(context.Background(), time.Minute); err != nil {
		tb.Fatal(err)
	}
}

// reads are the read calls of AWS services other than the tables, by name, since a count before.
func (e *estate) reads(before map[string]int) map[string]int {
	out := map[string]int{}
	for name, n := range e.Calls() {
		service, operation, _ := strings.Cut(name, ":")
		if service != "dynamodb" && (strings.HasPrefix(operation, "Describe") || strings.HasPrefix(operation, "Get")) {
			out[name] = n - before[name]
		}
	}
	return out
}

func (e *estate) pages(tb testing.TB) []report.Detail {
	tb.Helper()
	e.Bus.Deliver(context.Background())
	var out []report.Detail
	for _, n := range e.Notices() {
		var d report.Detail
		if err := json.Unmarshal(n.Detail, &d); err != nil {
			tb.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// failed are the calls that were not answered with success, all of them unexpected where nothing was injected.
func failed(e *estate) []embedded.Entry {
	return slices.DeleteFunc(e.Log(), func(c embedded.Entry) bool { return c.Status == 200 })
}

func TestCallsGrowWithGroupsAndTargetGroupsNotWithMembers(t *testing.T) {
	const groups, targetGroups = 40, 2
	few, many := newEstate(t, groups, 6, targetGroups), newEstate(t, groups, 60, targetGroups)
	few.sweep(t, time.Minute)
	many.sweep(t, time.Minute)
	a, b := few.reads(nil), many.reads(nil)
	// 2,400 instances' tags fill three pages where 240 fill one; everything else is asked for once a group or target group.
	delete(a, "ec2:DescribeInstances")
	delete(b, "ec2:DescribeInstances")
	// Under load a connection may break, and the SDK then asks once more; members would show tenfold.
	for name := range b {
		if diff := a[name] - b[name]; diff < -2 || diff > 2 {
			t.Errorf("%s: %d calls with 6 members a group, %d with 60", name, a[name], b[name])
		}
	}
	if f := append(failed(few), failed(many)...); len(a) != len(b) || len(f) > 0 {
		t.Errorf("6 members a group: %v\n60 members a group: %v\nfailed calls: %v", a, b, f)
	}
	if n := b["elasticloadbalancing:DescribeTargetHealth"]; n < groups*targetGroups || n > groups*targetGroups+2 {
		t.Errorf("%d reads of target health, want one for each of %d target groups", n, groups*targetGroups)
	}
	if n, limit := total(many.reads(nil)), 5*groups; n > limit {
		t.Errorf("%d reads for %d groups: %v, want at most %d", n, groups, many.reads(nil), limit)
	}
	t.Logf("reads with 60 members a group: %v", many.reads(nil))
}

// TestThrottledReadsLeaveTheOtherGroupsGuarded throttles three of ten reads: the run ends in time, and what could not be read is blind,
// marked nowhere, and named.
func TestThrottledReadsLeaveTheOtherGroupsGuarded(t *testing.T) {
	const groups = 40
	e := newEstate(t, groups, 60, 2)
	e.sweep(t, time.Minute)
	e.minute(t)
	before := e.Calls()
	var faults []embedded.Fault
	for _, operation := range []string{"autoscaling:Describe*", "elasticloadbalancing:*", "ec2:*", "ssm:*", "cloudwatch:*"} {
		faults = append(faults, embedded.Fault{Operation: operation, Throttle: 0.3})
	}
	faults[0].Operation = "autoscaling:DescribeScalingActivities"
	faults = append(faults, embedded.Fault{Operation: "autoscaling:DescribeInstanceRefreshes", Throttle: 0.3})
	if err := e.SetFaults(faults...); err != nil {
		t.Fatal(err)
	}
	const limit = 20 * time.Second
	began := time.Now()
	sum := e.sweep(t, limit)
	took := time.Since(began)
	if took > limit {
		t.Errorf("the run took %s, its deadline was %s", took, limit)
	}
	if sum.Looked != groups {
		t.Errorf("%d groups looked at, want %d", sum.Looked, groups)
	}
	blind := 0
	for _, g := range sum.Groups {
		switch g.Mode {
		case guard.Blind:
			blind++
		case guard.Watching:
		default:
			t.Errorf("%s is %q: %s", g.Group, g.Mode, g.Failure)
		}
	}
	// Of four reads a group, three of ten fail: it takes ten for seven, and a few fail to the end.
	reads := e.reads(before)
	if n, most := total(reads), 2*4*groups; n > most || blind > groups/4 {
		t.Errorf("%d reads and %d blind, want at most %d and %d", n, blind, most, groups/4)
	}
	told := map[string]bool{}
	for _, p := range e.pages(t) {
		if p.Key == guard.PageBlind {
			told[p.Group] = true
		}
	}
	if len(told) != blind {
		t.Errorf("%d groups are blind and %d are paged", blind, len(told))
	}
	if n := e.Calls()["autoscaling:SetInstanceHealth"] + e.Calls()["autoscaling:SuspendProcesses"]; n != 0 {
		t.Errorf("%d acts on healthy groups", n)
	}
	t.Logf("%s for %d groups, %d blind, reads %v", took.Round(time.Millisecond), groups, blind, reads)
}

// TestAGroupThatCannotBeReadIsBlindAndNamedAlone lets every read of targets fail for good; only one group has targets.
func TestAGroupThatCannotBeReadIsBlindAndNamedAlone(t *testing.T) {
	e := newEstate(t, 5, 6, 0)
	e.Do(func(c *sim.Cloud) {
		if _, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: "front"}); err != nil {
			t.Fatal(err)
		}
		if err := c.CreateGroup(sim.GroupSpec{
			Name: "front", Tags: map[string]string{"holdfast:guard": "true"}, Desired: 6, SteadyFor: time.Hour, TargetGroups: []string{"front"},
		}); err != nil {
			t.Fatal(err)
		}
	})
	e.minute(t)
	e.sweep(t, time.Minute)
	e.minute(t)
	if err := e.SetFaults(embedded.Fault{Operation: "elasticloadbalancing:DescribeTargetHealth", FailFirst: -1}); err != nil {
		t.Fatal(err)
	}
	sum := e.sweep(t, time.Minute)
	for _, g := range sum.Groups {
		if want := g.Group == "front"; want != (g.Mode == guard.Blind) || want != strings.Contains(g.Failure, "describe target health of front") {
			t.Errorf("%s is %q: %s", g.Group, g.Mode, g.Failure)
		}
	}
	pages := e.pages(t)
	named := slices.ContainsFunc(pages, func(d report.Detail) bool {
		return d.Group == "front" && d.Key == guard.PageBlind && strings.Contains(d.Text, "describe target health of front")
	})
	if sum.Looked != 6 || !named {
		t.Errorf("%d groups looked at, pages %v; want 6 and the reason", sum.Looked, pages)
	}
}
