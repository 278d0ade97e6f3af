package sim

import "time"

// PathKind says what a health check path of a target group really tests.
type PathKind string

const (
	// PathStatic is answered by the edge server itself: it passes while that server runs.
	PathStatic PathKind = "static"
	// PathLocal tests this host and its application alone.
	PathLocal PathKind = "local"
	// PathDeep tests the host and calls the dependencies of [TargetGroupSpec.Dependencies].
	PathDeep PathKind = "deep"
	// PathOwn is the health page of the heartbeat agent: local truth, and gone when the agent is gone.
	PathOwn PathKind = "own"
)

// TargetGroupSpec describes a target group of an Application Load Balancer to create.
type TargetGroupSpec struct {
	// Name is unique in the Region.
	Name string
	// Ports on which each member is registered; default 80.
	Ports []int
	// Path is the kind of the health check; default PathLocal.
	Path PathKind
	// HTTPPath is what a description shows; default /health.
	HTTPPath string
	// Dependencies are called by a PathDeep check.
	Dependencies []string
	// Interval and Timeout of the probes; defaults 30 s and 5 s. Source: target group health check page.
	Interval, Timeout time.Duration
	// HealthyCount and UnhealthyCount are the thresholds; defaults 5 and 2. Source: the same page.
	HealthyCount, UnhealthyCount int
	// DeregistrationDelay is how long a target drains; default 300 s. A negative value means none.
	DeregistrationDelay time.Duration
	// NotInUse leaves the group without a listener: its targets are unused.
	NotInUse bool
	// MinHealthyTargets is the fail-open threshold for unhealthy-state routing; default 1.
	MinHealthyTargets int
}

// TargetGroup is a copy of the settings of a target group.
type TargetGroup struct {
	TargetGroupSpec
	ARN             string
	LoadBalancerARN string // empty when not in use
}

// TargetState is the state of a target, spelled as DescribeTargetHealth spells it.
type TargetState string

// The target states that the simulator uses.
const (
	TargetInitial   TargetState = "initial"
	TargetHealthy   TargetState = "healthy"
	TargetUnhealthy TargetState = "unhealthy"
	TargetUnused    TargetState = "unused"
	TargetDraining  TargetState = "draining"
)

// The reason codes that the simulator uses, spelled as DescribeTargetHealth spells them.
const (
	ReasonInitialChecking    = "Elb.InitialHealthChecking"
	ReasonInternalError      = "Elb.InternalError"
	ReasonTimeout            = "Target.Timeout"
	ReasonMismatch           = "Target.ResponseCodeMismatch"
	ReasonFailed             = "Target.FailedHealthChecks"
	ReasonInvalidState       = "Target.InvalidState"
	ReasonNotRegistered      = "Target.NotRegistered"
	ReasonNotInUse           = "Target.NotInUse"
	ReasonDeregisterProgress = "Target.DeregistrationInProgress"
)

// Target is a copy of what DescribeTargetHealth tells about one registration.
type Target struct {
	ID          string // instance ID
	Port        int
	Zone        string
	State       TargetState
	Reason      string // empty for healthy
	Description string
	// Anomalous is the result of the load balancer's own comparison of requests with the target's peers.
	Anomalous bool
	// Shifted says that the target's zone is under a zonal shift.
	Shifted bool
}
