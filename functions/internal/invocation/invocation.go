package invocation

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// RequestID names the invocation, and so the run: Lambda repeats a failed invocation under the same id. Outside Lambda it is
// random.
func RequestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		return lc.AwsRequestID
	}
	return rand.Text()
}

// Outcome is a run that has ended.
type Outcome struct {
	// Function is the name under which the program counts.
	Function string
	Log      *slog.Logger
	Metrics  *telemetry.Emitter
	Reporter *report.Reporter
	// Begin and End are when the run began and ended.
	Begin, End time.Time
	Request    runner.Request
	Summary    runner.Summary
	// Err is what the runner returned.
	Err error
}

// Close writes the metrics and one line about the run. Metrics that cannot be written are logged and fail nothing: the missing
// sweep_completed tells it too.
func (o Outcome) Close(ctx context.Context) {
	facts := report.RunFacts{
		Function: o.Function, Run: o.Request.Run, Trigger: o.Request.Trigger, Shard: o.Request.Shard, Completed: o.completed(),
		Failed: o.Summary.Failed, LostRaces: o.Summary.LostRaces, Duration: o.End.Sub(o.Begin),
	}
	if deadline, ok := ctx.Deadline(); ok {
		facts.Margin = deadline.Sub(o.End)
	}
	if err := o.Reporter.Flush(o.Metrics, facts); err != nil {
		o.Log.Error("metrics", "error", err.Error())
	}
	attrs := []any{
		"run", o.Request.Run, "trigger", o.Request.Trigger, "shard", o.Request.Shard, "shards", o.Request.Shards,
		"looked", o.Summary.Looked, "failed", o.Summary.Failed, "lost_races", o.Summary.LostRaces, "duration_ms", facts.Duration.Milliseconds(),
	}
	if len(o.Request.Alarms) > 0 {
		attrs = append(attrs, "alarms", o.Request.Alarms)
	}
	if o.Err != nil {
		o.Log.Error("run", append(attrs, "error", o.Err.Error())...)
		return
	}
	for _, g := range o.Summary.Groups {
		if g.Failure != "" {
			o.Log.Warn("group failed", "run", o.Request.Run, "group", g.Group, "mode", g.Mode, "failure", g.Failure)
		}
	}
	o.Log.Info("run", attrs...)
}

// completed says that this was a scheduled sweep of a whole shard that ran to its end.
func (o Outcome) completed() bool {
	r := o.Request
	return o.Err == nil && r.Trigger == runner.TriggerSweep && len(r.Groups) == 0 && len(r.Alarms) == 0
}
