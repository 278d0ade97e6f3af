package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/alarmevent"
	"github.com/holdfast-aws/holdfast/functions/internal/invocation"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// handler translates an alarm's event into one run and its summary into metrics.
type handler struct {
	log     *slog.Logger
	metrics *telemetry.Emitter
	now     func() time.Time
	newRun  invocation.NewRun
	started atomic.Bool
}

// Handle looks at the groups that depend on the event's alarm, in every shard. An event that is too old, or is none of a state, is
// left; a group that failed is in the summary.
func (h *handler) Handle(ctx context.Context, raw json.RawMessage) (runner.Summary, error) {
	i := invocation.Begin(ctx, invocation.Base{Function: function, Log: h.log, Metrics: h.metrics, Now: h.now, Cold: !h.started.Swap(true)})
	e, err := alarmevent.Decode(raw)
	if err != nil {
		return runner.Summary{}, fmt.Errorf("decode event: %w", err)
	}
	if look, err := h.worthALook(i, e); !look {
		return runner.Summary{Run: i.ID}, err
	}
	sum, err := i.Run(ctx, h.newRun, e.Request(i.ID))
	if err == nil && len(sum.Groups) == 0 {
		i.Log.Info("no group depends on the alarm", "alarm", e.Alarm)
	}
	return sum, err
}
