// Package functions_test runs every function as it ships: the built bootstrap, under AWS's own Lambda Runtime Interface Emulator,
// with the embedded AWS to call. It is the one test of the functions that reads the machine's clock, because a shipped bootstrap has
// no other.
package functions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// emulatorVariable has the path of the emulator. `.ci/rie` builds it and prints the path.
const emulatorVariable = "HOLDFAST_RIE"

const (
	startTimeout  = 30 * time.Second
	invokeTimeout = 60 * time.Second
	stopTimeout   = 10 * time.Second
	dialEvery     = 50 * time.Millisecond
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// exchange is one event and what the function must answer. A failed invocation is HTTP 200 like any other here, so the answer itself
// must be read.
type exchange struct {
	event func(t *testing.T) []byte
	// says stands in the answer; fails says that the answer is an error.
	says  string
	fails bool
}

// stated are the exchanges of each function, in order. A function that is not here fails the test.
func stated() map[string][]exchange {
	nonsense := func(says string) exchange {
		return exchange{text(`{"source":"nobody","detail-type":"Nothing"}`), says, true}
	}
	return map[string][]exchange{
		"sweep": {
			{sample("scheduled-event-rule.json", "2026-11-30T12:00:00Z"), `"looked":1,"failed":0`, false},
			{sample("scheduled-event-scheduler-default-input.json", "2026-11-30T12:00:00Z"), `"looked":1,"failed":0`, false},
			nonsense(`decode event: source \"nobody\"`),
			{text(`{"trigger":"manual","groups":["web"]}`), `"looked":1,"failed":0`, false},
		},
		"alarm": {
			{sample("alarm-state-change-single-metric.json", "2026-11-30T11:41:12Z"), `"group":"web","mode":"held"`, false},
			{sample("alarm-direct-lambda-action.json", "2026-11-30T11:41:12.331+0000"), `"group":"web","mode":"held"`, false},
			nonsense(`decode event: source \"nobody\"`),
			{sample("alarm-config-change-update.json", "2026-11-30T13:20:34Z"), `"looked":0`, false},
			{sample("alarm-state-change-metric-math.json", "2026-11-30T11:42:31Z"), `"looked":0`, false},
		},
		"notify": {
			{notice, `null`, false},
			{notice, `null`, false},
			nonsense(`no notice of Holdfast`),
		},
		"probe": {
			{sample("scheduled-event-rule.json", "2026-11-30T12:00:00Z"), `"world":{"outcome":"passed"`, false},
			{text(`{"kind":"tick"}`), `"sources":1`, false},
			nonsense(`decode event: `),
		},
		"audit": {
			{sample("scheduled-event-rule.json", "2026-11-30T12:00:00Z"), `"groups":1,"target_groups":1,`, false},
			{text(`{"kind":"tick"}`), `"new":0,"gone":0,"kept":0,`, false},
			nonsense(`decode event: `),
		},
	}
}

func text(s string) func(*testing.T) []byte { return func(*testing.T) []byte { return []byte(s) } }

// sample is a sample event that happens now, its time written in the form that it has there.
func sample(name, at string) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join("..", "events", name))
		must(t, err)
		if !bytes.Contains(raw, []byte(at)) {
			t.Fatalf("%s has no time %s", name, at)
		}
		layout := time.RFC3339
		if strings.HasSuffix(at, "+0000") {
			layout = "2006-01-02T15:04:05.000-0700"
		}
		return bytes.ReplaceAll(raw, []byte(at), []byte(time.Now().UTC().Format(layout)))
	}
}

// notice is what the sweep puts on the bus.
func notice(t *testing.T) []byte {
	t.Helper()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	raw, err := json.Marshal(map[string]any{
		"id": "e-1", "source": report.Source, "detail-type": report.DetailType, "account": "111122223333", "region": "us-east-1", "time": at,
		"detail": report.Detail{Group: "web", ARN: "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0:autoScalingGroupName/web", Key: guard.PageHeld, Urgent: true, Text: "web is held", Since: at, Mode: guard.ModeAct, At: at},
	})
	must(t, err)
	return raw
}

