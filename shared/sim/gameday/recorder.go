package gameday

import (
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// recorder follows a day by the simulator's truth: which members are truly broken and when each is made good, and when something is really
// the matter.
type recorder struct {
	w      *World
	groups []*groupRecord
	calls  int   // calls of the script
	err    error // the first step of the script that failed
}

// groupRecord is what is known of one group.
type groupRecord struct {
	name string
	// open are the cases that are not over, by the member that broke; carried by the member that is to replace it.
	open, carried map[string]*repair
	// waiting are terminated members in order: nil for one that was not broken.
	waiting []*repair
	all     []*repair
	trouble []span
	uses    []string
	seen    uint64 // the group's changes at the last look
}

// repair is one truly broken member, from then on until it is made good.
type repair struct {
	// from is when it broke, or when replacing it first helped; zero while it never did.
	from, to time.Time
	// left says that scale-in took it, which is no repair.
	left bool
}

type span struct{ from, to time.Time }

// tick is how often the recorder looks when nothing happens.
const tick = 30 * time.Second

func newRecorder(w *World) *recorder {
	r := &recorder{w: w}
	for _, name := range w.Day.Groups {
		r.groups = append(r.groups, &groupRecord{
			name: name, open: map[string]*repair{}, carried: map[string]*repair{}, uses: w.Cloud.DependenciesOf(name),
		})
	}
	w.Cloud.OnEvent = r.event
	r.every()
	return r
}

func (r *recorder) every() {
	r.w.Cloud.At(r.w.Cloud.Now().Add(tick), func(*sim.Cloud) {
		r.look()
		r.every()
	})
}

// plan plans the script.
func (r *recorder) plan(steps []sim.Step) {
	for _, step := range steps {
		r.w.Cloud.At(r.w.Start.Add(step.At), func(c *sim.Cloud) {
			before := c.Calls()
			if err := step.Do(c); err != nil && r.err == nil {
				r.err = err
			}
			r.calls += c.Calls() - before
			r.look()
		})
	}
}

func (r *recorder) event(e sim.Event) {
	switch e.Kind {
	case sim.EventTerminate, sim.EventLaunch:
		for _, g := range r.groups {
			if g.name == e.Group {
				g.moved(e)
			}
		}
	case sim.EventInService, sim.EventTarget:
		for _, g := range r.groups {
			if g.name == e.Group {
				r.lookAt(g)
			}
		}
	case sim.EventServing, sim.EventGone, sim.EventMark, sim.EventRestore, sim.EventRefused, sim.EventSuspend, sim.EventResume, sim.EventBreak,
		sim.EventRepair, sim.EventDependency, sim.EventAlarm, sim.EventNote:
		// What they change shows at the next look, or is nothing that is recorded.
	}
}

// moved pairs the members that are terminated with those that are launched, oldest first, as nobody says which replaces which.
func (g *groupRecord) moved(e sim.Event) {
	if e.Kind == sim.EventLaunch {
		if e.Instance != "" && len(g.waiting) > 0 {
			if c := g.waiting[0]; c != nil {
				g.carried[e.Instance] = c
			}
			g.waiting = g.waiting[1:]
		}
		return
	}
	c := g.open[e.Instance]
	if c == nil {
		c = g.carried[e.Instance]
	}
	delete(g.open, e.Instance)
	delete(g.carried, e.Instance)
	if strings.Contains(e.Text, "shrinking the capacity") {
		if c != nil {
			c.left = true
		}
		return
	}
	g.waiting = append(g.waiting, c)
}

// look takes the state of all groups.
func (r *recorder) look() {
	for _, g := range r.groups {
		if r.w.Cloud.Changes(g.name) != g.seen {
			r.lookAt(g)
		}
	}
}

func (r *recorder) lookAt(g *groupRecord) {
	c, now := r.w.Cloud, r.w.Cloud.Now()
	g.seen = c.Changes(g.name)
	helps := c.LaunchWouldServe(g.name)
	wrong := !helps
	c.LookTrue(g.name, func(id string, state sim.Lifecycle, target sim.TargetState, truth sim.Truth) {
		broken := truth.Broken != "" && truth.Broken != sim.FalseCheck && truth.Broken != sim.FalseAlarm
		wrong = wrong || broken || truth.BadVersion || truth.NoAgent
		if state != sim.InService {
			return
		}
		good := truth.Serves && (target == "" || target == sim.TargetHealthy)
		if one := g.carried[id]; one != nil {
			if good {
				one.to = now
				delete(g.carried, id)
			}
			return
		}
		one := g.open[id]
		switch {
		case one != nil && good:
			one.to = now
			delete(g.open, id)
		case one == nil && !truth.Sound:
			one = &repair{}
			g.open[id], g.all = one, append(g.all, one)
		}
	})
	g.settle(c)
	for _, one := range g.all {
		if helps && one.from.IsZero() && one.to.IsZero() {
			one.from = now
		}
	}
	g.note(now, wrong || r.outside(g))
}

// settle ends the wait for replacements that nobody wants any more, because the desired capacity went down meanwhile: scale-in took them.
func (g *groupRecord) settle(c *sim.Cloud) {
	if len(g.waiting) == 0 {
		return
	}
	have := 0
	now, _ := c.Roster(g.name, func(_ *sim.Group, m *sim.Member) {
		if m.Lifecycle == sim.Pending || m.Lifecycle == sim.InService {
			have += m.Weight
		}
	})
	if have < now.Desired {
		return
	}
	for _, one := range g.waiting {
		if one != nil {
			one.left = true
		}
	}
	g.waiting = nil
}

// outside says whether something other than a member is really the matter: a dependency of the group, the tables, or failing requests.
func (r *recorder) outside(g *groupRecord) bool {
	c := r.w.Cloud
	for _, name := range g.uses {
		if c.Dependency(name) != sim.DependencyOK {
			return true
		}
	}
	share, err := c.FailShare(g.name)
	return c.BeatsLost() || c.TableThrottle() > 0 || err == nil && share > 0
}

// note extends or ends the present time of trouble.
func (g *groupRecord) note(now time.Time, wrong bool) {
	last := len(g.trouble) - 1
	switch {
	case last >= 0 && g.trouble[last].to.IsZero() && !wrong:
		g.trouble[last].to = now
	case wrong && (last < 0 || !g.trouble[last].to.IsZero()):
		g.trouble = append(g.trouble, span{from: now})
	}
}

// troubled says whether something was the matter with a group at a time or within a duration before it.
func (g *groupRecord) troubled(at time.Time, before time.Duration) bool {
	for _, s := range g.trouble {
		if !s.from.After(at) && (s.to.IsZero() || !s.to.Before(at.Add(-before))) {
			return true
		}
	}
	return false
}
