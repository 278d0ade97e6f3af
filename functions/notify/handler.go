package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"

	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// handler translates an event into one delivery, and its result into a log line and metrics.
type handler struct {
	log     *slog.Logger
	metrics *telemetry.Emitter
	desk    *notify.Desk
	started atomic.Bool
}

// Handle delivers the notice that an event holds. An error means that somebody who should have been told was not.
func (h *handler) Handle(ctx context.Context, raw json.RawMessage) error {
	log := telemetry.ForRequest(h.log, requestID(ctx), !h.started.Swap(true))
	n, err := notify.Decode(raw)
	if err != nil {
		log.Error("event refused", "error", err.Error())
		return err
	}
	res, err := h.desk.Deliver(ctx, n)
	h.tell(log, outcome{notice: n, result: res, err: err})
	return err
}
