package sim

import "time"

// guardTag is the tag with which a group opts in to be guarded.
func guardTag() map[string]string { return map[string]string{"holdfast:guard": "true"} }

// singleBroken is one bad machine among six: the case in which replacing it is right.
func singleBroken() Incident {
	return Incident{
		Name: "single-broken",
		About: "Six instances behind an ALB with a local health check (interval 10 s, timeout 5 s, 3 to leave, 3 to return). After " +
			"five minutes the disk of one is full: its requests and its local check fail. The group has EC2 health checks, as groups " +
			"have that fear the other kind: Auto Scaling itself never replaces it. Chosen here: grace 300 s, 60 s to launch, 60 s to " +
			"warm up, demand of four members, deregistration delay 30 s.",
		Group: "api",
		Setup: func(c *Cloud) error {
			if _, err := c.CreateTargetGroup(TargetGroupSpec{
				Name: "api", Path: PathLocal, Interval: 10 * time.Second, Timeout: 5 * time.Second,
				HealthyCount: 3, UnhealthyCount: 3, DeregistrationDelay: 30 * time.Second,
			}); err != nil {
				return err
			}
			return c.CreateGroup(GroupSpec{
				Name: "api", Tags: guardTag(), Desired: 6, Min: 3, Max: 12, HealthCheckTypes: []string{"EC2"},
				Grace: 300 * time.Second, TargetGroups: []string{"api"}, LaunchTime: time.Minute, WarmUp: time.Minute,
				SteadyFor: 24 * time.Hour, Demand: 4,
			})
		},
		Script: []Step{{
			At: 5 * time.Minute, About: "the disk of one instance is full",
			Do: func(c *Cloud) error {
				id, err := member(c, "api", 2)
				if err != nil {
					return err
				}
				return c.Break(id, FullDisk)
			},
		}},
		Duration: 40 * time.Minute,
	}
}

// brownout is a shared cause: a dependency that is slow for 90 s, in every health check of the tier.
func brownout() Incident {
	const slowFrom, slowFor = 5 * time.Minute, 90 * time.Second
	return Incident{
		Name: "brownout",
		About: "A web tier of eight over two zones behind an ALB at its default thresholds (interval 30 s, timeout 5 s, 5 to return, 2 to " +
			"leave), in a group with ELB health checks. /health opens the database, touches the cache and calls the authorization " +
			"service, which is slow for 90 s. Chosen here: boot of four minutes (two to launch, two to warm up), grace 300 s, no default " +
			"instance warm-up, deregistration delay 300 s, demand of six members, three requests in ten need the slow service, its " +
			"alarm samples every 10 s and needs three.",
		Group: "web",
		Setup: func(c *Cloud) error {
			if _, err := c.CreateTargetGroup(TargetGroupSpec{
				Name: "web", Path: PathDeep, Dependencies: []string{"database", "cache", "authorization"},
				Interval: 30 * time.Second, Timeout: 5 * time.Second, HealthyCount: 5, UnhealthyCount: 2,
				DeregistrationDelay: 300 * time.Second,
			}); err != nil {
				return err
			}
			if err := c.PutAlarm(AlarmSpec{
				Name: "authorization-slow", Description: "the authorization service answers late", Dependency: "authorization",
				Period: 10 * time.Second, Evaluations: 3, Since: c.Now().Add(-24 * time.Hour),
			}); err != nil {
				return err
			}
			return c.CreateGroup(GroupSpec{
				Name: "web", Tags: guardTag(), Desired: 8, Min: 4, Max: 16, HealthCheckTypes: []string{"EC2", "ELB"},
				Grace: 300 * time.Second, TargetGroups: []string{"web"}, LaunchTime: 2 * time.Minute, WarmUp: 2 * time.Minute,
				SteadyFor: 24 * time.Hour, Uses: []string{"database", "cache", "authorization"}, Demand: 6,
			})
		},
		Script: []Step{
			{
				At: slowFrom, About: "the authorization service becomes slow",
				Do: func(c *Cloud) error { return c.SetDependency("authorization", DependencySlow, 0.3) },
			},
			{
				At: slowFrom + slowFor, About: "the authorization service is well again",
				Do: func(c *Cloud) error { return c.SetDependency("authorization", DependencyOK, 0) },
			},
		},
		Duration: 60 * time.Minute,
	}
}
