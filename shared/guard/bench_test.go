package guard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// BenchmarkDecide measures one look at a group in its usual state: watched for hours, one member in a hundred bad for a while.
// Every beat has advanced since the look before.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("%d members", n), func(b *testing.B) {
			in := usual(n)
			v := guard.Decide(in)
			if v.Mode != guard.Watching || v.Members.Bad != n/100 {
				b.Fatalf("not the usual state: %s with %d bad", v.Mode, v.Members.Bad)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				guard.Decide(in)
			}
		})
	}
}

// BenchmarkDecideHeld measures a look at a group that is held because every member fails.
func BenchmarkDecideHeld(b *testing.B) {
	f := guardtest.New(10000)
	f.Break(upTo(10000)...)
	f.Sweeps(2)
	b.ReportAllocs()
	for b.Loop() {
		guard.Decide(f.In)
	}
}

// usual is the input of a look at n members, of which 1 % broke one after the other, some time ago.
func usual(n int) guard.Input {
	f := guardtest.New(n)
	f.In.Policy.MaxInFlight = 0
	for i := range n / 100 {
		f.Break(100 * i)
	}
	f.In.State.LastSweep = guard.At(f.In.Now.Add(-time.Hour)) // a gap: what is bad then is no cluster of onsets
	f.Sweeps(2)
	f.In.Policy.MaxInFlight = 1
	in := f.In
	in.Now = in.Now.Add(guardtest.Interval)
	for i := range in.Group.Members {
		in.Group.Members[i].Beat.At, in.Group.Members[i].Beat.Seq = in.Now, in.Group.Members[i].Beat.Seq+1
	}
	return in
}

func TestTheUsualLookIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("counts allocations")
	}
	small, large := usual(1000), usual(10000)
	a := testing.AllocsPerRun(3, func() { guard.Decide(small) })
	b := testing.AllocsPerRun(3, func() { guard.Decide(large) })
	if b > 15*a {
		t.Errorf("%.0f allocations for 1000 members and %.0f for 10000: more than linear", a, b)
	}
}
