package guard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// With the built-in policy and all members in one zone the limits are, by the design:
// correlated and target group max(2, ceil(n/4)); zone max(2, ceil(n/2)); onset max(3, ceil(n/100)); rolling max(3, ceil(n/4)).
func TestSmallGroups(t *testing.T) {
	tests := []struct {
		n, bad   int
		triggers string // in the first look
		first    string // what becomes of the first bad member in the second look
	}{
		{1, 1, "", "last-instance=1/1"},
		{2, 1, "", "mark"},
		{2, 2, "correlated=2/2 zone:z=2/2 target-group:web=2/2", "held=2/2"},
		{3, 1, "", "mark"},
		{3, 2, "correlated=2/2 zone:z=2/2 target-group:web=2/2", "held=2/2"},
		{3, 3, "correlated=3/2 zone:z=3/2 target-group:web=3/2 onset=3/3 rolling=3/3", "held=3/2"},
		{4, 1, "", "mark"},
		{4, 2, "correlated=2/2 zone:z=2/2 target-group:web=2/2", "held=2/2"},
		{4, 4, "correlated=4/2 zone:z=4/2 target-group:web=4/2 onset=4/3 rolling=4/3", "held=4/2"},
		{5, 1, "", "mark"},
		{5, 2, "correlated=2/2 target-group:web=2/2", "held=2/2"},
		{5, 5, "correlated=5/2 zone:z=5/3 target-group:web=5/2 onset=5/3 rolling=5/3", "held=5/2"},
		{6, 1, "", "mark"},
		{6, 2, "correlated=2/2 target-group:web=2/2", "held=2/2"},
		{6, 6, "correlated=6/2 zone:z=6/3 target-group:web=6/2 onset=6/3 rolling=6/3", "held=6/2"},
		{7, 1, "", "mark"},
		{7, 2, "correlated=2/2 target-group:web=2/2", "held=2/2"},
		{7, 7, "correlated=7/2 zone:z=7/4 target-group:web=7/2 onset=7/3 rolling=7/3", "held=7/2"},
		{8, 1, "", "mark"},
		{8, 2, "correlated=2/2 target-group:web=2/2", "held=2/2"},
		{8, 8, "correlated=8/2 zone:z=8/4 target-group:web=8/2 onset=8/3 rolling=8/3", "held=8/2"},
		{9, 1, "", "mark"},
		{9, 2, "", "mark"},
		{9, 9, "correlated=9/3 zone:z=9/5 target-group:web=9/3 onset=9/3 rolling=9/3", "held=9/3"},
		{10, 1, "", "mark"},
		{10, 2, "", "mark"},
		{10, 10, "correlated=10/3 zone:z=10/5 target-group:web=10/3 onset=10/3 rolling=10/3", "held=10/3"},
		{11, 1, "", "mark"},
		{11, 2, "", "mark"},
		{11, 3, "correlated=3/3 target-group:web=3/3 onset=3/3 rolling=3/3", "held=3/3"},
		{11, 11, "correlated=11/3 zone:z=11/6 target-group:web=11/3 onset=11/3 rolling=11/3", "held=11/3"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d of %d bad", test.bad, test.n), func(t *testing.T) {
			f := guardtest.New(test.n)
			for i := range test.n {
				f.M(i).Zone = "z"
			}
			f.Break(upTo(test.bad)...)
			first := f.Sweep()
			want(t, "triggers", causes(first), test.triggers)
			second := f.Sweep()
			want(t, "the first bad member", fate(second, f.ID(0)), test.first)
			if held := second.Mode == guard.Held; held != (test.triggers != "") {
				t.Errorf("held: %v with triggers %q", held, test.triggers)
			}
			if test.bad == 2 && test.triggers == "" {
				want(t, "the second bad member", fate(second, f.ID(1)), "in-flight=1/1")
			}
		})
	}
}

