package sim

import "slices"

// DependenciesOf names the dependencies that a group's requests need, its health checks call, or its agents report, sorted.
func (c *Cloud) DependenciesOf(group string) []string {
	g := c.findGroup(group)
	if g == nil {
		return nil
	}
	names := append(slices.Clone(g.spec.Uses), g.spec.AgentReports...)
	for _, t := range g.targets {
		names = append(names, t.spec.Dependencies...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Changes counts what happened to a group that its capacity, requests, checks, marks or heartbeats may depend on: as long as it stays the same, so do
// they, but for what only time does. An unknown group has none.
func (c *Cloud) Changes(group string) uint64 {
	if g := c.findGroup(group); g != nil {
		return g.changes
	}
	return 0
}

// Told counts what happened that a reader of groups, members, tags, target groups, their targets, activities and refreshes may see: as long as
// it stays the same, so does all that they are told. Heartbeats and alarms go on without it.
func (c *Cloud) Told() uint64 { return c.told }

// LookTrue calls visit for each member of a group, in launch order, with the worst state over its registrations, empty without any, and
// with what is really so. An unknown group has no members.
func (c *Cloud) LookTrue(group string, visit func(id string, state Lifecycle, target TargetState, truth Truth)) {
	g := c.findGroup(group)
	if g == nil {
		return
	}
	for _, i := range g.members {
		var worst TargetState
		for _, r := range i.regs {
			if worst == "" || severity(r.state) > severity(worst) {
				worst = r.state
			}
		}
		visit(i.id, i.lifecycle, worst, c.truth(i))
	}
}

// LaunchWouldServe says whether a member that Auto Scaling launched in a group at this moment would come to serve: launches do not
// fail, the launch template version is not a bad one, and the zone that it would go to is up.
func (c *Cloud) LaunchWouldServe(group string) bool {
	g := c.findGroup(group)
	return g != nil && g.launchFailure == "" && !g.badVersions[g.spec.LaunchTemplateVersion] && !c.zoneDown(c.pickZone(g))
}
