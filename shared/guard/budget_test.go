package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// spent is a mark in the ledger, made some time before the next look. Its slot is free, so that it counts in the windows alone.
func spent(f *guardtest.Fleet, age time.Duration) {
	next := f.In.Now.Add(guardtest.Interval)
	n := len(f.In.State.Marks)
	f.In.State.Marks = append(f.In.State.Marks, guard.Mark{
		ID: fmt.Sprintf("old-%d", n), Member: fmt.Sprintf("gone-%d", n), At: guard.At(next.Add(-age)), By: "guard",
		Outcome: guard.OutcomeDone, Weight: 1, Gone: true, Closed: true,
	})
}

// ready is a calm group with one broken member that only lacks its last look.
func ready(n int) *guardtest.Fleet {
	f := calm(guardtest.New(n))
	f.Break(0)
	f.Sweep()
	return f
}

func TestCeilings(t *testing.T) {
	tests := []struct {
		n                             int
		inFlight, tenMin, hour, daily int
	}{
		{1, 1, 1, 3, 8},
		{16, 1, 1, 3, 8},
		{17, 1, 1, 3, 8}, // half of 17 is 8.5, rounded down
		{18, 1, 1, 3, 9},
		{19, 1, 1, 3, 9},
		{20, 1, 1, 3, 10},
		{21, 1, 1, 3, 10},
		{39, 1, 1, 3, 19}, // 5 % of 39 is 1.95, 10 % is 3.9, rounded down
		{40, 2, 2, 4, 20},
		{100, 5, 5, 10, 50},
		{399, 19, 19, 39, 199},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d members", test.n), func(t *testing.T) {
			f := guardtest.New(test.n)
			p := &f.In.Policy
			p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.MarksPerDay, p.RegionMarksPerHour = 100, 1000, 1000, 1000, 1000
			v := f.Sweep()
			want(t, "limits", fmt.Sprint(v.Limits.InFlightMax, v.Limits.TenMinutesMax, v.Limits.HourMax, v.Limits.DayMax),
				fmt.Sprint(test.inFlight, test.tenMin, test.hour, test.daily))
			want(t, "pages", pages(v), "config/marks_per_10_minutes, config/marks_per_day, config/marks_per_hour, config/max_in_flight, config/region_marks_per_hour")
			p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.MarksPerDay, p.RegionMarksPerHour = test.inFlight, test.tenMin, test.hour, test.daily, 6
			want(t, "pages at the ceilings", pages(f.Sweep()), "")
			p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.MarksPerDay, p.RegionMarksPerHour = 0, 0, 0, 0, 0
			l := f.Sweep().Limits
			want(t, "limits of none", fmt.Sprint(l.InFlightMax, l.TenMinutesMax, l.HourMax, l.DayMax, l.RegionHourMax), "0 0 0 0 0")
		})
	}
}

func TestRegionCeilingGrowsWithTheRegion(t *testing.T) {
	for _, test := range []struct{ others, limit int }{{40, 6}, {59, 6}, {60, 7}, {190, 20}} {
		f := guardtest.New(10)
		f.In.Policy.RegionMarksPerHour = 1000
		f.In.Region.Eligible = map[string]int{"other": test.others, f.In.Group.ARN: 500} // what an earlier look said of this group is no part
		if got := f.Sweep().Limits.RegionHourMax; got != test.limit {
			t.Errorf("10 members here and %d elsewhere: %d marks an hour, want %d", test.others, got, test.limit)
		}
		want(t, "told", pageText(f.Verdict, guard.PageConfig), fmt.Sprintf("region_marks_per_hour: 1000 is above the compiled ceiling of %d for the Region, which is in force", test.limit))
	}
}

