// Package lambdart runs the built Lambda binaries unchanged: it is the Lambda Runtime API on loopback, and starts,
// feeds, times out and restarts one process for each function.
//
// One Function is one execution environment, so it runs one invocation at a time and later ones wait for it, as with a
// reserved concurrency of one. A crash or a timeout ends the process; the next Invoke starts another.
//
// What it never does: it does not retry (that is the caller's part, as it is of Lambda's event queue), limit memory or
// CPU, isolate the process from this machine, or talk to anything but loopback.
//
// This package reads the real clock, unlike its neighbours. The process on the other side is a real one with its own
// real clock: its deadline header is compared with that clock, and a hung process can be found by no other.
//
// Start reading at Function in function.go; the four routes are in runtime.go. Source of the protocol: AWS Lambda
// developer guide, "Using the Lambda runtime API for custom runtimes".
package lambdart
