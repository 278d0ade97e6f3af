package tradeoff

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Options say what to play.
type Options struct {
	// Keys to try; none means all of Keys.
	Keys []Key
	// Days to play; none means all.
	Days []gameday.Day
	// Seeds is how many seeds to play, from First on; at least 1.
	Seeds int
	First uint64
	// Progress is told after each value how many are done, of how many; it may be nil.
	Progress func(done, all int)
}

// Cost is what one value cost over all days and seeds, each played twice: on EC2 health checks and beside the day's own.
type Cost struct {
	Plays           int
	HealthyLost     int
	CapacityMinutes float64
	ErrorMinutes    float64
	// RepairP50 and RepairP95 are times to repair of truly broken members; those that were never repaired count to the day's end.
	RepairP50, RepairP95 time.Duration
	Broken, Unrepaired   int
	// Pages are urgent ones, FalsePages those of them with no truth behind them.
	Pages, FalsePages int
}

// Row is one value of a key.
type Row struct {
	Value   int
	Default bool
	Cost
}

// Table is all values of one key.
type Table struct {
	Key
	Rows []Row
}

// Run plays every value of every key. An error says that a day could not be played, or that ctx ended.
func Run(ctx context.Context, o Options) ([]Table, error) {
	if o.Seeds < 1 {
		return nil, fmt.Errorf("play game days: %d seeds, want at least 1", o.Seeds)
	}
	if len(o.Keys) == 0 {
		o.Keys = Keys()
	}
	if len(o.Days) == 0 {
		o.Days = gameday.Days()
	}
	all := 0
	for _, k := range o.Keys {
		all += len(k.Values)
	}
	var out []Table
	done := 0
	for _, k := range o.Keys {
		t := Table{Key: k}
		for _, v := range k.Values {
			cost, err := o.cost(ctx, map[string]any{k.Name: v})
			if err != nil {
				return nil, fmt.Errorf("try %s = %d: %w", k.Name, v, err)
			}
			t.Rows = append(t.Rows, Row{Value: v, Default: v == k.Default, Cost: cost})
			done++
			if o.Progress != nil {
				o.Progress(done, all)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// cost plays one policy on all processors and adds up in the order of the plays, so that rounding is the same every time.
func (o Options) cost(ctx context.Context, policy map[string]any) (Cost, error) {
	type play struct {
		day     gameday.Day
		seed    uint64
		ec2     bool
		measure gameday.Measure
		err     error
	}
	var plays []*play
	for _, day := range o.Days {
		for seed := range o.Seeds {
			at := o.First + uint64(seed)
			plays = append(plays, &play{day: day, seed: at, ec2: true}, &play{day: day, seed: at})
		}
	}
	work := make(chan *play)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range work {
				p.measure, p.err = gameday.Play(p.day, gameday.HoldfastWith(policy, p.ec2), p.seed)
			}
		})
	}
	for _, p := range plays {
		if ctx.Err() != nil {
			break
		}
		work <- p
	}
	close(work)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Cost{}, err
	}
	var sum Cost
	var repairs []int32
	for _, p := range plays {
		if p.err != nil {
			return Cost{}, p.err
		}
		sum.add(p.measure)
		repairs = append(repairs, p.measure.Repairs[:min(int(p.measure.Broken), len(p.measure.Repairs))]...)
	}
	slices.Sort(repairs)
	sum.RepairP50, sum.RepairP95 = quantile(repairs, 50), quantile(repairs, 95)
	return sum, nil
}

func (c *Cost) add(m gameday.Measure) {
	c.Plays++
	c.HealthyLost += int(m.HealthyLost)
	c.CapacityMinutes += m.CapacityMinutes
	c.ErrorMinutes += m.ErrorMinutes
	c.Broken += int(m.Broken)
	c.Unrepaired += int(m.Unrepaired)
	c.Pages += int(m.Pages)
	c.FalsePages += int(m.FalsePages)
}

// quantile is the smallest value that so many percent of the sorted seconds do not pass; 0 of none.
func quantile(sorted []int32, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*percent + 99) / 100
	return time.Duration(sorted[max(0, rank-1)]) * time.Second
}

// Better says whether a cost is at least as good as another in everything that is measured and better in something. Both are of the same days
// and seeds, so that a difference is the policy's and not luck.
func (c Cost) Better(than Cost) bool {
	better := false
	for _, pair := range [][2]float64{
		{float64(c.HealthyLost), float64(than.HealthyLost)}, {c.CapacityMinutes, than.CapacityMinutes}, {c.ErrorMinutes, than.ErrorMinutes},
		{c.RepairP50.Seconds(), than.RepairP50.Seconds()}, {c.RepairP95.Seconds(), than.RepairP95.Seconds()},
		{float64(c.Unrepaired), float64(than.Unrepaired)}, {float64(c.Pages), float64(than.Pages)}, {float64(c.FalsePages), float64(than.FalsePages)},
	} {
		if pair[0] > pair[1] {
			return false
		}
		better = better || pair[0] < pair[1]
	}
	return better
}
