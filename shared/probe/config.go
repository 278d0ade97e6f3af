package probe

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Parameter is the SSM parameter that holds the sources.
const Parameter = "/holdfast/probes"

// Kind is what a source does.
type Kind string

// The kinds of sources.
const (
	KindHTTP      Kind = "http"
	KindInstances Kind = "instances"
	KindTCP       Kind = "tcp"
	KindTLS       Kind = "tls"
	KindDNS       Kind = "dns"
)

func kinds() []string {
	return []string{string(KindHTTP), string(KindInstances), string(KindTCP), string(KindTLS), string(KindDNS)}
}

// Ranges of the values of a run in seconds, and what is taken where a key is left out.
const (
	IntervalMin        = 60
	IntervalMax        = 3600
	IntervalDefault    = 60
	RunTimeoutMin      = 1
	RunTimeoutMax      = 120
	RunTimeoutDefault  = 30
	ConcurrencyMax     = 32
	ConcurrencyDefault = 8
	SourcesMax         = 50
	// CallsMax is how many calls a run may make. One look-up of addresses must do for all of them.
	CallsMax = 200
)

// Ranges of the values of a source, and what is taken where a key is left out. Timeouts are in milliseconds, EveryMax in seconds,
// sizes in bytes.
const (
	NameMax              = 40
	TimeoutMin           = 50
	TimeoutMax           = 30_000
	TimeoutDefault       = 2_000
	EveryMax             = 86_400
	FailuresInRowMax     = 10
	FailuresInRowDefault = 3
	SampleMin            = 2
	SampleMax            = 10
	SampleDefault        = 3
	DaysMin              = 1
	DaysMax              = 365
	DaysDefault          = 14
	ContainsMax          = 1024
	StatusListMax        = 20
	ExpectListMax        = 20
	// BodyMax is how much of a body, and of the headers, is read.
	BodyMax = 64 << 10
	// RoutingPathDefault is the path by which a load balancer routes unless a source says otherwise.
	RoutingPathDefault = "/health"
)

// Config is the content of Parameter after every rule has passed.
type Config struct {
	// Interval is the time between two checks of a source that says nothing else. The schedule may tick more often, not less.
	Interval time.Duration
	// RunTimeout is how long one run may take to read members and make its calls, less than Interval.
	RunTimeout time.Duration
	// Concurrency is how many calls are under way at once, 1 to ConcurrencyMax.
	Concurrency int
	// Sources are 0 to SourcesMax, each under a name of its own.
	Sources []Source
}

// Source is one dependency and how it is checked.
type Source struct {
	// Name is the dependency's name in metrics and logs.
	Name string
	Kind Kind
	// Timeout bounds one call from the look-up of the name to the last byte, less than the run's.
	Timeout time.Duration
	// Every is the time between two checks, a multiple of the run's interval.
	Every time.Duration
	// FailuresInRow is how many checks in a row must fail before the dependency counts as down.
	FailuresInRow int

	// URL is asked by KindHTTP.
	URL string
	// Status lists the expected statuses; none means 200 to 299. Contains must stand in the first BodyMax bytes of the body.
	Status   []int
	Contains string

	// Group is the Auto Scaling group of which KindInstances asks Sample members, each on Scheme, Port and Path.
	Group  string
	Sample int
	Scheme string
	Port   int
	Path   string

	// Address is host:port, for KindTCP and KindTLS.
	Address string
	// ServerName is the name that the certificate must be valid for, "" for the host that is called; CA is one or more
	// certificates in PEM to trust instead of the public ones.
	ServerName, CA string
	// DaysMin is how many days a certificate must still be valid for.
	DaysMin int

	// Host is resolved by KindDNS; one of Expect must be among the answers, unless it is empty.
	Host   string
	Expect []netip.Addr
}

// calls is how many calls one check makes at most.
func (s Source) calls() int {
	if s.Kind == KindInstances {
		return s.Sample
	}
	return 1
}

// SourceLoad is what one source asks of its dependency.
type SourceLoad struct {
	Name string
	// Calls is the most that one check makes, PerMinute what that comes to.
	Calls     int
	PerMinute float64
}

// Load is what all sources ask together. A call counts as one request, whatever its kind.
type Load struct {
	CallsPerRun int
	PerMinute   float64
	Sources     []SourceLoad
}

// Load computes calls times rate.
func (c Config) Load() Load {
	var l Load
	for _, s := range c.Sources {
		n := SourceLoad{Name: s.Name, Calls: s.calls(), PerMinute: float64(s.calls()) * float64(time.Minute) / float64(s.Every)}
		l.CallsPerRun += n.Calls
		l.PerMinute += n.PerMinute
		l.Sources = append(l.Sources, n)
	}
	return l
}

// String says it in one line with the arithmetic of each source.
func (l Load) String() string {
	parts := make([]string, 0, len(l.Sources))
	for _, s := range l.Sources {
		parts = append(parts, fmt.Sprintf("%s %d × %.2f", s.Name, s.Calls, s.PerMinute/float64(s.Calls)))
	}
	text := fmt.Sprintf("%d sources, at most %d calls a run and %.2f requests a minute", len(l.Sources), l.CallsPerRun, l.PerMinute)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// Notes are what people should know about sources that are allowed.
func (c Config) Notes() []string {
	var notes []string
	for _, s := range c.Sources {
		if path := pathOf(s); s.Kind == KindHTTP && namesHealth(path) {
			notes = append(notes, fmt.Sprintf("%s: %s names a health endpoint of another service", s.Name, path))
		}
	}
	return notes
}
