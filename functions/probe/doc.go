// Command probe is the function that runs the deep checks on their own schedule, through package probe, and emits what they found
// by dependency and by cause. The dependency alarms are built on those metrics.
//
// It changes nothing in AWS but its own item of the state table, and no event can tell it what to call: the sources are read from
// their parameter at run time. A tick that comes twice, or late, finds nothing due.
//
// Start reading at main.go, then handler.go, then event.go (what it accepts) and assemble.go (what it is made of).
package main
