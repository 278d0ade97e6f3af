package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// clustered is a group of twenty that is held because three members began to fail together; no other rule is near.
func clustered(t *testing.T) *guardtest.Fleet {
	t.Helper()
	f := calm(guardtest.New(20))
	f.In.Policy.OnsetCount = 3
	f.Break(0, 1, 2)
	want(t, "the hold", causes(f.Sweep()), "onset=3/3")
	return f
}

func TestRollingNeverProlongs(t *testing.T) {
	f := calm(guardtest.New(20))
	f.In.Policy.RollingPercent = 15
	f.Break(0, 1, 2)
	want(t, "the hold", causes(f.Sweep()), "rolling=3/3")
	want(t, "quiet counts from the look that begins it", story(f, 10), "1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 2")
}

func TestAClusterHoldsUntilItsMembersAreWell(t *testing.T) {
	f := clustered(t)
	v := f.Sweeps(30)
	want(t, "half an hour later", v.Mode, guard.Held)
	want(t, "why", strings.Join(v.Notes, "; "), "the hold waits for 3 members that began to fail together and are still bad")
	f.Heal(0, 1)
	want(t, "one of them is still bad", story(f, 1), "1")
	want(t, "why", strings.Join(f.Verdict.Notes, "; "), "the hold waits for 1 member that began to fail together and is still bad")
	f.Heal(2)
	want(t, "all are well: the quiet time is long over", story(f, 1), "2")
	want(t, "nothing is waited for", strings.Join(f.Verdict.Notes, "; "), "")
	want(t, "the release", story(f, 3), "3 resume HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy | free")
}

func TestQuietIsAskedOfAClusterToo(t *testing.T) {
	f := clustered(t)
	f.Heal(0, 1, 2)
	want(t, "quiet counts from the look that begins it", story(f, 10), "1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 2")
}

func TestAClusterHoldsNoLongerThanTheRollingWindow(t *testing.T) {
	f := clustered(t)
	want(t, "after 59 minutes", f.Sweeps(59).Mode, guard.Held)
	want(t, "after 60", story(f, 1), "2")
	want(t, "after the release the three are no new cluster", causes(f.Sweeps(4))+f.Verdict.Mode, guard.Watching)
}

func TestWhoIsOfTheCluster(t *testing.T) {
	const released = "2"
	for about, tt := range map[string]struct {
		before, after int // looks between the break of another member and the beginning of the hold, and since then
		want          string
	}{
		"who began to fail six looks before is not":  {before: 6, want: released},
		"who began to fail five looks before is":     {before: 5, want: "1"},
		"who joined them five looks later is":        {after: 5, want: "1"},
		"who began to fail six looks later is not":   {after: 6, want: released},
		"the three who began it at one time are all": {want: released},
	} {
		t.Run(about, func(t *testing.T) {
			f := calm(guardtest.New(20))
			f.In.Policy.OnsetCount, f.In.Policy.MaxInFlight = 3, 0
			if tt.before > 0 {
				f.Break(9)
				f.Sweeps(tt.before)
			}
			f.Break(0, 1, 2)
			want(t, "the beginning", f.Sweep().Mode, guard.Held)
			if tt.after > 0 {
				f.Sweeps(tt.after - 1)
				f.Break(9)
				f.Sweep()
			}
			f.Heal(0, 1, 2)
			f.Sweeps(max(1, 9-tt.after))
			want(t, "after the quiet time", story(f, 1), tt.want)
		})
	}
}

func TestAPersonsReleaseWaitsForNoCluster(t *testing.T) {
	f := clustered(t)
	f.Ask("r1", guard.RequestRelease)
	want(t, "the release", story(f, 1), "2")
}

func TestTheHeldPageSaysWhatAClusterWaitsFor(t *testing.T) {
	const wait = "after 10m of quiet, and when the members that began to fail together are well or it is 1h0m old"
	if text := pageText(clustered(t).Verdict, guard.PageHeld); !strings.Contains(text, wait) {
		t.Errorf("the held page says %q", text)
	}
	f := guardtest.New(8)
	f.Break(0, 1)
	if text := pageText(f.Sweep(), guard.PageHeld); strings.Contains(text, "together") {
		t.Errorf("a hold by its share speaks of a cluster: %q", text)
	}
}

// taken ends a member as AWS does between two looks: it is gone from the roster, and an activity says why.
func taken(f *guardtest.Fleet, i int, cause string) {
	id := f.ID(i)
	f.In.Group.Activities = append(f.In.Group.Activities, guard.Activity{
		ID: "act-" + id, Kind: "terminate", Member: id, At: f.In.Now, Status: "InProgress", Cause: "an instance was taken out of service in response to " + cause,
	})
	f.In.Group.Members = slices.Delete(f.In.Group.Members, i, i+1)
}

func TestWhoIsTerminatedBetweenTwoLooksBeganToFail(t *testing.T) {
	for cause, expected := range map[string]string{
		"an ELB system health check failure":           "onset=3/3",
		"an EC2 instance status check failure":         "onset=3/3",
		"an EBS volume health check failure":           "onset=3/3",
		"a failed application status check":            "onset=3/3",
		"a user health-check":                          "", // a call, ours or a person's, is no failure
		"a difference between desired and actual size": "",
	} {
		t.Run(cause, func(t *testing.T) {
			f := calm(guardtest.New(20))
			f.In.Policy.OnsetCount = 3
			f.Sweep()
			taken(f, 7, cause)
			f.Break(0, 1)
			want(t, "two bad and one gone", causes(f.Sweep()), expected)
		})
	}
}

