package whatif

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// most is how many members are simulated; a larger group is simulated with so many, and the answer is scaled.
const most = 60

// Durations are how long every probe fails: a slow minute and a half, a failover, an outage.
func Durations() []time.Duration {
	return []time.Duration{90 * time.Second, 5 * time.Minute, 20 * time.Minute}
}

// Of answers for every group of the account and every one of Durations, in that order. Groups that cannot be simulated are answered
// with the reason, also those at which the simulator failed. Groups with the same settings are simulated once. An error says that ctx
// ended.
func Of(ctx context.Context, a audit.Account) ([]audit.WhatIf, error) {
	targets := map[string]audit.TargetGroup{}
	for _, t := range a.TargetGroups {
		targets[t.ID] = t
	}
	var out []audit.WhatIf
	cases := map[bad]*result{}
	var order []bad
	var asked []*result // by index of out; nil for a group that is not simulated
	for _, g := range a.Groups {
		s, assumed, why := settingsOf(g, targets, a.StatusChecks)
		for _, d := range Durations() {
			w := audit.WhatIf{Group: g.Name, Where: g.Where, Seconds: int(d.Seconds()), Members: s.desired, Assumed: assumed, Why: why}
			var r *result
			if why == "" {
				key := bad{settings: s.key(), seconds: w.Seconds}
				if r = cases[key]; r == nil {
					r = &result{settings: s, lasts: d}
					cases[key], order = r, append(order, key)
				}
			}
			out, asked = append(out, w), append(asked, r)
		}
	}
	if err := simulateAll(ctx, cases, order); err != nil {
		return nil, err
	}
	for i, r := range asked {
		switch {
		case r == nil:
		case r.err != nil:
			out[i].Why = "it cannot be simulated: " + r.err.Error()
		default:
			out[i].Alone, out[i].Held = r.alone, r.held
		}
	}
	return out, nil
}

// bad is one question: settings, and for how long every probe fails.
type bad struct {
	settings string
	seconds  int
}

type result struct {
	settings    settings
	lasts       time.Duration
	alone, held audit.Loss
	err         error
}

// simulateAll answers all questions on all processors. Each has a simulator of its own, so that the order changes nothing.
func simulateAll(ctx context.Context, cases map[bad]*result, order []bad) error {
	work := make(chan *result)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for r := range work {
				r.simulate(ctx)
			}
		})
	}
	for _, key := range order {
		if ctx.Err() != nil {
			break
		}
		work <- cases[key]
	}
	close(work)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("simulate groups: %w", err)
	}
	return nil
}

func (r *result) simulate(ctx context.Context) {
	in := r.settings.incident(r.lasts)
	var err error
	if r.alone, err = r.lossOf(ctx, in, false); err == nil {
		r.held, err = r.lossOf(ctx, in, true)
	}
	r.err = err
}

// lossOf runs the incident once.
func (r *result) lossOf(ctx context.Context, in sim.Incident, guarded bool) (audit.Loss, error) {
	run, err := drive.Run(ctx, in, drive.Options{Guarded: guarded, Seed: 1, SampleEvery: sampleEvery})
	if err != nil {
		return audit.Loss{}, err
	}
	loss := audit.Loss{Lost: run.Stats.HealthyTerminated, CapacityMinutes: run.Stats.CapacityMinutesLost}
	for _, s := range run.Samples {
		if 2*s.Serving < s.Desired {
			loss.EmptyMinutes += sampleEvery.Minutes()
		}
	}
	scale := r.settings.scale()
	loss.Lost = int(math.Round(float64(loss.Lost) * scale))
	loss.CapacityMinutes = math.Round(loss.CapacityMinutes*scale*10) / 10
	loss.EmptyMinutes = math.Round(loss.EmptyMinutes*10) / 10
	return loss, nil
}

// checkOf finds an EC2 application status check that reaches the group's members: Auto Scaling replaces what it calls impaired, whatever the
// health check types of the group are. Source: EC2 user guide, application status checks.
func checkOf(g audit.Group, checks []audit.StatusCheck) (audit.StatusCheck, bool) {
	for _, c := range checks {
		if !c.Suppressed && c.Selects(&g) {
			return c, true
		}
	}
	return audit.StatusCheck{}, false
}
