package runnertest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// The names of the calls that are no actions; those of the actor are guard.ActMark and the others.
const (
	OpGuarded    = "guarded"
	OpGroup      = "group"
	OpDetails    = "details"
	OpBeats      = "beats"
	OpAlarms     = "alarms"
	OpQueue      = "queue"
	OpPolicies   = "policies"
	OpLoad       = "load"
	OpSave       = "save"
	OpLoadRegion = "load region"
	OpSaveRegion = "save region"
	OpReserve    = "reserve"
	OpPutAction  = "put action"
	OpPage       = "page"
	OpReport     = "report"

	opHappen = "happen"
)

// Call is one call of a process.
type Call struct {
	Process string
	// N counts the calls of the process from 1.
	N  int
	Op string
	// Group is a name or an ARN, Member an instance id, Key the key of a page; "" where there is none.
	Group, Member, Key string
	Processes          []string
}

// Effect is what a hook makes of a call; the zero value lets it pass.
type Effect struct {
	// Before fails the call without effect; After lets it take effect and then fails it.
	Before, After error
	// CrashBefore and CrashAfter end the process there: its context ends, and no later call of it has an effect.
	CrashBefore, CrashAfter bool
	// Twice lets it take effect twice; Stale answers a read from the picture of World.Keep; Panic panics.
	Twice, Stale, Panic bool
	// Late ends the time for work here: this call, and every later one that is not made in the margin, answers that its deadline
	// has passed and has no effect.
	Late bool
}

// Hook sees every call before it is made.
type Hook func(Call) Effect

// errCrashed is what calls of a process answer that has ended.
var errCrashed = errors.New("the process has crashed")

// Process is one run's view of the world: all ports of package runner.
type Process struct {
	Name string
	// Skew is added to the world's clock.
	Skew time.Duration
	Hook Hook

	w       *World
	calls   int
	crashed bool
	cancel  context.CancelFunc
	history [sha256.Size]byte
	stale   bool
	// end is the whole deadline of the run; late says that the deadline less the margin has passed.
	end  time.Time
	late bool
}

// Process makes a process; name tells it apart in records.
func (w *World) Process(name string) *Process { return &Process{Name: name, w: w} }

// Ports are the process's ports.
func (p *Process) Ports() runner.Ports {
	return runner.Ports{Fleet: p, Beats: p, Alarms: p, Queues: p, Policies: p, Ledger: p, Actor: p, Reporter: p}
}

// Now is the process's clock.
func (p *Process) Now() time.Time {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.Now.Add(p.Skew)
}

// Calls is the number of calls so far.
func (p *Process) Calls() int { return p.calls }

// Crashed says that the process has ended before its time.
func (p *Process) Crashed() bool { return p.crashed }

// Run makes one run over this process's ports, with the built-in options of tests.
func (p *Process) Run(ctx context.Context, req runner.Request) (runner.Summary, error) {
	return p.RunWith(ctx, req, runner.Options{Now: p.Now, SweepInterval: Interval, Concurrency: 1})
}

// RunWith makes one run with the given options.
func (p *Process) RunWith(ctx context.Context, req runner.Request, o runner.Options) (runner.Summary, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.w.mu.Lock()
	p.cancel = cancel
	p.end, _ = ctx.Deadline()
	p.w.mu.Unlock()
	r, err := runner.New(p.Ports(), o)
	if err != nil {
		return runner.Summary{}, err
	}
	return r.Run(ctx, req)
}

// Happen is a change of the world at a moment of its own among the calls of the other processes of a scene.
func (p *Process) Happen(change func()) {
	_ = p.call(context.Background(), Call{Op: opHappen}, func() error { change(); return nil }) // nothing can fail but a crash
}

