package guard

import "time"

// Policy is the effective policy of one group. Units, ranges, built-in values and meanings stand once, in keys.
// Resolve makes it; the zero value is not valid.
type Policy struct {
	Mode                      string
	Kind                      string
	Action                    string
	HeartbeatFreshSeconds     int
	HeartbeatStaleSeconds     int
	FirstHeartbeatSeconds     int
	BootGraceSeconds          int
	ConfirmSweeps             int
	DisagreeSeconds           int
	SelfReportAlone           bool
	CorrelatedPercent         int
	CorrelatedMin             int
	ZonePercent               int
	OnsetCount                int
	OnsetWindowSeconds        int
	RollingPercent            int
	RollingWindowSeconds      int
	MaxInFlight               int
	MarksPer10Minutes         int
	MarksPerHour              int
	MarksPerDay               int
	RegionMarksPerHour        int
	CapacityLossPercentMax    int
	MinHealthyPercent         int
	ActOnLastInstance         bool
	RespectScaleInProtection  bool
	ConvergeFailures          int
	ReplacementTimeoutSeconds int
	DeferredPageSeconds       int
	HoldProcesses             []string
	QuietSeconds              int
	HoldMaxSeconds            int
	HoldExit                  string
	PageRepeatSeconds         int
	Dependencies              []Dependency
	AlarmMaxAgeSeconds        int
	Queue                     *QueueSpec
}

// Dependency is a shared dependency, watched by a CloudWatch alarm.
type Dependency struct {
	Alarm string `json:"alarm"`
	// Kind is hard (ALARM holds the group) or soft (reported only).
	Kind string `json:"kind"`
	// Missing says how INSUFFICIENT_DATA reads: unknown, or ok.
	Missing string `json:"missing"`
}

// QueueSpec names a worker group's queue: an SQS queue, or a metric of the queue's depth.
type QueueSpec struct {
	SQSURL     string            `json:"sqs_url,omitempty"`
	Namespace  string            `json:"namespace,omitempty"`
	Metric     string            `json:"metric,omitempty"`
	Dimensions map[string]string `json:"dimensions,omitempty"`
	// Deep is the depth from which the queue is called deep; 1 or more.
	Deep int64 `json:"deep"`
}

// Modes, kinds, actions and exits, as written in a policy.
const (
	ModeAct     = "act"
	ModeObserve = "observe"
	ModeOff     = "off"

	KindWeb    = "web"
	KindWorker = "worker"

	ActionReplace   = "replace"
	ActionHoldOnly  = "hold-only"
	ActionAlertOnly = "alert-only"

	ExitOperator = "operator"
	ExitPaced    = "paced"

	DependencyHard = "hard"
	DependencySoft = "soft"
	MissingUnknown = "unknown"
	MissingOK      = "ok"
)

// limitUnbounded is the upper end of a range that the design leaves open: past any fleet or lifetime, inside every integer.
const limitUnbounded = 1_000_000_000

// Key describes one policy key; the README's table of limits is made from these.
type Key struct {
	Name string
	// Default, Min and Max are of numbers; Words are the values of a choice; Default is also the default word.
	Default, Meaning string
	Min, Max         int
	Words            []string
	// DefaultsOnly keys are accepted in the layer /holdfast/defaults only.
	DefaultsOnly bool
	// Ceiling describes the compiled ceiling, "" where there is none.
	Ceiling string

	number func(*Policy) *int
	flag   func(*Policy) *bool
	word   func(*Policy) *string
	list   bool // dependencies, hold_processes and queue have their own decoders
}

func numberKey(name string, def string, lo, hi int, field func(*Policy) *int, meaning string) Key {
	return Key{Name: name, Default: def, Min: lo, Max: hi, number: field, Meaning: meaning}
}

func flagKey(name, def string, field func(*Policy) *bool, meaning string) Key {
	return Key{Name: name, Default: def, flag: field, Meaning: meaning}
}

func wordKey(name string, words []string, field func(*Policy) *string, meaning string) Key {
	return Key{Name: name, Default: words[0], Words: words, word: field, Meaning: meaning}
}

