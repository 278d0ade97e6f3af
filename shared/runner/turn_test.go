package runner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

func TestADeadlineDoesNotAlwaysCutTheSameGroups(t *testing.T) {
	const groups, sweeps = 10, 60
	looked := map[string]int{}
	for minute := range sweeps {
		w := runnertest.New(memledger.New())
		for i := range groups {
			w.Add(fmt.Sprintf("g%d", i), 2)
		}
		w.Now = w.Now.Add(time.Duration(minute) * time.Minute)
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
		p := w.Process("cut")
		seen := 0
		p.Hook = func(c runnertest.Call) runnertest.Effect {
			if c.Op == runnertest.OpDetails {
				looked[c.Group]++
				if seen++; seen == groups/2 {
					cancel()
				}
			}
			return runnertest.Effect{}
		}
		if _, err := p.Run(ctx, runner.Request{Run: "cut", Trigger: runner.TriggerSweep}); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	for i := range groups {
		if n := looked[fmt.Sprintf("g%d", i)]; n < sweeps/4 {
			t.Errorf("g%d was looked at in %d of %d runs that were cut in half, want at least %d", i, n, sweeps, sweeps/4)
		}
	}
}
