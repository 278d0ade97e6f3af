package audit

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of the numbers in a dump. They are far above what AWS takes, and low enough that no sum of them overflows.
const (
	numberMax = 1_000_000
	ageMax    = 1_000_000_000
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

// number is a value of a resource with its bounds.
type number struct {
	key  string
	n    *int
	low  int
	high int
}

func (c *checker) numbers(what string, list []number) {
	for _, v := range list {
		if v.n != nil && (*v.n < v.low || *v.n > v.high) {
			c.add("%s: %s %d, want %d to %d", what, v.key, *v.n, v.low, v.high)
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
		c.numbers(fmt.Sprintf("status-check %q", s.ID), []number{{"failures", s.Failures, 0, numberMax}, {"interval_seconds", s.Seconds, 0, numberMax}})
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
	c.numbers(what, []number{
		{"min", g.Min, 0, numberMax}, {"max", g.Max, 0, numberMax}, {"desired", g.Desired, 0, numberMax}, {"grace_seconds", g.GraceSeconds, 0, numberMax},
		{"warmup_seconds", g.WarmupSeconds, NotSet, numberMax}, {"min_healthy_percent", g.MinHealthyPercent, NotSet, 100},
		{"max_healthy_percent", g.MaxHealthyPercent, NotSet, 200}, {"zone_count", g.ZoneCount, 0, numberMax},
		{"refresh_min_healthy_percent", g.RefreshMinHealthy, NotSet, 100}, {"boot_seconds", g.BootSeconds, NotSet, numberMax},
	})
	if g.ZoneCount != nil && len(g.Zones) > 0 && *g.ZoneCount != len(g.Zones) {
		c.add("%s: zone_count %d, but zones lists %d", what, *g.ZoneCount, len(g.Zones))
	}
	members, processes := map[string]bool{}, map[string]bool{}
	for _, m := range g.Members {
		c.twice(members, fmt.Sprintf("%s: member %q", what, m.ID))
		if m.ID == "" || !printable(m.ID) {
			c.add("%s: member %q: want an instance id", what, m.ID)
		}
		c.numbers(fmt.Sprintf("%s: member %q", what, m.ID), []number{{"beat_age_seconds", m.BeatAgeSeconds, NotSet, ageMax}})
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
	c.numbers(what, []number{
		{"interval_seconds", t.IntervalSeconds, 0, numberMax}, {"timeout_seconds", t.TimeoutSeconds, 0, numberMax},
		{"healthy_count", t.HealthyCount, 0, 1000}, {"unhealthy_count", t.UnhealthyCount, 0, 1000},
		{"deregistration_delay_seconds", t.DrainSeconds, 0, numberMax}, {"slow_start_seconds", t.SlowStartSeconds, 0, numberMax},
		{"fail_open_count", t.FailOpenCount, NotSet, numberMax}, {"fail_open_percent", t.FailOpenPercent, NotSet, 100},
		{"dns_count", t.DNSCount, NotSet, numberMax}, {"dns_percent", t.DNSPercent, NotSet, 100},
	})
	for state, n := range t.States {
		if n < 0 || n > numberMax {
			c.add("%s: %d targets in state %q, want 0 to %d", what, n, state, numberMax)
		}
	}
	if s := t.LongestRequestSeconds; s != nil && (*s < 0 || *s > numberMax) {
		c.add("%s: longest_request_seconds %g, want 0 to %d", what, *s, numberMax)
	}
}
