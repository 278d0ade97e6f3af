package gameday

import "fmt"

// Measure is what one day cost with one guardian, summed over the day's groups.
type Measure struct {
	// HealthyLost counts members that were terminated for a health reason although nothing was wrong with them.
	HealthyLost int
	// CapacityMinutes is desired less really serving capacity, in members, summed over minutes.
	CapacityMinutes float64
	// ErrorMinutes is the share of failing requests, summed over minutes.
	ErrorMinutes float64
}

func measure(w *World, _ Guardian) (Measure, error) {
	var m Measure
	for _, group := range w.Day.Groups {
		stats, err := w.Cloud.Stats(group)
		if err != nil {
			return Measure{}, fmt.Errorf("measure %s: %w", w.Day.Name, err)
		}
		m.HealthyLost += stats.HealthyTerminated
		m.CapacityMinutes += stats.CapacityMinutesLost
		m.ErrorMinutes += stats.ErrorMinutes
	}
	return m, nil
}
