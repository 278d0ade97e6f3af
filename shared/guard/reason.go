package guard

// Reason is why a member that looks bad was not marked. The values are metric labels and never change.
type Reason string

// The gates in the order in which they run, then what only the moment of acting can say.
const (
	ReasonBlind           Reason = "blind"
	ReasonWarmUp          Reason = "warm-up"
	ReasonGrace           Reason = "grace"
	ReasonOptedOut        Reason = "opted-out"
	ReasonProtected       Reason = "protected"
	ReasonAlertOnly       Reason = "alert-only"
	ReasonHoldOnly        Reason = "hold-only"
	ReasonHeld            Reason = "held"
	ReasonDependency      Reason = "dependency"
	ReasonRefreshing      Reason = "refreshing"
	ReasonCannotReplace   Reason = "cannot-replace"
	ReasonNotConverging   Reason = "not-converging"
	ReasonWaiting         Reason = "waiting"
	ReasonSignalsDisagree Reason = "signals-disagree"
	ReasonConfirming      Reason = "confirming"
	ReasonLastInstance    Reason = "last-instance"
	ReasonInFlight        Reason = "in-flight"
	ReasonBudget          Reason = "budget"
	ReasonRegionBudget    Reason = "region-budget"
	ReasonCapacity        Reason = "capacity"
	ReasonMinHealthy      Reason = "min-healthy"
	ReasonRecovered       Reason = "recovered"
	ReasonMode            Reason = "mode"
	// ReasonLostRace is a reservation that another runner's write overtook.
	ReasonLostRace Reason = "lost-race"
)

// Page keys. The key of a notice is the group and one of these.
const (
	PageHeld               = "held"
	PageReleased           = "released"
	PageHoldTooLong        = "hold-too-long"
	PageResumeBlocked      = "resume-blocked"
	PageSuspensionRemoved  = "suspension-removed"
	PageSuspensionConflict = "suspension-conflict"
	PageForeignSuspension  = "foreign-suspension"
	PageBlind              = "blind"
	PageHeartbeatPath      = "heartbeat-path"
	PageHeartbeatCoverage  = "heartbeat-coverage"
	PageHeartbeatLag       = "heartbeat-lag"
	PageClockSkew          = "clock-skew"
	PageSignalsDisagree    = "signals-disagree"
	PageReplacementStuck   = "replacement-stuck"
	PageCannotReplace      = "cannot-replace"
	PageNotConverging      = "not-converging"
	PageDailyLimit         = "daily-limit"
	PageStuckAlarm         = "stuck-alarm"
	PageConfig             = "config"
	PageNotRegistered      = "not-registered"
	PageWorkerStalled      = "worker-stalled"
	PageDeferredTooLong    = "deferred-too-long"
	PagePausedWhileHeld    = "paused-while-held"
	PageLastInstance       = "last-instance"
)

// Causes of a hold.
const (
	CauseCorrelated    = "correlated"
	CauseZone          = "zone"
	CauseTargetGroup   = "target-group"
	CauseOnset         = "onset"
	CauseRegion        = "region-onset"
	CauseRolling       = "rolling"
	CauseDependency    = "dependency"
	CauseNotConverging = "not-converging"
	CauseBacklog       = "backlog"
	CauseOperator      = "operator"
)

// Process names of Auto Scaling. Source: user guide, "Suspend and resume processes".
const (
	ProcessReplaceUnhealthy = "ReplaceUnhealthy"
	ProcessHealthCheck      = "HealthCheck"
	ProcessAZRebalance      = "AZRebalance"
	ProcessLaunch           = "Launch"
	ProcessTerminate        = "Terminate"
)
