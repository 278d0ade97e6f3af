package probe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// planned is one source that is due and the calls that its check makes.
type planned struct {
	source  Source
	calls   []Call
	results []Result
	// unread is why there is no call to make.
	unread string
}

func (p planned) verdict() Verdict {
	if p.unread != "" {
		return Verdict{Source: p.source, Detail: p.unread}
	}
	return judge(p.source, p.results)
}

// readsMax is how many groups are read at once: few enough for the account's shared request rate.
const readsMax = 4

// plan lists the sources that are due, with the calls of those that need no members.
func (p *Prober) plan(c Config, mem Remembered) []*planned {
	now := p.opts.Now()
	var all []*planned
	for _, s := range c.Sources {
		if !due(s, mem.Records[s.Name], now) {
			continue
		}
		pl := &planned{source: s}
		if s.Kind != KindInstances {
			pl.calls = []Call{{Source: s}}
		}
		all = append(all, pl)
	}
	return all
}

// roster is a group's members in service, or why they are not known.
type roster struct {
	members []string
	err     error
}

// choose samples the members that are asked. Groups that are not read within limit stay unknown, so that those that were can
// still be asked.
func (p *Prober) choose(ctx context.Context, limit time.Duration, samples []*planned) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	groups := p.rosters(ctx, samples)
	for _, pl := range samples {
		s := pl.source
		r := groups[s.Group]
		if r.err != nil {
			pl.unread = detail(fmt.Errorf("list members of %s: %w", s.Group, r.err))
			continue
		}
		for _, id := range sample(s, r.members, p.opts.Now()) {
			pl.calls = append(pl.calls, Call{Source: s, Member: Member{ID: id}})
		}
	}
}

// rosters reads every group once, however many sources ask it, at most readsMax at once.
func (p *Prober) rosters(ctx context.Context, samples []*planned) map[string]*roster {
	groups := map[string]*roster{}
	var wg sync.WaitGroup
	free := make(chan struct{}, readsMax)
	for _, pl := range samples {
		group := pl.source.Group
		if groups[group] != nil {
			continue
		}
		r := &roster{}
		groups[group] = r
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			r.err = fmt.Errorf("not begun: %w", ctx.Err())
			continue
		}
		wg.Go(func() {
			defer func() { <-free }()
			r.members, r.err = p.ports.Members.InService(ctx, group)
		})
	}
	wg.Wait()
	return groups
}

// locate looks up the addresses of all members that are asked, in one call.
func (p *Prober) locate(ctx context.Context, samples []*planned) {
	var ids []string
	for _, pl := range samples {
		for _, call := range pl.calls {
			ids = append(ids, call.Member.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	addresses, err := p.ports.Members.Addresses(ctx, slices.Compact(ids))
	for _, pl := range samples {
		if err != nil && len(pl.calls) > 0 {
			pl.unread, pl.calls = detail(fmt.Errorf("look up addresses: %w", err)), nil
		}
		for i := range pl.calls {
			pl.calls[i].Member.Address = addresses[pl.calls[i].Member.ID]
		}
	}
}
