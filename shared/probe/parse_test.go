package probe_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/probe"
)

// with is a document with one source.
func with(source string) string { return `{"sources":[` + source + `]}` }

func TestASourceNeedsLittleAndTheRestIsPreset(t *testing.T) {
	have, err := probe.Parse([]byte(with(`{"name":"db","type":"tcp","address":"db.internal:5432"}`)))
	want := probe.Config{Interval: time.Minute, RunTimeout: 30 * time.Second, Concurrency: 8, Sources: []probe.Source{{
		Name: "db", Kind: probe.KindTCP, Timeout: 2 * time.Second, Every: time.Minute, FailuresInRow: 3, Address: "db.internal:5432",
	}}}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v, %v\nwant %+v", have, err, want)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	ca := newAuthority(t).pem
	have, err := probe.Parse(fmt.Appendf(nil, `{"interval_seconds":120,"run_timeout_seconds":10,"concurrency":2,"sources":[
		{"name":"a","type":"http","url":"https://a.internal:8443/v1?x=1","status":[200,404],"body_contains":"ok","server_name":"a","ca_pem":%q,
			"timeout_ms":800,"every_seconds":240,"failures_in_row":5},
		{"name":"b","type":"instances","group":"shop/web","sample":4,"scheme":"https","port":8080,"path":"/deep?full=1","routing_path":"/up",
			"server_name":"b","status":[204],"body_contains":"fine"},
		{"name":"c","type":"tls","address":"[2001:db8::1]:443","server_name":"c","days_min":30},
		{"name":"d","type":"dns","host":"d.internal","expect":["10.0.0.1","::ffff:10.0.0.2"]}]}`, ca))
	if err != nil {
		t.Fatal(err)
	}
	base := probe.Source{Timeout: 2 * time.Second, Every: 2 * time.Minute, FailuresInRow: 3}
	a, b, c, d := base, base, base, base
	a.Name, a.Kind, a.URL, a.Status, a.Contains, a.ServerName, a.CA = "a", probe.KindHTTP, "https://a.internal:8443/v1?x=1", []int{200, 404}, "ok", "a", ca
	a.Timeout, a.Every, a.FailuresInRow = 800*time.Millisecond, 4*time.Minute, 5
	b.Name, b.Kind, b.Group, b.Sample, b.Scheme, b.Port, b.Path = "b", probe.KindInstances, "shop/web", 4, "https", 8080, "/deep?full=1"
	b.ServerName, b.Status, b.Contains = "b", []int{204}, "fine"
	c.Name, c.Kind, c.Address, c.ServerName, c.DaysMin = "c", probe.KindTLS, "[2001:db8::1]:443", "c", 30
	d.Name, d.Kind, d.Host, d.Expect = "d", probe.KindDNS, "d.internal", []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}
	want := probe.Config{Interval: 2 * time.Minute, RunTimeout: 10 * time.Second, Concurrency: 2, Sources: []probe.Source{a, b, c, d}}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v\nwant %+v", have, want)
	}
}

