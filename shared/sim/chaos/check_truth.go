package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Rules that are judged by what is really so, or by what several processes did, and not only by what the marking run had read.

// known is how long something must have been so before every run has to know it: the oldest picture, and the longest life of a run.
const known = staleFor + lifetime

// overruled says that another process began or moved a hold after this one's first write, and before the last moment at which this
// one could still ask.
func (p *process) overruled(group string) string {
	pic, moved := p.picture(group), p.book.moved[group]
	if moved.by == nil || moved.by == p || moved.observed || pic.claimedAt.IsZero() {
		return ""
	}
	if h := pic.rec.State.Hold; h != nil && h.ID == moved.id && h.Stage == moved.stage {
		return "" // both say the same
	}
	if moved.at.After(pic.claimedAt) && moved.at.Before(pic.actFrom) {
		return fmt.Sprintf("%s had moved the hold %q to stage %d at %s", moved.by.name, moved.id, moved.stage, moved.at.Format(time.TimeOnly))
	}
	return ""
}

// facts are what is so at present, by what a look at it would forbid.
func (s *stage) facts() map[string]bool {
	out := map[string]bool{}
	for _, g := range s.cloud.Groups() {
		if len(g.Refreshes) > 0 && g.Refreshes[0].Status != "Successful" {
			out[key("refresh", g.Name)] = true
		}
		for _, sus := range g.Suspended {
			if s.book.owner[key(g.Name, sus.Process)] != sus.Reason && !s.book.meant(g.Name, sus.Process, sus.Reason) {
				out[key("foreign", g.Name, sus.Process, sus.Reason)] = true
			}
		}
		for _, m := range g.Members {
			if m.Protected {
				out[key("protected", m.ID)] = true
			}
			if m.Tags[tagGuard] == "false" {
				out[key("opted-out", m.ID)] = true
			}
			if m.Lifecycle == sim.Pending {
				out[key("pending", g.Name, m.ID)] = true
			}
		}
	}
	if a, ok := s.cloud.Alarm(alarmName); !ok || a.State == sim.AlarmRed {
		out[key("alarm", a.Transitioned.String())] = true // a red alarm may turn and turn again between two looks
	}
	return out
}

// watchFacts keeps since when each fact has been so without a break.
func (s *stage) watchFacts() {
	now := s.facts()
	for f := range s.book.since {
		if !now[f] {
			delete(s.book.since, f)
		}
	}
	for f := range now {
		if s.book.since[f].IsZero() {
			s.book.since[f] = s.cloud.Now()
		}
	}
}

// forLong says that a fact has been so for longer than a time.
func (s *stage) forLong(d time.Duration, fact ...string) bool {
	at := s.book.since[key(fact...)]
	return !at.IsZero() && s.cloud.Now().Sub(at) > d
}

// pendingMost is how long a member may be Pending before replacements are said not to come.
const pendingMost = 900*time.Second + 4*interval

func whyTruth(m *markSeen) string {
	switch {
	case m.forLong(known, "opted-out", m.id):
		return "it has long opted out"
	case m.forLong(known, "protected", m.id) && m.pol.RespectScaleInProtection:
		return "it has long been protected"
	case m.forLong(known, "refresh", m.group):
		return "an instance refresh has long been running"
	}
	now := m.facts()
	for f := range m.book.since {
		if !now[f] {
			continue
		}
		part := strings.SplitN(f, " ", 4)
		switch {
		case part[0] == "alarm" && m.forLong(known, f) && slices.ContainsFunc(m.pol.Dependencies, func(d guard.Dependency) bool { return d.Kind == guard.DependencyHard }):
			return "the alarm of a hard dependency has long been red, or gone"
		case part[0] == "foreign" && part[1] == m.group && part[2] != guard.ProcessHealthCheck && part[2] != guard.ProcessAZRebalance && m.forLong(known, f):
			return "somebody has long suspended " + part[2]
		case part[0] == "pending" && part[1] == m.group && m.book.steady(m.stage) && m.forLong(pendingMost, f):
			return "a member has been Pending for long"
		}
	}
	return ""
}

