package gameday

import (
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// oneBroken is the day on which replacing is right, and the one against which caution is weighed.
func oneBroken() Day {
	return Day{
		Name: "one-broken",
		About: "A tier of 6 to 12 with a local health check (interval 10 s, 3 to leave, 3 to return). One member breaks 5 to 15 minutes in: full disk, " +
			"lost connection pool, hang, freeze or crash. Nothing else happens.",
		Groups: []string{"web"}, Duration: time.Hour,
		Draw: func(d *Dice) Course {
			size := d.Number(6, 12)
			return Course{Setup: tier("web", size).create, Script: []sim.Step{
				breaks(d.Number(0, size-1), d.Between(5*time.Minute, 15*time.Minute), d.kind()),
			}}
		},
	}
}

// oneCutOff is the failure that one witness alone can see.
func oneCutOff() Day {
	return Day{
		Name: "one-cut-off",
		About: "A tier of 6 to 12 with a local health check (interval 10 s, 3 to leave, 3 to return). 5 to 15 minutes in nothing reaches one member any more " +
			"from outside, while its heartbeats say ok. Nothing else happens.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			size := d.Number(6, 12)
			return Course{Setup: tier("web", size).create, Script: []sim.Step{
				breaks(d.Number(0, size-1), d.Between(5*time.Minute, 15*time.Minute), sim.CutOff),
			}}
		},
	}
}

// severalBroken is the day against which every hold and every budget is weighed: failures that have nothing to do with each other.
func severalBroken() Day {
	return Day{
		Name: "several-broken",
		About: "A tier of 12 to 20 with a local health check (interval 10 s, 3 to leave, 3 to return). Four members break one after the other, 2 to 25 " +
			"minutes apart, each of its own: full disk, lost connection pool, hang, freeze or crash. Nothing else happens.",
		Groups: []string{"web"}, Duration: 3 * time.Hour,
		Draw: func(d *Dice) Course {
			size, at := d.Number(12, 20), d.Between(5*time.Minute, 10*time.Minute)
			course := Course{Setup: tier("web", size).create}
			for _, nth := range d.Some(4, size) {
				course.Script = append(course.Script, breaks(nth, at, d.kind()))
				at += d.Between(2*time.Minute, 25*time.Minute)
			}
			return course
		},
	}
}

// badTemplate is a launch template that never gives a healthy member, found out by a scale-out and a broken instance.
func badTemplate() Day {
	return Day{
		Name: "bad-launch-template",
		About: "A tier of 6 to 10 with a local health check (interval 10 s, 3 to leave, 3 to return). A new version of the launch template never becomes " +
			"healthy; 1 to 5 minutes later the tier scales out by two, and 5 to 15 minutes later one member breaks. The template is corrected 30 " +
			"to 50 minutes after it went bad.",
		Groups: []string{"web"}, Duration: 2 * time.Hour,
		Draw: func(d *Dice) Course {
			size, bad := d.Number(6, 10), d.Between(5*time.Minute, 10*time.Minute)
			good := bad + d.Between(30*time.Minute, 50*time.Minute)
			return Course{Setup: tier("web", size).create, Corrected: good, Script: []sim.Step{
				template(2, bad, true),
				{At: bad + d.Between(time.Minute, 5*time.Minute), About: "the tier scales out by two", Do: func(c *sim.Cloud) error {
					return c.SetDesired("web", size+2)
				}},
				breaks(d.Number(0, size-1), bad+d.Between(5*time.Minute, 15*time.Minute), d.kind()),
				template(3, good, false),
			}}
		},
	}
}

// poisonTemplate is the same template met by one failing member after the other: each replacement is one member less.
func poisonTemplate() Day {
	return Day{
		Name: "poison-launch-template",
		About: "A tier of 8 to 12 with a local health check (interval 10 s, 3 to leave, 3 to return). A new version of the launch template never becomes " +
			"healthy. Afterwards four members break one by one, 12 to 18 minutes apart. The template is corrected 70 to 80 minutes after it " +
			"went bad.",
		Groups: []string{"web"}, Duration: 150 * time.Minute,
		Draw: func(d *Dice) Course {
			size, bad := d.Number(8, 12), d.Between(3*time.Minute, 6*time.Minute)
			good := bad + d.Between(70*time.Minute, 80*time.Minute)
			script := []sim.Step{template(2, bad, true), template(3, good, false)}
			at := bad
			for _, nth := range d.Some(4, size) {
				at += d.Between(12*time.Minute, 18*time.Minute)
				script = append(script, breaks(nth, at, d.kind()))
			}
			return Course{Setup: tier("web", size).create, Script: script, Corrected: good}
		},
	}
}

