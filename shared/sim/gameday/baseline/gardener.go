package baseline

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Gardener is the rule of Gardener's machine-controller-manager.
//
// A machine whose node is not ready, or unknown, for HealthTimeout is replaced, and so is one that has not joined after JoinTimeout, while
// fewer than InFlight machines of its pool are being replaced. Every machine that is neither running nor unknown counts there, so that
// a new one that has not joined yet does; one that is terminating counts twice, so that no second one slips into the gap between a
// deletion and a creation. While the observer itself is out of reach for longer than FreezeAfter nothing is replaced; when it is back,
// every timer starts anew.
//
// Source: machine-controller-manager at 54caf546e (August 2026), machine controller, its safety controller and the documentation of its
// flags: HealthTimeout 10 minutes, JoinTimeout 20 minutes, InFlight 1, FreezeAfter 30 s.
//
// The observer there are two API servers. Here it is the stream of heartbeats: out of reach when nobody at all was heard. Groups in which
// no agent ever spoke never freeze. Left out: the second freeze, for more machines than desired plus surge plus two, which an Auto
// Scaling group never has, and the preserved machines of newer versions.
type Gardener struct {
	HealthTimeout, JoinTimeout time.Duration
	// InFlight is how many machines of a pool may be replaced at a time.
	InFlight int
	// FreezeAfter is how long the observer may be out of reach.
	FreezeAfter time.Duration
}

// DefaultGardener is the rule with its default numbers.
func DefaultGardener() Gardener {
	return Gardener{HealthTimeout: 10 * time.Minute, JoinTimeout: 20 * time.Minute, InFlight: 1, FreezeAfter: 30 * time.Second}
}

// GardenerMemory is what the controller remembers; the zero value is one that just started.
type GardenerMemory struct {
	// Frozen says that the observer was out of reach at the last look.
	Frozen bool
	// Reset is when all timers last started anew.
	Reset time.Time
}

// Decide replaces pool by pool.
func (r Gardener) Decide(o Observation, m *GardenerMemory) Action {
	if !o.Heard.IsZero() && o.Now.Sub(o.Heard) > r.FreezeAfter {
		m.Frozen = true
		return Action{Why: "frozen: nobody is heard"}
	}
	if m.Frozen {
		m.Frozen, m.Reset = false, o.Now
	}
	var a Action
	o.pools(func(_ string, machines []Machine) {
		inProgress := 0
		for _, n := range machines {
			switch {
			case n.Leaving:
				inProgress += 2
			case n.Pending || n.Marked || n.Readiness == Unseen:
				inProgress++
			}
		}
		for _, n := range machines {
			if n.Leaving || n.Marked || n.Pending || n.Readiness == Ready {
				continue
			}
			timeout, own := r.HealthTimeout, 0
			since := n.Since
			if n.Readiness == Unseen {
				timeout, since, own = r.JoinTimeout, n.Created, 1 // it does not stand in its own way
			}
			left := latest(since, m.Reset).Add(timeout).Sub(o.Now)
			switch {
			case left > 0:
				a.recheck(left)
			case inProgress-own >= r.InFlight:
				a.Why = "another machine of the pool is being replaced"
			default:
				a.Replace = append(a.Replace, n.ID)
				inProgress++
			}
		}
	})
	return a
}

// Guardian puts the rule on watch. It looks every 10 s, where the original is woken by changes; a node is Unknown after 40 s of silence.
func (r Gardener) Guardian() gameday.Guardian {
	memory := &GardenerMemory{}
	return &watch{
		name: "gardener-one-at-a-time", period: 10 * time.Second, silence: nodeSilence,
		decide: func(o Observation) Action { return r.Decide(o, memory) },
	}
}
