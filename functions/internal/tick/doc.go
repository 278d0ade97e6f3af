// Package tick reads the event of a schedule that asks a function for its one and only errand, and says for when it was due.
//
// It decides nothing: how late is too late is the function's own matter.
//
// Start reading at Decode in tick.go.
package tick
