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

// each runs seeds, a few at once, until they are done or judge has had enough.
func each(t *testing.T, n int, judge func(chaos.Result) bool) {
	t.Helper()
	var mu sync.Mutex
	next, stop := uint64(0), false
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				over := stop || seed >= uint64(n)
				mu.Unlock()
				if over {
					return
				}
				r, err := chaos.Run(t.Context(), chaos.Options{Seed: seed})
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
	bad, limit := 0, 5
	if os.Getenv("HOLDFAST_CHAOS_STOP") != "" {
		limit = 1
	}
	each(t, n, func(r chaos.Result) bool {
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
	t.Logf("%d seeds from 0: %+v; slowest to heal: seed %d, %s", n, total, worstSeed, worst)
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

func TestChaosShortCutsChangeNoCall(t *testing.T) {
	t.Parallel()
	for seed := range uint64(max(3, seeds(t, 30)/10)) {
		fast, plain := calls(t, chaos.Options{Seed: seed}), calls(t, chaos.Options{Seed: seed, Plain: true})
		if again := calls(t, chaos.Options{Seed: seed}); again != fast {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		if fast != plain {
			for i, line := range strings.Split(plain, "\n") {
				if now := strings.Split(fast, "\n"); i >= len(now) || now[i] != line {
					t.Fatalf("seed %d, line %d: with the ledger's JSON\n%s\nwithout\n%s", seed, i, line, now[min(i, len(now)-1)])
				}
			}
		}
	}
}