// Keys are all policy keys in the order of the documentation.
func Keys() []Key {
	out := append(shapeKeys(), diagnosisKeys()...)
	out = append(out, correlationKeys()...)
	out = append(out, budgetKeys()...)
	return append(out, holdKeys()...)
}

func shapeKeys() []Key {
	return []Key{
		wordKey("mode", []string{ModeAct, ModeObserve, ModeOff}, func(p *Policy) *string { return &p.Mode }, "bounded by /holdfast/mode: the more restrictive of the two is in force"),
		wordKey("kind", []string{KindWeb, KindWorker}, func(p *Policy) *string { return &p.Kind }, "worker: a queue consumer without a target group"),
		wordKey("action", []string{ActionReplace, ActionHoldOnly, ActionAlertOnly}, func(p *Policy) *string { return &p.Action }, "hold-only for stateful groups; alert-only makes no call at all"),
	}
}

func diagnosisKeys() []Key {
	return []Key{
		numberKey("heartbeat_fresh_seconds", "60", 10, 3600, func(p *Policy) *int { return &p.HeartbeatFreshSeconds }, "a beat that has not advanced for longer is late"),
		numberKey("heartbeat_stale_seconds", "180", 10, 3600, func(p *Policy) *int { return &p.HeartbeatStaleSeconds }, "a beat that has not advanced for longer is stale; above heartbeat_fresh_seconds"),
		numberKey("first_heartbeat_seconds", "900", 60, 86400, func(p *Policy) *int { return &p.FirstHeartbeatSeconds }, "from InService: how long a member may go without a first beat"),
		numberKey("boot_grace_seconds", "300", 0, 7200, func(p *Policy) *int { return &p.BootGraceSeconds }, "the effective grace is the larger of this and the group's own"),
		numberKey("confirm_sweeps", "2", 1, 10, func(p *Policy) *int { return &p.ConfirmSweeps }, "looks with the same verdict, at least half a sweep interval apart, before a mark or a restore"),
		numberKey("disagree_seconds", "900", 60, 86400, func(p *Policy) *int { return &p.DisagreeSeconds }, "the load balancer alone says unhealthy, the heartbeat says ok: broken after this long"),
		flagKey("self_report_alone", "false", func(p *Policy) *bool { return &p.SelfReportAlone }, "whether a failing heartbeat is enough without a second witness"),
	}
}

func correlationKeys() []Key {
	return []Key{
		numberKey("correlated_percent", "25", 1, 50, func(p *Policy) *int { return &p.CorrelatedPercent }, "hold when the bad members are at least max(correlated_min, this percent of the eligible, rounded up)"),
		numberKey("correlated_min", "2", 2, 10, func(p *Policy) *int { return &p.CorrelatedMin }, "the floor of correlated_percent and zone_percent, in members"),
		numberKey("zone_percent", "50", 1, 100, func(p *Policy) *int { return &p.ZonePercent }, "the same within one Availability Zone"),
		numberKey("onset_count", "3", 2, 100, func(p *Policy) *int { return &p.OnsetCount }, "hold when at least max(this, 1 % of the eligible) members began to fail within the window"),
		numberKey("onset_window_seconds", "300", 60, 3600, func(p *Policy) *int { return &p.OnsetWindowSeconds }, "the window of onset_count, over the group and over the Region"),
		numberKey("rolling_percent", "25", 1, 100, func(p *Policy) *int { return &p.RollingPercent }, "hold when at least max(3, this percent of the eligible) different members were bad or terminated for health within the window"),
		numberKey("rolling_window_seconds", "3600", 300, 86400, func(p *Policy) *int { return &p.RollingWindowSeconds }, "the window of rolling_percent"),
	}
}

