// Package runner is the one way in which Holdfast acts: it gathers what is to be known about each group, lets guard.Decide
// judge it, reserves the budget by a conditional write, looks a second time and decides again, acts, records what came of it,
// and reports. The sweep, an alarm event and a manual run all pass through Run.
//
// It never decides anything about health or limits itself, reads no clock but the one it is given, and knows no AWS package:
// its ports, in ports.go, are what it needs of the world. One group's failure never touches another's.
//
// Start reading at ports.go, then run.go.
package runner
