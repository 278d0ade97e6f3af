package probe_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-aws/holdfast/shared/probe"
)

func get(address, more string) string {
	return `{"name":"a","type":"http","timeout_ms":10000,"url":"http://` + address + `/v1/deep"` + more + `}`
}

func TestHTTPAnswersAreJudgedByStatusAndBody(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != "/v1/deep" || r.UserAgent() != "holdfast-probe" || !strings.HasPrefix(r.Host, "dep.test:") {
				status = http.StatusTeapot
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the client sees a short body
		}
	}
	late := strings.Repeat("x", probe.BodyMax) + "ok"
	cases := map[string]struct {
		serve http.HandlerFunc
		more  string
		cause probe.Cause
		says  string
	}{
		"any status of 200 to 299 passes":      {answer(299, ""), ``, "", ""},
		"300 does not":                         {answer(300, ""), ``, probe.CauseStatus, "status 300"},
		"503 is another status":                {answer(503, "ok"), `,"body_contains":"ok"`, probe.CauseStatus, "status 503"},
		"an expected 404 passes":               {answer(404, ""), `,"status":[401,404]`, "", ""},
		"200 is wrong if 404 is expected":      {answer(200, ""), `,"status":[401,404]`, probe.CauseStatus, "status 200"},
		"an expected text in the body passes":  {answer(200, `{"db":"ok"}`), `,"body_contains":"\"db\":\"ok\""`, "", ""},
		"a missing text fails":                 {answer(200, `{"db":"no"}`), `,"body_contains":"\"db\":\"ok\""`, probe.CauseBody, `"\"db\":\"ok\"" is not in the first 11 bytes`},
		"an empty body holds nothing":          {answer(200, ""), `,"body_contains":"ok"`, probe.CauseBody, "first 0 bytes"},
		"a text at the end of the limit":       {answer(200, late[2:]), `,"body_contains":"xok"`, "", ""},
		"a text beyond the limit is not read":  {answer(200, late), `,"body_contains":"xok"`, probe.CauseBody, "first 65536 bytes"},
		"a long body that nothing is asked of": {answer(200, late+late), ``, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found(t, check(t, loopback(), source(t, get(serve(t, c.serve), c.more))), c.cause, c.says)
		})
	}
}

func TestARedirectIsAnAnswerAndIsNotFollowed(t *testing.T) {
	var followed atomic.Int32
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			followed.Add(1)
		}
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	found(t, check(t, loopback(), source(t, get(address, ""))), probe.CauseStatus, "status 302")
	found(t, check(t, loopback(), source(t, get(address, `,"status":[302]`))), "", "")
	if n := followed.Load(); n != 0 {
		t.Errorf("followed %d times", n)
	}
}

func TestABodyThatBreaksOffIsTheBody(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half") // the client sees it
	})
	found(t, check(t, loopback(), source(t, get(address, ""))), probe.CauseBody, "unexpected EOF")
}

func TestWhatIsNoHTTPIsNoStatus(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		cause  probe.Cause
	}{
		"another protocol": {"SSH-2.0-OpenSSH_9\r\n\r\n", probe.CauseStatus},
		"endless headers":  {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), probe.CauseStatus},
		"nothing at all":   {"", probe.CauseRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dialer := pipes{"10.0.0.1:80": func(conn net.Conn) {
					_, _ = http.ReadRequest(bufio.NewReader(conn)) // only the answer matters
					_, _ = io.WriteString(conn, c.answer)          // the client may hang up
					_ = conn.Close()                               // a pipe closes always
				}}
				n := probe.Net{Resolver: names{"a": {"10.0.0.1"}}, Dialer: dialer, Now: time.Now}
				found(t, check(t, n, source(t, get("a", ""))), c.cause, "")
			})
		})
	}
}

