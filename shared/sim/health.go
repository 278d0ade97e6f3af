package sim

import (
	"fmt"
	"time"
)

// markSource says who marked a member Unhealthy; it decides the pace and the text of the termination.
type markSource string

const (
	markNone   markSource = ""
	markCustom markSource = "an instance was taken out of service in response to a user health-check."
	markELB    markSource = "an instance was taken out of service in response to an ELB system health check failure."
	markStatus markSource = "an instance was taken out of service in response to an EC2 instance status check failure."
	markDead   markSource = "an instance was taken out of service in response to an EC2 health check indicating it has been " +
		"terminated or stopped."
)

// SetInstanceHealth sets the health status of one member, as the API does. With respectGrace a mark of a member inside its
// grace period is refused with a GraceError. An unknown instance gives NotFoundError, one that is Terminating LifecycleError.
// The status changes at once; what follows from it needs time.
func (c *Cloud) SetInstanceHealth(id string, status Health, respectGrace bool) error {
	c.calls++
	i, ok := c.instances[id]
	if !ok {
		return &NotFoundError{Kind: "instance", Name: id}
	}
	if i.lifecycle == Terminating {
		return &LifecycleError{ID: id, State: i.lifecycle}
	}
	g := i.group
	switch status {
	case Healthy:
		i.atOnce = false
		c.setHealth(i, Healthy, markNone)
	case Unhealthy:
		if respectGrace && i.inGrace(c.now) {
			err := &GraceError{Age: i.age(c.now), Grace: int64(g.spec.Grace / time.Second)}
			c.record(Event{Group: g.spec.Name, Instance: id, Kind: EventRefused, Text: err.Error()})
			return err
		}
		i.atOnce = true
		c.setHealth(i, Unhealthy, markCustom)
	default:
		return fmt.Errorf("set health of %s to %q: %w", id, status, ErrInvalid)
	}
	c.react(g)
	return nil
}

// setHealth changes the status and records a real change; the first mark keeps its time.
func (c *Cloud) setHealth(i *instance, status Health, source markSource) {
	if i.health == status {
		if status == Unhealthy && source != i.marked {
			i.marked = source
		}
		return
	}
	i.health, i.marked, i.markedAt = status, source, c.now
	i.group.changes++
	c.told++
	event := Event{Group: i.group.spec.Name, Instance: i.id, Kind: EventRestore, Text: "Healthy"}
	if status == Unhealthy {
		event.Kind, event.Text = EventMark, string(source)
	}
	c.record(event)
}

// inGrace counts from InService; a member that is still Pending is always inside. Source: health check grace period page.
func (i *instance) inGrace(now time.Time) bool {
	if i.lifecycle == Pending {
		return true
	}
	return now.Sub(i.inService) < i.group.spec.Grace
}

func (i *instance) age(now time.Time) int64 {
	if i.lifecycle == Pending {
		return 0
	}
	return int64(now.Sub(i.inService) / time.Second)
}

// checkHealth is one round of the HealthCheck process. It returns false when the group is gone.
func (c *Cloud) checkHealth(g *group) bool {
	if g.deleted {
		return false
	}
	if !g.isSuspended(ProcessHealthCheck) {
		for _, i := range g.members {
			if i.lifecycle == InService {
				c.checkMember(i)
			}
		}
	}
	c.react(g)
	return true
}

// checkMember marks a member that fails a check, and overrides marks as far as the rules allow.
func (c *Cloud) checkMember(i *instance) {
	switch found := c.failedCheck(i); {
	case found == markDead:
		i.atOnce = true
		c.setHealth(i, Unhealthy, markDead)
	case found != markNone && i.health == Healthy:
		c.setHealth(i, Unhealthy, found)
	case found != markNone, i.health == Healthy:
		return // marked already, or nothing to say
	case i.marked == markCustom && replacementBlocked(i.group.suspended):
		// The periodic check can override a status that was set by hand. A mark that is being acted on is left alone: the
		// guide says that those are replaced immediately.
		i.atOnce = false
		c.setHealth(i, Healthy, markNone)
	case i.marked != markCustom && c.cfg.MarksRecover:
		i.atOnce = false
		c.setHealth(i, Healthy, markNone)
	}
}

// failedCheck says which configured check fails. A stopped machine is found even inside the grace period.
func (c *Cloud) failedCheck(i *instance) markSource {
	if i.ec2State != "running" {
		return markDead
	}
	if i.inGrace(c.now) {
		return markNone
	}
	if kind, since := c.brokenness(i); kind == Impaired && c.now.Sub(since) >= c.cfg.StatusCheckDelay {
		return markStatus
	}
	if !i.group.hasCheck("ELB") {
		return markNone
	}
	for _, r := range i.regs {
		if r.state == TargetUnhealthy {
			return markELB
		}
	}
	return markNone
}
