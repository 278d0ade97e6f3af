package stack_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/infra/app"
)

// userData is what an instance of the example runs, with the name of each reference in its place.
func userData(t *testing.T) string {
	t.Helper()
	templates := appStack(t, app.ExampleStack).properties("AWS::EC2::LaunchTemplate")
	if len(templates) != 1 {
		t.Fatalf("%d launch templates", len(templates))
	}
	data, ok := templates[0]["LaunchTemplateData"].(map[string]any)["UserData"].(map[string]any)
	if !ok {
		t.Fatalf("no user data in %s", text(templates[0]))
	}
	return resolved(t, data["Fn::Base64"])
}

// resolved writes out the functions of CloudFormation that user data has.
func resolved(t *testing.T, v any) string {
	t.Helper()
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if name, ok := v["Ref"].(string); ok {
			return name
		}
		if pattern, ok := v["Fn::Sub"].(string); ok {
			return pattern
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			var parts []string
			for _, part := range join[1].([]any) {
				parts = append(parts, resolved(t, part))
			}
			return strings.Join(parts, join[0].(string))
		}
	}
	t.Fatalf("%s cannot be written out", text(v))
	return ""
}

// machine is a folder that stands for an instance: the user data runs in it, with programs that only note what is asked of systemd and S3.
type machine struct {
	dir, script         string
	sitePort, agentPort int
}

// port is a free one. Somebody else may take it before it is used, which fails the test and does no harm.
func port(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // it was only asked for its number
	return l.Addr().(*net.TCPAddr).Port
}

func newMachine(t *testing.T) machine {
	t.Helper()
	for _, program := range []string{"bash", "python3", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not there", program)
		}
	}
	m := machine{dir: t.TempDir(), sitePort: port(t), agentPort: port(t)}
	m.run(t, "go", "build", "-o", filepath.Join(m.dir, "agent"), "../../cmd/heartbeat")
	for _, folder := range []string{"bin", "local", "units"} {
		if err := os.Mkdir(filepath.Join(m.dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.program(t, "systemctl", `echo "systemctl $*" >>"`+m.dir+`/asked"`)
	m.program(t, "sleep", `echo "sleep $*" >>"`+m.dir+`/asked"`)
	// As on an instance whose role is not valid yet, the first try fails.
	m.program(t, "aws", `echo "aws $*" >>"`+m.dir+`/asked"
[ -e "`+m.dir+`/tried" ] || { touch "`+m.dir+`/tried"; exit 1; }
cp "`+m.dir+`/agent" "${@: -1}"`)
	m.script = strings.NewReplacer(
		"/etc/holdfast", m.dir+"/holdfast", "/etc/systemd/system", m.dir+"/units", "/usr/local/bin", m.dir+"/local", "/opt/example", m.dir+"/example",
		"9180", strconv.Itoa(m.agentPort), "8080", strconv.Itoa(m.sitePort),
		// Nothing is a unit of systemd here.
		"type: systemd\n    unit: 'example-web.service'", "type: process\n    process: python3",
	).Replace(userData(t))
	return m
}

func (m machine) program(t *testing.T, name, body string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, "bin", name), []byte("#!/bin/bash\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (m machine) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(m.dir, "bin")+":"+os.Getenv("PATH"), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts a program and ends it with the test.
func (m machine) start(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
}

// health waits until /health at a port has a status.
func (m machine) health(t *testing.T, port, want int) {
	t.Helper()
	const patience, pace = 20 * time.Second, 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	last := "nothing"
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/health", port), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close() // only the status is asked
			if res.StatusCode == want {
				return
			}
			last = res.Status
		}
		select {
		case <-ctx.Done():
			t.Fatalf("/health at %d is %s, want %d", port, last, want)
		case <-ticks.C:
		}
	}
}

func TestTheUserDataBringsThePageAndTheAgent(t *testing.T) {
	needNode(t)
	m := newMachine(t)
	script := filepath.Join(m.dir, "user-data.sh")
	if err := os.WriteFile(script, []byte(m.script), 0o600); err != nil {
		t.Fatal(err)
	}
	m.run(t, "bash", "-n", script)
	m.run(t, "bash", script)
	const bucket = "s3://cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}/"
	asked := readAll(t, filepath.Join(m.dir, "asked"))
	for _, want := range []string{
		"systemctl enable --now example-web.service\n", "aws s3 cp --only-show-errors --region AWS::Region " + bucket, "sleep 10\naws s3 cp",
		"systemctl daemon-reload\nsystemctl enable --now holdfast-heartbeat.service\n",
	} {
		if !strings.Contains(asked, want) {
			t.Errorf("nobody asked %q; asked was\n%s", want, asked)
		}
	}
	agent, config := filepath.Join(m.dir, "local", "holdfast-heartbeat"), filepath.Join(m.dir, "holdfast", "heartbeat.yaml")
	if said := m.run(t, agent, "--config", config, "--check"); !strings.Contains(said, "good, checks: 3") {
		t.Errorf("the agent says of its file: %s", said)
	}
	if _, err := exec.LookPath("systemd-analyze"); err == nil {
		m.run(t, "systemd-analyze", "verify", filepath.Join(m.dir, "units", "holdfast-heartbeat.service"), filepath.Join(m.dir, "units", "example-web.service"))
	} else {
		t.Log("systemd-analyze is not there: nobody has verified the units")
	}

	m.start(t, "python3", filepath.Join(m.dir, "example", "site.py"), strconv.Itoa(m.sitePort))
	m.health(t, m.sitePort, http.StatusOK) // without an agent the page goes on serving
	stand := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", m.agentPort))
	if err != nil {
		t.Fatal(err)
	}
	_ = stand.Listener.Close() // the one that it does not use
	stand.Listener = l
	stand.Start()
	m.health(t, m.sitePort, http.StatusServiceUnavailable) // what the agent says is what the load balancer hears
	stand.Close()
	m.health(t, m.sitePort, http.StatusOK)
	m.start(t, agent, "--config", config)
	m.health(t, m.agentPort, http.StatusOK) // the agent asks the page and the page asks the agent, and neither waits for the other
	m.health(t, m.sitePort, http.StatusOK)
}

func TestUserDataFitsAnInstance(t *testing.T) {
	const most = 16 << 10 // before encoding; source: EC2 user guide, user data
	if n := len(userData(t)); n > most {
		t.Errorf("%d bytes, want at most %d", n, most)
	}
}
