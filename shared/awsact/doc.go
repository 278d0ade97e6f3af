// Package awsact is runner.Actor over the Auto Scaling API: the only place in Holdfast that makes calls which change a group.
//
// It decides nothing. It refuses, before any call, what would be more than was asked for: an empty list of processes (which AWS
// reads as all of them), Launch, Terminate, and every process that a hold never touches. A mark is tried once, unless AWS says
// that it was throttled and so did nothing; whether it happened is for the runner to settle. Suspending and resuming may be
// repeated safely and are. Each has a retry quota of its own, so that neither reads nor marks can use up what a hold needs.
//
// Start reading at actor.go, then retry.go.
package awsact
