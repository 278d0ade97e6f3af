package baseline_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

// seeds is how many draws of each day the tests play; -short plays fewer.
func seeds() uint64 {
	if testing.Short() {
		return 1
	}
	return 3
}

// play plays a day to its end and returns the cloud as it was left.
func play(t *testing.T, day gameday.Day, g gameday.Guardian, seed uint64) *sim.Cloud {
	t.Helper()
	c := sim.NewCloud(sim.Config{Seed: seed})
	w := &gameday.World{Cloud: c, Day: day, Start: c.Now()}
	must(t, day.Incident(seed).Start(c))
	must(t, g.Start(w))
	c.Advance(w.Start.Add(day.Duration))
	if failing, ok := g.(interface{ Err() error }); ok && failing.Err() != nil {
		t.Fatalf("%s with %s, seed %d: %v", day.Name, g.Name(), seed, failing.Err())
	}
	return c
}

// total adds up what a day cost.
func total(t *testing.T, c *sim.Cloud, day gameday.Day) (lost, broken int, capacity float64) {
	t.Helper()
	for _, group := range day.Groups {
		s, err := c.Stats(group)
		must(t, err)
		lost, broken, capacity = lost+s.HealthyTerminated, broken+s.BrokenTerminated, capacity+s.CapacityMinutesLost
	}
	return lost, broken, capacity
}

// replacements counts all members that were terminated, for whatever reason.
func replacements(t *testing.T, c *sim.Cloud, day gameday.Day) int {
	t.Helper()
	n := 0
	for _, group := range day.Groups {
		s, err := c.Stats(group)
		must(t, err)
		n += s.HealthyTerminated + s.BrokenTerminated + s.OtherTerminated
	}
	return n
}

func find(t *testing.T, name string) gameday.Day {
	t.Helper()
	day, ok := gameday.Find(name)
	if !ok {
		t.Fatalf("there is no day %q", name)
	}
	return day
}

// The oracle looks right after each step of the script and every five seconds, and what it does takes effect within one; a rule that looked at
// the right moment by chance may be a little earlier for some members. An instance refresh meets its group at other moments with other health checks, which shifts each of its
// terminations by chance as well.
const luck = 3.0 / 60

func TestTheOracleIsTheLimit(t *testing.T) {
	for _, day := range gameday.Days() {
		for seed := range seeds() {
			limit := play(t, day, baseline.Oracle(), seed)
			chances := float64(replacements(t, limit, day))
			lost, _, least := total(t, limit, day)
			if lost > 0 {
				t.Errorf("%s, seed %d: the oracle loses %d healthy members", day.Name, seed, lost)
			}
			for _, guardian := range baseline.All() {
				g := guardian()
				mistaken, _, capacity := total(t, play(t, day, g, seed), day)
				if mistaken > 0 && g.Name() == baseline.OracleWithEvidence().Name() {
					t.Errorf("%s, seed %d: %s loses %d healthy members", day.Name, seed, g.Name(), mistaken)
				}
				if capacity < least-luck*chances-1e-9 {
					t.Errorf("%s, seed %d: %s loses %.2f member minutes, the oracle %.2f", day.Name, seed, g.Name(), capacity, least)
				}
			}
		}
	}
}

func TestTheOraclesReplaceEverythingBrokenForWhichItHelps(t *testing.T) {
	for _, guardian := range []func() gameday.Guardian{baseline.Oracle, baseline.OracleWithEvidence} {
		for _, day := range gameday.Days() {
			for seed := range seeds() {
				g := guardian()
				w := gameday.World{Cloud: play(t, day, g, seed), Day: day}
				for _, group := range day.Groups {
					for _, wrong := range w.Wrong(group) {
						if wrong.Helps {
							t.Errorf("%s, seed %d: %s leaves %s broken by %q", day.Name, seed, g.Name(), wrong.ID, wrong.Truth.Broken)
						}
					}
				}
			}
		}
	}
}

func TestTheOracleHoldsAgainAfterAPersonResumes(t *testing.T) {
	day := find(t, "human-resumes")
	g, _ := play(t, day, baseline.Oracle(), 1).Group("web")
	if len(g.Suspended) != 1 || g.Suspended[0].Process != sim.ProcessHealthCheck {
		t.Errorf("suspended in the end: %v, want HealthCheck alone", g.Suspended)
	}
}

func TestNaiveLosesMembersToEverySharedCauseThatChecksSee(t *testing.T) {
	for _, name := range []string{
		"slow-authorization", "database-failover", "cache-failover", "two-in-turn", "human-resumes", "overload-flaps", "heartbeat-outage",
		"broken-agent-release",
	} {
		day := find(t, name)
		lost := 0
		for seed := range seeds() {
			n, _, _ := total(t, play(t, day, baseline.Naive{}.Guardian(), seed), day)
			lost += n
		}
		if lost == 0 {
			t.Errorf("%s: naive loses nobody in %d seeds", name, seeds())
		}
	}
}

