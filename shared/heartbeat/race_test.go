//go:build race

package heartbeat_test

// raced says that the race detector is on.
const raced = true
