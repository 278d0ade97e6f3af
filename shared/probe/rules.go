package probe

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	textMax = 2048
	pemMax  = 16 << 10
)

// keysOf lists the keys that a kind has beside those of every source.
func keysOf(k Kind) []string {
	switch k {
	case KindHTTP:
		return []string{"url", "status", "body_contains", "server_name", "ca_pem"}
	case KindInstances:
		return []string{"group", "sample", "scheme", "port", "path", "routing_path", "status", "body_contains", "server_name", "ca_pem"}
	case KindTCP:
		return []string{"address"}
	case KindTLS:
		return []string{"address", "server_name", "ca_pem", "days_min"}
	case KindDNS:
		return []string{"host", "expect"}
	}
	return nil
}

func (f *fields) kind(s *Source) {
	switch s.Kind {
	case KindHTTP:
		s.URL = f.url()
		f.answer(s)
		f.trust(s, strings.HasPrefix(s.URL, "https:"))
	case KindInstances:
		f.instances(s)
		f.answer(s)
		f.trust(s, s.Scheme == "https")
		if s.Scheme == "https" && s.ServerName == "" {
			f.refuse("server_name", "is missing: instances are called by address, and https needs the name in their certificate")
		}
	case KindTCP:
		s.Address = f.address()
	case KindTLS:
		s.Address = f.address()
		f.trust(s, true)
		s.DaysMin = f.number("days_min", DaysDefault, bounds{DaysMin, DaysMax})
	case KindDNS:
		s.Host = f.text("host", 253, true)
		f.host("host", s.Host)
		s.Expect = f.expect()
	}
}

func (f *fields) name() string {
	name := f.text("name", NameMax, true)
	if name != "" && !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(name) {
		f.refuse("name", "%q, want lower case letters, digits and hyphens after a letter", name)
		return ""
	}
	return name
}

func (f *fields) url() string {
	text := f.text("url", textMax, true)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		f.refuse("url", "%q is no URL", told(text))
	case u.Scheme != "http" && u.Scheme != "https":
		f.refuse("url", "scheme %q, want http or https", u.Scheme)
	case u.Opaque != "" || u.Hostname() == "":
		f.refuse("url", "%q has no host", told(text))
	case u.User != nil:
		f.refuse("url", "holds a user, and a parameter is no place for a password")
	case u.Fragment != "":
		f.refuse("url", "holds a fragment, which no server ever sees")
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && !isPort(u.Port()):
		f.refuse("url", "port %q, want 1 to 65535", u.Port())
	default:
		f.host("url", u.Hostname())
		return text
	}
	return ""
}

// host refuses an address to which no probe may go. A name is judged by its addresses when it is called.
func (f *fields) host(key, host string) {
	if a, err := netip.ParseAddr(host); err == nil {
		if why := RefusedAddress(a); why != "" {
			f.refuse(key, "%s", why)
		}
		return
	}
	if strings.ContainsAny(host, "/:%\\ \t\r\n@") {
		f.refuse(key, "%q is no host", host)
	}
}

func (f *fields) address() string {
	text := f.text("address", 300, true)
	if text == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || !isPort(port) {
		f.refuse("address", "%q, want host:port with a port from 1 to 65535", text)
		return ""
	}
	f.host("address", host)
	return text
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65535
}

func (f *fields) answer(s *Source) {
	for _, raw := range f.list("status", StatusListMax) {
		s.Status = append(s.Status, f.whole("status", raw, bounds{100, 599}))
	}
	s.Contains = f.text("body_contains", ContainsMax, false)
}

func (f *fields) trust(s *Source, encrypted bool) {
	s.ServerName = f.text("server_name", 253, false)
	s.CA = f.text("ca_pem", pemMax, false)
	if s.CA != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(s.CA)) {
		f.refuse("ca_pem", "holds no certificate in PEM")
	}
	if (s.ServerName != "" || s.CA != "") && !encrypted {
		f.refuse("server_name", "it and ca_pem need https")
	}
}

