package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// tickAgeMax is how old a scheduled event may be: an audit that is some hours late is still the day's.
const tickAgeMax = 12 * time.Hour

// unreadMax is how many reads that failed a run's log names; it counts the others.
const unreadMax = 100

// requestID names the invocation, and so the run.
func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		return lc.AwsRequestID
	}
	return rand.Text()
}

// drop leaves out a tick that waited too long.
func (h *handler) drop(log *slog.Logger, age time.Duration) error {
	log.Warn("tick dropped", "age_seconds", int(age.Seconds()), "age_seconds_max", int(tickAgeMax.Seconds()))
	return h.metrics.Emit(telemetry.Set{
		Dimensions: map[string]string{telemetry.DimensionFunction: function}, Values: map[string]float64{telemetry.TicksDropped: 1},
	})
}

// ended is a run that has ended.
type ended struct {
	out   daily.Outcome
	err   error
	begin time.Time
}

// close writes the metrics and the log. Metrics that cannot be written are logged and fail nothing: that they are missing tells it too.
func (h *handler) close(ctx context.Context, log *slog.Logger, e ended) {
	end := h.now()
	facts := daily.Facts{Function: function, Completed: e.err == nil, Duration: end.Sub(e.begin)}
	if deadline, ok := ctx.Deadline(); ok {
		facts.Margin = deadline.Sub(end)
	}
	for _, set := range e.out.Metrics(facts) {
		if err := h.metrics.Emit(set); err != nil {
			log.Error("metrics", "error", err.Error())
		}
	}
	for _, u := range e.out.NotRead[:min(len(e.out.NotRead), unreadMax)] {
		log.Warn("not read", "run", e.out.Run, "kind", u.Kind, "name", report.Visible(u.Name), "what", report.Visible(u.What), "why", report.Visible(u.Why))
	}
	attrs := []any{
		"run", e.out.Run, "groups", e.out.Groups, "target_groups", e.out.TargetGroups, "open", e.out.Open, "new", e.out.New, "gone", e.out.Gone, "kept", e.out.Kept,
		"accepted", e.out.Accepted, "unread", e.out.Unread, "events_left_out", e.out.LeftOut, "told", e.out.Told, "notes", e.out.Notes, "duration_ms", facts.Duration.Milliseconds(),
	}
	if e.out.Told {
		log.Info("digest", "run", e.out.Run, "text", e.out.Digest) // a channel may have to cut it
	}
	if e.err != nil {
		log.Error("audit", append(attrs, "error", e.err.Error())...)
		return
	}
	log.Info("audit", attrs...)
}
