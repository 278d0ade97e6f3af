package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// Beats of the diagnosis table, laid on member 0.
func beatOf(f *guardtest.Fleet, kind string) {
	b, now := &f.M(0).Beat, f.In.Now
	switch kind {
	case "ok":
	case "late":
		f.Silence(0)
		f.Remember(0).AdvancedAt = guard.At(now.Add(guardtest.Interval - 90*time.Second))
	case "stale":
		f.Silence(0)
		f.Remember(0).AdvancedAt = guard.At(now.Add(guardtest.Interval - 180*time.Second))
	case "row gone":
		*b = guard.Beat{}
	case "unreadable":
		b.Unreadable = true
	case "never, in time", "never, too late":
		*b = guard.Beat{}
		m := f.Remember(0)
		*m = guard.MemberState{ID: m.ID, Lifecycle: m.Lifecycle, Since: guard.At(now.Add(-10 * time.Minute))}
		if kind == "never, too late" {
			m.Since = guard.At(now.Add(-20 * time.Minute))
		}
	case "failing":
		b.Status, b.Failing = "failing", []string{"dep:db", "disk"}
	case "failing without a name":
		b.Status = "failing"
	case "failing dependency":
		b.Status, b.Failing = "failing", []string{"dep:db", "dep:cache"}
	case "draining":
		b.Status = "draining"
	}
}

// verdictOn says what member 0 counts as and why it was not marked.
func verdictOn(f *guardtest.Fleet) string {
	v := f.Sweep()
	class := "healthy"
	switch c := v.Members; {
	case c.Broken == 1:
		class = "broken"
	case c.Bad == 1:
		class = "bad"
	case c.Outside == 1:
		class = "outside"
	}
	if r := deferral(v, f.ID(0)).Reason; r != "" {
		return class + ", " + string(r)
	}
	return class
}

func TestDiagnosisTable(t *testing.T) {
	tests := []struct{ beat, healthy, unhealthy, silent string }{
		{"ok", "healthy", "bad, signals-disagree", "outside"},
		{"failing dependency", "healthy", "bad, signals-disagree", "outside"},
		{"late", "healthy", "bad, signals-disagree", "outside"},
		{"unreadable", "healthy", "bad, signals-disagree", "outside"},
		{"never, in time", "healthy", "bad, signals-disagree", "outside"},
		{"never, too late", "healthy", "broken, confirming", "outside"},
		{"stale", "healthy", "broken, confirming", "outside"},
		{"row gone", "healthy", "broken, confirming", "outside"},
		{"failing", "healthy, signals-disagree", "broken, confirming", "outside"},
		{"failing without a name", "healthy, signals-disagree", "broken, confirming", "outside"},
		{"draining", "outside", "outside", "outside"},
	}
	for _, test := range tests {
		for state, wanted := range map[string]string{"healthy": test.healthy, "unhealthy": test.unhealthy, "initial": test.silent} {
			t.Run("heartbeat "+test.beat+", target "+state, func(t *testing.T) {
				f := calm(guardtest.New(8))
				f.Sweep()
				f.Aim(0, state, "")
				beatOf(f, test.beat)
				want(t, "verdict", verdictOn(f), wanted)
			})
		}
	}
}

func TestNoticesOfTheDiagnosis(t *testing.T) {
	tests := []struct{ beat, state, told string }{
		{"failing", "healthy", "signals-disagree"},
		{"stale", "healthy", "heartbeat-path"},
		{"never, too late", "healthy", "heartbeat-path"},
		{"row gone", "healthy", "heartbeat-path"},
		{"stale", "initial", "heartbeat-path"},
		{"stale", "unhealthy", ""},
		{"late", "healthy", ""}, // one late beat is no trend
		{"failing dependency", "healthy", ""},
		{"ok", "unused", ""},
	}
	for _, test := range tests {
		t.Run("heartbeat "+test.beat+", target "+test.state, func(t *testing.T) {
			f := calm(guardtest.New(8))
			f.Sweep()
			f.Aim(0, test.state, "")
			beatOf(f, test.beat)
			want(t, "pages", pages(f.Sweep()), test.told)
		})
	}
}

