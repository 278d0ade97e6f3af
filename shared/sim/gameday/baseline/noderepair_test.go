package baseline_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

func TestNodeRepairVectors(t *testing.T) {
	karpenter, eks := baseline.Karpenter(), baseline.EKS()
	acts := func(r baseline.NodeRepair, want, good, bad int) func(*testing.T) {
		return func(t *testing.T) { replaces(t, r.Decide(at(0, well(good), sick(bad))), want) }
	}
	run(t, []vector{
		{name: "R1 ten nodes, three bad: none, and another look in five minutes", show: func(t *testing.T) {
			a := karpenter.Decide(at(0, well(7), sick(3)))
			if replaces(t, a, 0); a.Recheck != 5*time.Minute {
				t.Errorf("looks again in %s, want 5m", a.Recheck)
			}
		}},
		{name: "R2 three nodes, one bad: it goes, since 20 percent is rounded up", show: acts(karpenter, 1, 2, 1)},
		{name: "R3 four nodes, two bad: blocked", show: acts(karpenter, 0, 2, 2)},
		{name: "R4 ten nodes, two bad: both at once", show: acts(karpenter, 2, 8, 2)},
		{name: "R5 five nodes of EKS, three bad: not halted", show: acts(eks, 3, 2, 3)},
		{name: "R6 six nodes of EKS, two bad: halted", show: acts(eks, 0, 4, 2)},
		{name: "R7 no new repair while a zonal shift is active", show: func(t *testing.T) {
			o := at(0, well(9), sick(1))
			replaces(t, eks.Decide(o), 1)
			o.Shifted = true
			replaces(t, eks.Decide(o), 0)
		}},
		{name: "R8 bad for 29 minutes: exactly the minute that is left", show: func(t *testing.T) {
			a := karpenter.Decide(at(0, well(9), sick(1, since(29*time.Minute))))
			if replaces(t, a, 0); a.Recheck != time.Minute {
				t.Errorf("looks again in %s, want 1m", a.Recheck)
			}
			replaces(t, karpenter.Decide(at(time.Minute, well(9), sick(1, since(29*time.Minute)))), 1)
		}},
	})
}

func TestNodeRepair(t *testing.T) {
	rule := baseline.Karpenter()
	run(t, []vector{
		{name: "a node that is bad for a moment counts against the limit", show: func(t *testing.T) {
			replaces(t, rule.Decide(at(0, well(7), sick(1), some(2, "m", unknown, since(time.Second)))), 0)
		}},
		{name: "a machine that never joined is no node", show: func(t *testing.T) {
			replaces(t, rule.Decide(at(0, well(3), sick(2), some(6, "n", unseen))), 0)
		}},
		{name: "20 percent is rounded up from one node to eleven", show: func(t *testing.T) {
			for nodes, most := range []int{0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3} {
				for bad := 1; bad <= nodes; bad++ {
					want := bad
					if bad > most {
						want = 0
					}
					if a := rule.Decide(at(0, well(nodes-bad), sick(bad))); len(a.Replace) != want {
						t.Errorf("%d of %d bad: replaces %d, want %d", bad, nodes, len(a.Replace), want)
					}
				}
			}
		}},
	})
}
