package sim

import (
	"fmt"
	"slices"
	"time"
)

// react lets Auto Scaling look at a group shortly; several causes in one instant are one look.
func (c *Cloud) react(g *group) { c.reactAt(g, c.now.Add(c.cfg.ReactAfter)) }

func (c *Cloud) reactAt(g *group, at time.Time) {
	if at.After(c.now.Add(c.cfg.ReactAfter)) {
		c.push(at, orderNormal, func() { c.reconcile(g) })
		return
	}
	if g.reconcileDue {
		return
	}
	g.reconcileDue = true
	c.push(at, orderNormal, func() {
		g.reconcileDue = false
		c.reconcile(g)
	})
}

// reconcile is the whole of Auto Scaling: terminate for health, then launch what is missing, then scale in.
func (c *Cloud) reconcile(g *group) {
	if g.deleted {
		return
	}
	replaced := 0
	if !replacementBlocked(g.suspended) {
		replaced = c.terminateUnhealthy(g)
	}
	if !g.isSuspended(ProcessLaunch) {
		c.launchMissing(g, replaced)
	}
	if !g.isSuspended(ProcessTerminate) {
		c.scaleIn(g)
	}
}

// terminateUnhealthy terminates what the two paths allow and returns how many.
//
// Members that were marked by set-instance-health and machines that do not run go at once. The others go ten percent of the group
// at a time, at least one, and the next only after the replacements are in service and warm; one at a time when no member
// looks healthy. Source: the user guide page on health checks.
func (c *Cloud) terminateUnhealthy(g *group) int {
	var now, slow []*instance
	healthy := 0
	for _, i := range g.members {
		switch {
		case i.lifecycle != InService:
		case i.health == Healthy:
			healthy++
		case i.atOnce:
			now = append(now, i)
		default:
			slow = append(slow, i)
		}
	}
	slices.SortStableFunc(slow, func(a, b *instance) int { return a.markedAt.Compare(b.markedAt) })
	for _, i := range now {
		c.terminate(i, string(i.marked))
	}
	if len(slow) == 0 {
		return len(now)
	}
	room := c.slowRoom(g, healthy == 0) // the ones above are no longer InService and take their share
	taken := 0
	for _, i := range slow {
		if taken >= room {
			break
		}
		c.terminate(i, string(i.marked))
		g.lastSlow = c.now
		taken++
	}
	return len(now) + taken
}

// slowRoom is how many members the slow path may terminate at this moment.
func (c *Cloud) slowRoom(g *group, allBad bool) int {
	desired := g.spec.Desired / g.spec.Weight
	limit := max(1, desired/10)
	if allBad {
		limit = 1
	}
	if g.isSuspended(ProcessLaunch) {
		// No replacement will come to wait for: terminations go on, one round of health checks apart.
		if c.now.Sub(g.lastSlow) < c.cfg.HealthCheckEvery {
			return 0
		}
		return limit
	}
	ready := 0
	for _, i := range g.members {
		if i.lifecycle == InService && c.now.Sub(i.inService) >= g.spec.InstanceWarmup {
			ready++
		}
	}
	return limit - max(0, desired-ready)
}

// terminate begins the termination of a member: it drains, then it is gone.
func (c *Cloud) terminate(i *instance, cause string) {
	g := i.group
	c.countTermination(i, cause)
	i.lifecycle = Terminating
	c.changed(g)
	drain := i.draining()
	for _, r := range i.regs {
		c.setTarget(r, TargetDraining, ReasonDeregisterProgress)
	}
	a := c.startActivity(g, ActivityTerminate, i.id, cause)
	c.record(Event{Group: g.spec.Name, Instance: i.id, Kind: EventTerminate, Text: cause})
	c.after(drain, func() {
		if i.gone {
			return
		}
		c.removeInstance(i)
		c.endActivity(a, "Successful")
		c.record(Event{Group: g.spec.Name, Instance: i.id, Kind: EventGone, Text: "terminated"})
	})
}

// draining is the longest deregistration delay over the registrations of an instance.
func (i *instance) draining() time.Duration {
	var longest time.Duration
	for _, r := range i.regs {
		longest = max(longest, r.tg.spec.DeregistrationDelay)
	}
	return longest
}

// launchMissing launches members until the desired capacity is reached; max is never passed.
func (c *Cloud) launchMissing(g *group, replaced int) {
	if c.now.Before(g.nextLaunch) {
		return
	}
	for n := 0; g.wantsMore(); n++ {
		have := g.weight()
		cause := "an instance was launched in response to an unhealthy instance needing to be replaced."
		if n >= replaced {
			cause = fmt.Sprintf("an instance was started in response to a difference between desired and actual capacity, "+
				"increasing the capacity from %d to %d.", have, have+g.spec.Weight)
		}
		if g.launchFailure != "" {
			c.failLaunch(g, cause)
			return
		}
		c.launchOne(g, cause)
	}
}

func (c *Cloud) failLaunch(g *group, cause string) {
	a := c.startActivity(g, ActivityLaunch, "", cause)
	a.StatusMessage = g.launchFailure
	c.endActivity(a, "Failed")
	g.stats.FailedLaunches++
	c.record(Event{Group: g.spec.Name, Kind: EventLaunch, Text: "failed: " + g.launchFailure})
	g.nextLaunch = c.now.Add(c.cfg.LaunchRetry)
	c.reactAt(g, g.nextLaunch)
}

func (c *Cloud) launchOne(g *group, cause string) {
	i := c.newInstance(g)
	i.launch = c.startActivity(g, ActivityLaunch, i.id, cause)
	g.stats.Launches++
	c.record(Event{Group: g.spec.Name, Instance: i.id, Kind: EventLaunch, Text: cause})
	c.after(g.spec.LaunchTime, func() {
		if i.gone {
			return
		}
		i.lifecycle, i.inService = InService, c.now
		c.changed(g)
		c.endActivity(i.launch, "Successful")
		c.record(Event{Group: g.spec.Name, Instance: i.id, Kind: EventInService, Text: "in " + i.zone})
		if !g.isSuspended(ProcessAddToLoadBalancer) {
			c.registerMember(i)
		}
		c.boots(i)
		c.react(g)
		c.reactAt(g, c.now.Add(g.spec.InstanceWarmup))
	})
}

// scaleIn terminates the oldest unprotected members beyond the desired capacity.
func (c *Cloud) scaleIn(g *group) {
	for {
		have := g.weight()
		var victim *instance
		for _, i := range g.members {
			if i.lifecycle == InService && !i.protected && have-i.weight >= g.spec.Desired {
				victim = i
				break
			}
		}
		if victim == nil {
			return
		}
		c.terminate(victim, fmt.Sprintf("an instance was taken out of service in response to a difference between desired and "+
			"actual capacity, shrinking the capacity from %d to %d.", have, have-victim.weight))
	}
}
