package baseline

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Eureka is the rule by which a Netflix Eureka server evicts instances whose lease ran out, with its self-preservation. An eviction there
// takes an instance out of a directory; here it terminates the machine.
//
// Once every Interval leases that were not renewed for twice Lease are evicted (a known error makes it twice what is configured), over
// all pools together. Nothing is evicted unless the renewals of the last minute are more than KeepShare of those expected; at most the
// number of leases less KeepShare of it, rounded down, go at a time, and chance says which. A run that comes late lets every lease live so
// much longer. Expected are two renewals a minute of each client that ever registered; the expectation drops when a client cancels, not
// when it is evicted, and every UpdateEvery is set to the number of leases if that is more than KeepShare of it.
//
// Source: Eureka at 61acc83d (August 2026), instance registry and its configuration: Interval 60 s, Lease 90 s, KeepShare 0.85,
// UpdateEvery 15 minutes, a renewal every 30 s.
//
// A machine renews while it is well. One that is well and shuts down cancels; one that is unwell cannot. Left out: a server that has just
// started and counts no renewals yet, and replication between servers.
type Eureka struct {
	Interval, Lease, UpdateEvery time.Duration
	// KeepShare is 0 to 1.
	KeepShare float64
}

// DefaultEureka is the rule with its default numbers.
func DefaultEureka() Eureka {
	return Eureka{Interval: time.Minute, Lease: 90 * time.Second, UpdateEvery: 15 * time.Minute, KeepShare: 0.85}
}

// renewEvery is the time between two renewals of a client.
const renewEvery = 30 * time.Second

// EurekaMemory is what the server remembers; the zero value is one that just started.
type EurekaMemory struct {
	// Expected is how many clients are expected to renew.
	Expected int
	// Leases holds the last renewal of each registered client.
	Leases map[string]time.Time
	// Random says who is evicted; nil takes them in order.
	Random *rand.Rand
	// Ran and Updated are when it last looked and when it last set its expectation.
	Ran, Updated time.Time
}

// MostEvicted is how many of so many leases may go at a time.
func (r Eureka) MostEvicted(leases int) int { return leases - int(float64(leases)*r.KeepShare) }

// Decide evicts.
func (r Eureka) Decide(o Observation, m *EurekaMemory) Action {
	r.register(o, m)
	late := time.Duration(0)
	if !m.Ran.IsZero() {
		late = max(0, o.Now.Sub(m.Ran)-r.Interval)
	}
	m.Ran = o.Now
	if m.Updated.IsZero() {
		m.Updated = o.Now
	}
	if o.Now.Sub(m.Updated) >= r.UpdateEvery {
		m.Updated = o.Now
		if float64(len(m.Leases)) > r.KeepShare*float64(m.Expected) {
			m.Expected = len(m.Leases)
		}
	}
	renewals, threshold := r.renewals(o.Now, m), int(float64(m.Expected)*float64(time.Minute/renewEvery)*r.KeepShare)
	var expired []string
	for _, n := range o.Machines {
		if renewed, ok := m.Leases[n.ID]; ok && o.Now.Sub(renewed) > 2*r.Lease+late {
			expired = append(expired, n.ID)
		}
	}
	if len(expired) == 0 {
		return Action{}
	}
	if renewals <= threshold {
		return Action{Why: fmt.Sprintf("%d renewals in the last minute, want more than %d", renewals, threshold)}
	}
	if m.Random != nil {
		m.Random.Shuffle(len(expired), func(x, y int) { expired[x], expired[y] = expired[y], expired[x] })
	}
	expired = expired[:min(len(expired), r.MostEvicted(len(m.Leases)))]
	for _, id := range expired {
		delete(m.Leases, id)
	}
	return Action{Replace: expired}
}

// register takes the renewals, registrations and cancellations since the last look.
func (r Eureka) register(o Observation, m *EurekaMemory) {
	if m.Leases == nil {
		m.Leases = map[string]time.Time{}
	}
	present := make(map[string]bool, len(o.Machines))
	for _, n := range o.Machines {
		_, registered := m.Leases[n.ID]
		switch {
		case n.Leaving && registered:
			delete(m.Leases, n.ID)
			if n.Readiness == Ready {
				m.Expected--
			}
			continue
		case n.Leaving || n.Pending || n.Marked && !registered:
			continue
		}
		present[n.ID] = true
		switch {
		case n.Readiness == Ready && !registered:
			m.Expected++
			m.Leases[n.ID] = o.Now
		case n.Readiness == Ready:
			m.Leases[n.ID] = o.Now
		case registered:
			m.Leases[n.ID] = latest(m.Leases[n.ID], n.Well)
		}
	}
	for id := range m.Leases {
		if !present[id] {
			delete(m.Leases, id)
		}
	}
}

// renewals counts those of the last minute: one every 30 s up to the last.
func (r Eureka) renewals(now time.Time, m *EurekaMemory) int {
	n := 0
	for _, last := range m.Leases {
		switch age := now.Sub(last); {
		case age <= time.Minute-renewEvery:
			n += 2
		case age <= time.Minute:
			n++
		}
	}
	return n
}

// eureka puts the rule on watch; the seed says who goes first.
type eureka struct {
	*watch
	memory *EurekaMemory
}

// Start implements gameday.Guardian.
func (e eureka) Start(world *gameday.World) error {
	e.memory.Random = rand.New(rand.NewPCG(world.Cloud.Config().Seed, 85))
	return e.watch.Start(world)
}

// Guardian puts the rule on watch. A machine is silent after 20 s, since it beats every 15 s; its lease counts from its last heartbeat.
func (r Eureka) Guardian() gameday.Guardian {
	memory := &EurekaMemory{}
	return eureka{memory: memory, watch: &watch{
		name: "eureka-85-percent", period: r.Interval, silence: 20 * time.Second, counts: true,
		decide: func(o Observation) Action { return r.Decide(o, memory) },
	}}
}
