// Package baseline puts the published rules of other systems on watch over the simulator, and an oracle, to compare Holdfast with.
//
// Each rule decides from an [Observation] alone, with what it has to remember passed in, so that the examples of its own
// documentation can be put to it without a simulator. What all of them share stands once, in watch.go: what such a system can see of a
// fleet on AWS, and how it acts. What in the original is the Ready condition of a node is here the health that a load balancer and a
// heartbeat agent tell; what is an eviction, a remediation or an ejection there is one SetInstanceHealth(Unhealthy) here, after which
// Auto Scaling terminates the member at once and launches another. The groups run with EC2 health checks below it, as node groups do.
//
// No rule pages anybody: none of the originals does by itself (one fork ships an alert rule; see [MachineHealthCheck]).
//
// The package never asks the simulator's truth, the [Oracle] aside, never reads a clock, and holds no copy of anybody's code: rules and
// numbers are facts, restated with their source.
//
// Start reading at [Observation] and [All]; then one file is one system.
package baseline
