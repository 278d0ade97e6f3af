package sim

// LaunchWouldServe says whether a member that Auto Scaling launched in a group at this moment would come to serve: launches do not
// fail, the launch template version is not a bad one, and the zone that it would go to is up.
func (c *Cloud) LaunchWouldServe(group string) bool {
	g := c.findGroup(group)
	return g != nil && g.launchFailure == "" && !g.badVersions[g.spec.LaunchTemplateVersion] && !c.zoneDown(c.pickZone(g))
}