// In a bubble of package synctest time passes only when everybody waits: these tests take no time and depend on none.
func TestWhatIsTooSlowIsATimeoutInEveryPhase(t *testing.T) {
	hang := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) } // until the client hangs up
	respond := func(after time.Duration, text string) func(net.Conn) {
		return func(conn net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(conn)) // only the answer matters
			_, _ = io.WriteString(conn, text)              // the client may hang up
			time.Sleep(after)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"[len(text):])
			_ = conn.Close() // a pipe closes always
		}
	}
	const half = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"
	cases := map[string]struct {
		serve func(net.Conn)
		kind  string
		cause probe.Cause
		took  time.Duration
	}{
		"a connection that is never made":    {nil, `"type":"tcp","address":"a:80"`, probe.CauseTimeout, 800 * time.Millisecond},
		"a handshake that is never answered": {hang, `"type":"tls","address":"a:80"`, probe.CauseTimeout, 800 * time.Millisecond},
		"an answer that never comes":         {hang, `"type":"http","url":"http://a/"`, probe.CauseTimeout, 800 * time.Millisecond},
		"an answer just too late":            {respond(801*time.Millisecond, ""), `"type":"http","url":"http://a/"`, probe.CauseTimeout, 800 * time.Millisecond},
		"an answer just in time":             {respond(799*time.Millisecond, ""), `"type":"http","url":"http://a/"`, "", 799 * time.Millisecond},
		"a body just too late":               {respond(801*time.Millisecond, half), `"type":"http","url":"http://a/"`, probe.CauseTimeout, 800 * time.Millisecond},
		"a body just in time":                {respond(799*time.Millisecond, half), `"type":"http","url":"http://a/"`, "", 799 * time.Millisecond},
		"a name that is not resolved":        {nil, `"type":"tcp","address":"slow.test:80"`, probe.CauseDNS, 800 * time.Millisecond},
		"a name that tls waits for":          {nil, `"type":"tls","address":"slow.test:443"`, probe.CauseDNS, 800 * time.Millisecond},
		"a name that http waits for":         {nil, `"type":"http","url":"http://slow.test/"`, probe.CauseDNS, 800 * time.Millisecond},
		"a name that https waits for":        {nil, `"type":"http","url":"https://slow.test/"`, probe.CauseDNS, 800 * time.Millisecond},
		"a connection that http waits for":   {nil, `"type":"http","url":"http://a/"`, probe.CauseTimeout, 800 * time.Millisecond},
		"an address that http waits for":     {nil, `"type":"http","url":"http://10.0.0.1/"`, probe.CauseTimeout, 800 * time.Millisecond},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := probe.Net{Resolver: names{"a": {"10.0.0.1"}}, Dialer: pipes{"10.0.0.1:80": c.serve}, Now: time.Now}
				r := check(t, n, source(t, `{"name":"a","timeout_ms":800,`+c.kind+`}`))
				found(t, r, c.cause, "")
				if r.Latency != c.took {
					t.Errorf("took %s, want %s", r.Latency, c.took)
				}
				time.Sleep(time.Second) // until the server has ended too
			})
		})
	}
}

func TestACallThatTheRunEndsIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		n := probe.Net{Resolver: names{"a": {"10.0.0.1"}}, Dialer: pipes{"10.0.0.1:80": nil}, Now: time.Now}
		r := n.Check(ctx, probe.Call{Source: source(t, `{"name":"a","type":"tcp","address":"a:80","timeout_ms":800}`)})
		if r.Outcome != probe.Unknown || r.Cause != "" || r.Detail != "the run ended first" {
			t.Errorf("have %+v", r)
		}
	})
}

func TestTCPConnectsOrIsRefused(t *testing.T) {
	tcp := func(address string) probe.Source {
		return source(t, `{"name":"a","type":"tcp","timeout_ms":10000,"address":"`+address+`"}`)
	}
	found(t, check(t, loopback(), tcp(serve(t, http.NotFound))), "", "")
	found(t, check(t, loopback(), tcp(closed(t))), probe.CauseRefused, "connect: ")
	found(t, check(t, loopback(), tcp("gone.test:80")), probe.CauseDNS, "no such host")
	found(t, check(t, loopback(), source(t, get(closed(t), ""))), probe.CauseRefused, "connect: ")
	found(t, check(t, loopback(), source(t, get("gone.test", ""))), probe.CauseDNS, "no such host")
	empty := loopback()
	empty.Resolver = names{"dep.test": nil}
	found(t, check(t, empty, tcp("dep.test:80")), probe.CauseDNS, "no address")
}

