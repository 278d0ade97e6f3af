package report

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// Totals are what the looks of one run add up to.
type Totals struct {
	Groups, Held, Blind, Failures int
	Bad, Broken                   int
	MarksDetected, MarksEnforced  int
	Suspends, Resumes, Restores   int
	Pages, PageFailures           int
	Deferred                      map[guard.Reason]int
}

func (t *Totals) add(rep runner.Report) {
	v := rep.Verdict
	t.Groups++
	switch v.Mode {
	case guard.Held, guard.Releasing:
		t.Held++
	case guard.Blind:
		t.Blind++
	}
	if rep.Failure != "" {
		t.Failures++
	}
	t.Bad += v.Members.Bad
	t.Broken += v.Members.Broken
	for _, d := range v.Deferred {
		t.Deferred[d.Reason]++
	}
	called := 0
	for _, c := range rep.Calls {
		if c.Kind == guard.ActMark {
			called++
		}
		if c.Outcome == guard.OutcomeDone {
			t.done(c.Kind)
		}
	}
	// A mark that the second look took back is in the calls only, one that could not be reserved in the verdict only.
	t.MarksDetected += max(called, len(v.Marks()))
}

func (t *Totals) done(kind string) {
	switch kind {
	case guard.ActMark:
		t.MarksEnforced++
	case guard.ActRestore:
		t.Restores++
	case guard.ActSuspend:
		t.Suspends++
	case guard.ActResume:
		t.Resumes++
	}
}

// Totals returns what was reported so far.
func (r *Reporter) Totals() Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.totals
	t.Deferred = maps.Clone(t.Deferred)
	return t
}

// RunFacts are what a function knows of a run beside its looks.
type RunFacts struct {
	Function, Run, Trigger string
	Shard                  int
	// Completed says that this was a scheduled sweep and that it ran to its end.
	Completed bool
	// Failed and LostRaces are the runner's own counts.
	Failed, LostRaces int
	// Duration is how long the run took, Margin what was left until the deadline.
	Duration, Margin time.Duration
}

// Flush emits the metrics of the run: the totals on one line, the completed sweep under its shard, and the deferrals by reason.
func (r *Reporter) Flush(e *telemetry.Emitter, f RunFacts) error {
	t := r.Totals()
	function := func(more ...string) map[string]string {
		d := map[string]string{telemetry.DimensionFunction: f.Function}
		if len(more) == 2 {
			d[more[0]] = more[1]
		}
		return d
	}
	errs := []error{e.Emit(telemetry.Set{
		Dimensions: function(),
		Properties: map[string]any{"run": f.Run, "trigger": f.Trigger},
		Values: map[string]float64{
			telemetry.GroupsSeen: float64(t.Groups), telemetry.GroupsHeld: float64(t.Held), telemetry.GroupsBlind: float64(t.Blind),
			telemetry.GroupFailures: float64(max(t.Failures, f.Failed)), telemetry.LostRaces: float64(f.LostRaces),
			telemetry.MembersBad: float64(t.Bad), telemetry.MembersBroken: float64(t.Broken),
			telemetry.MarksDetected: float64(t.MarksDetected), telemetry.MarksEnforced: float64(t.MarksEnforced),
			telemetry.Suspends: float64(t.Suspends), telemetry.Resumes: float64(t.Resumes), telemetry.Restores: float64(t.Restores),
			telemetry.Pages: float64(t.Pages), telemetry.PageFailures: float64(t.PageFailures),
			telemetry.SweepDurationMS: milliseconds(f.Duration), telemetry.DeadlineMarginMS: milliseconds(f.Margin),
		},
	})}
	if f.Completed {
		errs = append(errs, e.Emit(telemetry.Set{
			Dimensions: function(telemetry.DimensionShard, strconv.Itoa(f.Shard)),
			By:         [][]string{{telemetry.DimensionFunction}, {telemetry.DimensionFunction, telemetry.DimensionShard}},
			Values:     map[string]float64{telemetry.SweepCompleted: 1},
		}))
	}
	for _, reason := range slices.Sorted(maps.Keys(t.Deferred)) {
		errs = append(errs, e.Emit(telemetry.Set{
			Dimensions: function(telemetry.DimensionReason, string(reason)),
			By:         [][]string{{telemetry.DimensionFunction}, {telemetry.DimensionFunction, telemetry.DimensionReason}},
			Values:     map[string]float64{telemetry.Deferred: float64(t.Deferred[reason])},
		}))
	}
	return errors.Join(errs...)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
