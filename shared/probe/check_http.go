package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
)

// agent is how the calls name themselves, so that they can be told from traffic in a log.
const agent = "holdfast-probe"

// http makes one GET over a connection of its own and reads the answer, its body up to BodyMax. It asks the transport itself and
// no client: a redirect is an answer, because where it leads was reviewed by nobody, and a client's errors name the whole URL,
// whose query may hold what nobody else should read.
func (n Net) http(ctx context.Context, c Call) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target(c), nil)
	if err != nil {
		return errors.New("make request: the URL cannot be read")
	}
	req.Header.Set("User-Agent", agent)
	names := &watched{Resolver: n.Resolver}
	n.Resolver = names
	transport := n.transport(c.Source)
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil && timedOut(err) && names.waiting.Load() {
		return failed(CauseDNS, "look up %s: %w", req.URL.Hostname(), err)
	}
	if err != nil {
		return unanswered(err)
	}
	defer func() { _ = res.Body.Close() }() // what was wanted of it has been read
	if !expected(c.Source.Status, res.StatusCode) {
		return failed(CauseStatus, "status %d", res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, BodyMax))
	switch {
	case err != nil && timedOut(err):
		return failed(CauseTimeout, "read body: %w", err)
	case err != nil:
		return failed(CauseBody, "read body: %w", err)
	case c.Source.Contains != "" && !bytes.Contains(body, []byte(c.Source.Contains)):
		return failed(CauseBody, "%q is not in the first %d bytes", c.Source.Contains, len(body))
	}
	return nil
}

// watched knows whether a look-up is still without an answer. When a call's time is over, the transport does not wait to hear what
// its connection was waiting for.
type watched struct {
	Resolver
	waiting atomic.Bool
}

func (w *watched) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	w.waiting.Store(true)
	found, err := w.Resolver.LookupNetIP(ctx, network, host)
	if err == nil {
		w.waiting.Store(false)
	}
	return found, err
}

func target(c Call) string {
	s := c.Source
	if s.Kind == KindHTTP {
		return s.URL
	}
	return s.Scheme + "://" + net.JoinHostPort(c.Member.Address, strconv.Itoa(s.Port)) + s.Path
}

// transport knows no proxy of the environment, keeps no connection, and dials through n alone.
func (n Net) transport(s Source) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return n.dial(ctx, address) },
		DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return n.handshake(ctx, s, address)
		},
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: BodyMax,
	}
}

// unanswered says why a request has no answer: before there was a connection, or on it.
func unanswered(err error) error {
	var known *failure
	switch {
	case errors.As(err, &known) || errors.Is(err, errAddressRefused):
		return err
	case timedOut(err):
		return failed(CauseTimeout, "wait for answer: %w", err)
	case cutOff(err):
		return failed(CauseRefused, "wait for answer: %w", err)
	}
	return failed(CauseStatus, "read answer: %w", err)
}

func expected(statuses []int, status int) bool {
	if len(statuses) > 0 {
		return slices.Contains(statuses, status)
	}
	return status >= 200 && status <= 299
}