func TestAMemberThatWasBadLongBeforeItsTerminationBeginsNothing(t *testing.T) {
	f := calm(guardtest.New(20))
	f.In.Policy.OnsetCount, f.In.Policy.MaxInFlight = 3, 0
	f.Break(7)
	f.Sweeps(6) // its onset is out of the window by now
	taken(f, 7, "an ELB system health check failure")
	f.Break(0, 1)
	want(t, "two", causes(f.Sweep()), "")
	f.Break(2)
	want(t, "three", causes(f.Sweep()), "onset=3/3")
}

func TestATerminationIsOneOnsetHoweverOftenItIsListed(t *testing.T) {
	f := calm(guardtest.New(20))
	f.In.Policy.OnsetCount = 3
	f.Sweep()
	taken(f, 7, "an ELB system health check failure")
	f.Break(0)
	f.Sweep()
	want(t, "two", causes(f.Sweep()), "")
	f.Sweeps(3)
	f.Break(1, 2)
	want(t, "the termination is out of the window, and so is the first", causes(f.Sweep()), "")
}

func TestTheRegionHearsOfATermination(t *testing.T) {
	f := calm(guardtest.New(20))
	f.Sweep()
	id := f.ID(7)
	taken(f, 7, "an ELB system health check failure")
	if got := f.Sweep().Region.Onsets; len(got) != 1 || got[0].Member != id {
		t.Errorf("the Region hears of %v", got)
	}
}

func TestAGapInTheLooksForgetsNoCluster(t *testing.T) {
	f := clustered(t)
	f.Sweeps(11)
	f.Step(10 * guardtest.Interval)
	want(t, "after the quiet time", f.Sweeps(12).Mode, guard.Held)
	f.Heal(0, 1, 2)
	want(t, "all are well", story(f, 1), "2")
}

func TestAClockThatGoesBackProlongsNoCluster(t *testing.T) {
	f := clustered(t)
	f.Sweeps(2)
	f.In.Now = f.In.Now.Add(-6 * 60 * guardtest.Interval)
	f.Sweeps(11)
	if h := f.In.State.Hold; h != nil && h.Stage == guard.StageQuiet {
		t.Errorf("the hold waits until the clock has caught up: %+v", h)
	}
}

func TestWhoIsSeenUnhealthyAndThenTerminatedBeganToFail(t *testing.T) {
	f := calm(guardtest.New(20))
	f.In.Policy.OnsetCount = 3
	f.Sweep()
	for i := 5; i < 8; i++ {
		f.M(i).Unhealthy = true // by EC2's status checks: its target is healthy still
	}
	want(t, "nobody is bad", causes(f.Sweep()), "")
	for range 3 {
		taken(f, 5, "an EC2 instance status check failure")
	}
	want(t, "three are gone", causes(f.Sweep()), "onset=3/3")
	if n := len(f.In.State.Marks); n != 3 {
		t.Errorf("%d count in the budget, want each of three once: %+v", n, f.In.State.Marks)
	}
}

func TestAReminderSaysWhatStillHoldsAndHowFarTheReleaseIs(t *testing.T) {
	f := guardtest.New(20)
	f.Break(0, 1, 2, 3, 4)
	began := pageText(f.Sweep(), guard.PageHeld)
	if !strings.Contains(began, "5 of 20 eligible members of the group are bad") || !strings.Contains(began, "5 members began to fail") {
		t.Errorf("the first page leaves a trigger out: %q", began)
	}
	f.Heal(2, 3, 4)
	f.M(0).Unhealthy, f.M(1).Unhealthy = true, true
	var again string
	for range 40 {
		if text := pageText(f.Sweep(), guard.PageHeld); text != "" {
			again = text
		}
	}
	for _, part := range []string{"it began with: 5 of 20 eligible members of the group are bad", "the release is at stage 4 of 5"} {
		if !strings.Contains(again, part) {
			t.Errorf("the reminder does not say %q: %q", part, again)
		}
	}
	if strings.Contains(again, "different members were bad") || strings.Contains(again, "of quiet") {
		t.Errorf("the reminder gives what keeps no hold, or promises what is over: %q", again)
	}
}

func TestAClusterOfTheRegionHoldsUntilItsMembersAreWell(t *testing.T) {
	f := calm(guardtest.New(10))
	f.In.Policy.OnsetCount = 3
	for i := range 2 {
		f.In.Region.Onsets = append(f.In.Region.Onsets, guard.RegionOnset{Group: fmt.Sprint("other-", i), Member: "x", At: guard.At(f.In.Now)})
	}
	f.Break(0)
	want(t, "the hold", causes(f.Sweep()), "region-onset=3/3")
	want(t, "half an hour later", f.Sweeps(30).Mode, guard.Held)
	f.Heal(0)
	want(t, "it is well", story(f, 1), "2")
}

// TestOnsetsAreKeptByMember has a member that is seen to fail and one, which sorts before it, that AWS takes unseen: a list that were not
// sorted would count members twice.
func TestOnsetsAreKeptByMember(t *testing.T) {
	f := calm(guardtest.New(20))
	f.Break(9)
	taken(f, 4, "an ELB system health check failure.")
	f.Break(7) // i-00008, now that one has gone
	for look := range 3 {
		f.Sweep()
		var members []string
		for _, o := range f.In.State.Onsets {
			members = append(members, o.Member)
		}
		want(t, fmt.Sprint("look ", look), strings.Join(members, " "), "i-00004 i-00008 i-00009")
	}
}
