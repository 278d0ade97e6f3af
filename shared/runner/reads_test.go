package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// failOn fails the calls of some kinds for one group, named by its name or its ARN.
func failOn(g *runnertest.Group, err error, ops ...string) runnertest.Hook {
	return func(c runnertest.Call) runnertest.Effect {
		if (c.Group == g.Name || c.Group == g.ARN) && slices.Contains(ops, c.Op) {
			return runnertest.Effect{Before: err}
		}
		return runnertest.Effect{}
	}
}

// repairWellHold has one group with a ripe member, one that is well and one that fails at once; the next sweep marks in the first
// and holds the last.
func repairWellHold(t *testing.T) (b *bench, repair, well, hold *runnertest.Group) {
	t.Helper()
	b = newBench()
	repair, well, hold = b.Add("repair", 8), b.Add("well", 8), b.Add("hold", 8)
	b.ticks(t, 7)
	b.Break(repair, 3)
	b.before(t, guard.ActMark)
	b.Fail(hold, 0, 1, 2, 3)
	return b, repair, well, hold
}

func groupResult(t *testing.T, sum runner.Summary, name string) runner.GroupResult {
	t.Helper()
	for _, r := range sum.Groups {
		if r.Group == name {
			return r
		}
	}
	t.Fatalf("no result of %s in %+v", name, sum)
	return runner.GroupResult{}
}

func TestAR18AR20ReadsOfOneGroupThatFailBlindThatGroupOnly(t *testing.T) {
	tests := map[string]struct {
		op  string
		err error
	}{
		"target health is throttled":         {runnertest.OpDetails, fault.Throttled},
		"the retry quota is used up":         {runnertest.OpDetails, fmt.Errorf("describe target health: %w: retry quota exceeded", fault.Throttled)},
		"heartbeats come back partial":       {runnertest.OpBeats, fault.Partial},
		"the group's state cannot be loaded": {runnertest.OpLoad, fault.Throttled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, repair, well, hold := repairWellHold(t)
			sum := b.look(t, failOn(well, test.err, test.op))
			if sum.Looked != 3 || sum.Failed != 1 {
				t.Errorf("summary %+v, want three looks and one partial failure", sum)
			}
			if r := groupResult(t, sum, well.Name); r.Mode != guard.Blind || !strings.Contains(r.Failure, test.err.Error()) {
				t.Errorf("the group is listed as %+v, want blind, with the reason", r)
			}
			if len(b.Marks()) != 1 || b.Marks()[0].Group != repair.Name {
				t.Errorf("marks %+v, want the one of %s", b.Marks(), repair.Name)
			}
			if s := b.Calls(guard.ActSuspend); len(s) != 1 || s[0].Group != hold.Name {
				t.Errorf("suspended %+v, want %s", s, hold.Name)
			}
			if sum := b.tick(t); sum.Failed != 0 {
				t.Errorf("the next sweep still fails: %+v", sum)
			}
		})
	}
}

func TestAHoldGoesOutOnTheTargetsAloneWhenHeartbeatsCannotBeRead(t *testing.T) {
	b, _, _, hold := repairWellHold(t)
	b.look(t, failOn(hold, fault.Throttled, runnertest.OpBeats))
	if s := b.Calls(guard.ActSuspend); len(s) != 1 || s[0].Group != hold.Name {
		t.Errorf("suspended %+v, want %s", s, hold.Name)
	}
}

