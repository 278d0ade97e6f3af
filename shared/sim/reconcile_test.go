package sim_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// breakFirst breaks the first n members so that ELB checks mark them.
func (f fleet) breakFirst(n int) {
	f.t.Helper()
	for _, m := range f.members()[:n] {
		f.must(f.Break(m.ID, sim.BadPool))
	}
}

// mostAway runs for a while in steps of a second and returns the highest number of members that were away at once:
// Terminating or gone, and not yet replaced by an InService one.
func (f fleet) mostAway(desired int, d time.Duration) int {
	f.t.Helper()
	most := 0
	for end := f.Now().Add(d); f.Now().Before(end); f.pass(time.Second) {
		in := 0
		for _, m := range f.members() {
			if m.Lifecycle == sim.InService {
				in++
			}
		}
		most = max(most, desired-in)
	}
	return most
}

func TestSlowPath(t *testing.T) {
	cases := []struct {
		name         string
		size, broken int
		warmup       time.Duration
		wantMostAway int
		wantReplaced int
		apart        time.Duration // between two terminations, when they are one at a time
	}{
		{"under ten members one goes at a time", 6, 3, 0, 1, 3, time.Minute},
		{"of twenty members two go at a time", 20, 6, 0, 2, 6, 0},
		{"of twenty-nine members two go at a time", 29, 6, 0, 2, 6, 0},
		{"when all but one look bad two of twenty go at a time", 20, 19, 0, 2, 19, 0},
		{"the next waits for the warm-up of the replacement", 6, 3, 210 * time.Second, 1, 3, 270 * time.Second},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			f := newFleet(t, elbChecks, size(tc.size), func(o *options) { o.group.InstanceWarmup = tc.warmup })
			f.breakFirst(tc.broken)
			if got := f.mostAway(tc.size, time.Hour); got != tc.wantMostAway {
				t.Errorf("%d members were away at once, want %d", got, tc.wantMostAway)
			}
			if got := f.stats().BrokenTerminated; got != tc.wantReplaced {
				t.Errorf("%d broken members were replaced, want %d", got, tc.wantReplaced)
			}
			var last time.Time
			for _, e := range f.Timeline() {
				if e.Kind == sim.EventTerminate {
					if apart := e.At.Sub(last); !last.IsZero() && tc.apart > 0 && apart != tc.apart {
						t.Errorf("terminations %s apart, want %s", apart, tc.apart)
					}
					last = e.At
				}
			}
		})
	}
}

func TestWhenNoMemberLooksHealthyOneGoesUntilItsReplacementIsThere(t *testing.T) {
	f := newFleet(t, elbChecks, size(20))
	f.breakFirst(20)
	most := 0
	for f.kinds(sim.EventInService) == 0 && f.since() < time.Hour {
		most = max(most, f.mostAway(20, time.Second))
	}
	if most != 1 {
		t.Fatalf("%d members were away at once before the first replacement, want 1", most)
	}
}

func TestMembersInTheirGraceAreNotMarkedByELBChecks(t *testing.T) {
	f := newFleet(t, elbChecks, func(o *options) { o.group.SteadyFor, o.group.Grace = 0, 20*time.Minute })
	f.pass(3 * time.Minute)
	f.breakFirst(1)
	f.pass(17 * time.Minute)
	f.wantCount("4 0 0")
	f.pass(4 * time.Minute)
	if f.stats().BrokenTerminated != 1 {
		t.Fatal(f.story())
	}
}

func TestSuspendedProcesses(t *testing.T) {
	t.Run("without ReplaceUnhealthy nothing is terminated for its health, and dead machines stay", func(t *testing.T) {
		f := newFleet(t, elbChecks)
		f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy"}))
		f.must(f.Break(f.id(0), sim.Stopped))
		f.must(f.Break(f.id(1), sim.Crash))
		f.pass(time.Hour)
		f.wantCount("4 0 0")
	})
	t.Run("without Terminate a marked member stays too", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"Terminate"}))
		f.mark(f.id(0))
		f.pass(10 * time.Second)
		f.wantCount("4 0 0")
	})
	t.Run("without HealthCheck nothing gets marked, but custom marks are still replaced", func(t *testing.T) {
		f := newFleet(t, elbChecks)
		f.must(f.SuspendProcesses("web", []string{"HealthCheck"}))
		f.breakFirst(2)
		f.pass(time.Hour)
		f.wantCount("4 0 0")
		f.mark(f.id(3))
		f.pass(time.Second)
		f.wantCount("3 1 1")
	})
	t.Run("without Launch terminations go on and nothing comes back until it is resumed", func(t *testing.T) {
		f := newFleet(t, elbChecks)
		f.must(f.SuspendProcesses("web", []string{"Launch"}))
		f.breakFirst(3)
		f.mark(f.id(3))
		f.pass(time.Hour)
		f.wantCount("0 0 0")
		f.must(f.ResumeProcesses("web", []string{"Launch"}))
		f.pass(time.Second)
		f.wantCount("0 4 0")
	})
	t.Run("without Launch the slow path goes on at the pace of the health checks", func(t *testing.T) {
		f := newFleet(t, elbChecks)
		sound := f.id(3)
		f.must(f.SuspendProcesses("web", []string{"Launch"}))
		f.breakFirst(3)
		f.pass(90 * time.Second)
		was := f.stats().BrokenTerminated
		for range 12 {
			f.pass(5 * time.Second)
			f.must(f.SetInstanceHealth(sound, sim.Healthy, true)) // makes Auto Scaling look again
		}
		if now := f.stats().BrokenTerminated; was != 1 || now != 2 {
			t.Fatalf("%d and then %d were terminated, want 1 and 2\n%s", was, now, f.story())
		}
	})
	t.Run("without AddToLoadBalancer new members are never registered", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"AddToLoadBalancer"}))
		f.mark(f.id(0))
		f.pass(10 * time.Minute)
		f.must(f.ResumeProcesses("web", []string{"AddToLoadBalancer"}))
		f.pass(10 * time.Minute)
		if got := f.target(f.id(3)); got != "" {
			t.Fatalf("the new member is registered: %s", got)
		}
	})
}

