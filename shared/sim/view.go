package sim

import "time"

// View is what AWS tells about one member, and its newest heartbeat, without the copies of [Cloud.Group]: for those who look often.
type View struct {
	ID, Zone  string
	Lifecycle Lifecycle
	Health    Health
	// Target is the worst state over its registrations, Reason why; both are empty without any.
	Target TargetState
	Reason string
	// Shifted says that its zone is under a zonal shift in one of its target groups.
	Shifted bool
	// Launched is when its launch began, EnteredInService is zero while it has never been InService.
	Launched, EnteredInService time.Time
	// BeatAt is the true time of its newest heartbeat that arrived, zero when none did.
	BeatAt time.Time
	// Failing names the checks that fail by that heartbeat. It is the simulator's own: read it only.
	Failing []string
}

// Look calls visit for each member of a group, in launch order. The view is good during the call only. An unknown group has no members.
func (c *Cloud) Look(group string, visit func(*View)) {
	g := c.findGroup(group)
	if g == nil {
		return
	}
	var v View
	for _, i := range g.members {
		v = View{
			ID: i.id, Zone: i.zone, Lifecycle: i.lifecycle, Health: i.health, Launched: i.launched, EnteredInService: i.inService,
		}
		for _, r := range i.regs {
			if v.Target == "" || severity(r.state) > severity(v.Target) {
				v.Target, v.Reason = r.state, r.reason
				if r.tg.fault && r.state != TargetDraining && r.state != TargetUnused {
					v.Target, v.Reason = TargetUnhealthy, ReasonInternalError
				}
			}
			v.Shifted = v.Shifted || r.tg.shift[i.zone]
		}
		if b, ok := c.newest(i); ok {
			v.BeatAt, v.Failing = b.At, b.Failing
		}
		visit(&v)
	}
}

// Requests tells what a proxy in front of a group sees of its requests at this moment: for each registration that gets any, the share of
// them that is answered correctly, 0 to 1. An unknown group, or one without a target group, gets none.
func (c *Cloud) Requests(group string, visit func(id string, success float64)) {
	g := c.findGroup(group)
	if g == nil || len(g.targets) == 0 {
		return
	}
	t := g.targets[0]
	open := t.open()
	for _, r := range t.regs {
		if r.inst.group != g || !t.routes(r, open) {
			continue
		}
		success := 0.0
		if c.serves(r.inst) {
			success = 1 - c.overload(r)
			for _, name := range g.spec.Uses {
				if c.feels(r.inst, name) {
					success *= 1 - c.dependency(name).failShare
				}
			}
		}
		visit(r.inst.id, success)
	}
}
