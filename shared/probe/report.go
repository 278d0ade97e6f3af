package probe

import (
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// Facts are what the function adds to a report.
type Facts struct {
	// Function is the function's name, Run the request that it answers.
	Function, Run string
	// Duration is how long the run took, Margin the time that was left until the function's deadline, 0 if there is none.
	Duration, Margin time.Duration
}

// Metrics makes the sets to emit: one for the run, one for each source that was due, one for each dependency and cause.
func (r Report) Metrics(f Facts) []telemetry.Set {
	run := map[string]float64{
		telemetry.ProbeRunCompleted: one(r.Completed), telemetry.ProbeSourcesRefused: one(r.Refused != nil), telemetry.ProbeMemoryFailures: one(r.MemoryFailure != nil),
		telemetry.ProbeRequestsPerMinute: r.Load.PerMinute, telemetry.ProbeDurationMS: millis(f.Duration),
	}
	if f.Margin > 0 {
		run[telemetry.DeadlineMarginMS] = millis(f.Margin)
	}
	calls := 0
	var sets []telemetry.Set
	for _, v := range r.Verdicts {
		calls += len(v.Calls)
		sets = append(sets, v.metrics(f)...)
	}
	run[telemetry.ProbeCalls] = float64(calls)
	whole := telemetry.Set{Dimensions: map[string]string{telemetry.DimensionFunction: f.Function}, Values: run, Properties: map[string]any{"run": f.Run}}
	return append([]telemetry.Set{whole}, sets...)
}

func (v Verdict) metrics(f Facts) []telemetry.Set {
	dims := map[string]string{telemetry.DimensionFunction: f.Function, telemetry.DimensionDependency: v.Source.Name}
	main := telemetry.Set{Dimensions: dims, Values: map[string]float64{telemetry.ProbeUnknown: one(v.Outcome == Unknown)}}
	if v.Outcome != Unknown {
		main.Values[telemetry.ProbeFailed] = one(v.Outcome == Failed)
		if v.Counted {
			main.Values[telemetry.ProbeFailuresInRow] = float64(v.InRow)
			main.Values[telemetry.ProbeDown] = one(v.Down())
		}
	}
	if latencies := v.latencies(); len(latencies) > 0 {
		main.Lists = map[string][]float64{telemetry.ProbeLatencyMS: latencies}
	}
	counts := map[Cause]int{}
	for _, r := range v.Calls {
		if r.Days != nil {
			main.Values[telemetry.ProbeDaysToExpiry] = *r.Days
		}
		if r.Outcome == Failed {
			counts[r.Cause]++
		}
	}
	sets := []telemetry.Set{main}
	for _, cause := range Causes() {
		if counts[cause] == 0 {
			continue
		}
		sets = append(sets, telemetry.Set{
			Dimensions: map[string]string{
				telemetry.DimensionFunction: f.Function, telemetry.DimensionDependency: v.Source.Name, telemetry.DimensionCause: string(cause),
			},
			By: [][]string{
				{telemetry.DimensionFunction, telemetry.DimensionCause},
				{telemetry.DimensionFunction, telemetry.DimensionDependency, telemetry.DimensionCause},
			},
			Values: map[string]float64{telemetry.ProbeFailures: float64(counts[cause])},
		})
	}
	return sets
}

// latencies are of the calls that were answered or waited in vain; how fast a connection was refused says nothing of slowness.
func (v Verdict) latencies() []float64 {
	var all []float64
	for _, r := range v.Calls {
		switch {
		case r.Outcome == Unknown || r.Cause == CauseRefused || r.Cause == CauseDNS || r.Cause == CauseTLS:
		default:
			all = append(all, millis(r.Latency))
		}
	}
	return all
}

// Log writes one line for the run, and one for each source that failed, is unknown, or has recovered.
func (r Report) Log(log *slog.Logger, f Facts) {
	var latencies []float64
	failing, unknown, calls := []string{}, []string{}, 0
	for _, v := range r.Verdicts {
		latencies = append(latencies, v.latencies()...)
		calls += len(v.Calls)
		switch v.Outcome {
		case Failed:
			failing = append(failing, v.Source.Name)
		case Unknown:
			unknown = append(unknown, v.Source.Name)
		case Passed:
		}
		v.log(log)
	}
	attrs := []any{
		"run", f.Run, "completed", r.Completed, "sources", r.Sources, "due", len(r.Verdicts), "calls", calls, "failing", failing, "unknown", unknown,
		"load", r.Load.String(), "notes", r.Notes, "overtaken", r.Overtaken, "duration_ms", f.Duration.Milliseconds(),
	}
	if len(latencies) > 0 {
		attrs = append(attrs, "latency_p50_ms", Percentile(latencies, 50), "latency_p95_ms", Percentile(latencies, 95), "latency_max_ms", slices.Max(latencies))
	}
	log.Info("probe run", attrs...)
	if r.Refused != nil {
		log.Error("sources refused", "last_good_in_force", r.Completed, "error", r.Refused.Error())
	}
	if r.MemoryFailure != nil {
		log.Error("memory", "error", r.MemoryFailure.Error())
	}
	if r.Cut != "" {
		log.Warn("run shortened", "reason", r.Cut)
	}
}

func (v Verdict) log(log *slog.Logger) {
	attrs := []any{
		"dependency", v.Source.Name, "kind", string(v.Source.Kind), "outcome", v.Outcome.String(), "detail", v.Detail, "in_row_min", v.Source.FailuresInRow,
	}
	if v.Cause != "" {
		attrs = append(attrs, "cause", string(v.Cause))
	}
	if v.Counted { // what was not counted is not "not down"
		attrs = append(attrs, "in_row", v.InRow, "down", v.Down())
	}
	switch {
	case v.Outcome == Failed:
		log.Warn("dependency failed", attrs...)
	case v.Outcome == Unknown:
		log.Warn("dependency unknown", attrs...)
	case v.Before.InRow > 0:
		log.Info("dependency recovered", append(attrs, "failed_before", v.Before.InRow)...)
	}
}

// Percentile is the smallest value that at least p percent (0 to 100) of the values do not exceed; NaN of none.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
