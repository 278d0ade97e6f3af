package whatif_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/whatif"
)

func num(n int) *int { return &n }

// tier is a web tier of eight at the load balancer's default thresholds.
func tier(name string, types ...string) audit.Group {
	return audit.Group{
		Name: name, Min: num(4), Max: num(16), Desired: num(8), HealthCheckTypes: types, GraceSeconds: num(300), WarmupSeconds: num(audit.NotSet),
		Zones: []string{"us-east-1a", "us-east-1b"}, TargetGroups: []string{"tg"}, BootSeconds: num(120),
	}
}

func targetGroup() audit.TargetGroup {
	return audit.TargetGroup{
		ID: "tg", IntervalSeconds: num(30), TimeoutSeconds: num(5), HealthyCount: num(5), UnhealthyCount: num(2), DrainSeconds: num(300),
		FailOpenCount: num(1), FailOpenPercent: num(audit.NotSet),
	}
}

func ask(t *testing.T, a audit.Account) []audit.WhatIf {
	t.Helper()
	out, err := whatif.Of(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAGroupWithELBChecksLosesEverythingToABadMinuteAndWithHoldfastAtMostTheFirst(t *testing.T) {
	got := ask(t, audit.Account{Groups: []audit.Group{tier("web", "EC2", "ELB")}, TargetGroups: []audit.TargetGroup{targetGroup()}})
	if len(got) != len(whatif.Durations()) {
		t.Fatalf("%d answers, want one a duration", len(got))
	}
	for _, w := range got {
		t.Logf("%4d s: alone %+v, held %+v", w.Seconds, w.Alone, w.Held)
		if w.Why != "" || w.Members != 8 {
			t.Errorf("%d s: %+v, want eight simulated members", w.Seconds, w)
		}
		if w.Alone.Lost < 8 || w.Alone.CapacityMinutes == 0 {
			t.Errorf("%d s alone: %+v, want all healthy members lost", w.Seconds, w.Alone)
		}
		// Without an alarm Holdfast looks once a minute, and Auto Scaling may be a look ahead with the one member that it replaces at a time.
		if w.Held.Lost > 1 || w.Held.EmptyMinutes != 0 {
			t.Errorf("%d s with Holdfast: %+v, want at most one lost", w.Seconds, w.Held)
		}
	}
	if short, long := got[0].Alone, got[2].Alone; long.Lost < short.Lost {
		t.Errorf("20 min alone loses %d, 90 s %d: want no fewer than in the short time", long.Lost, short.Lost)
	}
}

func TestAGroupWhoseDependencyHasAnAlarmLosesNothingWithHoldfast(t *testing.T) {
	g := tier("web", "EC2", "ELB")
	g.Policy = &audit.Policy{Dependencies: []audit.Dependency{{Alarm: "db", Kind: "hard"}}}
	for _, w := range ask(t, audit.Account{Groups: []audit.Group{g}, TargetGroups: []audit.TargetGroup{targetGroup()}}) {
		if w.Held.Lost != 0 || w.Alone.Lost == 0 {
			t.Errorf("%d s: %+v, want none lost with Holdfast and some without", w.Seconds, w)
		}
		if said := strings.Join(w.Assumed, "; "); !strings.Contains(said, "its dependency alarm fires after one minute") {
			t.Errorf("assumed %q, want the alarm in it", said)
		}
	}
	g.Policy.Dependencies[0].Kind = "soft"
	w := ask(t, audit.Account{Groups: []audit.Group{g}, TargetGroups: []audit.TargetGroup{targetGroup()}})[0]
	if said := strings.Join(w.Assumed, "; "); !strings.Contains(said, "no dependency alarm") {
		t.Errorf("assumed %q, want a soft dependency to count as none", said)
	}
}

func TestAGroupWithEC2ChecksLosesNothingUnlessAnApplicationStatusCheckReachesIt(t *testing.T) {
	a := audit.Account{Groups: []audit.Group{tier("web", "EC2")}, TargetGroups: []audit.TargetGroup{targetGroup()}}
	for _, w := range ask(t, a) {
		if w.Alone.Lost != 0 {
			t.Errorf("%d s: %+v, want nothing lost with EC2 checks", w.Seconds, w.Alone)
		}
	}
	a.StatusChecks = []audit.StatusCheck{{ID: "asc-1", TagKey: "aws:autoscaling:groupName", TagValue: "web"}}
	long := ask(t, a)[2]
	if long.Alone.Lost == 0 {
		t.Errorf("%+v, want members lost to the application status check", long)
	}
	if said := strings.Join(long.Assumed, "; "); !strings.Contains(said, "asc-1") {
		t.Errorf("assumed %q, want the check named", said)
	}
	a.StatusChecks[0].Suppressed = true
	if w := ask(t, a)[2]; w.Alone.Lost != 0 {
		t.Errorf("%+v, want nothing lost to a suppressed check", w)
	}
}

func TestWhatCannotBeSimulatedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*audit.Group)
		want   string
	}{
		"a group that AWS manages":         {func(g *audit.Group) { g.Operator = "eks.amazonaws.com" }, "managed by eks.amazonaws.com"},
		"an empty group":                   {func(g *audit.Group) { g.Desired = num(0) }, "no member is desired"},
		"an unknown size":                  {func(g *audit.Group) { g.Desired = nil }, "the desired capacity is unknown"},
		"unknown health check types":       {func(g *audit.Group) { g.HealthCheckTypes = nil }, "the health check types are unknown"},
		"no target group":                  {func(g *audit.Group) { g.TargetGroups = []string{} }, "no target group: no probe can fail"},
		"target groups that are not known": {func(g *audit.Group) { g.TargetGroups = nil }, "the target groups are unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			g := tier("web", "EC2", "ELB")
			c.change(&g)
			for _, w := range ask(t, audit.Account{Groups: []audit.Group{g}, TargetGroups: []audit.TargetGroup{targetGroup()}}) {
				if w.Why != c.want || w.Alone != (audit.Loss{}) {
					t.Errorf("%+v, want %q and no figures", w, c.want)
				}
			}
		})
	}
}

