package gameday

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// slowTier is a tier behind an ALB at its default thresholds that takes four minutes from launch to service.
func slowTier(size int, dependencies ...string) fleet {
	f := tier("web", size).deep(dependencies...)
	f.target.Interval, f.target.HealthyCount, f.target.UnhealthyCount = 30*time.Second, 5, 2
	f.target.DeregistrationDelay = 300 * time.Second
	f.group.LaunchTime, f.group.WarmUp = 2*time.Minute, 2*time.Minute
	return f
}

// defaults describes slowTier.
const defaults = "a tier of 8 to 12 behind an ALB at its default thresholds (interval 30 s, timeout 5 s, 5 to return, 2 to leave), four minutes " +
	"from launch to service, whose health check opens the database, touches the cache and calls the authorization service"

// slowAuthorization is a service that is slow, not down, in the health check of a whole tier.
func slowAuthorization() Day {
	return Day{
		Name: "slow-authorization",
		About: "Friday night: " + defaults + ". That service is slow for 80 to 100 s, from a moment 5 to 10 minutes in; 20 to 40 % of the requests " +
			"need it.",
		Groups: []string{"web"}, Duration: time.Hour,
		Draw: func(d *Dice) Course {
			f := slowTier(d.Number(8, 12), "database", "cache", "authorization")
			slow := outage{
				name: "authorization", state: sim.DependencySlow, from: d.Between(5*time.Minute, 10*time.Minute),
				lasts: d.Between(80*time.Second, 100*time.Second), failShare: d.Share(20, 40),
			}
			return Course{Setup: f.create, Script: slow.steps()}
		},
	}
}

// databaseFailover is a short failover with SELECT 1 in the health check.
func databaseFailover() Day {
	return Day{
		Name: "database-failover",
		About: "8 API nodes over two zones whose health check is SELECT 1 (interval 10 s, 3 to leave, 3 to return). The database fails over for " +
			"20 to 40 s, from a moment 5 to 10 minutes in; every request needs it.",
		Groups: []string{"api"}, Duration: time.Hour,
		Draw: func(d *Dice) Course {
			gone := outage{
				name: "database", state: sim.DependencyDown, from: d.Between(5*time.Minute, 10*time.Minute),
				lasts: d.Between(20*time.Second, 40*time.Second), failShare: 1,
			}
			return Course{Setup: tier("api", 8).deep("database").create, Script: gone.steps()}
		},
	}
}

// cached gives a tier a cache: without it, and for six minutes after a start or a loss, a member carries 30 to 50 % of its load. Probes fail as
// requests do.
func (f fleet) cached(d *Dice) fleet {
	f.group.Cache, f.group.Warming, f.group.ColdCapacity = "cache", 6*time.Minute, d.Share(30, 50)
	f.group.Overload = true
	return f
}

// cacheFailover is a cache, used as a cache only, in the health check; what is launched starts cold.
func cacheFailover() Day {
	return Day{
		Name: "cache-failover",
		About: "A tier of 6 to 12 whose health check pings the cache (interval 10 s, 3 to leave, 3 to return). The cache is away for 80 to 100 s, from a " +
			"moment 5 to 10 minutes in, and comes back empty. A member without a warm cache carries 30 to 50 % of its load and takes six " +
			"minutes to warm up, a new one as well; probes fail as often as requests to an overloaded member do. Demand is three quarters of " +
			"the tier.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			f := tier("web", d.Number(6, 12)).deep("cache").cached(d)
			gone := outage{
				name: "cache", state: sim.DependencyDown, from: d.Between(5*time.Minute, 10*time.Minute),
				lasts: d.Between(80*time.Second, 100*time.Second),
			}
			return Course{Setup: f.create, Script: gone.steps()}
		},
	}
}