func TestCorrelatedShareOfTheGroup(t *testing.T) {
	tests := []struct {
		n, percent, least, bad int
		triggers               string
	}{
		{100, 25, 2, 24, ""},
		{100, 25, 2, 25, "correlated=25/25"},
		{100, 25, 2, 26, "correlated=26/25"},
		{101, 25, 2, 25, ""}, // 25.25, rounded up
		{101, 25, 2, 26, "correlated=26/26"},
		{7, 50, 2, 3, ""},
		{7, 50, 2, 4, "correlated=4/4"},
		{40, 1, 2, 1, ""},
		{40, 1, 2, 2, "correlated=2/2"},
		{20, 25, 10, 9, ""},
		{20, 25, 10, 10, "correlated=10/10"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d bad of %d at %d percent and at least %d", test.bad, test.n, test.percent, test.least), func(t *testing.T) {
			f := calm(guardtest.New(test.n))
			p := &f.In.Policy
			p.CorrelatedPercent, p.CorrelatedMin = test.percent, test.least
			for i := range test.n {
				f.M(i).Zone = f.ID(i) // one each: no zone can have two
				f.M(i).Targets[0].Group = f.ID(i)
			}
			f.Break(upTo(test.bad)...)
			want(t, "triggers", causes(f.Sweep()), test.triggers)
		})
	}
}

func TestCorrelatedShareOfAZone(t *testing.T) {
	tests := map[string]struct {
		inZone, percent, bad int
		triggers             string
	}{
		"one of two in a zone is one member":          {2, 50, 1, ""},
		"two of two in a zone hold":                   {2, 50, 2, "zone:dark=2/2"},
		"two of four in a zone hold":                  {4, 50, 2, "zone:dark=2/2"},
		"two of five are below half":                  {5, 50, 2, ""},
		"three of five are half, rounded up":          {5, 50, 3, "zone:dark=3/3"},
		"nine of ten are below all":                   {10, 100, 9, ""},
		"ten of ten are all":                          {10, 100, 10, "zone:dark=10/10"},
		"a small share still needs the least":         {10, 1, 1, ""},
		"a small share holds from the least number":   {10, 1, 2, "zone:dark=2/2"},
		"more than the limit holds and says how many": {4, 50, 4, "zone:dark=4/2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(60)
			p := &f.In.Policy
			p.CorrelatedPercent, p.ZonePercent, p.OnsetCount, p.RollingPercent = 50, test.percent, 100, 100
			for i := range 60 {
				f.M(i).Zone = "light"
				if i < test.inZone {
					f.M(i).Zone = "dark"
				}
			}
			f.Break(upTo(test.bad)...)
			v := f.Sweep()
			want(t, "triggers", causes(v), test.triggers)
		})
	}
}

func TestCorrelatedShareOfATargetGroup(t *testing.T) {
	tests := map[string]struct {
		registered, silent, bad int
		triggers                string
	}{
		"one of four is one member":                    {4, 0, 1, ""},
		"two of eight are a quarter":                   {8, 0, 2, "target-group:admin=2/2"},
		"two of nine are below a quarter":              {9, 0, 2, ""},
		"silent registrations are not counted":         {9, 1, 2, "target-group:admin=2/2"},
		"three of nine are a quarter, rounded up":      {9, 0, 3, "target-group:admin=3/3"},
		"six of six hold though the other one is good": {6, 0, 6, "target-group:admin=6/2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(60)
			f.In.Policy.OnsetCount, f.In.Policy.RollingPercent = 100, 100
			for i := range test.registered {
				m := f.M(i)
				target := guard.Target{Group: "admin", Port: 8080, State: "healthy"}
				if i < test.bad {
					target.State = "unhealthy"
				} else if i < test.bad+test.silent {
					target.State = "draining"
				}
				m.Targets = append(m.Targets, target)
			}
			want(t, "triggers", causes(f.Sweep()), test.triggers)
		})
	}
}

func TestOnsetClusterOfTheGroup(t *testing.T) {
	tests := []struct {
		n, count, bad int
		triggers      string
	}{
		{100, 3, 2, ""},
		{100, 3, 3, "onset=3/3"},
		{300, 3, 3, "onset=3/3"}, // 1 % of 300 is 3
		{301, 3, 3, ""},          // 3.01, rounded up
		{301, 3, 4, "onset=4/4"},
		{1000, 3, 9, ""},
		{1000, 3, 10, "onset=10/10"},
		{1000, 20, 19, ""},
		{1000, 20, 20, "onset=20/20"},
		{100, 2, 2, "onset=2/2"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d of %d with a count of %d", test.bad, test.n, test.count), func(t *testing.T) {
			f := calm(guardtest.New(test.n))
			f.In.Policy.OnsetCount = test.count
			f.In.Policy.CorrelatedPercent = 50
			f.Break(upTo(test.bad)...)
			want(t, "triggers", causes(f.Sweep()), test.triggers)
		})
	}
}