func TestAR48WhateverTripsOnTheSecondLookStopsTheMark(t *testing.T) {
	tests := map[string]struct {
		change func(b *bench, g *runnertest.Group)
		reason guard.Reason
		held   bool
	}{
		"the member recovered":             {func(b *bench, g *runnertest.Group) { b.Heal(g, 3) }, guard.ReasonRecovered, false},
		"only its heartbeat came back":     {func(_ *bench, g *runnertest.Group) { g.Members[3].Mute = false }, guard.ReasonSignalsDisagree, false},
		"its target says nothing any more": {func(_ *bench, g *runnertest.Group) { g.Members[3].Targets[0].State = "draining" }, guard.ReasonRecovered, false},
		"three more fail":                  {func(b *bench, g *runnertest.Group) { b.Fail(g, 0, 1, 2) }, guard.ReasonHeld, true},
		"a hard dependency turned red": {func(b *bench, _ *runnertest.Group) {
			b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmRed, Since: b.Now}
		}, guard.ReasonHeld, true},
		"a hard dependency cannot be read":    {func(b *bench, _ *runnertest.Group) { b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmUnread} }, guard.ReasonDependency, false},
		"a hard dependency is not there":      {func(b *bench, _ *runnertest.Group) { delete(b.Alarms, "db") }, guard.ReasonDependency, false},
		"most heartbeats stopped":             {func(b *bench, g *runnertest.Group) { stopBeats(b, g, 5) }, guard.ReasonBlind, false},
		"somebody suspended ReplaceUnhealthy": {func(b *bench, g *runnertest.Group) { b.Suspend(g, guard.ProcessReplaceUnhealthy) }, guard.ReasonCannotReplace, false},
		"somebody suspended Launch":           {func(b *bench, g *runnertest.Group) { b.Suspend(g, guard.ProcessLaunch) }, guard.ReasonCannotReplace, false},
		"an instance refresh began":           {func(_ *bench, g *runnertest.Group) { g.Refresh = "InProgress" }, guard.ReasonRefreshing, false},
		"the member was protected":            {func(_ *bench, g *runnertest.Group) { g.Members[3].Protected = true }, guard.ReasonProtected, false},
		"the member was opted out":            {func(_ *bench, g *runnertest.Group) { g.Members[3].OptedOut = true }, guard.ReasonOptedOut, false},
		"AWS marked the member itself":        {func(_ *bench, g *runnertest.Group) { g.Members[3].Unhealthy = true }, guard.ReasonWaiting, false},
		"AWS marked another member":           {func(_ *bench, g *runnertest.Group) { g.Members[0].Unhealthy = true }, guard.ReasonInFlight, false},
		"the member is on its way out":        {func(_ *bench, g *runnertest.Group) { g.Members[3].Lifecycle = "Terminating" }, guard.ReasonRecovered, false},
		"the member is gone":                  {func(_ *bench, g *runnertest.Group) { g.Members = slices.Delete(g.Members, 3, 4) }, guard.ReasonRecovered, false},
		"the group lost its opt-in tag":       {func(_ *bench, g *runnertest.Group) { g.OptedIn = false }, guard.ReasonRecovered, false},
		"the group is gone":                   {func(_ *bench, g *runnertest.Group) { g.Gone = true }, guard.ReasonBlind, false},
		"half the group is in standby":        {func(_ *bench, g *runnertest.Group) { standby(g, 4, 5, 6, 7) }, guard.ReasonMinHealthy, false},
		"another member is terminated for health": {func(b *bench, g *runnertest.Group) {
			g.Activities = append(g.Activities, guard.Activity{ID: "x", At: b.Now, Kind: "terminate", Status: "Successful", Member: "i-other", Cause: "taken out of service in response to an EC2 instance status check failure."})
		}, guard.ReasonBudget, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			g := b.Add("web", 8)
			g.Policy = `{"dependencies":[{"alarm":"db","kind":"hard","missing":"unknown"}]}`
			b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmOK, Since: b.Now}
			b.ticks(t, 7)
			b.Break(g, 3)
			b.before(t, guard.ActMark)
			id := g.Members[3].ID
			changed := false
			b.look(t, func(c runnertest.Call) runnertest.Effect {
				if c.Op == runnertest.OpGroup && !changed {
					changed = true
					test.change(b, g)
				}
				return runnertest.Effect{}
			})
			if !changed {
				t.Fatal("there was no second look")
			}
			if len(b.Marks()) != 0 {
				t.Fatal("marked all the same")
			}
			if have := b.reason(t, g, id); have != test.reason {
				t.Errorf("deferred for %q, want %q", have, test.reason)
			}
			if held := len(b.Calls(guard.ActSuspend)) == 1; held != test.held {
				t.Errorf("held in the same run: %v, want %v", held, test.held)
			}
			if have := b.region(t).Marks; len(have) != 0 {
				t.Errorf("the Region's budget was not given back: %+v", have)
			}
			for _, m := range b.state(t, g).Marks {
				if m.By == "guard" {
					t.Errorf("the reservation was not given back: %+v", m)
				}
			}
		})
	}
}

func stopBeats(b *bench, g *runnertest.Group, n int) {
	for _, m := range g.Members[:n+1] {
		m.Mute, m.Last = true, b.Now.Add(-5*time.Minute)
		m.Beat.Found = false
	}
}

func standby(g *runnertest.Group, members ...int) {
	for _, i := range members {
		g.Members[i].Lifecycle = "Standby"
	}
}

func TestAMarkThatOnlyTheSecondLookWantsWaitsForAReservation(t *testing.T) {
	b, g := ripe(t, 12, 2, 7)
	first := g.Members[2].ID
	b.look(t, func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpGroup {
			b.Heal(g, 2)
		}
		return runnertest.Effect{}
	})
	if len(b.Marks()) != 0 {
		t.Fatalf("marked %+v without a reservation", b.Marks())
	}
	if r := b.reason(t, g, first); r != guard.ReasonRecovered {
		t.Errorf("%s deferred for %q, want recovered", first, r)
	}
	if r := b.reason(t, g, g.Members[7].ID); r != guard.ReasonLostRace {
		t.Errorf("%s deferred for %q, want lost-race", g.Members[7].ID, r)
	}
	b.tick(t)
	if m := b.Marks(); len(m) != 1 || m[0].Member != g.Members[7].ID {
		t.Errorf("the next sweep marked %+v, want %s", m, g.Members[7].ID)
	}
}

