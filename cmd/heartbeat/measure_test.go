package main

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// measureVariable has how long the agent is measured, for example 120s.
const measureVariable = "HOLDFAST_MEASURE"

// The agent's budget on its host.
const (
	memoryBudget    = 20 << 20
	processorBudget = 0.001
	ticksPerSecond  = 100 // of /proc/PID/stat. Source: proc(5), sysconf(_SC_CLK_TCK) on all Linux platforms that Go has
)

// TestTheAgentStaysWithinItsBudget measures resident memory and processor time of the agent at its preset pace: a beat each ten seconds, and
// one check of each cheap type. It is opt-in, since a share of a thousandth needs a minute or two to be seen.
func TestTheAgentStaysWithinItsBudget(t *testing.T) {
	wanted := os.Getenv(measureVariable)
	if wanted == "" {
		t.Skipf("%s is not set: it has how long to measure, for example 120s", measureVariable)
	}
	d, err := time.ParseDuration(wanted)
	must(t, err)
	p := newPlace(t)
	application := newApp(t)
	p.interval = "10s"
	certificates := overTLS(t, p)
	a := p.start(t, fmt.Sprintf(`checks:
  - {name: disk, type: disk, path: %s, free_bytes: 1, free_inodes: 1, writable: true}
  - {name: process, type: process, process: no-such-one, severity: soft}
  - {name: age, type: file-age, path: %s, max_age: 1h}
  - {name: app, type: http, url: "%s/orders/1"}
  - {name: tcp, type: tcp, address: "%s"}
`, t.TempDir(), p.binary, application.url, strings.TrimPrefix(application.url, "http://")), "SSL_CERT_FILE="+certificates)
	until(t, "a beat", func() bool { return p.status(t) == "ok" })
	pid := a.cmd.Process.Pid
	before := processorTime(t, pid)
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
	used := processorTime(t, pid) - before
	share := used.Seconds() / d.Seconds()
	resident, peak := memory(t, pid, "VmRSS:"), memory(t, pid, "VmHWM:")
	t.Logf("in %s: %s of processor time (%.4f %%), %.1f MB resident, %.1f MB at its peak", d, used, 100*share, float64(resident)/1e6, float64(peak)/1e6)
	if share > processorBudget || peak > memoryBudget {
		t.Errorf("want at most %.2f %% and %d MB", 100*processorBudget, memoryBudget>>20)
	}
}

// overTLS puts the table behind TLS, as AWS's is, and returns a file of certificates that has it among all of the machine's, which the
// agent must hold in memory too.
func overTLS(t *testing.T, p *place) string {
	t.Helper()
	server := httptest.NewTLSServer(p.region)
	t.Cleanup(server.Close)
	p.url = server.URL
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, bundle := range []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"} {
		if more, err := os.ReadFile(bundle); err == nil {
			text = append(text, more...)
			break
		}
	}
	file := filepath.Join(t.TempDir(), "certificates.pem")
	must(t, os.WriteFile(file, text, 0o600))
	t.Logf("%d bytes of certificates", len(text))
	return file
}

func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	must(t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	var ticks int64
	for _, i := range []int{11, 12} { // utime and stime, counted from the state
		n, err := strconv.ParseInt(fields[i], 10, 64)
		must(t, err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

func memory(t *testing.T, pid int, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			must(t, err)
			return n << 10
		}
	}
	t.Fatalf("no %s in the status of the process", name)
	return 0
}
