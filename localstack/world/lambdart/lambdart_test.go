package lambdart_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world/lambdart"
)

// build makes the test's function as the project's own are made for Lambda.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", binary, "./testdata/bootstrap")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build bootstrap: %v\n%s", err, out)
	}
	return binary
}

func start(t *testing.T, spec lambdart.FunctionSpec) *lambdart.Function {
	t.Helper()
	f, err := lambdart.Start(context.Background(), spec)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(f.Close)
	return f
}

// seen is what the function reports about its surroundings.
type seen struct {
	PID       int    `json:"pid"`
	RequestID string `json:"request_id"`
	ARN       string `json:"arn"`
	Left      int64  `json:"left_ms"`
	Name      string `json:"name"`
	Memory    int    `json:"memory"`
	Greeting  string `json:"greeting"`
	Home      string `json:"home"`

	ErrorType    string `json:"errorType"`
	ErrorMessage string `json:"errorMessage"`
}

func invoke(t *testing.T, f *lambdart.Function, do string) (lambdart.Result, seen) {
	t.Helper()
	r, err := f.Invoke(context.Background(), []byte(`{"do":"`+do+`"}`))
	if err != nil {
		t.Fatalf("invoke %s: %v", do, err)
	}
	var s seen
	if err := json.Unmarshal(r.Payload, &s); err != nil {
		t.Fatalf("decode answer %q: %v", r.Payload, err)
	}
	return r, s
}

func startsFromARelativePath(t *testing.T, spec lambdart.FunctionSpec) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if spec.Binary, err = filepath.Rel(here, spec.Binary); err != nil {
		t.Fatal(err)
	}
	start(t, spec)
}

func TestARealFunction(t *testing.T) {
	spec := lambdart.FunctionSpec{
		Name: "holdfast-sweep", Binary: build(t), Env: map[string]string{"GREETING": "hello"}, Timeout: 20 * time.Second, MemoryMB: 256,
	}
	for name, check := range map[string]func(*testing.T, lambdart.FunctionSpec){
		"sees its event, its context and nothing of ours": seesItsSurroundings,
		"reports its own error and goes on":               reportsItsError,
		"is killed when its time is over":                 timesOut,
		"is killed when the caller gives up":              isGivenUp,
		"runs one event at a time":                        runsOneAtATime,
		"cannot answer for another invocation":            cannotMeddle,
		"that cannot start says so at every call":         cannotStart,
		"is found by its name until it is closed":         isFoundByName,
		"is started again after a panic":                  startsAgain("panic", "string"),
		"is started again after an exit":                  startsAgain("exit", "Runtime.ExitError"),
		"is found by a relative path":                     startsFromARelativePath,
	} {
		t.Run(name, func(t *testing.T) { check(t, spec) })
	}
}

func seesItsSurroundings(t *testing.T, spec lambdart.FunctionSpec) {
	f := start(t, spec)
	r, s := invoke(t, f, "look")
	want := seen{PID: s.PID, RequestID: r.RequestID, ARN: f.ARN(), Left: s.Left, Name: spec.Name, Memory: 256, Greeting: "hello"}
	if s != want || r.FunctionError != "" {
		t.Errorf("got %+v with %q, want %+v", s, r.FunctionError, want)
	}
	if s.Left <= 0 || s.Left > spec.Timeout.Milliseconds() {
		t.Errorf("%d ms left of %s", s.Left, spec.Timeout)
	}
	again, s2 := invoke(t, f, "look")
	if s2.PID != s.PID || again.RequestID == r.RequestID {
		t.Errorf("second invocation: process %d, ID %s; want the same process and another ID", s2.PID, again.RequestID)
	}
	if got := f.InitTimes(); len(got) != 1 || got[0] <= 0 {
		t.Errorf("init times are %v, want one", got)
	}
	f.Close() // the output is complete when the process is gone
	if n := strings.Count(f.Output(), "doing look\n"); n != 2 {
		t.Errorf("output is %q, want both events", f.Output())
	}
	t.Logf("cold start %s, first call %s, second call %s", f.InitTimes()[0], r.Took, again.Took)
}

func reportsItsError(t *testing.T, spec lambdart.FunctionSpec) {
	f := start(t, spec)
	r, s := invoke(t, f, "fail")
	if r.FunctionError != "Unhandled" || s.ErrorMessage != "the table is unreadable" || s.ErrorType != "errorString" {
		t.Errorf("got %q: %+v", r.FunctionError, s)
	}
	if r, _ := invoke(t, f, "look"); r.FunctionError != "" || len(f.InitTimes()) != 1 {
		t.Errorf("afterwards %q after %d starts, want success in the same process", r.FunctionError, len(f.InitTimes()))
	}
}