func TestBudgetWindows(t *testing.T) {
	tests := map[string]struct {
		ages  []time.Duration
		day   int
		fates string
	}{
		"nothing spent":                                 {nil, 8, "mark"},
		"ten minutes less a moment ago counts":          {[]time.Duration{10*time.Minute - time.Millisecond}, 8, "budget=1/1"},
		"exactly ten minutes ago counts no more":        {[]time.Duration{10 * time.Minute}, 8, "mark"},
		"two in an hour leave one":                      {[]time.Duration{50 * time.Minute, 20 * time.Minute}, 8, "mark"},
		"three in an hour leave none":                   {[]time.Duration{time.Hour - time.Millisecond, 40 * time.Minute, 20 * time.Minute}, 8, "budget=3/3"},
		"exactly an hour ago counts no more":            {[]time.Duration{time.Hour, 40 * time.Minute, 20 * time.Minute}, 8, "mark"},
		"one of two in a day leaves one":                {[]time.Duration{23 * time.Hour}, 2, "mark"},
		"two of two in a day leave none":                {[]time.Duration{24*time.Hour - time.Millisecond, 5 * time.Hour}, 2, "budget=2/2"},
		"exactly a day ago counts no more":              {[]time.Duration{24 * time.Hour, 5 * time.Hour}, 2, "mark"},
		"more than the limit is no less than the limit": {[]time.Duration{time.Minute, 2 * time.Minute}, 8, "budget=2/1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := ready(8)
			f.In.Policy.MarksPerDay = test.day
			for _, age := range test.ages {
				spent(f, age)
			}
			want(t, "the broken member", fate(f.Sweep(), f.ID(0)), test.fates)
		})
	}
}

func TestRegionBudgetWindow(t *testing.T) {
	tests := map[string]struct {
		ages []time.Duration
		fate string
	}{
		"one of two leaves one":              {[]time.Duration{time.Minute}, "mark"},
		"two of two leave none":              {[]time.Duration{time.Minute, time.Hour - time.Millisecond}, "region-budget=2/2"},
		"exactly an hour ago counts no more": {[]time.Duration{time.Minute, time.Hour}, "mark"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := ready(8)
			f.In.Policy.RegionMarksPerHour = 2
			for i, age := range test.ages {
				f.In.Region.Marks = append(f.In.Region.Marks, guard.RegionMark{ID: fmt.Sprintf("other/%d", i), At: guard.At(f.In.Now.Add(guardtest.Interval - age))})
			}
			want(t, "the broken member", fate(f.Sweep(), f.ID(0)), test.fate)
		})
	}
}

func TestTwoRunsOfOneSecondGiveBackOneReservationEach(t *testing.T) {
	now := guardtest.New(1).In.Now
	mark := []guard.Action{{ID: "i-1@1772452800", Member: "i-1"}}
	r := guard.ReserveRegion(guard.ReserveRegion(guard.RegionState{}, "web", mark, now), "web", mark, now.Add(700*time.Millisecond))
	for _, left := range []int{1, 0, 0} {
		r = guard.Return(r, "web", []string{mark[0].ID})
		if n := len(r.Marks); n != left {
			t.Errorf("%d marks are left in the Region's budget, want %d", n, left)
		}
	}
}

func TestInFlightLimit(t *testing.T) {
	for _, test := range []struct {
		n, limit int
		marks    int
	}{{1, 1, 0}, {19, 5, 1}, {20, 5, 1}, {39, 5, 1}, {40, 5, 2}, {60, 5, 3}, {100, 5, 5}, {100, 4, 4}, {100, 0, 0}} {
		t.Run(fmt.Sprintf("%d members with %d in flight", test.n, test.limit), func(t *testing.T) {
			f := calm(guardtest.New(test.n))
			p := &f.In.Policy
			p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.MarksPerDay, p.RegionMarksPerHour = test.limit, 10, 10, 10, 10
			f.Break(upTo(min(8, test.n))...)
			f.Sweep()
			v := f.Sweep()
			if got := len(v.Marks()); got != test.marks {
				t.Errorf("%d marks, want %d: %v", got, test.marks, v.Explain())
			}
		})
	}
}

func TestSlotStaysTakenUntilTheReplacementServes(t *testing.T) {
	f := ready(8)
	want(t, "first", fate(f.Sweep(), f.ID(0)), "mark")
	f.Break(1)
	f.In.Policy.MarksPer10Minutes = 8
	f.Sweeps(20)
	want(t, "while the marked member is there", fate(f.Verdict, f.ID(1)), "in-flight=1/1")
	second := f.ID(1)
	f.Replace(0)
	f.M(7).Lifecycle = "Pending"
	want(t, "while its replacement is pending", fate(f.Sweep(), second), "in-flight=1/1")
	f.M(7).Lifecycle = "InService"
	f.Aim(7, "initial", "Elb.RegistrationInProgress")
	want(t, "while its replacement registers", fate(f.Sweep(), second), "in-flight=1/1")
	f.Aim(7, "healthy", "")
	want(t, "when its replacement serves", fate(f.Sweep(), second), "mark")
}

