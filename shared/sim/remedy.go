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

// LaunchWouldServe says whether a member that Auto Scaling launched in a group at this moment would come to serve: launches do not
// fail, the launch template version is not a bad one, and the zone that it would go to is up.
func (c *Cloud) LaunchWouldServe(group string) bool {
	g := c.findGroup(group)
	return g != nil && g.launchFailure == "" && !g.badVersions[g.spec.LaunchTemplateVersion] && !c.zoneDown(c.pickZone(g))
}
