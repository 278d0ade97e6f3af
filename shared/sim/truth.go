package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Break makes something wrong with an instance; it replaces what was wrong before.
func (c *Cloud) Break(id string, kind Kind) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	if !slices.Contains(Kinds(), kind) {
		return fmt.Errorf("break %s by %q, want %s: %w", id, kind, oneOf(Kinds()), ErrInvalid)
	}
	if i.broken == Stopped && (kind != Stopped || i.ec2State == "terminated") {
		return fmt.Errorf("break %s, which is stopped: %w", id, ErrInvalid)
	}
	if kind == Stopped {
		c.stop(i, "stopped", string(kind))
		return nil
	}
	i.broken, i.brokenSince = kind, c.now
	c.changed(i.group)
	c.record(Event{Group: i.group.spec.Name, Instance: id, Kind: EventBreak, Text: string(kind)})
	return nil
}

// oneOf lists words, of which a caller may choose one.
func oneOf[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Repair ends what is wrong with an instance. A stopped, frozen or impaired machine boots again and needs its warm-up; one that EC2 took
// away does not come back: ErrInvalid.
func (c *Cloud) Repair(id string) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	was := i.broken
	if was == "" {
		return nil
	}
	if i.ec2State == "terminated" {
		return fmt.Errorf("repair %s, which is terminated: %w", id, ErrInvalid)
	}
	i.broken, i.brokenSince = "", time.Time{}
	c.changed(i.group)
	c.record(Event{Group: i.group.spec.Name, Instance: id, Kind: EventRepair, Text: string(was)})
	if was != Stopped && was != Freeze && was != Impaired {
		return nil
	}
	c.catchUp(i, false) // what was said before has the old boot
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
	c.allChanged()
}

func (c *Cloud) zoneDown(zone string) bool {
	_, down := c.zonesDown[zone]
	return down
}

// brokenness says what is wrong with an instance, a lost zone included, and since when.
func (c *Cloud) brokenness(i *instance) (Kind, time.Time) {
	if len(c.zonesDown) == 0 {
		return i.broken, i.brokenSince
	}
	if since, down := c.zonesDown[i.zone]; down && i.broken != Stopped {
		return Impaired, since
	}
	return i.broken, i.brokenSince
}

// badVersion says whether an instance runs from a launch template version that never becomes healthy.
func (c *Cloud) badVersion(i *instance) bool {
	return len(i.group.badVersions) > 0 && i.group.badVersions[i.version]
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
	sound := c.sound(i)
	return Truth{
		Broken: kind, BrokenSince: since, BadVersion: c.badVersion(i), Starting: !i.up, NoAgent: i.noAgent,
		Sound: sound, Serves: sound && i.up,
	}
}

// sound is [Truth.Sound] alone, which is asked very often.
func (c *Cloud) sound(i *instance) bool {
	kind, _ := c.brokenness(i)
	return (kind == "" || kind == BrokenAgent || kind == FalseCheck || kind == FalseAlarm) && !c.badVersion(i)
}

// serves is [Truth.Serves] alone.
func (c *Cloud) serves(i *instance) bool { return i.up && c.sound(i) }

type dependency struct {
	state     DependencyState
	failShare float64
	// reach is the share of members that feel it.
	reach float64
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
	return c.SetDependencyFor(name, state, failShare, 1)
}

// SetDependencyFor is SetDependency for a share of all members only, 0 to 1, such as those whose keys lie on one of several cache nodes.
// Who they are is drawn from the seed, once for each member and dependency.
func (c *Cloud) SetDependencyFor(name string, state DependencyState, failShare, reach float64) error {
	if !slices.Contains(DependencyStates(), state) {
		return fmt.Errorf("set dependency %q to %q, want %s: %w", name, state, oneOf(DependencyStates()), ErrInvalid)
	}
	if failShare < 0 || failShare > 1 || reach < 0 || reach > 1 {
		return fmt.Errorf("set dependency %q: fail share %v of %v, want 0..1: %w", name, failShare, reach, ErrInvalid)
	}
	if state == DependencyOK {
		failShare = 0
	}
	d := c.dependency(name)
	if d.state != state {
		c.record(Event{Kind: EventDependency, Text: name + " is " + string(state)})
	}
	lost := d.state != DependencyOK && state == DependencyOK
	d.state, d.failShare, d.reach = state, failShare, reach
	c.allChanged()
	c.wakeAlarms(name)
	if lost {
		c.coolAll(name) // a cache that was away comes back empty
	}
	return nil
}

// feels says whether a dependency that is not ok is so for a member.
func (c *Cloud) feels(i *instance, name string) bool {
	d := c.dependency(name)
	if d.state == DependencyOK || d.reach >= 1 {
		return d.state != DependencyOK
	}
	const whole = 1 << 20
	return c.draw("reach of "+name, i.serial)%whole < uint64(d.reach*whole)
}

// failsAt is the share of the requests to the serving members of a group that a dependency fails.
func (c *Cloud) failsAt(g *group, open bool, name string) float64 {
	d := c.dependency(name)
	if d.state == DependencyOK || d.reach >= 1 {
		return d.failShare
	}
	serving, felt := 0, 0
	for _, r := range g.targets[0].regs {
		if r.inst.group == g && r.tg.routes(r, open) && c.serves(r.inst) {
			serving++
			if c.feels(r.inst, name) {
				felt++
			}
		}
	}
	return d.failShare * float64(felt) / float64(max(1, serving))
}

// Dependency returns the state of a dependency; one that was never set is ok.
func (c *Cloud) Dependency(name string) DependencyState {
	if d, ok := c.dependencies[name]; ok {
		return d.state
	}
	return DependencyOK
}
