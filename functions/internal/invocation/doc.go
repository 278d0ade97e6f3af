// Package invocation is what every function that runs the runner does around it: it names the run after Lambda's request, makes
// what the run uses, and closes it with metrics and one log line.
//
// It decides nothing and keeps nothing.
//
// Start reading at Begin in invocation.go.
package invocation