func TestBreakersLoseNobodyWhenEverybodyLooksBroken(t *testing.T) {
	for _, guardian := range []func() gameday.Guardian{
		baseline.DefaultKubernetes().Guardian, baseline.Karpenter().Guardian, baseline.EKS().Guardian, baseline.DefaultEureka().Guardian,
		baseline.DefaultNodeHealthCheck().Guardian, baseline.AutoScalingEC2,
	} {
		for _, name := range []string{"slow-authorization", "database-failover"} {
			day := find(t, name)
			for seed := range seeds() {
				g := guardian()
				if lost, _, _ := total(t, play(t, day, g, seed), day); lost > 0 {
					t.Errorf("%s, seed %d: %s loses %d healthy members", name, seed, g.Name(), lost)
				}
			}
		}
	}
}

func TestGardenerTerminatesOneOfAGroupAtATime(t *testing.T) {
	terminated := 0
	for _, name := range []string{"broken-in-brownout", "human-resumes", "rolling-false-positives", "shared-cache-tenth"} {
		day := find(t, name)
		for seed := range seeds() {
			leaving := map[string]int{}
			for _, e := range play(t, day, baseline.DefaultGardener().Guardian(), seed).Timeline() {
				switch {
				case e.Kind == sim.EventTerminate:
					terminated++
					if leaving[e.Group]++; leaving[e.Group] > 1 {
						t.Errorf("%s, seed %d: %d members of %s leave together", name, seed, leaving[e.Group], e.Group)
					}
				case e.Kind == sim.EventGone && e.Text == "terminated":
					leaving[e.Group]--
				}
			}
		}
	}
	if terminated == 0 {
		t.Error("nobody was ever terminated: the days show too little")
	}
}

func TestASingleBrokenMemberIsReplacedByAllButTheBlindOnes(t *testing.T) {
	blind := map[string]string{
		"auto-scaling-ec2":  "no status check sees what is wrong",
		"envoy-10-percent":  "a tenth of fewer than ten hosts is none",
		"eureka-85-percent": "of six clients the other five renew no more than 85 percent",
	}
	day := find(t, "table-throttled")
	for _, guardian := range baseline.All() {
		name, left := guardian().Name(), 0
		for seed := range uint64(6) {
			lost, broken, _ := total(t, play(t, day, guardian(), seed), day)
			left += 1 - broken
			if lost > 0 {
				t.Errorf("%s, seed %d: %d healthy members lost to one broken one", name, seed, lost)
			}
		}
		if why, isBlind := blind[name]; isBlind != (left > 0) {
			t.Errorf("%s leaves %d of 6 broken members; blind is %v %q", name, left, isBlind, why)
		}
	}
}

func TestTheSameSeedGivesTheSameDay(t *testing.T) {
	day := find(t, "shared-cache-tenth")
	for _, guardian := range baseline.All() {
		story := func(seed uint64) string { return fmt.Sprint(play(t, day, guardian(), seed).Timeline()) }
		if first, again := story(1), story(1); first != again {
			t.Errorf("%s: two stories of one seed", guardian().Name())
		}
	}
}

func TestNamesAreAllDifferent(t *testing.T) {
	seen := map[string]bool{}
	for _, guardian := range baseline.All() {
		g := guardian()
		if seen[g.Name()] {
			t.Errorf("two baselines are named %s", g.Name())
		}
		seen[g.Name()] = true
		if pages := g.Pages(); len(pages) > 0 {
			t.Errorf("%s pages before it began: %v", g.Name(), pages)
		}
	}
}

// BenchmarkDay plays an hour of a tier under each baseline; divide by the figure of auto-scaling-ec2 to see what the looks cost.
func BenchmarkDay(b *testing.B) {
	day, _ := gameday.Find("slow-authorization")
	for _, guardian := range baseline.All() {
		b.Run(guardian().Name(), func(b *testing.B) {
			for range b.N {
				c := sim.NewCloud(sim.Config{Seed: 1})
				w := &gameday.World{Cloud: c, Day: day, Start: c.Now()}
				if err := day.Incident(1).Start(c); err != nil {
					b.Fatal(err)
				}
				if err := guardian().Start(w); err != nil {
					b.Fatal(err)
				}
				c.Advance(w.Start.Add(day.Duration))
			}
			b.ReportMetric(float64(b.N)*float64(len(day.Groups))*day.Duration.Hours()/b.Elapsed().Seconds(), "group-hours/s")
		})
	}
}

func TestTheDocumentationNamesEveryBaseline(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/baselines.md")
	must(t, err)
	for _, guardian := range baseline.All() {
		if name := guardian().Name(); !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/baselines.md has no row for %s", name)
		}
	}
}
