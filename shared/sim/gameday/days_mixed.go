package gameday

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// hardKinds are the ways in which one instance breaks alone, such that requests to it fail and nobody but a health check sees it.
func hardKinds() []sim.Kind {
	return []sim.Kind{sim.FullDisk, sim.BadPool, sim.Hang, sim.Freeze, sim.Crash}
}

// kind draws one of them.
func (d *Dice) kind() sim.Kind {
	kinds := hardKinds()
	return kinds[d.Number(0, len(kinds)-1)]
}

// brownout is a deep health check's dependency that is slow for some minutes.
func brownout(d *Dice, low, high time.Duration) outage {
	return outage{
		name: "authorization", state: sim.DependencySlow, from: d.Between(8*time.Minute, 12*time.Minute), lasts: d.Between(low, high),
		failShare: d.Share(20, 40),
	}
}

// brokenInBrownout is a single broken instance while everybody looks broken.
func brokenInBrownout() Day {
	return Day{
		Name: "broken-in-brownout",
		About: "A tier of 8 to 12 whose health check calls the authorization service (interval 10 s, 3 to leave, 3 to return). The service is slow for 3 to " +
			"8 minutes; one member really breaks (full disk, lost pool, hang, freeze or crash) from 5 minutes before that begins to 2 " +
			"minutes after it ends.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			size := d.Number(8, 12)
			slow := brownout(d, 3*time.Minute, 8*time.Minute)
			at := d.Between(slow.from-5*time.Minute, slow.from+slow.lasts+2*time.Minute)
			script := append(slow.steps(), breaks(d.Number(0, size-1), at, d.kind()))
			return Course{Setup: tier("web", size).deep("authorization").create, Script: script}
		},
	}
}

// spotInBrownout is the ordinary coming and going of members during a brownout.
func spotInBrownout() Day {
	return Day{
		Name: "spot-in-brownout",
		About: "A tier of 10 to 14 on Spot Instances whose health check calls the authorization service (interval 10 s, 3 to leave, 3 to return). The " +
			"service is slow for 5 to 10 minutes. Meanwhile EC2 takes two instances back and the desired capacity goes down by one or two.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			size := d.Number(10, 14)
			slow := brownout(d, 5*time.Minute, 10*time.Minute)
			script := slow.steps()
			for _, nth := range d.Some(2, size) {
				script = append(script, onMember(nth, d.Between(slow.from, slow.from+slow.lasts), "is interrupted by EC2", (*sim.Cloud).Interrupt))
			}
			fewer := size - d.Number(1, 2)
			script = append(script, sim.Step{
				At: d.Between(slow.from, slow.from+slow.lasts), About: fmt.Sprintf("desired capacity goes down to %d", fewer),
				Do: func(c *sim.Cloud) error { return c.SetDesired("web", fewer) },
			})
			f := tier("web", size).deep("authorization")
			f.group.Demand = 0.6 * float64(size)
			return Course{Setup: f.create, Script: script}
		},
	}
}

// refreshInOutage is a deploy that meets a dependency failure.
func refreshInOutage() Day {
	return Day{
		Name: "refresh-in-outage",
		About: "A tier of 6 to 10 whose health check opens the database (interval 10 s, 3 to leave, 3 to return). An instance refresh at 90 % healthy " +
			"begins 5 to 8 minutes in; 2 to 15 minutes later the database is down for 3 to 8 minutes.",
		Groups: []string{"web"}, Duration: 2 * time.Hour,
		Draw: func(d *Dice) Course {
			begin := d.Between(5*time.Minute, 8*time.Minute)
			gone := outage{
				name: "database", state: sim.DependencyDown, from: begin + d.Between(2*time.Minute, 15*time.Minute),
				lasts: d.Between(3*time.Minute, 8*time.Minute), failShare: d.Share(50, 100),
			}
			script := append(gone.steps(), sim.Step{At: begin, About: "an instance refresh begins", Do: func(c *sim.Cloud) error {
				if err := c.SetLaunchTemplate("web", 2, false); err != nil {
					return err
				}
				return c.StartRefresh("web", 90)
			}})
			return Course{Setup: tier("web", d.Number(6, 10)).deep("database").create, Script: script}
		},
	}
}

// humanResumes is a person who undoes a hold in the middle of the failure.
func humanResumes() Day {
	return Day{
		Name: "human-resumes",
		About: "A tier of 8 to 12 whose health check calls the authorization service (interval 10 s, 3 to leave, 3 to return). The service is slow for 8 " +
			"to 15 minutes; 3 to 6 minutes into it a person resumes every suspended process by hand.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			slow := brownout(d, 8*time.Minute, 15*time.Minute)
			script := append(slow.steps(), sim.Step{
				At: slow.from + d.Between(3*time.Minute, 6*time.Minute), About: "a person resumes all processes",
				Do: func(c *sim.Cloud) error { return c.ResumeProcesses("web", nil) },
			})
			return Course{Setup: tier("web", d.Number(8, 12)).deep("authorization").create, Script: script}
		},
	}
}

// overloadFlaps is more traffic than the tier can carry: members leave rotation, cool down, and come back.
func overloadFlaps() Day {
	return Day{
		Name: "overload-flaps",
		About: "A tier of 8 to 12 with a local health check on the path of the requests (interval 10 s, 3 to leave, 3 to return). For 15 to 30 minutes " +
			"demand is 110 to 150 % of what the whole tier can carry; probes fail as often as requests to an overloaded member do. Scaling " +
			"out is no part of the day.",
		Groups: []string{"web"}, Duration: 90 * time.Minute,
		Draw: func(d *Dice) Course {
			size := d.Number(8, 12)
			f := tier("web", size)
			f.group.Overload = true
			normal, from := f.group.Demand, d.Between(5*time.Minute, 10*time.Minute)
			high := d.Share(110, 150) * float64(size)
			return Course{Setup: f.create, Script: []sim.Step{
				{At: from, About: fmt.Sprintf("demand rises to %.1f members", high), Do: func(c *sim.Cloud) error { return c.SetDemand("web", high) }},
				{At: from + d.Between(15*time.Minute, 30*time.Minute), About: "demand is normal again", Do: func(c *sim.Cloud) error {
					return c.SetDemand("web", normal)
				}},
			}}
		},
	}
}

// rollingFalse is a check that is wrong about a few at a time, again and again.
func rollingFalse() Day {
	return Day{
		Name: "rolling-false-positives",
		About: "A tier of 20 with a local health check (interval 10 s, 3 to leave, 3 to return). Six times, every 20 minutes, the check of another " +
			"two members says no for 18 minutes while they serve; in half of the seeds their heartbeats repeat it.",
		Groups: []string{"web"}, Duration: 150 * time.Minute,
		Draw: func(d *Dice) Course {
			const size, waves, atOnce, every, lasts = 20, 6, 2, 20 * time.Minute, 18 * time.Minute
			kind := sim.FalseCheck
			if d.Number(0, 1) == 1 {
				kind = sim.FalseAlarm
			}
			at := d.Between(5*time.Minute, 10*time.Minute)
			var script []sim.Step
			who := d.Some(waves*atOnce, size)
			for pair := range slices.Chunk(who, atOnce) {
				for _, nth := range pair {
					script = append(script, mistake{nth, at, at + lasts, kind}.steps()...)
				}
				at += every
			}
			return Course{Setup: tier("web", size).create, Script: script}
		},
	}
}
