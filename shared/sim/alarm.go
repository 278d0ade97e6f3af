package sim

import (
	"fmt"
	"slices"
	"time"
)

type alarm struct {
	pub      Alarm
	breaches int // breaching samples in a row
	samples  *ticker
	deleted  bool
}

// PutAlarm creates an alarm, or changes one of the same name and keeps its state, as PutMetricAlarm does.
//
// An alarm on a dependency samples it once a period, counted from the call. It turns ALARM after Evaluations breaching samples in
// a row and OK with the first good one.
func (c *Cloud) PutAlarm(spec AlarmSpec) error {
	if spec.Name == "" || spec.Dependency != "" && len(spec.AnyOf) > 0 {
		return fmt.Errorf("put alarm %q: %w", spec.Name, ErrInvalid)
	}
	for _, child := range spec.AnyOf {
		if c.findAlarm(child) == nil {
			return &NotFoundError{Kind: "alarm", Name: child}
		}
	}
	orDuration(&spec.Period, time.Minute)
	orInt(&spec.Evaluations, 1)
	if spec.State == "" {
		spec.State = AlarmOK
	}
	if spec.Since.IsZero() {
		spec.Since = c.now
	}
	spec.AnyOf = slices.Clone(spec.AnyOf)
	a := &alarm{pub: Alarm{
		AlarmSpec: spec, Composite: len(spec.AnyOf) > 0, State: spec.State, Transitioned: spec.Since, Updated: spec.Since,
		ARN:    fmt.Sprintf("arn:aws:cloudwatch:%s:%s:alarm:%s", c.cfg.Region, c.cfg.Account, spec.Name),
		Reason: "Unchecked: Initial alarm creation",
	}}
	if old := c.findAlarm(spec.Name); old != nil {
		a.pub.State, a.pub.Transitioned, a.pub.Updated, a.pub.Reason = old.pub.State, old.pub.Transitioned, old.pub.Updated, old.pub.Reason
		old.deleted = true
		c.alarms[slices.Index(c.alarms, old)] = a
	} else {
		c.alarms = append(c.alarms, a)
	}
	if spec.Dependency != "" {
		c.dependency(spec.Dependency)
		a.samples = c.tick(c.now.Add(spec.Period), spec.Period, func() rhythm { return c.evaluate(a) })
	}
	if a.pub.Composite {
		c.evaluateComposite(a)
	}
	return nil
}

// DeleteAlarm removes an alarm.
func (c *Cloud) DeleteAlarm(name string) error {
	a := c.findAlarm(name)
	if a == nil {
		return &NotFoundError{Kind: "alarm", Name: name}
	}
	a.deleted = true
	c.alarms = slices.DeleteFunc(c.alarms, func(other *alarm) bool { return other == a })
	return nil
}

// SetAlarmState writes the state of an alarm by hand. It lasts until the next evaluation says otherwise.
func (c *Cloud) SetAlarmState(name string, state AlarmState, reason string) error {
	a := c.findAlarm(name)
	if a == nil {
		return &NotFoundError{Kind: "alarm", Name: name}
	}
	switch state {
	case AlarmOK, AlarmRed, AlarmInsufficient:
	default:
		return fmt.Errorf("set alarm %q to %q: %w", name, state, ErrInvalid)
	}
	c.setAlarm(a, state, reason)
	if a.samples != nil {
		a.samples.wake()
	}
	return nil
}

func (c *Cloud) findAlarm(name string) *alarm {
	for _, a := range c.alarms {
		if a.pub.Name == name {
			return a
		}
	}
	return nil
}

// Alarms returns copies of all alarms in the order of their creation.
func (c *Cloud) Alarms() []Alarm {
	out := make([]Alarm, 0, len(c.alarms))
	for _, a := range c.alarms {
		out = append(out, a.snapshot())
	}
	return out
}

// Alarm returns a copy of one alarm, and false if it does not exist.
func (c *Cloud) Alarm(name string) (Alarm, bool) {
	a := c.findAlarm(name)
	if a == nil {
		return Alarm{}, false
	}
	return a.snapshot(), true
}

func (a *alarm) snapshot() Alarm {
	s := a.pub
	s.AnyOf = slices.Clone(s.AnyOf)
	return s
}

// wakeAlarms lets the alarms on a dependency sample it again.
func (c *Cloud) wakeAlarms(dependency string) {
	for _, a := range c.alarms {
		if a.samples != nil && a.pub.Dependency == dependency {
			a.samples.wake()
		}
	}
}

// evaluate takes one sample. Samples rest while they would find what the last one found.
func (c *Cloud) evaluate(a *alarm) rhythm {
	if a.deleted {
		return end
	}
	state := c.dependency(a.pub.Dependency).state
	if state == DependencyOK {
		a.breaches = 0
		c.setAlarm(a, AlarmOK, "Threshold not crossed: "+a.pub.Dependency+" is ok")
		return rest
	}
	a.breaches++
	if a.breaches >= a.pub.Evaluations {
		c.setAlarm(a, AlarmRed, fmt.Sprintf("Threshold crossed: %s is %s in %d of %d samples",
			a.pub.Dependency, state, a.breaches, a.breaches))
		return rest
	}
	return goOn
}

func (c *Cloud) evaluateComposite(a *alarm) {
	state := AlarmOK
	for _, name := range a.pub.AnyOf {
		child := c.findAlarm(name)
		switch {
		case child == nil || child.pub.State == AlarmInsufficient:
			if state == AlarmOK {
				state = AlarmInsufficient
			}
		case child.pub.State == AlarmRed:
			state = AlarmRed
		}
	}
	c.setAlarm(a, state, "composite of its children")
}

// setAlarm writes a state, tells it when it changed, and looks at the composites above.
func (c *Cloud) setAlarm(a *alarm, state AlarmState, reason string) {
	if a.pub.State == state {
		return
	}
	change := AlarmChange{Previous: a.pub.State, PreviousSince: a.pub.Transitioned, At: c.now}
	a.pub.State, a.pub.Reason, a.pub.Transitioned, a.pub.Updated = state, reason, c.now, c.now
	c.record(Event{Kind: EventAlarm, Text: fmt.Sprintf("%s is %s", a.pub.Name, state)})
	if c.OnAlarm != nil {
		change.Alarm = a.snapshot()
		c.OnAlarm(change)
	}
	for _, above := range c.alarms {
		if slices.Contains(above.pub.AnyOf, a.pub.Name) {
			c.evaluateComposite(above)
		}
	}
}
