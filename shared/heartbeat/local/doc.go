// Package local has the checks that a heartbeat agent usually makes: disk, process, systemd unit, age of a file, HTTP, TCP and a command.
//
// Each maker returns a function for heartbeat.Check.Run, which heeds its context and keeps nothing between two looks. They look at this
// host. Dialling checks refuse any other host when they are made, unless the caller declares a dependency; and no declaration makes it
// right to ask another service's health endpoint, since readiness must not be transitive.
//
// They never repair anything. The disk check writes one small file and removes it; no other check writes.
//
// Start reading at host.go, which has the rule, then any of the checks.
package local