func TestSlotIsFreeWhenTheReplacementFailsToo(t *testing.T) {
	f := ready(8)
	f.Sweep()
	f.Replace(0)
	f.Aim(7, "unhealthy", "Target.Timeout")
	f.Sweep()
	if got := f.Verdict.Limits.InFlight; got != 0 {
		t.Errorf("%d in flight, want 0: a replacement that is itself bad is no work in flight", got)
	}
}

func TestCapacityLoss(t *testing.T) {
	tests := map[string]struct {
		weight, percent int
		fate            string
	}{
		"half of eight may be lost":                   {4, 50, "mark"},
		"a weight above half may not":                 {5, 50, "capacity=5/4"},
		"one percent of eight, rounded down, is none": {1, 1, "capacity=1/0"},
		"twelve percent, rounded down, is none":       {1, 12, "capacity=1/0"},
		"thirteen percent is one":                     {1, 13, "mark"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := ready(8)
			f.M(0).Weight = test.weight
			f.In.Policy.CapacityLossPercentMax, f.In.Policy.MinHealthyPercent = test.percent, 0
			want(t, "the broken member", fate(f.Sweep(), f.ID(0)), test.fate)
		})
	}
	t.Run("what is in flight counts too", func(t *testing.T) {
		f := calm(guardtest.New(60))
		p := &f.In.Policy
		p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.CapacityLossPercentMax, p.MinHealthyPercent = 3, 3, 3, 50, 0
		f.In.Group.Desired = 4
		f.Break(0, 1, 2)
		f.Sweep()
		v := f.Sweep()
		want(t, "marks", actions(v), "mark i-00000; mark i-00001")
		want(t, "the third", fate(v, f.ID(2)), "capacity=3/2")
	})
}

func TestMinHealthy(t *testing.T) {
	tests := map[string]struct {
		desired, percent int
		fate             string
	}{
		"seven of eight healthy reach half":         {8, 50, "mark"},
		"seven of fourteen wanted are exactly half": {14, 50, "mark"},
		"seven of fifteen wanted are below half":    {15, 50, "min-healthy=7/8"},
		"88 percent of eight is eight, rounded up":  {8, 88, "min-healthy=7/8"},
		"87 percent of eight is seven, rounded up":  {8, 87, "mark"},
		"all is never reached with one broken":      {8, 100, "min-healthy=7/8"},
		"none is always reached":                    {1000, 0, "mark"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := ready(8)
			f.In.Group.Desired = test.desired
			f.In.Policy.MinHealthyPercent = test.percent
			want(t, "the broken member", fate(f.Sweep(), f.ID(0)), test.fate)
		})
	}
}

func TestWeightsCountInCapacity(t *testing.T) {
	f := ready(4)
	f.In.Group.Desired, f.In.Group.Weighted = 10, true
	f.M(0).Weight, f.M(1).Weight, f.M(2).Weight, f.M(3).Weight = 4, 2, 2, 2
	want(t, "healthy weight 6 of 10", fate(f.Sweep(), f.ID(0)), "mark")
	f = ready(4)
	f.In.Group.Desired, f.In.Group.Weighted = 10, true
	f.M(0).Weight, f.M(1).Weight, f.M(2).Weight, f.M(3).Weight = 4, 2, 1, 1
	want(t, "healthy weight 4 of 10", fate(f.Sweep(), f.ID(0)), "min-healthy=4/5")
}

func TestWhatAWSDidCountsToo(t *testing.T) {
	for _, cause := range []string{
		"an instance was taken out of service in response to a user health-check.",
		"an instance was taken out of service in response to an ELB system health check failure.",
		"an instance was taken out of service in response to an EC2 instance status check failure.",
		"an instance was taken out of service in response to an EBS volume health check failure.",
		"an instance was taken out of service in response to an application status check.",
	} {
		f := ready(8)
		f.In.Group.Activities = []guard.Activity{{ID: "a", At: f.In.Now, Kind: "terminate", Status: "Successful", Member: "gone", Cause: cause}}
		want(t, cause, fate(f.Sweep(), f.ID(0)), "budget=1/1")
	}
	for what, a := range map[string]guard.Activity{
		"a scale-in":                      {Kind: "terminate", Status: "Successful", Cause: "a user request changed the desired capacity"},
		"a termination that was not made": {Kind: "terminate", Status: "Failed", Cause: "a user health-check"},
		"a cancelled one":                 {Kind: "terminate", Status: "Cancelled", Cause: "a user health-check"},
		"a launch":                        {Kind: "launch", Status: "Successful", Cause: "a user health-check"},
	} {
		f := ready(8)
		a.ID, a.At, a.Member = "a", f.In.Now, "gone"
		f.In.Group.Activities = []guard.Activity{a}
		want(t, what, fate(f.Sweep(), f.ID(0)), "mark")
	}
}

