package baseline

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// nodeSilence is after how long without a word a node is Unknown: node-monitor-grace-period of the node lifecycle controller, 40 s when
// the numbers of this package were read (50 s in newer trees).
const nodeSilence = 40 * time.Second

// Kubernetes is the rule of the Kubernetes node lifecycle controller, zone by zone over all pools.
//
// A node that is not ready is put in the queue of its zone. The queue is emptied into taints at the rate of the zone, one at a time; a
// node that still is not ready EvictAfter its taint is evicted from. A taint goes when the node is ready. The rate depends on the zone:
//
//   - no node ready: the zone is full, and is drained at the normal Rate, as if it were dead;
//   - more than two not ready, and at least UnhealthyShare of the zone: SlowRate in a zone of more than LargeZone nodes, else none;
//   - otherwise: Rate.
//
// When every zone is full, nothing is tainted, all taints and queues go; when any node is ready again, every timer starts anew. A node
// that never said a word counts as not ready in its zone, and is to be tainted after StartupGrace. Excluded nodes count in no zone.
//
// Source: Kubernetes, node lifecycle controller and its scheduler, the documentation of its flags and of node taints: Rate 0.1 a second,
// SlowRate 0.01, UnhealthyShare 0.55, LargeZone 50, tolerationSeconds 300, node-startup-grace-period 60 s.
type Kubernetes struct {
	// Rate and SlowRate are in nodes a second.
	Rate, SlowRate float64
	// UnhealthyShare of a zone that is not ready makes it partly disrupted, 0 to 1.
	UnhealthyShare float64
	// LargeZone is the largest zone that is small.
	LargeZone int
	// EvictAfter is how long a node is not ready and tainted before it is evicted from.
	EvictAfter time.Duration
	// StartupGrace is how long a node may say nothing after it was created.
	StartupGrace time.Duration
}

// DefaultKubernetes is the rule with its default numbers.
func DefaultKubernetes() Kubernetes {
	return Kubernetes{
		Rate: 0.1, SlowRate: 0.01, UnhealthyShare: 0.55, LargeZone: 50, EvictAfter: 300 * time.Second, StartupGrace: time.Minute,
	}
}

// ZoneState is how a zone looks as a whole.
type ZoneState string

// The states of a zone, as the original names them.
const (
	ZoneNormal  ZoneState = "Normal"
	ZonePartial ZoneState = "PartialDisruption"
	ZoneFull    ZoneState = "FullDisruption"
)

// Zone is the state of a zone with so many ready and not ready nodes.
func (k Kubernetes) Zone(ready, notReady int) ZoneState {
	switch {
	case ready == 0 && notReady > 0:
		return ZoneFull
	case notReady > 2 && float64(notReady)/float64(ready+notReady) >= k.UnhealthyShare:
		return ZonePartial
	}
	return ZoneNormal
}

// ZoneRate is the rate of a zone of so many nodes, in nodes a second, while not every zone is full.
func (k Kubernetes) ZoneRate(state ZoneState, nodes int) float64 {
	switch {
	case state != ZonePartial:
		return k.Rate
	case nodes > k.LargeZone:
		return k.SlowRate
	}
	return 0
}

// KubernetesMemory is what the controller remembers between two looks; the zero value is a controller that just started.
type KubernetesMemory struct {
	// AllFull says that every zone was full at the last look.
	AllFull bool
	// Reset is when all timers last started anew.
	Reset time.Time
	// Tainted is since when a node is tainted.
	Tainted map[string]time.Time
	zones   map[string]*zoneMemory
}

type zoneMemory struct {
	ready, notReady int
	rate            float64
	next            time.Time // no taint before
}

// State returns the state of a zone at the last look.
func (m *KubernetesMemory) State(k Kubernetes, zone string) ZoneState {
	if z := m.zones[zone]; z != nil {
		return k.Zone(z.ready, z.notReady)
	}
	return ZoneNormal
}

// ZoneRate returns the rate of a zone at the last look, in nodes a second.
func (m *KubernetesMemory) ZoneRate(zone string) float64 {
	if z := m.zones[zone]; z != nil {
		return z.rate
	}
	return 0
}

