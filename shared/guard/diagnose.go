package guard

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// class is what a member counts as.
type class uint8

const (
	outside class = iota
	healthy
	bad
	broken
)

// pulse is what a member's heartbeat says; the zero value is one that cannot be read.
type pulse uint8

const (
	pulseUnread pulse = iota
	pulseOK
	pulseFailing
	pulseLate
	pulseStale
	pulseNever     // no beat yet, and the time for the first is not over
	pulseNeverOver // no beat yet, and the time is over
	pulseDraining
)

// aim is what a member's targets say together; the zero value is that they could not be read.
type aim uint8

const (
	aimUnread aim = iota
	aimSilent
	aimHealthy
	aimBad
)

// view is one member as this look sees it.
type view struct {
	m    *Member
	next *MemberState
	// wasBad is whether the look before found it bad.
	wasBad bool
	// voiced says that it was ever seen to beat.
	voiced    bool
	class     class
	pulse     pulse
	aim       aim
	starting  bool
	anomalous bool
	// deaf says that its silence proves nothing, because most others are silent too.
	deaf bool
	// permanent says that a paced exit repairs it, and it counts in no trigger.
	permanent bool
}

// look is one decision under way.
type look struct {
	in   Input
	now  Instant
	p    *Policy
	prev *State
	next State

	grace  time.Duration
	views  []view
	warmUp bool
	// blindWhy lists what cannot be trusted; any entry makes the look blind.
	blindWhy  []string
	silentKey string // heartbeat-path or heartbeat-coverage, "" when silence is no trouble

	counts Counts
	// scale is what percentages of members are taken of: the eligible, and those that would be if everything could be read. A
	// failed read must not make a threshold smaller.
	scale     int
	desired   int    // weight
	arrived   int    // weight of the members that serve or fail a target: what came of launches
	inService int    // members in service, whatever they count as
	healthy   int    // weight of the healthy members
	stuck     answer // what the gate cannot-replace says of every member
	triggers  []Trigger
	taken     []Onset // members that AWS terminated for a health check before any look saw them bad
	// standStill says that an operator asked for the hold that is in force: a release under way is taken back.
	standStill bool
	unread     []string // hard dependencies that are missing or cannot be read
	nodata     []string // hard dependencies without data
	limits     Limits
	flying     int // weight in flight
	marks      int // marks of this look so far
	v          Verdict
	told       []Page
}

func newLook(in *Input) *look {
	k := &look{in: *in, now: At(in.Now)}
	k.p, k.prev = &k.in.Policy, &k.in.State
	k.next = in.State
	k.next.LastSweep = k.now
	k.stepBack()
	k.grace = max(seconds(k.p.BootGraceSeconds), in.Group.Grace)
	gap := k.now.sub(k.prev.LastSweep)
	k.warmUp = !k.prev.Known() || gap > warmUpIntervals*in.SweepInterval
	k.desired = in.Group.Desired
	k.v.Group = in.Group.Name
	return k
}

// warmUpIntervals is how many intervals without a sweep make a gap.
const warmUpIntervals = 3

// observe sees every member: sorted by ID, joined with what was remembered of it.
func (k *look) observe() {
	g := &k.in.Group
	if k.in.Reads.Group != "" {
		k.distrust() // no members are known, so what was remembered of them stays
		for i := range k.prev.Members {
			if k.prev.Members[i].Lifecycle == "InService" {
				k.scale++
			}
		}
		return
	}
	k.keepPaced()
	k.views = make([]view, len(g.Members))
	k.next.Members = make([]MemberState, len(g.Members))
	order := memberOrder(g.Members)
	prev := k.prev.Members
	j := 0
	for i := range k.views {
		m := &g.Members[i]
		if order != nil {
			m = &g.Members[order[i]]
		}
		for j < len(prev) && prev[j].ID != m.ID && prev[j].ID < m.ID { // the first comparison is the cheap one
			j++
		}
		v := &k.views[i]
		v.m, v.next = m, &k.next.Members[i]
		if j < len(prev) && prev[j].ID == m.ID {
			*v.next = prev[j]
		}
		k.remember(v)
		v.pulse = k.feel(v)
		v.aim, v.anomalous = k.aimOf(m)
		v.permanent = k.repairedOneByOne(v)
	}
	k.listen()
	for i := range k.views {
		k.classify(&k.views[i])
	}
	k.tally()
}

// memberOrder is the order of the members by ID; nil says that they are sorted already, as most readers give them.
func memberOrder(ms []Member) []int {
	sorted := true
	for i := 1; i < len(ms) && sorted; i++ {
		sorted = ms[i-1].ID < ms[i].ID
	}
	if sorted {
		return nil
	}
	order := make([]int, len(ms))
	for i := range ms {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ms[a].ID, ms[b].ID) })
	return order
}

// remember notes the lifecycle state and since when it is seen.
func (k *look) remember(v *view) {
	n := v.next
	n.ID, v.wasBad = v.m.ID, n.Bad
	if n.Lifecycle != v.m.Lifecycle { // at first sight too, of which nothing is remembered
		n.Lifecycle, n.Since = v.m.Lifecycle, k.now
		n.Old = !k.prev.Known() && inService(v.m)
	}
	if !v.m.Since.IsZero() {
		n.Since = At(v.m.Since)
	}
	v.starting = inService(v.m) && !n.Old && k.now.sub(n.Since) < k.grace
	if k.warmUp {
		n.BrokenLooks, n.GoodLooks, n.LookAt = 0, 0, 0
		if n.Bad {
			n.BadSince = k.now
		}
	}
}

// unseen says that a member is outside only because its targets could not be read.
func (v *view) unseen() bool {
	return v.class == outside && v.aim == aimUnread && inService(v.m) && !v.starting && v.pulse != pulseDraining
}

