package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// TestBadInputIsToldAndStopsNobodyElse is about input of every kind that a person or AWS may get wrong, from the event to the page.
func TestBadInputIsToldAndStopsNobodyElse(t *testing.T) {
	for _, tc := range []struct {
		name string
		// spoil makes something wrong after two good sweeps of three groups.
		spoil func(*testing.T, *estate)
		// group, page and text are what people are told.
		group, page, text string
	}{
		{
			"a policy that is not JSON",
			func(t *testing.T, e *estate) { put(t, e, "/holdfast/groups/group-001", `{"max_in_flight": 1`) },
			"group-001", guard.PageConfig, "is not JSON",
		},
		{
			"a policy with an unknown key",
			func(t *testing.T, e *estate) { put(t, e, "/holdfast/groups/group-001", `{"max_in_fligth": 1}`) },
			"group-001", guard.PageConfig, "max_in_fligth",
		},
		{
			"a switch with an unknown word",
			func(t *testing.T, e *estate) { put(t, e, guard.ModeParameter, "on") },
			"group-000", guard.PageConfig, `"on", want act, observe or off`,
		},
		{
			"an alarm that does not exist",
			func(t *testing.T, e *estate) {
				put(t, e, "/holdfast/declared/group-001", `{"dependencies":[{"alarm":"no-such-alarm","kind":"hard"}]}`)
			},
			"group-001", guard.PageConfig, "no-such-alarm",
		},
		{
			"a group that vanished",
			func(t *testing.T, e *estate) {
				e.Do(func(c *sim.Cloud) {
					if err := c.DeleteGroup("group-001"); err != nil {
						t.Fatal(err)
					}
				})
			},
			"group-001", guard.PageConfig, "is not any more",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEstate(t, 3, 4, 1)
			e.sweep(t, time.Minute)
			e.minute(t)
			e.sweep(t, time.Minute)
			if pages := e.pages(t); len(pages) > 0 {
				t.Fatalf("pages before anything was wrong: %v", pages)
			}
			tc.spoil(t, e)
			e.minute(t)
			sum := e.sweep(t, time.Minute)
			pages := e.pages(t)
			if !slices.ContainsFunc(pages, func(d report.Detail) bool {
				return d.Group == tc.group && d.Key == tc.page && strings.Contains(d.Text, tc.text)
			}) {
				t.Errorf("pages %+v, want %s of %s that says %q", pages, tc.page, tc.group, tc.text)
			}
			for _, other := range []string{"group-000", "group-002"} {
				if !slices.ContainsFunc(sum.Groups, func(g runner.GroupResult) bool {
					return g.Group == other && g.Mode == guard.Watching && g.Failure == ""
				}) {
					t.Errorf("%s was not looked at: %+v", other, sum)
				}
			}
		})
	}
}

func put(t *testing.T, e *estate, name, value string) {
	t.Helper()
	if err := e.PutParameter(name, value); err != nil {
		t.Fatal(err)
	}
}

func TestAnEventThatIsNoneReachesNoAWS(t *testing.T) {
	e := newEstate(t, 1, 2, 1)
	for _, raw := range []string{
		`{"source":"aws.s3","detail-type":"Object Created","time":"2026-11-30T12:00:00Z"}`, `{"groups":7}`, `[]`, `nonsense`,
		// What would look at other groups than was meant, or at none of any shard.
		`{"groups":null}`, `{"groups":["group-000"],"GROUPS":null}`, `{"groups":["group-000"],"groups":["group-001"]}`,
		`{"shards":4294967296}`, `{"shards":1001}`, `{"shards":-1}`, `{"shard":1,"shards":1}`,
	} {
		if _, err := e.Handle(context.Background(), []byte(raw)); err == nil || !strings.Contains(err.Error(), "decode event") {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if n := len(e.Log()); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	for _, raw := range []string{"", "null", "{}"} {
		if sum, err := e.Handle(context.Background(), []byte(raw)); err != nil || sum.Looked != 1 {
			t.Errorf("%q: %+v, %v; an event that says nothing asks for a sweep", raw, sum, err)
		}
	}
}
