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
	// DimensionDependency is a source of the probe function; there are at most as many as its parameter declares.
	DimensionDependency = "dependency"
	DimensionCause      = "cause"
	// DimensionSeverity is that of an audit's findings: critical, high, medium or low.
	DimensionSeverity = "severity"
)

// Names of the metrics. Their meaning stands at Metrics.
const (
	SweepCompleted   = "sweep_completed"
	TicksDropped     = "ticks_dropped"
	EventsDropped    = "events_dropped"
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

	ProbeRunCompleted      = "probe_run_completed"
	ProbeSourcesRefused    = "probe_sources_refused"
	ProbeMemoryFailures    = "probe_memory_failures"
	ProbeCalls             = "probe_calls"
	ProbeRequestsPerMinute = "probe_requests_per_minute"
	ProbeDurationMS        = "probe_duration_ms"
	ProbeFailed            = "probe_failed"
	ProbeUnknown           = "probe_unknown"
	ProbeFailuresInRow     = "probe_failures_in_row"
	ProbeDown              = "probe_down"
	ProbeDaysToExpiry      = "probe_days_to_expiry"
	ProbeLatencyMS         = "probe_latency_ms"
	ProbeFailures          = "probe_failures"

	AuditCompleted  = "audit_completed"
	AuditFindings   = "audit_findings"
	AuditNew        = "audit_findings_new"
	AuditGone       = "audit_findings_gone"
	AuditAccepted   = "audit_findings_accepted"
	AuditUnread     = "audit_unread"
	AuditDurationMS = "audit_duration_ms"
)

// Units of the metrics. Source: CloudWatch API reference, MetricDatum.
const (
	UnitCount        = "Count"
	UnitMilliseconds = "Milliseconds"
	UnitNone         = "None"
)

// Metric describes one metric.
type Metric struct {
	Name, Unit, Meaning string
	// By is the dimension in which it is told beside the function, "" for none.
	By string
}

// Metrics lists every metric that is emitted, one value for each run of a function unless its meaning says otherwise.
func Metrics() []Metric {
	count := func(name, meaning string) Metric { return Metric{Name: name, Unit: UnitCount, Meaning: meaning} }
	millis := func(name, meaning string) Metric {
		return Metric{Name: name, Unit: UnitMilliseconds, Meaning: meaning}
	}
	return []Metric{
		{Name: SweepCompleted, Unit: UnitCount, By: DimensionShard, Meaning: "1 for a scheduled sweep that ran to its end"},
		count(TicksDropped, "1 for a scheduled event that came too late and was dropped"),
		count(EventsDropped, "1 for an alarm's event that came too late and was dropped"),
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
		count(ProbeRunCompleted, "1 for a run of the deep checks, 0 for one that knew no sources to check"),
		count(ProbeSourcesRefused, "1 while the sources as written are refused or unreadable, and the last good ones are in force"),
		count(ProbeMemoryFailures, "1 for a run whose memory could not be read or written"),
		count(ProbeCalls, "calls made"),
		count(ProbeRequestsPerMinute, "calls a minute that the sources add up to"),
		millis(ProbeDurationMS, "duration of the run of the deep checks"),
		{Name: ProbeFailed, Unit: UnitCount, By: DimensionDependency, Meaning: "1 if the dependency failed its check, 0 if it passed; absent when nothing is known"},
		{Name: ProbeUnknown, Unit: UnitCount, By: DimensionDependency, Meaning: "1 if a check that was due gave no result, else 0"},
		{Name: ProbeFailuresInRow, Unit: UnitCount, By: DimensionDependency, Meaning: "failed checks in a row, 0 after one that passed"},
		{Name: ProbeDown, Unit: UnitCount, By: DimensionDependency, Meaning: "1 once as many checks in a row failed as the source asks for, else 0"},
		{Name: ProbeDaysToExpiry, Unit: UnitNone, By: DimensionDependency, Meaning: "days until the first certificate of the chain expires"},
		{Name: ProbeLatencyMS, Unit: UnitMilliseconds, By: DimensionDependency, Meaning: "duration of each call that was answered or timed out"},
		{Name: ProbeFailures, Unit: UnitCount, By: DimensionDependency, Meaning: "failed calls of one cause; told by dependency and cause, and by cause"},
		count(AuditCompleted, "1 for an audit that ran to its end"),
		{Name: AuditFindings, Unit: UnitCount, By: DimensionSeverity, Meaning: "open findings, those that people accepted left out"},
		count(AuditNew, "findings that the audit before did not have"),
		count(AuditGone, "findings of the audit before that are mended or accepted"),
		count(AuditAccepted, "findings that people accepted"),
		count(AuditUnread, "reads that failed, each with what it was about"),
		millis(AuditDurationMS, "duration of the audit"),
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
