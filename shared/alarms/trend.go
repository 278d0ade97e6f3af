package alarms

import (
	"slices"
	"time"
)

// The trends of a queue.
const (
	trendRising  = "rising"
	trendFlat    = "flat"
	trendFalling = "falling"
)

// What a trend is made of. trendWindow is how far back it looks; its points must be pointsMin or more, spread over spanMin or
// more, or there is no trend. The newest is then at most ten minutes old.
const (
	trendWindow = 15 * time.Minute
	trendPeriod = time.Minute
	pointsMin   = 3
	spanMin     = 5 * time.Minute
)

// A queue moves when it changes by more than changeMin messages and by more than changePercent of what it was.
const (
	changeMin     = 1
	changePercent = 5
)

// point is one period of a metric.
type point struct {
	at    time.Time
	value float64
}

// trend compares the medians of the oldest and of the newest third of the points, which must be sorted, oldest first. Medians,
// because one burst is no trend.
func trend(points []point) string {
	third := max(1, len(points)/3)
	was, is := median(points[:third]), median(points[len(points)-third:])
	tolerance := max(changeMin, was*changePercent/100)
	switch {
	case is > was+tolerance:
		return trendRising
	case is < was-tolerance:
		return trendFalling
	default:
		return trendFlat
	}
}

func median(points []point) float64 {
	values := make([]float64, 0, len(points))
	for _, p := range points {
		values = append(values, p.value)
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
