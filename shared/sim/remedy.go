package sim

// Nth returns the ID of the nth member of a group, counted from 0 in launch order; NotFoundError when there are fewer.
func (c *Cloud) Nth(group string, n int) (string, error) { return member(c, group, n) }

// LaunchWouldServe says whether a member that Auto Scaling launched in a group at this moment would come to serve: launches do not
// fail, the launch template version is not a bad one, and the zone that it would go to is up.
func (c *Cloud) LaunchWouldServe(group string) bool {
	g := c.findGroup(group)
	return g != nil && g.launchFailure == "" && !g.badVersions[g.spec.LaunchTemplateVersion] && !c.zoneDown(c.pickZone(g))
}
