package gameday

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// slowAuthorization is a service that is slow, not down, in the health check of a whole tier.
func slowAuthorization() Day {
	return Day{
		Name: "slow-authorization",
		About: "A tier of 8 to 12 behind an ALB at its default thresholds (interval 30 s, timeout 5 s, 5 to return, 2 to leave), whose health check " +
			"opens the database, touches the cache and calls the authorization service. That service is slow for 80 to 100 s; 20 to 40 % of " +
			"requests need it.",
		Groups: []string{"web"}, Duration: time.Hour,
		Draw: func(d *Dice) Course {
			f := tier("web", d.Number(8, 12)).deep("database", "cache", "authorization")
			f.target.Interval, f.target.HealthyCount, f.target.UnhealthyCount = 30*time.Second, 5, 2
			f.target.DeregistrationDelay = 300 * time.Second
			f.group.LaunchTime, f.group.WarmUp = 2*time.Minute, 2*time.Minute
			slow := outage{
				name: "authorization", state: sim.DependencySlow, from: d.Between(5*time.Minute, 10*time.Minute),
				lasts: d.Between(80*time.Second, 100*time.Second), failShare: d.Share(20, 40),
			}
			return Course{Setup: f.create, Script: slow.steps()}
		},
	}
}
