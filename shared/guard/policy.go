package guard

import (
	"slices"
	"time"
)

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

func numberKey(k Key, field func(*Policy) *int) Key {
	k.number = field
	return k
}

func flagKey(name, def string, field func(*Policy) *bool, meaning string) Key {
	return Key{Name: name, Default: def, flag: field, Meaning: meaning}
}

func wordKey(name string, words []string, field func(*Policy) *string, meaning string) Key {
	return Key{Name: name, Default: words[0], Words: words, word: field, Meaning: meaning}
}

// Keys are all policy keys in the order of the documentation.
func Keys() []Key {
	return slices.Concat(shapeKeys(), diagnosisKeys(), correlationKeys(), budgetKeys(), holdKeys())
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
		numberKey(Key{Name: "heartbeat_fresh_seconds", Default: "60", Min: 10, Max: 3600, Meaning: "a beat that has not advanced for longer is late"}, func(p *Policy) *int { return &p.HeartbeatFreshSeconds }),
		numberKey(Key{Name: "heartbeat_stale_seconds", Default: "180", Min: 10, Max: 3600, Meaning: "a beat that has not advanced for longer is stale; above heartbeat_fresh_seconds"}, func(p *Policy) *int { return &p.HeartbeatStaleSeconds }),
		numberKey(Key{Name: "first_heartbeat_seconds", Default: "900", Min: 60, Max: 86400, Meaning: "from InService: how long a member may go without a first beat"}, func(p *Policy) *int { return &p.FirstHeartbeatSeconds }),
		numberKey(Key{Name: "boot_grace_seconds", Default: "300", Min: 0, Max: 7200, Meaning: "the effective grace is the larger of this and the group's own"}, func(p *Policy) *int { return &p.BootGraceSeconds }),
		numberKey(Key{Name: "confirm_sweeps", Default: "2", Min: 1, Max: 10, Meaning: "looks with the same verdict, at least half a sweep interval apart, before a mark or a restore"}, func(p *Policy) *int { return &p.ConfirmSweeps }),
		numberKey(Key{Name: "disagree_seconds", Default: "900", Min: 60, Max: 86400, Meaning: "the load balancer alone says unhealthy, the heartbeat says ok: broken after this long"}, func(p *Policy) *int { return &p.DisagreeSeconds }),
		flagKey("self_report_alone", "false", func(p *Policy) *bool { return &p.SelfReportAlone }, "whether a failing heartbeat is enough without a second witness"),
	}
}

func correlationKeys() []Key {
	return []Key{
		numberKey(Key{Name: "correlated_percent", Default: "25", Min: 1, Max: 50, Meaning: "hold when the bad members are at least max(correlated_min, this percent of the eligible, rounded up)"}, func(p *Policy) *int { return &p.CorrelatedPercent }),
		numberKey(Key{Name: "correlated_min", Default: "2", Min: 2, Max: 10, Meaning: "the floor of correlated_percent and zone_percent, in members"}, func(p *Policy) *int { return &p.CorrelatedMin }),
		numberKey(Key{Name: "zone_percent", Default: "50", Min: 1, Max: 100, Meaning: "the same within one Availability Zone"}, func(p *Policy) *int { return &p.ZonePercent }),
		numberKey(Key{Name: "onset_count", Default: "3", Min: 2, Max: 100, Meaning: "hold when at least max(this, 1 % of the eligible) members began to fail within the window"}, func(p *Policy) *int { return &p.OnsetCount }),
		numberKey(Key{Name: "onset_window_seconds", Default: "300", Min: 60, Max: 3600, Meaning: "the window of onset_count, over the group and over the Region"}, func(p *Policy) *int { return &p.OnsetWindowSeconds }),
		numberKey(Key{Name: "rolling_percent", Default: "25", Min: 1, Max: 100, Meaning: "hold when at least max(3, this percent of the eligible) different members were bad or terminated for health within the window"}, func(p *Policy) *int { return &p.RollingPercent }),
		numberKey(Key{Name: "rolling_window_seconds", Default: "3600", Min: 300, Max: 86400, Meaning: "the window of rolling_percent; also how long at most a hold waits for the members that began to fail together"}, func(p *Policy) *int { return &p.RollingWindowSeconds }),
	}
}

