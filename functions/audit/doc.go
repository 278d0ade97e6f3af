// Command audit is the function that audits the account each day, through package daily: every finding becomes an event on Holdfast's bus,
// and what changed since the day before one notice.
//
// It changes nothing in AWS but its own item of the state table, and no event can tell it what to judge. A tick that comes twice finds
// nothing new to tell.
//
// Start reading at main.go, then handler.go, then assemble.go (what it is made of) and outcome.go (what it says of a run).
package main
