package runner_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

func TestAR01TheHeldPageNamesTheCause(t *testing.T) {
	tests := map[string]struct {
		change func(b *bench, g *runnertest.Group)
		cause  string
		says   []string
		never  []string
	}{
		"the dependency in ALARM with since when": {func(b *bench, g *runnertest.Group) {
			b.Fail(g, 0, 1, 2, 3, 4, 5, 6, 7)
			b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmRed, Since: b.Now.Add(-90 * time.Second)}
		}, "dependency db", []string{"hard dependency db is in ALARM since 2026-03-02 12:06:30Z", "8 of 8 eligible members of the group are bad, the limit is 2", "every target of target group web-tg is unhealthy"}, nil},
		"the zone": {func(b *bench, g *runnertest.Group) { b.Fail(g, 0, 3, 6) },
			"correlated", []string{"the bad members share: ", "zone eu-west-1a (3 of 3 bad, 0 of 5 good)"}, []string{"zone eu-west-1b", "every target of target group"}},
		"the launch template version": {func(b *bench, g *runnertest.Group) {
			for _, i := range []int{1, 2, 3} {
				g.Members[i].LaunchTemplate = "2"
			}
			b.Fail(g, 1, 2, 3)
		}, "correlated", []string{"launch template version 2 (3 of 3 bad, 0 of 5 good)"}, []string{"launch template version 1"}},
		"the check that fails": {func(b *bench, g *runnertest.Group) {
			b.Fail(g, 0, 1, 2, 4)
			for _, i := range []int{0, 1, 2, 4} {
				g.Members[i].Beat.Status, g.Members[i].Beat.Failing = "failing", []string{"dep:cache"}
			}
		}, "correlated", []string{"failing check dep:cache (4 of 4 bad, 0 of 4 good)"}, nil},
		"A-R60: a target group that fails everywhere": {func(_ *bench, g *runnertest.Group) {
			g.TargetGroups = append(g.TargetGroups, guard.TargetGroup{Name: "admin", InUse: true})
			for i := range 6 {
				g.Members[i].Targets = append(g.Members[i].Targets, guard.Target{Group: "admin", Port: 81, State: "unhealthy", Reason: "Target.Timeout"})
			}
		}, "correlated", []string{"6 of 6 eligible members of target group admin are bad", "failing in target group admin (6 of 6 bad, 0 of 2 good)", "every target of target group admin is unhealthy"}, []string{"every target of target group web-tg"}},
		"A-R57: a refresh that may stall": {func(b *bench, g *runnertest.Group) { g.Refresh = "InProgress"; b.Fail(g, 0, 1, 2, 3) },
			"correlated", []string{"an instance refresh is InProgress and may stall while the hold lasts"}, nil},
		"no refresh, no word of it": {func(b *bench, g *runnertest.Group) { g.Refresh = "Successful"; b.Fail(g, 0, 1, 2, 3) },
			"correlated", []string{"suspended: AZRebalance, HealthCheck, ReplaceUnhealthy", "released in stages after 10m of quiet"}, []string{"refresh"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			g := b.Add("web", 8)
			g.Policy = `{"dependencies":[{"alarm":"db","kind":"hard","missing":"unknown"}]}`
			b.Alarms["db"] = guard.AlarmReading{State: guard.AlarmOK, Since: b.Now}
			b.ticks(t, 7)
			b.Step()
			test.change(b, g)
			b.look(t, nil)
			p := b.pages(guard.PageHeld)
			if len(p) != 1 || !p[0].Urgent {
				t.Fatalf("held pages %+v, want an urgent one", p)
			}
			if c := b.last(t, g).Verdict.Cause; c != test.cause {
				t.Errorf("cause %q, want %q", c, test.cause)
			}
			for _, s := range test.says {
				if !strings.Contains(p[0].Text, s) {
					t.Errorf("the page does not say %q:\n%s", s, p[0].Text)
				}
			}
			for _, s := range test.never {
				if strings.Contains(p[0].Text, s) {
					t.Errorf("the page says %q:\n%s", s, p[0].Text)
				}
			}
		})
	}
}

