package guard_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// ripe is a group with every limit at its highest and some members that only lack their last look.
func ripe(members, broken int) *guardtest.Fleet {
	f := calm(guardtest.New(members))
	p := &f.In.Policy
	p.CorrelatedPercent = 100 // more than a policy may say, so that no hold stands in the way of marks
	p.MaxInFlight, p.MarksPer10Minutes, p.MarksPerHour, p.MarksPerDay, p.RegionMarksPerHour = 100, 1e9, 1e9, 1e9, 1e9
	p.CapacityLossPercentMax, p.MinHealthyPercent, p.OnsetCount = 100, 0, 1e9
	f.Break(upTo(broken)...)
	f.Sweep()
	return f
}

func TestMarksOfOneLook(t *testing.T) {
	for _, test := range []struct{ broken, marks int }{{19, 19}, {20, 20}, {21, 20}} {
		t.Run(fmt.Sprintf("%d broken members", test.broken), func(t *testing.T) {
			f := ripe(1000, test.broken)
			v := f.Sweep()
			want(t, "marks", fmt.Sprint(len(v.Marks())), fmt.Sprint(test.marks))
			want(t, "triggers", causes(v), "")
			if test.broken > test.marks {
				last := f.ID(test.broken - 1)
				want(t, "the one too many", fate(v, last), "budget=20/20")
				want(t, "its text", deferral(v, last).Text, "marks in one look")
				want(t, "it at the next look", fate(f.Sweep(), last), "mark")
			}
		})
	}
}

func TestTenThousandMembersPassNoLimit(t *testing.T) {
	f := ripe(10_000, 1_000)
	for look := range 8 {
		v := f.Sweep()
		l := v.Limits
		if n := len(v.Marks()); n > 20 || l.InFlight > l.InFlightMax || l.InFlightMax > 100 {
			t.Fatalf("look %d: %d marks, limits %+v", look, n, l)
		}
		if look < 5 && len(v.Marks()) != 20 || look >= 5 && len(v.Marks()) != 0 {
			t.Errorf("look %d: %d marks, want 20 in each of the first five, until 100 are in flight", look, len(v.Marks()))
		}
	}
	want(t, "in flight", fmt.Sprint(f.Verdict.Limits.InFlight, f.Verdict.Limits.InFlightMax), "100 100")
	want(t, "the first that waits", fate(f.Verdict, f.ID(100)), "in-flight=100/100")
	f.Break(upTo(10_000)...)
	want(t, "marks when all are broken", fmt.Sprint(len(f.Sweep().Marks())), "0")
}