func budgetKeys() []Key {
	inFlight := numberKey("max_in_flight", "1", 0, 100, func(p *Policy) *int { return &p.MaxInFlight }, "marks whose replacement does not serve yet")
	inFlight.Ceiling = "max(1, 5 % of the members)"
	ten := numberKey("marks_per_10_minutes", "1", 0, limitUnbounded, func(p *Policy) *int { return &p.MarksPer10Minutes }, "per group; health terminations by AWS or a person count too")
	ten.Ceiling = "max(1, 5 % of the members)"
	hour := numberKey("marks_per_hour", "3", 0, limitUnbounded, func(p *Policy) *int { return &p.MarksPerHour }, "per group, the same")
	hour.Ceiling = "max(3, 10 % of the members)"
	day := numberKey("marks_per_day", "8", 0, limitUnbounded, func(p *Policy) *int { return &p.MarksPerDay }, "per group, the same")
	day.Ceiling = "max(8, 50 % of the members)"
	region := numberKey("region_marks_per_hour", "6", 0, limitUnbounded, func(p *Policy) *int { return &p.RegionMarksPerHour }, "over all groups of the Region; in /holdfast/defaults only")
	region.DefaultsOnly = true
	region.Ceiling = "max(6, 10 % of the Region's eligible members)"
	return []Key{
		inFlight, ten, hour, day, region,
		numberKey("capacity_loss_percent_max", "50", 1, 100, func(p *Policy) *int { return &p.CapacityLossPercentMax }, "of the desired weight, by this mark and everything in flight"),
		numberKey("min_healthy_percent", "50", 0, 100, func(p *Policy) *int { return &p.MinHealthyPercent }, "healthy weight after the mark, of the desired weight"),
		flagKey("act_on_last_instance", "false", func(p *Policy) *bool { return &p.ActOnLastInstance }, "whether the only member of a group may be marked; then capacity and min-healthy do not apply to it"),
		flagKey("respect_scale_in_protection", "true", func(p *Policy) *bool { return &p.RespectScaleInProtection }, "protected members are deferred"),
		numberKey("converge_failures", "2", 1, 10, func(p *Policy) *int { return &p.ConvergeFailures }, "replacements in a row that did not serve before repair is called useless"),
		numberKey("replacement_timeout_seconds", "900", 60, 86400, func(p *Policy) *int { return &p.ReplacementTimeoutSeconds }, "a mark in flight for longer is paged"),
		numberKey("deferred_page_seconds", "1800", 60, 86400, func(p *Policy) *int { return &p.DeferredPageSeconds }, "a broken member deferred for longer is paged"),
	}
}

func holdKeys() []Key {
	return []Key{
		{Name: "hold_processes", Default: "ReplaceUnhealthy, HealthCheck, AZRebalance", list: true, Meaning: "what a hold suspends: a subset of the default that has ReplaceUnhealthy"},
		numberKey("quiet_seconds", "600", 60, 86400, func(p *Policy) *int { return &p.QuietSeconds }, "how long no trigger may be true before a release"),
		numberKey("hold_max_seconds", "86400", 600, limitUnbounded, func(p *Policy) *int { return &p.HoldMaxSeconds }, "a hold that lasts longer is paged again and again"),
		wordKey("hold_exit", []string{ExitOperator, ExitPaced}, func(p *Policy) *string { return &p.HoldExit }, "past hold_max_seconds: wait for a person, or repair the permanently bad one by one"),
		numberKey("page_repeat_seconds", "1800", 60, 86400, func(p *Policy) *int { return &p.PageRepeatSeconds }, "reminder interval of a condition that lasts"),
		{Name: "dependencies", Default: "none", list: true, Max: dependenciesMax, Meaning: "alarms of shared dependencies: alarm, kind (hard or soft), missing (unknown or ok)"},
		numberKey("alarm_max_age_seconds", "86400", 600, limitUnbounded, func(p *Policy) *int { return &p.AlarmMaxAgeSeconds }, "an alarm red for longer is paged and treated as soft"),
		{Name: "queue", Default: "none", list: true, Meaning: "workers: sqs_url, or namespace, metric and dimensions; and deep (default 1000)"},
	}
}

// dependenciesMax bounds the alarms of one group.
const dependenciesMax = 50

// builtInHoldProcesses are what a hold suspends unless a reviewed subset is set: the three processes that remove members for
// health or balance.
func builtInHoldProcesses() []string {
	return []string{ProcessReplaceUnhealthy, ProcessHealthCheck, ProcessAZRebalance}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// ceilPercent is the one rule of every threshold: percent of n, rounded up.
func ceilPercent(n, percent int) int { return (n*percent + 99) / 100 }

// floorPercent is the one rule of every limit: percent of n, rounded down.
func floorPercent(n, percent int) int { return n * percent / 100 }
