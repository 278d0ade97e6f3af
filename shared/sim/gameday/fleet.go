package gameday

import (
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// fleet is one guarded group behind one target group of the same name, with the alarms of its dependencies. Its zero fields take the
// defaults that tier states.
type fleet struct {
	group  sim.GroupSpec
	target sim.TargetGroupSpec
	alarms []string // dependencies with an alarm
}

// steady is how long every fleet has served when a day begins.
const steady = 24 * time.Hour

// tier is a web tier over two zones: probes every 10 s with a timeout of 5 s, three to leave and three to return, deregistration delay 60 s,
// grace 300 s, 90 s to launch and 60 s to warm up, and a demand of three quarters of its members.
func tier(name string, size int) fleet {
	return fleet{
		group: sim.GroupSpec{
			Name: name, Tags: map[string]string{"holdfast:guard": "true"}, Desired: size, Min: max(1, size/2), Max: 2 * size,
			HealthCheckTypes: []string{"EC2", "ELB"}, Grace: 300 * time.Second, TargetGroups: []string{name},
			LaunchTime: 90 * time.Second, WarmUp: time.Minute, SteadyFor: steady, Demand: 0.75 * float64(size),
		},
		target: sim.TargetGroupSpec{
			Name: name, Path: sim.PathLocal, Interval: 10 * time.Second, Timeout: 5 * time.Second, HealthyCount: 3, UnhealthyCount: 3,
			DeregistrationDelay: 60 * time.Second,
		},
	}
}

// deep makes the tier use dependencies, and its health check call them all.
func (f fleet) deep(dependencies ...string) fleet {
	f.target.Path, f.target.Dependencies = sim.PathDeep, dependencies
	return f.uses(dependencies...)
}

// uses makes requests to the tier need dependencies, each with an alarm that samples it every 10 s and needs three.
func (f fleet) uses(dependencies ...string) fleet {
	f.group.Uses, f.alarms = dependencies, dependencies
	return f
}

// create creates the fleet; an alarm that stands already is shared.
func (f fleet) create(c *sim.Cloud) error {
	if _, err := c.CreateTargetGroup(f.target); err != nil {
		return fmt.Errorf("create target group: %w", err)
	}
	for _, name := range f.alarms {
		if _, stands := c.Alarm(name); stands {
			continue
		}
		spec := sim.AlarmSpec{Name: name, Dependency: name, Period: 10 * time.Second, Evaluations: 3, Since: c.Now().Add(-steady)}
		if err := c.PutAlarm(spec); err != nil {
			return fmt.Errorf("put alarm: %w", err)
		}
	}
	if err := c.CreateGroup(f.group); err != nil {
		return fmt.Errorf("create group: %w", err)
	}
	return nil
}

// createAll creates one fleet after the other.
func createAll(fleets []fleet) func(*sim.Cloud) error {
	return func(c *sim.Cloud) error {
		for _, f := range fleets {
			if err := f.create(c); err != nil {
				return err
			}
		}
		return nil
	}
}
