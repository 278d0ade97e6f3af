package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	embedded "github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// members are the ids of a group's members.
func (e *estate) members(t *testing.T, group string) []string {
	t.Helper()
	var out []string
	e.Do(func(c *sim.Cloud) {
		g, ok := c.Group(group)
		if !ok {
			t.Fatalf("no group %s", group)
		}
		for _, m := range g.Members {
			out = append(out, m.ID)
		}
	})
	return out
}

// breakAll breaks or mends members.
func (e *estate) breakAll(t *testing.T, ids []string, kind sim.Kind) {
	t.Helper()
	e.Do(func(c *sim.Cloud) {
		for _, id := range ids {
			change := c.Repair
			if kind != "" {
				change = func(id string) error { return c.Break(id, kind) }
			}
			if err := change(id); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// keyed are the notices of one group with one key, in their order.
func keyed(pages []report.Detail, group, key string) []report.Detail {
	return slices.DeleteFunc(slices.Clone(pages), func(d report.Detail) bool { return d.Group != group || d.Key != key })
}

// TestAHoldGoesOutWhileAWSIsThrottledHalfEmptyAndSlow breaks all members of one group of twelve. Three of ten reads of three services are throttled, pages
// are short and some are empty, and every answer takes its time: each run ends before its deadline, what cannot be read is blind and is named, the other
// groups are looked at, and the one that fails is held.
func TestAHoldGoesOutWhileAWSIsThrottledHalfEmptyAndSlow(t *testing.T) {
	const groups, sick, limit = 12, "group-007", 10 * time.Second
	e := newEstate(t, groups, 6, 1)
	e.sweep(t, time.Minute)
	e.minute(t)
	e.breakAll(t, e.members(t, sick), sim.Hang)
	if err := e.SetFaults(
		embedded.Fault{Operation: "elasticloadbalancing:DescribeTargetHealth", Throttle: 0.3, Slow: 30 * time.Millisecond},
		embedded.Fault{Operation: "autoscaling:DescribeAutoScalingGroups", PageMax: 5, EmptyPages: 3, Slow: 30 * time.Millisecond},
		embedded.Fault{Operation: "autoscaling:DescribeScalingActivities", Throttle: 0.3, PageMax: 1},
		embedded.Fault{Operation: "ssm:GetParametersByPath", Throttle: 0.3, EmptyPages: 3},
		embedded.Fault{Operation: "dynamodb:*", Slow: 5 * time.Millisecond},
	); err != nil {
		t.Fatal(err)
	}
	blind := map[string]bool{}
	for n := range 8 {
		e.minute(t)
		began := time.Now()
		sum := e.sweep(t, limit)
		if took := time.Since(began); took >= limit {
			t.Errorf("sweep %d took %s, its deadline was %s", n, took, limit)
		}
		if sum.Looked != groups {
			t.Errorf("sweep %d looked at %d groups, want %d", n, sum.Looked, groups)
		}
		for _, g := range sum.Groups {
			if g.Mode == guard.Blind {
				blind[g.Group] = true
				if g.Failure == "" {
					t.Errorf("sweep %d: %s is blind, and nothing says why", n, g.Group)
				}
			}
			if g.Mode == guard.Held && g.Group != sick {
				t.Errorf("sweep %d holds %s, which is well", n, g.Group)
			}
		}
	}
	if n := len(keyed(e.pages(t), sick, guard.PageHeld)); n != 1 {
		t.Errorf("%d notices of the hold, want one", n)
	}
	suspended := 0
	e.Do(func(c *sim.Cloud) {
		for _, name := range c.GroupNames() {
			if g, _ := c.Group(name); len(g.Suspended) > 0 {
				suspended++
				if name != sick {
					t.Errorf("processes of %s are suspended", name)
				}
			}
		}
	})
	if suspended != 1 || e.Calls()["autoscaling:SetInstanceHealth"] != 0 {
		t.Errorf("%d groups are suspended, want %s alone; %d marks, want none", suspended, sick, e.Calls()["autoscaling:SetInstanceHealth"])
	}
	t.Logf("%d groups were blind at some time: throttled and retried %d calls", len(blind), len(failed(e)))
}

// TestAGroupIsHeldThoughItsTableRefuses lets the ledger refuse every write: no record can be made, and the hold goes out all the same.
func TestAGroupIsHeldThoughItsTableRefuses(t *testing.T) {
	e := newEstate(t, 2, 6, 1)
	e.sweep(t, time.Minute)
	e.minute(t)
	e.breakAll(t, e.members(t, "group-001"), sim.Hang)
	if err := e.SetFaults(embedded.Fault{Operation: "dynamodb:TransactWriteItems", FailFirst: -1}, embedded.Fault{Operation: "dynamodb:PutItem", FailFirst: -1}, embedded.Fault{Operation: "dynamodb:UpdateItem", FailFirst: -1}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		e.minute(t)
		e.sweep(t, 20*time.Second)
	}
	if e.Calls()["autoscaling:SuspendProcesses"] == 0 || e.Calls()["autoscaling:SetInstanceHealth"] != 0 {
		t.Errorf("calls %v, want the hold and no mark", e.Calls())
	}
}

// TestWhatAPersonWritesByHandIsRefusedToo writes into SSM what tune refuses: the last good content stays in force, and one condition is told.
func TestWhatAPersonWritesByHandIsRefusedToo(t *testing.T) {
	const group = "group-000"
	for name, document := range map[string]string{
		"a letter for a digit": `{"marks_per_hour": "6O"}`, "less than nothing": `{"marks_per_hour": -1}`, "past its range": `{"quiet_seconds": 1e9}`, "no number": `{"quiet_seconds": NaN}`,
		"nothing but a blank, as SSM takes no empty value": ` `, "an unknown key": `{"quite_seconds": 600}`, "a key twice": `{"quiet_seconds": 60, "quiet_seconds": 90}`,
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "no number" {
				t.Skip("the others take the same way")
			}
			e := newEstate(t, 1, 6, 1)
			put := func(text string) {
				if err := e.PutParameter(guard.LayerGroups+group, text); err != nil {
					t.Fatal(err)
				}
			}
			put(`{"action":"alert-only"}`)
			e.sweep(t, time.Minute)
			put(document)
			e.breakAll(t, e.members(t, group)[:1], sim.Hang)
			const sweeps = 65
			for range sweeps {
				e.minute(t)
				e.sweep(t, time.Minute)
			}
			if n := e.Calls()["autoscaling:SetInstanceHealth"]; n != 0 {
				t.Errorf("%d marks, although the last good content says alert-only", n)
			}
			told := keyed(e.pages(t), group, guard.PageConfig)
			if len(told) != 3 || told[0].Reminder || !told[1].Reminder || !told[2].Reminder || told[2].Since != told[0].Since {
				t.Errorf("%d notices of %d minutes, want one and two reminders: %+v", len(told), sweeps, told)
			}
			if len(told) > 0 && (!strings.Contains(told[0].Text, guard.LayerGroups+group) || !strings.Contains(told[0].Text, "its last good content stays in force")) {
				t.Errorf("the notice says %q", told[0].Text)
			}

			put(`{"action":"replace"}`) // mended
			for range 10 {
				e.minute(t)
				e.sweep(t, time.Minute)
			}
			if n := e.Calls()["autoscaling:SetInstanceHealth"]; n != 1 {
				t.Errorf("%d marks after the document was mended, want one", n)
			}
		})
	}
}

// TestAHundredLooksAtOneConditionAreOneNoticeItsRemindersAndOneClear holds a group for a hundred minutes and more.
func TestAHundredLooksAtOneConditionAreOneNoticeItsRemindersAndOneClear(t *testing.T) {
	const group = "group-000"
	e := newEstate(t, 1, 6, 1)
	e.sweep(t, time.Minute)
	ids := e.members(t, group)
	e.breakAll(t, ids, sim.Hang)
	minutes := func(n int) {
		for range n {
			e.minute(t)
			e.sweep(t, time.Minute)
		}
	}
	minutes(100)
	held := keyed(e.pages(t), group, guard.PageHeld)
	var have []string
	for _, d := range held {
		have = append(have, fmt.Sprintf("%t after %s", d.Reminder, d.At.Sub(held[0].At)))
	}
	if want := []string{"false after 0s", "true after 30m0s", "true after 1h0m0s", "true after 1h30m0s"}; !slices.Equal(have, want) {
		t.Errorf("notices %v, want %v", have, want)
	}
	e.breakAll(t, ids, "")
	minutes(40)
	pages := e.pages(t)
	if n := len(keyed(pages, group, guard.PageReleased)); n != 1 {
		t.Errorf("%d notices of the release, want one", n)
	}
	if n := len(keyed(pages, group, guard.PageHeld)); n > len(held)+1 {
		t.Errorf("%d notices of the hold after its end, %d before", n, len(held))
	}
	if n := e.Calls()["autoscaling:SetInstanceHealth"]; n > len(ids) {
		t.Errorf("%d calls of SetInstanceHealth", n)
	}
}
