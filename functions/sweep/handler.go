package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/invocation"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// handler translates an event into one run and its summary into metrics.
type handler struct {
	log     *slog.Logger
	metrics *telemetry.Emitter
	now     func() time.Time
	// shard of shards is looked at unless the event says otherwise.
	shard, shards int
	// newRun makes what one invocation uses.
	newRun  func(*slog.Logger) (*runner.Runner, *report.Reporter, error)
	started atomic.Bool
}

// Handle looks at the groups that the event asks for. A tick that came too late is dropped; a group that failed is in the summary.
func (h *handler) Handle(ctx context.Context, raw json.RawMessage) (runner.Summary, error) {
	o := invocation.Outcome{Function: function, Metrics: h.metrics, Begin: h.now()}
	id := invocation.RequestID(ctx)
	o.Log = telemetry.ForRequest(h.log, id, !h.started.Swap(true))
	e, err := decode(raw)
	if err != nil {
		return runner.Summary{}, fmt.Errorf("decode event: %w", err)
	}
	if age := e.age(o.Begin); age > tickAgeMax {
		return runner.Summary{Run: id}, h.drop(o.Log, age)
	}
	run, reporter, err := h.newRun(o.Log)
	if err != nil {
		return runner.Summary{}, fmt.Errorf("make run: %w", err)
	}
	o.Reporter, o.Request = reporter, e.request(id, h.shard, h.shards)
	o.Summary, o.Err = run.Run(ctx, o.Request)
	o.End = h.now()
	o.Close(ctx)
	return o.Summary, o.Err
}
