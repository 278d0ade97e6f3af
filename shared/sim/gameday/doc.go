// Package gameday plays failures of many kinds on the simulator of package sim, with one guardian or another on watch, and measures what each
// of them costs: healthy members lost, capacity, failed requests, time to repair, pages.
//
// A [Day] states causes only: a fleet, and what breaks when, drawn from a seed within bounds that it states. What is right to do is
// computed from the simulator's truth while the day is played ([World.Wrong]) and written down nowhere. The same day, guardian and seed
// give the same [Measure], byte for byte.
//
// It never decides for a guardian, reads no clock and writes nothing outside memory.
//
// Start reading at [Days] and [Play]; guardian.go is what a guardian has to be, measure.go what is counted and how.
package gameday