// topic is the one topic of the Region; it keeps the subjects of what is published.
type topic struct{ subjects []string }

const topicARN = "arn:aws:sns:us-east-1:111122223333:holdfast-notices"

func (p *topic) Handle(_ context.Context, call wire.Call) (any, error) {
	if call.Operation != "Publish" {
		return nil, wire.UnknownOperation(call.Operation)
	}
	return wire.Do(call, func(in *sns.PublishInput) (*sns.PublishOutput, error) {
		if aws.ToString(in.TopicArn) != topicARN {
			return nil, &wire.Error{Code: "NotFound", Message: "no such topic", Status: http.StatusNotFound}
		}
		p.subjects = append(p.subjects, aws.ToString(in.Subject))
		return &sns.PublishOutput{MessageId: aws.String("m-1")}, nil
	})
}

// region is the embedded AWS at the present time: one guarded group of four that serve, and a red alarm on what it needs.
func region(t *testing.T) (*world.Region, *topic, map[string]string) {
	t.Helper()
	const past = 5 * time.Minute
	r, err := world.NewRegion(sim.Config{Start: time.Now().Add(-past), Seed: 1})
	must(t, err)
	r.Do(func(c *sim.Cloud) {
		_, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: "web", Ports: []int{8080}})
		must(t, err)
		must(t, c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: 4, Min: 2, Max: 8, Tags: map[string]string{"holdfast:guard": "true"}, HealthCheckTypes: []string{"EC2", "ELB"},
			Grace: 300 * time.Second, TargetGroups: []string{"web"}, SteadyFor: time.Hour,
		}))
		must(t, c.PutAlarm(sim.AlarmSpec{Name: "dep-orders-db-connections"}))
	})
	must(t, r.PutParameter(guard.ModeParameter, guard.ModeAct))
	must(t, r.Declare("web", `{"dependencies":[{"alarm":"dep-orders-db-connections","kind":"hard"}]}`))
	must(t, r.Advance(t.Context(), past))
	r.Do(func(c *sim.Cloud) {
		must(t, c.SetAlarmState("dep-orders-db-connections", sim.AlarmRed, "the test says so"))
	})
	topic := &topic{}
	r.Mount(wire.Mount{Name: "sns", Key: "2010-03-31", Codec: wire.Query("http://sns.amazonaws.com/doc/2010-03-31/"), Service: topic})
	url, stop, err := stage.Listen(r)
	must(t, err)
	t.Cleanup(stop)
	must(t, r.PutParameter("/holdfast/probes", `{"sources":[{"name":"world","type":"dns","host":"localhost"}]}`))
	env := r.FunctionEnv(url)
	env[notify.EnvTopic] = topicARN
	return r, topic, env
}

func TestEveryBuiltFunctionRunsUnderAWSsOwnEmulator(t *testing.T) {
	emulator := os.Getenv(emulatorVariable)
	if emulator == "" {
		t.Skipf("%s is not set: `%s=$(.ci/rie) go test ./functions` builds AWS's Runtime Interface Emulator and runs this", emulatorVariable, emulatorVariable)
	}
	mains, err := filepath.Glob(filepath.Join("*", "main.go"))
	if err != nil || len(mains) < len(stated()) {
		t.Fatalf("functions %q, %v", mains, err)
	}
	for _, file := range mains {
		name := filepath.Dir(file)
		t.Run(name, func(t *testing.T) {
			exchanges := stated()[name]
			if len(exchanges) == 0 {
				t.Fatal("it is not stated what this function is sent and must answer")
			}
			r, topic, env := region(t)
			l := start(t, emulator, build(t, name), env)
			for i, e := range exchanges {
				answer := l.invoke(t, e.event(t))
				failed := bytes.Contains(answer, []byte(`"errorMessage"`))
				if !json.Valid(answer) || failed != e.fails || !bytes.Contains(answer, []byte(e.says)) {
					t.Errorf("event %d: answer %s\nwant failed %v and %s", i, answer, e.fails, e.says)
				}
			}
			log := l.stop(t)
			if !strings.Contains(log, `"cold_start":true`) || !strings.Contains(log, `"cold_start":false`) {
				t.Error("the log does not tell a cold start and warm ones, although one process should take all events")
			}
			if n := r.Calls()["autoscaling:SuspendProcesses"]; name == "alarm" && n != 1 {
				t.Errorf("%d suspensions for two looks at one red alarm", n)
			}
			if name == "notify" && (len(topic.subjects) != 1 || topic.subjects[0] == "") {
				t.Errorf("subjects %q for one notice that came twice", topic.subjects)
			}
			if t.Failed() {
				t.Logf("the function's log:\n%s", log)
			}
		})
	}
}

