package gameday

import (
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// outage is a dependency that is not well for a while.
type outage struct {
	name        string
	from, lasts time.Duration
	state       sim.DependencyState
	failShare   float64
	reach       float64 // share of members that feel it; 0 means all
}

func (o outage) steps() []sim.Step {
	reach := o.reach
	if reach == 0 {
		reach = 1
	}
	return []sim.Step{
		{At: o.from, About: o.name + " is " + string(o.state), Do: func(c *sim.Cloud) error {
			return c.SetDependencyFor(o.name, o.state, o.failShare, reach)
		}},
		{At: o.from + o.lasts, About: o.name + " is well again", Do: func(c *sim.Cloud) error {
			return c.SetDependency(o.name, sim.DependencyOK, 0)
		}},
	}
}

// onMember does something to the nth of the members of group web that are InService and sound at that moment, in launch order and round again
// from the first; without any, nothing happens. So the same members are hit whoever is on watch, until somebody loses one of them.
func onMember(nth int, at time.Duration, what string, do func(*sim.Cloud, string) error) sim.Step {
	return sim.Step{At: at, About: fmt.Sprintf("member %d %s", nth, what), Do: func(c *sim.Cloud) error {
		g, ok := c.Group("web")
		if !ok {
			return &sim.NotFoundError{Kind: "group", Name: "web"}
		}
		var ids []string
		for _, m := range g.Members {
			if truth, _ := c.Truth(m.ID); truth.Sound && truth.Broken == "" && m.Lifecycle == sim.InService {
				ids = append(ids, m.ID)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		return do(c, ids[nth%len(ids)])
	}}
}

// breaks makes the nth member break.
func breaks(nth int, at time.Duration, kind sim.Kind) sim.Step {
	return onMember(nth, at, "breaks: "+string(kind), func(c *sim.Cloud, id string) error { return c.Break(id, kind) })
}

// mistake is a check that is wrong about one member for a while.
type mistake struct {
	nth      int
	at, ends time.Duration
	kind     sim.Kind
}

// steps: a member that is gone before the mistake ends needs no repair.
func (m mistake) steps() []sim.Step {
	wrong := ""
	return []sim.Step{
		onMember(m.nth, m.at, "is called unhealthy by mistake", func(c *sim.Cloud, id string) error {
			wrong = id
			return c.Break(id, m.kind)
		}),
		{At: m.ends, About: fmt.Sprintf("member %d is called healthy again", m.nth), Do: func(c *sim.Cloud) error {
			if _, there := c.Instance(wrong); !there {
				return nil
			}
			return c.Repair(wrong)
		}},
	}
}
