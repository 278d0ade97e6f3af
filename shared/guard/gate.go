package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// answer is what a gate says of one member; the zero value lets it pass.
type answer struct {
	no          bool
	have, limit int
	text        string
}

func deny(have, limit int, text string) answer {
	return answer{no: true, have: have, limit: limit, text: text}
}

// gate can only say no.
type gate struct {
	reason Reason
	ask    func(*look, *view) answer
}

// gates are asked in this order; the first no is the reason.
func gates() []gate {
	return []gate{
		{ReasonBlind, gateBlind},
		{ReasonWarmUp, gateWarmUp},
		{ReasonGrace, gateGrace},
		{ReasonOptedOut, gateOptedOut},
		{ReasonProtected, gateProtected},
		{ReasonAlertOnly, gateAlertOnly},
		{ReasonHoldOnly, gateHoldOnly},
		{ReasonHeld, gateHeld},
		{ReasonDependency, gateDependency},
		{ReasonRefreshing, gateRefreshing},
		{ReasonCannotReplace, gateCannotReplace},
		{ReasonNotConverging, gateNotConverging},
		{ReasonWaiting, gateWaiting},
		{ReasonSignalsDisagree, gateSignalsDisagree},
		{ReasonConfirming, gateConfirming},
		{ReasonLastInstance, gateLastInstance},
		{ReasonInFlight, gateInFlight},
		{ReasonBudget, gateBudget},
		{ReasonRegionBudget, gateRegionBudget},
		{ReasonCapacity, gateCapacity},
		{ReasonMinHealthy, gateMinHealthy},
		{ReasonMode, gateMode},
	}
}

// choose asks the gates about every member that looks bad: each becomes a mark or a deferral. Each mark counts for the next.
func (k *look) choose() {
	var candidates []*view
	for i := range k.views {
		v := &k.views[i]
		switch {
		case v.isBad():
			candidates = append(candidates, v)
		case v.class == outside && v.starting && v.aim == aimBad:
			left := k.now.sub(v.next.Since)
			k.deferred(v, ReasonGrace, deny(int(left.Seconds()), int(k.grace.Seconds()), "in its first grace"))
		case v.class == healthy && v.pulse == pulseFailing:
			k.deferred(v, ReasonSignalsDisagree, deny(0, 0, "its heartbeat says failing ("+listed(v.m.Beat.Failing)+"), its target is healthy"))
		}
	}
	slices.SortStableFunc(candidates, func(a, b *view) int {
		return cmp.Or(cmp.Compare(a.next.BrokenSince, b.next.BrokenSince), cmp.Compare(odd(a), odd(b)), cmp.Compare(a.m.ID, b.m.ID))
	})
	if len(candidates) > 0 {
		k.stuck = k.cannotReplace()
		all := gates()
		for _, v := range candidates {
			k.judge(v, all)
		}
	}
	slices.SortStableFunc(k.v.Deferred, func(a, b Deferral) int { return cmp.Compare(a.Member, b.Member) })
}

func odd(v *view) int {
	if v.anomalous {
		return 0
	}
	return 1
}

func (k *look) judge(v *view, all []gate) {
	for _, g := range all {
		if a := g.ask(k, v); a.no {
			k.deferred(v, g.reason, a)
			return
		}
	}
	act := Action{Kind: ActMark, Member: v.m.ID, Weight: v.m.weight(), ID: fmt.Sprintf("%s@%d", v.m.ID, int64(k.now)/1000)}
	if len(k.nodata) > 0 {
		act.Note = "marked while the state of " + listed(k.nodata) + " was unknown"
	}
	k.v.Actions = append(k.v.Actions, act)
	k.marks++
	k.limits.InFlight++
	k.limits.TenMinutes++
	k.limits.Hour++
	k.limits.Day++
	k.limits.RegionHour++
	k.flying += v.m.weight()
}

func (k *look) deferred(v *view, r Reason, a answer) {
	text := a.text
	if v.anomalous {
		text = strings.TrimPrefix(text+"; anomalous to the load balancer", "; ")
	}
	k.v.Deferred = append(k.v.Deferred, Deferral{Member: v.m.ID, Reason: r, Have: a.have, Limit: a.limit, Text: text, Broken: v.class == broken})
}

