package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
)

// These tests run the built agent as a process, so they use the machine's clock. Each waits only for what the agent does next.

func TestTheAgentBeatsAndLeaves(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := p.start(t, "checks:\n  - {name: tmp, type: disk, path: "+t.TempDir()+", free_bytes: 1, writable: true, every: 1s, timeout: 500ms}\n")
	until(t, "three beats", func() bool { return p.status(t) == "ok" && p.region.Calls()["dynamodb:UpdateItem"] >= 3 })
	res, err := a.get("/health", "")
	must(t, err)
	body, err := io.ReadAll(res.Body)
	must(t, err)
	if res.StatusCode != http.StatusOK || len(body) != 0 || len(res.Header) != 3 || res.Header.Get("Date") == "" {
		t.Errorf("/health: %s, header %v, body %q; want a status, a length and a date", res.Status, res.Header, body)
	}
	if res, err := a.get("/debug/status", "wrong"); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("/debug/status with a wrong token: %v, error %v", res, err)
	}
	if d := a.debug(t); d["status"] != "ok" || d["connected"] != true {
		t.Errorf("/debug/status: %v", d)
	}
	if res, err := a.get("/", ""); err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("/: %v, error %v", res, err)
	}
	if code := a.signal(t, syscall.SIGTERM); code != exitOK || p.status(t) != "draining" {
		t.Errorf("exit %d, row %s; want 0 and draining", code, p.status(t))
	}
	for name := range p.region.Calls() {
		if name != "dynamodb:UpdateItem" && name != "dynamodb:GetItem" {
			t.Errorf("the agent calls %s", name)
		}
	}
}

func TestKillNineLeavesTheLastRowAndTheNextProcessGoesOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := p.start(t, "")
	until(t, "two beats", func() bool { return p.region.Calls()["dynamodb:UpdateItem"] >= 2 })
	a.signal(t, syscall.SIGKILL)
	left := p.seq(t)
	if p.status(t) != "ok" {
		t.Errorf("a killed agent left %s: nobody could write anything else", p.status(t))
	}
	b := p.start(t, "")
	until(t, "a beat of the next process", func() bool {
		seq := p.seq(t)
		if seq < left {
			t.Fatalf("seq went back from %d to %d", left, seq)
		}
		return seq > left
	})
	b.signal(t, syscall.SIGTERM)
}

func TestTheLifecycleStateIsTold(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := p.start(t, "")
	until(t, "ok", func() bool { return p.status(t) == "ok" })
	p.metadata.set("Standby", false)
	until(t, "draining", func() bool { return p.status(t) == "draining" && a.health() == http.StatusServiceUnavailable })
	p.metadata.set("InService", false)
	until(t, "ok again", func() bool { return p.status(t) == "ok" && a.health() == http.StatusOK })
	p.metadata.set("Terminated", false)
	until(t, "draining before the end", func() bool { return p.status(t) == "draining" })
}

func TestTheMetadataServiceIsGone(t *testing.T) {
	t.Run("from the start", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		p.metadata.set("InService", true)
		a := p.start(t, "")
		until(t, "the reason", func() bool {
			text, _ := a.debug(t)["last_write_error"].(string)
			return strings.Contains(text, "read instance identity")
		})
		if a.health() != http.StatusOK || p.row(t) != nil {
			t.Errorf("/health %d, row %v; want 200 and no row: it is not known whose", a.health(), p.row(t))
		}
		p.metadata.set("InService", false)
		until(t, "beats once it is back", func() bool { return p.status(t) == "ok" })
	})
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		a := p.start(t, "")
		until(t, "a beat", func() bool { return p.status(t) == "ok" })
		p.metadata.set("InService", true)
		before := p.seq(t)
		until(t, "beats go on and the debug status tells", func() bool {
			_, told := a.debug(t)["leaving_error"]
			return told && p.seq(t) > before+3 && p.status(t) == "ok"
		})
	})
}

func TestNamesCannotBeResolved(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := p.start(t, "", "AWS_ENDPOINT_URL=http://dynamodb.us-east-1.invalid:8000")
	until(t, "the reason", func() bool {
		text, _ := a.debug(t)["last_write_error"].(string)
		return strings.Contains(text, "lookup") || strings.Contains(text, "no such host")
	})
	if a.health() != http.StatusOK {
		t.Errorf("/health %d: a table that cannot be found says nothing about the host", a.health())
	}
	if code := a.signal(t, syscall.SIGTERM); code != exitFailed {
		t.Errorf("exit %d, want 1: the last beat was not written", code)
	}
}

