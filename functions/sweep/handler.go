package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/invocation"
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
	newRun        invocation.NewRun
	started       atomic.Bool
}

// Handle looks at the groups that the event asks for. A tick that came too late is dropped; a group that failed is in the summary.
func (h *handler) Handle(ctx context.Context, raw json.RawMessage) (runner.Summary, error) {
	i := invocation.Begin(ctx, invocation.Base{Function: function, Log: h.log, Metrics: h.metrics, Now: h.now, Cold: !h.started.Swap(true)})
	e, err := decode(raw)
	if err != nil {
		return runner.Summary{}, fmt.Errorf("decode event: %w", err)
	}
	if age := e.age(i.Start); age > tickAgeMax {
		return runner.Summary{Run: i.ID}, h.drop(i.Log, age)
	}
	return i.Run(ctx, h.newRun, e.request(i.ID, h.shard, h.shards))
}
