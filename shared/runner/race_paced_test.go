package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

func TestTwoRunsAtAnyStageOfAPacedExitRepairOneByOneInEveryOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("some thousand runs of two processes")
	}
	for i, from := range pacing(t) {
		t.Run(fmt.Sprintf("acting sweep %d", i), func(t *testing.T) {
			everyOrder(t, from, []entry{{"a", runner.TriggerSweep, "a", 0}, {"b", runner.TriggerManual, "b", time.Second}}, func(r *race) []string {
				var out []string
				r.bench.ticks(t, 70)
				g := r.bench.Groups[0]
				if s := r.bench.state(t, g); s.Hold != nil || s.Paced != nil || len(g.Suspended) != 0 || len(r.bench.pages(guard.PageSuspensionRemoved)) != 0 {
					out = append(out, fmt.Sprintf("hold %+v, paced %+v, suspended %v, pages %+v", s.Hold, s.Paced, g.Suspended, r.bench.Pages))
				}
				if n := len(r.bench.Marks()); n != 2 {
					out = append(out, fmt.Sprintf("%d marks, want both members once", n))
				}
				return out
			})
		})
	}
}

// A person resumes HealthCheck at any moment of a run that is at any stage of a paced exit.
func TestAPersonResumesTheHealthCheckOfAPacedExitAtAnyMoment(t *testing.T) {
	for i, from := range pacing(t) {
		if _, there := from.Groups[0].Suspended[guard.ProcessHealthCheck]; !there {
			continue
		}
		t.Run(fmt.Sprintf("acting sweep %d", i), func(t *testing.T) {
			from.Changing = true
			var now *race
			runnertest.Explore(func() runnertest.Scene {
				scene, r := start(t, from, []entry{{"a", runner.TriggerSweep, "a", 0}})
				now = r
				runs := scene.Start
				scene.Processes = append(scene.Processes, r.bench.Process("person"))
				scene.Start = func(i int) {
					if i == 0 {
						runs(i)
						return
					}
					scene.Processes[i].Happen(func() { delete(r.bench.Groups[0].Suspended, guard.ProcessHealthCheck) })
				}
				return scene
			}, func(_ runnertest.Scene, trace []string) bool {
				problems := handedOver(t, now.bench, trace)
				for _, p := range problems {
					t.Errorf("%s\nin the order:\n%s", p, strings.Join(trace, "\n"))
				}
				return len(problems) == 0
			})
		})
	}
}

// handedOver says whether the run resumed replacement though its last reading showed that HealthCheck runs, and what the next sweeps leave.
func handedOver(t *testing.T, b *bench, trace []string) []string {
	var out []string
	if end := slices.Index(trace, "a resume"); end >= 0 && slices.ContainsFunc(b.Calls(guard.ActResume), func(d runnertest.Done) bool {
		return slices.Contains(d.Processes, guard.ProcessReplaceUnhealthy)
	}) {
		if person := slices.Index(trace, "person happen"); person < lastBefore(trace, "a group", end) {
			out = append(out, "replacement is resumed though HealthCheck was seen to run")
		}
	}
	b.ticks(t, 2)
	g := b.Groups[0]
	_, health := g.Suspended[guard.ProcessHealthCheck]
	_, replace := g.Suspended[guard.ProcessReplaceUnhealthy]
	s := b.state(t, g)
	if !health && !replace && (s.Paced != nil || s.Hold != nil) {
		out = append(out, fmt.Sprintf("two sweeps later nothing is suspended, with the hold %+v and the paced exit %+v", s.Hold, s.Paced))
	}
	if health && s.Paced == nil && s.Hold == nil {
		out = append(out, "HealthCheck is suspended without a record")
	}
	return out
}
