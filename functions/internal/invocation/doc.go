// Package invocation is what every function that runs the runner does around it: it names the run after Lambda's request, and
// closes it with metrics and one log line.
//
// It decides nothing and keeps nothing.
//
// Start reading at Outcome in invocation.go.
package invocation
