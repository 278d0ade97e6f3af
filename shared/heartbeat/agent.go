package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Preset values of Options.
const (
	DefaultEvery = 10 * time.Second
	// DefaultStartWithin is shorter than the policy's first_heartbeat_seconds, so that a member that never starts is told as failing.
	DefaultStartWithin = 5 * time.Minute
	// StartWithinMax is just below the built-in first_heartbeat_seconds of 900.
	StartWithinMax = 14 * time.Minute
)

const (
	// leavingEvery is the longest time between two questions whether the instance is leaving; a shorter interval of beats is taken instead.
	leavingEvery = 5 * time.Second
	// lastBeat bounds the last beat of an agent that ends.
	lastBeat = 4 * time.Second
)

// Options are the settings of an Agent.
type Options struct {
	// Connect finds out whose row is written and returns its Writer. It is tried until it succeeds. Required.
	Connect func(ctx context.Context) (*Writer, error)
	// Checks are what is looked at; without any the beat says only that the agent runs.
	Checks []Check
	// Nesting are the times around the checks; the zero value means DefaultNesting.
	Nesting Nesting
	// Every is the time between two beats, 1 s to 5 min; 0 means DefaultEvery. It varies by a tenth, so that a fleet does not beat as one.
	Every time.Duration
	// StartWithin is how long, from Run on, the agent waits for every hard check to pass once. Not started is not failing: until then
	// it writes no beat and /health says 503. When the time is over, what fails is failing. 0 means no start-up phase; at most
	// StartWithinMax.
	StartWithin time.Duration
	// Leaving asks whether the instance is about to leave the group. An error leaves the last answer as it is. Nil: it never leaves.
	Leaving func(ctx context.Context) (bool, error)
	// Random gives a number from 0 up to 1; nil is a real one.
	Random func() float64
	// Log is told when writes begin to fail and when they work again, not each time; nil tells nobody.
	Log *slog.Logger
}

func (o Options) complete() (Options, error) {
	if o.Every == 0 {
		o.Every = DefaultEvery
	}
	if o.Nesting == (Nesting{}) {
		o.Nesting = DefaultNesting()
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Leaving == nil {
		o.Leaving = func(context.Context) (bool, error) { return false, nil }
	}
	errs := []error{validateChecks(o.Checks, o.Nesting)}
	if o.Connect == nil {
		errs = append(errs, errors.New("connect is missing"))
	}
	if o.Every < time.Second || o.Every > 5*time.Minute {
		errs = append(errs, fmt.Errorf("every %s, want 1s to 5m", o.Every))
	}
	if o.StartWithin < 0 || o.StartWithin > StartWithinMax {
		errs = append(errs, fmt.Errorf("start within %s, want 0 to %s: later, Holdfast calls a silent member overdue (first_heartbeat_seconds)", o.StartWithin, StartWithinMax))
	}
	return o, errors.Join(errs...)
}

// Agent looks, beats and answers. Use New; it is safe for concurrent use, and Run may be called once.
type Agent struct {
	o     Options
	board *board
	wake  chan struct{} // holds one token when the report may have changed

	mu      sync.Mutex
	started bool
	timeUp  bool // the start-up phase is over, whatever passed
	leaving bool
	ending  bool
	told    Report // what the table took last
	notes   notes
}

// notes are what the debug status tells of the agent itself.
type notes struct {
	connected  bool
	began      time.Time
	beats      int64
	lastBeat   time.Time
	tries      int64
	overdue    int64
	writeErr   string
	writeErrAt time.Time
	leaveErr   string
}

// New makes an Agent; it does nothing yet. The error joins everything that is wrong, with the numbers.
func New(o Options) (*Agent, error) {
	o, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("make agent: %w", err)
	}
	a := &Agent{o: o, board: newBoard(o.Checks), wake: make(chan struct{}, 1)}
	a.started = a.board.passedOnce() // no check that gates: nothing to wait for
	return a, nil
}

// Run looks and beats until the context ends, then writes a last beat that says draining, and returns. Checks and beats go on whatever
// fails; errors are told by Stats and by the debug status. It returns the error of the last beat alone.
func (a *Agent) Run(ctx context.Context) error {
	a.mu.Lock()
	a.notes.began = time.Now()
	a.timeUp = a.o.StartWithin == 0
	a.mu.Unlock()
	var wait sync.WaitGroup
	for i := range a.o.Checks {
		wait.Go(func() { a.board.watch(ctx, i, a.changed) })
	}
	wait.Go(func() { a.watchLeaving(ctx) })
	wait.Go(func() { a.endStartUp(ctx) })
	writer := a.beatUntil(ctx)
	wait.Wait()
	return a.last(ctx, writer)
}

// last writes the last beat. Every way out of a process that can still speak says that it leaves.
func (a *Agent) last(ctx context.Context, w *Writer) error {
	a.mu.Lock()
	a.ending = true
	a.mu.Unlock()
	if w == nil {
		return errors.New("write the last heartbeat: it never became known whose row to write")
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastBeat)
	defer cancel()
	return a.deliver(bounded, w)
}

func (a *Agent) endStartUp(ctx context.Context) {
	if pause(ctx, a.o.StartWithin) {
		a.mu.Lock()
		a.timeUp = true
		a.mu.Unlock()
		a.changed()
	}
}

func (a *Agent) watchLeaving(ctx context.Context) {
	for {
		leaving, err := a.o.Leaving(ctx)
		a.mu.Lock()
		a.notes.leaveErr = ""
		if err != nil {
			a.notes.leaveErr = err.Error()
		} else {
			a.leaving = leaving
		}
		a.mu.Unlock()
		a.changed()
		if !pause(ctx, min(leavingEvery, a.o.Every)) {
			return
		}
	}
}

// changed wakes the beat if there is something new to say.
func (a *Agent) changed() {
	ready := a.board.passedOnce()
	report := a.report()
	a.mu.Lock()
	if ready {
		a.started = true
	}
	news := !report.equal(a.told)
	a.mu.Unlock()
	if news && a.speaks() {
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// report is what a beat would say now.
func (a *Agent) report() Report {
	names, _ := a.board.failing()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.leaving || a.ending:
		return Report{Status: StatusDraining, Failing: names}
	case len(names) > 0:
		return Report{Status: StatusFailing, Failing: names}
	}
	return Report{Status: StatusOK}
}

// serves says whether /health is 200.
func (a *Agent) serves() bool {
	_, gated := a.board.failing()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.started && !gated && !a.leaving && !a.ending
}

// pause waits and says whether the time passed before the context ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
