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

// onMember does something to the nth of the members that are InService and sound at that moment, in launch order and round again from the
// first; without any, nothing happens. So the same members are hit whoever is on watch, until somebody loses one of them.
func onMember(group string, nth int, at time.Duration, what string, do func(*sim.Cloud, string) error) sim.Step {
	return sim.Step{At: at, About: fmt.Sprintf("member %d of %s %s", nth, group, what), Do: func(c *sim.Cloud) error {
		g, ok := c.Group(group)
		if !ok {
			return &sim.NotFoundError{Kind: "group", Name: group}
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

// breaks makes the nth member of a group break.
func breaks(group string, nth int, at time.Duration, kind sim.Kind) sim.Step {
	return onMember(group, nth, at, "breaks: "+string(kind), func(c *sim.Cloud, id string) error { return c.Break(id, kind) })
}

// falseFor lets the check of a member be wrong for a while. A member that is gone by then needs no repair.
func falseFor(group string, nth int, at, lasts time.Duration, kind sim.Kind) []sim.Step {
	wrong := ""
	about := fmt.Sprintf("member %d of %s", nth, group)
	return []sim.Step{
		onMember(group, nth, at, "is called unhealthy by mistake", func(c *sim.Cloud, id string) error {
			wrong = id
			return c.Break(id, kind)
		}),
		{At: at + lasts, About: about + " is called healthy again", Do: func(c *sim.Cloud) error {
			if _, there := c.Instance(wrong); !there {
				return nil
			}
			return c.Repair(wrong)
		}},
	}
}
