package sim

import (
	"fmt"
	"time"
)

// account integrates what a group loses. Between two events nothing changes, so it adds rate times time when something did.
type account struct {
	since     time.Time
	dirty     bool    // the rates below are not those of the present state
	failRate  float64 // share of requests failing
	lostRate  int     // missing weight
	failSum   float64 // in minutes
	lostSum   float64 // in weight minutes
	worstSeen bool
}

// changed says that something about a group changed that its books, probes or heartbeats depend on.
func (c *Cloud) changed(g *group) {
	g.account.dirty = true
	c.stirred(g)
}

// stirred is changed for what costs neither capacity nor requests.
func (c *Cloud) stirred(g *group) {
	g.beatsStale = true
	g.changes++
	c.told++
	for _, i := range g.members {
		for _, r := range i.regs {
			r.probes.wake()
		}
	}
}

// allChanged says so of all groups.
func (c *Cloud) allChanged() {
	c.told++
	for _, g := range c.groups {
		c.changed(g)
	}
}

// settle closes the books of the present instant. Advance calls it before the clock moves.
func (c *Cloud) settle() {
	for _, g := range c.groups {
		if g.account.dirty {
			c.settleGroup(g)
		}
		c.refreshBeats(g)
	}
}

func (c *Cloud) settleGroup(g *group) {
	a := &g.account
	a.failSum, a.lostSum = a.sums(c.now)
	a.since, a.dirty = c.now, false
	serving := c.serving(g)
	a.lostRate = max(0, g.spec.Desired-serving)
	a.failRate, _ = c.failShare(g)
	if !a.worstSeen || serving < g.stats.WorstServing {
		a.worstSeen, g.stats.WorstServing = true, serving
	}
}

// sums are the integrals up to a time, at the rates that were in force.
func (a *account) sums(now time.Time) (failing, lost float64) {
	minutes := now.Sub(a.since).Minutes()
	return a.failSum + a.failRate*minutes, a.lostSum + float64(a.lostRate)*minutes
}

// serving is the weight of the InService members that really serve, whatever the checks think.
func (c *Cloud) serving(g *group) int {
	total := 0
	for _, i := range g.members {
		if i.lifecycle == InService && c.serves(i) {
			total += i.weight
		}
	}
	return total
}

// failShare is the share of requests to a group that fail: sent to a member that does not serve, sent to members that cannot carry
// the whole demand, or in need of a dependency that fails them. Without a target group there are no requests.
func (c *Cloud) failShare(g *group) (share float64, open bool) {
	if len(g.targets) == 0 {
		return 0, false
	}
	t := g.targets[0]
	open = t.open()
	all, serving := 0, 0
	for _, r := range t.regs {
		if r.inst.group != g || !t.routes(r, open) {
			continue
		}
		all++
		if c.serves(r.inst) {
			serving++
		}
	}
	if all == 0 {
		return 1, open
	}
	arrives := float64(serving) / float64(all)
	served := arrives
	switch d := g.spec.Demand; {
	case d > 0 && g.spec.Warming > 0:
		served = c.servedShare(g, open, all)
	case d > 0:
		served = min(arrives, float64(serving)/d/float64(len(g.targets[0].spec.Ports)))
	}
	for _, name := range g.spec.Uses {
		served *= 1 - c.failsAt(g, open, name)
	}
	return 1 - served, open
}

func (c *Cloud) countTermination(i *instance, cause string) {
	stats := &i.group.stats
	switch {
	case i.health == Healthy || cause != string(i.marked):
		stats.OtherTerminated++
	case c.sound(i):
		stats.HealthyTerminated++
	default:
		stats.BrokenTerminated++
	}
}

// Stats sums up what happened to a group up to now.
func (c *Cloud) Stats(name string) (Stats, error) {
	g, err := c.withGroup(name)
	if err != nil {
		return Stats{}, fmt.Errorf("stats: %w", err)
	}
	if g.account.dirty {
		c.settleGroup(g)
	}
	out := g.stats
	out.ErrorMinutes, out.CapacityMinutesLost = g.account.sums(c.now)
	return out, nil
}

// FailShare is the share of requests to a group that fail at this moment, 0 to 1.
func (c *Cloud) FailShare(name string) (float64, error) {
	g, err := c.withGroup(name)
	if err != nil {
		return 0, fmt.Errorf("fail share: %w", err)
	}
	share, _ := c.failShare(g)
	return share, nil
}