// build builds a function as it ships, but for this machine.
func build(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w", "-o", out, "./"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, said)
	}
	return out
}

// lambda is the emulator with one function in it.
type lambda struct {
	cmd     *exec.Cmd
	address string
	out     *buffer
	exited  chan struct{}
}

// buffer is a bytes.Buffer for two writers.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start starts the emulator and waits until it listens. Both of its addresses are given, because without them it listens on all
// interfaces of the machine.
func start(t *testing.T, emulator, bootstrap string, env map[string]string) *lambda {
	t.Helper()
	l := &lambda{address: freeAddress(t), out: &buffer{}, exited: make(chan struct{})}
	l.cmd = exec.Command(emulator, "--runtime-interface-emulator-address", l.address, "--runtime-api-address", freeAddress(t), bootstrap)
	l.cmd.Dir = filepath.Dir(bootstrap)
	l.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "AWS_REGION=us-east-1", fmt.Sprintf("AWS_LAMBDA_FUNCTION_TIMEOUT=%d", int(invokeTimeout.Seconds()))}
	for name, value := range env {
		l.cmd.Env = append(l.cmd.Env, name+"="+value)
	}
	l.cmd.Stdout, l.cmd.Stderr = l.out, l.out
	l.cmd.WaitDelay = time.Second
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, l.cmd.Start())
	go func() {
		_ = l.cmd.Wait() // it always ends by our signal
		close(l.exited)
	}()
	t.Cleanup(func() { l.stop(t) })
	l.wait(t)
	return l
}

// wait dials until somebody listens.
func (l *lambda) wait(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	again := time.NewTicker(dialEvery)
	defer again.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.address)
		if err == nil {
			_ = conn.Close() // it was only a question
			return
		}
		select {
		case <-again.C:
		case <-l.exited:
			t.Fatalf("the emulator ended at once:\n%s", l.out)
		case <-ctx.Done():
			t.Fatalf("the emulator does not listen: %v\n%s", err, l.out)
		}
	}
}

// freeAddress is a loopback address that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, listener.Close()) }()
	return listener.Addr().String()
}

// invoke sends an event as a synchronous invocation and returns the answer.
func (l *lambda) invoke(t *testing.T, event []byte) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), invokeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.address+"/2015-03-31/functions/function/invocations", bytes.NewReader(event))
	must(t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("invoke: %v\n%s", err, l.out)
	}
	defer func() { _ = res.Body.Close() }() // it was read to its end
	answer, err := io.ReadAll(res.Body)
	must(t, err)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("invoke: HTTP %d: %s\n%s", res.StatusCode, answer, l.out)
	}
	return answer
}

// stop ends the emulator and its function, and returns what they said.
func (l *lambda) stop(t *testing.T) string {
	t.Helper()
	select {
	case <-l.exited:
		return l.out.String()
	default:
	}
	_ = l.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	select {
	case <-l.exited:
	case <-ctx.Done():
		if err := syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Errorf("end the emulator: %v", err)
		}
		<-l.exited
	}
	return l.out.String()
}
