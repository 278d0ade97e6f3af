package probe

import (
	"context"
	"fmt"
	"slices"
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

// plan lists the sources that are due with their calls.
func (p *Prober) plan(ctx context.Context, c Config, mem Remembered) []*planned {
	now := p.opts.Now()
	var all []*planned
	for _, s := range c.Sources {
		if c.due(s, mem.Records[s.Name], now) {
			all = append(all, &planned{source: s})
		}
	}
	p.choose(ctx, all)
	p.locate(ctx, all)
	for _, pl := range all {
		if pl.source.Kind != KindInstances {
			pl.calls = []Call{{Source: pl.source}}
		}
		pl.results = make([]Result, len(pl.calls))
	}
	return all
}

// choose samples the members that are asked. A group is read once, however many sources ask it.
func (p *Prober) choose(ctx context.Context, all []*planned) {
	type roster struct {
		members []string
		err     error
	}
	groups := map[string]roster{}
	for _, pl := range all {
		s := pl.source
		if s.Kind != KindInstances {
			continue
		}
		r, read := groups[s.Group]
		if !read {
			r.members, r.err = p.ports.Members.InService(ctx, s.Group)
			groups[s.Group] = r
		}
		if r.err != nil {
			pl.unread = detail(fmt.Errorf("list members of %s: %w", s.Group, r.err))
			continue
		}
		for _, id := range sample(s, r.members, p.opts.Now()) {
			pl.calls = append(pl.calls, Call{Source: s, Member: Member{ID: id}})
		}
	}
}

// locate looks up the addresses of all members that are asked, in one call.
func (p *Prober) locate(ctx context.Context, all []*planned) {
	var ids []string
	for _, pl := range all {
		for _, call := range pl.calls {
			ids = append(ids, call.Member.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	addresses, err := p.ports.Members.Addresses(ctx, slices.Compact(ids))
	for _, pl := range all {
		if err != nil && len(pl.calls) > 0 {
			pl.unread, pl.calls = detail(fmt.Errorf("look up addresses: %w", err)), nil
		}
		for i := range pl.calls {
			pl.calls[i].Member.Address = addresses[pl.calls[i].Member.ID]
		}
	}
}
