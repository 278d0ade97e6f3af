package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

const good = `
table: holdfast-heartbeats
checks:
  - {name: disk, type: disk, path: /var, free_bytes: 500MiB}
`

func TestTheShippedFileIsGood(t *testing.T) {
	file, err := os.Open("deploy/heartbeat.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	c, checks, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(checks) != 4 || !checks[3].Dependency || checks[2].Timeout != 1500*time.Millisecond || checks[0].Failures != 3 || c.startWithin() != 5*time.Minute {
		t.Errorf("config %+v, checks %+v", c, checks)
	}
}

func TestAFileIsRefusedWithTheReason(t *testing.T) {
	checks := func(one string) string { return "table: t\nchecks:\n  - " + one + "\n" }
	cases := []struct{ name, text, want string }{
		{"nothing", "", "decode: EOF"},
		{"no table", "interval: 10s\n", "table is missing"},
		{"an unknown key", good + "colour: red\n", "field colour not found"},
		{"a key that stands twice", good + "table: other\n", "already defined"},
		{"two documents", good + "---\ntable: t\n", "want one document"},
		{"a duration without a unit", good + "interval: 10\n", `"10", want a duration with its unit`},
		{"an interval of which one lost beat makes a member late", good + "interval: 30s\n", "2 x 30s = 1m0s below heartbeat_fresh_seconds"},
		{"an interval of nothing", good + "interval: 0s\n", "want both above 0"},
		{"an address without a port", good + "listen: 127.0.0.1\n", `listen "127.0.0.1"`},
		{"an address by name", good + "listen: web:80\n", "want an IP address"},
		{"a start that is too long", good + "start_within: 20m\n", "start_within 20m0s, want 0s to 14m0s"},
		{"a handler that does not nest", good + "handler_timeout: 5s\n", "handler timeout 5s is not below probe timeout 5s"},
		{"a probe that does not nest", good + "probe_interval: 5s\n", "probe timeout 5s is not below probe interval 5s"},
		{"a check that does not nest", checks(`{name: a, type: tcp, address: "127.0.0.1:1", timeout: 3s}`), `checks[0] "a": timeout 3s is not below handler timeout 2s: want check < handler 2s < probe 5s < interval 10s`},
		{"a check that runs into the next", checks(`{name: a, type: tcp, address: "127.0.0.1:1", timeout: 1s, every: 1s}`), "timeout 1s is not below every 1s"},
		{"an unknown type", checks(`{name: a, type: ping}`), `type "ping", want disk, process`},
		{"a key of another type", checks(`{name: a, type: disk, path: /, free_bytes: 1, url: "http://localhost/"}`), "key url is not for type disk, which takes path"},
		{"another host", checks(`{name: a, type: http, url: "http://db.internal/v1"}`), "dependency: true"},
		{"another service's health endpoint", checks(`{name: a, type: http, url: "http://auth.internal/health", dependency: true}`), "another service's health endpoint"},
		{"the agent's own address", checks(`{name: a, type: http, url: "http://127.0.0.1:9180/health"}`), "it would ask itself"},
		{"a hard dependency", checks(`{name: a, type: tcp, address: "db:5432", dependency: true, severity: hard}`), "a dependency cannot be hard"},
		{"a disk as a dependency", checks(`{name: a, type: disk, path: /, writable: true, dependency: true}`), "is no dependency"},
		{"another severity", checks(`{name: a, type: disk, path: /, writable: true, severity: medium}`), `severity "medium"`},
		{"a name with a colon", checks(`{name: "dep:db", type: tcp, address: "127.0.0.1:1"}`), "want 1 to 60"},
		{"no failures in a row", checks(`{name: a, type: tcp, address: "127.0.0.1:1", failures: 0}`), "failures 0, want 1 to 100"},
		{"two names for a process", checks(`{name: a, type: process, process: app, pid_file: /run/app.pid}`), "either process or pid_file"},
		{"a size with a wrong unit", checks(`{name: a, type: disk, path: /, free_bytes: 5GB}`), `"5GB", want a number of bytes`},
		{"a size that is too large", checks(`{name: a, type: disk, path: /, free_bytes: 99999999999GiB}`), "want a number of bytes"},
		{"a name that stands twice", checks("{name: a, type: systemd, unit: a.service}\n  - {name: a, type: systemd, unit: b.service}"), "stands twice"},
		{"several faults at once", "interval: 30s\nchecks:\n  - {name: A, type: command, command: [curl]}\n", "absolute path"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	_, _, err := read(strings.NewReader(cases[len(cases)-1].text))
	for _, want := range []string{"table is missing", "heartbeat_fresh_seconds", "absolute path"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it too", err, want)
		}
	}
}

func TestEveryTypeCanBeWritten(t *testing.T) {
	text := `
table: t
interval: 20s
fresh: 90s
listen: ":9180"
start_within: 0s
checks:
  - {name: a, type: disk, path: /, free_bytes: 2GiB, free_inodes: 10, writable: true}
  - {name: b, type: process, process: app}
  - {name: c, type: process, pid_file: /run/app.pid, severity: soft}
  - {name: d, type: systemd, unit: app@1.service}
  - {name: e, type: file-age, path: /var/spool/x, max_age: 5m}
  - {name: f, type: http, url: "http://localhost:8080/x", statuses: [200, 204], host_header: shop.example.com}
  - {name: g, type: tcp, address: "[::1]:6379"}
  - {name: h, type: command, command: [/usr/bin/test, -e, /run/app.sock], timeout: 500ms, every: 1m, failures: 1}
  - {name: i, type: http, url: "https://auth.internal/v1/keys", dependency: true}
`
	c, checks, err := read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(checks) != 9 || !checks[2].Soft || !checks[8].Dependency || checks[7].Every != time.Minute || checks[7].Failures != 1 || c.startWithin() != 0 {
		t.Errorf("checks %+v", checks)
	}
}

func TestTheTokenOfTheStatus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, c := range []struct{ name, text, token, want string }{
		{"a token with a line end", "correct-horse-battery\n", "correct-horse-battery", ""},
		{"a short one", "secret\n", "", "holds 6 bytes, want at least 16"},
		{"an empty file", "", "", "holds 0 bytes"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := config{TokenFile: path}.token()
		if token != c.token || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: token %q, error %v", c.name, token, err)
		}
	}
	if _, err := (config{TokenFile: path + "-gone"}).token(); err == nil {
		t.Error("a file that is not there is accepted")
	}
	if token, err := (config{}).token(); token != "" || err != nil {
		t.Errorf("without a file: %q, %v", token, err)
	}
}

func TestTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a good file", []string{"--config", write("good", good), "--check"}, exitOK, "good, checks: 1"},
		{"a bad file", []string{"--config", write("bad", "table: t\nx: 1\n"), "--check"}, exitRefused, "field x not found"},
		{"a bad file is not run either", []string{"--config", write("bad", "table: t\nx: 1\n")}, exitRefused, "refused"},
		{"no file", []string{"--config", filepath.Join(dir, "gone")}, exitRefused, "open"},
		{"an unknown flag", []string{"--verbose"}, exitRefused, "verbose"},
		{"an argument", []string{"start"}, exitRefused, ""},
		{"the version", []string{"--version"}, exitOK, "heartbeat "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := run(c.args, &out); code != c.code || !strings.Contains(out.String(), c.says) {
				t.Errorf("exit %d, %q; want %d, %q", code, out.String(), c.code, c.says)
			}
		})
	}
}

func TestThePageNamesEveryKeyAndType(t *testing.T) {
	page, err := os.ReadFile("../../docs/heartbeat-agent.md")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, form := range []reflect.Type{reflect.TypeFor[config](), reflect.TypeFor[checkConfig]()} {
		for i := range form.NumField() {
			words = append(words, form.Field(i).Tag.Get("yaml"))
		}
	}
	for kind := range kinds() {
		words = append(words, kind)
	}
	for _, word := range words {
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("the page does not name %s", word)
		}
	}
}

// FuzzRead wants that a file is refused or gives what an agent can be made of: nothing that was accepted may fail later.
func FuzzRead(f *testing.F) {
	f.Add(good)
	shipped, err := os.ReadFile("deploy/heartbeat.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(shipped))
	f.Add("table: t\nlisten: ':0'\nstart_within: 0s\nchecks: [{name: a, type: http, url: 'http://[::1]/x', every: 2s, timeout: 1ms, failures: 100}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, checks, err := read(strings.NewReader(text))
		if err != nil {
			return
		}
		if _, err := heartbeat.New(heartbeat.Options{
			Connect: func(context.Context) (*heartbeat.Writer, error) { return nil, nil },
			Checks:  checks, Nesting: c.nesting(), Every: time.Duration(c.Interval), StartWithin: c.startWithin(),
		}); err != nil {
			t.Errorf("accepted, and then: %v", err)
		}
	})
}
