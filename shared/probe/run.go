package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
)

// Documents reads the sources as they are written; found is false if there are none.
type Documents interface {
	Read(ctx context.Context) (raw string, found bool, err error)
}

// Members knows the instances of groups, each answer complete or an error. It is used by several goroutines at once.
type Members interface {
	// InService lists the IDs of a group's members in service.
	InService(ctx context.Context, group string) ([]string, error)
	// Addresses gives the private addresses of up to CallsMax instances; one that has none, or is gone, is left out.
	Addresses(ctx context.Context, ids []string) (map[string]string, error)
}

// Ports are what a run uses; all are required.
type Ports struct {
	Documents Documents
	Members   Members
	Memory    Memory
	Net       Net
}

// Options say how a run behaves.
type Options struct {
	// Now is the clock; required.
	Now func() time.Time
	// Margin of the context's deadline is kept for the memory and the metrics, 0 or more.
	Margin time.Duration
}

// Prober runs the checks. It keeps nothing between runs and may be used by several goroutines at once.
type Prober struct {
	ports Ports
	opts  Options
}

// New makes a Prober.
func New(ports Ports, opts Options) *Prober { return &Prober{ports: ports, opts: opts} }

// Report is what one run found.
type Report struct {
	// Completed is false if the run could not begin, because no sources are known.
	Completed bool
	// Verdicts are of the sources that were due, in the order of the document.
	Verdicts []Verdict
	// Sources counts all of them, Load is what they ask, Notes what people should know about them.
	Sources int
	Load    Load
	Notes   []string
	// Refused is why the sources as written are not in force, nil if they are. The last good ones are then, if there are any.
	Refused error
	// Cut says that the function's own deadline shortened the run, by how much it wanted and had; "" if it did not.
	Cut string
	// MemoryFailure is why failures in a row could not be counted or kept, nil if they were. Overtaken is another run that was
	// faster, which is no failure.
	MemoryFailure error
	Overtaken     bool
}

// Run makes one run: read, plan, check, judge, remember. It returns an error only if no sources are known at all; everything
// else is in the report.
func (p *Prober) Run(ctx context.Context) (Report, error) {
	begin := p.opts.Now()
	mem, memErr := p.ports.Memory.Load(ctx)
	if memErr != nil {
		mem, memErr = Remembered{}, fmt.Errorf("load memory: %w", memErr)
	}
	c, text, refused := p.sources(ctx, mem)
	if refused != nil && text == "" {
		return Report{Refused: refused, MemoryFailure: memErr}, refused
	}
	report := Report{Completed: true, Sources: len(c.Sources), Load: c.Load(), Notes: c.Notes(), Refused: refused, MemoryFailure: memErr}
	plans := p.plan(c, mem)
	// The reads of members are within the limit too: the ones that hang must not take the time of the memory and the metrics.
	limit := c.RunTimeout
	if deadline, ok := ctx.Deadline(); ok {
		if left := deadline.Sub(p.opts.Now()) - p.opts.Margin; left < limit {
			report.Cut = fmt.Sprintf("run_timeout_seconds is %s, and the function has %s left", limit, max(0, left.Round(time.Millisecond)))
			limit = left
		}
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.ask(within, limit/2, c.Concurrency, plans)
	records := map[string]Record{}
	for _, pl := range plans {
		name, v := pl.source.Name, pl.verdict()
		records[name] = next(mem.Records[name], v, begin)
		if memErr == nil {
			v.count(mem.Records[name], records[name])
		}
		report.Verdicts = append(report.Verdicts, v)
	}
	if memErr == nil {
		report.Overtaken, report.MemoryFailure = p.remember(ctx, Remembered{Version: mem.Version, Records: kept(c, mem, records), LastGood: text}, mem)
	}
	if report.MemoryFailure != nil {
		for i := range report.Verdicts {
			report.Verdicts[i].uncount()
		}
	}
	return report, nil
}

// sources reads the document, or takes the last good one if it cannot be read or is refused; text is the one that is in force.
func (p *Prober) sources(ctx context.Context, mem Remembered) (c Config, text string, refused error) {
	raw, found, err := p.ports.Documents.Read(ctx)
	if err == nil && !found {
		raw = `{"sources":[]}`
	}
	if err == nil {
		if c, err = Parse([]byte(raw)); err == nil {
			return c, raw, nil
		}
	}
	refused = fmt.Errorf("read %s: %w", Parameter, err)
	if mem.LastGood == "" {
		return Config{}, "", refused
	}
	if c, err = Parse([]byte(mem.LastGood)); err != nil {
		return Config{}, "", errors.Join(refused, fmt.Errorf("read the last good sources: %w", err))
	}
	return c, mem.LastGood, refused
}

// ask makes every call, at most lanes at once. Calls that need no members begin at once; a sample waits for its members, whose groups
// are read within reading.
func (p *Prober) ask(ctx context.Context, reading time.Duration, lanes int, plans []*planned) {
	free := make(chan struct{}, lanes)
	var direct, samples []*planned
	for _, pl := range plans {
		if pl.source.Kind == KindInstances {
			samples = append(samples, pl)
		} else {
			direct = append(direct, pl)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		p.choose(ctx, reading, samples)
		p.locate(ctx, samples)
		p.check(ctx, free, samples)
	})
	p.check(ctx, free, direct)
	wg.Wait()
}

// check makes the calls of some plans as soon as a lane is free. A call that never began is unknown.
func (p *Prober) check(ctx context.Context, free chan struct{}, plans []*planned) {
	var wg sync.WaitGroup
	for _, pl := range plans {
		pl.results = make([]Result, len(pl.calls))
		for i, call := range pl.calls {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				pl.results[i] = Result{Member: call.Member.ID, Detail: "the run ended first"}
				continue
			}
			wg.Go(func() {
				defer func() { <-free }()
				pl.results[i] = p.ports.Net.Check(ctx, call)
			})
		}
	}
	wg.Wait()
}

// kept are the records of the sources that are still there.
func kept(c Config, mem Remembered, fresh map[string]Record) map[string]Record {
	out := map[string]Record{}
	for _, s := range c.Sources {
		if r, ok := fresh[s.Name]; ok {
			out[s.Name] = r
		} else if r, ok := mem.Records[s.Name]; ok {
			out[s.Name] = r
		}
	}
	return out
}

// remember saves if there is anything new.
func (p *Prober) remember(ctx context.Context, r, before Remembered) (overtaken bool, err error) {
	if len(r.Records) == 0 && len(before.Records) == 0 && r.LastGood == before.LastGood {
		return false, nil
	}
	err = p.ports.Memory.Save(ctx, r)
	if errors.Is(err, fault.Conflict) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("save memory: %w", err)
	}
	return false, nil
}
