package lambdart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// environment is one process and the Runtime API that it alone talks to. Each has its own port, so that nothing of a
// dead process can reach its successor.
type environment struct {
	function *Function
	cmd      *exec.Cmd
	server   *http.Server
	started  time.Time
	work     chan *invocation
	exited   chan struct{} // closed when the process is gone
	exit     error         // set before exited is closed

	mu        sync.Mutex
	ready     bool
	current   *invocation
	initError []byte
}

// invocation is an event on its way through an environment.
type invocation struct {
	id      string
	payload []byte
	timeout time.Duration
	done    chan answer // takes one
}

type answer struct {
	payload []byte
	failed  bool
}

// launch starts a process. The caller holds the function's lock.
func (f *Function) launch() (*environment, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	e := &environment{function: f, work: make(chan *invocation), exited: make(chan struct{})}
	e.server = &http.Server{Handler: e.routes(), ReadHeaderTimeout: initTimeout}
	e.cmd = exec.CommandContext(f.ctx, f.spec.Binary)
	e.cmd.Env = f.variables(listener.Addr().String())
	e.cmd.Dir = filepath.Dir(f.spec.Binary)
	e.cmd.Stdout, e.cmd.Stderr = f.out, f.out
	e.cmd.WaitDelay = time.Second // a child that keeps the pipes open must not hold us up
	e.started = time.Now()
	if err := e.cmd.Start(); err != nil {
		_ = listener.Close() // the reason to report is the other one
		return nil, fmt.Errorf("start process: %w", err)
	}
	go func() { _ = e.server.Serve(listener) }() // always returns ErrServerClosed: watch closes it
	go e.watch()
	return e, nil
}

func (e *environment) watch() {
	e.exit = e.cmd.Wait()
	close(e.exited)
	_ = e.server.Close() // its only clients are gone
}

func (e *environment) dead() bool {
	select {
	case <-e.exited:
		return true
	default:
		return false
	}
}

func (e *environment) kill() {
	_ = e.cmd.Process.Kill() // fails only for a process that is gone, which is what is wanted
	<-e.exited
}

// variables is the whole environment of the process: nothing of ours leaks into it.
func (f *Function) variables(api string) []string {
	all := map[string]string{
		"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "en_US.UTF-8", "TZ": ":UTC",
		"AWS_REGION": f.spec.Region, "AWS_DEFAULT_REGION": f.spec.Region,
		"AWS_EXECUTION_ENV": "AWS_Lambda_provided.al2023", "LAMBDA_TASK_ROOT": filepath.Dir(f.spec.Binary),
	}
	for name, value := range f.spec.Env {
		all[name] = value
	}
	for name, value := range map[string]string{
		"_HANDLER": "bootstrap", "AWS_LAMBDA_RUNTIME_API": api, "AWS_LAMBDA_FUNCTION_NAME": f.spec.Name,
		"AWS_LAMBDA_FUNCTION_VERSION": "$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.spec.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand", "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/" + f.spec.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME": "local",
	} {
		all[name] = value
	}
	out := make([]string, 0, len(all))
	for name, value := range all {
		out = append(out, name+"="+value)
	}
	return out
}

// run hands one invocation over and waits for its end.
func (e *environment) run(ctx context.Context, inv *invocation) (Result, error) {
	start := time.NewTimer(initTimeout)
	defer start.Stop()
	select {
	case e.work <- inv:
	case <-e.exited:
		return e.notTaken(inv)
	case <-start.C:
		e.kill()
		return failure(inv, "Sandbox.Timedout", fmt.Sprintf("Runtime did not ask for an event within %s", initTimeout)), nil
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	began := time.Now()
	limit := time.NewTimer(inv.timeout)
	defer limit.Stop()
	var r Result
	select {
	case a := <-inv.done:
		r = a.result(inv)
	case <-e.exited:
		r = e.afterExit(inv)
	case <-limit.C:
		e.kill()
		r = failure(inv, "Sandbox.Timedout", fmt.Sprintf("Task timed out after %.2f seconds", inv.timeout.Seconds()))
	case <-ctx.Done():
		e.kill()
		return Result{}, ctx.Err()
	}
	r.Took = time.Since(began)
	return r, nil
}

// afterExit prefers an answer that came just before the end: a panic is reported and then the process exits.
func (e *environment) afterExit(inv *invocation) Result {
	select {
	case a := <-inv.done:
		return a.result(inv)
	default:
		return failure(inv, "Runtime.ExitError", "Runtime exited "+e.reason())
	}
}

// errGone says that a process which had been ready ended before it took the event, for example after it reported a
// panic. The event goes to its successor.
var errGone = errors.New("process is gone")

// notTaken is for a process that ended before it took the event.
func (e *environment) notTaken(inv *invocation) (Result, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.ready:
		return Result{}, errGone
	case e.initError != nil:
		return Result{RequestID: inv.id, Payload: e.initError, FunctionError: unhandled}, nil
	}
	return failure(inv, "Runtime.ExitError", "Runtime exited "+e.reason()), nil
}

func (e *environment) reason() string {
	if e.exit == nil {
		return "without providing a reason"
	}
	return "with error: " + e.exit.Error()
}

const unhandled = "Unhandled"

func (a answer) result(inv *invocation) Result {
	r := Result{RequestID: inv.id, Payload: a.payload}
	if a.failed {
		r.FunctionError = unhandled
	}
	return r
}

// failure is what Lambda itself answers when the function cannot.
func failure(inv *invocation, kind, message string) Result {
	text, err := json.Marshal(map[string]string{"errorType": kind, "errorMessage": "RequestId: " + inv.id + " Error: " + message})
	if err != nil {
		text = []byte("{}") // two strings always encode
	}
	return Result{RequestID: inv.id, Payload: text, FunctionError: unhandled}
}
