package sim

import "time"

// EventKind is the kind of a timeline event.
type EventKind string

// The kinds of timeline events.
const (
	EventLaunch     EventKind = "launch"     // Auto Scaling launched a member
	EventInService  EventKind = "in-service" // a member became InService
	EventServing    EventKind = "serving"    // its application is up
	EventTerminate  EventKind = "terminate"  // Auto Scaling began to terminate a member
	EventGone       EventKind = "gone"       // a member left the group
	EventMark       EventKind = "mark"       // a member became Unhealthy
	EventRestore    EventKind = "restore"    // a member became Healthy again
	EventRefused    EventKind = "refused"    // a SetInstanceHealth was refused
	EventSuspend    EventKind = "suspend"    // processes were suspended
	EventResume     EventKind = "resume"     // processes were resumed
	EventTarget     EventKind = "target"     // a target changed its state
	EventBreak      EventKind = "break"      // something broke
	EventRepair     EventKind = "repair"     // something was repaired
	EventDependency EventKind = "dependency" // a dependency changed its state
	EventAlarm      EventKind = "alarm"      // an alarm changed its state
	EventNote       EventKind = "note"       // a script or a driver had something to say
)

// Event is one line of the timeline.
type Event struct {
	At       time.Time
	Group    string
	Instance string // empty when it is not about one instance
	Kind     EventKind
	Text     string
}

// Sample is the state of one group at one instant, enough to draw members over time.
type Sample struct {
	At      time.Time
	Group   string
	Desired int // weight units
	Serving int // weight of InService members that really serve
	// FailShare is the share of requests that fail, 0 to 1.
	FailShare float64
	FailOpen  bool
	Members   []MemberSample // in the order of [Group.Members]
}

// MemberSample is the state of one member at one instant.
type MemberSample struct {
	ID        string
	Zone      string
	Lifecycle Lifecycle
	Health    Health
	Target    TargetState // worst over its registrations; empty without any
	Reason    string
	Truth     Truth
}

// Stats sums up what happened to one group since the start.
type Stats struct {
	// HealthyTerminated counts members terminated for a health reason although nothing was wrong with them.
	HealthyTerminated int
	// BrokenTerminated counts members terminated for a health reason that were broken.
	BrokenTerminated int
	// OtherTerminated counts terminations for other reasons, such as scale-in.
	OtherTerminated int
	Launches        int
	FailedLaunches  int
	// CapacityMinutesLost is desired minus really serving weight, never below 0, summed over minutes.
	CapacityMinutesLost float64
	// ErrorMinutes is the share of failing requests, summed over minutes.
	ErrorMinutes float64
	// WorstServing is the smallest weight that really served.
	WorstServing int
}
