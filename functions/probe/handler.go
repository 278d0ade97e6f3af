package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/tick"
	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// handler translates a tick into one run and its report into metrics and log lines.
type handler struct {
	log     *slog.Logger
	metrics *telemetry.Emitter
	now     func() time.Time
	prober  *probe.Prober
	started atomic.Bool
}

// Handle runs what is due. A tick that came too late is dropped; a dependency that fails is a finding, not an error.
func (h *handler) Handle(ctx context.Context, raw json.RawMessage) (summary, error) {
	begin, id := h.now(), requestID(ctx)
	log := telemetry.ForRequest(h.log, id, !h.started.Swap(true))
	at, err := tick.Decode(raw)
	if err != nil {
		return summary{}, fmt.Errorf("decode event: %w", err)
	}
	if age := begin.Sub(at); !at.IsZero() && age > tickAgeMax {
		return summary{Run: id}, h.drop(log, age)
	}
	report, err := h.prober.Run(ctx)
	facts := h.facts(ctx, id, begin)
	h.close(log, report, facts)
	if err != nil {
		return summary{Run: id}, fmt.Errorf("run probes: %w", err)
	}
	return summarize(report, facts), nil
}
