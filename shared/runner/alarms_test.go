package runner_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// threeGroups are web and api, which depend on the database, and batch, which depends on nothing.
func threeGroups() *bench {
	b := newBench()
	for _, name := range []string{"web", "api", "batch"} {
		b.Add(name, 4)
	}
	for _, name := range []string{"web", "api"} {
		b.Find(name).Policy = `{"dependencies":[{"alarm":"db","kind":"hard"},{"alarm":"` + name + `-cache","kind":"soft"}]}`
	}
	b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmOK, Since: runnertest.Start()}
	return b
}

// names of the groups that a request looked at, with "!" at those that failed.
func (b *bench) lookedAt(t *testing.T, req runner.Request, hook runnertest.Hook) []string {
	t.Helper()
	req.Run, req.Trigger = "run-of-alarm", runner.TriggerAlarm
	p := b.Process("alarm")
	p.Hook = hook
	sum, err := p.Run(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, g := range sum.Groups {
		if g.Failure != "" {
			g.Group += "!"
		}
		out = append(out, g.Group)
	}
	return out
}

func TestARequestThatNamesAlarmsLooksAtTheirDependentsOnly(t *testing.T) {
	other := 1 - runner.Shard(threeGroups().Find("web").ARN, 2)
	for name, c := range map[string]struct {
		req  runner.Request
		want []string
	}{
		"every group that depends on the alarm":     {runner.Request{Alarms: []string{"db"}}, []string{"api", "web"}},
		"a soft dependency is one too":              {runner.Request{Alarms: []string{"web-cache"}}, []string{"web"}},
		"each group once, however many alarms":      {runner.Request{Alarms: []string{"db", "web-cache", "api-cache"}}, []string{"api", "web"}},
		"nobody depends on it: nothing is looked":   {runner.Request{Alarms: []string{"billing"}}, []string{}},
		"a name that only begins alike is another":  {runner.Request{Alarms: []string{"db-2"}}, []string{}},
		"groups that are named come beside them":    {runner.Request{Alarms: []string{"web-cache"}, Groups: []string{"batch"}}, []string{"batch", "web"}},
		"a named group that depends is looked once": {runner.Request{Alarms: []string{"db"}, Groups: []string{"web"}}, []string{"api", "web"}},
		"a named group that is not guarded is told": {runner.Request{Alarms: []string{"db"}, Groups: []string{"gone"}}, []string{"api", "gone!", "web"}},
		"dependents of another shard are not ours":  {runner.Request{Alarms: []string{"web-cache"}, Shard: other, Shards: 2}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			b := threeGroups()
			if have := b.lookedAt(t, c.req, nil); !slices.Equal(have, c.want) {
				t.Errorf("looked at %q, want %q", have, c.want)
			}
			for _, rep := range b.Reports {
				if rep.Trigger != runner.TriggerAlarm {
					t.Errorf("the record of %s says trigger %q", rep.Group, rep.Trigger)
				}
			}
		})
	}
}

func TestAnInvalidPolicyKeepsTheDependenciesOfItsLastGoodContent(t *testing.T) {
	b := threeGroups()
	b.look(t, nil)
	b.Find("web").Policy = `{"dependencies":"db"}`
	b.Find("api").Policy = `{}`
	if have := b.lookedAt(t, runner.Request{Alarms: []string{"db"}}, nil); !slices.Equal(have, []string{"web"}) {
		t.Errorf("looked at %q, want web by its last good policy and api not, whose policy was changed", have)
	}
}

func TestAGroupWhoseDependenciesCannotBeToldIsLeftToTheSweep(t *testing.T) {
	b := threeGroups()
	unread := func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpPolicies {
			return runnertest.Effect{Before: errors.New("throttled")}
		}
		return runnertest.Effect{}
	}
	if have := b.lookedAt(t, runner.Request{Alarms: []string{"db"}}, unread); len(have) != 0 {
		t.Errorf("looked at %q although no policy could be read", have)
	}
}

func TestAGroupThatFailedBeforeItsPolicyWasKnownIsTold(t *testing.T) {
	b := threeGroups()
	broken := b.Find("batch").ARN
	hook := func(c runnertest.Call) runnertest.Effect {
		return runnertest.Effect{Panic: c.Op == runnertest.OpLoad && c.Group == broken}
	}
	if have := b.lookedAt(t, runner.Request{Alarms: []string{"db"}}, hook); !slices.Contains(have, "batch!") {
		t.Errorf("looked at %q, want batch to be told as failed", have)
	}
}

func TestALookForAnAlarmLeavesVanishedGroupsToTheSweep(t *testing.T) {
	b := threeGroups()
	b.look(t, nil)
	b.Find("batch").Unlisted = true
	have := b.lookedAt(t, runner.Request{Alarms: []string{"db"}}, nil)
	if !slices.Equal(have, []string{"api", "web"}) || len(b.Pages) != 0 {
		t.Errorf("looked at %q with notices %+v; a group that lost its tag is the sweep's business", have, b.Pages)
	}
}

func TestAnAlarmHoldsItsDependentsOnceHoweverOftenItIsTold(t *testing.T) {
	b := threeGroups()
	b.look(t, nil)
	b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmRed, Since: b.Now}
	for range 3 {
		b.lookedAt(t, runner.Request{Alarms: []string{"db"}}, nil)
	}
	suspends, holds := b.Calls(guard.ActSuspend), 0
	for _, p := range b.Pages {
		if p.Key == guard.PageHeld {
			holds++
		}
	}
	if len(suspends) != 2 || holds != 2 {
		t.Errorf("%d suspensions and %d notices of a hold, want one of each for web and api:\n%+v\n%+v", len(suspends), holds, suspends, b.Pages)
	}
	if len(b.Marks()) != 0 {
		t.Errorf("marks %+v", b.Marks())
	}
}
