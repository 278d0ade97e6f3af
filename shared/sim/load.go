package sim

import (
	"fmt"
	"time"
)

// warmingSteps is in how many equal steps a cold member becomes warm.
const warmingSteps = 10

// SetDemand changes the traffic of a group, in members needed to serve it; 0 means that any one member can serve everything.
func (c *Cloud) SetDemand(group string, demand float64) error {
	g, err := c.withGroup(group)
	if err != nil {
		return err
	}
	if demand < 0 {
		return fmt.Errorf("set demand %v: %w", demand, ErrInvalid)
	}
	g.spec.Demand = demand
	c.changed(g)
	return nil
}

// FlushCache empties a cache without any time of failure: every running member of the groups that have it as [GroupSpec.Cache] is cold.
func (c *Cloud) FlushCache(name string) {
	c.record(Event{Kind: EventDependency, Text: name + " is empty"})
	c.coolAll(name)
}

// coolAll makes the running members of the groups with this cache cold.
func (c *Cloud) coolAll(cache string) {
	for _, g := range c.groups {
		if g.spec.Cache != cache {
			continue
		}
		for _, i := range g.members {
			if i.up {
				c.cool(i)
			}
		}
	}
}

// cool makes a member cold; it warms up from now on.
func (c *Cloud) cool(i *instance) {
	spec := i.group.spec
	if spec.Warming <= 0 {
		return
	}
	i.coldSince = c.now
	for step := 1; step <= warmingSteps; step++ {
		c.after(spec.Warming*time.Duration(step)/warmingSteps, func() { c.changed(i.group) })
	}
	c.changed(i.group)
}

// carries is the share of a member's full load that it can carry, above 0 and up to 1. A cold one carries less; while its cache is away it
// stays cold.
func (c *Cloud) carries(i *instance) float64 {
	spec := i.group.spec
	if spec.Warming <= 0 {
		return 1
	}
	if spec.Cache != "" && c.dependency(spec.Cache).state != DependencyOK {
		return spec.ColdCapacity
	}
	steps := warmingSteps * c.now.Sub(i.coldSince) / spec.Warming
	if i.coldSince.IsZero() || steps >= warmingSteps {
		return 1
	}
	return spec.ColdCapacity + (1-spec.ColdCapacity)*float64(steps)/warmingSteps
}

// overload is the share of the requests to a registration that it cannot carry, 0 to below 1. One that gets no requests is not overloaded.
func (c *Cloud) overload(r *registration) float64 {
	g := r.inst.group
	if g.spec.Demand <= 0 || len(g.targets) == 0 || r.tg != g.targets[0] {
		return 0
	}
	open := r.tg.open()
	if !r.tg.routes(r, open) {
		return 0
	}
	all := 0
	for _, other := range r.tg.regs {
		if other.inst.group == g && r.tg.routes(other, open) {
			all++
		}
	}
	can := c.carries(r.inst) / float64(len(r.tg.spec.Ports))
	return max(0, 1-can*float64(all)/g.spec.Demand)
}

// overloaded says whether one probe is among the requests that its target cannot carry, and whether that was left to chance.
func (c *Cloud) overloaded(r *registration, probe uint64) (over, chance bool) {
	if !r.inst.group.spec.Overload || r.tg.spec.Path == PathStatic || r.tg.spec.Path == PathOwn {
		return false, false
	}
	share := c.overload(r)
	if share <= 0 {
		return false, false
	}
	const whole = 1 << 20
	return c.draw("overload", r.serial<<32+probe)%whole < uint64(share*whole), true
}

// servedShare is the share of the demand that the routed registrations of a group carry when requests are spread evenly.
func (c *Cloud) servedShare(g *group, open bool, all int) float64 {
	t := g.targets[0]
	demand, ports := g.spec.Demand, float64(len(t.spec.Ports))
	total := 0.0
	for _, r := range t.regs {
		if r.inst.group == g && t.routes(r, open) && c.serves(r.inst) {
			total += min(c.carries(r.inst)/ports/demand, 1/float64(all))
		}
	}
	return total
}