func TestNotesOfTheDiagnosis(t *testing.T) {
	tests := []struct{ beat, state, note string }{
		{"late", "healthy", "heartbeat late: i-00000"},
		{"late", "initial", "heartbeat late: i-00000"},
		{"late", "unhealthy", ""},
		{"unreadable", "healthy", "heartbeat cannot be read: i-00000"},
		{"unreadable", "initial", "heartbeat cannot be read: i-00000"},
		{"never, in time", "healthy", "no heartbeat yet, and the time for the first is not over: i-00000"},
		{"never, in time", "draining", "no heartbeat yet, and the time for the first is not over: i-00000"},
		{"failing dependency", "healthy", "only dependency checks fail: i-00000"},
		{"failing", "initial", "heartbeat says failing, and no target says anything: i-00000"},
		{"failing", "healthy", ""},
		{"ok", "healthy", ""},
		{"ok", "initial", ""},
		{"draining", "healthy", ""},
	}
	for _, test := range tests {
		t.Run("heartbeat "+test.beat+", target "+test.state, func(t *testing.T) {
			f := calm(guardtest.New(8))
			f.Sweep()
			f.Aim(0, test.state, "")
			beatOf(f, test.beat)
			want(t, "notes", strings.Join(f.Sweep().Notes, " | "), test.note)
		})
	}
}

func TestASelfReportAlone(t *testing.T) {
	f := calm(guardtest.New(8))
	f.In.Policy.SelfReportAlone = true
	beatOf(f, "failing")
	want(t, "when the policy trusts it", verdictOn(f), "broken, confirming")
	f = calm(guardtest.New(8))
	f.In.Policy.SelfReportAlone = true
	beatOf(f, "failing dependency")
	want(t, "a dependency check", verdictOn(f), "healthy")
}

func TestTargetStates(t *testing.T) {
	tests := map[string]struct {
		targets []guard.Target
		class   string
	}{
		"no registration":                {nil, "outside"},
		"unhealthy":                      {[]guard.Target{{Group: "web", State: "unhealthy", Reason: "Target.FailedHealthChecks"}}, "bad, signals-disagree"},
		"the machine is stopped":         {[]guard.Target{{Group: "web", State: "unused", Reason: "Target.InvalidState"}}, "bad, signals-disagree"},
		"another unused":                 {[]guard.Target{{Group: "web", State: "unused", Reason: "Target.NotInUse"}}, "outside"},
		"draining":                       {[]guard.Target{{Group: "web", State: "draining"}}, "outside"},
		"failing and draining":           {[]guard.Target{{Group: "web", State: "unhealthy.draining"}}, "outside"},
		"unavailable":                    {[]guard.Target{{Group: "web", State: "unavailable"}}, "outside"},
		"the load balancer's own error":  {[]guard.Target{{Group: "web", State: "unhealthy", Reason: "Elb.InternalError"}}, "outside"},
		"shifted away from":              {[]guard.Target{{Group: "web", State: "unhealthy", Shifted: true}}, "outside"},
		"shifted here and failing there": {[]guard.Target{{Group: "web", State: "unhealthy", Shifted: true}, {Group: "admin", State: "unhealthy"}}, "bad, signals-disagree"},
		"the worst of two groups":        {[]guard.Target{{Group: "web", State: "healthy"}, {Group: "admin", State: "unhealthy"}}, "bad, signals-disagree"},
		"the worst of two ports":         {[]guard.Target{{Group: "web", Port: 80, State: "unhealthy"}, {Group: "web", Port: 81, State: "healthy"}}, "bad, signals-disagree"},
		"the one that says something":    {[]guard.Target{{Group: "web", State: "initial"}, {Group: "admin", State: "healthy"}}, "healthy"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(8))
			f.M(0).Targets = test.targets
			want(t, "verdict", verdictOn(f), test.class)
		})
	}
}

func TestAMemberCountsOnceInATargetGroup(t *testing.T) {
	f := guardtest.New(8)
	for i := range 8 {
		f.M(i).Targets = append(f.M(i).Targets, guard.Target{Group: "web", Port: 81, State: "healthy"})
	}
	f.Break(0)
	f.Aim(0, "unhealthy", "Target.Timeout") // both ports
	want(t, "one member on two ports", causes(f.Sweep()), "")
	f.Break(1)
	want(t, "two members on two ports", causes(f.Sweep()), "correlated=2/2 target-group:web=2/2")
}

