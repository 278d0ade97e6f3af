package sim

import "time"

// Lifecycle is the lifecycle state of a member, spelled as Auto Scaling spells it.
type Lifecycle string

// The lifecycle states that the simulator uses.
const (
	Pending     Lifecycle = "Pending"
	InService   Lifecycle = "InService"
	Terminating Lifecycle = "Terminating"
	Standby     Lifecycle = "Standby"
)

// Health is the health status that Auto Scaling holds about a member.
type Health string

// The two health statuses, spelled as DescribeAutoScalingGroups spells them.
const (
	Healthy   Health = "Healthy"
	Unhealthy Health = "Unhealthy"
)

// GroupSpec describes an Auto Scaling group to create. A zero field takes the default that its comment states.
type GroupSpec struct {
	// Name is the name of the group, unique in the Region.
	Name string
	// Tags are the tags of the group.
	Tags map[string]string
	// Desired, Min and Max are in weight units; Max defaults to twice Desired.
	Desired, Min, Max int
	// Zones are full names, such as us-east-1a; default: zones a and b of the Region.
	Zones []string
	// HealthCheckTypes are EC2 and ELB; EC2 is always on. Default EC2 only.
	HealthCheckTypes []string
	// Grace is the health check grace period, counted from InService; default 0, as the API has it.
	Grace time.Duration
	// InstanceWarmup is the default instance warm-up: the slow path waits for it. Default 0 (not set).
	InstanceWarmup time.Duration
	// LaunchTemplateVersion of new members; default 1.
	LaunchTemplateVersion int
	// InstanceType of new members; default m7g.large.
	InstanceType string
	// Weight of each member; default 1.
	Weight int
	// TargetGroups are the names of the attached target groups, which must exist. Requests come over the first.
	TargetGroups []string
	// LaunchTime is how long a launch stays Pending; default 60 s.
	LaunchTime time.Duration
	// WarmUp is how long the application takes from InService until it serves; default 60 s.
	WarmUp time.Duration
	// SteadyFor starts the group with Desired members that have served for so long. Default 0: it launches them.
	SteadyFor time.Duration
	// Uses names the dependencies that requests to this group need.
	Uses []string
	// AgentReports names the dependencies that the heartbeat agent reports as dependency checks ("dep:name").
	AgentReports []string
	// NoAgent starts members without a heartbeat agent.
	NoAgent bool
	// AgentVersion is the version in the heartbeats; default 1.
	AgentVersion string
	// Demand is the traffic, in members needed to serve it. Default 0: any one member can serve everything.
	Demand float64
	// Overload lets health checks on the path of requests fail as often as the requests to a member that gets more than it can carry. The
	// heartbeat agent waits longer and does not. Default false.
	Overload bool
	// Warming is how long a member takes from cold to warm after its application is up, and after its cache was away; it carries
	// ColdCapacity of a warm member's load at first and more in ten equal steps. Default 0: it is warm at once.
	Warming time.Duration
	// ColdCapacity is the share of its load that a cold member carries, above 0 and up to 1; default 0.5.
	ColdCapacity float64
	// Cache names the dependency without which members are cold. Default none.
	Cache string
	// Operator is the service principal of an AWS-managed group; default none.
	Operator string
}

// Group is a copy of the state of an Auto Scaling group, as AWS would describe it.
type Group struct {
	Name, ARN             string
	Tags                  map[string]string
	Desired, Min, Max     int
	Zones                 []string
	HealthCheckTypes      []string
	Grace                 time.Duration
	InstanceWarmup        time.Duration
	LaunchTemplateID      string
	LaunchTemplateName    string
	LaunchTemplateVersion int
	InstanceType          string
	TargetGroupARNs       []string
	Created               time.Time
	Operator              string
	Suspended             []Suspension // sorted by process name
	Members               []Member     // sorted by launch time, then ID
	Refreshes             []Refresh    // newest first
}

// Suspension is one suspended process and the text that AWS keeps about it.
type Suspension struct {
	Process string
	// Reason reads "User suspended at 2026-11-30T12:00:00Z": UTC, whole seconds.
	Reason string
}

// Refresh is the status of one instance refresh.
type Refresh struct {
	ID      string
	Status  string
	Started time.Time
	Ended   time.Time // zero while it runs
}

// Member is a copy of what Auto Scaling and EC2 tell about an instance of a group.
type Member struct {
	ID, ARN               string
	Group                 string
	Zone                  string
	PrivateIP             string
	LaunchTemplateVersion int
	InstanceType          string
	Weight                int
	Lifecycle             Lifecycle
	Health                Health
	Protected             bool
	Tags                  map[string]string
	Launched              time.Time
	// EnteredInService is zero while the member has never been InService.
	EnteredInService time.Time
	// EC2State is running, stopped, terminated, pending or shutting-down.
	EC2State string
}

// ActivityKind tells a launch from a termination.
type ActivityKind string

// The kinds of scaling activities.
const (
	ActivityLaunch    ActivityKind = "launch"
	ActivityTerminate ActivityKind = "terminate"
)

// Activity is one scaling activity, as DescribeScalingActivities tells it.
type Activity struct {
	ID            string
	Group         string
	GroupARN      string
	InstanceID    string // empty for a failed launch
	Kind          ActivityKind
	Status        string // InProgress, Successful or Failed
	Cause         string
	Description   string
	StatusMessage string
	Start         time.Time
	End           time.Time // zero while it runs
	Progress      int       // percent
}
