package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

// Times that are the same in every simulation.
const (
	sampleEvery = 30 * time.Second
	// quiet is how long the group is well before the bad time, watch how long it is watched from the bad time's beginning.
	quiet = 5 * time.Minute
	watch = time.Hour
)

// What is assumed where nothing is known, and said so.
const (
	assumedLaunch = time.Minute
	assumedBoot   = time.Minute
)

// shortest is the shortest interval that is simulated.
const shortest = timing.TimeoutMin

// settings are those of a group that decide what a bad time costs, all known or assumed.
type settings struct {
	name                string
	desired, min, max   int
	zones               int
	elb                 bool
	grace, warmup, boot time.Duration
	interval, timeout   time.Duration
	healthy, unhealthy  int
	drain               time.Duration
	failOpen            int
	// alarmed says that the group's policy names a hard dependency.
	alarmed bool
}

// key is the same for groups that cannot differ in the answer.
func (s settings) key() string {
	s.name = ""
	return fmt.Sprintf("%+v", s)
}

func (s settings) simulated() int { return min(s.desired, most) }

func (s settings) scale() float64 { return float64(s.desired) / float64(s.simulated()) }

// settingsOf reads a group. The last result says why it cannot be simulated.
func settingsOf(g audit.Group, targets map[string]audit.TargetGroup, checks []audit.StatusCheck) (settings, []string, string) {
	s := settings{name: g.Name}
	switch {
	case g.Operator != "":
		return s, nil, "managed by " + g.Operator
	case g.Desired == nil:
		return s, nil, "the desired capacity is unknown"
	case *g.Desired < 1:
		return s, nil, "no member is desired"
	case g.HealthCheckTypes == nil:
		return s, nil, "the health check types are unknown"
	case g.TargetGroups == nil:
		return s, nil, "the target groups are unknown"
	case len(g.TargetGroups) == 0 && len(g.LatticeGroups) > 0:
		return s, nil, "only VPC Lattice target groups, whose health checks are not read"
	case len(g.TargetGroups) == 0:
		return s, nil, "no target group: no probe can fail"
	}
	r := assumer{}
	s.desired = *g.Desired
	s.min = min(r.number("minimum size", g.Min, s.desired), s.desired)
	s.max = max(r.number("maximum size", g.Max, s.desired), s.desired)
	s.zones = max(1, len(g.Zones), orZero(g.ZoneCount))
	s.elb = slices.Contains(g.HealthCheckTypes, "ELB")
	s.grace = r.seconds("grace", g.GraceSeconds, 0)
	s.warmup = max(0, seconds(orZero(g.WarmupSeconds)))
	s.boot = r.bootOf(g)
	s.targets(&r, fastest(g.TargetGroups, targets))
	if c, ok := checkOf(g, checks); ok && !s.elb {
		s.elb = true
		s.interval, s.unhealthy = seconds(cmp.Or(orZero(c.Seconds), 60)), cmp.Or(orZero(c.Failures), 2)
		r.say("application status check %s replaces what it calls impaired, and fails with the targets", c.ID)
	}
	if s.desired > most {
		r.say("simulated with %s, scaled to %d", guard.Counted(most, "member"), s.desired)
	}
	if s.alarmed = hasHard(g.Policy); s.alarmed {
		r.say("its dependency alarm fires after one minute")
	} else {
		r.say("no dependency alarm")
	}
	r.say("one minute to launch; every replacement can be launched; every member beats; with Holdfast in mode act")
	return s, r.said, ""
}

func hasHard(p *audit.Policy) bool {
	return p != nil && slices.ContainsFunc(p.Dependencies, func(d audit.Dependency) bool { return d.Kind == "hard" })
}

// fastest is the target group that calls a target unhealthy first: any one of them is enough for Auto Scaling.
func fastest(ids []string, targets map[string]audit.TargetGroup) audit.TargetGroup {
	var out audit.TargetGroup
	best := 0
	for _, id := range ids {
		t, ok := targets[id]
		if !ok {
			continue
		}
		takes := cmp.Or(orZero(t.UnhealthyCount), 2)*cmp.Or(orZero(t.IntervalSeconds), 30) + cmp.Or(orZero(t.TimeoutSeconds), 5)
		if best == 0 || takes < best {
			out, best = t, takes
		}
	}
	return out
}

