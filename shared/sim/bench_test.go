package sim_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// An hour of three hundred members that lose a dependency and are replaced.
func BenchmarkHourOfALargeGroup(b *testing.B) {
	for b.Loop() {
		c := sim.NewCloud(sim.Config{Seed: 1})
		if _, err := c.CreateTargetGroup(sim.TargetGroupSpec{
			Name: "web", Path: sim.PathDeep, Dependencies: []string{"db"}, Interval: 10 * time.Second,
		}); err != nil {
			b.Fatal(err)
		}
		if err := c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: 300, HealthCheckTypes: []string{"EC2", "ELB"}, TargetGroups: []string{"web"}, SteadyFor: time.Hour,
		}); err != nil {
			b.Fatal(err)
		}
		if err := c.SetDependency("db", sim.DependencyDown, 1); err != nil {
			b.Fatal(err)
		}
		c.Advance(c.Now().Add(time.Hour))
	}
}
