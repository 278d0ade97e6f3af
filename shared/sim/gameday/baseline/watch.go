package baseline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// watch is a guardian that is a rule: it looks at all groups of the day once a period, and marks what the rule wants replaced.
type watch struct {
	name string
	// period is the time between two looks.
	period time.Duration
	// silence is after how long without a heartbeat a machine is Unknown.
	silence time.Duration
	// respectGrace marks no member inside the grace period of its group. Only who calls SetInstanceHealth as it comes has that; to
	// the others a mark stands for a termination.
	respectGrace bool
	// agentOnly takes no notice of what the load balancer finds.
	agentOnly bool
	// requests makes the look tell Routed and Success, which is slower.
	requests bool
	// decide is the rule, with its memory.
	decide func(Observation) Action
	// counts says that the rule counts looks at which all is well, too: none may be left out.
	counts bool

	world     *gameday.World
	sightings map[string]*sighting
	speaks    map[string]bool // pools in which any machine was ever heard
	machines  []Machine       // kept to be filled again
	calm      calm
	err       error
}

// sighting is what a controller remembers of one machine.
type sighting struct {
	joined      bool
	readiness   Readiness
	since, well time.Time
	look        int // number of the look that last saw it
}

// sighted says when and where a member was looked at.
type sighted struct {
	group string
	now   time.Time
	look  int
}

// Name implements gameday.Guardian.
func (w *watch) Name() string { return w.name }

// Pages implements gameday.Guardian: these systems tell nobody.
func (*watch) Pages() []gameday.Page { return nil }

// Err is the first act that could not be carried out.
func (w *watch) Err() error { return w.err }

// Start implements gameday.Guardian. The groups get EC2 health checks, which are always on in Auto Scaling; the first look comes within
// the first period, by the seed.
func (w *watch) Start(world *gameday.World) error {
	w.world = world
	w.sightings, w.speaks = map[string]*sighting{}, map[string]bool{}
	for _, name := range world.Day.Groups {
		if err := onlyEC2(world.Cloud, name); err != nil {
			return fmt.Errorf("start %s: %w", w.name, err)
		}
	}
	phase := gameday.NewDice(w.name, world.Cloud.Config().Seed).Between(0, w.period-time.Second)
	w.calm.groups = world.Day.Groups
	w.plan(world.Start.Add(phase), 1)
	return nil
}

func onlyEC2(cloud *sim.Cloud, group string) error {
	g, ok := cloud.Group(group)
	if !ok {
		return &sim.NotFoundError{Kind: "group", Name: group}
	}
	return cloud.SetGroupChecks(group, []string{"EC2"}, g.Grace)
}

func (w *watch) plan(at time.Time, number int) {
	w.world.Cloud.At(at, func(c *sim.Cloud) {
		if !w.calm.still(c) || w.counts {
			w.look(number)
		}
		w.plan(at.Add(w.period), number+1)
	})
}

func (w *watch) look(number int) {
	o := w.observe(number)
	action := w.decide(o)
	for _, id := range action.Replace {
		w.replace(id)
	}
	// A member that fell silent shows it within the silence from the last change on.
	w.calm.is = o.Now.Sub(w.calm.since) >= w.silence && len(action.Replace) == 0 && action.Recheck == 0 && action.Why == "" &&
		!slices.ContainsFunc(o.Machines, func(m Machine) bool {
			return m.Readiness != Ready || m.Pending || m.Leaving || m.Marked
		})
}

// replace terminates a member the one way there is: by a mark. One that is in its grace or on its way out already is no failure.
func (w *watch) replace(id string) {
	err := w.world.Cloud.SetInstanceHealth(id, sim.Unhealthy, w.respectGrace)
	var grace *sim.GraceError
	var leaving *sim.LifecycleError
	if err == nil || errors.As(err, &grace) || errors.As(err, &leaving) || w.err != nil {
		return
	}
	w.err = fmt.Errorf("replace %s: %w", id, err)
}

