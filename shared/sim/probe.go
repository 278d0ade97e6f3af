package sim

import "slices"

// registerMember registers an instance in every target group of its group, on every port.
func (c *Cloud) registerMember(i *instance) []*registration {
	var out []*registration
	for _, t := range i.group.targets {
		for _, port := range t.spec.Ports {
			r := &registration{tg: t, inst: i, port: port, state: TargetInitial, reason: ReasonInitialChecking}
			if t.spec.NotInUse {
				r.state, r.reason = TargetUnused, ReasonNotInUse
			}
			i.regs = append(i.regs, r)
			t.regs = append(t.regs, r)
			out = append(out, r)
			c.names++
			r.serial = c.names
			phase := c.drawDuration("probe phase", c.names, t.spec.Interval)
			r.probes = c.tick(c.now.Add(phase), t.spec.Interval, func() rhythm { return c.probe(r) })
		}
	}
	c.changed(i.group)
	return out
}

func (c *Cloud) dropRegistration(r *registration) {
	r.gone = true
	same := func(other *registration) bool { return other == r }
	r.tg.regs = slices.DeleteFunc(r.tg.regs, same)
	r.inst.regs = slices.DeleteFunc(r.inst.regs, same)
	c.changed(r.inst.group)
}

// probe sends one health check. The answer of a check that times out is known after the timeout. Checks rest while each of them would
// find what the last ones found; every change of the group wakes them.
func (c *Cloud) probe(r *registration) rhythm {
	if r.gone || r.state == TargetDraining {
		return end
	}
	if r.state == TargetUnused {
		return rest
	}
	reason, chance := c.answer(r.inst, &r.tg.spec), false
	if reason == "" {
		var over bool
		if over, chance = c.overloaded(r, r.probes.rounds()); over {
			reason = ReasonTimeout
		}
	}
	same := !chance && (reason == "" && r.state == TargetHealthy || reason != "" && r.state == TargetUnhealthy && r.reason == reason && r.passes == 0)
	if reason == ReasonTimeout {
		c.after(r.tg.spec.Timeout, func() { c.probed(r, reason) })
	} else {
		c.probed(r, reason)
	}
	if same {
		return rest
	}
	return goOn
}

// probed counts the result of a probe. A new target needs one success, one that was unhealthy the healthy count. Source: target
// group health check page.
func (c *Cloud) probed(r *registration, reason string) {
	if r.gone || r.state == TargetDraining || r.state == TargetUnused {
		return
	}
	if reason == "" {
		r.passes, r.fails = r.passes+1, 0
		if r.state == TargetInitial || r.state == TargetUnhealthy && r.passes >= r.tg.spec.HealthyCount {
			c.setTarget(r, TargetHealthy, "")
		}
		return
	}
	r.passes, r.fails = 0, r.fails+1
	if r.fails >= r.tg.spec.UnhealthyCount {
		c.setTarget(r, TargetUnhealthy, reason)
	}
}

// setTarget changes the state of a target; a new reason in the same state makes no event.
func (c *Cloud) setTarget(r *registration, state TargetState, reason string) {
	if r.state == state {
		r.reason = reason
		c.told++
		return
	}
	r.state, r.reason, r.passes, r.fails = state, reason, 0, 0
	c.changed(r.inst.group)
	text := string(state)
	if reason != "" {
		text += "[" + reason + "]"
	}
	c.record(Event{Group: r.inst.group.spec.Name, Instance: r.inst.id, Kind: EventTarget, Text: r.tg.spec.Name + " " + text})
}

// answer is what an instance answers to a check: empty for a pass, or the reason code of the failure.
func (c *Cloud) answer(i *instance, spec *TargetGroupSpec) string {
	kind, _ := c.brokenness(i)
	switch {
	case kind == Freeze || kind == Impaired || kind == CutOff:
		return ReasonTimeout
	case kind == Crash || kind == Stopped || !i.up:
		return ReasonFailed
	case kind == BrokenAgent && spec.Path == PathOwn, i.noAgent && spec.Path == PathOwn:
		return ReasonFailed
	case c.badVersion(i):
		return ReasonMismatch
	case spec.Path == PathStatic:
		return ""
	case kind == Hang && spec.Path != PathOwn:
		return ReasonTimeout
	case kind == FullDisk || kind == BadPool || kind == Hang || kind == FalseCheck || kind == FalseAlarm:
		return ReasonMismatch
	case spec.Path == PathDeep:
		return c.dependenciesAnswer(i, spec.Dependencies)
	}
	return ""
}

func (c *Cloud) dependenciesAnswer(i *instance, names []string) string {
	reason := ""
	for _, name := range names {
		if !c.feels(i, name) {
			continue
		}
		switch c.dependency(name).state {
		case DependencyOK:
		case DependencySlow:
			return ReasonTimeout // the check waits for it, whatever the others say
		case DependencyDown:
			reason = ReasonMismatch
		}
	}
	return reason
}
