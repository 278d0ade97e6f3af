// Package probe runs the deep checks: it asks dependencies themselves, or a sample of a group's instances, how they are, on a
// schedule of its own, and counts what it finds by dependency and by cause. Those counts feed the dependency alarms, which hold
// groups still; nothing here marks, drains or replaces anything.
//
// It never asks the path that a load balancer routes by, never follows a redirect, never connects to a link-local, metadata or
// loopback address, and never takes what it could not find out for a failure. Its clock, resolver, dialer and memory are given
// to it.
//
// Start reading at config.go (what a source is) and parse.go with rules.go (every rule), then run.go (one run: plan, check,
// judge, remember), check.go (one call) and report.go (what is told). The adapters to AWS are in probeaws.
package probe