func budgetKeys() []Key {
	inFlight := numberKey(Key{Name: "max_in_flight", Default: "1", Min: 0, Max: 100, Meaning: "marks whose replacement does not serve yet"}, func(p *Policy) *int { return &p.MaxInFlight })
	inFlight.Ceiling = "max(1, 5 % of the members)"
	ten := numberKey(Key{Name: "marks_per_10_minutes", Default: "1", Min: 0, Max: limitUnbounded, Meaning: "per group; health terminations by AWS or a person count too"}, func(p *Policy) *int { return &p.MarksPer10Minutes })
	ten.Ceiling = "max(1, 5 % of the members)"
	hour := numberKey(Key{Name: "marks_per_hour", Default: "3", Min: 0, Max: limitUnbounded, Meaning: "per group, the same"}, func(p *Policy) *int { return &p.MarksPerHour })
	hour.Ceiling = "max(3, 10 % of the members)"
	day := numberKey(Key{Name: "marks_per_day", Default: "8", Min: 0, Max: limitUnbounded, Meaning: "per group, the same"}, func(p *Policy) *int { return &p.MarksPerDay })
	day.Ceiling = "max(8, 50 % of the members)"
	region := numberKey(Key{Name: "region_marks_per_hour", Default: "6", Min: 0, Max: limitUnbounded, Meaning: "over all groups of the Region; in /holdfast/defaults only"}, func(p *Policy) *int { return &p.RegionMarksPerHour })
	region.DefaultsOnly = true
	region.Ceiling = "max(6, 10 % of the Region's eligible members)"
	return []Key{
		inFlight, ten, hour, day, region,
		numberKey(Key{Name: "capacity_loss_percent_max", Default: "50", Min: 1, Max: 100, Meaning: "of the desired weight, by this mark and everything in flight"}, func(p *Policy) *int { return &p.CapacityLossPercentMax }),
		numberKey(Key{Name: "min_healthy_percent", Default: "50", Min: 0, Max: 100, Meaning: "healthy weight after the mark, of the desired weight"}, func(p *Policy) *int { return &p.MinHealthyPercent }),
		flagKey("act_on_last_instance", "false", func(p *Policy) *bool { return &p.ActOnLastInstance }, "whether the only member of a group may be marked; then capacity and min-healthy do not apply to it"),
		flagKey("respect_scale_in_protection", "true", func(p *Policy) *bool { return &p.RespectScaleInProtection }, "protected members are deferred"),
		numberKey(Key{Name: "converge_failures", Default: "2", Min: 1, Max: 10, Meaning: "replacements in a row that did not serve before repair is called useless"}, func(p *Policy) *int { return &p.ConvergeFailures }),
		numberKey(Key{Name: "replacement_timeout_seconds", Default: "900", Min: 60, Max: 86400, Meaning: "a mark in flight for longer is paged"}, func(p *Policy) *int { return &p.ReplacementTimeoutSeconds }),
		numberKey(Key{Name: "deferred_page_seconds", Default: "1800", Min: 60, Max: 86400, Meaning: "a broken member deferred for longer is paged"}, func(p *Policy) *int { return &p.DeferredPageSeconds }),
	}
}

func holdKeys() []Key {
	return []Key{
		{Name: "hold_processes", Default: "ReplaceUnhealthy, HealthCheck, AZRebalance", list: true, Meaning: "what a hold suspends: a subset of the default that has ReplaceUnhealthy"},
		numberKey(Key{Name: "quiet_seconds", Default: "600", Min: 60, Max: 86400, Meaning: "how long no trigger may be true before a release"}, func(p *Policy) *int { return &p.QuietSeconds }),
		numberKey(Key{Name: "hold_max_seconds", Default: "86400", Min: 600, Max: limitUnbounded, Meaning: "a hold that lasts longer is paged again and again"}, func(p *Policy) *int { return &p.HoldMaxSeconds }),
		wordKey("hold_exit", []string{ExitOperator, ExitPaced}, func(p *Policy) *string { return &p.HoldExit }, "past hold_max_seconds: wait for a person, or repair the permanently bad one by one"),
		numberKey(Key{Name: "page_repeat_seconds", Default: "1800", Min: 60, Max: 86400, Meaning: "reminder interval of a condition that lasts"}, func(p *Policy) *int { return &p.PageRepeatSeconds }),
		{Name: "dependencies", Default: "none", list: true, Max: dependenciesMax, Meaning: "alarms of shared dependencies: alarm, kind (hard or soft), missing (unknown or ok)"},
		numberKey(Key{Name: "alarm_max_age_seconds", Default: "86400", Min: 600, Max: limitUnbounded, Meaning: "an alarm red for longer is paged and treated as soft"}, func(p *Policy) *int { return &p.AlarmMaxAgeSeconds }),
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