func TestWhatIsNotKnownIsAssumedAndSaid(t *testing.T) {
	g := tier("web", "EC2", "ELB")
	g.GraceSeconds, g.BootSeconds = nil, nil
	w := ask(t, audit.Account{Groups: []audit.Group{g}, TargetGroups: []audit.TargetGroup{{ID: "tg"}}})[0]
	said := strings.Join(w.Assumed, "; ")
	for _, want := range []string{"grace unknown, taken as 0 s", "interval unknown, taken as 30 s", "boot never seen, taken as 1m0s", "no dependency alarm"} {
		if !strings.Contains(said, want) {
			t.Errorf("assumed %q, want %q in it", said, want)
		}
	}
}

func TestALargeGroupIsScaledAndSaysSo(t *testing.T) {
	g := tier("web", "EC2", "ELB")
	g.Desired, g.Max = num(300), num(600)
	w := ask(t, audit.Account{Groups: []audit.Group{g}, TargetGroups: []audit.TargetGroup{targetGroup()}})[2]
	if w.Members != 300 || w.Alone.Lost < 60 || !strings.Contains(strings.Join(w.Assumed, "; "), "simulated with 60 members, scaled to 300") {
		t.Errorf("%+v, want 300 members by scale", w)
	}
}

func TestTheSameAccountGivesTheSameBytesAndEqualGroupsTheSameFigures(t *testing.T) {
	a := audit.Account{TargetGroups: []audit.TargetGroup{targetGroup()}}
	for i := range 20 {
		a.Groups = append(a.Groups, tier(fmt.Sprintf("web-%02d", i), "EC2", "ELB"))
	}
	first, second := ask(t, a), ask(t, a)
	one, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(second)
	if err != nil {
		t.Fatal(err)
	}
	if string(one) != string(two) {
		t.Error("two answers for one account differ")
	}
	for i, w := range first {
		if w.Alone != first[i%len(whatif.Durations())].Alone {
			t.Errorf("%s: %+v, want the figures of the first group, which has the same settings", w.Group, w.Alone)
		}
	}
}

// Network Load Balancers had a fixed timeout of 10 s for TCP and intervals of 10 or 30 s, and other counts were taken once.
func TestAGroupWithOddNumbersIsSimulatedWithTheNearestAndHidesNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*audit.TargetGroup)
		want   string
	}{
		"a timeout of the interval":      {func(g *audit.TargetGroup) { g.IntervalSeconds, g.TimeoutSeconds = num(10), num(10) }, "timeout 10s is not below the interval 10s, simulated as 9s"},
		"a timeout above the interval":   {func(g *audit.TargetGroup) { g.IntervalSeconds, g.TimeoutSeconds = num(5), num(60) }, "timeout 1m0s is not below the interval 5s, simulated as 4s"},
		"an interval that cannot be":     {func(g *audit.TargetGroup) { g.IntervalSeconds, g.TimeoutSeconds = num(1), num(1) }, "interval 1s, simulated as 2s"},
		"one failure":                    {func(g *audit.TargetGroup) { g.UnhealthyCount = num(1) }, "unhealthy count 1, simulated as 2"},
		"twenty failures":                {func(g *audit.TargetGroup) { g.UnhealthyCount = num(20) }, "unhealthy count 20, simulated as 10"},
		"one success, and a drain of 0":  {func(g *audit.TargetGroup) { g.HealthyCount, g.DrainSeconds = num(1), num(0) }, "healthy count 1, simulated as 2"},
		"numbers that are all not known": {func(g *audit.TargetGroup) { *g = audit.TargetGroup{ID: g.ID} }, "interval unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			odd, well := tier("odd", "EC2", "ELB"), tier("well", "EC2", "ELB")
			odd.TargetGroups = []string{"odd"}
			target := targetGroup()
			target.ID = "odd"
			c.change(&target)
			got := ask(t, audit.Account{Groups: []audit.Group{odd, well}, TargetGroups: []audit.TargetGroup{targetGroup(), target}})
			if n := len(got); n != 2*len(whatif.Durations()) {
				t.Fatalf("%d answers, want three for each group", n)
			}
			for _, w := range got {
				said := strings.Join(w.Assumed, "; ")
				if w.Why != "" || w.Group == "odd" != strings.Contains(said, c.want) {
					t.Errorf("%s, %d s: why %q, assumed %q; want %q for the odd one alone", w.Group, w.Seconds, w.Why, said, c.want)
				}
			}
		})
	}
}
