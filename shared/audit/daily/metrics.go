package daily

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// Facts are what a function knows of an audit beside its outcome.
type Facts struct {
	Function string
	// Completed says that the audit ran to its end and is remembered.
	Completed bool
	// Duration is how long it took, Margin what was left until the deadline, 0 if there is none.
	Duration, Margin time.Duration
}

// Metrics are those of one audit. One that did not run to its end tells only that.
func (o Outcome) Metrics(f Facts) []telemetry.Set {
	function := map[string]string{telemetry.DimensionFunction: f.Function}
	values := map[string]float64{telemetry.AuditCompleted: 0, telemetry.AuditDurationMS: milliseconds(f.Duration)}
	if f.Margin > 0 {
		values[telemetry.DeadlineMarginMS] = milliseconds(f.Margin)
	}
	sets := []telemetry.Set{{Dimensions: function, Values: values, Properties: map[string]any{"run": o.Run}}}
	if !f.Completed {
		return sets
	}
	values[telemetry.AuditCompleted] = 1
	values[telemetry.AuditNew], values[telemetry.AuditGone] = float64(o.New), float64(o.Gone)
	values[telemetry.AuditAccepted], values[telemetry.AuditUnread] = float64(o.Accepted), float64(o.Unread)
	for _, s := range severities() {
		sets = append(sets, telemetry.Set{
			Dimensions: map[string]string{telemetry.DimensionFunction: f.Function, telemetry.DimensionSeverity: string(s)},
			By:         [][]string{{telemetry.DimensionFunction}, {telemetry.DimensionFunction, telemetry.DimensionSeverity}},
			Values:     map[string]float64{telemetry.AuditFindings: float64(o.Open[s])},
		})
	}
	return sets
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
