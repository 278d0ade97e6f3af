package chaos

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// A trap is a member that breaks, which the guard would mark within a few minutes, and beside it one reason not to: the only thing
// that stands between the member and a wrong mark is one gate. Random weather meets such moments seldom, so they are set.

// circumstance is one reason not to mark; it begins up to delay after the member breaks, and ends by itself.
type circumstance struct {
	name  string
	delay time.Duration
	begin func(*stage, *member, string)
}

func circumstances() []circumstance {
	const late = 4 * time.Minute
	return []circumstance{
		{"nothing else", 0, func(*stage, *member, string) {}},
		{"it is protected", late, func(s *stage, _ *member, id string) {
			s.try(s.cloud.SetProtection(id, true))
			s.lasts(15, "it is protected", func() { s.try(s.cloud.SetProtection(id, false)) })
		}},
		{"it opts out", late, func(s *stage, _ *member, id string) {
			s.try(s.cloud.SetInstanceTag(id, tagGuard, "false"))
			s.lasts(15, "it opts out", func() { s.try(s.cloud.SetInstanceTag(id, tagGuard, "true")) })
		}},
		{"a refresh begins", late, func(s *stage, g *member, _ string) {
			s.try(s.cloud.SetRefresh(g.name, pick(s.weather, "InProgress", "Pending", "Baking", "RollbackInProgress")))
			s.lasts(15, "a refresh", func() { s.try(s.cloud.SetRefresh(g.name, "Successful")) })
		}},
		{"somebody suspends a process", late, func(s *stage, g *member, _ string) {
			s.suspendByHand(g, pick(s.weather, guard.ProcessReplaceUnhealthy, guard.ProcessLaunch, guard.ProcessTerminate))
		}},
		{"launches fail", 0, func(s *stage, g *member, _ string) {
			s.try(s.cloud.SetLaunchFailure(g.name, "no capacity"))
			s.lasts(15, "launches fail", func() { s.try(s.cloud.SetLaunchFailure(g.name, "")) })
			s.scale(g)
		}},
		{"the alarm does not exist", late, func(s *stage, _ *member, _ string) { s.dropAlarm() }},
		{"the dependency fails", late, func(s *stage, _ *member, _ string) { s.dependencyFails() }},
		{"all beats are lost", 0, func(s *stage, _ *member, _ string) {
			s.cloud.SetBeatsLost(true)
			s.lasts(12, "all beats are lost", func() { s.cloud.SetBeatsLost(false) })
		}},
		{"it comes back", late, func(s *stage, _ *member, id string) { s.try(s.cloud.Repair(id)) }},
		{"a person marks it", late, func(s *stage, _ *member, id string) { s.try(s.cloud.SetInstanceHealth(id, sim.Unhealthy, false)) }},
		{"a second one breaks", late, func(s *stage, g *member, _ string) { s.breakOne(g) }},
		{"one breaks in every group", 0, breakTwins}, {"one breaks in every group", 0, breakTwins},
		{"a bad launch template", 0, func(s *stage, g *member, _ string) { s.badTemplate(g) }},
		{"no sweep comes", 0, noSweep}, {"no sweep comes", 0, noSweep},
		{"an operator holds and lets go", late, func(s *stage, g *member, _ string) {
			s.ask(g.name, guard.RequestHold)
			s.lasts(4, "an operator's hold", func() { s.ask(g.name, guard.RequestRelease) })
		}},
		{"the switch is turned", late, func(s *stage, _ *member, _ string) { s.turn() }},
		{"the policy is edited", late, func(s *stage, g *member, _ string) { s.edit(g) }},
	}
}

// meet sets a trap in a group that is well; in one that has long been otherwise its owners put things right now and then.
func (s *stage) meet(g *member) {
	d, now := s.weather, s.cloud.Now()
	switch {
	case s.isWell(g):
		g.wellAt = now
		if d.chance(s.climate.traps) {
			s.spring(g)
		}
	case now.Sub(g.wellAt) > 8*time.Minute && d.chance(0.3):
		s.tidy(g)
	case d.chance(s.climate.traps / 20):
		s.spring(g)
	}
}

