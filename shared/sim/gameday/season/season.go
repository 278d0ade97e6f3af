package season

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Plan says what to play.
type Plan struct {
	Days      []gameday.Day
	Guardians []func() gameday.Guardian
	// First is the first seed, Seeds how many are played from there; at least 1.
	First, Seeds uint64
	// Workers is how many seeds are played at once; at least 1. It changes no figure.
	Workers int
	// Progress is told how many of all plays are over, one call at a time and never fewer than before; it may be nil. It changes no figure.
	Progress func(done, all uint64)
}

// plays counts what is over and tells it.
type plays struct {
	mu        sync.Mutex
	done, all uint64
	tell      func(done, all uint64)
}

func (c *plays) over() {
	if c.tell == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.tell(c.done, c.all)
}

// Play plays every day with every guardian on every seed. The first day that cannot be carried out ends it.
func Play(ctx context.Context, p Plan) (Table, error) {
	if len(p.Days) == 0 || len(p.Guardians) == 0 || p.Seeds < 1 || p.Workers < 1 {
		return Table{}, errors.New("play season: want days, guardians, seeds and workers, at least one of each")
	}
	played := make([][]gameday.Measure, p.Seeds)
	failed := make([]error, p.Seeds)
	count := plays{tell: p.Progress, all: p.Seeds * uint64(len(p.Days)*len(p.Guardians))}
	var next atomic.Uint64
	var stop atomic.Bool
	var workers sync.WaitGroup
	for range min(uint64(p.Workers), p.Seeds) {
		workers.Go(func() {
			for n := next.Add(1) - 1; n < p.Seeds && !stop.Load(); n = next.Add(1) - 1 {
				if played[n], failed[n] = p.seed(ctx, p.First+n, &count); failed[n] != nil {
					stop.Store(true)
					return
				}
			}
		})
	}
	workers.Wait()
	if err := errors.Join(failed...); err != nil {
		return Table{}, err
	}
	return p.sum(played), nil
}

// seed plays one seed: day by day, and within a day guardian by guardian.
func (p Plan) seed(ctx context.Context, seed uint64, count *plays) ([]gameday.Measure, error) {
	out := make([]gameday.Measure, 0, len(p.Days)*len(p.Guardians))
	for _, day := range p.Days {
		for _, guardian := range p.Guardians {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("play seed %d: %w", seed, err)
			}
			m, err := gameday.Play(day, guardian(), seed)
			if err != nil {
				return nil, err
			}
			out = append(out, m)
			count.over()
		}
	}
	return out, nil
}