func TestAReservationOfUnknownOutcomeCountsFromWhenItWasSeenToBeDone(t *testing.T) {
	const cause = "an instance was taken out of service in response to a user health-check."
	for _, outcome := range []string{guard.OutcomeReserved, guard.OutcomeUnknown, guard.OutcomeDone} {
		for what, seen := range map[string]func(*guardtest.Fleet){
			"gone by an activity": func(f *guardtest.Fleet) {
				f.In.Group.Activities = []guard.Activity{{ID: "a", At: f.In.Now, Kind: "terminate", Status: "Successful", Member: "gone", Cause: cause}}
			},
			"leaving": func(f *guardtest.Fleet) {
				f.M(5).Unhealthy, f.M(5).Lifecycle = true, "Terminating"
				f.In.State.Marks[0].Member = f.ID(5)
			},
		} {
			f := ready(8)
			f.In.Policy.MaxInFlight = 1
			f.In.State.Marks = []guard.Mark{{ID: "a", Member: "gone", At: guard.At(f.In.Now.Add(-9 * time.Minute)), By: "guard", Outcome: outcome, Weight: 1}}
			seen(f)
			began := f.In.Now
			v := f.Sweep()
			fresh, m := guard.Instant(0), v.State.Marks[0]
			switch {
			case outcome == guard.OutcomeDone:
			case what == "leaving":
				fresh = guard.At(f.In.Now)
			default:
				fresh = guard.At(began)
			}
			if m.Outcome != guard.OutcomeDone || m.Called != fresh {
				t.Errorf("%s, %s: outcome %s, called %d, want done at %d", outcome, what, m.Outcome, m.Called, fresh)
			}
		}
	}
}

// A run crashed between reservation and call; nine minutes later AWS terminates the member for itself, and its activity is listed a look
// later, or cannot be read for a look.
func TestATerminationThatIsToldALookLaterCountsFromWhenItsMemberWasGone(t *testing.T) {
	for _, unread := range []string{"", "throttled"} {
		f := ready(8)
		f.In.State.Marks = []guard.Mark{{ID: "a", Member: "gone", At: guard.At(f.In.Now.Add(-9 * time.Minute)), By: "guard", Outcome: guard.OutcomeReserved, Weight: 1}}
		f.In.Policy.MarksPerHour = 0 // no mark of ours in the first look
		happened := f.In.Now
		f.In.Reads.Activities = unread
		f.Sweep()
		f.In.Policy.MarksPerHour, f.In.Reads.Activities = 3, ""
		f.In.Group.Activities = []guard.Activity{{
			ID: "act", At: happened, Kind: "terminate", Status: "Successful", Member: "gone",
			Cause: "an instance was taken out of service in response to an ELB system health check failure.",
		}}
		marked := false
		for range 14 {
			v := f.Sweep()
			marked = fate(v, f.ID(0)) == "mark"
			if age := f.In.Now.Sub(happened); marked && age < 10*time.Minute {
				t.Errorf("activities %q at first: marked %s after the termination, the limit is %d in ten minutes", unread, age, v.Limits.TenMinutesMax)
			}
			if marked {
				break
			}
		}
		if !marked {
			t.Errorf("activities %q at first: never marked, want so when the window is over", unread)
		}
	}
}

func TestATerminationCountsAlthoughTheListOfMembersIsOlder(t *testing.T) {
	f := ready(8)
	f.In.Group.Activities = []guard.Activity{{
		ID: "a", At: f.In.Now, Kind: "terminate", Status: "InProgress", Member: f.ID(5),
		Cause: "an instance was taken out of service in response to an ELB system health check failure.",
	}}
	want(t, "the broken member, while the other still looks well", fate(f.Sweep(), f.ID(0)), "in-flight=1/1")
	if l := f.Verdict.Limits; l.TenMinutes != 1 || l.Day != 1 {
		t.Errorf("limits %+v, want the termination in every window", l)
	}
}

