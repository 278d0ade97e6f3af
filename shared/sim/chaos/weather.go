package chaos

import (
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// badVersion is the version of a launch template that never becomes healthy.
const badVersion = 2

// climate is how stormy a seed is: the chances of a trap and of an incident in a minute, the share of incidents in which one member
// breaks alone, the usual share of calls that go wrong, and the share of those on the calls that mark, hold or release.
type climate struct{ traps, rate, alone, level, hot float64 }

// forecast draws the climate of a seed.
func (s *stage) forecast() {
	d := s.weather
	s.climate = climate{
		traps: pick(d, 0.3, 0.6, 0.9), rate: pick(d, 0.01, 0.04, 0.2), alone: pick(d, 0.2, 0.5), level: pick(d, 0.001, 0.005, 0.03),
		hot: pick(d, 0, 0.05, 0.15, 0.3),
	}
	s.level = s.climate.level
}

// blow ends what is over, and lets something new happen.
func (s *stage) blow() {
	s.endIncidents(s.cloud.Now())
	d := s.weather
	if d.chance(0.1) {
		s.level = s.climate.level * pick(d, 0.5, 1, 4)
	}
	g := pick(d, s.fleet.groups...)
	s.meet(g)
	if !d.chance(s.climate.rate) {
		return
	}
	w := weatherKind{"a member breaks", (*stage).breakOne}
	if !d.chance(s.climate.alone) {
		w = pick(d, weathers()...)
	}
	s.counts.Acts++
	s.log("weather: %s, %s", w.name, g.name)
	w.do(s, g)
}

func (s *stage) endIncidents(now time.Time) {
	due := s.ends
	s.ends = nil
	for _, e := range due {
		if e.at.After(now) {
			s.ends = append(s.ends, e)
			continue
		}
		s.log("weather: now %s", e.what)
		e.do()
	}
}

// lasts plans the end of an incident within the given number of minutes.
func (s *stage) lasts(minutes int, what string, do func()) {
	s.ends = append(s.ends, ending{s.cloud.Now().Add(s.weather.span(time.Minute, time.Duration(minutes)*time.Minute)), what, do})
}

// weatherKind is one thing that can happen to a group.
type weatherKind struct {
	name string
	do   func(*stage, *member)
}

func weathers() []weatherKind {
	return append([]weatherKind{
		{"several members break", func(s *stage, g *member) {
			for range s.weather.between(2, 4) {
				s.breakOne(g)
			}
		}},
		{"a member is mended", func(s *stage, g *member) { s.one(g, func(id string) error { return s.cloud.Repair(id) }) }},
		{"the dependency fails", func(s *stage, _ *member) { s.dependencyFails() }},
		{"a zone is lost", func(s *stage, _ *member) {
			zone := pick(s.weather, s.fleet.zones...)
			s.cloud.SetZoneDown(zone, true)
			s.zonesDown[zone] = true
			s.lasts(15, "a zone is lost", func() {
				s.cloud.SetZoneDown(zone, false)
				delete(s.zonesDown, zone)
			})
		}},
		{"a broken agent is rolled out", func(s *stage, g *member) {
			s.try(s.cloud.SetAgentVersion(g.name, "2", true, true))
			s.lasts(20, "a broken agent is rolled out", func() { s.try(s.cloud.SetAgentVersion(g.name, "3", false, true)) })
		}},
		{"the heartbeat table loses beats", func(s *stage, _ *member) {
			s.cloud.SetBeatsLost(true)
			s.lasts(10, "the heartbeat table loses beats", func() { s.cloud.SetBeatsLost(false) })
		}},
		{"launches fail", func(s *stage, g *member) {
			s.try(s.cloud.SetLaunchFailure(g.name, "no capacity"))
			s.lasts(20, "launches fail", func() { s.try(s.cloud.SetLaunchFailure(g.name, "")) })
		}},
		{"a bad launch template", (*stage).badTemplate},
		{"the state table is out", func(s *stage, _ *member) {
			s.fleet.tableDown = true
			s.lasts(8, "the state table is out", func() { s.fleet.tableDown = false })
		}},
		{"a scale-out and back", func(s *stage, g *member) { s.scale(g) }},
		{"the guard's clock steps", (*stage).stepClock},
	}, people()...)
}

func (s *stage) breakOne(g *member) {
	kind := pick(s.weather, sim.FullDisk, sim.BadPool, sim.Hang, sim.Freeze, sim.Freeze, sim.Crash, sim.Crash, sim.Stopped, sim.Impaired, sim.BrokenAgent)
	s.one(g, func(id string) error { return s.cloud.Break(id, kind) })
}

// one does something to one member of a group; a member that cannot be touched is left alone.
func (s *stage) one(g *member, do func(id string) error) {
	now, _ := s.cloud.Group(g.name)
	if len(now.Members) == 0 {
		return
	}
	m := pick(s.weather, now.Members...)
	if err := do(m.ID); err != nil {
		s.log("%s: %v", m.ID, err)
		return
	}
	s.log("%s %s", g.name, m.ID)
}

// try notes what the Region refuses.
func (s *stage) try(err error) {
	if err != nil {
		s.log("refused: %v", err)
	}
}

// scale changes the desired capacity by one member for a while.
func (s *stage) scale(g *member) {
	now, _ := s.cloud.Group(g.name)
	if len(now.Members) == 0 {
		return
	}
	w := now.Members[0].Weight
	by := pick(s.weather, w, w, -w)
	s.book.muddled[g.name] = s.cloud.Now()
	s.try(s.cloud.SetDesired(g.name, now.Desired+by))
	s.lasts(20, "a scale-out and back", func() {
		now, _ := s.cloud.Group(g.name)
		s.book.muddled[g.name] = s.cloud.Now()
		s.try(s.cloud.SetDesired(g.name, max(w, now.Desired-by)))
	})
}

// stepClock makes the guard's clock jump. Steps of hours come only when no process runs: two processes at once never disagree so
// far.
func (s *stage) stepClock(_ *member) {
	d := s.weather
	to := pick(d, 0, 0, d.span(-3*time.Second, 3*time.Second), d.span(-30*time.Second, 30*time.Second), d.span(-3*time.Minute, 3*time.Minute))
	if len(s.processes) == 0 && d.chance(0.15) {
		to = d.span(-2*time.Hour, 2*time.Hour)
	}
	s.skew = to
	s.stepped, s.leapt = s.stepped || to.Abs() > 3*time.Second, s.leapt || to.Abs() > 3*time.Minute
	s.log("the guard's clock is off by %s", to)
}

// people are what owners and operators do.
func people() []weatherKind {
	all := []string{guard.ProcessReplaceUnhealthy, guard.ProcessHealthCheck, guard.ProcessAZRebalance, guard.ProcessLaunch, guard.ProcessTerminate}
	return []weatherKind{
		{"somebody resumes processes", func(s *stage, g *member) {
			s.try(s.cloud.ResumeProcesses(g.name, pick(s.weather, all, all[:1], all[1:2], all[:3])))
		}},
		{"somebody suspends a process", func(s *stage, g *member) { s.suspendByHand(g, pick(s.weather, all...)) }},
		{"an operator asks", func(s *stage, g *member) {
			s.ask(g.name, pick(s.weather, guard.RequestHold, guard.RequestRelease, guard.RequestRelease))
		}},
		{"the switch is turned", func(s *stage, _ *member) { s.turn() }},
		{"the policy is edited", func(s *stage, g *member) { s.edit(g) }},
		{"an owner fences a member", func(s *stage, g *member) {
			s.one(g, func(id string) error {
				if s.weather.chance(0.5) {
					s.lasts(40, "an owner fences a member", func() { s.try(s.cloud.SetProtection(id, false)) })
					return s.cloud.SetProtection(id, true)
				}
				s.lasts(40, "an owner fences a member", func() { s.try(s.cloud.SetInstanceTag(id, tagGuard, "true")) })
				return s.cloud.SetInstanceTag(id, tagGuard, "false")
			})
		}},
		{"a person marks a member", func(s *stage, g *member) {
			s.one(g, func(id string) error { return s.cloud.SetInstanceHealth(id, sim.Unhealthy, false) })
		}},
		{"a member goes to Standby", func(s *stage, g *member) {
			s.one(g, func(id string) error {
				s.book.muddled[g.name], s.book.returned[id] = s.cloud.Now(), true
				s.lasts(10, "a member goes to Standby", func() {
					s.book.muddled[g.name] = s.cloud.Now()
					s.try(s.cloud.ExitStandby(id))
				})
				return s.cloud.EnterStandby(id)
			})
		}},
		{"an instance refresh", func(s *stage, g *member) {
			s.try(s.cloud.SetRefresh(g.name, pick(s.weather, "InProgress", "Pending", "Baking")))
			s.lasts(20, "an instance refresh", func() { s.try(s.cloud.SetRefresh(g.name, "Successful")) })
		}},
		{"the alarm has no data", func(s *stage, _ *member) {
			s.try(s.cloud.SetAlarmState(alarmName, sim.AlarmInsufficient, "no data"))
		}},
		{"a clock of a member is off", func(s *stage, g *member) {
			s.one(g, func(id string) error {
				s.book.oddClock[id] = true
				return s.cloud.SetClockSkew(id, s.weather.span(-time.Hour, time.Hour))
			})
		}},
	}
}

func (s *stage) suspendByHand(g *member, process string) {
	s.try(s.cloud.SuspendProcesses(g.name, []string{process}))
	s.lasts(20, "somebody suspends a process", func() { s.try(s.cloud.ResumeProcesses(g.name, []string{process})) })
}

// ask leaves an operator's request in the ledger; every other release is forced.
func (s *stage) ask(group, kind string) {
	s.requests++
	q := guard.Request{ID: fmt.Sprintf("request-%d", s.requests), Kind: kind, Reason: "chaos", By: "operator", At: s.cloud.Now()}
	q.Force = kind == guard.RequestRelease && s.requests%2 == 0
	if err := s.ledger.PutRequest(s.ctx, s.fleet.arn(group), q); err != nil {
		s.fail(err)
	}
}

// edit changes an operator's layer: a limit, the action, the mode, or a document that is refused.
func (s *stage) edit(g *member) {
	d := s.weather
	g.broken = ""
	switch d.IntN(6) {
	case 0:
		g.broken = pick(d, `{"marks_per_hour": "6O"}`, `{"max_in_flight": -1}`, `{`, `{"mode": "off", "no_such_key": 1}`)
	case 1:
		g.edited = nil
	case 2:
		g.edited = settings{"mode": pick(d, guard.ModeObserve, guard.ModeOff, guard.ModeAct)}.raw()
	case 3:
		g.edited = settings{"action": pick(d, guard.ActionAlertOnly, guard.ActionHoldOnly, guard.ActionReplace)}.raw()
	case 4:
		g.edited = settings{"marks_per_10_minutes": d.IntN(3), "marks_per_hour": d.IntN(5), "max_in_flight": d.IntN(3)}.raw()
	default:
		g.edited = settings{"quiet_seconds": 60, "confirm_sweeps": d.between(1, 4), "correlated_min": d.between(2, 10)}.raw()
	}
	s.log("policy of %s: %s %s", g.name, g.edited, g.broken)
}