func TestResumeOfReplaceUnhealthy(t *testing.T) {
	cases := []struct {
		name   string
		burst  sim.Burst
		resume []string
		elb    int // members marked by ELB checks during the suspension
		custom int // members marked by hand during the suspension
		want   string
	}{
		{"sets off the whole backlog at once by default", "", []string{"ReplaceUnhealthy"}, 3, 1, "4 4 4"},
		{"paced, only the custom marks go at once", sim.BurstPaced, []string{"ReplaceUnhealthy"}, 3, 2, "6 2 2"},
		{"paced, ELB marks go one at a time", sim.BurstPaced, []string{"ReplaceUnhealthy"}, 3, 0, "7 1 1"},
		{"of another process sets off nothing", "", []string{"AZRebalance"}, 3, 1, "8 0 0"},
		{"by an empty list sets off everything", "", nil, 3, 1, "4 4 4"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			f := newFleet(t, elbChecks, size(8), func(o *options) { o.config.ResumeBurst = tc.burst })
			f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy", "AZRebalance"}))
			f.breakFirst(tc.elb)
			f.pass(2 * time.Minute)
			f.must(f.SuspendProcesses("web", []string{"HealthCheck"})) // so that custom marks last
			for n := range tc.custom {
				f.mark(f.id(tc.elb + n))
			}
			f.pass(time.Minute)
			f.wantCount("8 0 0")
			f.must(f.ResumeProcesses("web", tc.resume))
			f.pass(time.Second)
			f.wantCount(tc.want)
		})
	}
}

func TestTheLongestMarkedGoesFirst(t *testing.T) {
	for _, order := range [][2]int{{0, 3}, {3, 0}} {
		f := newFleet(t, elbChecks, func(o *options) { o.config.ResumeBurst = sim.BurstPaced })
		f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy"}))
		first, second := f.id(order[0]), f.id(order[1])
		f.must(f.Break(first, sim.BadPool))
		f.pass(2 * time.Minute)
		f.must(f.Break(second, sim.BadPool))
		f.pass(2 * time.Minute)
		f.must(f.ResumeProcesses("web", []string{"ReplaceUnhealthy"}))
		f.pass(time.Second)
		if m, ok := f.Instance(first); !ok || m.Lifecycle != sim.Terminating {
			t.Fatal(f.story())
		}
	}
}

func TestAResumeThatUnblocksNothingHurriesNothing(t *testing.T) {
	f := newFleet(t, elbChecks, size(8))
	f.must(f.SuspendProcesses("web", []string{"AZRebalance"}))
	f.breakFirst(4)
	for f.kinds(sim.EventTerminate) == 0 && f.since() < time.Hour {
		f.pass(time.Second)
	}
	f.must(f.ResumeProcesses("web", []string{"AZRebalance"}))
	f.pass(2 * time.Second)
	f.wantCount("7 1 1")
}

func TestARebootDuringTheWarmUpStartsItAgain(t *testing.T) {
	f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
	f.pass(71 * time.Second) // InService since 10 s
	id := f.id(0)
	f.must(f.Break(id, sim.Freeze))
	f.pass(10 * time.Second)
	f.must(f.Repair(id))
	f.pass(30*time.Second - time.Millisecond)
	if truth, _ := f.Truth(id); !truth.Starting {
		t.Fatal("it was up before its second warm-up had ended")
	}
	f.pass(time.Millisecond)
	if truth, _ := f.Truth(id); !truth.Serves {
		t.Fatalf("after its second warm-up it is %+v", truth)
	}
}

