package chaos_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/chaos"
)

// seeds is how many seeds to run: HOLDFAST_CHAOS_SEEDS, else few, and a tenth of them with -short.
func seeds(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("HOLDFAST_CHAOS_SEEDS")
	switch {
	case text == "" && testing.Short():
		return max(1, few/10)
	case text == "":
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("HOLDFAST_CHAOS_SEEDS=%q, want a number from 1", text)
	}
	return n
}

// firstSeed is HOLDFAST_CHAOS_FIRST, or 0.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("HOLDFAST_CHAOS_FIRST")
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("HOLDFAST_CHAOS_FIRST=%q, want a number", text)
	}
	return n
}

// each runs the seeds of a range, a few at once, until they are done or judge has had enough. Seeds begin in their order.
func each(t *testing.T, from, to uint64, o chaos.Options, judge func(chaos.Result) bool) {
	t.Helper()
	var mu sync.Mutex
	next, stop := from, false
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				over := stop || seed >= to
				mu.Unlock()
				if over {
					return
				}
				mine := o
				mine.Seed = seed
				r, err := chaos.Run(t.Context(), mine)
				mu.Lock()
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				stop = !judge(r) || stop
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func tell(r chaos.Result) string {
	var b strings.Builder
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "\n  %s", v)
	}
	for _, u := range r.Unhealed {
		fmt.Fprintf(&b, "\n  not healed: %s", u)
	}
	return b.String()
}

const replay = "HOLDFAST_CHAOS_SEED=%d go test ./shared/sim/chaos -run TestChaosReplay -v"

func TestChaosSafetyThenHeal(t *testing.T) {
	n := seeds(t, 50)
	var total chaos.Counts
	var worst time.Duration
	var worstSeed uint64
	bad, limit, first := 0, 5, firstSeed(t)
	each(t, first, first+uint64(n), chaos.Options{}, func(r chaos.Result) bool {
		total = total.Add(r.Counts)
		if r.HealedAfter > worst {
			worst, worstSeed = r.HealedAfter, r.Seed
		}
		if r.Bad() {
			bad++
			t.Errorf("seed %d, again with\n  "+replay+"%s", r.Seed, r.Seed, tell(r))
		}
		return bad < limit
	})
	t.Logf("%d seeds from %d: %+v; slowest to heal: seed %d, %s", n, first, total, worstSeed, worst)
	mean := func(count int) float64 { return float64(count) / float64(n) }
	t.Logf("a seed has %.0f runs, %.0f calls, %.1f faults, %.1f crashes, %.1f races, %.1f traps, %.2f marks, %.1f holds, %.1f releases", mean(total.Runs),
		mean(total.Calls), mean(total.Faults), mean(total.Crashes), mean(total.Races), mean(total.Traps), mean(total.Marks), mean(total.Holds), mean(total.Releases))
	if n >= 50 && bad == 0 && (mean(total.Faults) < 10 || mean(total.Crashes) < 1 || mean(total.Marks) < 0.4 || mean(total.Holds) < 1 || mean(total.Releases) < 1) {
		t.Error("the runs are thin: too little happens in them to show anything")
	}
}

func TestChaosReplay(t *testing.T) {
	text := os.Getenv("HOLDFAST_CHAOS_SEED")
	if text == "" {
		t.Skip("set HOLDFAST_CHAOS_SEED to see one seed call by call")
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("HOLDFAST_CHAOS_SEED: %v", err)
	}
	r, err := chaos.Run(t.Context(), chaos.Options{Seed: seed, Log: func(line string) { fmt.Println(line) }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Bad() {
		t.Errorf("seed %d:%s", seed, tell(r))
	}
	t.Logf("%+v, healed after %s", r.Counts, r.HealedAfter)
}

// calls is the list of what one seed does, call by call.
func calls(t *testing.T, o chaos.Options) string {
	t.Helper()
	var b strings.Builder
	o.Log = func(line string) { fmt.Fprintln(&b, line) }
	r, err := chaos.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s%+v", b.String(), r)
}

// differ is the first line in which two lists of calls differ, "" if there is none.
func differ(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, x[i], y[i])
		}
	}
	if len(x) != len(y) {
		return fmt.Sprintf("%d lines and %d", len(x), len(y))
	}
	return ""
}

func TestChaosSameSeedSameCallsWithAndWithoutShortCuts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(min(30, max(3, seeds(t, 100)/10))) {
		first := calls(t, chaos.Options{Seed: seed})
		if d := differ(first, calls(t, chaos.Options{Seed: seed})); d != "" {
			t.Errorf("seed %d, twice: %s", seed, d)
		}
		if d := differ(first, calls(t, chaos.Options{Seed: seed, Plain: true})); d != "" {
			t.Errorf("seed %d, without and with short cuts: %s", seed, d)
		}
	}
}
