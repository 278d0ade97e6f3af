//go:build unix

package gameday_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time of this process so far, of all its threads.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
