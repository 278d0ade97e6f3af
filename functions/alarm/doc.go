// Command alarm is the function that looks at once at the groups that depend on an alarm whose state has changed, through the same
// runner as the sweep. It takes the event "CloudWatch Alarm State Change", of alarms on one metric, on an expression and on other
// alarms, and the payload of an alarm that calls it directly.
//
// It only shortens the wait for the next sweep. The state in the event is never believed, nor that its actions are muted or
// suppressed, which is about notices and not about safety: states are read. An event that is lost, repeated, late or out of order
// changes no verdict. The groups are those whose policy names the alarm, and those that the alarm's tag holdfast:group names. An
// alarm that neither leads to a group, such as one of Holdfast's own, is logged and left.
//
// It decides nothing, and keeps nothing from one invocation to the next but its clients and the fact that it has started.
//
// Start reading at main.go, then handler.go and event.go; what it accepts stands in functions/internal/alarmevent, what it is made of in
// functions/internal/assemble.
package main
