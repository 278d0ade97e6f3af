package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// fleet is a cloud with one steady group named web behind a target group named web.
type fleet struct {
	*sim.Cloud
	t *testing.T
}

// options change the fleet before it is created.
type options struct {
	config sim.Config
	target sim.TargetGroupSpec
	group  sim.GroupSpec
}

func newFleet(t *testing.T, change ...func(*options)) fleet {
	t.Helper()
	o := options{
		config: sim.Config{Seed: 7},
		target: sim.TargetGroupSpec{
			Name: "web", Interval: 10 * time.Second, Timeout: 2 * time.Second, HealthyCount: 2, UnhealthyCount: 2,
			DeregistrationDelay: 30 * time.Second,
		},
		group: sim.GroupSpec{
			Name: "web", Desired: 4, Max: 40, Grace: 120 * time.Second, TargetGroups: []string{"web"},
			LaunchTime: 60 * time.Second, WarmUp: 30 * time.Second, SteadyFor: time.Hour,
		},
	}
	for _, f := range change {
		f(&o)
	}
	c := sim.NewCloud(o.config)
	if _, err := c.CreateTargetGroup(o.target); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateGroup(o.group); err != nil {
		t.Fatal(err)
	}
	return fleet{Cloud: c, t: t}
}

func elbChecks(o *options) { o.group.HealthCheckTypes = []string{"EC2", "ELB"} }

func size(n int) func(*options) { return func(o *options) { o.group.Desired = n } }

// pass lets time go by.
func (f fleet) pass(d time.Duration) { f.Advance(f.Now().Add(d)) }

func (f fleet) members() []sim.Member {
	f.t.Helper()
	g, ok := f.Group("web")
	if !ok {
		f.t.Fatal("group web is gone")
	}
	return g.Members
}

// id returns the ID of the nth member.
func (f fleet) id(n int) string { return f.members()[n].ID }

func (f fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f fleet) mark(ids ...string) {
	f.t.Helper()
	for _, id := range ids {
		f.must(f.SetInstanceHealth(id, sim.Unhealthy, true))
	}
}

// count is "InService Pending Terminating", as numbers.
func (f fleet) count() string {
	f.t.Helper()
	n := map[sim.Lifecycle]int{}
	for _, m := range f.members() {
		n[m.Lifecycle]++
	}
	return fmt.Sprintf("%d %d %d", n[sim.InService], n[sim.Pending], n[sim.Terminating])
}

func (f fleet) wantCount(want string) {
	f.t.Helper()
	if got := f.count(); got != want {
		f.t.Fatalf("at %s: InService, Pending, Terminating are %q, want %q\n%s", f.since(), got, want, f.story())
	}
}

func (f fleet) since() time.Duration { return f.Now().Sub(f.Config().Start) }

// story is the timeline as text.
func (f fleet) story() string { return story(f.Timeline(), f.Config().Start) }

func story(events []sim.Event, start time.Time) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s %s %s\n", e.At.Sub(start), e.Kind, e.Instance, e.Text)
	}
	return b.String()
}

// kinds counts the events of a kind.
func (f fleet) kinds(kind sim.EventKind) int {
	n := 0
	for _, e := range f.Timeline() {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (f fleet) health(id string) sim.Health {
	f.t.Helper()
	m, ok := f.Instance(id)
	if !ok {
		f.t.Fatalf("instance %s is gone", id)
	}
	return m.Health
}

// target is the state of the first registration of an instance, such as unhealthy[Target.Timeout], or empty.
func (f fleet) target(id string) string {
	f.t.Helper()
	targets, err := f.TargetHealth("web")
	f.must(err)
	for _, target := range targets {
		if target.ID == id {
			if target.Reason == "" {
				return string(target.State)
			}
			return string(target.State) + "[" + target.Reason + "]"
		}
	}
	return ""
}

func (f fleet) stats() sim.Stats {
	f.t.Helper()
	s, err := f.Stats("web")
	f.must(err)
	return s
}
