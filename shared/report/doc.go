// Package report is runner.Reporter: a notice becomes one event on Holdfast's bus, the record of a look one "verdict" log line,
// and the looks of a run together one set of metrics.
//
// It decides nothing and keeps no memory of notices: who was told, and when, is in the group's state. A notice that the bus did
// not take is an error, so that it is sent again. A log line or a metric that cannot be written never fails a look. A Reporter
// lives for one run.
//
// Start reading at reporter.go, then notice.go and totals.go.
package report