func (s *settings) targets(r *assumer, t audit.TargetGroup) {
	s.interval = r.seconds("interval", t.IntervalSeconds, 30)
	s.timeout = r.seconds("timeout", t.TimeoutSeconds, 5)
	s.healthy = r.number("healthy count", t.HealthyCount, 5)
	s.unhealthy = r.number("unhealthy count", t.UnhealthyCount, 2)
	s.healthy, s.unhealthy = r.within("healthy count", s.healthy), r.within("unhealthy count", s.unhealthy)
	if s.interval < shortest {
		r.say("interval %s, simulated as %s", s.interval, shortest)
		s.interval = shortest
	}
	if s.timeout >= s.interval {
		r.say("timeout %s is not below the interval %s, simulated as %s", s.timeout, s.interval, s.interval-time.Second)
		s.timeout = s.interval - time.Second
	}
	s.drain = r.seconds("deregistration delay", t.DrainSeconds, 300)
	if s.drain == 0 {
		s.drain = -1 // the simulator's word for none
	}
	s.failOpen = max(1, orZero(t.FailOpenCount), s.desired*max(0, orZero(t.FailOpenPercent))/100)
}

// assumer collects what had to be assumed.
type assumer struct{ said []string }

func (r *assumer) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *assumer) number(name string, known *int, fallback int) int {
	if known == nil || *known < 0 {
		r.say("%s unknown, taken as %d", name, fallback)
		return fallback
	}
	return *known
}

func (r *assumer) seconds(name string, known *int, fallback int) time.Duration {
	if known == nil || *known < 0 {
		r.say("%s unknown, taken as %d s", name, fallback)
		return seconds(fallback)
	}
	return seconds(*known)
}

// within is a count as the simulator takes it. Load balancers that are no Application Load Balancers have had others.
func (r *assumer) within(name string, count int) int {
	bounded := min(max(count, timing.CountMin), timing.CountMax)
	if bounded != count {
		r.say("%s %d, simulated as %d", name, count, bounded)
	}
	return bounded
}

func (r *assumer) bootOf(g audit.Group) time.Duration {
	if g.BootSeconds == nil || *g.BootSeconds < 0 {
		r.say("boot never seen, taken as %s", assumedBoot)
		return assumedBoot
	}
	return seconds(*g.BootSeconds)
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func orZero(n *int) int {
	if n == nil || *n < 0 {
		return 0
	}
	return *n
}

// incident is the bad time, told to the simulator: a dependency of every check is down for so long, and nothing is the matter with any member.
func (s settings) incident(lasts time.Duration) sim.Incident {
	const group, dependency = "group", "shared"
	step := func(at time.Duration, about string, state sim.DependencyState) sim.Step {
		return sim.Step{At: at, About: about, Do: func(c *sim.Cloud) error { return c.SetDependency(dependency, state, 0) }}
	}
	return sim.Incident{
		Name: "every-probe-fails", Group: group, Duration: quiet + watch,
		About: "every probe of every target fails for a while, and nothing is the matter with any member",
		Setup: func(c *sim.Cloud) error { return s.setup(c, group, dependency) },
		Script: []sim.Step{
			step(quiet, "every probe fails", sim.DependencyDown),
			step(quiet+lasts, "every probe passes again", sim.DependencyOK),
		},
	}
}

func (s settings) setup(c *sim.Cloud, group, dependency string) error {
	types := []string{"EC2"}
	if s.elb {
		types = append(types, "ELB")
	}
	var zones []string
	for i := range min(s.zones, 6) {
		zones = append(zones, fmt.Sprintf("%s%c", c.Config().Region, 'a'+i))
	}
	n := s.simulated()
	if _, err := c.CreateTargetGroup(sim.TargetGroupSpec{
		Name: group, Path: sim.PathDeep, Dependencies: []string{dependency}, Interval: s.interval, Timeout: s.timeout,
		HealthyCount: s.healthy, UnhealthyCount: s.unhealthy, DeregistrationDelay: s.drain, MinHealthyTargets: min(s.failOpen, n),
	}); err != nil {
		return fmt.Errorf("create target group: %w", err)
	}
	if s.alarmed {
		if err := c.PutAlarm(sim.AlarmSpec{Name: dependency, Dependency: dependency, Period: time.Minute, Since: c.Now().Add(-24 * time.Hour)}); err != nil {
			return fmt.Errorf("put alarm: %w", err)
		}
	}
	if err := c.CreateGroup(sim.GroupSpec{
		Name: group, Tags: map[string]string{"holdfast:guard": "true"}, Desired: n, Min: min(s.min, n), Max: max(n, min(s.max, 2*n)), Zones: zones,
		HealthCheckTypes: types, Grace: s.grace, InstanceWarmup: s.warmup, TargetGroups: []string{group},
		LaunchTime: assumedLaunch, WarmUp: max(time.Second, s.boot), SteadyFor: 24 * time.Hour, Uses: []string{dependency},
	}); err != nil {
		return fmt.Errorf("create group: %w", err)
	}
	return nil
}
