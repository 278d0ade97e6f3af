package baseline

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// MachineHealthCheck is the rule of cluster-api's MachineHealthCheck and of the remediation limit of a MachineDeployment. It remembers
// nothing.
//
// A machine whose node is not ready, or unknown, for longer than Timeout is to be remediated, and so is one without a node after
// StartupTimeout from its creation. A limit on the unhealthy is asked first. Unhealthy are all machines that are not positively
// healthy, so that machines that start, that are on their way out, or are bad but not for long enough, count as well; machines that are
// excluded count nowhere. While the limit is passed nothing is remediated; the next look under it goes on at once. A limit that cannot be
// read allows nothing. The newest machine goes first.
//
// Source: cluster-api at ae7ff047 (August 2026), the MachineHealthCheck and MachineSet controllers and their API types: the limit is
// 100 % and the number in flight unlimited by default, a percentage of the limit rounds down, one of the number in flight up, the
// startup timeout is 600 s; Timeout has no default, 300 s is what the documentation shows. OpenShift's fork ships an alert for a limit
// that is passed for 30 minutes; cluster-api itself tells nobody.
//
// Left out: the rules for control planes (their retries, among others), preflight checks, and that only machines of the current
// revision are remediated.
type MachineHealthCheck struct {
	// Label ends the name in tables.
	Label string
	// Limit is the largest number of unhealthy machines with which any is remediated.
	Limit Amount
	// Range is such a limit with two ends, "[3-5]"; when it is set, Limit says nothing.
	Range string
	// InFlight is how many machines may be on their way out at a time; empty for any number.
	InFlight Amount
	// Timeout and StartupTimeout are how long a machine may be bad, and have no node. A StartupTimeout of 0 waits for ever.
	Timeout, StartupTimeout time.Duration
}

// DefaultMachineHealthCheck is the rule with its default limits, which limit nothing.
func DefaultMachineHealthCheck() MachineHealthCheck {
	return MachineHealthCheck{Label: "defaults", Limit: "100%", Timeout: 300 * time.Second, StartupTimeout: 600 * time.Second}
}

// CarefulMachineHealthCheck is the rule with a limit of 40 %, the example in its documentation, and one machine in flight.
func CarefulMachineHealthCheck() MachineHealthCheck {
	r := DefaultMachineHealthCheck()
	r.Label, r.Limit, r.InFlight = "40-percent-one-in-flight", "40%", "1"
	return r
}

// Decide remediates within the limits, pool by pool.
func (r MachineHealthCheck) Decide(o Observation) Action {
	var a Action
	o.pools(func(_ string, machines []Machine) { r.pool(&a, o.Now, machines) })
	return a
}

func (r MachineHealthCheck) pool(a *Action, now time.Time, machines []Machine) {
	expected, healthy, leaving := 0, 0, 0
	var due []Machine
	for _, m := range machines {
		if m.Leaving || m.Marked {
			leaving++
		}
		if m.Excluded {
			continue
		}
		expected++
		if m.Leaving || m.Marked {
			continue
		}
		if m.Readiness == Ready {
			healthy++
			continue
		}
		left, limited := r.left(m, now)
		switch {
		case !limited:
		case left < 0:
			due = append(due, m)
		default:
			a.recheck(left + time.Second)
		}
	}
	if len(due) == 0 {
		return
	}
	unhealthy := expected - healthy
	if why := r.refuses(unhealthy, expected); why != "" {
		a.Why = why
		return
	}
	slices.SortStableFunc(due, func(x, y Machine) int { return y.Created.Compare(x.Created) })
	if r.InFlight != "" {
		most, err := r.InFlight.Of(len(machines), true)
		if err != nil {
			a.Why = err.Error()
			return
		}
		if room := max(0, most-leaving); room < len(due) {
			a.Why, due = fmt.Sprintf("%d in flight, at most %d", leaving, most), due[:room]
		}
	}
	for _, m := range due {
		a.Replace = append(a.Replace, m.ID)
	}
}

// left is how long a machine that is not ready may stay so; negative when that is over.
func (r MachineHealthCheck) left(m Machine, now time.Time) (d time.Duration, limited bool) {
	if m.Readiness == Unseen {
		return m.Created.Add(r.StartupTimeout).Sub(now), r.StartupTimeout > 0
	}
	return m.Since.Add(r.Timeout).Sub(now), true
}

// refuses says why so many unhealthy machines are too many, or too few, to remediate any; nothing when they are not.
func (r MachineHealthCheck) refuses(unhealthy, expected int) string {
	if r.Range != "" {
		var low, high int
		if n, err := fmt.Sscanf(r.Range, "[%d-%d]", &low, &high); n != 2 || err != nil || low > high {
			return fmt.Sprintf("read range %q: want [low-high]", r.Range)
		}
		if unhealthy < low || unhealthy > high {
			return fmt.Sprintf("%d unhealthy, want %s", unhealthy, r.Range)
		}
		return ""
	}
	most, err := r.Limit.Of(expected, false)
	if err != nil {
		return err.Error()
	}
	if unhealthy > most {
		return fmt.Sprintf("%d unhealthy of %d, at most %d", unhealthy, expected, most)
	}
	return ""
}

// Guardian puts the rule on watch. It looks every 15 s, the least time between two of its looks; a node is Unknown after 40 s of silence, as
// the node lifecycle controller has it.
func (r MachineHealthCheck) Guardian() gameday.Guardian {
	return &watch{name: "machine-health-check-" + r.Label, period: 15 * time.Second, silence: nodeSilence, decide: r.Decide}
}