func gateBlind(k *look, _ *view) answer {
	if k.blind() {
		return deny(0, 0, strings.Join(k.blindWhy, "; "))
	}
	return answer{}
}

func gateWarmUp(k *look, _ *view) answer {
	if k.warmUp {
		return deny(0, 0, "first look after a gap")
	}
	return answer{}
}

func gateGrace(k *look, v *view) answer {
	if k.now < v.next.NoMarkBefore {
		return deny(int(k.now.sub(v.next.NoMarkBefore-Instant(k.grace.Milliseconds())).Seconds()), int(k.grace.Seconds()), "in a grace against marks until "+clock(v.next.NoMarkBefore))
	}
	if age := k.now.sub(v.next.Since); age < k.grace { // one that was there before the guard: others are outside so long
		return deny(int(age.Seconds()), int(k.grace.Seconds()), "first seen a moment ago")
	}
	return answer{}
}

func gateOptedOut(_ *look, v *view) answer {
	if v.m.OptedOut {
		return deny(0, 0, "the instance carries holdfast:guard=false")
	}
	return answer{}
}

func gateProtected(k *look, v *view) answer {
	if v.m.Protected && k.p.RespectScaleInProtection {
		return deny(0, 0, "scale-in protection")
	}
	return answer{}
}

func gateAlertOnly(k *look, _ *view) answer {
	if k.p.Action == ActionAlertOnly {
		return deny(0, 0, "action is alert-only")
	}
	return answer{}
}

func gateHoldOnly(k *look, _ *view) answer {
	if k.p.Action == ActionHoldOnly {
		return deny(0, 0, "action is hold-only")
	}
	return answer{}
}

func gateHeld(k *look, _ *view) answer {
	if k.next.Hold == nil {
		return answer{}
	}
	a := deny(0, 0, k.next.Hold.Cause)
	for i := range k.triggers {
		if t := &k.triggers[i]; t.Limit > 0 { // a dependency has no numbers
			a.have, a.limit = t.Have, t.Limit
			break
		}
	}
	return a
}

func gateDependency(k *look, _ *view) answer {
	if len(k.unread) > 0 {
		return deny(len(k.unread), 0, "cannot tell the state of "+listed(k.unread))
	}
	return answer{}
}

// refreshing are the statuses of an instance refresh that still replaces members. Source: SDK, InstanceRefreshStatus.
func refreshing(status string) bool {
	switch status {
	case "Pending", "InProgress", "Cancelling", "RollbackInProgress", "Baking":
		return true
	}
	return false
}

func gateRefreshing(k *look, _ *view) answer {
	if refreshing(k.in.Group.Refresh) {
		return deny(0, 0, "instance refresh "+k.in.Group.Refresh)
	}
	return answer{}
}

// Limits of the gate cannot-replace.
const (
	launchWindow = 30 * time.Minute
	launchFails  = 2
	pendingMax   = 900 * time.Second
)

func gateCannotReplace(k *look, _ *view) answer { return k.stuck }

// cannotReplace is the same for every member, so it is asked once a look.
func (k *look) cannotReplace() answer {
	for _, s := range k.foreign() {
		if s.Process == ProcessReplaceUnhealthy || s.Process == ProcessLaunch || s.Process == ProcessTerminate {
			return deny(0, 0, s.Process+" is suspended, not by Holdfast: "+s.Reason)
		}
	}
	if n := k.launchesFailed(); n >= launchFails {
		return deny(n, launchFails, fmt.Sprintf("the last %d launches failed", n))
	}
	for i := range k.views {
		v := &k.views[i]
		if age := k.now.sub(v.next.Since); strings.HasPrefix(v.m.Lifecycle, "Pending") && age > pendingMax {
			return deny(int(age.Seconds()), int(pendingMax.Seconds()), v.m.ID+" is "+v.m.Lifecycle+" for "+span(age))
		}
	}
	return answer{}
}

// launchesFailed counts the newest launches within the window that failed, up to the first that succeeded.
func (k *look) launchesFailed() int {
	var newest []Activity
	for _, a := range k.in.Group.Activities {
		if a.Kind == "launch" && k.now.sub(At(a.At)) < launchWindow && (a.Status == "Failed" || a.Status == "Successful") {
			newest = append(newest, a)
		}
	}
	slices.SortStableFunc(newest, func(a, b Activity) int { return b.At.Compare(a.At) })
	n := 0
	for _, a := range newest {
		if a.Status != "Failed" {
			break
		}
		n++
	}
	return n
}

