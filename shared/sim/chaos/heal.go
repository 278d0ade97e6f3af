package chaos

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Times of the heal phase. What broke alone is Holdfast's; after peopleMend an owner mends all but one of what is broken in each
// group, and after peopleHelp also what Holdfast may not repair.
const (
	peopleMend = 5 * time.Minute
	peopleHelp = 45 * time.Minute
	wholeFor   = 3
)

// heal is the second phase: the faults stop, and the fleet must become whole.
func (s *stage) heal() {
	s.chaotic, s.silent, s.level, s.skew = false, false, 0, 0
	for len(s.ends) > 0 { // what begins now ends at once as well
		s.endIncidents(s.cloud.Now().Add(24 * time.Hour))
	}
	s.fleet.mode, s.fleet.tableDown = guard.ModeAct, false
	for _, g := range s.fleet.groups {
		g.edited, g.broken = nil, ""
	}
	s.log("the faults stop")
	start, whole := s.cloud.Now(), 0
	for s.cloud.Now().Sub(start) < s.o.Heal && whole < wholeFor && len(s.violations) == 0 && s.err == nil {
		s.help(s.cloud.Now().Sub(start))
		s.watchTruth()
		s.sweep()
		s.until(s.cloud.Now().Add(interval))
		s.watchTruth()
		s.unhealed = s.unwhole()
		whole++
		if len(s.unhealed) > 0 {
			whole = 0
			s.healedAfter = s.cloud.Now().Sub(start)
		}
	}
}

// help is what people do in the heal phase.
func (s *stage) help(after time.Duration) {
	for _, g := range s.fleet.groups {
		st := s.state(g.name)
		if h := st.Hold; h != nil && (h.Sticky || h.Conflict) && h.ReleaseBy == "" && after >= 2*time.Minute && after%(5*time.Minute) == 2*time.Minute {
			s.ask(g.name, guard.RequestRelease)
		}
		s.resumeForeign(g)
		now, _ := s.cloud.Group(g.name)
		broken := 0
		for _, m := range now.Members {
			t, _ := s.cloud.Truth(m.ID)
			if t.Sound && t.Broken == "" {
				s.vouch(g, m, after)
				continue
			}
			broken++
			mends := t.Broken == sim.BrokenAgent || broken > 1 || s.fleet.spared(g.name)
			if after >= peopleHelp || mends && after >= peopleMend {
				s.mend(g.name, m.ID, t)
			}
		}
	}
}

// spared says that Holdfast does not replace in a group: its owners do.
func (f *fleet) spared(name string) bool {
	for _, g := range f.groups {
		if g.name == name && g.action != guard.ActionReplace {
			return true
		}
	}
	return false
}

// mend repairs a member by hand; a bad version is mended where it runs.
func (s *stage) mend(group, id string, t sim.Truth) {
	if t.Broken == "" && !t.BadVersion {
		return
	}
	s.log("a person mends %s", id)
	if t.BadVersion {
		s.try(s.cloud.SetLaunchTemplate(group, badVersion, false))
		s.try(s.cloud.SetLaunchTemplate(group, badVersion+1, false))
	}
	s.try(s.cloud.Repair(id))
}

// vouch sets a member Healthy by hand that serves and that Holdfast has tried to restore in vain, once a page says so.
func (s *stage) vouch(g *member, m sim.Member, after time.Duration) {
	told := s.book.pages[key(g.name, guard.PageResumeBlocked, "")]
	if t, _ := s.cloud.Truth(m.ID); told != nil && after >= peopleHelp && t.Serves && m.Health == sim.Unhealthy {
		s.log("a person vouches for %s", m.ID)
		s.try(s.cloud.SetInstanceHealth(m.ID, sim.Healthy, false))
	}
}

// resumeForeign resumes by hand what a page has called foreign.
func (s *stage) resumeForeign(g *member) {
	suspended := s.suspendedNow(g.name)
	for _, process := range slices.Sorted(maps.Keys(suspended)) {
		if told := s.book.pages[key(g.name, guard.PageForeignSuspension, process)]; told != nil && s.isForeign(g.name, process) {
			s.log("a person resumes %s of %s", process, g.name)
			s.try(s.cloud.ResumeProcesses(g.name, []string{process}))
		}
	}
}

// isForeign says that the state does not call a suspension its own.
func (s *stage) isForeign(group, process string) bool {
	st := s.state(group)
	if st.Hold != nil && slices.ContainsFunc(st.Hold.Ours, func(o guard.HeldProcess) bool { return o.Process == process }) {
		return false
	}
	return st.Paced == nil || st.Paced.Process == nil || st.Paced.Process.Process != process
}

// unwhole lists what keeps the fleet from being whole.
func (s *stage) unwhole() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, g := range s.fleet.groups {
		st := s.state(g.name)
		if h := st.Hold; h != nil {
			say("%s is held since %s, stage %d, cause %s", g.name, h.Since.Time().Format(time.TimeOnly), h.Stage, h.Cause)
		}
		for _, p := range st.Unsent {
			say("%s: page %s %s was not delivered", g.name, p.Key, p.Subject)
		}
		suspended := s.suspendedNow(g.name)
		for _, process := range slices.Sorted(maps.Keys(suspended)) {
			say("%s: %s is suspended: %s", g.name, process, suspended[process])
		}
		now, _ := s.cloud.Group(g.name)
		serving := 0
		for _, m := range now.Members {
			t, _ := s.cloud.Truth(m.ID)
			if t.Serves && t.Broken == "" && m.Health == sim.Healthy && m.Lifecycle == sim.InService {
				serving += m.Weight
			} else {
				say("%s: %s is %s, %s, %+v", g.name, m.ID, m.Lifecycle, m.Health, t)
			}
		}
		if serving < now.Desired {
			say("%s: %d of %d serve", g.name, serving, now.Desired)
		}
	}
	return out
}
