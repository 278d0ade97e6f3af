package runnertest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

// Two processes that load and then save: in some orders the second save is overtaken, in some it is not, and exploring finds both.
func TestExploreFindsEveryOrderAndFollowsNoStateTwice(t *testing.T) {
	overtaken, clean := 0, 0
	var errs [2]error
	done := runnertest.Explore(func() runnertest.Scene {
		w := runnertest.New(memledger.New())
		arn := w.Add("web", 1).ARN
		scene := runnertest.Scene{World: w, Processes: []*runnertest.Process{w.Process("a"), w.Process("b")}}
		scene.Start = func(i int) {
			p := scene.Processes[i]
			rec, err := p.Load(context.Background(), arn)
			if err == nil {
				rec.State.BlindRun = i + 1
				_, err = p.Save(context.Background(), arn, rec)
			}
			errs[i] = err
		}
		return scene
	}, func(runnertest.Scene, []string) bool {
		if errors.Is(errs[0], fault.Conflict) || errors.Is(errs[1], fault.Conflict) {
			overtaken++
		} else {
			clean++
		}
		return true
	})
	// Of the six orders two are clean; the four others are two pairs whose loads commute.
	if clean != 2 || overtaken != 2 || done.Schedules != 4 {
		t.Errorf("%d clean, %d overtaken, %+v", clean, overtaken, done)
	}
}

func TestAProcessThatCrashedHasNoEffectAnyMore(t *testing.T) {
	w := runnertest.New(memledger.New())
	g := w.Add("web", 2)
	for _, after := range []bool{false, true} {
		p := w.Process("p")
		p.Hook = func(c runnertest.Call) runnertest.Effect {
			return runnertest.Effect{CrashBefore: c.N == 2 && !after, CrashAfter: c.N == 2 && after}
		}
		ctx := context.Background()
		if err := p.Mark(ctx, g.Members[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := p.Restore(ctx, g.Members[0].ID); err == nil || g.Members[0].Unhealthy == after {
			t.Errorf("crash after %v: %v, Unhealthy %v", after, err, g.Members[0].Unhealthy)
		}
		if err := p.Mark(ctx, g.Members[1].ID); err == nil || g.Members[1].Unhealthy || !p.Crashed() {
			t.Errorf("a call after the crash: %v", err)
		}
	}
}
