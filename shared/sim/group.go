package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// group is the state behind a [Group].
type group struct {
	spec      GroupSpec
	arn       string
	ltID      string
	created   time.Time
	targets   []*targetGroup
	members   []*instance // in launch order
	byLaunch  []*instance // the same by time of launch, then ID; nil when it has to be made anew
	suspended map[string]string
	refreshes []Refresh // oldest first

	reconcileDue  bool
	nextLaunch    time.Time // no launch before, after a failed one
	lastSlow      time.Time // last termination of the slow path
	launchFailure string
	badVersions   map[int]bool
	deleted       bool
	changes       uint64
	beatsStale    bool        // something changed since it was settled what heartbeats say
	outdated      []*instance // what a running refresh has still to replace

	stats   Stats
	account account
}

// CreateGroup creates an Auto Scaling group. It returns ErrExists for a taken name, ErrInvalid for impossible sizes and
// NotFoundError for an unknown target group.
func (c *Cloud) CreateGroup(spec GroupSpec) error {
	if c.findGroup(spec.Name) != nil {
		return fmt.Errorf("create group %q: %w", spec.Name, ErrExists)
	}
	spec, err := c.completeGroup(spec)
	if err != nil {
		return err
	}
	g := &group{spec: spec, created: c.now, suspended: map[string]string{}, badVersions: map[int]bool{}}
	for _, name := range spec.TargetGroups {
		t := c.findTargetGroup(name)
		if t == nil {
			return &NotFoundError{Kind: "target group", Name: name}
		}
		g.targets = append(g.targets, t)
	}
	g.arn = fmt.Sprintf("arn:aws:autoscaling:%s:%s:autoScalingGroup:%s:autoScalingGroupName/%s",
		c.cfg.Region, c.cfg.Account, c.newUUID(), spec.Name)
	g.ltID = c.newID("lt-")
	g.account.since = c.now
	c.changed(g)
	g.stats.WorstServing = -1
	c.groups = append(c.groups, g)
	c.told++
	if spec.SteadyFor > 0 {
		g.created = c.now.Add(-spec.SteadyFor)
		c.startSteady(g)
	}
	first := c.now.Add(c.drawDuration("health check phase", c.names, c.cfg.HealthCheckEvery))
	c.everyWhile(first, c.cfg.HealthCheckEvery, orderNormal, func() bool { return c.checkHealth(g) })
	c.react(g)
	return nil
}

func (c *Cloud) completeGroup(spec GroupSpec) (GroupSpec, error) {
	if spec.Name == "" || spec.Desired < 0 || spec.Min < 0 {
		return spec, fmt.Errorf("create group %q: %w", spec.Name, ErrInvalid)
	}
	orInt(&spec.Max, max(2*spec.Desired, spec.Min))
	if spec.Desired < spec.Min || spec.Desired > spec.Max {
		return spec, fmt.Errorf("create group %q: desired outside min and max: %w", spec.Name, ErrInvalid)
	}
	orInt(&spec.LaunchTemplateVersion, 1)
	orInt(&spec.Weight, 1)
	orDuration(&spec.LaunchTime, time.Minute)
	orDuration(&spec.WarmUp, time.Minute)
	if spec.ColdCapacity <= 0 {
		spec.ColdCapacity = 0.5
	}
	if spec.InstanceType == "" {
		spec.InstanceType = "m7g.large"
	}
	if spec.AgentVersion == "" {
		spec.AgentVersion = "1"
	}
	if len(spec.Zones) == 0 {
		spec.Zones = []string{c.cfg.Region + "a", c.cfg.Region + "b"}
	}
	if len(spec.HealthCheckTypes) == 0 {
		spec.HealthCheckTypes = []string{"EC2"}
	}
	for _, name := range append(slices.Clone(spec.Uses), spec.AgentReports...) {
		c.dependency(name)
	}
	spec.Tags = maps.Clone(spec.Tags)
	spec.Zones = slices.Clone(spec.Zones)
	return spec, nil
}

// startSteady fills a group with members that have served for a long time.
func (c *Cloud) startSteady(g *group) {
	for g.wantsMore() {
		i := c.newInstance(g)
		i.launched = g.created
		i.inService = g.created.Add(g.spec.LaunchTime)
		i.lifecycle = InService
		i.up = true
		for _, r := range c.registerMember(i) {
			r.state, r.reason = TargetHealthy, ""
			if r.tg.spec.NotInUse {
				r.state, r.reason = TargetUnused, ReasonNotInUse
			}
		}
		c.startAgent(i)
	}
}

func (c *Cloud) findGroup(name string) *group {
	for _, g := range c.groups {
		if g.spec.Name == name {
			return g
		}
	}
	return nil
}

// Groups returns copies of all groups in the order of their creation.
func (c *Cloud) Groups() []Group {
	out := make([]Group, 0, len(c.groups))
	for _, g := range c.groups {
		out = append(out, g.snapshot())
	}
	return out
}

// Group returns a copy of one group, and false if it does not exist.
func (c *Cloud) Group(name string) (Group, bool) {
	g := c.findGroup(name)
	if g == nil {
		return Group{}, false
	}
	return g.snapshot(), true
}

func (g *group) snapshot() Group {
	out := g.head()
	out.Tags = maps.Clone(g.spec.Tags)
	out.Members = make([]Member, 0, len(g.members))
	for _, i := range g.sorted() {
		out.Members = append(out.Members, i.snapshot())
	}
	return out
}

// sorted are the members by time of launch, then ID. It is the group's own.
func (g *group) sorted() []*instance {
	if g.byLaunch == nil {
		g.byLaunch = slices.Clone(g.members)
		slices.SortFunc(g.byLaunch, func(a, b *instance) int { return cmp.Or(a.launched.Compare(b.launched), cmp.Compare(a.id, b.id)) })
	}
	return g.byLaunch
}

// head is a copy of the group without its tags and members.
func (g *group) head() Group {
	s := g.spec
	out := Group{
		Name: s.Name, ARN: g.arn,
		Desired: s.Desired, Min: s.Min, Max: s.Max,
		Zones: slices.Clone(s.Zones), HealthCheckTypes: slices.Clone(s.HealthCheckTypes),
		Grace: s.Grace, InstanceWarmup: s.InstanceWarmup,
		LaunchTemplateID: g.ltID, LaunchTemplateName: s.Name + "-template", LaunchTemplateVersion: s.LaunchTemplateVersion,
		InstanceType: s.InstanceType, Created: g.created, Operator: s.Operator,
	}
	for _, t := range g.targets {
		out.TargetGroupARNs = append(out.TargetGroupARNs, t.arn)
	}
	for _, name := range slices.Sorted(maps.Keys(g.suspended)) {
		out.Suspended = append(out.Suspended, Suspension{Process: name, Reason: g.suspended[name]})
	}
	out.Refreshes = slices.Clone(g.refreshes)
	slices.Reverse(out.Refreshes)
	return out
}

// weight is the capacity that counts: Pending and InService members.
func (g *group) weight() int {
	total := 0
	for _, i := range g.members {
		if i.lifecycle == Pending || i.lifecycle == InService {
			total += i.weight
		}
	}
	return total
}

// wantsMore says whether one more member is desired and fits below max.
func (g *group) wantsMore() bool {
	have := g.weight()
	return have < g.spec.Desired && have+g.spec.Weight <= g.spec.Max
}

func (g *group) hasCheck(kind string) bool { return slices.Contains(g.spec.HealthCheckTypes, kind) }
