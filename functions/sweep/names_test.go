package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// TestAGroupOfAnyNameIsGuardedOverTheWire is about names that every format on the way has its own trouble with.
func TestAGroupOfAnyNameIsGuardedOverTheWire(t *testing.T) {
	names := []string{"team/web", `a*b'c"d&<e>`, "%2F+_5F", `\{}[]$|;#?=`}
	e := newEstate(t, 0, 0, 0)
	members := map[string][]string{}
	e.Do(func(c *sim.Cloud) {
		for n, name := range names {
			spec := sim.GroupSpec{Name: name, Tags: map[string]string{"holdfast:guard": "true"}, Desired: 6, SteadyFor: 24 * time.Hour}
			for i := range 50 {
				group := fmt.Sprintf("tg-%d-%d", n, i)
				if _, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: group}); err != nil {
					t.Fatal(err)
				}
				spec.TargetGroups = append(spec.TargetGroups, group)
			}
			if err := c.CreateGroup(spec); err != nil {
				t.Fatal(err)
			}
			g, _ := c.Group(name)
			for _, m := range g.Members {
				members[name] = append(members[name], m.ID)
			}
		}
	})
	put(t, e, guard.LayerGroups+guard.EscapeName(names[0]), `{"action":"hold-only"}`)
	e.minute(t)
	e.sweep(t, time.Minute)
	e.Do(func(c *sim.Cloud) {
		for _, name := range names {
			for _, id := range members[name][:3] {
				if err := c.Break(id, sim.Hang); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	for range 6 {
		e.minute(t)
		if sum := e.sweep(t, time.Minute); sum.Failed != 0 {
			t.Fatalf("%+v", sum)
		}
	}
	told := e.pages(t)
	e.Do(func(c *sim.Cloud) {
		for _, name := range names {
			if g, _ := c.Group(name); len(g.Suspended) != 3 || len(g.Members) != 6 {
				t.Errorf("%s: %d suspended, %d members; want a hold of six", name, len(g.Suspended), len(g.Members))
			}
			if !slices.ContainsFunc(told, func(d report.Detail) bool { return d.Group == name && d.Key == guard.PageHeld }) {
				t.Errorf("nobody was told that %s is held", name)
			}
		}
	})
	if !strings.Contains(e.out.String(), "hold-only") {
		t.Error("the policy of a name that must be escaped was not found")
	}
}
