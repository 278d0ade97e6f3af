// Package alarmevent reads what an alarm sends when its state changes: the event on the bus, and the payload of the alarm's own
// Lambda action. It takes the alarm's name, the time, and the groups that the alarm's tag names, and nothing else.
//
// It never looks at the state: that is read from CloudWatch. It keeps nothing and reads no clock.
//
// Start reading at Decode in event.go.
package alarmevent
