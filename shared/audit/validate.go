package audit

import (
	"errors"
	"fmt"
	"time"
)

// checker collects what is wrong with a dump.
type checker struct{ errs []error }

func (c *checker) add(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// name wants a resource to have a name that no other has.
func (c *checker) name(seen map[string]bool, kind string, names ...string) {
	name := names[0]
	switch {
	case name == "":
		c.add("%s without a name", kind)
	case !printable(name):
		c.add("%s %q: a name with a control character", kind, name)
	}
	key := fmt.Sprintf("%q", names)
	if seen[key] {
		c.add("%s %q stands twice", kind, name)
	}
	seen[key] = true
}

// twice refuses what is listed a second time, and would count twice.
func (c *checker) twice(seen map[string]bool, what string) {
	if seen[what] {
		c.add("%s stands twice", what)
	}
	seen[what] = true
}

func (c *checker) numbers(what string, list []number) {
	for _, v := range list {
		if n := *v.at; n != nil && (*n < v.low || *n > v.high) {
			c.add("%s: %s %d, want %d to %d", what, v.key, *n, v.low, v.high)
		}
	}
}

// validate reports everything that is wrong with a dump.
func (a *Account) validate() error {
	var c checker
	if a.At.IsZero() {
		c.add("\"at\" is not stated: ages cannot be told")
	}
	groups, targetGroups, alarms := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range a.Groups {
		c.group(&a.Groups[i], groups)
	}
	for i := range a.TargetGroups {
		c.targetGroup(&a.TargetGroups[i], targetGroups)
	}
	for i := range a.Alarms {
		c.name(alarms, KindAlarm, a.Alarms[i].Name, a.Alarms[i].Where)
		c.past(fmt.Sprintf("alarm %q", a.Alarms[i].Name), a.At, a.Alarms[i].Since)
	}
	checks, topics := map[string]bool{}, map[string]bool{}
	for _, s := range a.StatusChecks {
		c.twice(checks, fmt.Sprintf("status-check %q, %s", s.ID, s.part()))
		if s.ID == "" || !printable(s.ID+s.TagKey+s.TagValue) {
			c.add("status-check %q: want an id and a tag without control characters", s.ID)
		}
		c.numbers(fmt.Sprintf("status-check %q", s.ID), []number{{"failures", &s.Failures, 0, NumberMax}, {"interval_seconds", &s.Seconds, 0, NumberMax}})
	}
	for _, t := range a.Guardian.Topics {
		c.twice(topics, fmt.Sprintf("topic %q", t.ARN))
		if t.ARN == "" || !printable(t.ARN) {
			c.add("topic %q: want an ARN", t.ARN)
		}
	}
	return errors.Join(c.errs...)
}

// past refuses a time after the dump's own, beyond what clocks differ: its age would say nothing.
func (c *checker) past(what string, at, since time.Time) {
	const skewMax = time.Hour
	if !since.IsZero() && since.After(at.Add(skewMax)) {
		c.add("%s: time %s is after the dump's %s", what, since.Format(time.RFC3339), at.Format(time.RFC3339))
	}
}

func (c *checker) group(g *Group, seen map[string]bool) {
	c.name(seen, KindGroup, g.Name, g.Where)
	what := fmt.Sprintf("group %q", g.Name)
	c.numbers(what, g.numbers())
	if g.ZoneCount != nil && len(g.Zones) > 0 && *g.ZoneCount != len(g.Zones) {
		c.add("%s: zone_count %d, but zones lists %d", what, *g.ZoneCount, len(g.Zones))
	}
	members, processes := map[string]bool{}, map[string]bool{}
	for _, m := range g.Members {
		c.twice(members, fmt.Sprintf("%s: member %q", what, m.ID))
		if m.ID == "" || !printable(m.ID) {
			c.add("%s: member %q: want an instance id", what, m.ID)
		}
		c.numbers(fmt.Sprintf("%s: member %q", what, m.ID), []number{{"beat_age_seconds", &m.BeatAgeSeconds, NotSet, ageMax}})
	}
	for _, s := range g.Suspended {
		c.twice(processes, fmt.Sprintf("%s: suspended process %q", what, s.Process))
		if s.Process == "" || !printable(s.Process) {
			c.add("%s: suspended process %q: want a name", what, s.Process)
		}
	}
	if g.Policy != nil && (g.Policy.MaxAlarmAgeSeconds < 0 || g.Policy.MaxAlarmAgeSeconds > ageMax) {
		c.add("%s: alarm_max_age_seconds %d, want 0 to %d", what, g.Policy.MaxAlarmAgeSeconds, ageMax)
	}
}

func (c *checker) targetGroup(t *TargetGroup, seen map[string]bool) {
	c.name(seen, KindTargetGroup, t.ID)
	what := fmt.Sprintf("target-group %q", t.title())
	if !printable(t.Name) {
		c.add("%s: a name with a control character", what)
	}
	c.numbers(what, t.numbers())
	for state, n := range t.States {
		if n < 0 || n > NumberMax {
			c.add("%s: %d targets in state %q, want 0 to %d", what, n, state, NumberMax)
		}
	}
	if s := t.LongestRequestSeconds; s != nil && (*s < 0 || *s > NumberMax) {
		c.add("%s: longest_request_seconds %g, want 0 to %d", what, *s, NumberMax)
	}
}
