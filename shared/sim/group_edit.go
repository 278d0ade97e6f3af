package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// withGroup finds a group or returns a NotFoundError.
func (c *Cloud) withGroup(name string) (*group, error) {
	if g := c.findGroup(name); g != nil {
		return g, nil
	}
	return nil, &NotFoundError{Kind: "group", Name: name}
}

// SetDesired changes the desired capacity, in weight units, between min and max.
func (c *Cloud) SetDesired(name string, desired int) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	if desired < g.spec.Min || desired > g.spec.Max {
		return fmt.Errorf("set desired %d: %w", desired, ErrInvalid)
	}
	g.spec.Desired = desired
	c.changed(g)
	c.react(g)
	return nil
}

// SetGroupTags adds or changes tags of a group; an empty value is a value.
func (c *Cloud) SetGroupTags(name string, tags map[string]string) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	if g.spec.Tags == nil {
		g.spec.Tags = map[string]string{}
	}
	maps.Copy(g.spec.Tags, tags)
	c.told++
	return nil
}

// SetGroupChecks changes the health check types and the grace period of a group.
func (c *Cloud) SetGroupChecks(name string, types []string, grace time.Duration) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	if grace < 0 || len(types) == 0 {
		return fmt.Errorf("set checks of %q: %w", name, ErrInvalid)
	}
	g.spec.HealthCheckTypes, g.spec.Grace = slices.Clone(types), grace
	c.told++
	return nil
}

// SetLaunchTemplate makes new members of a group start from the given version. Members that run from a bad version never
// become healthy.
func (c *Cloud) SetLaunchTemplate(name string, version int, bad bool) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	g.spec.LaunchTemplateVersion = version
	g.badVersions[version] = bad
	c.changed(g)
	return nil
}

// SetAgentVersion changes the heartbeat agent of a group: new members get the version, and with all set the present ones
// do as well. A broken version writes no heartbeat.
func (c *Cloud) SetAgentVersion(name, version string, broken, all bool) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	c.stirred(g)
	g.spec.AgentVersion, g.spec.NoAgent = version, broken
	for _, i := range g.members {
		if all {
			i.agentVersion, i.noAgent = version, broken
		}
	}
	return nil
}

// SetLaunchFailure makes every further launch of a group fail with the given message; an empty one ends it.
func (c *Cloud) SetLaunchFailure(name, message string) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	g.launchFailure = message
	c.stirred(g)
	c.react(g)
	return nil
}

// SetRefresh gives the newest instance refresh of a group a status, and starts a refresh when none is running. Only the
// status changes: [Cloud.StartRefresh] is the one that replaces.
func (c *Cloud) SetRefresh(name, status string) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	if n := len(g.refreshes); n == 0 || !g.refreshes[n-1].Ended.IsZero() {
		g.refreshes = append(g.refreshes, Refresh{ID: c.newUUID(), Started: c.now})
	}
	last := &g.refreshes[len(g.refreshes)-1]
	last.Status = status
	c.told++
	switch status {
	case "Successful", "Failed", "Cancelled", "RollbackFailed", "RollbackSuccessful":
		last.Ended = c.now
	}
	return nil
}

// DeleteGroup removes a group and its members at once, as a forced delete does. A group that is created again under the
// same name has another ARN.
func (c *Cloud) DeleteGroup(name string) error {
	g, err := c.withGroup(name)
	if err != nil {
		return err
	}
	for _, i := range slices.Clone(g.members) {
		c.removeInstance(i)
	}
	g.deleted = true
	c.told++
	c.groups = slices.DeleteFunc(c.groups, func(other *group) bool { return other == g })
	return nil
}

// SetProtection sets the scale-in protection of a member. It protects from nothing but scale-in. Source: the user guide
// page on instance protection.
func (c *Cloud) SetProtection(id string, protected bool) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	i.protected = protected
	c.told++
	return nil
}

// SetInstanceTag sets one tag of an instance.
func (c *Cloud) SetInstanceTag(id, key, value string) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	i.tags[key] = value
	c.told++
	return nil
}