func TestAR10AConditionThatLastsThreeHoursIsToldOnceAndRemindedEachHalfHour(t *testing.T) {
	tests := map[string]struct {
		key   string
		begin func(b *bench, g *runnertest.Group)
	}{
		"a hold":                              {guard.PageHeld, func(b *bench, g *runnertest.Group) { b.Fail(g, 0, 1, 2, 3, 4, 5, 6, 7) }},
		"a foreign suspension":                {guard.PageForeignSuspension, func(b *bench, g *runnertest.Group) { b.Suspend(g, guard.ProcessLaunch) }},
		"a member that is registered nowhere": {guard.PageNotRegistered, func(_ *bench, g *runnertest.Group) { unregister(g, 3) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := quiet(t, 8)
			test.begin(b, g)
			b.tick(t)
			begin := b.Now
			b.ticks(t, 180)
			p := b.pages(test.key)
			var have, want []string
			for i, n := range p {
				have = append(have, fmt.Sprintf("%s reminder %v", n.At.Sub(begin), n.Reminder))
				if n.Since != p[0].Since {
					t.Errorf("notice %d says since %s, the first said %s", i, n.Since.Time(), p[0].Since.Time())
				}
			}
			for i := range 7 {
				want = append(want, fmt.Sprintf("%s reminder %v", time.Duration(i)*30*time.Minute, i > 0))
			}
			if !slices.Equal(have, want) {
				t.Errorf("have %v, want %v", have, want)
			}
		})
	}
}

func unregister(g *runnertest.Group, members ...int) {
	for _, i := range members {
		g.Members[i].Targets[0].State, g.Members[i].Targets[0].Reason = "unused", "Target.NotRegistered"
	}
}

func TestAR58MembersInServiceThatAreRegisteredNowhereAreListed(t *testing.T) {
	for _, suspended := range []bool{false, true} {
		b, g := quiet(t, 8)
		unregister(g, 2, 5)
		if suspended {
			b.Suspend(g, "AddToLoadBalancer")
		}
		b.tick(t)
		p := b.pages(guard.PageNotRegistered)
		if len(p) != 1 || p[0].Urgent || !strings.Contains(p[0].Text, strings.Join(ids(g, 2, 5), ", ")) || strings.Contains(p[0].Text, "AddToLoadBalancer is suspended") != suspended {
			t.Errorf("AddToLoadBalancer suspended %v: pages %+v", suspended, p)
		}
		if len(b.Done) != 0 {
			t.Errorf("made %+v", b.Done)
		}
	}
}

func TestAR54AForeignSuspensionIsToldWithItsProcessItsTimeAndItsAge(t *testing.T) {
	b, g := quiet(t, 8)
	b.Suspend(g, guard.ProcessReplaceUnhealthy)
	g.Suspended[guard.ProcessReplaceUnhealthy] = "User suspended at 2026-02-10T09:00:00Z"
	b.tick(t)
	p := b.pages(guard.PageForeignSuspension)
	if len(p) != 1 {
		t.Fatalf("pages %+v, want one", b.Pages)
	}
	for _, s := range []string{"ReplaceUnhealthy is suspended, not by Holdfast", "2026-02-10T09:00:00Z", "20 days ago", "never undone"} {
		if !strings.Contains(p[0].Text, s) {
			t.Errorf("the page does not say %q: %s", s, p[0].Text)
		}
	}
	b.ticks(t, 30)
	if _, there := g.Suspended[guard.ProcessReplaceUnhealthy]; !there {
		t.Error("it was undone")
	}
}

func TestAR66ARepeatedOrLateEventGivesNoSecondNotice(t *testing.T) {
	tests := map[string]func(b *bench, g *runnertest.Group){
		"a hold":                  func(b *bench, g *runnertest.Group) { b.Fail(g, 0, 1, 2, 3) },
		"a foreign suspension":    func(b *bench, g *runnertest.Group) { b.Suspend(g, guard.ProcessLaunch) },
		"a member without target": func(_ *bench, g *runnertest.Group) { unregister(g, 3) },
	}
	for name, begin := range tests {
		t.Run(name, func(t *testing.T) {
			b, g := quiet(t, 8)
			begin(b, g)
			b.tick(t)
			want := len(b.Pages)
			if want == 0 {
				t.Fatal("no notice at all")
			}
			calls := len(b.Done)
			for i, skew := range []time.Duration{0, time.Millisecond, time.Second, 20 * time.Second, 10 * time.Minute} {
				p := b.Process(fmt.Sprintf("again-%d", i))
				p.Skew = skew
				req := runner.Request{Run: "the same event", Trigger: runner.TriggerAlarm, Groups: []string{g.Name}}
				if _, err := p.Run(context.Background(), req); err != nil {
					t.Fatal(err)
				}
			}
			if len(b.Pages) != want || len(b.Done) != calls {
				t.Errorf("pages %+v, calls %+v; want nothing new", b.Pages[want:], b.Done[calls:])
			}
		})
	}
}

