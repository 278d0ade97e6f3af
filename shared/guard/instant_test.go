package guard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

func TestFastClocksOfAnyYearAreNoSlowPath(t *testing.T) {
	for _, year := range []int{2100, 2318, 2319, 2400, 2600, 3000, 5000, 7777, 9999} {
		t.Run(fmt.Sprint(year), func(t *testing.T) {
			f := guardtest.New(6)
			f.Sweep()
			f.Silence(2, 3)
			for range 3 {
				for _, i := range []int{2, 3} {
					f.M(i).Beat.At = time.Date(year, 12, 31, 23, 59, 59, 0, time.UTC)
					f.M(i).Beat.Seq++
				}
				f.Sweep()
			}
			open := ""
			for _, s := range f.In.State.Pages {
				open += s.Key + " "
			}
			want(t, "pages", open, guard.PageClockSkew+" ")
			want(t, "members that are well", fmt.Sprint(f.Verdict.Members.Healthy), "6")
		})
	}
}

func TestTheZeroOfMomentsIsTheZeroOfTimes(t *testing.T) {
	if at := guard.Instant(0).Time(); !at.IsZero() || guard.At(time.Time{}) != 0 {
		t.Errorf("0 is %s, and the zero time %d", at, guard.At(time.Time{}))
	}
	if at := guard.Instant(1).Time(); !at.Equal(time.UnixMilli(1)) || guard.At(at) != 1 {
		t.Errorf("1 is %s", at)
	}
}
