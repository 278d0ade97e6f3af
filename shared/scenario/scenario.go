package scenario

import (
	"encoding/json"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Start is the instant that a scenario calls 0s.
func Start() time.Time { return time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC) }

// Scenario is one parsed file. Times in it are relative to Start.
type Scenario struct {
	// File is the name that problems print; Name is unique and kebab-case.
	File, Name, About, Source string
	// Interval is the time between two sweeps, above 0.
	Interval time.Duration
	// Groups stand in the order of the file.
	Groups []Group
	Steps  []Step
	// Never lists the calls that no sweep may make: mark, suspend, resume, restore, page.
	Never []string
}

// Group is the head of one group: what stands before the first step.
type Group struct {
	Name         string
	TargetGroups []guard.TargetGroup
	History      History
	Start        Statement
}

// Statement changes the stated world; an absent part changes nothing.
type Statement struct {
	Fleet        []Row
	Settings     []Settings
	Dependencies []Dependency
	Policy       []Setting
	Queue        []Queue
}

// Row states tokens for some members, or that they are gone.
type Row struct {
	Members []string
	Gone    bool
	Tokens  Tokens
}

// Tokens are the words of a row; an absent one is the zero value or nil.
type Tokens struct {
	Lifecycle string
	// Mark is the group's own mark: Healthy or Unhealthy.
	Mark    string
	Targets []TargetToken
	Beat    *BeatToken
	// Entered and Pending are ages at the time of the statement.
	Entered, Pending                       *time.Duration
	Zone, LaunchTemplate, Type, Agent      string
	Weight                                 int
	Protected, OptedOut, Shifted, Abnormal *bool
}

// TargetToken states a target's state: of every registration, of one target group, or of one port.
type TargetToken struct {
	// Group is "" for every target group; Port is 0 for every port.
	Group         string
	Port          int
	State, Reason string
}

// BeatToken states a heartbeat.
type BeatToken struct {
	// None says that there is no row; Silent that the last beat was Age before the statement and none follows.
	None, Silent bool
	Age          time.Duration
	Status       string
	Failing      []string
}

// Settings are what the key group states of an Auto Scaling group; nil says nothing.
type Settings struct {
	Desired, Min, Max *int
	Weights           *bool
	HealthCheck       []string
	Grace             *time.Duration
	Suspended         *[]guard.Suspension
	Operator, Refresh *string
	Activities        *[]Activity
	Foreign           *[]guard.ForeignTarget
	OptedIn           *bool
}

// Activity is a stated scaling activity; At is relative to the statement, 0 or below.
type Activity struct {
	At                          time.Duration
	Kind, Status, Cause, Member string
}

// Dependency states an alarm. Kind and Missing are stated by the head only.
type Dependency struct {
	Alarm, Kind, Missing string
	// State is one of guard's alarm states; Since is relative to the statement, nil when it is not stated.
	State string
	Since *time.Duration
}

// Setting is one key of the policy document with its value as written, right or wrong.
type Setting struct {
	Key string
	Raw json.RawMessage
}

// Queue states a worker's queue.
type Queue struct {
	Depth *int
	Trend string
}

// History is what earlier sweeps left in the ledger.
type History struct {
	// Clean is false when the file says that there were no earlier sweeps.
	Clean bool
	// LastSweep is relative to Start and below 0.
	LastSweep time.Duration
	Marks     []PastMark
	Held      *PastHold
	// QuietSince is nil when the quiet time has not begun.
	QuietSince *time.Duration
}

// PastMark is a mark that the guard made, with outcome done.
type PastMark struct {
	Member string
	At     time.Duration
}

// PastHold is a hold of the guard's that is still in force.
type PastHold struct {
	Since     time.Duration
	Processes []string
	Cause     string
}

// Step is some sweeps over one stated world.
type Step struct {
	Line int
	// Times are the moments of its sweeps; at least one.
	Times []time.Duration
	// Changes has one entry for each group, in the order of Scenario.Groups.
	Changes []Change
}

// Change is what a step says for one group.
type Change struct {
	Statement
	// Reread is what the second look sees instead; nil sees the same.
	Reread *Statement
	// Reads has by source failed or partial; Calls has by kind of call AWS's answer.
	Reads, Calls map[string]string
	// Trigger is sweep, alarm or manual.
	Trigger string
	// Expect is nil when only Never is checked.
	Expect *Expect
}

// Expect is what one group's sweeps of one step must do.
type Expect struct {
	Line            int
	Mark, Restore   []string
	Suspend, Resume Processes
	Defer           []ExpectDefer
	Page, NoPage    []string
	// Mode is "" when nothing is expected of it.
	Mode string
}

// Processes is an expectation about suspend or resume calls: none, some, or exactly a list.
type Processes struct {
	Some bool
	List []string
}

// ExpectDefer is a member that must be deferred; Reason is one of guard's or any.
type ExpectDefer struct{ Member, Reason string }