// slowStartStampede is a cache that is emptied, with a health check that does not know of it.
func slowStartStampede() Day {
	return Day{
		Name: "slow-start-stampede",
		About: "A tier of 8 to 12 with a local health check (interval 10 s, 3 to leave, 3 to return). A moment 5 to 10 minutes in, the cache is " +
			"flushed, in half of the seeds twice within 10 to 20 minutes: nothing is down, but a cold member carries 30 to 50 % of its load and warms " +
			"up in six minutes, a new one as well, and probes fail as often as requests to an overloaded member do. Demand is three quarters " +
			"of the tier.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			f := tier("web", d.Number(8, 12)).uses("cache").cached(d)
			at := d.Between(5*time.Minute, 10*time.Minute)
			flush := sim.Step{At: at, About: "the cache is emptied", Do: func(c *sim.Cloud) error { c.FlushCache("cache"); return nil }}
			script := []sim.Step{flush}
			if d.Number(0, 1) == 1 {
				again := flush
				again.At += d.Between(10*time.Minute, 20*time.Minute)
				script = append(script, again)
			}
			return Course{Setup: f.create, Script: script}
		},
	}
}

// static200 is a check that does not travel the path of the requests.
func static200() Day {
	return Day{
		Name: "static-200",
		About: "Four to eight tasks whose edge server answers the probe itself. A slow third party saturates their worker pools for 17 to 21 minutes: " +
			"30 to 36 % of the requests fail while every probe is green.",
		Groups: []string{"web"}, Duration: time.Hour,
		Draw: func(d *Dice) Course {
			f := tier("web", d.Number(4, 8)).uses("third-party")
			f.target.Path = sim.PathStatic
			slow := outage{
				name: "third-party", state: sim.DependencySlow, from: d.Between(5*time.Minute, 10*time.Minute),
				lasts: d.Between(17*time.Minute, 21*time.Minute), failShare: d.Share(30, 36),
			}
			return Course{Setup: f.create, Script: slow.steps()}
		},
	}
}

// sharedCacheTenth is one cache node of several lost, under three groups, with no alarm that knows of it.
func sharedCacheTenth() Day {
	names := []string{"cart", "search", "web"}
	return Day{
		Name: "shared-cache-tenth",
		About: "Three groups of 10 to 20 share a cache of several nodes that every health check pings (interval 10 s, 3 to leave, 3 to return). One node " +
			"is away for 20 to 40 minutes: each member has its keys on it with a chance of 8 to 12 %, a new one as well; half of the requests " +
			"to those fail. No alarm knows of it.",
		Groups: names, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			var fleets []fleet
			for _, name := range names {
				f := tier(name, d.Number(10, 20)).deep("cache")
				f.alarms = nil
				fleets = append(fleets, f)
			}
			gone := outage{
				name: "cache", state: sim.DependencyDown, from: d.Between(5*time.Minute, 10*time.Minute),
				lasts: d.Between(20*time.Minute, 40*time.Minute), failShare: 0.5, reach: d.Share(8, 12),
			}
			return Course{Setup: createAll(fleets), Script: gone.steps()}
		},
	}
}

// twoInTurn is one dependency after the other, so that the second failure falls into the recovery from the first.
func twoInTurn() Day {
	return Day{
		Name: "two-in-turn",
		About: "A tier of 8 to 12 whose health check opens the database and calls the authorization service (interval 10 s, 3 to leave, 3 to return). " +
			"The database is down for 60 to 180 s; 3 to 15 minutes after its return the authorization service is slow for 60 to 180 s.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			first := outage{
				name: "database", state: sim.DependencyDown, from: d.Between(5*time.Minute, 10*time.Minute),
				lasts: d.Between(time.Minute, 3*time.Minute), failShare: d.Share(50, 100),
			}
			second := outage{
				name: "authorization", state: sim.DependencySlow, from: first.from + first.lasts + d.Between(3*time.Minute, 15*time.Minute),
				lasts: d.Between(time.Minute, 3*time.Minute), failShare: d.Share(20, 40),
			}
			f := tier("web", d.Number(8, 12)).deep("database", "authorization")
			return Course{Setup: f.create, Script: append(first.steps(), second.steps()...)}
		},
	}
}