func TestEveryAddressOfANameIsTried(t *testing.T) {
	n := probe.Net{Resolver: names{"a": {"2001:db8::1", "10.0.0.2", "10.0.0.1", "10.0.0.1"}}, Now: noon}
	var tried []string
	n.Dialer = dial(func(address string) (net.Conn, error) {
		tried = append(tried, address)
		if address == "[2001:db8::1]:80" {
			near, _ := net.Pipe()
			return near, nil
		}
		return nil, errUnreachable
	})
	found(t, check(t, n, source(t, `{"name":"a","type":"tcp","address":"a:80"}`)), "", "")
	if have := strings.Join(tried, " "); have != "10.0.0.1:80 10.0.0.2:80 [2001:db8::1]:80" {
		t.Errorf("tried %s", have)
	}
}

type dial func(string) (net.Conn, error)

func (d dial) DialContext(_ context.Context, _, address string) (net.Conn, error) { return d(address) }

func TestNoNameLeadsWhereNoProbeMayGo(t *testing.T) {
	for _, kind := range []string{`"type":"tcp","address":"a:80"`, `"type":"tls","address":"a:443"`, `"type":"http","url":"http://a/"`, `"type":"http","url":"https://a/"`} {
		for _, address := range []string{"169.254.169.254", "127.0.0.1", "::1", "fd00:ec2::254"} {
			called := false
			n := probe.Net{Resolver: names{"a": {"10.0.0.1", address}}, Now: noon, Dialer: dial(func(string) (net.Conn, error) {
				called = true
				return nil, errors.New("called")
			})}
			r := check(t, n, source(t, `{"name":"a",`+kind+`}`))
			if called || r.Outcome != probe.Unknown || !strings.Contains(r.Detail, "address refused: "+address) {
				t.Errorf("%s at %s: called %v, %+v", kind, address, called, r)
			}
		}
	}
}

// The environment's proxy is read once in the life of a process, so that the test runs in one of its own.
func TestTheEnvironmentsProxyIsNotUsed(t *testing.T) {
	if os.Getenv("HTTP_PROXY") != "http://10.9.9.9:3128" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheEnvironmentsProxyIsNotUsed$", "-test.v")
		again.Env = append(os.Environ(), "HTTP_PROXY=http://10.9.9.9:3128", "NO_PROXY=", "no_proxy=", "REQUEST_METHOD=")
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestTheEnvironmentsProxyIsNotUsed") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	n := loopback()
	n.Dialer = dial(func(address string) (net.Conn, error) { return nil, fmt.Errorf("called %s", address) })
	found(t, check(t, n, source(t, get("dep.test", ""))), probe.CauseRefused, "called 127.0.0.1:80")
}

func TestCertificatesAreDatedByTheGivenClock(t *testing.T) {
	ca := newAuthority(t)
	address := serveTLS(t, ca.issue("dep.test", noon().AddDate(0, 0, 90)), http.NotFound)
	s := source(t, fmt.Sprintf(`{"name":"a","type":"tls","timeout_ms":10000,"address":%q,"ca_pem":%q}`, address, ca.pem))
	for days, cause := range map[int]probe.Cause{0: "", 76: "", 77: probe.CauseTLS, 91: probe.CauseTLS, -400: probe.CauseTLS} {
		n := loopback()
		n.Now = func() time.Time { return noon().AddDate(0, 0, days) }
		found(t, check(t, n, s), cause, "")
	}
}

