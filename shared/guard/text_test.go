package guard_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

func TestANounTakesAnSUnlessThereIsOne(t *testing.T) {
	for n, want := range map[int]string{0: "0 seeds", 1: "1 seed", 2: "2 seeds", 200: "200 seeds"} {
		if have := guard.Counted(n, "seed"); have != want {
			t.Errorf("%d: %q, want %q", n, have, want)
		}
	}
}
