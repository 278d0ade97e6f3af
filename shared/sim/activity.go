package sim

import "time"

func (c *Cloud) startActivity(g *group, kind ActivityKind, id, cause string) *Activity {
	a := &Activity{
		ID: c.newUUID(), Group: g.spec.Name, GroupARN: g.arn, InstanceID: id, Kind: kind,
		Status: "InProgress", Cause: "At " + c.now.Truncate(time.Second).Format(time.RFC3339) + " " + cause,
		Start: c.now, Progress: 30,
	}
	switch kind {
	case ActivityLaunch:
		a.Description = "Launching a new EC2 instance"
	case ActivityTerminate:
		a.Description = "Terminating EC2 instance"
	}
	if id != "" {
		a.Description += ": " + id
	}
	c.activities = append(c.activities, a)
	c.told++
	return a
}

func (c *Cloud) endActivity(a *Activity, status string) {
	a.Status, a.End, a.Progress = status, c.now, 100
	c.told++
}

// Activities returns copies of the scaling activities of a group, newest first.
func (c *Cloud) Activities(group string) []Activity {
	var out []Activity
	for n := len(c.activities) - 1; n >= 0; n-- {
		if a := c.activities[n]; a.Group == group {
			out = append(out, *a)
		}
	}
	return out
}