func TestMemberThatAWSMarkedTakesTheSlot(t *testing.T) {
	for _, lifecycle := range []string{"InService", "Terminating", "Terminating:Wait"} {
		f := ready(8)
		f.M(5).Unhealthy, f.M(5).Lifecycle = true, lifecycle
		want(t, lifecycle, fate(f.Sweep(), f.ID(0)), "in-flight=1/1")
		f.M(5).Unhealthy, f.M(5).Lifecycle = false, "InService"
		want(t, lifecycle+" and well again", fate(f.Sweep(), f.ID(0)), "mark")
	}
}

func TestMarksAndLaunchesArePairedOldestFirst(t *testing.T) {
	launch := func(f *guardtest.Fleet, member string, age time.Duration, status string) {
		a := guard.Activity{ID: member, At: f.In.Now.Add(-age), Kind: "launch", Status: status, Member: member}
		f.In.Group.Activities = append([]guard.Activity{a}, f.In.Group.Activities...) // AWS lists the newest first
	}
	tests := map[string]struct {
		lay    func(*guardtest.Fleet)
		paired string
	}{
		"two marks and two launches": {func(f *guardtest.Fleet) {
			launch(f, "i-00000", 50*time.Minute, "Successful")
			launch(f, "i-00001", 20*time.Minute, "Successful")
		}, "i-00000 i-00001"},
		"a launch from before both marks is for neither": {func(f *guardtest.Fleet) {
			launch(f, "i-00000", 70*time.Minute, "Successful")
			launch(f, "i-00001", 20*time.Minute, "Successful")
		}, "i-00001 "},
		"a launch that failed brought nothing": {func(f *guardtest.Fleet) {
			launch(f, "i-x", 55*time.Minute, "Failed")
			launch(f, "i-00000", 50*time.Minute, "Successful")
			launch(f, "i-00001", 20*time.Minute, "Successful")
		}, "i-00000 i-00001"},
		"a launch under way has brought nothing yet": {func(f *guardtest.Fleet) {
			launch(f, "i-00000", 50*time.Minute, "Successful")
			launch(f, "i-x", 20*time.Minute, "InProgress")
		}, "i-00000 "},
		"a replacement that is not listed, or was scaled in, is still one": {func(f *guardtest.Fleet) {
			launch(f, "i-x", 50*time.Minute, "Successful")
			launch(f, "i-00001", 20*time.Minute, "Successful")
		}, "i-x i-00001"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			for i, age := range []time.Duration{time.Hour, 30 * time.Minute} {
				at := guard.At(f.In.Now.Add(-age))
				f.In.State.Marks = append(f.In.State.Marks, guard.Mark{ID: fmt.Sprint("m", i), Member: fmt.Sprint("gone-", i), At: at, By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Gone: true})
			}
			test.lay(f)
			f.Sweep()
			first, second := f.In.State.Marks[0], f.In.State.Marks[1]
			want(t, "paired", first.Replacement+" "+second.Replacement, test.paired)
			for _, m := range []guard.Mark{first, second} {
				if served := strings.HasPrefix(m.Replacement, "i-0"); m.Served != served || m.Failed {
					t.Errorf("%+v: want served %t and not failed", m, served)
				}
			}
		})
	}
}