func TestAR68KeysHoldNoTimeIDOrCountAndEachRecordListsWhoIsNotActedOn(t *testing.T) {
	b := newBench()
	g := b.Add("web", 12)
	g.Policy = `{"dependencies":[{"alarm":"db","kind":"hard","missing":"unknown"}],"nonsense":1}`
	b.ticks(t, 7)
	g.Members[2].Protected = true
	b.Break(g, 2)
	b.Suspend(g, guard.ProcessLaunch)
	unregister(g, 9)
	b.ticks(t, 8)
	for range 60 { // the member is broken for an hour
		b.tick(t)
		r := b.last(t, g)
		d := r.Verdict.Deferred
		if len(d) != 1 || d[0].Member != g.Members[2].ID || d[0].Reason != guard.ReasonProtected || d[0].Text == "" || !d[0].Broken {
			t.Fatalf("at %s the record has %+v, want the protected member", b.Now, d)
		}
	}
	word := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	keys := map[string]bool{}
	for _, p := range b.Pages {
		if !word.MatchString(p.Key) || p.GroupARN != g.ARN || p.Group != g.Name {
			t.Errorf("key %q of %s", p.Key, p.GroupARN)
		}
		if strings.Contains(p.Subject, "run-") || strings.Contains(p.Subject, "2026") {
			t.Errorf("subject %q of %s", p.Subject, p.Key)
		}
		keys[p.Key] = true
	}
	for _, want := range []string{guard.PageConfig, guard.PageForeignSuspension, guard.PageNotRegistered, guard.PageDeferredTooLong} {
		if !keys[want] {
			t.Errorf("no page %s among %v", want, keys)
		}
	}
}

func TestADeferralListsItsNumbersWhileABudgetIsUsedUp(t *testing.T) {
	b, g := ripe(t, 12, 2, 7)
	b.look(t, nil)
	marked := b.Marks()[0].Member
	other := g.Members[2].ID
	if marked == other {
		other = g.Members[7].ID
	}
	for range 9 {
		d := b.last(t, g).Verdict.Deferred
		i := slices.IndexFunc(d, func(d guard.Deferral) bool { return d.Member == other })
		if i < 0 || d[i].Have != 1 || d[i].Limit != 1 || d[i].Reason != guard.ReasonInFlight && d[i].Reason != guard.ReasonBudget {
			t.Fatalf("at %s the record has %+v, want %s with 1 of 1", b.Now, d, other)
		}
		b.tick(t)
	}
}

// The notices of a run that dies before they are handed over are handed over by the next one.
func TestNoNoticeIsLostInACrashAndNoneIsRepeatedWithoutOne(t *testing.T) {
	b, g := failing(t, false)
	b.look(t, func(c runnertest.Call) runnertest.Effect {
		return runnertest.Effect{CrashBefore: c.Op == runnertest.OpPage}
	})
	if len(b.pages(guard.PageHeld)) != 0 {
		t.Fatal("handed over before the crash")
	}
	b.ticks(t, 5)
	if n := len(b.pages(guard.PageHeld)); n != 1 {
		t.Errorf("%d held notices, want one", n)
	}
	b.Heal(g, 0, 1, 2, 3, 4, 5)
	b.ticks(t, 20)
	if n := len(b.pages(guard.PageReleased)); n != 1 {
		t.Errorf("%d released notices, want one", n)
	}
}

func TestBlindIsUrgentAfterThreeSweeps(t *testing.T) {
	b, g := quiet(t, 8)
	var urgent []bool
	for range 6 {
		b.Step()
		b.look(t, failOn(g, fault.Throttled, runnertest.OpDetails))
		if p := b.pages(guard.PageBlind); len(p) > len(urgent) {
			urgent = append(urgent, p[len(p)-1].Urgent)
		}
	}
	if !slices.Equal(urgent, []bool{false, true}) {
		t.Errorf("notices urgent: %v, want a notice and then an urgent one", urgent)
	}
	b.ticks(t, 3)
	if s := b.state(t, g); s.BlindRun != 0 {
		t.Errorf("still counted as blind: %d", s.BlindRun)
	}
}
