package baseline_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

func TestMachineHealthCheckVectors(t *testing.T) {
	limited := func(limit baseline.Amount) baseline.MachineHealthCheck {
		r := baseline.DefaultMachineHealthCheck()
		r.Limit = limit
		return r
	}
	ranged := limited("1")
	ranged.Range = "[3-5]"
	inFlight := baseline.DefaultMachineHealthCheck()
	inFlight.InFlight = "3"
	acts := func(r baseline.MachineHealthCheck, want int, machines ...[]baseline.Machine) func(*testing.T) {
		return func(t *testing.T) { replaces(t, r.Decide(at(0, machines...)), want) }
	}
	run(t, []vector{
		{name: "C1 a limit of 2 acts on 2 bad", show: acts(limited("2"), 2, well(5), sick(2))},
		{name: "C1 a limit of 2 stops at 3 bad", show: acts(limited("2"), 0, well(5), sick(3))},
		{name: "C2 40 percent of 25 acts on 10 bad", show: acts(limited("40%"), 10, well(15), sick(10))},
		{name: "C2 40 percent of 25 stops at 11 bad", show: acts(limited("40%"), 0, well(14), sick(11))},
		{name: "C3 40 percent of 6 is rounded down and acts on 2 bad", show: acts(limited("40%"), 2, well(4), sick(2))},
		{name: "C3 40 percent of 6 is rounded down and stops at 3 bad", show: acts(limited("40%"), 0, well(3), sick(3))},
		{name: "C4 the default acts on all of three bad", show: acts(baseline.DefaultMachineHealthCheck(), 3, sick(3))},
		{name: "C5 a limit that cannot be read allows nothing", show: acts(limited("abcdef"), 0, well(5), sick(1))},
		{name: "C6 a range of 3 to 5 stops below it", show: acts(ranged, 0, well(10), sick(2))},
		{name: "C6 a range of 3 to 5 acts inside it, whatever the limit", show: acts(ranged, 4, well(10), sick(4))},
		{name: "C6 a range of 3 to 5 stops above it", show: acts(ranged, 0, well(10), sick(6))},
		{name: "C7 machines that start count as unhealthy", show: acts(limited("40%"), 0, well(5), sick(3), some(2, "n", unseen, created(time.Minute)))},
		{name: "C8 unknown for 200 s of 300 s is looked at again in 101 s", show: func(t *testing.T) {
			a := baseline.DefaultMachineHealthCheck().Decide(at(0, well(5), some(1, "u", unknown, since(200*time.Second))))
			if replaces(t, a, 0); a.Recheck != 101*time.Second {
				t.Errorf("looks again in %s, want 101s", a.Recheck)
			}
		}},
		{name: "C8 unknown for 400 s is remediated", show: acts(baseline.DefaultMachineHealthCheck(), 1, well(5), some(1, "u", unknown, since(400*time.Second)))},
		{name: "C9 three in flight and two deleting leave room for one of five", show: acts(inFlight, 1, well(5), some(2, "d", leaving), sick(5))},
		{
			name: "C10 the replacement of a replacement fails: retry only within an hour, stop at maxRetry",
			skip: "maxRetry belongs to the control plane's own controller; a pool of workers has none, and an Auto Scaling group is no control plane",
		},
	})
}

func TestMachineHealthCheck(t *testing.T) {
	rule := baseline.DefaultMachineHealthCheck()
	one := rule
	one.InFlight = "1"
	patient := rule
	patient.StartupTimeout = 0
	run(t, []vector{
		{name: "the newest machine goes first", show: func(t *testing.T) {
			a := one.Decide(at(0, well(5), some(1, "old", notReady), some(1, "new", notReady, created(time.Hour)), some(1, "mid", notReady, created(2*time.Hour))))
			if replaced(a) != "new0" {
				t.Errorf("replaces %q, want new0", replaced(a))
			}
		}},
		{name: "a machine that never joined is remediated after the startup timeout", show: func(t *testing.T) {
			replaces(t, rule.Decide(at(0, well(5), some(1, "n", unseen, created(601*time.Second)))), 1)
			replaces(t, rule.Decide(at(0, well(5), some(1, "n", unseen, created(600*time.Second)))), 0)
		}},
		{name: "a startup timeout of 0 waits for ever", show: func(t *testing.T) {
			replaces(t, patient.Decide(at(0, well(5), some(1, "n", unseen, created(long)))), 0)
		}},
		{name: "excluded machines count nowhere", show: func(t *testing.T) {
			r := rule
			r.Limit = "40%"
			replaces(t, r.Decide(at(0, well(3), sick(2))), 2)
			replaces(t, r.Decide(at(0, well(3), sick(2), some(4, "x", notReady, excluded))), 2)
		}},
		{name: "a marked machine is not remediated again and takes its place in flight", show: func(t *testing.T) {
			replaces(t, one.Decide(at(0, well(5), some(1, "m", notReady, marked), sick(2))), 0)
		}},
		{name: "pools are limited apart", show: func(t *testing.T) {
			r := rule
			r.Limit = "40%"
			replaces(t, r.Decide(at(0, well(1, pool("api")), sick(3, pool("api")), well(3, pool("web")), sick(1, pool("web")))), 1)
		}},
		{name: "a range that cannot be read allows nothing", show: func(t *testing.T) {
			r := rule
			r.Range = "[5-3]"
			replaces(t, r.Decide(at(0, well(3), sick(4))), 0)
		}},
	})
}
