package local_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/heartbeat/local"
)

type run = func(context.Context) error

// verdict runs a made check; want is a part of its error, empty for none.
func verdict(t *testing.T, check run, makeErr error, want string) {
	t.Helper()
	if makeErr != nil {
		t.Fatal(makeErr)
	}
	expect(t, check(t.Context()), want)
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		o    local.DiskOptions
		want string
	}{
		{"enough of everything", local.DiskOptions{Path: dir, FreeBytes: 1, Writable: true}, ""},
		{"more bytes than there can be", local.DiskOptions{Path: dir, FreeBytes: 1 << 62}, "bytes free, want at least 4611686018427387904"},
		{"a folder that is not there", local.DiskOptions{Path: filepath.Join(dir, "gone"), FreeBytes: 1}, "read free space"},
		{"a file instead of a folder", local.DiskOptions{Path: touch(t, dir, "file"), Writable: true}, "create file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check, err := local.Disk(c.o)
			verdict(t, check, err, c.want)
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, ".holdfast*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, o := range []local.DiskOptions{{Path: "data", FreeBytes: 1}, {Path: dir}} {
		if _, err := local.Disk(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestAFullDisk(t *testing.T) {
	dir := os.Getenv("HOLDFAST_FULL_DISK")
	if dir == "" {
		t.Skip("HOLDFAST_FULL_DISK is not set: it names a small file system, such as a tmpfs of 1 MiB, that this test fills and empties")
	}
	check, err := local.Disk(local.DiskOptions{Path: dir, Writable: true})
	verdict(t, check, err, "")
	ballast := filepath.Join(dir, "ballast")
	t.Cleanup(func() { _ = os.Remove(ballast) }) // the folder is the caller's
	file, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for range 1 << 16 { // at most 256 MiB, in case the file system is not small
		if _, err = file.Write(block); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatalf("%s is not small", dir)
	}
	_ = file.Close() // full
	verdict(t, check, nil, "no space left")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	verdict(t, check, nil, "")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func touch(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFileAge(t *testing.T) {
	path := touch(t, t.TempDir(), "spool")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		age  time.Duration
		want string
	}{
		{"just written", 0, ""},
		{"at the limit", time.Minute, ""},
		{"past the limit", time.Minute + time.Second, "changed 1m1s ago, want at most 1m0s"},
		{"from the future, after the clock stepped back", -time.Hour, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			check, err := local.FileAge(path, time.Minute, func() time.Time { return info.ModTime().Add(c.age) })
			verdict(t, check, err, c.want)
		})
	}
	check, err := local.FileAge(path+"-gone", time.Minute, nil)
	verdict(t, check, err, "read file's time")
	if _, err := local.FileAge("spool", time.Minute, nil); err == nil {
		t.Error("a relative path is accepted")
	}
	if _, err := local.FileAge(path, 0, nil); err == nil {
		t.Error("no age is accepted")
	}
}

func TestProcess(t *testing.T) {
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Skipf("processes are read from /proc: %v", err)
	}
	self, err := local.Process(strings.TrimSpace(string(comm)))
	verdict(t, self, err, "")
	nobody, err := local.Process("no-such-program")
	verdict(t, nobody, err, "no process no-such-progra")
	if _, err := local.Process("/usr/bin/app"); err == nil {
		t.Error("a path is accepted")
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"this process", strconv.Itoa(os.Getpid()) + "\n", ""},
		{"a number that nothing has", "4194999", "does not run"},
		{"no number", "app", `holds "app"`},
	} {
		path := filepath.Join(dir, "pid")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		check, err := local.PIDFile(path)
		verdict(t, check, err, c.want)
	}
	gone, err := local.PIDFile(filepath.Join(dir, "gone"))
	verdict(t, gone, err, "read number of the process")
}

func TestHTTP(t *testing.T) {
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/broken", http.StatusFound) })
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	mux.HandleFunc("/busy", func(http.ResponseWriter, *http.Request) { <-release })
	mux.HandleFunc("/host", func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "shop.example.com" {
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(release)
	for _, c := range []struct {
		name string
		o    local.HTTPOptions
		want string
	}{
		{"an answer", local.HTTPOptions{URL: "/ok"}, ""},
		{"a redirection is an answer and is not followed", local.HTTPOptions{URL: "/moved"}, ""},
		{"an error of the application", local.HTTPOptions{URL: "/broken"}, "status 502, want 200 to 399"},
		{"an error that is expected", local.HTTPOptions{URL: "/broken", Statuses: []int{200, 502}}, ""},
		{"an answer that is not expected", local.HTTPOptions{URL: "/ok", Statuses: []int{204}}, "status 200, want one of [204]"},
		{"the name of the site", local.HTTPOptions{URL: "/host", HostHeader: "shop.example.com"}, ""},
		{"an exhausted pool", local.HTTPOptions{URL: "/busy"}, "deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.URL = server.URL + c.o.URL
			check, err := local.HTTP(c.o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			expect(t, check(ctx), c.want)
		})
	}
}

func TestHostsAndHealthEndpointsOfOthersAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, url  string
		dependency bool
		want       string
	}{
		{"this host", "http://127.0.0.1:8080/health", false, ""},
		{"this host by name", "http://localhost:8080/api/orders/1", false, ""},
		{"this host over IPv6", "http://[::1]:8080/", false, ""},
		{"this host's whole network", "http://127.9.9.9/", false, ""},
		{"another host", "http://db.internal:8080/v1/ping-me", false, "dependency: true"},
		{"another host by address", "http://10.0.0.9/", false, `host "10.0.0.9" is another host`},
		{"a name that only begins like this host", "http://localhost.evil.example/", false, "another host"},
		{"another host, declared", "https://auth.internal/v1/keys", true, ""},
		{"another service's health endpoint, declared", "https://auth.internal/health", true, "another service's health endpoint"},
		{"one below a prefix", "https://auth.internal/auth/healthz", true, "another service's health endpoint"},
		{"a readiness endpoint", "https://auth.internal/readyz/", true, "another service's health endpoint"},
		{"an actuator", "https://auth.internal/actuator/health/db", true, "another service's health endpoint"},
		{"a word that only contains it", "https://auth.internal/healthcare/plans", true, ""},
		{"the agent itself", "http://127.0.0.1:9180/health", false, "it would ask itself"},
		{"no host", "http:///x", false, "want http or https and a host"},
		{"another scheme", "ftp://127.0.0.1/", false, "want http or https"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := local.HTTP(local.HTTPOptions{URL: c.url, Dependency: c.dependency, Own: ":9180"})
			expect(t, err, c.want)
		})
	}
	for _, c := range []struct {
		name, address string
		dependency    bool
		want          string
	}{
		{"this host", "127.0.0.1:6379", false, ""}, {"another host", "cache.internal:6379", false, "another host"},
		{"another host, declared", "cache.internal:6379", true, ""}, {"no port", "127.0.0.1", false, "want host:port"}, {"no host", ":80", false, "want host:port"},
	} {
		t.Run("tcp: "+c.name, func(t *testing.T) {
			_, err := local.TCP(c.address, c.dependency)
			expect(t, err, c.want)
		})
	}
	for _, c := range []struct {
		name       string
		argv       []string
		dependency bool
		want       string
	}{
		{"this host", []string{"/usr/bin/curl", "-sf", "http://localhost/health"}, false, ""},
		{"another host", []string{"/usr/bin/curl", "http://auth.internal/v1"}, false, "another host"},
		{"another health endpoint, declared", []string{"/usr/bin/curl", "http://auth.internal/health"}, true, "health endpoint"},
		{"no folder", []string{"curl"}, false, "absolute path"}, {"nothing", nil, false, "absolute path"},
	} {
		t.Run("command: "+c.name, func(t *testing.T) {
			_, err := local.Command(c.argv, c.dependency)
			expect(t, err, c.want)
		})
	}
}

func TestTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	check, err := local.TCP(listener.Addr().String(), false)
	verdict(t, check, err, "")
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	verdict(t, check, nil, "connect")
}

func TestCommand(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); errors.Is(err, os.ErrNotExist) {
		t.Skip("there is no /bin/sh")
	}
	for _, c := range []struct{ name, script, want string }{
		{"it exits with 0", "exit 0", ""},
		{"it exits with 3 and says why", "echo queue is stuck >&2; exit 3", "exit status 3: queue is stuck"},
		{"it says too much", "yes | head -c 100000; exit 1", "exit status 1"},
		{"it hangs, with a child that holds its output", "sleep 60 & sleep 60", "deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check, err := local.Command([]string{"/bin/sh", "-c", c.script}, false)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err = check(ctx)
			expect(t, err, c.want)
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("%d bytes of error", len(err.Error()))
			}
		})
	}
}