// Decide taints and evicts.
func (k Kubernetes) Decide(o Observation, m *KubernetesMemory) Action {
	if m.Tainted == nil {
		m.Tainted, m.zones = map[string]time.Time{}, map[string]*zoneMemory{}
	}
	if k.count(o, m) {
		m.AllFull = true
		clear(m.Tainted)
		for _, z := range m.zones {
			z.rate = 0
		}
		return Action{Why: "every zone is fully disrupted"}
	}
	if m.AllFull {
		m.AllFull, m.Reset = false, o.Now
	}
	for _, z := range m.zones {
		rate := k.ZoneRate(k.Zone(z.ready, z.notReady), z.ready+z.notReady)
		if rate != z.rate {
			z.setRate(rate, o.Now)
		}
	}
	k.taint(o, m)
	var a Action
	for _, node := range o.Machines {
		since, tainted := m.Tainted[node.ID]
		switch {
		case !tainted:
		case node.Readiness == Ready:
			delete(m.Tainted, node.ID)
		case node.Leaving || node.Marked:
		case o.Now.Sub(since) >= k.EvictAfter:
			a.Replace = append(a.Replace, node.ID)
		default:
			a.recheck(since.Add(k.EvictAfter).Sub(o.Now))
		}
	}
	return a
}

// count counts the nodes of each zone, and says whether every zone is full.
func (k Kubernetes) count(o Observation, m *KubernetesMemory) bool {
	for _, z := range m.zones {
		z.ready, z.notReady = 0, 0
	}
	for _, node := range o.Machines {
		if node.Pending || node.Excluded {
			continue
		}
		z := m.zones[node.Zone]
		if z == nil {
			z = &zoneMemory{rate: k.Rate, next: o.Now}
			m.zones[node.Zone] = z
		}
		if node.Readiness == Ready {
			z.ready++
		} else {
			z.notReady++
		}
	}
	nodes := 0
	for _, z := range m.zones {
		nodes += z.notReady
		if z.ready > 0 {
			return false
		}
	}
	return nodes > 0
}

// setRate changes the rate of a zone; a taint that was waited for is waited for at the new rate.
func (z *zoneMemory) setRate(rate float64, now time.Time) {
	z.rate = rate
	if z.next.After(now) && rate > 0 {
		z.next = now.Add(perNode(rate))
	}
}

func perNode(rate float64) time.Duration { return time.Duration(float64(time.Second) / rate) }

// taint takes from the queue of each zone what its rate allows: one node at most, since tokens do not add up.
func (k Kubernetes) taint(o Observation, m *KubernetesMemory) {
	var queue []Machine
	for _, node := range o.Machines {
		if _, tainted := m.Tainted[node.ID]; !tainted && k.due(node, o.Now, m.Reset) {
			queue = append(queue, node)
		}
	}
	slices.SortStableFunc(queue, func(x, y Machine) int { return cmp.Compare(x.Since.UnixNano(), y.Since.UnixNano()) })
	for _, node := range queue {
		z := m.zones[node.Zone]
		if z == nil || z.rate == 0 || o.Now.Before(z.next) {
			continue
		}
		m.Tainted[node.ID] = o.Now
		z.next = o.Now.Add(perNode(z.rate))
	}
}

// due says whether a node belongs in the queue of its zone. After all timers started anew, silence has to last as long as before.
func (k Kubernetes) due(node Machine, now, reset time.Time) bool {
	switch node.Readiness {
	case Ready:
		return false
	case NotReady:
		return !node.Leaving
	case Unknown:
		return !node.Leaving && (reset.IsZero() || now.Sub(reset) >= nodeSilence)
	case Unseen:
		return !node.Leaving && !node.Pending && now.Sub(latest(node.Created, reset)) >= k.StartupGrace
	}
	return false
}

// Guardian puts the rule on watch, at its node-monitor-period of 5 s.
func (k Kubernetes) Guardian() gameday.Guardian {
	memory := &KubernetesMemory{}
	return &watch{
		name: "kubernetes-zones", period: 5 * time.Second, silence: nodeSilence,
		decide: func(o Observation) Action { return k.Decide(o, memory) },
	}
}
