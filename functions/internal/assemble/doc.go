// Package assemble makes what a function that looks at groups is made of: the AWS clients with their time limits and retry rules,
// the adapters over them, and for each invocation a runner and a reporter of its own.
//
// It decides nothing, reads no event, makes no call, and keeps nothing of an invocation: what outlives one are clients.
//
// Start reading at Parts in assemble.go.
package assemble
