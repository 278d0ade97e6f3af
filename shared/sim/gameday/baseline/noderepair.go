package baseline

import (
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// NodeRepair is the rule of Karpenter's node repair and, with other numbers, of the node auto repair of EKS managed node groups. It
// remembers nothing.
//
// A node whose Ready condition is False or Unknown for Toleration is terminated by force, unless too many nodes of its pool are not
// ready at that moment, for however short a time. Then it asks again after Retry. There is neither a limit in flight nor a rate: all
// nodes whose time has come go at once. Only nodes count: a machine that never joined is none.
//
// Source: Karpenter at 22664681, node health controller, and the repair policies of its AWS provider at 1d927085: 30 minutes for
// Ready, 20 % rounded up and not to be set, retry after 5 minutes. EKS user guide on node health: repair is halted when more than
// five nodes, and more than 20 %, are unhealthy, and during a zonal shift. What goes on when a repair is halted for a shift, and
// whether EKS rounds, is not documented; the share is compared exactly.
//
// Left out: conditions other than Ready (accelerators after 10 minutes, storage, network, kernel, container runtime), which a node
// agent reads from logs, and the settings for repairs in parallel, which are off by default.
type NodeRepair struct {
	// Name is the name in tables.
	Name string
	// Toleration is how long a node may be unwell.
	Toleration time.Duration
	// Percent of the pool is the most that may be unhealthy; RoundUp makes it a whole number of nodes, upwards.
	Percent int
	RoundUp bool
	// SmallPool is the number of nodes up to which the percentage says nothing.
	SmallPool int
	// ShiftHalts repairs nothing while a zonal shift is active.
	ShiftHalts bool
	// Retry is how soon it asks again after it was halted.
	Retry time.Duration
}

// Karpenter is the rule with Karpenter's numbers.
func Karpenter() NodeRepair {
	return NodeRepair{Name: "karpenter", Toleration: 30 * time.Minute, Percent: 20, RoundUp: true, Retry: 5 * time.Minute}
}

// EKS is the rule with the numbers of EKS managed node groups.
func EKS() NodeRepair {
	return NodeRepair{
		Name: "eks-node-repair", Toleration: 30 * time.Minute, Percent: 20, SmallPool: 5, ShiftHalts: true, Retry: 5 * time.Minute,
	}
}

// Decide repairs pool by pool.
func (r NodeRepair) Decide(o Observation) Action {
	var a Action
	o.pools(func(_ string, machines []Machine) { r.pool(&a, o, machines) })
	return a
}

func (r NodeRepair) pool(a *Action, o Observation, machines []Machine) {
	nodes, unhealthy := 0, 0
	var due []string
	for _, m := range machines {
		if m.Pending || m.Readiness == Unseen {
			continue
		}
		nodes++
		if !m.Bad() {
			continue
		}
		unhealthy++
		switch left := m.Since.Add(r.Toleration).Sub(o.Now); {
		case m.Leaving || m.Marked:
		case left > 0:
			a.recheck(left)
		default:
			due = append(due, m.ID)
		}
	}
	if len(due) == 0 {
		return
	}
	switch {
	case r.ShiftHalts && o.Shifted:
		a.Why = "a zonal shift is active"
	case r.tooMany(unhealthy, nodes):
		a.Why = fmt.Sprintf("%d of %d unhealthy, at most %d %%", unhealthy, nodes, r.Percent)
	default:
		a.Replace = append(a.Replace, due...)
		return
	}
	a.recheck(r.Retry)
}

func (r NodeRepair) tooMany(unhealthy, nodes int) bool {
	if nodes <= r.SmallPool {
		return false
	}
	if r.RoundUp {
		return unhealthy > (nodes*r.Percent+99)/100
	}
	return unhealthy*100 > nodes*r.Percent
}

// Guardian puts the rule on watch. It looks every 15 s, where the original is woken by changes; a node is Unknown after 40 s of silence.
func (r NodeRepair) Guardian() gameday.Guardian {
	return &watch{name: r.Name, period: 15 * time.Second, silence: nodeSilence, decide: r.Decide}
}