// observe is one look at everything. The observation is good until the next.
func (w *watch) observe(number int) Observation {
	now := w.world.Cloud.Now()
	o := Observation{Now: now}
	w.machines = w.machines[:0]
	for _, group := range w.world.Day.Groups {
		first := len(w.machines)
		w.world.Cloud.Look(group, func(v *sim.View) {
			o.Heard = latest(o.Heard, v.BeatAt)
			o.Shifted = o.Shifted || v.Shifted
			w.speaks[group] = w.speaks[group] || !v.BeatAt.IsZero()
			if v.Lifecycle == sim.Standby {
				return
			}
			w.machines = append(w.machines, w.machine(v, sighted{group: group, now: now, look: number}))
		})
		if w.requests {
			w.addRequests(group, w.machines[first:])
		}
	}
	o.Machines = w.machines
	if len(w.sightings) > 2*len(w.machines) {
		for id, s := range w.sightings {
			if s.look != number {
				delete(w.sightings, id)
			}
		}
	}
	return o
}

// machine judges one member and remembers since when.
func (w *watch) machine(v *sim.View, o sighted) Machine {
	s := w.sightings[v.ID]
	if s == nil {
		s = &sighting{since: o.now}
		w.sightings[v.ID] = s
	}
	s.look = o.look
	m := Machine{
		ID: v.ID, Pool: o.group, Zone: v.Zone, Created: v.EnteredInService, Pending: v.Lifecycle == sim.Pending,
		Leaving: v.Lifecycle == sim.Terminating, Marked: v.Lifecycle != sim.Terminating && v.Health == sim.Unhealthy,
	}
	if m.Created.IsZero() {
		m.Created = v.Launched
	}
	if !m.Leaving {
		w.judge(s, v, o)
	}
	m.Readiness, m.Since, m.Well = s.readiness, s.since, s.well
	return m
}

// judge says how ready a member is. It has joined once its agent was heard or, in a group in which no agent ever spoke and at the very first
// look, once the load balancer found it healthy. Then a target that is unhealthy or a failing check of the agent's make it NotReady (a check that
// names a dependency does not: it says nothing of the machine), and silence makes it Unknown. A machine that is unwell in one of
// the two ways stays so until it is well: being found both silent and unhealthy begins no new wait.
func (w *watch) judge(s *sighting, v *sim.View, o sighted) {
	heard := !v.BeatAt.IsZero()
	silent := heard && o.now.Sub(v.BeatAt) >= w.silence
	s.joined = s.joined || heard || v.Target == sim.TargetHealthy && (!w.speaks[o.group] || o.look == 1)
	is := Ready
	switch {
	case !s.joined:
		is = Unseen
	case v.Target == sim.TargetUnhealthy && !w.agentOnly || !silent && failsItself(v.Failing):
		is = NotReady
	case silent:
		is = Unknown
	}
	if bad(is) && bad(s.readiness) {
		is = s.readiness
	}
	if is != s.readiness {
		s.readiness, s.since = is, o.now
	}
	switch {
	case is == Ready:
		s.well = o.now
	case is == Unknown && v.BeatAt.After(s.well):
		s.well = v.BeatAt
	}
}

func bad(r Readiness) bool { return r == NotReady || r == Unknown }

// addRequests tells what becomes of the requests to each machine of a pool.
func (w *watch) addRequests(group string, machines []Machine) {
	w.world.Cloud.Requests(group, func(id string, success float64) {
		for n := range machines {
			if machines[n].ID == id {
				machines[n].Routed, machines[n].Success = true, success
			}
		}
	})
}

// failsItself says whether any check fails that is about the machine and not about something that it depends on.
func failsItself(failing []string) bool {
	for _, name := range failing {
		if !strings.HasPrefix(name, "dep:") {
			return true
		}
	}
	return false
}
