package baseline

import "time"

// Readiness is what a controller believes of one machine.
type Readiness int

const (
	// Unseen is a machine that has not said a word since it was launched.
	Unseen Readiness = iota
	// Ready is a machine that is well, by all that can be seen of it.
	Ready
	// NotReady is a machine that says of itself, or is found, to be unwell.
	NotReady
	// Unknown is a machine that fell silent.
	Unknown
)

// Machine is what a controller sees of one machine at one look.
type Machine struct {
	// ID is the instance ID, Pool the Auto Scaling group, Zone the full name of the Availability Zone.
	ID, Pool, Zone string
	Readiness      Readiness
	// Since is when the controller first saw its present readiness.
	Since time.Time
	// Well is when it was last seen well, by a look that was not left out (see calm.go); zero for a machine that never was.
	Well time.Time
	// Created is when it entered service, or while it is Pending when its launch began.
	Created time.Time
	// Pending says that its launch is not complete.
	Pending bool
	// Leaving says that it is being terminated; its readiness is what it was before.
	Leaving bool
	// Marked says that it is to be terminated and still in service.
	Marked bool
	// Excluded says that an operator took it out of the rule's population, where the rule knows of that.
	Excluded bool
	// Routed says that it gets requests, Success is the share of them that are answered correctly, 0 to 1. Only some rules look at them.
	Routed  bool
	Success float64
}

// Bad says that a machine had been seen, and is unwell or silent now.
func (m Machine) Bad() bool { return bad(m.Readiness) }

// Observation is all that a rule decides from, besides what it remembers.
type Observation struct {
	Now time.Time
	// Machines are those of all pools; machines of one pool stand together, in launch order.
	Machines []Machine
	// Heard is when any machine was last heard; zero when none ever was.
	Heard time.Time
	// Shifted says that a zonal shift is active.
	Shifted bool
}

// Action is what a rule does at one look.
type Action struct {
	// Replace are the IDs of the machines to terminate, in order.
	Replace []string
	// Recheck is when the rule says it has to look again, from now; 0 where it says nothing.
	Recheck time.Duration
	// Why says in a few words why a machine that is unwell is not replaced; empty when nothing was refused.
	Why string
}

// recheck asks for a look not later than after d.
func (a *Action) recheck(d time.Duration) {
	if d > 0 && (a.Recheck == 0 || d < a.Recheck) {
		a.Recheck = d
	}
}

// pools calls visit for the machines of each pool, in order.
func (o Observation) pools(visit func(pool string, machines []Machine)) {
	for from := 0; from < len(o.Machines); {
		to := from + 1
		for to < len(o.Machines) && o.Machines[to].Pool == o.Machines[from].Pool {
			to++
		}
		visit(o.Machines[from].Pool, o.Machines[from:to])
		from = to
	}
}

func latest(times ...time.Time) time.Time {
	var out time.Time
	for _, t := range times {
		if t.After(out) {
			out = t
		}
	}
	return out
}
