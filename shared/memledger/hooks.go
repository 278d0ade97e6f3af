package memledger

// The names of the calls, as a Hook sees them.
const (
	OpLoad          = "load"
	OpSave          = "save"
	OpLoadRegion    = "load region"
	OpSaveRegion    = "save region"
	OpReserve       = "reserve"
	OpPutAction     = "put action"
	OpActions       = "actions"
	OpPutRequest    = "put request"
	OpDeleteRequest = "delete request"
)

// Call is one call to the ledger.
type Call struct {
	// N counts the calls of this ledger from 1.
	N int
	// Op is one of the Op constants.
	Op string
	// Group is the group ARN, "" for the Region's item.
	Group string
}

// Hook sees a call; an error that it returns becomes the call's error. It runs without the ledger's lock, so that it may use
// the ledger itself, for instance to let another writer pass in between.
type Hook func(Call) error

// Hooks are run around every call. An error of Before keeps the call from taking effect; one of After is what the caller gets
// although it took effect. After is not run for a call that failed.
type Hooks struct{ Before, After Hook }

// SetHooks replaces the hooks; the zero value removes them.
func (l *Ledger) SetHooks(h Hooks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks = h
}

// FailBefore makes call n (counted from 1) fail with err without taking effect.
func (l *Ledger) FailBefore(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failBefore[n] = err
}

// FailAfter makes call n (counted from 1) take effect and still fail with err, as when the reply is lost.
func (l *Ledger) FailAfter(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failAfter[n] = err
}

// Calls returns the number of calls so far, so that a test can fail the next one.
func (l *Ledger) Calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// around runs one call between its hooks.
func (l *Ledger) around(op, group string, effect func() error) error {
	l.mu.Lock()
	l.calls++
	call := Call{N: l.calls, Op: op, Group: group}
	hooks, before, after := l.hooks, l.failBefore[call.N], l.failAfter[call.N]
	l.mu.Unlock()
	if before != nil {
		return before
	}
	if hooks.Before != nil {
		if err := hooks.Before(call); err != nil {
			return err
		}
	}
	l.mu.Lock()
	err := effect()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if after != nil {
		return after
	}
	if hooks.After != nil {
		return hooks.After(call)
	}
	return nil
}