// Both marks were made by a fast clock, and AWS says of one member only when it ended.
func TestALaunchTooEarlyForOneMarkMayBeForTheNext(t *testing.T) {
	f := guardtest.New(8)
	ago := func(minutes time.Duration) time.Time { return f.In.Now.Add(-minutes * time.Minute) }
	for i, minutes := range []time.Duration{10, 9} {
		f.In.State.Marks = append(f.In.State.Marks, guard.Mark{ID: fmt.Sprint("m", i), Member: fmt.Sprint("gone-", i), At: guard.At(ago(minutes)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1})
	}
	f.In.Group.Activities = []guard.Activity{
		{ID: "l", At: ago(11), Kind: "launch", Status: "Successful", Member: f.ID(0)},
		{ID: "t", At: ago(12), Kind: "terminate", Status: "Successful", Member: "gone-1", Cause: "a user health-check"},
	}
	f.Sweep()
	m := f.In.State.Marks
	want(t, "paired", m[0].Replacement+" "+m[1].Replacement, " "+f.ID(0))
}

func TestATerminationThatAWSDoesNotNameTakesNoTimeFromAnother(t *testing.T) {
	f := guardtest.New(8)
	for _, a := range []guard.Activity{
		{ID: "t0", At: f.In.Now.Add(-20 * time.Minute), Kind: "terminate", Cause: "a user health-check"}, {ID: "t1", At: f.In.Now.Add(-10 * time.Minute), Kind: "terminate", Cause: "a user health-check"},
		{ID: "l0", At: f.In.Now.Add(-18 * time.Minute), Kind: "launch", Member: f.ID(0)}, {ID: "l1", At: f.In.Now.Add(-15 * time.Minute), Kind: "launch", Member: f.ID(1)},
	} {
		a.Status = "Successful"
		f.In.Group.Activities = append(f.In.Group.Activities, a)
	}
	f.Sweep()
	m := f.In.State.Marks
	want(t, "paired", m[0].Replacement+" "+m[1].Replacement, f.ID(0)+" ")
}

func TestATerminationIsForgottenAfterTwentyFiveHours(t *testing.T) {
	for age, slots := range map[time.Duration]int{25*time.Hour - moment: 1, 25 * time.Hour: 0} {
		f := guardtest.New(8)
		f.In.Group.Desired = 9 // the place of the one that has gone is empty
		f.In.Group.Activities = []guard.Activity{{ID: "t", At: f.In.Now.Add(guardtest.Interval - age), Kind: "terminate", Status: "Successful", Member: "gone", Cause: "a user health-check"}}
		if n := f.Sweep().Limits.InFlight; n != slots {
			t.Errorf("a termination %s ago takes %d slots, want %d", age, n, slots)
		}
	}
}

func TestATerminationAfterAMarkThatWasOverriddenIsAnother(t *testing.T) {
	f := guardtest.New(8)
	f.In.State.Marks = []guard.Mark{{ID: "old", Member: f.ID(5), At: guard.At(f.In.Now.Add(-2 * time.Hour)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Closed: true}}
	f.Replace(5)
	if l := f.Sweep().Limits; l.Hour != 1 || l.Day != 2 {
		t.Errorf("%d in an hour and %d in a day, want 1 and 2", l.Hour, l.Day)
	}
}

// A run crashed before its call, and its member is still there and well: the launch is for the mark that was made.
func TestAReservationOfUnknownOutcomeTakesNoLaunchFromTheNext(t *testing.T) {
	for _, outcome := range []string{guard.OutcomeReserved, guard.OutcomeUnknown} {
		f := guardtest.New(8)
		f.In.State.Marks = []guard.Mark{
			{ID: "m0", Member: f.ID(5), At: guard.At(f.In.Now.Add(-5 * time.Minute)), By: "guard", Outcome: outcome, Weight: 1},
			{ID: "m1", Member: "gone", At: guard.At(f.In.Now.Add(-4 * time.Minute)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1},
		}
		f.In.Group.Activities = []guard.Activity{{ID: "l", At: f.In.Now, Kind: "launch", Status: "Successful", Member: f.ID(0)}}
		f.Sweep()
		m := f.In.State.Marks
		want(t, outcome+": paired", m[0].Replacement+" "+m[1].Replacement, " "+f.ID(0))
	}
}

// TestOnlyAGroupOfOneIsSparedTheLimitsOfCapacity allows to act on the last instance where more than one is left.
func TestOnlyAGroupOfOneIsSparedTheLimitsOfCapacity(t *testing.T) {
	tests := map[string]struct {
		capacity, healthy int
		fate              string
	}{
		"the capacity that may be lost": {1, 0, "capacity=1/0"},
		"the least healthy weight":      {50, 100, "min-healthy=7/8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := ready(8)
			f.In.Policy.ActOnLastInstance = true
			f.In.Policy.CapacityLossPercentMax, f.In.Policy.MinHealthyPercent = test.capacity, test.healthy
			want(t, "the broken member", fate(f.Sweep(), f.ID(0)), test.fate)
		})
	}
}
