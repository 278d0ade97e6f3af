package baseline_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

func TestGardenerVectors(t *testing.T) {
	rule := baseline.DefaultGardener()
	acts := func(want int, machines ...[]baseline.Machine) func(*testing.T) {
		return func(t *testing.T) { replaces(t, rule.Decide(at(0, machines...), &baseline.GardenerMemory{}), want) }
	}
	run(t, []vector{
		{name: "G1 two timed out in one pool: one", show: acts(1, well(4), sick(2))},
		{name: "G2 one timed out and one failed already: none", show: acts(0, well(4), sick(1), some(1, "m", notReady, marked))},
		{name: "G3 two pools: one each", show: acts(2, well(4, pool("api")), sick(2, pool("api")), well(4, pool("web")), sick(2, pool("web")))},
		{name: "G4 the observer is back after a freeze: none until ten minutes anew", show: func(t *testing.T) {
			var m baseline.GardenerMemory
			look := func(after, heardAgo time.Duration, want int) {
				t.Helper()
				o := at(after, well(4), sick(1))
				o.Heard = o.Now.Add(-heardAgo)
				replaces(t, rule.Decide(o, &m), want)
			}
			look(0, 31*time.Second, 0)
			look(time.Minute, time.Second, 0)
			look(11*time.Minute-time.Second, time.Second, 0)
			look(11*time.Minute, time.Second, 1)
		}},
		{name: "G5 one is terminating and counts twice: none", show: acts(0, well(4), sick(1), some(1, "t", leaving))},
	})
}

func TestGardener(t *testing.T) {
	rule := baseline.DefaultGardener()
	two := rule
	two.InFlight = 2
	run(t, []vector{
		{name: "one that is terminating leaves no room for a second even at two in flight", show: func(t *testing.T) {
			replaces(t, two.Decide(at(0, well(4), sick(2), some(1, "t", leaving)), &baseline.GardenerMemory{}), 0)
			replaces(t, two.Decide(at(0, well(4), sick(3)), &baseline.GardenerMemory{}), 2)
		}},
		{name: "a machine that has not joined holds the place, and is replaced itself after 20 minutes", show: func(t *testing.T) {
			replaces(t, rule.Decide(at(0, well(4), sick(1), some(1, "n", unseen, created(time.Minute))), &baseline.GardenerMemory{}), 0)
			a := rule.Decide(at(0, well(4), some(1, "n", unseen, created(20*time.Minute))), &baseline.GardenerMemory{})
			if replaced(a) != "n0" {
				t.Errorf("replaces %q, want n0", replaced(a))
			}
		}},
		{name: "a machine waits for its ten minutes", show: func(t *testing.T) {
			a := rule.Decide(at(0, well(4), sick(1, since(9*time.Minute))), &baseline.GardenerMemory{})
			if replaces(t, a, 0); a.Recheck != time.Minute {
				t.Errorf("looks again in %s, want 1m", a.Recheck)
			}
		}},
		{name: "a fleet that never spoke does not freeze", show: func(t *testing.T) {
			replaces(t, rule.Decide(at(0, well(4), sick(1)), &baseline.GardenerMemory{}), 1)
		}},
	})
}