// call passes one call through the hook. The effect runs under the world's lock and returns its error.
func (p *Process) call(ctx context.Context, c Call, effect func() error) error {
	p.w.mu.Lock()
	if p.crashed {
		p.w.mu.Unlock()
		return errCrashed
	}
	p.calls++
	c.Process, c.N = p.Name, p.calls
	hook := p.Hook
	p.w.mu.Unlock()
	var e Effect
	if hook != nil {
		e = hook(c)
	}
	if e.Panic {
		panic("as the test says: " + c.Op)
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	switch {
	case p.crashed:
		return errCrashed
	case e.CrashBefore:
		return p.crash()
	case e.Before != nil:
		return e.Before
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w: %w", c.Op, fault.Unknown, ctx.Err())
	}
	p.late = p.late || e.Late
	if end, ok := ctx.Deadline(); p.late && ok && end.Before(p.end) {
		return fmt.Errorf("%s: %w: %w", c.Op, fault.Unknown, context.DeadlineExceeded)
	}
	p.stale = e.Stale
	err := effect()
	if e.Twice && err == nil {
		err = effect()
	}
	p.stale = false
	switch {
	case e.CrashAfter:
		return p.crash()
	case err == nil:
		return e.After
	}
	return err
}

func (p *Process) crash() error {
	p.crashed = true
	if p.cancel != nil {
		p.cancel()
	}
	return errCrashed
}

// heard adds an answer to the process's history: two processes of one test with the same history are in the same state.
func (p *Process) heard(what, answer string) {
	p.history = sha256.Sum256([]byte(string(p.history[:]) + what + "\x00" + answer))
}

// groups is what a read sees.
func (p *Process) groups() []*Group {
	if p.stale && p.w.old != nil {
		return p.w.old
	}
	return p.w.Groups
}

// Guarded lists the groups.
func (p *Process) Guarded(ctx context.Context) ([]guard.Group, error) {
	var out []guard.Group
	err := p.call(ctx, Call{Op: OpGuarded}, func() error {
		for _, g := range p.groups() {
			if !g.Gone && !g.Unlisted {
				out = append(out, g.read())
				p.heard(OpGuarded, g.look())
			}
		}
		return nil
	})
	return out, err
}

// look is what reads of the group depend on that calls can change.
func (g *Group) look() string {
	s := fmt.Sprint(g.Suspended)
	for _, m := range g.Members {
		if m.Unhealthy {
			s += " " + m.ID
		}
	}
	return s
}

// Group reads one group.
func (p *Process) Group(ctx context.Context, name string) (guard.Group, error) {
	var out guard.Group
	err := p.call(ctx, Call{Op: OpGroup, Group: name}, func() error {
		g := find(p.groups(), name)
		if g == nil || g.Gone {
			return fmt.Errorf("describe group %s: %w", name, fault.Gone)
		}
		out = g.read()
		p.heard(OpGroup, g.look())
		return nil
	})
	return out, err
}

// Details adds targets, activities, opt-outs and the refresh.
func (p *Process) Details(ctx context.Context, g guard.Group) (guard.Group, guard.Reads) {
	err := p.call(ctx, Call{Op: OpDetails, Group: g.Name}, func() error {
		s := find(p.groups(), g.Name)
		if s == nil {
			return fmt.Errorf("describe %s: %w", g.Name, fault.Gone)
		}
		g.TargetGroups, g.ForeignTargets, g.Activities, g.Refresh = s.TargetGroups, s.ForeignTargets, slices.Clone(s.Activities), s.Refresh
		g.Members = slices.Clone(g.Members)
		for i := range g.Members {
			if m := s.member(g.Members[i].ID); m != nil {
				g.Members[i].Targets, g.Members[i].OptedOut = slices.Clone(m.Targets), m.OptedOut
			}
		}
		if p.w.Changing {
			p.heard(OpDetails, fmt.Sprint(g))
		}
		return nil
	})
	if err != nil {
		return g, guard.Reads{Targets: err.Error()}
	}
	return g, guard.Reads{}
}

// Beats reads the heartbeats.
func (p *Process) Beats(ctx context.Context, g guard.Group) (map[string]guard.Beat, error) {
	out := map[string]guard.Beat{}
	err := p.call(ctx, Call{Op: OpBeats, Group: g.Name}, func() error {
		s := find(p.groups(), g.Name)
		for _, m := range g.Members {
			out[m.ID] = guard.Beat{}
			if r := s.member(m.ID); r != nil {
				out[m.ID] = r.beat(p.w.Now.Add(p.Skew))
			}
		}
		if p.w.Changing {
			p.heard(OpBeats, fmt.Sprint(out))
		}
		return nil
	})
	if err != nil {
		for _, m := range g.Members {
			out[m.ID] = guard.Beat{Unreadable: true}
		}
	}
	return out, err
}

// Alarms reads alarms by name.
func (p *Process) Alarms(ctx context.Context, names []string) map[string]guard.AlarmReading {
	out := map[string]guard.AlarmReading{}
	err := p.call(ctx, Call{Op: OpAlarms}, func() error {
		for _, n := range names {
			out[n] = guard.AlarmReading{State: guard.AlarmMissing}
			if a, ok := p.w.Alarms[n]; ok {
				out[n] = a
			}
		}
		return nil
	})
	if err != nil {
		for _, n := range names {
			out[n] = guard.AlarmReading{State: guard.AlarmUnread, Detail: err.Error()}
		}
	}
	return out
}

// Queue reads the one queue of the world.
func (p *Process) Queue(ctx context.Context, _ guard.QueueSpec) (guard.QueueReading, error) {
	var out guard.QueueReading
	err := p.call(ctx, Call{Op: OpQueue}, func() error { out = p.w.Queue; return nil })
	return out, err
}

// Policies reads the layers.
func (p *Process) Policies(ctx context.Context, names []string) runner.PolicySet {
	set := runner.PolicySet{Defaults: guard.Layer{Name: guard.LayerDefaults}, Groups: map[string][]guard.Layer{}}
	err := p.call(ctx, Call{Op: OpPolicies}, func() error {
		set.Switch = guard.Switch{Value: p.w.Mode, Found: true}
		set.Defaults.Raw, set.Others = rawOf(p.w.Defaults), p.w.Others
		for _, n := range names {
			if g := p.w.Find(n); g != nil {
				set.Groups[n] = []guard.Layer{{Name: guard.LayerGroups + guard.EscapeName(n), Raw: rawOf(g.Policy)}}
			}
		}
		return nil
	})
	if err != nil {
		set.Switch.ReadError, set.Defaults.ReadError = err.Error(), err.Error()
	}
	return set
}

func rawOf(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}
