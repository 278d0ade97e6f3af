package gameday

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Guardian is whoever watches the groups of a game day: Holdfast, the published rule of another system, the oracle, or nobody.
type Guardian interface {
	// Name is the kebab-case name in tables.
	Name() string
	// Start puts it on watch once, before the first event of the day. It may change settings of the groups, such as their health check
	// types, before time begins, and plans its own looks with [sim.Cloud.At].
	Start(w *World) error
	// Pages are those that people got, in order of time.
	Pages() []Page
}

// World is what a guardian is given: the simulated Region and the day's groups. Only the oracle may ask Truth or the script.
type World struct {
	Cloud *sim.Cloud
	Day   Day
	Start time.Time
	// Corrected is when people have corrected what no guardian can, such as a launch template; zero when the day has nothing of the kind.
	// A guardian that waits for people by its own rules may let them act from then on, and for nothing else.
	Corrected time.Time
}

// Page is one message to a person.
type Page struct {
	At     time.Time
	Group  string
	Key    string
	Urgent bool
	// Reminder says that it repeats an earlier one of the same condition.
	Reminder bool
}
