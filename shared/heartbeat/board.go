package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Result is what is known of one check.
type Result struct {
	Name string
	// Soft and Dependency are the check's own.
	Soft, Dependency bool
	// Looks is how often it was looked at; 0 says that nothing is known yet.
	Looks int
	// FailedInRow is how many looks up to the last one failed; Failing says that they were enough.
	FailedInRow int
	Failing     bool
	// Detail says why the last look failed; empty when it did not.
	Detail string
	// Age is the time since the last look ended, Took how long it took.
	Age, Took time.Duration
}

// board keeps the results of all checks. It is safe for concurrent use.
type board struct {
	checks []Check

	mu     sync.Mutex
	states []state
}

type state struct {
	looks, failed int
	passed        bool // at least once
	detail        string
	ended         time.Time
	took          time.Duration
}

func newBoard(checks []Check) *board {
	return &board{checks: slices.Clone(checks), states: make([]state, len(checks))}
}

// watch looks at check i until the context ends, and tells changed after each look.
func (b *board) watch(ctx context.Context, i int, changed func()) {
	c := b.checks[i]
	timer := time.NewTimer(0)
	defer timer.Stop()
	answer := make(chan error, 1)
	hung := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		if hung {
			select {
			case _, open := <-answer: // what it says is too late to count
				hung = !open
			default: // looks that do not end must not pile up, but each missed one is a failed one
				b.record(i, errors.New("the look before has not ended yet"), 0)
			}
		}
		if !hung {
			hung = b.look(ctx, i, answer)
		}
		changed()
		// The next look counts from the beginning of this one, so that slow looks keep the rhythm.
		timer.Reset(c.Every - time.Since(began))
	}
}

// look makes one look and records it; hung says that it is still under way although its time is up.
func (b *board) look(ctx context.Context, i int, answer chan error) (hung bool) {
	c := b.checks[i]
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	go func() { answer <- guarded(bounded, c.Run) }()
	var err error
	select {
	case err = <-answer:
	case <-bounded.Done():
		select { // a check that heeds its context answers now, with a better reason
		case err = <-answer:
		case <-time.After(c.Timeout / 10):
			err, hung = fmt.Errorf("no answer within %s", c.Timeout), true
		}
	}
	if ctx.Err() != nil {
		return hung // the agent is ending: a look that was cut short says nothing
	}
	b.record(i, err, time.Since(began))
	return hung
}

// guarded runs a check; one that panics has failed, and must not end the application that it looks at.
func guarded(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the check panicked: %v", p)
		}
	}()
	return run(ctx)
}

// detailMax bounds what is kept of a failure, in bytes.
const detailMax = 300

func (b *board) record(i int, err error, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.states[i]
	s.looks++
	s.ended, s.took = time.Now(), took
	if err == nil {
		s.failed, s.passed, s.detail = 0, true, ""
		return
	}
	s.failed++
	s.detail = err.Error()
	if len(s.detail) > detailMax {
		s.detail = s.detail[:detailMax]
	}
}

// passedOnce says that every check that gates passed at least once.
func (b *board) passedOnce() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.checks {
		if c.gates() && !b.states[i].passed {
			return false
		}
	}
	return true
}

// known says that of every check that gates it is known whether it passes: it passed once, or failed often enough.
func (b *board) known() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.checks {
		if c.gates() && !b.states[i].passed && b.states[i].failed < c.Failures {
			return false
		}
	}
	return true
}

// failing lists the names for the row, sorted, and says whether one of them gates.
func (b *board) failing() (names []string, gated bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.checks {
		if c.Soft || b.states[i].failed < c.Failures {
			continue
		}
		names = append(names, c.rowName())
		gated = gated || c.gates()
	}
	slices.Sort(names)
	return names, gated
}

func (b *board) results() []Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Result, len(b.checks))
	for i, c := range b.checks {
		s := b.states[i]
		out[i] = Result{
			Name: c.Name, Soft: c.Soft, Dependency: c.Dependency, Looks: s.looks, FailedInRow: s.failed, Failing: s.failed >= c.Failures,
			Detail: s.detail, Took: s.took,
		}
		if s.looks > 0 {
			out[i].Age = time.Since(s.ended)
		}
	}
	return out
}
