package probe_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-aws/holdfast/shared/probe"
)

// A query may hold a key. It is sent, and is in no detail of any outcome.
func TestAQueryIsSentAndNeverTold(t *testing.T) {
	respond := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			if req, err := http.ReadRequest(bufio.NewReader(conn)); err != nil || req.URL.RawQuery != "key=SECRET" {
				text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" // no case wants that one
			}
			_, _ = io.WriteString(conn, text) // the client may hang up
			_ = conn.Close()                  // a pipe closes always
		}
	}
	hang := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) } // until the client hangs up
	for name, c := range map[string]struct {
		host  string
		serve func(net.Conn)
		cause probe.Cause // "" for an unknown outcome
	}{
		"a name that does not exist":      {"gone.test", nil, probe.CauseDNS},
		"a name that is not resolved":     {"slow.test", nil, probe.CauseDNS},
		"a name that leads home":          {"home.test", nil, ""},
		"a connection that is never made": {"a", nil, probe.CauseTimeout},
		"an answer that never comes":      {"a", hang, probe.CauseTimeout},
		"no answer":                       {"a", respond(""), probe.CauseRefused},
		"another protocol":                {"a", respond("SSH-2.0-OpenSSH_9\r\n\r\n"), probe.CauseStatus},
		"another status":                  {"a", respond("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), probe.CauseStatus},
		"a redirect that leads nowhere":   {"a", respond("HTTP/1.1 302 Found\r\nLocation: http://%zz/?key=SECRET\r\nContent-Length: 0\r\n\r\n"), probe.CauseStatus},
		"a body that breaks off":          {"a", respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), probe.CauseBody},
		"a connection that is refused":    {"b", nil, probe.CauseRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := probe.Net{Now: time.Now, Dialer: pipes{"10.0.0.1:80": c.serve},
					Resolver: names{"a": {"10.0.0.1"}, "b": {"10.0.0.2"}, "home.test": {"127.0.0.1"}}}
				r := check(t, n, source(t, `{"name":"a","type":"http","timeout_ms":800,"url":"http://`+c.host+`/v1?key=SECRET"}`))
				if r.Cause != c.cause || r.Outcome == probe.Passed || strings.Contains(r.Detail, "SECRET") || strings.Contains(r.Detail, "/v1") {
					t.Errorf("have %+v, want %q", r, c.cause)
				}
			})
		})
	}
}
