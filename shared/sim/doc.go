// Package sim is a small Amazon Web Services on a virtual clock: EC2 Auto Scaling, Elastic Load Balancing
// target health, CloudWatch alarms, and instances that serve requests and write heartbeats.
//
// It exists to show what a failure does to a fleet, with and without a guardian, and to be the state behind the
// local wire servers. Everything follows from rules: a probe fails because the simulated instance fails, a
// member is replaced because a check marked it. No outcome is written down anywhere.
//
// # Promises
//
// The same seed and the same calls give the same timeline, byte for byte, whatever the size of the steps in
// which [Cloud.Advance] is called. Time moves only in Advance. Randomness is drawn from the seed and the name of
// what it is for, so that a guardian that acts differently does not change the luck of the others. A [Cloud] is
// not safe for concurrent use: its owner holds one lock around it.
//
// # What it never does
//
// It reads no clock, does no input or output, knows no AWS type and no guardian. Reads return copies. It models
// neither scaling policies, lifecycle hooks, warm pools, Availability Zone rebalancing, nor the choice of Spot
// pools (an interruption is a call). Where AWS does not document a rule, the doc comment of the
// field says so, and the default is the worst case for the customer.
//
// # Where to start reading
//
// [Config] states the assumptions, [GroupSpec] and [TargetGroupSpec] describe a fleet, [Cloud] runs it,
// [Incidents] lists the failures that are told as data. reconcile.go holds the rules of Auto Scaling, targets.go those
// of the load balancer, truth.go what is really the matter with an instance, load.go what too many requests do to it.
package sim