func inService(m *Member) bool { return m.Lifecycle == "InService" }

func (m *Member) weight() int { return max(1, m.Weight) }

// feel reads the heartbeat: life is proved by a beat that advances on the guard's own clock.
func (k *look) feel(v *view) pulse {
	b, n := &v.m.Beat, v.next
	v.voiced = n.Beat || b.Found
	switch {
	case b.Unreadable:
		return pulseUnread
	case !b.Found && n.Beat:
		return pulseStale // the row was there and is gone
	case !b.Found:
		if k.now.sub(n.Since) < seconds(k.p.FirstHeartbeatSeconds) {
			return pulseNever
		}
		return pulseNeverOver
	}
	stamp := At(b.At)
	switch {
	case n.Beat && (b.Boot != n.Boot || b.Seq > n.Seq || stamp > n.Stamp):
		n.AdvancedAt = k.now
	case !n.Beat && stamp > k.now:
		n.AdvancedAt = k.now // a stamp in the future proves nothing later: age it from here
	}
	n.Beat, n.Boot, n.Seq, n.Stamp = true, b.Boot, b.Seq, stamp
	if b.Status == "draining" {
		return pulseDraining
	}
	seen := n.AdvancedAt
	if seen == 0 {
		seen = stamp
	}
	switch age := k.now.sub(seen); {
	case age >= seconds(k.p.HeartbeatStaleSeconds):
		return pulseStale
	case age >= seconds(k.p.HeartbeatFreshSeconds):
		return pulseLate
	case b.Status == "failing" && !dependencyOnly(b.Failing):
		return pulseFailing
	case b.Status == "ok" || b.Status == "failing":
		return pulseOK
	}
	return pulseUnread
}

// dependencyOnly says that only declared dependency checks fail: they speak of the dependency, not of the host. A failing
// status without names speaks of the host.
func dependencyOnly(failing []string) bool {
	for _, f := range failing {
		if !strings.HasPrefix(f, "dep:") {
			return false
		}
	}
	return len(failing) > 0
}

// aimOf takes the worst state over all registrations of a member.
func (k *look) aimOf(m *Member) (worst aim, anomalous bool) {
	worst = aimSilent
	if k.in.Reads.Targets != "" {
		worst = aimUnread
	}
	for i := range m.Targets {
		t := &m.Targets[i]
		anomalous = anomalous || t.Anomalous
		if a := targetAim(t); a == aimBad || worst == aimSilent {
			worst = a
		}
	}
	return worst, anomalous
}

// targetAim judges one registration. Elb.InternalError is the load balancer's own trouble, and during a zonal shift targets are
// out of rotation on purpose. Source: Application Load Balancers user guide, target health reason codes.
func targetAim(t *Target) aim {
	switch {
	case t.Shifted || t.Reason == "Elb.InternalError":
		return aimSilent
	case t.State == "unhealthy", t.State == "unused" && t.Reason == "Target.InvalidState":
		return aimBad
	case t.State == "healthy":
		return aimHealthy
	}
	return aimSilent
}

// classify applies the table of design §4 to one member.
func (k *look) classify(v *view) {
	switch {
	case !inService(v.m), v.starting, v.pulse == pulseDraining:
		v.class = outside
	case k.p.Kind == KindWorker:
		v.class = k.classifyWorker(v)
	case v.aim == aimHealthy && v.pulse == pulseFailing && k.p.SelfReportAlone:
		v.class = broken
	case v.aim == aimHealthy:
		v.class = healthy
	case v.aim == aimBad:
		v.class = k.classifyBad(v)
	default:
		v.class = outside
	}
}

// classifyBad is the column "target unhealthy": bad at least, and broken when a second witness agrees.
func (k *look) classifyBad(v *view) class {
	switch v.pulse {
	case pulseFailing:
		return broken
	case pulseStale, pulseNeverOver:
		if v.deaf {
			return bad
		}
		return broken
	case pulseOK:
		if v.wasBad && k.now.sub(v.next.BadSince) >= seconds(k.p.DisagreeSeconds) {
			return broken
		}
		return bad
	case pulseUnread, pulseLate, pulseNever, pulseDraining:
	}
	return bad
}

// classifyWorker is §8: silence has one witness, the queue is the other, and only a worker that is alone in it is broken.
func (k *look) classifyWorker(v *view) class {
	switch v.pulse {
	case pulseFailing:
		if k.p.SelfReportAlone {
			return broken
		}
		return healthy
	case pulseStale, pulseNeverOver:
		if v.deaf || !k.queueStalled() {
			return healthy
		}
		if k.in.Group.Queue.Trend == "rising" && k.p.Action == ActionReplace && k.silentOnes() == 1 {
			return broken
		}
		return bad
	case pulseUnread, pulseOK, pulseLate, pulseNever, pulseDraining:
	}
	return healthy
}

// queueStalled says that the queue is deep and does not fall.
func (k *look) queueStalled() bool {
	q := k.in.Group.Queue
	return k.p.Queue != nil && q != nil && k.in.Reads.Queue == "" && q.Depth >= k.p.Queue.Deep && (q.Trend == "rising" || q.Trend == "flat")
}

func (k *look) silentOnes() int {
	n := 0
	for i := range k.views {
		if v := &k.views[i]; inService(v.m) && !v.starting && v.silent() {
			n++
		}
	}
	return n
}

func (v *view) silent() bool { return v.pulse == pulseStale || v.pulse == pulseNeverOver }

// good says that every witness of the member is well, so that it may be restored.
func (v *view) good() bool { return v.class == healthy && v.pulse == pulseOK }

func (v *view) isBad() bool { return v.class == bad || v.class == broken }
