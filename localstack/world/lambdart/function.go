package lambdart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Defaults of a FunctionSpec.
const (
	defaultTimeout  = 3 * time.Second
	defaultMemoryMB = 128
	initTimeout     = 10 * time.Second // Source: Lambda developer guide, "Init phase".
	maxPayload      = 6 << 20          // bytes, both ways
)

// FunctionSpec says what to run.
type FunctionSpec struct {
	// Name is the function's name, as in its ARN. Required.
	Name string
	// Binary is the path of the executable that is called bootstrap on Lambda. Required.
	Binary string
	// Env is added to what Lambda sets itself. Names that begin with AWS_LAMBDA_, and _HANDLER, are refused.
	Env map[string]string
	// Timeout bounds one invocation; 0 means 3 s. Lambda allows up to 900 s.
	Timeout time.Duration
	// MemoryMB is only told to the process; 0 means 128.
	MemoryMB int
	// Region and Account appear in the ARN. Empty means us-east-1 and 111122223333.
	Region, Account string
}

// Result is the outcome of an invocation that reached the function.
type Result struct {
	RequestID string
	// Payload is the function's answer or, with FunctionError, a JSON object with errorMessage and errorType.
	Payload []byte
	// FunctionError is "" for success and "Unhandled" for a returned error, a crash or a timeout.
	FunctionError string
	// Took is from the hand-over of the event to the answer.
	Took time.Duration
}

// Function is one function with at most one process. It is safe for concurrent use.
type Function struct {
	spec FunctionSpec
	out  *output
	ctx  context.Context // ends the processes
	stop context.CancelFunc
	slot chan struct{} // held by whoever invokes

	mu     sync.Mutex
	env    *environment
	issued int
	starts []time.Duration
}

// ErrClosed is returned by Invoke after Close, or after the context given to Start ended.
var ErrClosed = errors.New("function is closed")

// Start starts the function's process and returns without waiting for it to be ready; Invoke waits. The process ends
// with Close or with ctx. It returns an error for a spec that is wrong or a binary that cannot be executed.
func Start(ctx context.Context, spec FunctionSpec) (*Function, error) {
	if spec.Timeout == 0 {
		spec.Timeout = defaultTimeout
	}
	if spec.MemoryMB == 0 {
		spec.MemoryMB = defaultMemoryMB
	}
	if spec.Region == "" {
		spec.Region = "us-east-1"
	}
	if spec.Account == "" {
		spec.Account = "111122223333"
	}
	if spec.Name == "" || spec.Timeout < 0 {
		return nil, fmt.Errorf("start function %q: a name and a timeout of at least 0 are needed", spec.Name)
	}
	for name := range spec.Env {
		if strings.HasPrefix(name, "AWS_LAMBDA_") || name == "_HANDLER" {
			return nil, fmt.Errorf("start function %s: environment variable %s is reserved", spec.Name, name)
		}
	}
	binary, err := filepath.Abs(spec.Binary) // the process starts in another folder, from which a relative path leads nowhere
	if err != nil {
		return nil, fmt.Errorf("start function %s: %w", spec.Name, err)
	}
	spec.Binary = binary
	ctx, stop := context.WithCancel(ctx)
	f := &Function{spec: spec, out: &output{}, ctx: ctx, stop: stop, slot: make(chan struct{}, 1)}
	if _, err := f.environment(); err != nil {
		stop()
		return nil, err
	}
	return f, nil
}

// ARN returns the function's ARN.
func (f *Function) ARN() string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", f.spec.Region, f.spec.Account, f.spec.Name)
}

// Output returns what all the function's processes have written to standard output and error: the last 1 MB.
func (f *Function) Output() string { return f.out.String() }

// InitTimes returns, for each process that got so far, the time from its start to its first request for an event: the
// cold start.
func (f *Function) InitTimes() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Duration(nil), f.starts...)
}

// Process returns the process identifier of the living process, or 0 when there is none at the moment.
func (f *Function) Process() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.env == nil || f.env.dead() {
		return 0
	}
	return f.env.cmd.Process.Pid
}

// Close ends the process and waits for it.
func (f *Function) Close() {
	f.stop()
	f.mu.Lock()
	env := f.env
	f.mu.Unlock()
	if env != nil {
		env.kill()
	}
}

// environment returns the living process, starting one if there is none.
func (f *Function) environment() (*environment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if f.env != nil && !f.env.dead() {
		return f.env, nil
	}
	env, err := f.launch()
	if err != nil {
		return nil, fmt.Errorf("start function %s: %w", f.spec.Name, err)
	}
	f.env = env
	return env, nil
}

// Invoke hands the event to the function and waits for its answer. It waits for its turn while another invocation
// runs. The error says that the function was not reached, or that ctx ended (the process is then killed, since what it
// does unobserved could not be told from the next invocation); whatever the function itself did is in the Result.
func (f *Function) Invoke(ctx context.Context, payload []byte) (Result, error) {
	if len(payload) > maxPayload {
		return Result{}, fmt.Errorf("invoke %s: payload of %d bytes is larger than 6 MB", f.spec.Name, len(payload))
	}
	if !json.Valid(payload) {
		return Result{}, fmt.Errorf("invoke %s: payload is not JSON", f.spec.Name)
	}
	select {
	case f.slot <- struct{}{}:
		defer func() { <-f.slot }()
	case <-ctx.Done():
		return Result{}, fmt.Errorf("invoke %s: %w", f.spec.Name, ctx.Err())
	}
	inv := &invocation{id: f.nextID(), payload: payload, timeout: f.spec.Timeout, done: make(chan answer, 1)}
	for {
		env, err := f.environment()
		if err != nil {
			return Result{}, err
		}
		r, err := env.run(ctx, inv)
		if errors.Is(err, errGone) {
			continue // a process that has never been ready does not say this, so it ends
		}
		if err != nil {
			return r, fmt.Errorf("invoke %s: %w", f.spec.Name, err)
		}
		return r, nil
	}
}

// nextID makes request IDs that differ between functions and are the same in every run.
func (f *Function) nextID() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(f.spec.Name)) // a hash never fails
	f.mu.Lock()
	defer f.mu.Unlock()
	f.issued++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", h.Sum32(), f.issued)
}
