// Package world is a small AWS in one process: an http.Handler that answers real
// SDK clients, with the simulator of shared/sim as the state behind Auto Scaling,
// Elastic Load Balancing, CloudWatch alarms and EC2, and further services mounted
// beside them.
//
// It exists because no emulator replaces an instance that was marked Unhealthy,
// honours a suspension, or sends an alarm's events. It never decides anything of
// its own: the behaviour is in shared/sim, the protocols are in wire, and this
// package translates one into the other. It checks no signature and no policy, and
// it must not be reachable from anywhere but the machine it runs on.
//
// Every request first advances the simulator to Options.Now, so that an answer is
// never older than the clock. Options.Now and Options.Sleep are the only time it
// knows; a test passes a virtual clock.
//
// Faults (throttling, errors, delays, empty pages, stale and lost answers) are
// injected per operation with Server.SetFaults or over HTTP at /_world/faults, and
// Server.Calls and Server.Log tell what was called, in order.
//
// Start reading at server.go, then fault.go; autoscaling.go, elb.go, cloudwatch.go
// and ec2.go hold the translations.
package world
