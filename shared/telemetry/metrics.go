package telemetry

// Namespace is the CloudWatch namespace of every metric, Service the name under which every log line is written.
const (
	Namespace = "Holdfast"
	Service   = "holdfast"
)

// Dimensions. Every metric has DimensionFunction alone; some are told also with one more.
const (
	DimensionFunction = "function"
	DimensionShard    = "shard"
	DimensionReason   = "reason"
)

// Names of the metrics. Their meaning stands at Metrics.
const (
	SweepCompleted   = "sweep_completed"
	TicksDropped     = "ticks_dropped"
	GroupsSeen       = "groups_seen"
	GroupsHeld       = "groups_held"
	GroupsBlind      = "groups_blind"
	GroupFailures    = "group_failures"
	LostRaces        = "lost_races"
	MembersBad       = "members_bad"
	MembersBroken    = "members_broken"
	MarksDetected    = "marks_detected"
	MarksEnforced    = "marks_enforced"
	Deferred         = "deferred"
	Suspends         = "suspends"
	Resumes          = "resumes"
	Restores         = "restores"
	Pages            = "pages"
	PageFailures     = "page_failures"
	SweepDurationMS  = "sweep_duration_ms"
	DeadlineMarginMS = "deadline_margin_ms"
)

// Units of the metrics. Source: CloudWatch API reference, MetricDatum.
const (
	UnitCount        = "Count"
	UnitMilliseconds = "Milliseconds"
)

// Metric describes one metric.
type Metric struct {
	Name, Unit, Meaning string
	// By is the dimension in which it is told beside the function, "" for none.
	By string
}

// Metrics lists every metric that is emitted, one value for each run of a function.
func Metrics() []Metric {
	count := func(name, meaning string) Metric { return Metric{Name: name, Unit: UnitCount, Meaning: meaning} }
	millis := func(name, meaning string) Metric {
		return Metric{Name: name, Unit: UnitMilliseconds, Meaning: meaning}
	}
	return []Metric{
		{Name: SweepCompleted, Unit: UnitCount, By: DimensionShard, Meaning: "1 for a scheduled sweep that ran to its end"},
		count(TicksDropped, "1 for a scheduled event that came too late and was dropped"),
		count(GroupsSeen, "groups looked at"),
		count(GroupsHeld, "groups held, or in the stages of a release"),
		count(GroupsBlind, "groups whose inputs could not be trusted"),
		count(GroupFailures, "groups whose look could not be completed"),
		count(LostRaces, "reservations and saves that another run overtook"),
		count(MembersBad, "bad members, broken ones included"),
		count(MembersBroken, "broken members"),
		count(MarksDetected, "marks that were decided, withheld ones included"),
		count(MarksEnforced, "marks that AWS accepted"),
		{Name: Deferred, Unit: UnitCount, By: DimensionReason, Meaning: "bad members that were not acted on"},
		count(Suspends, "accepted calls that suspended processes"),
		count(Resumes, "accepted calls that resumed processes"),
		count(Restores, "accepted calls that set a member Healthy"),
		count(Pages, "notices handed over"),
		count(PageFailures, "notices that could not be handed over and are sent again"),
		millis(SweepDurationMS, "duration of the run"),
		millis(DeadlineMarginMS, "time that was left until the function's deadline"),
	}
}

// Unit returns a metric's unit; ok is false for a name that is not declared.
func Unit(name string) (unit string, ok bool) {
	for _, m := range Metrics() {
		if m.Name == name {
			return m.Unit, true
		}
	}
	return "", false
}
