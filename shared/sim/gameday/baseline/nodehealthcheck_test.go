package baseline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

func TestNodeHealthCheckVectors(t *testing.T) {
	storms := baseline.NodeHealthCheck{MinHealthy: "4", Duration: 300 * time.Second, Cooldown: 10 * time.Minute}
	// story plays N1 to N5: three remediated, a fourth breaks, recovers, breaks again and recovers, while a fifth waits for its turn.
	type step struct {
		at       time.Duration
		machines [][]baseline.Machine
		replaces int
		storm    bool
	}
	three := sick(3, named("first"), leaving)
	fourth, waiting := sick(1, named("fourth"), since(0)), some(1, "waiting", notReady)
	play := func(t *testing.T, steps ...step) {
		t.Helper()
		var m baseline.NodeHealthCheckMemory
		for n, s := range steps {
			a := storms.Decide(at(s.at, s.machines...), &m)
			if active, _ := m.Storm("web"); len(a.Replace) != s.replaces || active != s.storm {
				t.Errorf("step %d, after %s: replaces %q (why not: %q), storm %v; want %d, %v", n, s.at, replaced(a), a.Why, active, s.replaces, s.storm)
			}
		}
	}
	n1 := step{0, [][]baseline.Machine{well(4), sick(3)}, 3, false}
	n2 := step{time.Minute, [][]baseline.Machine{well(3), three, fourth}, 0, true}
	n3 := step{2 * time.Minute, [][]baseline.Machine{well(4), three, waiting}, 0, true}
	n3late := step{11 * time.Minute, [][]baseline.Machine{well(4), three, waiting}, 0, true}
	n4 := step{11*time.Minute + time.Second, [][]baseline.Machine{well(3), three, waiting, fourth}, 0, true}
	n5 := step{13 * time.Minute, [][]baseline.Machine{well(4), three, waiting}, 0, true}
	run(t, []vector{
		{name: "N1 four of seven healthy at a minimum of four: three are remediated, no storm", show: func(t *testing.T) { play(t, n1) }},
		{name: "N2 one more bad: a storm, and nobody new", show: func(t *testing.T) { play(t, n1, n2) }},
		{name: "N3 one recovers: the cooldown runs, and still nobody new", show: func(t *testing.T) { play(t, n1, n2, n3, n3late) }},
		{name: "N4 a second dip clears the cooldown", show: func(t *testing.T) {
			play(t, n1, n2, n3, n4, step{13 * time.Minute, n4.machines, 0, true})
		}},
		{name: "N5 the next recovery waits for a full cooldown, then takes the waiting node", show: func(t *testing.T) {
			play(t, n1, n2, n3, n4, n5, step{23*time.Minute - time.Second, n5.machines, 0, true}, step{23 * time.Minute, n5.machines, 1, false})
		}},
		{name: "N6 75 percent of ten is eight healthy, or two by MaxUnhealthy", show: func(t *testing.T) {
			for _, c := range []struct {
				rule baseline.NodeHealthCheck
				want int
			}{{baseline.NodeHealthCheck{MinHealthy: "75%"}, 8}, {baseline.NodeHealthCheck{MaxUnhealthy: "75%"}, 2}} {
				if got, err := c.rule.Fewest(10); err != nil || got != c.want {
					t.Errorf("%+v: %d healthy at least, %v; want %d", c.rule, got, err, c.want)
				}
			}
		}},
		{name: "N7 both limits or neither are refused", show: func(t *testing.T) {
			for _, r := range []baseline.NodeHealthCheck{{}, {MinHealthy: "51%", MaxUnhealthy: "1"}} {
				if err := r.Validate(); !errors.Is(err, baseline.ErrOneLimit) {
					t.Errorf("%+v: %v, want ErrOneLimit", r, err)
				}
			}
			if err := baseline.DefaultNodeHealthCheck().Validate(); err != nil {
				t.Errorf("the default: %v", err)
			}
			if err := (baseline.NodeHealthCheck{MinHealthy: "most"}).Validate(); !errors.Is(err, baseline.ErrAmount) {
				t.Errorf("a limit in words: %v, want ErrAmount", err)
			}
		}},
		{name: "N8 a pause with a reason: nobody new, and the reason is told", show: func(t *testing.T) {
			r := baseline.DefaultNodeHealthCheck()
			r.PauseRequests = []string{"a release is running"}
			a := r.Decide(at(0, well(6), sick(1)), &baseline.NodeHealthCheckMemory{})
			if replaces(t, a, 0); !strings.Contains(a.Why, "a release is running") {
				t.Errorf("why: %q, want the reason", a.Why)
			}
		}},
	})
}

func TestNodeHealthCheck(t *testing.T) {
	rule := baseline.DefaultNodeHealthCheck()
	decide := func(machines ...[]baseline.Machine) baseline.Action {
		return rule.Decide(at(0, machines...), &baseline.NodeHealthCheckMemory{})
	}
	run(t, []vector{
		{name: "51 percent is rounded up from two nodes to eleven", show: func(t *testing.T) {
			for nodes, fewest := range map[int]int{2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4, 8: 5, 9: 5, 10: 6, 11: 6} {
				replaces(t, decide(well(fewest), sick(nodes-fewest)), nodes-fewest)
				replaces(t, decide(well(fewest-1), sick(nodes-fewest+1)), 0)
			}
		}},
		{name: "a node waits for its 300 s", show: func(t *testing.T) {
			a := decide(well(6), sick(1, since(299*time.Second)))
			if replaces(t, a, 0); a.Recheck != time.Second {
				t.Errorf("looks again in %s, want 1s", a.Recheck)
			}
			replaces(t, decide(well(6), sick(1, since(300*time.Second))), 1)
		}},
		{name: "pools have storms of their own", show: func(t *testing.T) {
			replaces(t, decide(well(1, pool("api")), sick(3, pool("api")), well(3, pool("web")), sick(1, pool("web"))), 1)
		}},
		{name: "without a cooldown the storm ends with the dip", show: func(t *testing.T) {
			var m baseline.NodeHealthCheckMemory
			replaces(t, rule.Decide(at(0, well(2), sick(5)), &m), 0)
			replaces(t, rule.Decide(at(time.Second, well(4), sick(3)), &m), 3)
		}},
	})
}
