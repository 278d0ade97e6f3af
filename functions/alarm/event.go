package main

import (
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/alarmevent"
	"github.com/holdfast-aws/holdfast/functions/internal/invocation"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// eventAgeMax is how old an alarm's event may be. The bus tries for up to 24 hours to deliver one, and by then many sweeps have read
// the alarm's state. Source: EventBridge user guide, retrying event delivery.
const eventAgeMax = 15 * time.Minute

// worthALook says whether anybody should look now, and logs why not. Tags that could not be read are logged, and the policies still
// lead to the groups.
func (h *handler) worthALook(i invocation.Invocation, e alarmevent.Event) (bool, error) {
	if e.Ignored != "" {
		i.Log.Info("event ignored", "alarm", e.Alarm, "reason", e.Ignored)
		return false, nil
	}
	if age := i.Start.Sub(e.At); age > eventAgeMax {
		i.Log.Warn("event dropped", "alarm", e.Alarm, "age_seconds", int(age.Seconds()), "age_seconds_max", int(eventAgeMax.Seconds()))
		return false, h.metrics.Emit(telemetry.Set{
			Dimensions: map[string]string{telemetry.DimensionFunction: function}, Values: map[string]float64{telemetry.EventsDropped: 1},
		})
	}
	if e.TagTrouble != "" {
		i.Log.Warn("alarm tags", "alarm", e.Alarm, "trouble", e.TagTrouble)
	}
	return true, nil
}
