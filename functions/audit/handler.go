package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/tick"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// handler translates a tick into one audit and its outcome into metrics and log lines.
type handler struct {
	log     *slog.Logger
	metrics *telemetry.Emitter
	now     func() time.Time
	// newAudit makes what one invocation uses; its log is the invocation's.
	newAudit func(*slog.Logger) *daily.Audit
	started  atomic.Bool
}

// Handle audits. A tick that came too late is dropped, because the next one sees more.
func (h *handler) Handle(ctx context.Context, raw json.RawMessage) (daily.Outcome, error) {
	begin, id := h.now(), requestID(ctx)
	log := telemetry.ForRequest(h.log, id, !h.started.Swap(true))
	at, err := tick.Decode(raw)
	if err != nil {
		return daily.Outcome{}, fmt.Errorf("decode event: %w", err)
	}
	if age := begin.Sub(at); !at.IsZero() && age > tickAgeMax {
		return daily.Outcome{Run: id}, h.drop(log, age)
	}
	out, err := h.newAudit(log).Run(ctx, id)
	h.close(ctx, log, ended{out: out, err: err, begin: begin})
	return out, err
}
