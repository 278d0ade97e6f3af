package sim

import (
	"slices"
	"time"
)

// Incident is a failure told as data: a fleet, what happens to it, and for how long to watch.
type Incident struct {
	// Name is the kebab-case name by which it is found.
	Name string
	// About says in one paragraph what happens and which numbers were chosen here.
	About string
	// Group is the group to watch.
	Group string
	// Setup creates the fleet in an empty cloud.
	Setup func(*Cloud) error
	// Script is what happens, in order of time. It states causes only, never what Auto Scaling does.
	Script []Step
	// Duration is how long to watch, from the start.
	Duration time.Duration
}

// Step is one thing that happens in an incident.
type Step struct {
	// At is the time since the start of the incident.
	At time.Duration
	// About says what happens.
	About string
	// Do makes it happen.
	Do func(*Cloud) error
}

// Start sets the fleet up and plans the script. After it, only [Cloud.Advance] is needed. A step that fails leaves a note in the
// timeline that begins with "script:".
func (in Incident) Start(c *Cloud) error {
	start := c.Now()
	if err := in.Setup(c); err != nil {
		return err
	}
	for _, step := range in.Script {
		c.At(start.Add(step.At), func(c *Cloud) {
			c.Note(in.Group, "", step.About)
			if err := step.Do(c); err != nil {
				c.Note(in.Group, "", "script: "+err.Error())
			}
		})
	}
	return nil
}

// Incidents returns all incidents, sorted by name.
func Incidents() []Incident {
	all := []Incident{singleBroken(), brownout()}
	slices.SortFunc(all, func(a, b Incident) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}

// Find returns the incident of a name, and false when there is none.
func Find(name string) (Incident, bool) {
	for _, in := range Incidents() {
		if in.Name == name {
			return in, true
		}
	}
	return Incident{}, false
}

// member returns the ID of the nth member of a group, counted from 0 in launch order.
func member(c *Cloud, group string, n int) (string, error) {
	g, err := c.withGroup(group)
	if err != nil {
		return "", err
	}
	if n >= len(g.members) {
		return "", &NotFoundError{Kind: "instance", Name: group}
	}
	return g.members[n].id, nil
}