// isWell says that nothing is the matter with any member, and that nothing is held.
func (s *stage) isWell(g *member) bool {
	if s.book.holds[g.name] != "" {
		return false
	}
	now, _ := s.cloud.Group(g.name)
	for _, m := range now.Members {
		if t, _ := s.cloud.Truth(m.ID); !t.Serves || t.Broken != "" || m.Health != sim.Healthy || m.Lifecycle != sim.InService {
			return false
		}
	}
	return true
}

// tidy is an owner who mends what is broken, says of each member that it is well, and asks for the release.
func (s *stage) tidy(g *member) {
	s.log("the owner of %s tidies up", g.name)
	now, _ := s.cloud.Group(g.name)
	for _, m := range now.Members {
		t, _ := s.cloud.Truth(m.ID)
		s.mend(g.name, m.ID, t)
		if m.Health == sim.Unhealthy && m.Lifecycle == sim.InService && s.weather.chance(0.5) {
			s.try(s.cloud.SetInstanceHealth(m.ID, sim.Healthy, false))
		}
	}
	if s.book.holds[g.name] != "" {
		s.ask(g.name, guard.RequestRelease)
	}
}

// breakTwins breaks a member of every group in the same way, and lets each group be looked at by a run of its own at the same moment.
func breakTwins(s *stage, g *member, _ string) {
	for _, other := range s.fleet.groups {
		if other != g {
			s.one(other, func(id string) error { return s.cloud.Break(id, sim.FullDisk) })
		}
	}
	s.single = true
	s.lasts(8, "one run for all groups", func() { s.single = false })
}

// noSweep stops the schedule for long enough to make a gap.
func noSweep(s *stage, _ *member, _ string) {
	s.silent = true
	at := s.cloud.Now().Add(s.weather.span(4*time.Minute, 7*time.Minute))
	s.ends = append(s.ends, ending{at, "sweeps come again", func() { s.silent = false }})
}

// spring breaks one member of a group and plans the circumstance.
func (s *stage) spring(g *member) {
	now, _ := s.cloud.Group(g.name)
	if len(now.Members) == 0 {
		return
	}
	d := s.weather
	id := pick(d, now.Members...).ID
	kind := pick(d, sim.FullDisk, sim.FullDisk, sim.BadPool, sim.Freeze, sim.Crash, sim.Crash, sim.Hang)
	if err := s.cloud.Break(id, kind); err != nil {
		return
	}
	c := pick(d, circumstances()...)
	s.counts.Traps++
	s.log("trap: %s %s of %s breaks, and %s", id, kind, g.name, c.name)
	if c.delay == 0 {
		c.begin(s, g, id)
		return
	}
	s.ends = append(s.ends, ending{s.cloud.Now().Add(d.span(0, c.delay)), c.name, func() { c.begin(s, g, id) }})
}

func (s *stage) dependencyFails() {
	s.try(s.cloud.SetDependency(dependency, pick(s.weather, sim.DependencySlow, sim.DependencyDown), 0.5))
	s.lasts(15, "the dependency fails", func() { s.try(s.cloud.SetDependency(dependency, sim.DependencyOK, 0)) })
}

// dropAlarm deletes the alarm for a while.
func (s *stage) dropAlarm() {
	s.try(s.cloud.DeleteAlarm(alarmName))
	s.lasts(10, "the alarm does not exist", func() {
		if _, there := s.cloud.Alarm(alarmName); !there {
			s.try(s.cloud.PutAlarm(s.fleet.alarm))
		}
	})
}

func (s *stage) badTemplate(g *member) {
	s.try(s.cloud.SetLaunchTemplate(g.name, badVersion, true))
	s.lasts(45, "a bad launch template", func() { s.try(s.cloud.SetLaunchTemplate(g.name, badVersion+1, false)) })
}

func (s *stage) turn() {
	s.fleet.mode = pick(s.weather, guard.ModeObserve, guard.ModeOff)
	s.lasts(10, "the switch is turned", func() { s.fleet.mode = guard.ModeAct })
}
