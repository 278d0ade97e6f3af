package lambdart

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrUnknownFunction is returned for a name that was never added.
var ErrUnknownFunction = errors.New("function does not exist")

// Functions finds functions by name. It is safe for concurrent use.
type Functions struct {
	mu   sync.Mutex
	byID map[string]*Function
}

// Add makes a function known under its name, in place of an older one of that name, which is closed.
func (fs *Functions) Add(f *Function) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.byID == nil {
		fs.byID = make(map[string]*Function)
	}
	if old, ok := fs.byID[f.spec.Name]; ok && old != f {
		old.Close()
	}
	fs.byID[f.spec.Name] = f
}

// Invoke runs a function to its end. It wraps ErrUnknownFunction for a name that is not known.
func (fs *Functions) Invoke(ctx context.Context, name string, payload []byte) (Result, error) {
	fs.mu.Lock()
	f, ok := fs.byID[name]
	fs.mu.Unlock()
	if !ok {
		return Result{}, fmt.Errorf("invoke %s: %w", name, ErrUnknownFunction)
	}
	return f.Invoke(ctx, payload)
}

// Close ends all processes.
func (fs *Functions) Close() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.byID {
		f.Close()
	}
}
