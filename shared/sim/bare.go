package sim

// GroupNames returns the names of all groups in the order of their creation.
func (c *Cloud) GroupNames() []string {
	out := make([]string, 0, len(c.groups))
	for _, g := range c.groups {
		out = append(out, g.spec.Name)
	}
	return out
}

// GroupTag is the value of one tag of a group; empty for a tag or group that does not exist.
func (c *Cloud) GroupTag(group, key string) string {
	if g := c.findGroup(group); g != nil {
		return g.spec.Tags[key]
	}
	return ""
}

// InstanceTag is the value of one tag of an instance; empty for a tag or instance that does not exist.
func (c *Cloud) InstanceTag(id, key string) string {
	if i, ok := c.instances[id]; ok {
		return i.tags[key]
	}
	return ""
}

// TargetGroupsOf are the ARNs of a group's target groups.
func (c *Cloud) TargetGroupsOf(group string) []string {
	var out []string
	if g := c.findGroup(group); g != nil {
		for _, t := range g.targets {
			out = append(out, t.arn)
		}
	}
	return out
}

// RefreshStatus is the status of the newest instance refresh of a group, empty without any.
func (c *Cloud) RefreshStatus(group string) string {
	if g := c.findGroup(group); g != nil && len(g.refreshes) > 0 {
		return g.refreshes[len(g.refreshes)-1].Status
	}
	return ""
}

// Roster is [Cloud.Group] without the copies that cost most: the group comes without tags and members, and each member is shown to visit,
// without its tags, in the order of [Group.Members]. What visit is given is good during the call only.
func (c *Cloud) Roster(name string, visit func(*Group, *Member)) (Group, bool) {
	g := c.findGroup(name)
	if g == nil {
		return Group{}, false
	}
	head := g.head()
	var m Member
	for _, i := range g.sorted() {
		m = i.bare()
		visit(&head, &m)
	}
	return head, true
}

// GroupBare is [Cloud.Group] without tags.
func (c *Cloud) GroupBare(name string) (Group, bool) {
	var members []Member
	head, ok := c.Roster(name, func(_ *Group, m *Member) { members = append(members, *m) })
	head.Members = members
	return head, ok
}