// Each rule is broken by one document, and says so in one exact sentence.
func TestEveryRuleIsSaidExactly(t *testing.T) {
	const tcp = `{"name":"db","type":"tcp","address":"db:1"`
	const inst = `{"name":"web","type":"instances","group":"web","port":80,"path":"/health/deep"`
	const dns = `{"name":"d","type":"dns","host":"d"`
	const tls = `{"name":"t","type":"tls","address":"t:443"`
	url := func(text string) string { return with(`{"name":"a","type":"http","url":"` + text + `"}`) }
	many := strings.TrimSuffix(strings.Repeat(tcp+`},`, 51), ",")
	cases := map[string]string{
		``:                                       `want one JSON object: EOF`,
		`[]`:                                     `want one JSON object`,
		`{"sources":[]} {}`:                      `want nothing after the JSON object`,
		`{"sources":[],"sources":[]}`:            `sources: stands twice`,
		`{"sources":[`:                           `want one JSON object: unexpected EOF`,
		`{"sources":null}`:                       `sources: null, want a value or no key`,
		`{}`:                                     `sources: is missing`,
		`{"sources":{}}`:                         `sources: {}, want a list`,
		`{"sources":[` + many + `]}`:             `sources: 51 values, want at most 50 and no empty list`,
		`{"sources":[],"Interval_seconds":60}`:   `Interval_seconds: is no key here, want one of interval_seconds run_timeout_seconds concurrency sources`,
		`{"sources":[],"interval_seconds":59}`:   `interval_seconds: 59, want a whole number from 60 to 3600`,
		`{"sources":[],"interval_seconds":6e1}`:  `interval_seconds: 6e1, want a whole number from 60 to 3600`,
		`{"sources":[],"run_timeout_seconds":0}`: `run_timeout_seconds: 0, want a whole number from 1 to 120`,
		`{"sources":[],"run_timeout_seconds":60}`:                                        `run_timeout_seconds: 1m0s, want less than interval_seconds, 1m0s`,
		`{"sources":[],"concurrency":33}`:                                                `concurrency: 33, want a whole number from 1 to 32`,
		with(`1`):                                                                        `sources[0]: want one JSON object`,
		with(`{"type":"tcp","address":"db:1"}`):                                          `sources[0]: name: is missing`,
		with(`{"name":"","type":"tcp","address":"db:1"}`):                                `sources[0]: name: "", want a text of 1 to 40 bytes`,
		with(`{"name":"Db","type":"tcp","address":"db:1"}`):                              `sources[0]: name: "Db", want lower case letters, digits and hyphens after a letter`,
		with(tcp + `},` + tcp + `}`):                                                     `sources[1] db: name: stands twice`,
		with(`{"name":"db"}`):                                                            `sources[0] db: type: nothing, want http, instances, tcp, tls, dns`,
		with(`{"name":"db","type":"udp"}`):                                               `sources[0] db: type: "udp", want http, instances, tcp, tls, dns`,
		with(tcp + `,"url":"http://x"}`):                                                 `sources[0] db: url: is no key here, want one of name type timeout_ms every_seconds failures_in_row address`,
		with(tcp + `,"timeout_ms":49}`):                                                  `sources[0] db: timeout_ms: 49, want a whole number from 50 to 30000`,
		with(tcp + `,"timeout_ms":30000}`):                                               `sources[0] db: timeout_ms: 30s, want less than run_timeout_seconds, 30s`,
		with(tcp + `,"every_seconds":90}`):                                               `sources[0] db: every_seconds: 90, want a multiple of interval_seconds, 60`,
		with(tcp + `,"every_seconds":86460}`):                                            `sources[0] db: every_seconds: 86460, want a whole number from 1 to 86400`,
		with(tcp + `,"failures_in_row":11}`):                                             `sources[0] db: failures_in_row: 11, want a whole number from 1 to 10`,
		with(`{"name":"db","type":"tcp"}`):                                               `sources[0] db: address: is missing`,
		with(`{"name":"db","type":"tcp","address":"db"}`):                                `sources[0] db: address: "db", want host:port with a port from 1 to 65535`,
		with(`{"name":"db","type":"tcp","address":"db:x"}`):                              `sources[0] db: address: "db:x", want host:port with a port from 1 to 65535`,
		with(`{"name":"db","type":"tcp","address":":1"}`):                                `sources[0] db: address: ":1", want host:port with a port from 1 to 65535`,
		with(`{"name":"db","type":"tcp","address":"a/b:1"}`):                             `sources[0] db: address: "a/b" is no host`,
		with(`{"name":"db","type":"tcp","address":"[::1]:1"}`):                           `sources[0] db: address: ::1 is loopback`,
		with(`{"name":"a","type":"http"}`):                                               `sources[0] a: url: is missing`,
		url("http://%zz"):                                                                `sources[0] a: url: "http://%zz" is no URL`,
		url("ftp://x/"):                                                                  `sources[0] a: url: scheme "ftp", want http or https`,
		url("file:///etc/passwd"):                                                        `sources[0] a: url: scheme "file", want http or https`,
		url("http:///x"):                                                                 `sources[0] a: url: "http:///x" has no host`,
		url("http://u:p@x/"):                                                             `sources[0] a: url: holds a user, and a parameter is no place for a password`,
		url("http://x/#y"):                                                               `sources[0] a: url: holds a fragment, which no server ever sees`,
		url("http://x:70000/"):                                                           `sources[0] a: url: port "70000", want 1 to 65535`,
		url("http://x:/"):                                                                `sources[0] a: url: port "", want 1 to 65535`,
		url("http://169.254.169.254/latest"):                                             `sources[0] a: url: 169.254.169.254 is link-local, where the metadata service is`,
		with(`{"name":"a","type":"http","url":"http://x","status":[]}`):                  `sources[0] a: status: 0 values, want at most 20 and no empty list`,
		with(`{"name":"a","type":"http","url":"http://x","status":[600]}`):               `sources[0] a: status: 600, want a whole number from 100 to 599`,
		with(`{"name":"a","type":"http","url":"http://x","body_contains":""}`):           `sources[0] a: body_contains: "", want a text of 1 to 1024 bytes`,
		with(`{"name":"a","type":"http","url":"http://x","server_name":"x"}`):            `sources[0] a: server_name: it and ca_pem need https`,
		with(`{"name":"a","type":"http","url":"https://x","ca_pem":"x"}`):                `sources[0] a: ca_pem: holds no certificate in PEM`,
		with(`{"name":"w","type":"instances","port":80,"path":"/d"}`):                    `sources[0] w: group: is missing`,
		with(`{"name":"w","type":"instances","group":"w","path":"/d"}`):                  `sources[0] w: port: is missing`,
		with(`{"name":"w","type":"instances","group":"w","port":80}`):                    `sources[0] w: path: is missing`,
		with(`{"name":"w","type":"instances","group":"w","port":0,"path":"/d"}`):         `sources[0] w: port: 0, want a whole number from 1 to 65535`,
		with(inst + `,"sample":1}`):                                                      `sources[0] web: sample: 1, want a whole number from 2 to 10`,
		with(inst + `,"scheme":"gopher"}`):                                               `sources[0] web: scheme: "gopher", want http, https`,
		with(inst + `,"scheme":"https"}`):                                                `sources[0] web: server_name: is missing: instances are called by address, and https needs the name in their certificate`,
		with(inst + `,"server_name":"x"}`):                                               `sources[0] web: server_name: it and ca_pem need https`,
		with(inst + `,"routing_path":""}`):                                               `sources[0] web: routing_path: "", want a text of 1 to 2048 bytes`,
		with(inst + `,"address":"web:80"}`):                                              `sources[0] web: address: is no key here, want one of name type timeout_ms every_seconds failures_in_row group sample scheme port path routing_path status body_contains server_name ca_pem`,
		with(tls + `,"days_min":0}`):                                                     `sources[0] t: days_min: 0, want a whole number from 1 to 365`,
		with(`{"name":"d","type":"dns"}`):                                                `sources[0] d: host: is missing`,
		with(dns + `,"expect":["x"]}`):                                                   `sources[0] d: expect: "x" is no IP address`,
		with(dns + `,"expect":[1]}`):                                                     `sources[0] d: expect: 1, want a text of 1 to 60 bytes`,
		`{"run_timeout_seconds":3,"concurrency":2,"sources":[` + inst + `,"sample":4}]}`: `sources: when all are slow, 4 calls on 2 lanes take up to (8s + 1 × 2s) ÷ 2 = 5s, want at most run_timeout_seconds, 3s`,
	}
	for raw, want := range cases {
		c, err := probe.Parse([]byte(raw))
		if err == nil {
			t.Errorf("%.120s was taken", raw)
			continue
		}
		if err.Error() != want || !reflect.DeepEqual(c, probe.Config{}) {
			t.Errorf("%.120s:\nhave %s\nwant %s", raw, err, want)
		}
	}
}

