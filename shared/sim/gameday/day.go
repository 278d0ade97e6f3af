package gameday

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Day is one kind of failure, told as causes.
type Day struct {
	// Name is the kebab-case name by which it is found.
	Name string
	// About says in one paragraph what happens and within which bounds it is drawn.
	About string
	// Groups are the names of the guarded groups, the one to look at first.
	Groups []string
	// Duration is how long it is played.
	Duration time.Duration
	// Draw draws the day's fleet and script.
	Draw func(*Dice) Course
}

// Course is a day as drawn for one seed.
type Course struct {
	// Setup creates the fleet in an empty cloud.
	Setup func(*sim.Cloud) error
	// Script is what happens, in order of time.
	Script []sim.Step
	// Corrected is when people have corrected what no guardian can, from the start of the day; 0 when there is nothing of the kind.
	Corrected time.Duration
}

// Incident is the day as drawn for a seed, in the form in which package drive plays it; its watched group is the first.
func (d Day) Incident(seed uint64) sim.Incident {
	course := d.course(seed)
	return sim.Incident{Name: d.Name, About: d.About, Group: d.Groups[0], Setup: course.Setup, Script: course.Script, Duration: d.Duration}
}

// Incidents is the day as drawn for a seed, once for each of its groups, each of which has its own story. With several groups the name
// of an incident ends with a slash and its group's name.
func (d Day) Incidents(seed uint64) []sim.Incident {
	var all []sim.Incident
	for _, group := range d.Groups {
		in := d.Incident(seed)
		in.Group = group
		if len(d.Groups) > 1 {
			in.Name += "/" + group
		}
		all = append(all, in)
	}
	return all
}

// course is the day as drawn for a seed, its script in order of time.
func (d Day) course(seed uint64) Course {
	course := d.Draw(NewDice(d.Name, seed))
	slices.SortStableFunc(course.Script, func(a, b sim.Step) int { return cmp.Compare(a.At, b.At) })
	return course
}

// Find returns the day of a name, and false when there is none.
func Find(name string) (Day, bool) {
	for _, d := range Days() {
		if d.Name == name {
			return d, true
		}
	}
	return Day{}, false
}

// Days returns all days, sorted by name.
func Days() []Day {
	all := []Day{
		slowAuthorization(), databaseFailover(), cacheFailover(), static200(), badTemplate(), zoneLoss(), brokenAgent(), heartbeatsLost(),
		overloadFlaps(), slowStartStampede(), poisonTemplate(), spotInBrownout(), sharedCacheTenth(), rollingFalse(), refreshInOutage(),
		brokenInBrownout(), throttled(), twoInTurn(), humanResumes(),
		oneBroken(), oneCutOff(), severalBroken(),
	}
	slices.SortFunc(all, func(a, b Day) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
