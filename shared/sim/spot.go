package sim

import "time"

// spotNotice is how long before a Spot Instance is taken its notice comes. Source: EC2 user guide, Spot Instance interruption notices.
const spotNotice = 2 * time.Minute

// Interrupt lets EC2 take a Spot Instance back: after two minutes the machine is terminated, whatever Auto Scaling thinks of it. Capacity
// rebalancing is off, so Auto Scaling learns of it when the machine no longer runs.
func (c *Cloud) Interrupt(id string) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	c.record(Event{Group: i.group.spec.Name, Instance: id, Kind: EventNote, Text: "spot interruption notice"})
	c.after(spotNotice, func() {
		if i.gone || i.ec2State == "terminated" {
			return
		}
		c.stop(i, "terminated", "spot interruption")
	})
	return nil
}

// stop ends a machine: its application, its heartbeats and its targets with it.
func (c *Cloud) stop(i *instance, state, why string) {
	i.broken, i.brokenSince = Stopped, c.now
	i.ec2State, i.up = state, false
	c.changed(i.group)
	c.record(Event{Group: i.group.spec.Name, Instance: i.id, Kind: EventBreak, Text: why})
	for _, r := range i.regs {
		if r.state != TargetDraining && !r.tg.spec.NotInUse {
			c.setTarget(r, TargetUnused, ReasonInvalidState)
		}
	}
}
