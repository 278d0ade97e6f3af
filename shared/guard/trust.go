package guard

import (
	"fmt"
	"slices"
)

// listen decides whose silence is a witness: only while more than half of the other members that should beat do beat.
// Otherwise the reporting path is what failed, and the look is blind.
func (k *look) listen() {
	speaking, total := 0, 0
	for i := range k.views {
		v := &k.views[i]
		if k.counted(v) {
			total++
			if v.pulse == pulseOK || v.pulse == pulseFailing {
				speaking++
			}
		}
	}
	used, never := 0, 0
	for i := range k.views {
		v := &k.views[i]
		if !v.silent() || !k.couldSpeak(v) {
			continue
		}
		others := total
		if k.counted(v) {
			others--
		}
		if others == 0 || 2*speaking > others {
			continue
		}
		v.deaf = true
		if v.voiced {
			used++
		} else {
			never++
		}
	}
	switch {
	case used == 0 && never == 0:
	case used >= never:
		k.silentKey = PageHeartbeatPath
		k.blindWhy = append(k.blindWhy, fmt.Sprintf("%s that used to beat %s silent and %d of %d beat", Counted(used, "member"), are(used), speaking, total))
	default:
		k.silentKey = PageHeartbeatCoverage
		k.blindWhy = append(k.blindWhy, fmt.Sprintf("%s never sent a heartbeat and %d of %d beat", Counted(never, "member"), speaking, total))
	}
}

// couldSpeak says that a member is one whose heartbeat matters: in service, past its grace, not leaving, and not outside for
// want of a target.
func (k *look) couldSpeak(v *view) bool {
	if !inService(v.m) || v.starting || v.pulse == pulseDraining {
		return false
	}
	return k.p.Kind == KindWorker || v.aim == aimHealthy || v.aim == aimBad
}

// counted says that a member is in the count of those that should beat: past its first-heartbeat time, and, while a hold lasts,
// not one that is silent and fails its target too.
func (k *look) counted(v *view) bool {
	if !k.couldSpeak(v) || v.pulse == pulseUnread || v.pulse == pulseNever {
		return false
	}
	return k.prev.Hold == nil || !v.silent() || v.aim != aimBad
}

// distrust collects the failed reads that make the look blind, and counts blind looks in a row.
func (k *look) distrust() {
	r := k.in.Reads
	for _, f := range []struct{ what, why string }{
		{"group", r.Group}, {"targets", r.Targets}, {"heartbeats", r.Heartbeats}, {"activities", r.Activities}, {"instance tags", r.OptOuts}, {"state", r.State}, {"queue", r.Queue},
	} {
		if f.why != "" {
			k.blindWhy = append(k.blindWhy, f.what+": "+f.why)
		}
	}
	k.next.BlindRun = 0
	if k.blind() {
		k.next.BlindRun = k.prev.BlindRun + 1
	}
}

func (k *look) blind() bool { return len(k.blindWhy) > 0 }

// blindRunMax is how many blind looks in a row only pause confirmation and quiet; more reset them.
const blindRunMax = 3

// stepBack brings moments that lie in the future back to now: the guard's clock went back since they were noted. Those are mended
// that would weaken a limit or keep a hold until the clock has caught up; a mark's stays, because a longer window is the safe one.
func (k *look) stepBack() {
	k.next.ReleasedAt = min(k.next.ReleasedAt, k.now) // what happens from here on may begin a hold
	if slices.ContainsFunc(k.prev.Pages, func(s PageState) bool { return s.Last > k.now }) {
		mended := *k.prev
		mended.Pages = slices.Clone(k.prev.Pages)
		k.prev = &mended
		for i := range k.prev.Pages {
			k.prev.Pages[i].Last = min(k.prev.Pages[i].Last, k.now)
		}
	}
	if k.prev.Hold == nil {
		return
	}
	h := *k.prev.Hold
	h.QuietSince, h.StageAt = min(h.QuietSince, k.now), min(h.StageAt, k.now)
	k.next.Hold = &h
}

// tally counts the members, and keeps what each look must leave for the next.
func (k *look) tally() {
	k.distrust()
	for i := range k.views {
		v := &k.views[i]
		switch v.class {
		case outside:
			k.counts.Outside++
		case healthy:
			k.counts.Eligible++
			k.counts.Healthy++
			k.healthy += v.m.weight()
		case bad:
			k.counts.Eligible++
			k.counts.Bad++
		case broken:
			k.counts.Eligible++
			k.counts.Bad++
			k.counts.Broken++
		}
		if v.class != outside || v.unseen() {
			k.scale++
		}
		if inService(v.m) {
			k.inService++
		}
		if k.hasArrived(v) {
			k.arrived += v.m.weight()
		}
		k.keep(v)
	}
}

// hasArrived says that a launch has come to something: the member is in service and its target is healthy or unhealthy (a
// worker's: it has beaten).
func (k *look) hasArrived(v *view) bool {
	if !inService(v.m) {
		return false
	}
	if k.p.Kind == KindWorker {
		return v.voiced
	}
	return v.aim == aimHealthy || v.aim == aimBad
}

// serves says that a member is a replacement that does its work; it need not be past its grace.
func (k *look) serves(v *view) bool {
	if !inService(v.m) {
		return false
	}
	if k.p.Kind == KindWorker {
		return v.pulse == pulseOK
	}
	return v.aim == aimHealthy
}

// keep counts confirmations and notes since when the member is bad. A blind look counts nothing.
func (k *look) keep(v *view) {
	n := v.next
	if v.unseen() {
		k.pause(n)
		return // what could not be read changes nothing
	}
	n.Bad = v.isBad()
	switch {
	case !n.Bad:
		n.BadSince = 0
	case !v.wasBad || n.BadSince == 0:
		n.BadSince = k.now
	}
	switch {
	case v.class == broken && n.BrokenSince == 0:
		n.BrokenSince = k.now
	case v.class != broken && (!k.blind() || !n.Bad):
		n.BrokenSince = 0 // a blind look that still finds it bad takes nothing back
	}
	n.BadAllHold = n.BadAllHold && n.Bad
	if k.blind() || k.p.Mode == ModeOff {
		k.pause(n)
		return
	}
	apart := n.LookAt == 0 || 2*k.now.sub(n.LookAt) >= k.in.SweepInterval
	first := v.class == broken && n.BrokenLooks == 0 || v.good() && n.GoodLooks == 0
	n.BrokenLooks = countLook(n.BrokenLooks, v.class == broken, apart)
	n.GoodLooks = countLook(n.GoodLooks, v.good(), apart)
	if apart || first {
		n.LookAt = k.now // the next look is counted from the first that said so
	}
}

// pause keeps the confirmations over a few blind looks and voids them after more, or while the guard is off.
func (k *look) pause(n *MemberState) {
	if k.next.BlindRun > blindRunMax || k.p.Mode == ModeOff {
		n.BrokenLooks, n.GoodLooks, n.LookAt = 0, 0, 0
	}
}

// countLook counts looks in a row that agree; one that follows too closely keeps the count and adds nothing, but a first one counts.
func countLook(have int, agrees, apart bool) int {
	switch {
	case !agrees:
		return 0
	case have == 0 || apart:
		return have + 1
	}
	return have
}