func TestAMemberCountsOnceInATargetGroupThoughAnotherStandsBetweenItsPorts(t *testing.T) {
	f := guardtest.New(8)
	for i := range 8 {
		f.M(i).Targets = append(f.M(i).Targets, guard.Target{Group: "api", Port: 80, State: "healthy"}, guard.Target{Group: "web", Port: 81, State: "healthy"})
	}
	f.Break(0)
	want(t, "one member in two target groups", causes(f.Sweep()), "")
	f.Break(1)
	want(t, "two members", causes(f.Sweep()), "correlated=2/2 target-group:api=2/2 target-group:web=2/2")
}

func TestMembersOutside(t *testing.T) {
	for _, lifecycle := range []string{"Pending", "Pending:Wait", "Terminating", "Terminating:Wait", "Standby", "EnteringStandby", "Warmed:Stopped", "Warmed:Running", "Detached", "Detaching", "Terminating:Retained"} {
		f := guardtest.New(8)
		f.Break(0)
		f.M(0).Lifecycle = lifecycle
		want(t, lifecycle, verdictOn(f), "outside")
	}
}

func TestReEntryBeginsANewGrace(t *testing.T) {
	f := calm(guardtest.New(8))
	f.M(0).Lifecycle = "Standby"
	f.Sweeps(2)
	f.M(0).Lifecycle = "InService"
	f.Break(0)
	want(t, "back from Standby", verdictOn(f), "outside, grace")
	want(t, "four minutes later", fate(f.Sweeps(4), f.ID(0)), "grace=240/300")
	want(t, "when the grace is over", verdictOn(f), "broken, confirming")
}

func TestNotRegistered(t *testing.T) {
	tests := map[string]struct {
		lay  func(*guardtest.Fleet)
		told string
	}{
		"no registration at all":  {func(f *guardtest.Fleet) { f.M(0).Targets = nil }, "not-registered"},
		"AWS says not registered": {func(f *guardtest.Fleet) { f.Aim(0, "unused", "Target.NotRegistered") }, "not-registered"},
		"an idle target group": {func(f *guardtest.Fleet) {
			f.M(0).Targets = nil
			f.In.Group.TargetGroups[0].InUse = false
		}, ""},
		"taken out while it drains": {func(f *guardtest.Fleet) {
			f.M(0).Targets = nil
			f.M(0).Beat.Status = "draining"
		}, ""},
		"still registering": {func(f *guardtest.Fleet) { f.Aim(0, "initial", "Elb.RegistrationInProgress") }, ""},
		"in its first grace": {func(f *guardtest.Fleet) {
			f.M(0).Targets = nil
			f.Remember(0).Old, f.Remember(0).Since = false, guard.At(f.In.Now)
		}, ""},
	}
	for name, test := range tests {
		f := guardtest.New(8)
		test.lay(f)
		want(t, name, pages(f.Sweep()), test.told)
	}
	f := guardtest.New(8)
	f.M(0).Targets = nil
	f.Suspend(f.In.Now, "AddToLoadBalancer")
	want(t, "text", pageText(f.Sweep(), guard.PageNotRegistered), "in service and registered nowhere (AddToLoadBalancer is suspended): i-00000")
}

func TestAnIdleGroupIsEmptyAndNotFailing(t *testing.T) {
	f := guardtest.New(4)
	f.In.Group.TargetGroups[0].InUse = false
	for i := range 4 {
		f.Aim(i, "unused", "Target.NotInUse")
	}
	v := f.Sweep()
	want(t, "what is told", pages(v)+causes(v), "")
	if v.Members.Outside != 4 {
		t.Errorf("members %+v, want all outside", v.Members)
	}
}

func TestForeignTargetsAreNoted(t *testing.T) {
	f := guardtest.New(4)
	f.In.Group.ForeignTargets = []guard.ForeignTarget{{Group: "web", Target: "10.0.0.9", State: "unhealthy", Reason: "Target.Timeout"}}
	v := f.Sweep()
	if v.Members.Eligible != 4 || v.Members.Bad != 0 || len(v.Notes) != 1 || v.Notes[0] != "target 10.0.0.9 in web is no member: unhealthy Target.Timeout" {
		t.Errorf("members %+v, notes %q", v.Members, v.Notes)
	}
}

