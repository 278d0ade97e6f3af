package awsfleet

import (
	"context"
	"sync"
)

// memo reads each key once a run, also when several goroutines ask at once. Failures are kept too, because a service that
// throttles is not helped by asking again; only a failure of the asker's own context is forgotten.
type memo[V any] struct {
	mu      sync.Mutex
	entries map[string]*memoEntry[V]
}

type memoEntry[V any] struct {
	mu    sync.Mutex
	done  bool
	value V
	err   error
}

func newMemo[V any]() *memo[V] { return &memo[V]{entries: map[string]*memoEntry[V]{}} }

func (m *memo[V]) get(ctx context.Context, key string, read func(context.Context, string) (V, error)) (V, error) {
	m.mu.Lock()
	e, ok := m.entries[key]
	if !ok {
		e = &memoEntry[V]{}
		m.entries[key] = e
	}
	m.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return e.value, e.err
	}
	value, err := read(ctx, key)
	if err == nil || ctx.Err() == nil {
		e.done, e.value, e.err = true, value, err
	}
	return value, err
}