func TestTLSChecksTheCertificateAndItsDays(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	ok := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	day := 24 * time.Hour
	cases := map[string]struct {
		name  string
		left  time.Duration
		trust *authority
		cause probe.Cause
		says  string
		days  float64 // 0 when none is shown
	}{
		"enough days":              {"dep.test", 14 * day, ca, "", "", 14},
		"one hour too few":         {"dep.test", 14*day - time.Hour, ca, probe.CauseTLS, "expires in 14.0 days, want at least 14", 14 - 1.0/24},
		"expired":                  {"dep.test", -time.Hour, ca, probe.CauseTLS, "expired", 0},
		"for another name":         {"other.test", 90 * day, ca, probe.CauseTLS, "not dep.test", 0},
		"of an unknown authority":  {"dep.test", 90 * day, other, probe.CauseTLS, "unknown authority", 0},
		"longer than its own root": {"dep.test", 20 * 365 * day, ca, "", "", noon().AddDate(9, 0, 0).Sub(noon()).Hours() / 24},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			address := serveTLS(t, ca.issue(c.name, noon().Add(c.left)), ok)
			r := check(t, loopback(), source(t, fmt.Sprintf(`{"name":"a","type":"tls","timeout_ms":10000,"address":%q,"ca_pem":%q}`, address, c.trust.pem)))
			found(t, r, c.cause, c.says)
			if (r.Days != nil) != (c.days != 0) || r.Days != nil && (*r.Days < c.days-1e-6 || *r.Days > c.days+1e-6) {
				t.Errorf("days %v, want %v", r.Days, c.days)
			}
		})
	}
	address := serveTLS(t, ca.issue("web.internal", noon().Add(90*day)), ok)
	for server, cause := range map[string]probe.Cause{"web.internal": "", "api.internal": probe.CauseTLS} {
		r := check(t, loopback(), source(t, fmt.Sprintf(
			`{"name":"a","type":"http","timeout_ms":10000,"url":"https://%s/","server_name":%q,"ca_pem":%q}`, address, server, ca.pem)))
		found(t, r, cause, "")
	}
	found(t, check(t, loopback(), source(t, fmt.Sprintf(`{"name":"a","type":"tls","timeout_ms":10000,"address":%q}`, serve(t, ok)))), probe.CauseTLS, "handshake")
}

func TestAnInstanceIsAskedAtItsAddress(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health/deep" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	_, port, _ := strings.Cut(address, ":")
	s := source(t, `{"name":"web","type":"instances","timeout_ms":10000,"group":"web","path":"/health/deep","port":`+port+`}`)
	r := loopback().Check(t.Context(), probe.Call{Source: s, Member: probe.Member{ID: "i-1", Address: "127.0.0.1"}})
	if r.Outcome != probe.Passed || r.Member != "i-1" {
		t.Errorf("have %+v", r)
	}
	r = loopback().Check(t.Context(), probe.Call{Source: s, Member: probe.Member{ID: "i-2"}})
	if r.Outcome != probe.Unknown || r.Detail != "it has no private address" {
		t.Errorf("without an address: %+v", r)
	}
}

func TestDNSAnswersAreComparedWithTheExpectedOnes(t *testing.T) {
	n := probe.Net{Resolver: names{"db.internal": {"::ffff:10.0.0.7", "10.0.0.8"}}, Now: noon}
	dns := func(more string) probe.Source { return source(t, `{"name":"d","type":"dns",`+more+`}`) }
	found(t, check(t, n, dns(`"host":"db.internal"`)), "", "")
	found(t, check(t, n, dns(`"host":"db.internal","expect":["10.0.0.9","10.0.0.7"]`)), "", "")
	found(t, check(t, n, dns(`"host":"db.internal","expect":["10.0.0.9"]`)), probe.CauseDNS, "db.internal is [10.0.0.7 10.0.0.8], want one of [10.0.0.9]")
	found(t, check(t, n, dns(`"host":"no.internal"`)), probe.CauseDNS, "no such host")
	if r := check(t, n, dns(`"host":"`+strings.Repeat("long", 60)+`"`)); len(r.Detail) > probe.DetailMax {
		t.Errorf("detail of %d bytes", len(r.Detail))
	}
}
