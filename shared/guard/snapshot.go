package guard

import "time"

// Input is all that can influence one decision about one group. A field that is not here cannot matter.
type Input struct {
	// Now is the guard's clock, read once per look at the edge.
	Now time.Time
	// SweepInterval is the time between two scheduled sweeps; above 0.
	SweepInterval time.Duration
	// Group is what AWS and the heartbeat table said.
	Group Group
	// Reads says which reads failed; the zero value says that all were complete.
	Reads Reads
	// Policy is the effective policy, already validated by Resolve.
	Policy Policy
	// Problems are the refused settings, to be paged.
	Problems []Problem
	// State is what earlier sweeps of this group left; the zero value says that there was none.
	State State
	// Region is what all groups of the Region share.
	Region RegionState
	// Request is what an operator asked for with the command line.
	Request Request
}

// Reads holds, for each source, why it could not be read completely; "" says that it was. A read that failed, was throttled or
// came back partial is a failed read.
type Reads struct {
	// Group is the group itself: without it there are no members. OptOuts are the tags of the instances.
	Group, Targets, Heartbeats, Activities, OptOuts, State, Region, Queue string
}

// Group is one Auto Scaling group as read.
type Group struct {
	ARN, Name string
	// OptedIn says that the group carries the tag holdfast:guard = true.
	OptedIn bool
	// Operator is the AWS service that manages the group; such groups are not touched.
	Operator string
	// Desired, Min and Max are capacities, in weight units if Weighted.
	Desired, Min, Max int
	Weighted          bool
	// HealthCheckTypes are the members of the group's comma-separated list, such as EC2 and ELB.
	HealthCheckTypes []string
	// Grace is the group's own health check grace period.
	Grace time.Duration
	// Suspended are the suspended processes with AWS's reason text.
	Suspended []Suspension
	// Refresh is the status of the newest instance refresh, or "".
	Refresh string
	// Activities are the scaling activities of at least the last 24 hours.
	Activities []Activity
	Members    []Member
	// TargetGroups are those attached to the group.
	TargetGroups []TargetGroup
	// ForeignTargets are registered there but belong to no member; they are noted and never counted.
	ForeignTargets []ForeignTarget
	// Dependencies are the alarms of the policy's dependencies, as read, in the policy's order.
	Dependencies []DependencyReading
	// Queue is the reading of a worker group's queue, nil when there is none.
	Queue *QueueReading
}

// Suspension is one suspended process and AWS's text about it.
type Suspension struct {
	Process string `json:"process"`
	Reason  string `json:"reason"`
}

// Activity is one scaling activity.
type Activity struct {
	ID     string
	At     time.Time
	Kind   string // launch or terminate
	Status string // Successful, Failed, InProgress or another of AWS's words
	Cause  string
	Member string // instance id, "" when AWS did not say
}

// TargetGroup is a target group attached to the group.
type TargetGroup struct {
	// Name is what targets refer to and what pages print.
	Name string
	// InUse is false when no listener routes to it.
	InUse bool
}

// ForeignTarget is a registered target that is no member of the group.
type ForeignTarget struct {
	Group, Target, State, Reason string
}

// Member is one instance of the group.
type Member struct {
	ID string
	// Lifecycle is AWS's lifecycle state, such as InService or Pending:Wait.
	Lifecycle string
	// Unhealthy is the group's own health mark (HealthStatus).
	Unhealthy bool
	// Protected is scale-in protection; OptedOut is the tag holdfast:guard = false on the instance.
	Protected, OptedOut                bool
	Zone, LaunchTemplate, InstanceType string
	// Weight is the capacity it counts for; 0 counts as 1.
	Weight int
	// Since is when it entered its present lifecycle state, when that is known apart from the guard's own looks; usually zero.
	Since   time.Time
	Targets []Target
	Beat    Beat
}

// Target is one registration of a member: one target group and port.
type Target struct {
	Group  string
	Port   int
	State  string // AWS's words: healthy, unhealthy, initial, draining, unused, unavailable, unhealthy.draining
	Reason string // AWS's reason code, such as Target.Timeout
	// Anomalous is the load balancer's anomaly detection; Shifted says that a zonal shift is in force for it.
	Anomalous, Shifted bool
}

// Beat is a member's row of the heartbeat table.
type Beat struct {
	// Found is false when there is no row; Unreadable when the row could not be read, which is not the same.
	Found, Unreadable bool
	// Detail says why a row that was read makes no sense.
	Detail string
	// At is the writer's stamp, on the writer's clock.
	At time.Time
	// Seq grows with every beat of one boot; Boot names the boot.
	Seq  int64
	Boot string
	// Status is ok, failing or draining.
	Status string
	// Failing are the names of the failing checks; those that begin with "dep:" are declared dependency checks.
	Failing []string
	Agent   string
}

// Alarm states, as CloudWatch writes them, and two of our own for an alarm that does not exist or could not be read.
const (
	AlarmOK      = "OK"
	AlarmRed     = "ALARM"
	AlarmNoData  = "INSUFFICIENT_DATA"
	AlarmMissing = "MISSING"
	AlarmUnread  = "UNREAD"
)

// AlarmReading is one alarm as read.
type AlarmReading struct {
	State string
	// Since is when it entered that state.
	Since time.Time
	// Detail says more about a state that is not to be trusted, such as a failed evaluation.
	Detail string
}

// DependencyReading is a dependency of the policy with its alarm as read.
type DependencyReading struct {
	Dependency
	AlarmReading
}

// QueueReading is the state of a worker group's queue.
type QueueReading struct {
	Depth int64
	// Trend is rising, flat or falling.
	Trend string
}

// Request is what an operator asked for, kept in the ledger until a sweep has obeyed it.
type Request struct {
	// ID names the request; a sweep that has obeyed it does not obey it again.
	ID string `json:"id,omitempty"`
	// Kind is hold or release.
	Kind   string    `json:"kind,omitempty"`
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Force asks a release to take the paced exit now: the members that are bad in the look that obeys it keep nothing held, and are repaired
	// one by one within every limit.
	Force bool `json:"force,omitempty"`
}

// Kinds of request.
const (
	RequestHold    = "hold"
	RequestRelease = "release"
)
