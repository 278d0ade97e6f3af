package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// blur is how far the time of a call may lie behind the time by which its run was judged: the run's life, its last call, and clocks
// that differ by seconds.
const blur = lifetime + 40*time.Second

// apart is how far the clocks of two processes may differ.
const apart = 8 * time.Second

// soundFor is how long a member must have been sound before a mark of it is called the loss of a healthy member: its witnesses
// need that long to say so.
const soundFor = 6 * time.Minute

// markSeen is one mark about to reach the world, with what its run had read.
type markSeen struct {
	*process
	group string
	id    string
	pic   *picture
	pol   guard.Policy
	// m is the member as last read, known whether it was there.
	m     guard.Member
	known bool
	// inService are the members in service, as last read; ceiling is five percent of them, at least one.
	inService int
}

// rule is one thing that no mark may do; it answers why, "" if the mark keeps it.
type rule struct {
	name string
	why  func(*markSeen) string
}

// markRules are the rules of a mark. Each reads only what the run itself had read, and the book of what reached the world.
func markRules() []rule {
	return []rule{
		{"mark-without-record", whyUnrecorded},
		{"mark-unseen", whyUnseen},
		{"mark-while-blind", whyBlind},
		{"mark-after-gap", whyGap},
		{"mark-in-grace", whyGrace},
		{"mark-of-fenced-member", whyFenced},
		{"mark-against-action", whyAction},
		{"mark-while-held", whyHeld},
		{"mark-overruled", func(m *markSeen) string { return m.overruled(m.group) }},
		{"mark-with-dependency", whyDependency},
		{"mark-while-refreshing", whyRefreshing},
		{"mark-without-replacement", whyCannotReplace},
		{"mark-twice", whyWaiting},
		{"mark-of-one-witness", whyOneWitness},
		{"mark-of-silence", whySilence},
		{"mark-while-not-converging", whyNotConverging},
		{"mark-against-truth", whyTruth},
		{"mark-unconfirmed", whyUnconfirmed},
		{"mark-of-last-instance", whyLast},
		{"in-flight", whyInFlight},
		{"budget", whyBudget},
		{"region-budget", whyRegionBudget},
		{"capacity", whyCapacity},
		{"min-healthy", whyMinHealthy},
		{"shared-cause", whyShared},
		{"healthy-lost", whyHealthy},
		{"call-in-mode", func(m *markSeen) string { return modeForbids(m.pol) }},
	}
}

func (p *process) checkMark(group, id string) {
	m := &markSeen{process: p, group: group, id: id, pic: p.picture(group), pol: p.policy(group)}
	for _, x := range m.pic.group.Members {
		if x.ID == id {
			m.m, m.known = x, true
		}
		if x.Lifecycle == "InService" {
			m.inService++
		}
	}
	for _, r := range markRules() {
		if why := r.why(m); why != "" {
			p.violate(p, r.name, "mark of %s in %s: %s", id, group, why)
		}
	}
}

func modeForbids(p guard.Policy) string {
	if p.Mode != guard.ModeAct {
		return "the mode is " + p.Mode
	}
	return ""
}

func whyUnrecorded(m *markSeen) string {
	if m.pic.loadErr != nil {
		return "the state could not be read: " + m.pic.loadErr.Error()
	}
	if _, ok := m.pic.reserved[m.id]; !ok {
		return "this run has no reservation for it"
	}
	return ""
}

func whyUnseen(m *markSeen) string {
	switch at, reserved := m.pic.reserved[m.id]; {
	case !m.known:
		return "it was not in the group when last read"
	case m.m.Lifecycle != "InService":
		return "it was read as " + m.m.Lifecycle
	case reserved && m.pic.looks <= at:
		return "no second look after the reservation"
	case !badTarget(m.m) && !m.pol.SelfReportAlone:
		return "its targets were read as not unhealthy"
	}
	return ""
}

func whyBlind(m *markSeen) string {
	if m.pic.reads != (guard.Reads{}) {
		return fmt.Sprintf("reads failed: %+v", m.pic.reads)
	}
	if m.pic.beatsErr != nil {
		return "heartbeats: " + m.pic.beatsErr.Error()
	}
	return ""
}

func whyGap(m *markSeen) string {
	last := m.pic.prior.State.LastSweep
	if last == 0 {
		return "the first look of all"
	}
	if gap := m.pic.began.Add(m.skew).Sub(last.Time()); gap > 3*interval {
		return "the first look after " + gap.String()
	}
	return ""
}

// whyGrace checks every grace against the true times of the looks. A stepped clock makes the guard's ages others.
func whyGrace(m *markSeen) string {
	now, ok := m.cloud.Instance(m.id)
	if !ok || now.EnteredInService.IsZero() || !m.book.steady(m.stage) {
		return ""
	}
	grace := max(time.Duration(m.pol.BootGraceSeconds)*time.Second, m.pic.group.Grace)
	since := func(at time.Time) time.Duration { return m.pic.began.Sub(at) + apart }
	if age := since(now.EnteredInService); age < grace && !m.book.returned[m.id] {
		return fmt.Sprintf("%s in service, its grace is %s", age, grace)
	}
	if first := m.book.firstLook[m.group]; since(first) < grace && now.EnteredInService.Before(first) {
		return fmt.Sprintf("%s after the first look of all, its grace is %s", since(first), grace)
	}
	if ended := m.book.endedAt[m.group]; !ended.IsZero() && since(ended) < grace {
		return fmt.Sprintf("%s after a hold, its grace is %s", since(ended), grace)
	}
	return ""
}