func TestASecondLookThatFailsGivesEverythingBack(t *testing.T) {
	b, g := ripe(t, 8, 3)
	sum := b.look(t, failOn(g, fault.Throttled, runnertest.OpGroup))
	if len(b.Marks()) != 0 || len(b.region(t).Marks) != 0 || len(b.state(t, g).Marks) != 0 {
		t.Errorf("marks %+v, Region %+v, state %+v; want none", b.Marks(), b.region(t).Marks, b.state(t, g).Marks)
	}
	if sum.Failed != 1 || b.reason(t, g, g.Members[3].ID) != guard.ReasonBlind {
		t.Errorf("summary %+v, deferred for %q", sum, b.reason(t, g, g.Members[3].ID))
	}
	b.tick(t)
	if len(b.Marks()) != 1 {
		t.Error("the next sweep did not mark")
	}
}

func TestAResumeWhoseSecondLookFailsIsTakenBackAndRecorded(t *testing.T) {
	found := false
	for _, b := range releasing(t) {
		g := b.Groups[0]
		b.look(t, failOn(g, fault.Throttled, runnertest.OpGroup))
		r := b.last(t, g)
		for _, c := range r.Calls {
			if c.Kind != guard.ActResume || !slices.Contains(c.Processes, guard.ProcessReplaceUnhealthy) {
				continue
			}
			found = true
			if c.Outcome != "cancelled" || len(b.Calls(guard.ActResume)) != 1 || !strings.Contains(r.Failure, "second look") {
				t.Errorf("call %+v, resumes %+v, failure %q", c, b.Calls(guard.ActResume), r.Failure)
			}
			for _, p := range b.state(t, g).Hold.Ours {
				if p.Process == guard.ProcessReplaceUnhealthy && p.Resumed != 0 {
					t.Error("the state says that ReplaceUnhealthy was resumed")
				}
			}
			b.ticks(t, 3)
			settled(t, b, g)
		}
	}
	if !found {
		t.Error("no sweep of the release came to resume ReplaceUnhealthy")
	}
}

func TestAStaleAnswerNeverMarksAMemberThatIsWellNow(t *testing.T) {
	b, g := ripe(t, 8, 3)
	b.Keep()
	b.Heal(g, 3)
	b.look(t, func(c runnertest.Call) runnertest.Effect {
		first := c.Op == runnertest.OpGuarded || c.N < 8
		return runnertest.Effect{Stale: first}
	})
	if len(b.Marks()) != 0 {
		t.Error("marked on an old answer, although the second look saw it well")
	}
}

func TestAR61ForeignTargetsAreNotedAndCountNowhere(t *testing.T) {
	b, g := quiet(t, 8)
	b.tick(t)
	before := b.last(t, g).Verdict
	g.ForeignTargets = []guard.ForeignTarget{
		{Target: "10.0.0.9", Group: "web-tg", State: "unhealthy", Reason: "Target.Timeout"}, {Target: "10.0.0.10", Group: "web-tg", State: "unhealthy", Reason: "Target.Timeout"},
	}
	b.tick(t)
	after := b.last(t, g).Verdict
	if after.Members != before.Members || len(after.Triggers) != 0 || len(after.Actions) != 0 || len(after.Deferred) != 0 {
		t.Errorf("foreign targets changed the verdict: %+v", after)
	}
	notes := strings.Join(after.Notes, "\n")
	for _, target := range []string{"10.0.0.9", "10.0.0.10"} {
		if !strings.Contains(notes, "target "+target+" in web-tg is no member") {
			t.Errorf("%s is not noted: %q", target, notes)
		}
	}
}

func TestAR67AlarmsOfAllGroupsAreAskedForOnceAndAMissingOneIsNotOK(t *testing.T) {
	b := newBench()
	var groups []*runnertest.Group
	for g := range 3 {
		group := b.Add(fmt.Sprintf("g%d", g), 8)
		groups = append(groups, group)
		var deps []string
		for i := range 45 {
			name := fmt.Sprintf("alarm-%03d", g*40+i) // five of them are the next group's too
			b.Alarms[name] = guard.AlarmReading{State: guard.AlarmOK}
			deps = append(deps, fmt.Sprintf(`{"alarm":%q,"kind":"hard","missing":"unknown"}`, name))
		}
		group.Policy = `{"dependencies":[` + strings.Join(deps, ",") + `]}`
	}
	delete(b.Alarms, "alarm-007")
	b.ticks(t, 7)
	b.Break(groups[0], 3)
	b.Break(groups[1], 3)
	b.before(t, guard.ActMark)
	asked := 0
	b.look(t, func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpAlarms {
			asked++
		}
		return runnertest.Effect{}
	})
	// One call for all groups, and one for the second look of the group that marks.
	if asked != 2 {
		t.Errorf("alarms were asked for in %d calls of the port, want 2", asked)
	}
	if m := b.Marks(); len(m) != 1 || m[0].Group != groups[1].Name {
		t.Errorf("marks %+v, want the one of %s", m, groups[1].Name)
	}
	if r := b.reason(t, groups[0], groups[0].Members[3].ID); r != guard.ReasonDependency {
		t.Errorf("deferred for %q, want dependency", r)
	}
	if p := b.pages(guard.PageConfig); len(p) != 1 || p[0].Subject != "alarm-007" {
		t.Errorf("config pages %+v, want one about alarm-007", p)
	}
}