func TestTheRoutingPathIsRefusedHoweverItIsWritten(t *testing.T) {
	for _, path := range []string{"/health", "/health/", "/Health", "/health?deep=1", "/x/../health", "/%68ealth", "/./health"} {
		_, err := probe.Parse([]byte(with(`{"name":"web","type":"instances","group":"web","port":80,"path":"` + path + `"}`)))
		want := "sources[0] web: path: " + strings.Replace(path, "?deep=1", "?…", 1) + " is what the load balancer routes by; a deep check has a path of its own, such as /health/deep"
		if err == nil || err.Error() != want {
			t.Errorf("%s: have %v", path, err)
		}
	}
	for _, path := range []string{"health", "//health", "http://x/health"} {
		_, err := probe.Parse([]byte(with(`{"name":"web","type":"instances","group":"web","port":80,"path":"` + path + `"}`)))
		if want := fmt.Sprintf("sources[0] web: path: %q, want a path that begins with one slash", path); err == nil || err.Error() != want {
			t.Errorf("%s: have %v", path, err)
		}
	}
	for _, path := range []string{"/deep#x", "/deep?full=1#x", "/#"} {
		_, err := probe.Parse([]byte(with(`{"name":"web","type":"instances","group":"web","port":80,"path":"` + path + `"}`)))
		if want := "sources[0] web: path: holds a fragment, which no server ever sees"; err == nil || err.Error() != want {
			t.Errorf("%s: have %v", path, err)
		}
	}
	own := `{"name":"web","type":"instances","group":"web","port":80,"path":"/health","routing_path":"/up"}`
	if _, err := probe.Parse([]byte(with(own))); err != nil {
		t.Errorf("a load balancer that routes by /up: %v", err)
	}
}

