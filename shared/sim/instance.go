package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// instance is the state behind a [Member].
type instance struct {
	id, arn, zone, ip string
	group             *group
	serial            uint64
	version           int
	itype             string
	weight            int
	protected         bool
	tags              map[string]string

	lifecycle Lifecycle
	launched  time.Time
	inService time.Time
	health    Health
	marked    markSource
	markedAt  time.Time
	atOnce    bool // replaced without pacing

	ec2State    string
	up          bool // the application runs
	bootNumber  int
	broken      Kind
	brokenSince time.Time
	regs        []*registration
	launch      *Activity
	coldSince   time.Time // zero: warm

	agent        agent
	noAgent      bool
	agentVersion string
	skew         time.Duration
	boot         string
	beat         uint64 // number of the beat within this boot
	gone         bool
}

// newInstance adds a Pending member in the zone with the fewest members; a zone that is down gets none while another is up.
func (c *Cloud) newInstance(g *group) *instance {
	i := &instance{
		id: c.newID("i-"), group: g, zone: c.pickZone(g), version: g.spec.LaunchTemplateVersion,
		itype: g.spec.InstanceType, weight: g.spec.Weight, tags: map[string]string{},
		lifecycle: Pending, health: Healthy, launched: c.now, ec2State: "running",
		agentVersion: g.spec.AgentVersion, noAgent: g.spec.NoAgent, boot: c.newUUID(),
	}
	i.serial = c.names
	i.arn = fmt.Sprintf("arn:aws:ec2:%s:%s:instance/%s", c.cfg.Region, c.cfg.Account, i.id)
	i.ip = fmt.Sprintf("10.0.%d.%d", i.serial>>8&0xff, i.serial&0xff)
	i.tags["aws:autoscaling:groupName"] = g.spec.Name
	g.members, g.byLaunch = append(g.members, i), nil
	c.instances[i.id] = i
	c.changed(g)
	return i
}

func (c *Cloud) pickZone(g *group) string {
	best, fewest := g.spec.Zones[0], -1
	for _, down := range []bool{false, true} {
		for _, zone := range g.spec.Zones {
			if c.zoneDown(zone) != down {
				continue
			}
			n := 0
			for _, i := range g.members {
				if i.zone == zone && i.lifecycle != Terminating {
					n++
				}
			}
			if fewest < 0 || n < fewest {
				best, fewest = zone, n
			}
		}
		if fewest >= 0 {
			break
		}
	}
	return best
}

// boots starts the application after the warm-up of the group.
func (c *Cloud) boots(i *instance) {
	i.bootNumber++
	number := i.bootNumber
	c.after(i.group.spec.WarmUp, func() {
		if i.gone || i.bootNumber != number {
			return
		}
		i.up = true
		c.cool(i)
		c.changed(i.group)
		c.startAgent(i)
		if c.serves(i) {
			c.record(Event{Group: i.group.spec.Name, Instance: i.id, Kind: EventServing, Text: "application is up"})
		}
	})
}

func (c *Cloud) removeInstance(i *instance) {
	if c.catchUp(i, false); i.agent.wrote {
		c.oldBeats[i.id] = i.agent.last
	}
	for _, r := range slices.Clone(i.regs) {
		c.dropRegistration(r)
	}
	i.gone = true
	i.ec2State = "terminated"
	i.group.members, i.group.byLaunch = slices.DeleteFunc(i.group.members, func(other *instance) bool { return other == i }), nil
	c.changed(i.group)
	delete(c.instances, i.id)
}

func (c *Cloud) withInstance(id string) (*instance, error) {
	if i, ok := c.instances[id]; ok {
		return i, nil
	}
	return nil, &NotFoundError{Kind: "instance", Name: id}
}

// Instance returns a copy of one instance, and false when it does not exist or has left its group.
func (c *Cloud) Instance(id string) (Member, bool) {
	i, ok := c.instances[id]
	if !ok {
		return Member{}, false
	}
	return i.snapshot(), true
}

func (i *instance) snapshot() Member {
	m := i.bare()
	m.Tags = maps.Clone(i.tags)
	return m
}

// bare is a copy without tags.
func (i *instance) bare() Member {
	m := Member{
		ID: i.id, ARN: i.arn, Group: i.group.spec.Name, Zone: i.zone, PrivateIP: i.ip,
		LaunchTemplateVersion: i.version, InstanceType: i.itype, Weight: i.weight,
		Lifecycle: i.lifecycle, Health: i.health, Protected: i.protected,
		Launched: i.launched, EnteredInService: i.inService, EC2State: i.ec2State,
	}
	switch {
	case i.ec2State != "running":
	case i.lifecycle == Pending:
		m.EC2State = "pending"
	case i.lifecycle == Terminating && i.draining() == 0:
		m.EC2State = "shutting-down"
	}
	return m
}

// TerminateMember terminates a member by hand and keeps the desired capacity, as TerminateInstanceInAutoScalingGroup does: suspended
// processes do not stop it, and a replacement is launched unless Launch is suspended.
func (c *Cloud) TerminateMember(id string) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	if i.lifecycle == Terminating {
		return &LifecycleError{ID: id, State: i.lifecycle}
	}
	c.terminate(i, "instance "+id+" was taken out of service in response to a user request.")
	c.react(i.group)
	return nil
}

// EnterStandby takes a member out of service: it is neither checked nor sent requests, and its health status is frozen. The
// desired capacity goes down with it, and may not pass the minimum. Source: the user guide page on standby.
func (c *Cloud) EnterStandby(id string) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	if i.lifecycle != InService {
		return &LifecycleError{ID: id, State: i.lifecycle}
	}
	if i.group.spec.Desired-i.weight < i.group.spec.Min {
		return fmt.Errorf("enter standby with %s: desired below min: %w", id, ErrInvalid)
	}
	i.lifecycle = Standby
	i.group.spec.Desired -= i.weight
	c.changed(i.group)
	for _, r := range slices.Clone(i.regs) {
		c.dropRegistration(r)
	}
	c.react(i.group)
	return nil
}

// ExitStandby puts a member back InService. Its grace period starts again.
func (c *Cloud) ExitStandby(id string) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	if i.lifecycle != Standby {
		return &LifecycleError{ID: id, State: i.lifecycle}
	}
	i.group.spec.Desired += i.weight
	i.lifecycle, i.inService = InService, c.now
	c.changed(i.group)
	c.registerMember(i)
	c.react(i.group)
	return nil
}
