package stage_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/lambdart"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// memoryMax is the smallest memory that Lambda sells, in bytes: a sweep of 10,000 members must fit.
const memoryMax = 128 << 20

// peak is the most memory that a process has had, in bytes, and false where this machine does not tell.
func peak(t *testing.T, process int) (int64, bool) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10, true
		}
	}
	return 0, false
}

func TestASweepOfTenThousandMembersFitsTheSmallestFunction(t *testing.T) {
	const groups, members = 100, 100
	r, err := world.NewRegion(sim.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Do(func(c *sim.Cloud) {
		for g := range groups {
			name := fmt.Sprintf("group-%03d", g)
			if _, err = c.CreateTargetGroup(sim.TargetGroupSpec{Name: name}); err != nil {
				return
			}
			if err = c.CreateGroup(sim.GroupSpec{
				Name: name, Tags: map[string]string{"holdfast:guard": "true"}, Desired: members, SteadyFor: 24 * time.Hour, TargetGroups: []string{name},
			}); err != nil {
				return
			}
		}
	})
	for _, err := range []error{err, r.PutParameter(guard.ModeParameter, guard.ModeAct), r.Advance(t.Context(), time.Minute)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	url, stop, err := stage.Listen(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	f, err := r.Start(t.Context(), lambdart.FunctionSpec{
		Name: world.SweepFunction, Binary: build(t, "sweep", "lambda.norpc,holdfast_world"), Env: r.FunctionEnv(url), Timeout: 2 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		res, err := f.Invoke(t.Context(), []byte(`{}`))
		if err != nil || res.FunctionError != "" || !strings.Contains(string(res.Payload), `"looked":100,"failed":0`) {
			t.Fatalf("sweep %d: %v %.300s", n, err, res.Payload)
		}
		t.Logf("sweep %d took %s", n, res.Took.Round(time.Millisecond))
		if err := r.Advance(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	used, ok := peak(t, f.Process())
	if !ok {
		t.Skip("this machine does not tell how much memory a process has had")
	}
	t.Logf("peak memory %.1f MB after two sweeps of %d groups of %d; first request for an event after %s", float64(used)/(1<<20), groups, members, f.InitTimes())
	if used > memoryMax {
		t.Errorf("peak memory %d bytes, want at most %d", used, memoryMax)
	}
}