func timesOut(t *testing.T, spec lambdart.FunctionSpec) {
	short := spec
	short.Timeout = 200 * time.Millisecond
	f := start(t, short)
	r, s := invoke(t, f, "hang")
	if r.FunctionError != "Unhandled" || s.ErrorType != "Sandbox.Timedout" || !strings.Contains(s.ErrorMessage, "timed out after 0.20 seconds") {
		t.Errorf("got %q: %+v", r.FunctionError, s)
	}
	if r, _ := invoke(t, f, "look"); r.FunctionError != "" || len(f.InitTimes()) != 2 {
		t.Errorf("afterwards %q after %d starts, want success in a second process", r.FunctionError, len(f.InitTimes()))
	}
}

func isGivenUp(t *testing.T, spec lambdart.FunctionSpec) {
	f := start(t, spec)
	invoke(t, f, "look")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := f.Invoke(ctx, []byte(`{"do":"hang"}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want context.DeadlineExceeded", err)
	}
	if r, _ := invoke(t, f, "look"); r.FunctionError != "" {
		t.Errorf("afterwards %q", r.FunctionError)
	}
}

func runsOneAtATime(t *testing.T, spec lambdart.FunctionSpec) {
	f := start(t, spec)
	var wg sync.WaitGroup
	pids := make(chan int, 20)
	for range 20 {
		wg.Go(func() {
			var s seen
			r, err := f.Invoke(context.Background(), []byte(`{"do":"look"}`))
			if err != nil || json.Unmarshal(r.Payload, &s) != nil {
				t.Errorf("got %+v, %v", r, err)
			}
			pids <- s.PID
		})
	}
	wg.Wait()
	close(pids)
	different := make(map[int]bool)
	for pid := range pids {
		different[pid] = true
	}
	if len(different) != 1 {
		t.Errorf("%d processes answered, want 1", len(different))
	}
}

func cannotMeddle(t *testing.T, spec lambdart.FunctionSpec) {
	f := start(t, spec)
	if r, s := invoke(t, f, "meddle"); r.FunctionError != "" || s.Greeting != "400 Bad Request" || s.PID != 0 {
		t.Errorf("got %q: %+v, want its own answer and a refusal of the other", r.FunctionError, s)
	}
}

func cannotStart(t *testing.T, spec lambdart.FunctionSpec) {
	broken := spec
	broken.Env = map[string]string{"REFUSE": "yes"}
	f := start(t, broken)
	for range 2 {
		r, s := invoke(t, f, "look")
		if r.FunctionError != "Unhandled" || s.ErrorType != "Runtime.ExitError" || !strings.Contains(s.ErrorMessage, "exit status 7") {
			t.Errorf("got %q: %+v", r.FunctionError, s)
		}
	}
	if !strings.Contains(f.Output(), "refusing to start") {
		t.Errorf("output is %q", f.Output())
	}
}

func isFoundByName(t *testing.T, spec lambdart.FunctionSpec) {
	var all lambdart.Functions
	all.Add(start(t, spec))
	if r, err := all.Invoke(context.Background(), spec.Name, []byte(`{}`)); err != nil || r.FunctionError != "" {
		t.Errorf("known name: %+v, %v", r, err)
	}
	if _, err := all.Invoke(context.Background(), "other", []byte(`{}`)); !errors.Is(err, lambdart.ErrUnknownFunction) {
		t.Errorf("unknown name: %v", err)
	}
	all.Close()
	if _, err := all.Invoke(context.Background(), spec.Name, []byte(`{}`)); !errors.Is(err, lambdart.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func startsAgain(do, kind string) func(*testing.T, lambdart.FunctionSpec) {
	return func(t *testing.T, spec lambdart.FunctionSpec) {
		f := start(t, spec)
		_, before := invoke(t, f, "look")
		r, s := invoke(t, f, do)
		if r.FunctionError != "Unhandled" || s.ErrorType != kind {
			t.Errorf("got %q: %+v, want error type %s", r.FunctionError, s, kind)
		}
		// The process ends a moment after it reported a panic; the next event must not be lost to it.
		r, s = invoke(t, f, "look")
		if r.FunctionError != "" || s.PID == before.PID {
			t.Errorf("afterwards %q: %+v, want another process than %d", r.FunctionError, s, before.PID)
		}
	}
}

func TestAWrongSpecIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bootstrap")
	if err := os.WriteFile(file, []byte("not a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]lambdart.FunctionSpec{
		"no binary":           {Name: "a", Binary: filepath.Join(t.TempDir(), "nothing")},
		"no program":          {Name: "a", Binary: file},
		"no name":             {Binary: file},
		"a reserved variable": {Name: "a", Binary: file, Env: map[string]string{"AWS_LAMBDA_RUNTIME_API": "x"}},
	} {
		if f, err := lambdart.Start(context.Background(), spec); err == nil {
			f.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}
