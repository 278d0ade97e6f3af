// Package chaos tries the runner and the guard in a simulated Region where anything may fail at any call, and checks after each
// call that no rule of safety is broken. A run has two phases. In the chaos phase members break, dependencies and zones fail,
// people meddle, clocks step, and every call of several runners at once may be refused, lost, repeated, answered from an old
// picture, or be the last one of its process. In the heal phase all of that stops and people do what the pages and the status tell
// them; then the fleet must become whole within a bounded time.
//
// Chance alone seldom meets the moments that matter, so they are set: a trap is a member that breaks beside one reason not to mark it,
// and the calls that mark, hold and release are the ones that go wrong most. Whether the rules would notice is tested too: the tests
// take each gate of the guard away, and each part of the fence, and keep the first seed that breaks a rule in testdata/gates.txt.
//
// One seed drives everything: the same seed gives the same calls in the same order. The rules are checked against the package's own
// book of what the calls did, what each runner had read before, and what is so in truth; the guard's state is never asked whether the
// guard was right.
//
// It never reads a clock, and shares nothing between two runs, so that many seeds may run at once.
//
// Start reading at chaos.go, then stage.go (processes and their order), process.go (the ports, and where faults come in), trap.go and
// weather.go (what happens), check_mark.go and check_truth.go (the rules).
package chaos
