// Package stack has the constructs of Holdfast: Guardian, which provisions Holdfast itself once for an account and Region, and
// GuardedFleet, which puts an Auto Scaling group behind a target group at reviewed thresholds and under guard.
//
// Nothing in it calls AWS or asks for a lookup, names a partition, a Region or a host, or grants an act on more than groups that carry
// the tag holdfast:guard = true. Nothing in it writes below /holdfast/groups/, which is the operator's.
//
// Start reading at guardian.go, then permissions.go (every IAM statement) and fleet.go; judge.go is what fails a synth.
package stack
