// Command notify is the function that brings Holdfast's notices to people, through package notify: SNS topics, and webhooks where
// they are set. Its events come from Holdfast's own bus.
//
// It decides nothing and keeps nothing from one invocation to the next but its clients and the fact that it has started. A notice
// that a channel did not take is an error: Lambda tries again, only that channel is sent it again, and after the last try the event
// goes to the function's failure destination. No hold depends on any of this.
//
// Start reading at main.go, then handler.go, then assemble.go (what it is made of).
package main