func TestTheTableThrottles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	must(t, p.region.SetFaults(world.Fault{Operation: "dynamodb:UpdateItem", Throttle: 0.33}))
	a := p.start(t, "")
	until(t, "ten beats", func() bool { n, _ := a.debug(t)["beats"].(float64); return n >= 10 })
	if overdue := a.debug(t)["overdue"]; overdue != 0.0 {
		t.Errorf("%v beats overdue", overdue)
	}
}

// TestTheMachinesClockIsAnHourBehind is about signatures: AWS refuses those whose time is more than five minutes off, so an agent on a
// machine with a wrong clock must learn the difference from the refusals, or its row would go stale.
func TestTheMachinesClockIsAnHourBehind(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var refused atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().Add(time.Hour)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil || now.Sub(signed).Abs() > 5*time.Minute {
			refused.Add(1)
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"Signature expired"}`)
			return
		}
		p.region.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	a := p.start(t, "", "AWS_ENDPOINT_URL="+server.URL)
	until(t, "five beats", func() bool { n, _ := a.debug(t)["beats"].(float64); return n >= 5 })
	if n := refused.Load(); n < 1 || n > 2 || p.status(t) != "ok" {
		t.Errorf("%d writes refused, row %s; want one or two refusals and then none", n, p.status(t))
	}
}

func TestAnExhaustedPoolBehindAStaticPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	app := newApp(t)
	a := p.start(t, "checks:\n  - {name: app, type: http, url: \""+app.url+"/orders/1\", every: 1s, timeout: 300ms, failures: 2}\n")
	until(t, "ok", func() bool { return p.status(t) == "ok" })
	app.exhaust()
	until(t, "failing", func() bool { return p.status(t) == "failing" && a.health() == http.StatusServiceUnavailable })
	if app.edge(t) != http.StatusOK {
		t.Error("the edge is meant to say 200 all the time")
	}
	app.relieve()
	until(t, "ok again", func() bool { return p.status(t) == "ok" && a.health() == http.StatusOK })
}

func TestAPortThatIsTakenEndsTheAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "heartbeat.yaml")
	must(t, os.WriteFile(path, []byte("table: t\nlisten: "+strings.TrimPrefix(taken.URL, "http://")+"\n"), 0o600))
	var out lockedBuffer
	if code := run([]string{"--config", path}, &out); code != exitFailed || !strings.Contains(out.String(), "address already in use") {
		t.Errorf("exit %d: %s", code, out.String())
	}
	if len(p.region.Calls()) != 0 {
		t.Errorf("calls %v", p.region.Calls())
	}
}

func TestAFullDisk(t *testing.T) {
	dir := os.Getenv("HOLDFAST_FULL_DISK")
	if dir == "" {
		t.Skip("HOLDFAST_FULL_DISK is not set: it names a small file system, such as a tmpfs of 1 MiB, that this test fills and empties")
	}
	p := newPlace(t)
	a := p.start(t, "checks:\n  - {name: data, type: disk, path: "+dir+", writable: true, every: 1s, timeout: 500ms, failures: 2}\n", "TMPDIR="+dir)
	until(t, "ok", func() bool { return p.status(t) == "ok" })
	ballast := filepath.Join(dir, "ballast")
	t.Cleanup(func() { _ = os.Remove(ballast) }) // the folder is the caller's
	for size := 256 << 20; size > 0; size /= 2 { // until not even a byte fits
		_ = appendTo(ballast, size)
	}
	must(t, os.WriteFile(ballast+"-proof", nil, 0o600))
	if err := appendTo(ballast+"-proof", 1); err == nil {
		t.Fatalf("%s is not full: want a file system of less than 256 MiB", dir)
	}
	must(t, os.Remove(ballast+"-proof"))
	until(t, "failing", func() bool { return p.status(t) == "failing" && a.health() == http.StatusServiceUnavailable })
	before := p.seq(t)
	until(t, "beats go on", func() bool { return p.seq(t) > before+2 })
	must(t, os.Remove(ballast))
	until(t, "ok again", func() bool { return p.status(t) == "ok" })
}

func appendTo(path string, size int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, size))
	return errors.Join(err, file.Close())
}
