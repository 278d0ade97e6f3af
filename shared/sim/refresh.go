package sim

import (
	"fmt"
	"slices"
	"time"
)

// refreshEvery is how often a running refresh looks whether it can go on. AWS does not publish it.
const refreshEvery = 15 * time.Second

// StartRefresh begins an instance refresh: every present member is replaced, oldest first, so many at a time that the healthy share of the
// desired capacity stays at minHealthyPercent (0 to 100), at least one. The next ones follow when all are in service, healthy by every
// configured check and warm. It goes on for ever when that never comes: the simulator has no timeout. Suspending InstanceRefresh stops it.
// ErrInvalid says that one is running already. Source: user guide, how an instance refresh works.
func (c *Cloud) StartRefresh(name string, minHealthyPercent int) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	if len(g.outdated) > 0 || minHealthyPercent < 0 || minHealthyPercent > 100 {
		return fmt.Errorf("start refresh of %q: %w", name, ErrInvalid)
	}
	if err := c.SetRefresh(name, "InProgress"); err != nil {
		return err
	}
	g.outdated = slices.Clone(g.members)
	c.everyWhile(c.now.Add(c.cfg.ReactAfter), refreshEvery, orderNormal, func() bool { return c.refresh(g, minHealthyPercent) })
	return nil
}

// refresh is one round of a running refresh; it returns false when that is over.
func (c *Cloud) refresh(g *group, minHealthyPercent int) bool {
	g.outdated = slices.DeleteFunc(g.outdated, func(i *instance) bool { return i.gone || i.lifecycle == Terminating })
	if g.deleted || !g.refreshes[len(g.refreshes)-1].Ended.IsZero() {
		g.outdated = nil
		return false
	}
	if g.isSuspended(ProcessInstanceRefresh) || g.isSuspended(ProcessTerminate) || g.isSuspended(ProcessLaunch) {
		return true
	}
	ready := 0
	for _, i := range g.members {
		if c.ready(i) {
			ready++
		}
	}
	desired := g.spec.Desired / g.spec.Weight
	if ready < desired {
		return true
	}
	if len(g.outdated) == 0 {
		if err := c.SetRefresh(g.spec.Name, "Successful"); err != nil {
			panic("sim: end refresh: " + err.Error()) // the group was there a line ago
		}
		return false
	}
	batch := max(1, ready-(desired*minHealthyPercent+99)/100)
	for _, i := range slices.Clone(g.outdated[:min(batch, len(g.outdated))]) {
		c.terminate(i, "an instance was taken out of service in response to an instance refresh.")
	}
	c.react(g)
	return true
}

// ready says whether a refresh may count on a member.
func (c *Cloud) ready(i *instance) bool {
	if i.lifecycle != InService || i.health != Healthy || c.now.Sub(i.inService) < i.group.spec.InstanceWarmup {
		return false
	}
	if !i.group.hasCheck("ELB") {
		return i.ec2State == "running"
	}
	return !slices.ContainsFunc(i.regs, func(r *registration) bool { return r.state != TargetHealthy })
}
