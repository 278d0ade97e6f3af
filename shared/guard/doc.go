// Package guard is the decision core of Holdfast: given everything that was read about one Auto Scaling group, it decides
// whether a single broken member is marked, whether the group's replacement is held still, and when a hold is released.
//
// Its promises: Decide is a function. It reads no clock, does no I/O, draws no random number, imports the standard library
// only, and gives the same bytes for the same input. What could not be read is never acted on. Every member that looks bad
// and is not marked is listed with the first gate that said no and the numbers it saw.
//
// It never calls AWS and never stores anything: package runner reads, reserves, acts and records around it.
//
// Reading order: snapshot.go (what is seen), policy.go (what people may set), state.go (what earlier sweeps left),
// diagnose.go (one member), trust.go (can the inputs be believed), trigger.go (many members), hold.go and release.go
// (standing still and the way out), gate.go (who may be marked), verdict.go (what comes out), decide.go (the order of it all).
package guard