func TestAQueryIsNotToldInARefusal(t *testing.T) {
	for _, text := range []string{
		`"type":"http","url":"http://%zz/?key=SECRET"`, `"type":"http","url":"http:///x?key=SECRET"`, `"type":"http","url":["http://x/?key=SECRET"]`,
		`"type":"http","url":"ftp://x/?key=SECRET"`, `"type":"http","url":"http://x/?key=SECRET` + strings.Repeat("x", 2048) + `"`,
		`"type":"instances","group":"g","port":80,"path":"deep?key=SECRET"`, `"type":"instances","group":"g","port":80,"path":"/health?key=SECRET"`,
	} {
		if _, err := probe.Parse([]byte(with(`{"name":"a",` + text + `}`))); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

func TestTimesThatJustNestAreTaken(t *testing.T) {
	const web = `{"name":"web","type":"instances","group":"web","port":80,"path":"/deep","sample":4,"timeout_ms":2000}`
	for seconds, fits := range map[int]bool{4: false, 5: true} {
		_, err := probe.Parse(fmt.Appendf(nil, `{"run_timeout_seconds":%d,"concurrency":2,"sources":[%s]}`, seconds, web))
		if (err == nil) != fits {
			t.Errorf("4 calls of 2 s on 2 lanes in %d s: %v", seconds, err)
		}
	}
	var sources []string
	for i := range 21 {
		sources = append(sources, fmt.Sprintf(`{"name":"w%d","type":"instances","group":"web","port":80,"path":"/deep","sample":10,"timeout_ms":50}`, i))
	}
	if _, err := probe.Parse([]byte(with(strings.Join(sources[:20], ",")))); err != nil {
		t.Errorf("200 calls: %v", err)
	}
	if _, err := probe.Parse([]byte(with(strings.Join(sources, ",")))); err == nil || err.Error() != "sources: 210 calls a run, want at most 200" {
		t.Errorf("210 calls: %v", err)
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, err := probe.Parse([]byte(`{"concurrency":0,"sources":[{"name":"a","type":"tcp","address":"x"},{"name":"b","type":"dns"}]}`))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("have %v, want three lines", err)
	}
}

func TestTheLoadIsCallsTimesRate(t *testing.T) {
	c, err := probe.Parse([]byte(`{"sources":[
		{"name":"web","type":"instances","group":"web","port":80,"path":"/deep","sample":3},
		{"name":"db","type":"tcp","address":"db:1","every_seconds":300}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "2 sources, at most 4 calls a run and 3.20 requests a minute: web 3 × 1.00, db 1 × 0.20"
	if l := c.Load(); l.String() != want || l.CallsPerRun != 4 {
		t.Errorf("have %s\nwant %s", l, want)
	}
	if l := (probe.Config{}).Load(); l.String() != "0 sources, at most 0 calls a run and 0.00 requests a minute" {
		t.Errorf("have %s", l)
	}
}

func TestAnotherServicesHealthEndpointIsNamed(t *testing.T) {
	for path, noted := range map[string]bool{
		"/health": true, "/healthz": true, "/api/Health-Check/x": true, "/_cluster/health": true, "/readyz": true, "/ping": true,
		"/actuator/health/": true, "/v1/orders": false, "/": false, "": false, "/wealth": false, "/v1?path=/health": false,
	} {
		c, err := probe.Parse([]byte(with(`{"name":"auth","type":"http","url":"https://auth.internal` + path + `"}`)))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if noted {
			want = []string{"auth: " + path + " names a health endpoint of another service"}
		}
		if have := c.Notes(); !reflect.DeepEqual(have, want) {
			t.Errorf("%q: notes %q, want %q", path, have, want)
		}
	}
	c, err := probe.Parse([]byte(with(`{"name":"web","type":"instances","group":"web","port":80,"path":"/health/deep"}`)))
	if err != nil || len(c.Notes()) != 0 {
		t.Errorf("the group's own deep endpoint: %v, %v", c.Notes(), err)
	}
}

func TestAddressesWhereNoProbeMayGo(t *testing.T) {
	for text, refused := range map[string]bool{
		"169.254.169.254": true, "169.254.170.2": true, "169.254.0.0": true, "169.254.255.255": true, "::ffff:169.254.169.254": true,
		"64:ff9b::a9fe:a9fe": true, "2002:a9fe:a9fe::1": true, "fe80::1%eth0": true, "fd00:ec2::254": true, "127.0.0.1": true, "127.9.9.9": true,
		"::1": true, "0.0.0.0": true, "::": true, "224.0.0.1": true, "255.255.255.255": true, "ff02::1": true, "64:ff9b::7f00:1": true,
		"64:ff9b:1::a9fe:a9fe": true, "64:ff9b:1:a9fe:a9:fe00::": true, "64:ff9b:1:ffff:ffff:ffff:ffff:ffff": true, "::169.254.169.254": true, "::127.0.0.1": true, "::2": true,
		"10.0.0.1": false, "169.253.255.255": false, "169.255.0.0": false, "172.31.0.2": false, "192.168.1.1": false, "8.8.8.8": false,
		"2001:db8::1": false, "fd00:ec1::254": false, "64:ff9b::a00:1": false, "100.64.0.1": false,
		"64:ff9b:2::a9fe:a9fe": false, "::10.0.0.1": false, "::1:a9fe:a9fe:0": false,
	} {
		if why := probe.RefusedAddress(netip.MustParseAddr(text)); (why != "") != refused {
			t.Errorf("%s: %q, want refused %v", text, why, refused)
		}
	}
	if probe.RefusedAddress(netip.Addr{}) == "" {
		t.Error("no address at all may be called")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(with(`{"name":"db","type":"tcp","address":"db.internal:5432"}`)))
	f.Add([]byte(with(`{"name":"a","type":"http","url":"https://a/","status":[200]}`)))
	f.Add([]byte(with(`{"name":"web","type":"instances","group":"web","port":80,"path":"/health/deep","sample":4}`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := probe.Parse(raw)
		if err != nil {
			return
		}
		if c.RunTimeout >= c.Interval || len(c.Sources) > probe.SourcesMax || c.Load().CallsPerRun > probe.CallsMax {
			t.Errorf("%s was taken as %+v", raw, c)
		}
		for _, s := range c.Sources {
			if s.Name == "" || s.Timeout < 50*time.Millisecond || s.Timeout >= c.RunTimeout || s.Every < c.Interval {
				t.Errorf("%s was taken as %+v", raw, s)
			}
		}
	})
}
