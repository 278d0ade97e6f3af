package gameday_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// guardians are those of this package.
func guardians() []func() gameday.Guardian {
	return []func() gameday.Guardian{
		gameday.Holdfast, gameday.HoldfastBesideELB, func() gameday.Guardian { return gameday.Nobody("EC2") },
		func() gameday.Guardian { return gameday.Nobody("EC2", "ELB") },
	}
}

func mustPlay(t *testing.T, day gameday.Day, g gameday.Guardian, seed uint64) gameday.Measure {
	t.Helper()
	m, err := gameday.Play(day, g, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheSameDayGuardianAndSeedGiveTheSameMeasure(t *testing.T) {
	for _, day := range gameday.Days() {
		for _, guardian := range guardians() {
			one, two := mustPlay(t, day, guardian(), 7), mustPlay(t, day, guardian(), 7)
			if one != two {
				t.Errorf("%s with %s: %+v and then %+v", day.Name, guardian().Name(), one, two)
			}
		}
	}
}

func TestAnotherSeedIsAnotherDay(t *testing.T) {
	for _, day := range gameday.Days() {
		seen := map[string]bool{}
		for seed := range uint64(50) {
			text := ""
			for _, step := range day.Incident(seed).Script {
				text += step.At.String() + step.About + "\n"
			}
			seen[text] = true
		}
		if len(seen) < 40 {
			t.Errorf("%s: only %d different scripts of 50 seeds", day.Name, len(seen))
		}
	}
}

func TestDaysAreWhole(t *testing.T) {
	days := gameday.Days()
	if len(days) != 22 {
		t.Errorf("%d days, want 22", len(days))
	}
	for i, day := range days {
		if i > 0 && days[i-1].Name >= day.Name {
			t.Errorf("%s stands after %s", day.Name, days[i-1].Name)
		}
		found, ok := gameday.Find(day.Name)
		if !ok || found.About == "" || len(found.Groups) == 0 || found.Duration <= 0 {
			t.Errorf("%s is incomplete or cannot be found", day.Name)
		}
		for seed := range uint64(200) {
			in := day.Incident(seed)
			for n, step := range in.Script {
				if step.At <= 0 || step.At >= in.Duration || step.About == "" || n > 0 && step.At < in.Script[n-1].At {
					t.Fatalf("%s, seed %d: step %d at %s is out of order or empty", day.Name, seed, n, step.At)
				}
			}
		}
	}
	if _, ok := gameday.Find("none"); ok {
		t.Error("found a day that does not exist")
	}
}