// whySilence wants more than half of the others to beat before silence is a witness, and silence to be long enough. What is judged
// is the heartbeat as last read; a member whose clock is off, or a guard whose clock was, is not judged.
func whySilence(m *markSeen) string {
	at := m.pic.began.Add(m.skew)
	age := func(b guard.Beat) time.Duration { return at.Sub(b.At) }
	b, stale := m.m.Beat, time.Duration(m.pol.HeartbeatStaleSeconds)*time.Second
	if !m.book.steady(m.stage) || !b.Found || b.Unreadable || b.Status == "failing" || m.book.oddClock[m.id] {
		return ""
	}
	if gap := m.book.gapAt[m.group]; !gap.IsZero() && m.pic.began.Sub(gap) < stale+interval {
		return "" // a beat that came while nothing could be recorded is new to the guard, however old it is
	}
	if since := m.book.badSince[m.id]; m.pic.began.Sub(since) >= time.Duration(m.pol.DisagreeSeconds)*time.Second-apart {
		return "" // by now its target alone is enough
	}
	// The guard counts from the look that saw it advance, which may be an interval later than its stamp.
	if late := time.Duration(m.pol.HeartbeatFreshSeconds)*time.Second + interval + apart; age(b) >= late && age(b) < stale-apart {
		return fmt.Sprintf("its heartbeat is late by %s, not silent", age(b))
	}
	speak, others := 0, 0
	for _, x := range m.pic.group.Members {
		now, ok := m.cloud.Instance(x.ID)
		if x.ID == m.id || !ok || x.Lifecycle != "InService" || !goodTarget(x) && !badTarget(x) {
			continue
		}
		switch young := m.cloud.Now().Sub(now.EnteredInService) < 20*time.Minute; {
		case x.Beat.Unreadable || m.book.oddClock[x.ID] || x.Beat.Found && age(x.Beat) < stale+interval:
			others++
			speak++
		case !young && (x.Beat.Found || m.pic.began.Sub(m.book.firstLook[m.group]) > time.Duration(m.pol.FirstHeartbeatSeconds)*time.Second+interval):
			others++ // one that is young, or new to the guard, need not have beaten yet
		}
	}
	if age(b) >= stale && others > 0 && 2*speak <= others {
		return fmt.Sprintf("it is silent, and so are most others: %d of %d beat", speak, others)
	}
	return ""
}

// whyNotConverging counts the newest members that were launched for marks of ours since the last hold: as many in a row of a version
// that never serves, the one to be marked among them, as the policy allows end all repair. AWS does not say which launch replaces which
// mark, so launches that may be for something else do not count.
func whyNotConverging(m *markSeen) string {
	failed, self := 0, false
	for _, id := range slices.Backward(m.book.launched[m.group]) {
		l := m.book.launches[id]
		if l.served || !m.replaces(l) {
			break
		}
		if l.hopeless {
			failed++
			self = self || id == m.id
		}
	}
	if self && failed >= m.pol.ConvergeFailures {
		return fmt.Sprintf("the last %d replacements did not come to serve, it among them, the limit is %d", failed, m.pol.ConvergeFailures)
	}
	return ""
}

// replaces says that a launch is for a mark of ours whose outcome is on record: since the last hold, and since anything else that
// makes launches, there were no more launches than such marks.
func (m *markSeen) replaces(l *launch) bool {
	from := m.book.endedAt[m.group]
	if other := m.book.muddled[m.group]; other.After(from) {
		from = other
	}
	marks, launches := 0, 0
	for _, d := range m.book.marks {
		if d.group == m.group && d.sure && d.at.After(from) && d.at.Before(l.at) {
			marks++
		}
	}
	for _, id := range m.book.launched[m.group] {
		if at := m.book.launches[id].at; at.After(from) && !at.After(l.at) {
			launches++
		}
	}
	return marks > 0 && launches <= marks
}

// launch is a member that came after the beginning: when, whether it ever served, and whether it is of a version that never does.
type launch struct {
	at               time.Time
	served, hopeless bool
}

// watchLaunches notes what becomes of new members.
func (s *stage) watchLaunches() {
	for _, g := range s.cloud.Groups() {
		for _, m := range g.Members {
			if !m.Launched.After(s.began) {
				continue
			}
			l := s.book.launches[m.ID]
			if l == nil {
				l = &launch{at: m.Launched}
				s.book.launches[m.ID] = l
				s.book.launched[g.Name] = append(s.book.launched[g.Name], m.ID)
			}
			t, _ := s.cloud.Truth(m.ID)
			l.served = l.served || t.Serves
			l.hopeless = t.BadVersion
		}
	}
}
