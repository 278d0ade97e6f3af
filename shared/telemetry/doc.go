// Package telemetry is how Holdfast's functions speak about themselves: the logger that they share, and the metrics with their
// names and units, declared once so that infra builds its alarms from the same names.
//
// Metrics are written in CloudWatch's embedded metric format, each set on one line of its own, beside the log and not through
// it. There are no dimensions per group or per instance: a metric's cost must not grow with the fleet. It reads no clock but
// the one it is given and makes no call.
//
// Start reading at metrics.go, then emf.go and log.go.
package telemetry
