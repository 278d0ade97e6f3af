package sim

import "slices"

// Timeline returns all events so far, in order.
func (c *Cloud) Timeline() []Event { return slices.Clone(c.events) }

// TimelineFrom returns the events from the nth on, for those who follow along.
func (c *Cloud) TimelineFrom(n int) []Event {
	if n >= len(c.events) {
		return nil
	}
	return slices.Clone(c.events[max(0, n):])
}

// Samples returns the sampled states of all groups so far, in order of time and of creation of the groups.
func (c *Cloud) Samples() []Sample {
	out := slices.Clone(c.samples)
	for n := range out {
		out[n].Members = slices.Clone(out[n].Members)
	}
	return out
}

// SampleNow returns the state of one group at this moment.
func (c *Cloud) SampleNow(name string) (Sample, error) {
	g, err := c.withGroup(name)
	if err != nil {
		return Sample{}, err
	}
	return c.sampleGroup(g), nil
}

func (c *Cloud) sample() {
	for _, g := range c.groups {
		c.samples = append(c.samples, c.sampleGroup(g))
	}
}

func (c *Cloud) sampleGroup(g *group) Sample {
	s := Sample{At: c.now, Group: g.spec.Name, Desired: g.spec.Desired, Serving: c.serving(g)}
	s.FailShare, s.FailOpen = c.failShare(g)
	for _, i := range g.members {
		m := MemberSample{ID: i.id, Zone: i.zone, Lifecycle: i.lifecycle, Health: i.health, Truth: c.truth(i)}
		for _, r := range i.regs {
			if m.Target == "" || severity(r.state) > severity(m.Target) {
				m.Target, m.Reason = r.state, r.reason
			}
		}
		s.Members = append(s.Members, m)
	}
	return s
}

func severity(s TargetState) int {
	switch s {
	case TargetUnhealthy:
		return 4
	case TargetDraining:
		return 3
	case TargetUnused:
		return 2
	case TargetInitial:
		return 1
	case TargetHealthy:
	}
	return 0
}
