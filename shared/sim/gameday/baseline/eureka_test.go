package baseline_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

// registry is a server that knows these machines, and expects so many clients.
func registry(expected int, machines ...[]baseline.Machine) *baseline.EurekaMemory {
	m := &baseline.EurekaMemory{Expected: expected, Leases: map[string]time.Time{}, Ran: noon().Add(-time.Minute), Updated: noon()}
	for _, n := range slices.Concat(machines...) {
		m.Leases[n.ID] = n.Well
	}
	return m
}

func TestEurekaVectors(t *testing.T) {
	rule := baseline.DefaultEureka()
	silent := func(n int) []baseline.Machine { return some(n, "x", unknown, lastWell(time.Hour)) }
	run(t, []vector{
		{name: "E1 100 leases, 40 expired, renewals suffice: 15 go, by chance", show: func(t *testing.T) {
			chosen := func(seed uint64) string {
				m := registry(60, well(60), silent(40))
				m.Random = rand.New(rand.NewPCG(seed, 0))
				a := rule.Decide(at(0, well(60), silent(40)), m)
				replaces(t, a, 15)
				return replaced(a)
			}
			if chosen(1) == chosen(2) {
				t.Error("two seeds choose the same, want chance")
			}
			if first, again := chosen(3), chosen(3); first != again {
				t.Error("one seed chooses differently, want the same")
			}
		}},
		{name: "E2 exactly the threshold, 170 renewals for 100: none", show: func(t *testing.T) {
			replaces(t, rule.Decide(at(0, well(85), silent(15)), registry(100, well(85), silent(15))), 0)
			replaces(t, rule.Decide(at(0, well(86), silent(14)), registry(100, well(86), silent(14))), 14)
		}},
		{name: "E3 of seven leases two may go, of six one", show: func(t *testing.T) {
			if seven, six := rule.MostEvicted(7), rule.MostEvicted(6); seven != 2 || six != 1 {
				t.Errorf("at most %d of 7 and %d of 6, want 2 and 1", seven, six)
			}
			// With nothing expected any renewal suffices, so that the limit alone decides.
			replaces(t, rule.Decide(at(0, well(1), silent(6)), registry(0, well(1), silent(6))), 2)
			replaces(t, rule.Decide(at(0, well(1), silent(5)), registry(0, well(1), silent(5))), 1)
		}},
		{name: "E4 a run that is 10 ms late lets leases live 10 ms longer, a gap of 12 minutes 11 minutes", show: func(t *testing.T) {
			for _, late := range []time.Duration{10 * time.Millisecond, 11 * time.Minute} {
				for _, c := range []struct {
					over time.Duration // beyond the life of the lease
					want int
				}{{late, 0}, {late + time.Millisecond, 1}} {
					old := some(1, "x", unknown, lastWell(2*rule.Lease+c.over))
					m := registry(9, well(9), old)
					m.Ran = noon().Add(-rule.Interval - late)
					replaces(t, rule.Decide(at(0, well(9), old), m), c.want)
				}
			}
		}},
		{name: "E5 30 of 100 scaled in without a cancel are taken for an outage: Eureka's own failure, which this rule has", show: func(t *testing.T) {
			a := rule.Decide(at(0, well(69), silent(1)), registry(100, well(99), silent(1)))
			if replaces(t, a, 0); a.Why == "" {
				t.Error("refuses nothing, want self-preservation")
			}
		}},
	})
}

func TestEureka(t *testing.T) {
	rule := baseline.DefaultEureka()
	old := some(1, "x", unknown, lastWell(181*time.Second))
	run(t, []vector{
		{name: "a lease lives for twice 90 s", show: func(t *testing.T) {
			replaces(t, rule.Decide(at(0, well(9), old), registry(9, well(9), old)), 1)
			alive := some(1, "x", unknown, lastWell(180*time.Second))
			replaces(t, rule.Decide(at(0, well(9), alive), registry(9, well(9), alive)), 0)
		}},
		{name: "a machine that is well when it shuts down cancels, one that is unwell does not", show: func(t *testing.T) {
			m := registry(10, well(8), sick(2))
			rule.Decide(at(0, well(7), some(1, "w7x"), some(1, "s", notReady, leaving), sick(2)[1:]), m)
			if m.Expected != 11 {
				t.Errorf("expects %d after one registered and one left unwell, want 11", m.Expected)
			}
			gone := well(7)
			gone[6].Leaving = true
			rule.Decide(at(time.Minute, gone, some(1, "w7x")), m)
			if m.Expected != 10 {
				t.Errorf("expects %d after one cancelled, want 10", m.Expected)
			}
		}},
		{name: "after 15 minutes the expectation follows the leases, if they are more than 85 percent", show: func(t *testing.T) {
			for _, c := range []struct{ left, want int }{{86, 86}, {85, 100}} {
				m := registry(100, well(100))
				rule.Decide(at(15*time.Minute, well(c.left)), m)
				if m.Expected != c.want {
					t.Errorf("%d of 100 left: expects %d, want %d", c.left, m.Expected, c.want)
				}
			}
		}},
	})
}