func template(version int, at time.Duration, bad bool) sim.Step {
	about := fmt.Sprintf("launch template version %d, which works", version)
	if bad {
		about = fmt.Sprintf("launch template version %d, which never becomes healthy", version)
	}
	return sim.Step{At: at, About: about, Do: func(c *sim.Cloud) error { return c.SetLaunchTemplate("web", version, bad) }}
}

// zoneLoss is one of three zones away.
func zoneLoss() Day {
	return Day{
		Name: "zone-loss",
		About: "A tier of 9 or 12 over three zones with a local health check (interval 10 s, 3 to leave, 3 to return), demand half of its members. One zone " +
			"is away for 15 to 40 minutes; new members go to the others.",
		Groups: []string{"web"}, Duration: 2 * time.Hour,
		Draw: func(d *Dice) Course {
			size := 3 * d.Number(3, 4)
			f := tier("web", size)
			f.group.Zones = []string{"us-east-1a", "us-east-1b", "us-east-1c"}
			f.group.Demand = float64(size) / 2
			zone, from := f.group.Zones[d.Number(0, 2)], d.Between(5*time.Minute, 10*time.Minute)
			return Course{Setup: f.create, Script: []sim.Step{
				{At: from, About: "zone " + zone + " is away", Do: func(c *sim.Cloud) error { c.SetZoneDown(zone, true); return nil }},
				{At: from + d.Between(15*time.Minute, 40*time.Minute), About: "zone " + zone + " is back", Do: func(c *sim.Cloud) error {
					c.SetZoneDown(zone, false)
					return nil
				}},
			}}
		},
	}
}

// brokenAgent is a release of the heartbeat agent that dies everywhere.
func brokenAgent() Day {
	return Day{
		Name: "broken-agent-release",
		About: "A tier of 6 to 12 with a local health check (interval 10 s, 3 to leave, 3 to return). A release stops every heartbeat agent for 20 to 40 " +
			"minutes; all members go on serving. In half of the seeds the load balancer's check is served by the agent, and fails with it.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			f := tier("web", d.Number(6, 12))
			if d.Number(0, 1) == 1 {
				f.target.Path = sim.PathOwn
			}
			from := d.Between(5*time.Minute, 10*time.Minute)
			return Course{Setup: f.create, Script: []sim.Step{
				{At: from, About: "agent release 2, which does not run", Do: func(c *sim.Cloud) error { return c.SetAgentVersion("web", "2", true, true) }},
				{At: from + d.Between(20*time.Minute, 40*time.Minute), About: "agent release 3, which runs", Do: func(c *sim.Cloud) error {
					return c.SetAgentVersion("web", "3", false, true)
				}},
			}}
		},
	}
}

// heartbeatsLost is a table that takes no heartbeats.
func heartbeatsLost() Day {
	return Day{
		Name: "heartbeat-outage",
		About: "Two tiers of 6 to 12 with local health checks (interval 10 s, 3 to leave, 3 to return). The heartbeat table takes no writes for 15 to 40 " +
			"minutes; all members go on serving.",
		Groups: []string{"api", "web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			from := d.Between(5*time.Minute, 10*time.Minute)
			return Course{Setup: createAll([]fleet{tier("api", d.Number(6, 12)), tier("web", d.Number(6, 12))}), Script: []sim.Step{
				{At: from, About: "the heartbeat table takes no writes", Do: func(c *sim.Cloud) error { c.SetBeatsLost(true); return nil }},
				{At: from + d.Between(15*time.Minute, 40*time.Minute), About: "the heartbeat table takes writes again", Do: func(c *sim.Cloud) error {
					c.SetBeatsLost(false)
					return nil
				}},
			}}
		},
	}
}

// throttled is a guardian whose own tables refuse calls while it is needed.
func throttled() Day {
	return Day{
		Name: "table-throttled",
		About: "A tier of 6 to 12 with a local health check (interval 10 s, 3 to leave, 3 to return). One member breaks 5 to 10 minutes in. From up to 3 " +
			"minutes before to 10 to 25 minutes after that, the guardian's tables refuse 50 to 95 % of its reads and writes, retries included.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			size, at, share := d.Number(6, 12), d.Between(5*time.Minute, 10*time.Minute), d.Share(50, 95)
			return Course{Setup: tier("web", size).create, Script: []sim.Step{
				{At: at - d.Between(0, 3*time.Minute), About: fmt.Sprintf("the tables refuse %.0f %% of all calls", 100*share), Do: func(c *sim.Cloud) error {
					return c.SetTableThrottle(share)
				}},
				breaks(d.Number(0, size-1), at, d.kind()),
				{At: at + d.Between(10*time.Minute, 25*time.Minute), About: "the tables refuse nothing", Do: func(c *sim.Cloud) error {
					return c.SetTableThrottle(0)
				}},
			}}
		},
	}
}
