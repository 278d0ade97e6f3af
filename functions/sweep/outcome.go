package main

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

// requestID names the invocation, and so the run: Lambda repeats a failed invocation under the same id.
func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		return lc.AwsRequestID
	}
	return rand.Text()
}

// drop leaves out a tick that waited too long: the ticks after it look at newer facts.
func (h *handler) drop(log *slog.Logger, age time.Duration) error {
	log.Warn("tick dropped", "age_seconds", int(age.Seconds()), "age_seconds_max", int(tickAgeMax.Seconds()))
	return h.metrics.Emit(telemetry.Set{
		Dimensions: map[string]string{telemetry.DimensionFunction: function}, Values: map[string]float64{telemetry.TicksDropped: 1},
	})
}

// outcome is a run that has ended.
type outcome struct {
	log      *slog.Logger
	reporter *report.Reporter
	begin    time.Time
	req      runner.Request
	sum      runner.Summary
	err      error
}

// close writes the metrics and one line about the run. Metrics that cannot be written are logged and fail nothing: the missing
// sweep_completed tells it too.
func (h *handler) close(ctx context.Context, o outcome) {
	end := h.now()
	facts := report.RunFacts{
		Function: function, Run: o.req.Run, Trigger: o.req.Trigger, Shard: o.req.Shard,
		Completed: o.err == nil && o.req.Trigger == runner.TriggerSweep && len(o.req.Groups) == 0,
		Failed:    o.sum.Failed, LostRaces: o.sum.LostRaces, Duration: end.Sub(o.begin),
	}
	if deadline, ok := ctx.Deadline(); ok {
		facts.Margin = deadline.Sub(end)
	}
	if err := o.reporter.Flush(h.metrics, facts); err != nil {
		o.log.Error("metrics", "error", err.Error())
	}
	attrs := []any{
		"run", o.req.Run, "trigger", o.req.Trigger, "shard", o.req.Shard, "shards", o.req.Shards, "looked", o.sum.Looked,
		"failed", o.sum.Failed, "lost_races", o.sum.LostRaces, "duration_ms", facts.Duration.Milliseconds(),
	}
	if o.err != nil {
		o.log.Error("run", append(attrs, "error", o.err.Error())...)
		return
	}
	for _, g := range o.sum.Groups {
		if g.Failure != "" {
			o.log.Warn("group failed", "run", o.req.Run, "group", g.Group, "mode", g.Mode, "failure", g.Failure)
		}
	}
	o.log.Info("run", attrs...)
}
