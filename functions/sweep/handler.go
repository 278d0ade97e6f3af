package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

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
	begin, id := h.now(), requestID(ctx)
	log := telemetry.ForRequest(h.log, id, !h.started.Swap(true))
	e, err := decode(raw)
	if err != nil {
		return runner.Summary{}, fmt.Errorf("decode event: %w", err)
	}
	if age := e.age(begin); age > tickAgeMax {
		return runner.Summary{Run: id}, h.drop(log, age)
	}
	run, reporter, err := h.newRun(log)
	if err != nil {
		return runner.Summary{}, fmt.Errorf("make run: %w", err)
	}
	req := e.request(id, h.shard, h.shards)
	sum, err := run.Run(ctx, req)
	h.close(ctx, outcome{log: log, reporter: reporter, begin: begin, req: req, sum: sum, err: err})
	return sum, err
}
