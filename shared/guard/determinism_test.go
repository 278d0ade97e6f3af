package guard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// busy gives groups in which much happens at once: members of every kind, a hold or none, marks, a dependency, pages due.
func busy(seed uint64, n int) *guardtest.Fleet {
	r := rand.New(rand.NewPCG(seed, 1))
	f := guardtest.New(n)
	f.In.Region.Eligible = map[string]int{"a": 3, "b": 40, "c": 5}
	f.In.Region.Onsets = []guard.RegionOnset{{Group: "a", Member: "x", At: guard.At(f.In.Now)}}
	f.In.Group.Activities = []guard.Activity{{ID: "l", At: f.In.Now, Kind: "launch", Status: "Successful", Member: f.ID(0)}, {ID: "t", At: f.In.Now.Add(-time.Hour), Kind: "terminate", Status: "Successful", Member: "gone", Cause: "a user health-check"}}
	depend(f, []string{guard.AlarmOK, guard.AlarmRed, guard.AlarmNoData}[seed%3])
	for range 3 + seed%3 {
		for i := range f.In.Group.Members {
			disturb(f, r, i)
		}
		f.Sweep()
	}
	return f
}

// disturb may change one member.
func disturb(f *guardtest.Fleet, r *rand.Rand, i int) {
	switch r.IntN(40) {
	case 0, 1:
		f.Break(i)
	case 2:
		f.Heal(i)
	case 3:
		quietFor(f, i)
	case 4:
		f.M(i).Unhealthy = true
	case 5:
		f.M(i).OptedOut = true
	case 6:
		f.M(i).Lifecycle = []string{"Pending", "Standby", "InService", "Terminating"}[r.IntN(4)]
	case 7:
		f.Aim(i, []string{"initial", "draining", "unhealthy", "healthy"}[r.IntN(4)], "")
	case 8:
		f.M(i).Targets = append(f.M(i).Targets, guard.Target{Group: "admin", State: []string{"healthy", "unhealthy"}[r.IntN(2)]})
	case 9:
		f.M(i).Beat.Unreadable = true
	}
}

// bytesOf is a verdict with its state and its part of the Region, as JSON.
func bytesOf(t *testing.T, v guard.Verdict) []byte {
	t.Helper()
	out, err := json.Marshal(struct {
		Verdict guard.Verdict
		State   guard.State
		Region  guard.RegionDelta
	}{v, v.State, v.Region})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheOrderOfMembersDecidesNothing(t *testing.T) {
	const first, shuffles = 20260302, 1000
	t.Logf("seeds %d to %d", first, first+shuffles-1)
	for seed := uint64(first); seed < first+shuffles; seed++ {
		f := busy(seed%23, 12+int(seed%5))
		f.In.Now = f.In.Now.Add(guardtest.Interval)
		wanted := bytesOf(t, guard.Decide(f.In))
		r := rand.New(rand.NewPCG(seed, 2))
		r.Shuffle(len(f.In.Group.Members), func(i, j int) {
			m := f.In.Group.Members
			m[i], m[j] = m[j], m[i]
		})
		if got := bytesOf(t, guard.Decide(f.In)); !bytes.Equal(got, wanted) {
			t.Fatalf("seed %d: another order gives\n%s\nwant\n%s", seed, got, wanted)
		}
	}
}

func TestDecideChangesNoInput(t *testing.T) {
	for seed := range uint64(60) {
		f := busy(seed, 15)
		if seed%5 == 0 {
			f.In.Policy.HoldMaxSeconds, f.In.Policy.HoldExit = 60, guard.ExitPaced
		}
		slices.Reverse(f.In.Group.Members)
		f.In.Now = f.In.Now.Add(guardtest.Interval)
		before := fmt.Sprintf("%#v", deep(t, f.In))
		v := guard.Decide(f.In)
		guard.Withhold(f.In, v)
		guard.Reserve(v.State, v.Marks(), f.In.Now, false)
		guard.RecordSuspended(v.State, f.In.Group.Suspended)
		guard.Delivered(v.State, v.Pages)
		if after := fmt.Sprintf("%#v", deep(t, f.In)); after != before {
			t.Fatalf("seed %d: the input was changed from\n%s\nto\n%s", seed, before, after)
		}
	}
}

// deep is everything that an input leads to, copied.
func deep(t *testing.T, in guard.Input) string {
	t.Helper()
	out, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestTheStateSurvivesItsJSON(t *testing.T) {
	for seed := range uint64(30) {
		f := busy(seed, 15)
		out, err := json.Marshal(f.In.State)
		if err != nil {
			t.Fatal(err)
		}
		var back guard.State
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatal(err)
		}
		in := f.In
		in.Now = in.Now.Add(guardtest.Interval)
		wanted := bytesOf(t, guard.Decide(in))
		in.State = back
		if got := bytesOf(t, guard.Decide(in)); !bytes.Equal(got, wanted) {
			t.Fatalf("seed %d: the state as stored gives\n%s\nwant\n%s", seed, got, wanted)
		}
	}
}

func TestWhatReadersSortDoesNotMatterInActivities(t *testing.T) {
	f := busy(7, 12)
	in := f.In
	in.Now = in.Now.Add(guardtest.Interval)
	wanted := bytesOf(t, guard.Decide(in))
	in.Group.Activities = slices.Clone(in.Group.Activities)
	slices.Reverse(in.Group.Activities)
	if got := bytesOf(t, guard.Decide(in)); !bytes.Equal(got, wanted) {
		t.Errorf("activities in another order give\n%s\nwant\n%s", got, wanted)
	}
}
