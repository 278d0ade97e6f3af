package invocation

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// Base is what a function brings; all of it is required.
type Base struct {
	// Function is the name under which it logs and counts.
	Function string
	Log      *slog.Logger
	Metrics  *telemetry.Emitter
	Now      func() time.Time
	// Cold says that this is the first invocation of its process.
	Cold bool
}

// NewRun makes what one invocation uses.
type NewRun func(*slog.Logger) (*runner.Runner, *report.Reporter, error)

// Invocation is one invocation that has begun.
type Invocation struct {
	// ID is Lambda's request id, which is the same when Lambda repeats a failed invocation. Outside Lambda it is random.
	ID string
	// Log has the request's id in each line.
	Log *slog.Logger
	// Start is when it began.
	Start time.Time

	base Base
}

// Begin begins an invocation.
func Begin(ctx context.Context, b Base) Invocation {
	id := rand.Text()
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		id = lc.AwsRequestID
	}
	return Invocation{ID: id, Log: telemetry.ForRequest(b.Log, id, b.Cold), Start: b.Now(), base: b}
}

// Run makes a run, lets it look, and closes it. A group that failed is in the summary; an error is one of the whole run.
func (i Invocation) Run(ctx context.Context, newRun NewRun, req runner.Request) (runner.Summary, error) {
	run, reporter, err := newRun(i.Log)
	if err != nil {
		return runner.Summary{}, fmt.Errorf("make run: %w", err)
	}
	sum, err := run.Run(ctx, req)
	i.close(ctx, outcome{reporter: reporter, req: req, sum: sum, err: err})
	return sum, err
}

// outcome is a run that has ended.
type outcome struct {
	reporter *report.Reporter
	req      runner.Request
	sum      runner.Summary
	err      error
}

// completed says that this was a scheduled sweep of a whole shard that ran to its end.
func (o outcome) completed() bool {
	return o.err == nil && o.req.Trigger == runner.TriggerSweep && len(o.req.Groups) == 0 && len(o.req.Alarms) == 0
}

// close writes the metrics and one line about the run. Metrics that cannot be written are logged and fail nothing: the missing
// sweep_completed tells it too.
func (i Invocation) close(ctx context.Context, o outcome) {
	end := i.base.Now()
	facts := report.RunFacts{
		Function: i.base.Function, Run: o.req.Run, Trigger: o.req.Trigger, Shard: o.req.Shard, Completed: o.completed(),
		Failed: o.sum.Failed, LostRaces: o.sum.LostRaces, Duration: end.Sub(i.Start),
	}
	if deadline, ok := ctx.Deadline(); ok {
		facts.Margin = deadline.Sub(end)
	}
	if err := o.reporter.Flush(i.base.Metrics, facts); err != nil {
		i.Log.Error("metrics", "error", err.Error())
	}
	attrs := []any{
		"run", o.req.Run, "trigger", o.req.Trigger, "shard", o.req.Shard, "shards", o.req.Shards, "looked", o.sum.Looked,
		"failed", o.sum.Failed, "lost_races", o.sum.LostRaces, "duration_ms", facts.Duration.Milliseconds(),
	}
	if len(o.req.Alarms) > 0 {
		attrs = append(attrs, "alarms", o.req.Alarms)
	}
	if o.err != nil {
		i.Log.Error("run", append(attrs, "error", o.err.Error())...)
		return
	}
	for _, g := range o.sum.Groups {
		if g.Failure != "" {
			i.Log.Warn("group failed", "run", o.req.Run, "group", g.Group, "mode", g.Mode, "failure", g.Failure)
		}
	}
	i.Log.Info("run", attrs...)
}
