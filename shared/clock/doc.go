// Package clock is the one place where a function, and a command of the operator, gets its clock: the machine's.
//
// One that is built with the tag holdfast_world, which is done for the embedded AWS alone, asks that AWS for the time instead,
// so that an hour can be lived through in seconds. A build without the tag, such as every deployed one, has no code that could
// replace its clock, whatever its environment says.
//
// Start reading at machine.go.
package clock
