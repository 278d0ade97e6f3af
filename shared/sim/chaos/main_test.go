package chaos_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow: a seed leaves much garbage and keeps little, so collecting it often is most of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	os.Exit(m.Run())
}