func TestLifeIsABeatThatAdvancesOnOurClock(t *testing.T) {
	tests := map[string]struct {
		turn  func(*guard.Beat)
		class string
	}{
		"the stamp advances":                 {func(b *guard.Beat) { b.At = b.At.Add(time.Second) }, "bad, signals-disagree"},
		"the number advances":                {func(b *guard.Beat) { b.Seq++ }, "bad, signals-disagree"},
		"another boot":                       {func(b *guard.Beat) { b.Boot, b.Seq = "boot-2", 1 }, "bad, signals-disagree"},
		"the number goes back":               {func(b *guard.Beat) { b.Seq-- }, "broken, confirming"},
		"the stamp goes back":                {func(b *guard.Beat) { b.At = b.At.Add(-time.Hour) }, "broken, confirming"},
		"an old clock, and the number grows": {func(b *guard.Beat) { b.At, b.Seq = b.At.Add(-time.Hour), b.Seq+1 }, "bad, signals-disagree"},
		"nothing advances":                   {func(*guard.Beat) {}, "broken, confirming"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(8))
			f.Sweep()
			f.Silence(0)
			f.Sweeps(2)
			f.Aim(0, "unhealthy", "Target.Timeout")
			test.turn(&f.M(0).Beat)
			want(t, "three minutes after the last advance", verdictOn(f), test.class)
		})
	}
}

func TestStampsInTheFuture(t *testing.T) {
	f := calm(guardtest.New(8))
	f.M(0).Beat.At = f.In.Now.Add(24 * time.Hour)
	m := f.Remember(0)
	*m = guard.MemberState{ID: m.ID, Lifecycle: m.Lifecycle, Since: m.Since, Old: true}
	f.Silence(0)
	want(t, "first seen", verdictOn(f), "healthy")
	f.Aim(0, "unhealthy", "Target.Timeout")
	want(t, "three minutes later it is stale all the same", func() string { f.Sweeps(2); return verdictOn(f) }(), "broken, confirming")
}

func TestOddClocks(t *testing.T) {
	f := guardtest.New(8)
	shift := func(members []int, by time.Duration) string {
		for i := range 8 {
			f.Mute[f.ID(i)] = false
		}
		f.In.Now = f.In.Now.Add(guardtest.Interval)
		for i := range 8 {
			f.M(i).Beat.Seq++
			f.M(i).Beat.At = f.In.Now
		}
		for _, i := range members {
			f.M(i).Beat.At = f.In.Now.Add(by)
		}
		f.In.State.Pages = nil
		return pages(f.Look())
	}
	want(t, "one clock behind", shift([]int{0}, -time.Hour), "clock-skew")
	want(t, "one clock ahead", shift([]int{0}, time.Hour), "clock-skew")
	want(t, "a little behind", shift([]int{0}, -59*time.Second), "")
	want(t, "several behind", shift([]int{0, 1, 2}, -time.Hour), "heartbeat-lag")
	if f.Verdict.Members.Healthy != 8 {
		t.Errorf("members %+v, want all healthy", f.Verdict.Members)
	}
}

func TestANewMemberInheritsNothingFromTheOneThatSortsAfterIt(t *testing.T) {
	f := guardtest.New(8)
	f.Replace(0)
	last := len(f.In.Group.Members) - 1
	f.M(last).ID = "i-00000a" // between i-00000, which has gone, and i-00001
	f.Break(last)
	want(t, "it has a grace of its own", fate(f.Sweep(), "i-00000a"), "grace=0/300")
	want(t, "and so a minute later", fate(f.Sweep(), "i-00000a"), "grace=60/300")
}

func TestANewMemberTakesTheMemoryOfNobodyThatSortsAfterIt(t *testing.T) {
	f := calm(guardtest.New(8))
	f.Break(5)
	want(t, "the first look", fate(f.Sweep(), f.ID(5)), "confirming=1/2")
	added := *f.M(1)
	added.ID = "i-00000a"
	f.In.Group.Members = append(f.In.Group.Members, added)
	want(t, "the look that sees the new member first", fate(f.Sweep(), "i-00005"), "mark")
}
