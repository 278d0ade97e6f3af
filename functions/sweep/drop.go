package main

import (
	"log/slog"
	"time"

	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// drop leaves out a tick that waited too long: the ticks after it look at newer facts.
func (h *handler) drop(log *slog.Logger, age time.Duration) error {
	log.Warn("tick dropped", "age_seconds", int(age.Seconds()), "age_seconds_max", int(tickAgeMax.Seconds()))
	return h.metrics.Emit(telemetry.Set{
		Dimensions: map[string]string{telemetry.DimensionFunction: function}, Values: map[string]float64{telemetry.TicksDropped: 1},
	})
}
