package sim

import "time"

// Kind is what is really the matter with a broken instance.
type Kind string

const (
	// FullDisk fails the local check and every request; the static page still answers.
	FullDisk Kind = "full-disk"
	// BadPool is a lost connection pool: it fails requests and the local check.
	BadPool Kind = "bad-pool"
	// Hang is a wedged application: requests and checks of it time out, the agent goes on and says so.
	Hang Kind = "hang"
	// Freeze is a wedged machine: everything times out, the agent included.
	Freeze Kind = "freeze"
	// Crash is a dead application and agent: connections are refused, the machine runs.
	Crash Kind = "crash"
	// Stopped is a stopped machine.
	Stopped Kind = "stopped"
	// Impaired is a Freeze that the EC2 status check notices after [Config.StatusCheckDelay].
	Impaired Kind = "impaired"
	// BrokenAgent is a dead heartbeat agent on an instance that serves.
	BrokenAgent Kind = "broken-agent"
	// FalseCheck is a health endpoint that is wrong: it says no on an instance that serves.
	FalseCheck Kind = "false-check"
	// CutOff is a machine that nothing reaches from outside, such as by a full connection table: requests and checks time out, and the agent,
	// which looks from the inside and can still write, says ok.
	CutOff Kind = "cut-off"
	// FalseAlarm is a FalseCheck that the heartbeat agent repeats.
	FalseAlarm Kind = "false-alarm"
)

// Kinds returns what can be the matter with an instance, each of which [Cloud.Break] takes.
func Kinds() []Kind {
	return []Kind{FullDisk, BadPool, Hang, Freeze, Crash, Stopped, Impaired, BrokenAgent, CutOff, FalseCheck, FalseAlarm}
}

// Truth is what is really so about an instance; no AWS call tells it.
type Truth struct {
	// Broken is empty when nothing is wrong with the instance.
	Broken Kind
	// BadVersion says that its launch template version never becomes healthy.
	BadVersion bool
	// NoAgent says that it has no heartbeat agent, or one that does not run.
	NoAgent bool
	// Starting says that its application is not up yet.
	Starting bool
	// Serves says that the instance answers requests correctly, dependencies apart.
	Serves bool
	// Sound says that nothing is wrong with the instance, though it may be starting.
	Sound bool
	// BrokenSince is zero when Broken is empty.
	BrokenSince time.Time
}

// DependencyState is the state of a shared service.
type DependencyState string

// The states of a dependency.
const (
	DependencyOK   DependencyState = "ok"
	DependencySlow DependencyState = "slow" // deep checks time out
	DependencyDown DependencyState = "down" // deep checks answer 503
)

// DependencyStates returns the states that a dependency can have.
func DependencyStates() []DependencyState {
	return []DependencyState{DependencyOK, DependencySlow, DependencyDown}
}

// Beat is one heartbeat, as the agent writes it.
type Beat struct {
	InstanceID  string
	InstanceARN string
	Group       string
	// At is the true time of the write, Stamp the writer's own clock, which may be wrong.
	At, Stamp time.Time
	// Seq grows by one with each beat of one boot.
	Seq uint64
	// Boot identifies the boot of the instance.
	Boot string
	// Status is ok, failing or draining.
	Status string
	// Failing names the failing checks, sorted; a dependency check is named dep:NAME.
	Failing []string
	Agent   string
}

// AlarmState is the state of a CloudWatch alarm.
type AlarmState string

// The alarm states, spelled as CloudWatch spells them.
const (
	AlarmOK           AlarmState = "OK"
	AlarmRed          AlarmState = "ALARM"
	AlarmInsufficient AlarmState = "INSUFFICIENT_DATA"
)

// AlarmSpec describes an alarm to put.
type AlarmSpec struct {
	Name        string
	Description string
	// Dependency is sampled once a period: it breaches while it is not ok. Empty: only SetAlarmState moves the alarm.
	Dependency string
	// AnyOf makes a composite alarm: ALARM while any of these alarms is.
	AnyOf []string
	// Period and Evaluations are the detection delay: so many breaching samples in a row. Defaults 60 s and 1.
	Period      time.Duration
	Evaluations int
	// State is the first state; default OK.
	State AlarmState
	// Since is the time of the first state; default: now.
	Since time.Time
}

// Alarm is a copy of an alarm.
type Alarm struct {
	AlarmSpec
	ARN       string
	Composite bool
	State     AlarmState
	Reason    string
	// Transitioned is when State last changed (StateTransitionedTimestamp).
	Transitioned time.Time
	// Updated is when the state was last written (StateUpdatedTimestamp).
	Updated time.Time
}

// AlarmChange is one state change of an alarm.
type AlarmChange struct {
	Alarm         Alarm
	Previous      AlarmState
	PreviousSince time.Time
	At            time.Time
}