func gateNotConverging(k *look, _ *view) answer {
	if n := k.failedInARow(); n >= k.p.ConvergeFailures {
		return deny(n, k.p.ConvergeFailures, "replacements in a row that did not serve")
	}
	return answer{}
}

func gateWaiting(k *look, v *view) answer {
	m := k.markOf(v.m.ID)
	switch {
	case m != nil && m.Observed && (!m.Closed || v.next.BrokenSince <= m.At):
		// Its slot comes back as a replacement's would, but one spell of brokenness is one mark: a real one would have ended it.
		return deny(0, 0, "would have been marked at "+clock(m.At))
	case m != nil && !m.Closed:
		return deny(0, 0, fmt.Sprintf("marked by %s at %s and still there", m.By, clock(m.At)))
	case v.m.Unhealthy:
		return deny(0, 0, "Auto Scaling calls it Unhealthy already")
	}
	return answer{}
}

func gateSignalsDisagree(k *look, v *view) answer {
	if v.class == broken {
		return answer{}
	}
	return deny(int(k.now.sub(v.next.BadSince).Seconds()), k.p.DisagreeSeconds, "one witness only")
}

func gateConfirming(k *look, v *view) answer {
	if v.next.BrokenLooks < k.p.ConfirmSweeps {
		return deny(v.next.BrokenLooks, k.p.ConfirmSweeps, "looks that agree")
	}
	return answer{}
}

// lastInstance says that the group has one member in service.
func (k *look) lastInstance() bool { return k.inService == 1 }

func gateLastInstance(k *look, _ *view) answer {
	if !k.p.ActOnLastInstance && k.lastInstance() {
		return deny(1, 1, "the only member in service")
	}
	return answer{}
}

func gateInFlight(k *look, _ *view) answer {
	if k.limits.InFlight >= k.limits.InFlightMax {
		return deny(k.limits.InFlight, k.limits.InFlightMax, "marks whose replacement does not serve yet")
	}
	return answer{}
}

// marksPerLook bounds the marks of one look, whatever the policy and the size of the group: all of a look's marks are reserved in one
// transaction, which DynamoDB limits to 100 actions. The rest wait for the next look.
const marksPerLook = 20

func gateBudget(k *look, _ *view) answer {
	l := k.limits
	switch {
	case l.TenMinutes >= l.TenMinutesMax:
		return deny(l.TenMinutes, l.TenMinutesMax, "marks in 10 minutes")
	case l.Hour >= l.HourMax:
		return deny(l.Hour, l.HourMax, "marks in an hour")
	case l.Day >= l.DayMax:
		return deny(l.Day, l.DayMax, "marks in a day")
	case k.marks >= marksPerLook:
		return deny(k.marks, marksPerLook, "marks in one look")
	}
	return answer{}
}

func gateRegionBudget(k *look, _ *view) answer {
	if why := k.in.Reads.Region; why != "" {
		return deny(0, 0, "the Region's budget cannot be read: "+why)
	}
	if l := k.limits; l.RegionHour >= l.RegionHourMax {
		return deny(l.RegionHour, l.RegionHourMax, "marks in an hour over all groups")
	}
	return answer{}
}

// Capacity and min-healthy do not apply to a group of one member, whose owner has allowed it: gateLastInstance has asked.
func gateCapacity(k *look, v *view) answer {
	have, limit := k.flying+v.m.weight(), floorPercent(k.desired, k.p.CapacityLossPercentMax)
	if have > limit && !k.lastInstance() {
		return deny(have, limit, "weight lost by this mark and everything in flight")
	}
	return answer{}
}

func gateMinHealthy(k *look, _ *view) answer {
	have, limit := k.healthy, ceilPercent(k.desired, k.p.MinHealthyPercent)
	if have < limit && !k.lastInstance() {
		return deny(have, limit, "healthy weight after the mark")
	}
	return answer{}
}

func gateMode(k *look, _ *view) answer {
	if k.p.Mode == ModeOff {
		return deny(0, 0, "mode is off")
	}
	return answer{}
}