func TestOnsetClusterOfTheRegion(t *testing.T) {
	tests := map[string]struct {
		own, others, eligible int
		triggers              string
	}{
		"two others and one here are three":             {1, 2, 10, "region-onset=3/3"},
		"one other and one here are two":                {1, 1, 10, ""},
		"others alone do not hold a group without one":  {0, 5, 10, ""},
		"one percent of 300 in the Region is three":     {1, 2, 290, "region-onset=3/3"},
		"one percent of 301 in the Region is four":      {1, 2, 291, ""},
		"four reach one percent of 301, rounded up":     {1, 3, 291, "region-onset=4/4"},
		"own ones alone are no matter of other groups'": {2, 0, 10, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(10)
			f.In.Policy.CorrelatedMin = 10
			f.In.Region.Eligible = map[string]int{"other": test.eligible, f.In.Group.ARN: 500} // what an earlier look said of this group is no part
			for i := range test.others {
				f.In.Region.Onsets = append(f.In.Region.Onsets, guard.RegionOnset{Group: fmt.Sprintf("other-%d", i), Member: "x", At: guard.At(f.In.Now)})
			}
			f.Break(upTo(test.own)...)
			want(t, "triggers", causes(f.Sweep()), test.triggers)
		})
	}
}

func TestRollingShare(t *testing.T) {
	tests := []struct {
		n, percent, bad int
		triggers        string
	}{
		{6, 25, 2, ""}, // never fewer than three
		{6, 25, 3, "rolling=3/3"},
		{12, 25, 3, "rolling=3/3"},
		{13, 25, 3, ""}, // 3.25, rounded up
		{13, 25, 4, "rolling=4/4"},
		{40, 25, 9, ""},
		{40, 25, 10, "rolling=10/10"},
		{10, 100, 9, ""},
		{10, 100, 10, "rolling=10/10"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d of %d one after the other at %d percent", test.bad, test.n, test.percent), func(t *testing.T) {
			f := calm(guardtest.New(test.n))
			f.In.Policy.RollingPercent = test.percent
			var v guard.Verdict
			for i := range test.bad {
				want(t, "triggers before the last", causes(v), "")
				f.Aim(i, "unhealthy", "Target.Timeout") // bad only, so that no mark adds to it
				v = f.Sweep()
				f.Heal(i)
			}
			want(t, "triggers", causes(v), test.triggers)
		})
	}
}

func TestReplacementsThatDoNotConverge(t *testing.T) {
	for _, limit := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("the group is held after %d failed generations", limit), func(t *testing.T) {
			f := calm(guardtest.New(8))
			p := &f.In.Policy
			p.ConvergeFailures, p.BootGraceSeconds, p.MarksPer10Minutes, p.MarksPerHour = limit, 0, 8, 8
			f.Break(0)
			f.Sweeps(2)
			at := 0
			for generation := 1; generation <= limit; generation++ {
				f.Replace(at)
				at = 7
				f.Break(at)
				f.In.Now = f.In.Now.Add(9 * guardtest.Interval) // the next sweeps come after the 10 minutes
				f.In.State.LastSweep = guard.At(f.In.Now)
				v := f.Sweep()
				if got, wanted := v.Mode == guard.Held, generation == limit; got != wanted {
					t.Fatalf("generation %d of %d: held %v, want %v (%s)", generation, limit, got, wanted, causes(v))
				}
				f.Sweep()
			}
			if d := deferral(f.Verdict, f.ID(7)); d.Reason != guard.ReasonHeld {
				t.Errorf("the last replacement: %v, want held", d)
			}
			want(t, "cause", f.Verdict.Cause, "not-converging")
		})
	}
}

