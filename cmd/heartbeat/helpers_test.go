package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

const (
	token = "correct-horse-battery"
	// patience is how long a process may take for anything; tests go on as soon as it is done.
	patience  = 20 * time.Second
	lookEvery = 20 * time.Millisecond
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits for something that a process does.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %s for: %s", patience, what)
		case <-ticker.C:
		}
	}
}

// build builds the agent as it ships, but for this machine.
func build(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("the go command cannot be run: %v", err)
	}
	binary := filepath.Join(t.TempDir(), "heartbeat")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	return binary
}

// instanceMetadata is a metadata service of version 2 with an instance profile. It can be made to hang up on everybody.
type instanceMetadata struct {
	id, account, region string

	mu        sync.Mutex
	lifecycle string
	gone      bool
}

func (m *instanceMetadata) set(lifecycle string, gone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lifecycle, m.gone = lifecycle, gone
}

func (m *instanceMetadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	lifecycle, gone := m.lifecycle, m.gone
	m.mu.Unlock()
	if gone {
		panic(http.ErrAbortHandler)
	}
	if r.Method == http.MethodPut && r.URL.Path == "/latest/api/token" {
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		_, _ = io.WriteString(w, "token")
		return
	}
	if r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer, ok := map[string]string{
		"dynamic/instance-identity/document":                fmt.Sprintf(`{"accountId":%q,"region":%q,"instanceId":%q}`, m.account, m.region, m.id),
		"meta-data/services/partition":                      "aws",
		"meta-data/autoscaling/target-lifecycle-state":      lifecycle,
		"meta-data/iam/security-credentials/":               "web-role",
		"meta-data/iam/security-credentials/web-role":       `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"test","SecretAccessKey":"test","Token":"test","Expiration":"2099-01-01T00:00:00Z"}`,
		"meta-data/tags/instance/aws:autoscaling:groupName": "web",
	}[strings.TrimPrefix(r.URL.Path, "/latest/")]
	if !ok || answer == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = io.WriteString(w, answer)
}

// place is what an agent process finds around it: a table of the embedded AWS, and a metadata service.
type place struct {
	region   *world.Region
	url      string
	metadata *instanceMetadata
	imds     string
	table    *dynamodb.Client
	binary   string
	// interval is the time between two beats, short so that tests are.
	interval string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{binary: build(t), interval: "1s"}
	var err error
	p.region, err = world.NewRegion(sim.Config{Start: time.Now(), Seed: 1})
	must(t, err)
	t.Cleanup(p.region.Close)
	url, stop, err := stage.Listen(p.region)
	must(t, err)
	t.Cleanup(stop)
	p.url, p.table = url, tableClient(t, url)
	p.metadata = &instanceMetadata{id: "i-0123456789abcdef0", account: "111122223333", region: "us-east-1", lifecycle: "InService"}
	p.imds = serveMetadata(t, p.metadata)
	return p
}

func serveMetadata(t *testing.T, m *instanceMetadata) string {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return server.URL
}

func tableClient(t *testing.T, url string) *dynamodb.Client {
	t.Helper()
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
}

// row is the instance's row; nil when there is none.
func (p *place) row(t *testing.T) map[string]types.AttributeValue {
	t.Helper()
	out, err := p.table.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(world.HeartbeatTable), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "arn:aws:ec2:us-east-1:111122223333:instance/" + p.metadata.id}},
	})
	must(t, err)
	return out.Item
}

func (p *place) status(t *testing.T) string {
	t.Helper()
	s, ok := p.row(t)["status"].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}

func (p *place) seq(t *testing.T) int64 {
	t.Helper()
	n, ok := p.row(t)["seq"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	var seq int64
	_, err := fmt.Sscan(n.Value, &seq)
	must(t, err)
	return seq
}

// agent is a running process.
type agent struct {
	cmd    *exec.Cmd
	listen string
	done   chan struct{}
	out    *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start starts an agent with checks in YAML and changes to its environment, and waits until it answers.
func (p *place) start(t *testing.T, checks string, env ...string) *agent {
	t.Helper()
	dir := t.TempDir()
	a := &agent{listen: freeAddress(t), done: make(chan struct{}), out: &lockedBuffer{}}
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600))
	text := fmt.Sprintf("table: %s\ninterval: %s\nlisten: %s\nstatus_token_file: %s\nstart_within: 0s\n%s", world.HeartbeatTable, p.interval, a.listen, filepath.Join(dir, "token"), checks)
	must(t, os.WriteFile(filepath.Join(dir, "heartbeat.yaml"), []byte(text), 0o600))
	a.cmd = exec.Command(p.binary, "--config", filepath.Join(dir, "heartbeat.yaml"))
	a.cmd.Env = append([]string{"AWS_ENDPOINT_URL=" + p.url, "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + p.imds}, env...)
	a.cmd.Stderr = a.out
	must(t, a.cmd.Start())
	go func() {
		_ = a.cmd.Wait() // its exit code is asked for later
		close(a.done)
	}()
	t.Cleanup(func() {
		a.signal(t, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the agent said:\n%s", a.out)
		}
	})
	until(t, "the agent answers", func() bool { _, err := a.get("/health", ""); return err == nil })
	return a
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// signal sends a signal and waits for the end; it returns the exit code, -1 for a killed one.
func (a *agent) signal(t *testing.T, s syscall.Signal) int {
	t.Helper()
	select {
	case <-a.done:
	default:
		must(t, a.cmd.Process.Signal(s))
	}
	select {
	case <-a.done:
	case <-time.After(patience):
		t.Fatal("the agent does not end")
	}
	return a.cmd.ProcessState.ExitCode()
}

func (a *agent) get(path, bearer string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodGet, "http://"+a.listen+path, nil)
	if err != nil {
		return nil, err
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	return (&http.Client{Timeout: patience}).Do(req)
}

// health is the status of /health; 0 when nobody answers.
func (a *agent) health() int {
	res, err := a.get("/health", "")
	if err != nil {
		return 0
	}
	_ = res.Body.Close() // it is empty
	return res.StatusCode
}

// debug is the decoded debug status.
func (a *agent) debug(t *testing.T) map[string]any {
	t.Helper()
	res, err := a.get("/debug/status", token)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	var body map[string]any
	must(t, json.NewDecoder(res.Body).Decode(&body))
	return body
}
