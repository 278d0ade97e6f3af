package clock_test

import (
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/clock"
)

// TestNothingReplacesTheMachinesClock is about the build that is deployed: even the variable of the embedded AWS changes nothing.
func TestNothingReplacesTheMachinesClock(t *testing.T) {
	asked := 0
	now, err := clock.FromEnv(func(string) string { asked++; return "http://127.0.0.1:1/" })
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	at := now()
	if at.Before(before) || at.After(time.Now()) || asked != 0 {
		t.Errorf("the clock says %s, and %d variables were looked up", at, asked)
	}
}