// A member was marked, and set Healthy again before it was replaced: the launch for the next mark is not its replacement.
func TestAMarkThatWasOverriddenTakesNoLaunchFromTheNext(t *testing.T) {
	f := ready(8)
	f.In.Policy.ConvergeFailures, f.In.Policy.BootGraceSeconds = 1, 0
	f.In.State.ReleasedAt = guard.At(f.In.Now.Add(-30 * time.Minute))
	f.In.State.Marks = []guard.Mark{{
		ID: "old", Member: f.ID(5), At: guard.At(f.In.Now.Add(-40 * time.Minute)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Closed: true,
	}}
	want(t, "the broken member", fate(f.Sweep(), f.ID(0)), "mark")
	f.Replace(0)
	f.Break(7)
	f.In.Now = f.In.Now.Add(9 * guardtest.Interval)
	f.In.State.LastSweep = guard.At(f.In.Now)
	want(t, "its replacement never serves", causes(f.Sweeps(2)), "not-converging=1/1")
}

func TestAReplacementThatServedIsNoFailedGeneration(t *testing.T) {
	f := ready(8)
	f.In.Policy.ConvergeFailures, f.In.Policy.BootGraceSeconds = 1, 0
	want(t, "the first", fate(f.Sweep(), f.ID(0)), "mark")
	f.Replace(0)
	f.Sweep()
	f.Break(7)
	want(t, "its replacement breaks after it has served", causes(f.Sweeps(2)), "")
}

func TestOnlyFailuresInARowAreUseless(t *testing.T) {
	mark := func(age time.Duration, served bool) guard.Mark {
		return guard.Mark{ID: age.String(), Member: age.String(), At: guard.At(guardtest.Start().Add(-age)), By: "guard", Outcome: guard.OutcomeDone, Gone: true, Closed: true, Replacement: "r" + age.String(), Served: served, Failed: !served}
	}
	tests := map[string]struct {
		marks    []guard.Mark
		triggers string
	}{
		"two failed in a row":         {[]guard.Mark{mark(5*time.Hour, false), mark(2*time.Hour, false)}, "not-converging=2/2"},
		"one served in between":       {[]guard.Mark{mark(5*time.Hour, false), mark(3*time.Hour, true), mark(2*time.Hour, false)}, ""},
		"the newest served":           {[]guard.Mark{mark(5*time.Hour, false), mark(3*time.Hour, false), mark(2*time.Hour, true)}, ""},
		"two failed after one served": {[]guard.Mark{mark(5*time.Hour, true), mark(3*time.Hour, false), mark(2*time.Hour, false)}, "not-converging=2/2"},
	}
	for name, test := range tests {
		f := calm(guardtest.New(8))
		f.In.State.Marks = test.marks
		want(t, name, causes(f.Sweep()), test.triggers)
	}
	f := calm(guardtest.New(8))
	f.In.State.Marks, f.In.State.ReleasedAt = tests["two failed in a row"].marks, guard.At(guardtest.Start().Add(-2*time.Hour))
	want(t, "what failed before the last release", causes(f.Sweep()), "")
}

func TestAMemberTakesItsWorstStateInATargetGroup(t *testing.T) {
	tests := map[string]struct {
		states   []string
		triggers string
	}{
		"an unhealthy port before a healthy one": {[]string{"unhealthy", "healthy"}, "target-group:admin=2/2"},
		"an unhealthy port after a healthy one":  {[]string{"healthy", "unhealthy"}, "target-group:admin=2/2"},
		"an unhealthy port between two others":   {[]string{"initial", "unhealthy", "healthy"}, "target-group:admin=2/2"},
		"an unhealthy port before a silent one":  {[]string{"unhealthy", "draining"}, "target-group:admin=2/2"},
		"a healthy port before a silent one":     {[]string{"healthy", "draining"}, ""},
		"only silent ports":                      {[]string{"initial", "draining"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(60)
			f.In.Policy.OnsetCount, f.In.Policy.RollingPercent = 100, 100
			for i := range 2 {
				for port, state := range test.states {
					f.M(i).Targets = append(f.M(i).Targets, guard.Target{Group: "admin", Port: 8080 + port, State: state})
				}
			}
			want(t, "triggers", causes(f.Sweep()), test.triggers)
		})
	}
}
