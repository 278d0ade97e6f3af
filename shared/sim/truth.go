package sim

import (
	"fmt"
	"time"
)

// Break makes something wrong with an instance; it replaces what was wrong before.
func (c *Cloud) Break(id string, kind Kind) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	switch kind {
	case FullDisk, BadPool, Hang, Freeze, Crash, Stopped, Impaired, BrokenAgent:
	default:
		return fmt.Errorf("break %s by %q: %w", id, kind, ErrInvalid)
	}
	if i.broken == Stopped && kind != Stopped {
		return fmt.Errorf("break %s, which is stopped: %w", id, ErrInvalid)
	}
	i.broken, i.brokenSince = kind, c.now
	i.group.account.dirty = true
	c.record(Event{Group: i.group.spec.Name, Instance: id, Kind: EventBreak, Text: string(kind)})
	if kind == Stopped {
		i.ec2State, i.up = "stopped", false
		for _, r := range i.regs {
			if r.state != TargetDraining && !r.tg.spec.NotInUse {
				c.setTarget(r, TargetUnused, ReasonInvalidState)
			}
		}
	}
	return nil
}

// Repair ends what is wrong with an instance. A stopped, frozen or impaired machine boots again and needs its warm-up.
func (c *Cloud) Repair(id string) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	was := i.broken
	if was == "" {
		return nil
	}
	i.broken, i.brokenSince = "", time.Time{}
	i.group.account.dirty = true
	c.record(Event{Group: i.group.spec.Name, Instance: id, Kind: EventRepair, Text: string(was)})
	if was != Stopped && was != Freeze && was != Impaired {
		return nil
	}
	i.ec2State, i.up = "running", false
	i.boot, i.beat = c.newUUID(), 0
	if i.lifecycle != Pending { // a Pending member boots when it becomes InService
		c.boots(i)
	}
	for _, r := range i.regs {
		if r.state == TargetUnused && r.reason == ReasonInvalidState {
			c.setTarget(r, TargetInitial, ReasonInitialChecking)
		}
	}
	return nil
}

// SetZoneDown takes a whole zone away: its machines are impaired until it is back. New members avoid it while another zone is up.
func (c *Cloud) SetZoneDown(zone string, down bool) {
	if c.zoneDown(zone) == down {
		return
	}
	kind := EventRepair
	delete(c.zonesDown, zone)
	if down {
		kind = EventBreak
		c.zonesDown[zone] = c.now
	}
	c.record(Event{Kind: kind, Text: "zone " + zone})
	c.allDirty()
}

func (c *Cloud) zoneDown(zone string) bool {
	_, down := c.zonesDown[zone]
	return down
}

// brokenness says what is wrong with an instance, a lost zone included, and since when.
func (c *Cloud) brokenness(i *instance) (Kind, time.Time) {
	if since, down := c.zonesDown[i.zone]; down && i.broken != Stopped {
		return Impaired, since
	}
	return i.broken, i.brokenSince
}

// Truth says what is really so about an instance, and false when it does not exist.
func (c *Cloud) Truth(id string) (Truth, bool) {
	i, ok := c.instances[id]
	if !ok {
		return Truth{}, false
	}
	return c.truth(i), true
}

func (c *Cloud) truth(i *instance) Truth {
	kind, since := c.brokenness(i)
	t := Truth{Broken: kind, BrokenSince: since, BadVersion: i.group.badVersions[i.version], Starting: !i.up}
	t.Sound = !t.BadVersion && (kind == "" || kind == BrokenAgent)
	t.Serves = t.Sound && i.up
	return t
}

type dependency struct {
	state     DependencyState
	failShare float64
}

// dependency returns the state of a dependency; one that was never heard of is fine.
func (c *Cloud) dependency(name string) *dependency {
	d, ok := c.dependencies[name]
	if !ok {
		d = &dependency{state: DependencyOK}
		c.dependencies[name] = d
	}
	return d
}

// SetDependency sets the state of a dependency. While it is not ok, failShare (0 to 1) is the share of requests that fail in each
// group that uses it. Deep checks fail with the state, local checks do not.
func (c *Cloud) SetDependency(name string, state DependencyState, failShare float64) error {
	switch state {
	case DependencyOK, DependencySlow, DependencyDown:
	default:
		return fmt.Errorf("set dependency %q to %q: %w", name, state, ErrInvalid)
	}
	if failShare < 0 || failShare > 1 {
		return fmt.Errorf("set dependency %q: fail share %v, want 0..1: %w", name, failShare, ErrInvalid)
	}
	if state == DependencyOK {
		failShare = 0
	}
	d := c.dependency(name)
	if d.state != state {
		c.record(Event{Kind: EventDependency, Text: name + " is " + string(state)})
	}
	d.state, d.failShare = state, failShare
	c.allDirty()
	return nil
}

// Dependency returns the state of a dependency; one that was never set is ok.
func (c *Cloud) Dependency(name string) DependencyState {
	if d, ok := c.dependencies[name]; ok {
		return d.state
	}
	return DependencyOK
}
