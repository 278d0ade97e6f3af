// Package runnertest is a small stateful world for tests of package runner: groups with members, targets, heartbeats, alarms and
// suspensions that react to calls as AWS does, seen by any number of processes at once. Every call of every process passes a
// hook that may fail it before or after its effect, repeat it, answer from an older picture, or end the process there.
//
// It never decides anything, reads no clock, and draws no random number. It is no simulator of AWS: time passes only when the
// test says so, and a replacement is made only by Step.
//
// Start reading at world.go, then process.go (one process and its ports) and schedule.go (several at once, in every order).
package runnertest
