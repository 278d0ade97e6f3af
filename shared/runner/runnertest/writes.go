package runnertest

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// regionKey names the Region's item among the contents of the ledger.
const regionKey = "region"

// Mark makes a member Unhealthy; AWS replaces it at the next step.
func (p *Process) Mark(ctx context.Context, id string) error {
	return p.health(ctx, Call{Op: guard.ActMark, Member: id}, true)
}

// Restore makes a member Healthy.
func (p *Process) Restore(ctx context.Context, id string) error {
	return p.health(ctx, Call{Op: guard.ActRestore, Member: id}, false)
}

func (p *Process) health(ctx context.Context, c Call, unhealthy bool) error {
	return p.noted(c, p.call(ctx, c, func() error {
		for _, g := range p.w.Groups {
			if m := g.member(c.Member); m != nil {
				_, held := g.Suspended[guard.ProcessReplaceUnhealthy]
				p.w.did(Done{Process: p.Name, At: p.w.Now.Add(p.Skew), Op: c.Op, Group: g.Name, Member: c.Member, Held: held})
				m.Unhealthy = unhealthy
				return nil
			}
		}
		return fmt.Errorf("set health of %s: %w", c.Member, fault.Gone)
	}))
}

// Suspend suspends processes.
func (p *Process) Suspend(ctx context.Context, group string, processes []string) error {
	return p.processes(ctx, Call{Op: guard.ActSuspend, Group: group, Processes: processes})
}

// Resume resumes processes.
func (p *Process) Resume(ctx context.Context, group string, processes []string) error {
	return p.processes(ctx, Call{Op: guard.ActResume, Group: group, Processes: processes})
}

func (p *Process) processes(ctx context.Context, c Call) error {
	c.Processes = slices.Sorted(slices.Values(c.Processes))
	return p.noted(c, p.call(ctx, c, func() error {
		g := p.w.Find(c.Group)
		if g == nil || g.Gone {
			return fmt.Errorf("%s processes of %s: %w", c.Op, c.Group, fault.Gone)
		}
		if len(c.Processes) == 0 {
			return fmt.Errorf("%s processes: %w: an empty list means all", c.Op, fault.Refused)
		}
		now := p.w.Now.Add(p.Skew)
		if now.Before(p.w.latest) {
			now = p.w.latest // AWS has one clock, whatever the processes believe
		}
		p.w.latest = now
		d := Done{Process: p.Name, At: now, Op: c.Op, Group: g.Name, Processes: c.Processes, Marked: g.marked()}
		for _, name := range c.Processes {
			_, there := g.Suspended[name]
			switch {
			case c.Op == guard.ActResume:
				d.Foreign = d.Foreign || there && !g.Own[name]
				delete(g.Suspended, name)
				delete(g.Own, name)
			case !there:
				g.Suspended[name], g.Own[name] = reasonText(now), true
			case p.w.Renew:
				g.Suspended[name] = reasonText(now)
			}
		}
		p.w.did(d)
		return nil
	}))
}

func (w *World) did(d Done) { w.Done = append(w.Done, d) }

// noted adds the answer of a write to the process's history.
func (p *Process) noted(c Call, err error) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.heard(c.Op, fmt.Sprint(err))
	return err
}

// Load reads a group's item.
func (p *Process) Load(ctx context.Context, arn string) (runner.Record, error) {
	var rec runner.Record
	err := p.call(ctx, Call{Op: OpLoad, Group: arn}, func() (err error) {
		rec, err = p.w.Ledger.Load(ctx, arn)
		p.heard(OpLoad, p.w.content[arn]+fmt.Sprint(err))
		return err
	})
	if err != nil {
		return runner.Record{}, err
	}
	return rec, nil
}

// Save writes a group's item.
func (p *Process) Save(ctx context.Context, arn string, rec runner.Record) (int64, error) {
	c := Call{Op: OpSave, Group: arn}
	var version int64
	err := p.noted(c, p.call(ctx, c, func() (err error) {
		version, err = p.w.Ledger.Save(ctx, arn, rec)
		if err == nil {
			p.w.wrote(arn, version, rec.State)
		}
		return err
	}))
	if err != nil {
		return 0, err
	}
	return version, nil
}

// LoadRegion reads the Region's item.
func (p *Process) LoadRegion(ctx context.Context) (runner.RegionRecord, error) {
	var rec runner.RegionRecord
	err := p.call(ctx, Call{Op: OpLoadRegion}, func() (err error) {
		rec, err = p.w.Ledger.LoadRegion(ctx)
		p.heard(OpLoadRegion, p.w.content[regionKey]+fmt.Sprint(err))
		return err
	})
	if err != nil {
		return runner.RegionRecord{}, err
	}
	return rec, nil
}

// SaveRegion writes the Region's item.
func (p *Process) SaveRegion(ctx context.Context, rec runner.RegionRecord) (int64, error) {
	c := Call{Op: OpSaveRegion}
	var version int64
	err := p.noted(c, p.call(ctx, c, func() (err error) {
		version, err = p.w.Ledger.SaveRegion(ctx, rec)
		if err == nil {
			p.w.wrote(regionKey, version, rec.State)
		}
		return err
	}))
	if err != nil {
		return 0, err
	}
	return version, nil
}

// Reserve writes a reservation.
func (p *Process) Reserve(ctx context.Context, r runner.Reservation) error {
	c := Call{Op: OpReserve, Group: r.Group}
	return p.noted(c, p.call(ctx, c, func() error {
		if err := p.w.Ledger.Reserve(ctx, r); err != nil {
			return err
		}
		p.w.wrote(r.Group, r.Record.Version+1, r.Record.State)
		p.w.wrote(regionKey, r.Region.Version+1, r.Region.State)
		return nil
	}))
}

// PutAction writes an action item.
func (p *Process) PutAction(ctx context.Context, a runner.ActionRecord) error {
	return p.call(ctx, Call{Op: OpPutAction, Group: a.Group, Member: a.Member}, func() error { return p.w.Ledger.PutAction(ctx, a) })
}

// Page delivers a notice.
func (p *Process) Page(ctx context.Context, n runner.Notice) error {
	return p.call(ctx, Call{Op: OpPage, Group: n.Group, Key: n.Key}, func() error {
		p.w.Pages = append(p.w.Pages, n)
		return nil
	})
}

// Report keeps a record; a process that has crashed reports nothing.
func (p *Process) Report(_ context.Context, r runner.Report) {
	_ = p.call(context.Background(), Call{Op: OpReport, Group: r.Group}, func() error { // a report cannot fail the look
		p.w.Reports = append(p.w.Reports, r)
		return nil
	})
}