func TestARestoredMemberIsNoLongerReplacedAtOnce(t *testing.T) {
	f := newFleet(t, elbChecks, size(8), func(o *options) { o.config.ResumeBurst = sim.BurstPaced })
	f.must(f.SuspendProcesses("web", []string{"ReplaceUnhealthy", "HealthCheck"}))
	for _, m := range f.members()[:3] {
		f.mark(m.ID)
		f.must(f.SetInstanceHealth(m.ID, sim.Healthy, true))
	}
	f.breakFirst(3)
	f.must(f.ResumeProcesses("web", []string{"HealthCheck"}))
	f.pass(2 * time.Minute)
	f.must(f.ResumeProcesses("web", []string{"ReplaceUnhealthy"}))
	f.pass(time.Second)
	f.wantCount("7 1 1")
}

func TestCapacity(t *testing.T) {
	t.Run("a new group launches what it desires, spread over its zones", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
		f.pass(time.Second)
		f.wantCount("0 4 0")
		zones := map[string]int{}
		for _, m := range f.members() {
			zones[m.Zone]++
		}
		if zones["us-east-1a"] != 2 || zones["us-east-1b"] != 2 {
			t.Fatalf("zones are %v", zones)
		}
	})
	t.Run("more is desired, and then less", func(t *testing.T) {
		f := newFleet(t)
		oldest := f.id(0)
		f.must(f.SetProtection(oldest, true))
		f.must(f.SetDesired("web", 6))
		f.pass(2 * time.Minute)
		f.wantCount("6 0 0")
		f.must(f.SetDesired("web", 3))
		f.pass(time.Second)
		f.wantCount("3 0 3")
		if m, _ := f.Instance(oldest); m.Lifecycle != sim.InService {
			t.Fatal("the protected member was scaled in")
		}
		if got := f.stats(); got.OtherTerminated != 3 || got.HealthyTerminated != 0 {
			t.Fatalf("stats are %+v", got)
		}
	})
	t.Run("weights count towards the desired capacity, and max is never passed", func(t *testing.T) {
		for _, steady := range []time.Duration{0, time.Hour} {
			f := newFleet(t, func(o *options) {
				o.group.Desired, o.group.Weight, o.group.Max, o.group.SteadyFor = 10, 4, 10, steady
			})
			f.pass(10 * time.Minute)
			f.wantCount("2 0 0")
		}
	})
	t.Run("without Terminate a group does not scale in, and more than is desired is no loss", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", []string{"Terminate"}))
		f.must(f.SetDesired("web", 2))
		f.pass(10 * time.Minute)
		f.wantCount("4 0 0")
		if got := f.stats(); got.CapacityMinutesLost != 0 {
			t.Fatalf("stats are %+v", got)
		}
	})
	t.Run("a failed launch leaves an activity and is tried again later", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SetLaunchFailure("web", "We currently do not have sufficient capacity."))
		f.mark(f.id(0))
		f.pass(150 * time.Second)
		f.wantCount("3 0 0")
		newest := f.Activities("web")[0]
		if newest.Status != "Failed" || newest.StatusMessage == "" || newest.InstanceID != "" {
			t.Fatalf("newest activity is %+v", newest)
		}
		if got := f.stats().FailedLaunches; got != 3 {
			t.Fatalf("%d failed launches, want 3", got)
		}
		f.must(f.SetLaunchFailure("web", ""))
		f.pass(3 * time.Minute)
		f.wantCount("4 0 0")
	})
	t.Run("a member in standby is not replaced and has its grace again when it is back", func(t *testing.T) {
		f := newFleet(t)
		id := f.id(0)
		f.must(f.EnterStandby(id))
		f.pass(10 * time.Minute)
		f.wantCount("3 0 0")
		f.must(f.ExitStandby(id))
		f.pass(30 * time.Second)
		if f.target(id) != "healthy" {
			t.Fatalf("target is %s", f.target(id))
		}
		if err := f.SetInstanceHealth(id, sim.Unhealthy, true); err == nil {
			t.Fatal("the mark was accepted inside the new grace period")
		}
	})
}

func TestActivitiesTellTheirCause(t *testing.T) {
	f := newFleet(t, elbChecks)
	f.mark(f.id(0))
	f.pass(5 * time.Minute)
	f.breakFirst(1)
	f.pass(5 * time.Minute)
	var got []string
	for _, a := range f.Activities("web") {
		if a.Status != "Successful" || a.End.Before(a.Start) || a.Progress != 100 {
			t.Errorf("activity is %+v", a)
		}
		got = append(got, regexp.MustCompile(`^At 2026-11-30T12:\d\d:\d\dZ `).ReplaceAllString(a.Cause, ""))
	}
	want := []string{
		"an instance was launched in response to an unhealthy instance needing to be replaced.",
		"an instance was taken out of service in response to an ELB system health check failure.",
		"an instance was launched in response to an unhealthy instance needing to be replaced.",
		"an instance was taken out of service in response to a user health-check.",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("causes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