func whyFenced(m *markSeen) string {
	switch {
	case m.m.OptedOut:
		return "it has opted out"
	case m.m.Protected && m.pol.RespectScaleInProtection:
		return "it is protected"
	}
	return ""
}

func whyAction(m *markSeen) string {
	if m.pol.Action != guard.ActionReplace {
		return "the action is " + m.pol.Action
	}
	return ""
}

func whyHeld(m *markSeen) string {
	if h := m.pic.rec.State.Hold; h != nil {
		return "held: " + h.Cause
	}
	if h := m.pic.prior.State.Hold; h != nil && !h.Observed {
		return "held before: " + h.Cause
	}
	return ""
}

func whyDependency(m *markSeen) string {
	for _, d := range m.pol.Dependencies {
		a := m.alarms[d.Alarm]
		if d.Kind != guard.DependencyHard {
			continue
		}
		if a.State == guard.AlarmRed && m.Now().Sub(a.Since) < time.Duration(m.pol.AlarmMaxAgeSeconds)*time.Second || a.State == guard.AlarmMissing || a.State == guard.AlarmUnread {
			return "hard dependency " + d.Alarm + " was read as " + a.State
		}
	}
	return ""
}

func whyRefreshing(m *markSeen) string {
	if slices.Contains([]string{"Pending", "InProgress", "Cancelling", "RollbackInProgress", "Baking"}, m.pic.group.Refresh) {
		return "an instance refresh was read as " + m.pic.group.Refresh
	}
	return ""
}

func whyCannotReplace(m *markSeen) string {
	for _, s := range m.pic.suspended {
		if slices.Contains([]string{guard.ProcessReplaceUnhealthy, guard.ProcessLaunch, guard.ProcessTerminate}, s.Process) {
			return s.Process + " was read as suspended: " + s.Reason
		}
	}
	failed := 0
	for _, a := range m.pic.group.Activities { // newest first
		if a.Kind != "launch" || a.Status == "InProgress" || m.Now().Sub(a.At) >= 29*time.Minute {
			continue
		}
		if a.Status != "Failed" {
			break
		}
		failed++
	}
	if failed >= 2 {
		return fmt.Sprintf("the last %d launches failed", failed)
	}
	return ""
}

func whyWaiting(m *markSeen) string {
	if m.m.Unhealthy {
		return "it was read as Unhealthy already"
	}
	return ""
}

func whyOneWitness(m *markSeen) string {
	b := m.m.Beat
	ok := b.Found && !b.Unreadable && (b.Status == "ok" || b.Status == "failing" && len(b.Failing) > 0 && !slices.ContainsFunc(b.Failing, func(f string) bool { return !strings.HasPrefix(f, "dep:") }))
	since := m.book.badSince[m.id]
	if age := m.Now().Sub(b.At); !ok || m.book.oddClock[m.id] || !m.book.steady(m.stage) || age < -interval || age > time.Duration(m.pol.HeartbeatFreshSeconds)*time.Second/2 {
		return ""
	}
	if bad := m.cloud.Now().Sub(since); bad < time.Duration(m.pol.DisagreeSeconds)*time.Second-blur {
		return fmt.Sprintf("its heartbeat says ok, and its target was first read as bad %s ago", bad)
	}
	return ""
}

func whyUnconfirmed(m *markSeen) string {
	looks, last := 0, time.Time{}
	for _, at := range m.book.badLooks[m.id] {
		if looks == 0 || at.Sub(last) >= interval/2-4*time.Second {
			looks, last = looks+1, at
		}
	}
	if m.book.steady(m.stage) && looks < m.pol.ConfirmSweeps {
		return fmt.Sprintf("%d looks found it bad, want %d", looks, m.pol.ConfirmSweeps)
	}
	return ""
}

func whyLast(m *markSeen) string {
	if m.inService == 1 && !m.pol.ActOnLastInstance {
		return "it is the only member in service"
	}
	return ""
}

func whyHealthy(m *markSeen) string {
	t, ok := m.cloud.Truth(m.id)
	if !ok || !t.Sound || t.Broken != "" || m.pol.SelfReportAlone {
		return ""
	}
	if last, was := m.book.unsound[m.id]; was && m.cloud.Now().Sub(last) < soundFor {
		return ""
	}
	if m.repairedOneByOne(m.id) {
		return "" // a person, or the policy, has said that each of those that stayed bad is to be replaced, one by one within the limits
	}
	if m.fleet.own(m.group) && t.NoAgent {
		return "" // the agent is both witnesses, and it is gone
	}
	// A check that asks a dependency of which the policy knows nothing speaks of the member alone, and a target needs minutes to come
	// back from it: that is what disagree_seconds decides on. Where the policy knows it, or many fail, another rule forbids the mark.
	if since := m.book.badSince[m.id]; m.fleet.deep(m.group) && !since.IsZero() && m.book.dependencyBad.After(since) {
		return ""
	}
	if m.cloud.Dependency(dependency) != "ok" || m.book.shared(m.stage) {
		return "nothing is wrong with it, and a shared cause is at work"
	}
	return "nothing is wrong with it"
}