func (f *fields) instances(s *Source) {
	s.Group = f.text("group", 255, true)
	s.Sample = f.number("sample", SampleDefault, bounds{SampleMin, SampleMax})
	s.Scheme = f.word("scheme", "http", []string{"http", "https"})
	if _, ok := f.values["port"]; !ok {
		f.refuse("port", "is missing")
	}
	s.Port = f.number("port", 0, bounds{1, 65535})
	s.Path = f.text("path", textMax, true)
	routing := f.text("routing_path", textMax, false)
	if routing == "" {
		routing = RoutingPathDefault
	}
	if s.Path == "" {
		return
	}
	if strings.Contains(s.Path, "#") { // a request's path is read without one, and would keep it
		f.refuse("path", "holds a fragment, which no server ever sees")
		return
	}
	if _, err := url.ParseRequestURI(s.Path); err != nil || !strings.HasPrefix(s.Path, "/") || strings.HasPrefix(s.Path, "//") {
		f.refuse("path", "%q, want a path that begins with one slash", told(s.Path))
		return
	}
	if plain(s.Path) == plain(routing) {
		f.refuse("path", "%s is what the load balancer routes by; a deep check has a path of its own, such as /health/deep", told(s.Path))
	}
}

// told is a URL or a path as it may be shown: a query may hold what nobody else should read.
func told(text string) string {
	before, _, found := strings.Cut(text, "?")
	if found {
		return before + "?…"
	}
	return text
}

// plain is a path as a server would most likely take it: without its query, decoded, cleaned, in lower case.
func plain(text string) string {
	if u, err := url.Parse(text); err == nil {
		text = u.Path
	}
	return strings.ToLower(path.Clean("/" + text))
}

func (f *fields) expect() []netip.Addr {
	var all []netip.Addr
	for _, raw := range f.list("expect", ExpectListMax) {
		text := f.str("expect", raw, 60)
		a, err := netip.ParseAddr(text)
		if err != nil && text != "" {
			f.refuse("expect", "%q is no IP address", text)
		}
		all = append(all, a.Unmap())
	}
	return all
}

// relations checks what no value can break alone: names, the nesting of the times, the number of calls.
func (c Config) relations() []error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.RunTimeout >= c.Interval {
		refuse("run_timeout_seconds: %s, want less than interval_seconds, %s", c.RunTimeout, c.Interval)
	}
	seen := map[string]bool{}
	var calls int
	var total, longest time.Duration
	for i, s := range c.Sources {
		if seen[s.Name] {
			refuse("sources[%d] %s: name: stands twice", i, s.Name)
		}
		seen[s.Name] = true
		if s.Timeout >= c.RunTimeout {
			refuse("sources[%d] %s: timeout_ms: %s, want less than run_timeout_seconds, %s", i, s.Name, s.Timeout, c.RunTimeout)
		}
		calls += s.calls()
		total += time.Duration(s.calls()) * s.Timeout
		longest = max(longest, s.Timeout)
	}
	if calls > CallsMax {
		refuse("sources: %d calls a run, want at most %d", calls, CallsMax)
	}
	if calls <= c.Concurrency || len(errs) > 0 {
		return errs
	}
	// Calls that start as soon as a lane is free end by their total over the lanes, and one more call less its own share.
	lanes := time.Duration(c.Concurrency)
	if worst := (total + (lanes-1)*longest) / lanes; worst > c.RunTimeout {
		refuse("sources: when all are slow, %d calls on %d lanes take up to (%s + %d × %s) ÷ %d = %s, want at most run_timeout_seconds, %s",
			calls, c.Concurrency, total, c.Concurrency-1, longest, c.Concurrency, worst.Round(time.Millisecond), c.RunTimeout)
	}
	return errs
}

func pathOf(s Source) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Path
}

// namesHealth says that a path looks like a health endpoint by the usual names.
func namesHealth(text string) bool {
	for part := range strings.SplitSeq(plain(text), "/") {
		word := strings.NewReplacer("-", "", "_", "", ".", "").Replace(part)
		switch word {
		case "livez", "readyz", "ready", "readiness", "live", "liveness", "alive", "ping", "status", "heartbeat", "selftest":
			return true
		}
		if strings.HasPrefix(word, "health") {
			return true
		}
	}
	return false
}
