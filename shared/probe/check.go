package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Resolver resolves names; *net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer makes connections; *net.Dialer does. It is given addresses only, never names.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Net is how calls are made. Every field is required but Refused.
type Net struct {
	Resolver Resolver
	Dialer   Dialer
	// Now dates certificates and measures latency.
	Now func() time.Time
	// Refused says why a call may not go to an address, or nothing; nil means RefusedAddress.
	Refused func(netip.Addr) string
}

// Call is one call: a source, and for a sample of instances the member that is asked.
type Call struct {
	Source Source
	Member Member
}

// Result is what one call found.
type Result struct {
	// Member is the ID of the instance that was asked, "" if it was the dependency itself.
	Member  string
	Outcome Outcome
	// Cause is set if and only if Outcome is Failed.
	Cause Cause
	// Detail says more for people: the reason of a failure, or why nothing is known. At most DetailMax bytes.
	Detail string
	// Latency is how long the call took.
	Latency time.Duration
	// Days until the first certificate of the chain expires, nil if the source asks for none or none was shown.
	Days *float64
}

// DetailMax bounds what is kept of an error.
const DetailMax = 200

// Check makes one call within its source's timeout. A call that ctx ended, or that was not made because of where it would have
// gone, is Unknown.
func (n Net) Check(ctx context.Context, c Call) Result {
	r := Result{Member: c.Member.ID}
	if c.Source.Kind == KindInstances && c.Member.Address == "" {
		r.Detail = "it has no private address"
		return r
	}
	begin := n.Now()
	own, cancel := context.WithTimeout(ctx, c.Source.Timeout)
	defer cancel()
	err := n.call(own, c, &r)
	r.Latency = n.Now().Sub(begin)
	var f *failure
	switch {
	case err == nil:
		r.Outcome = Passed
	case errors.Is(err, errAddressRefused):
		r.Detail = detail(err)
	case ctx.Err() != nil:
		r.Detail = "the run ended first"
	case errors.As(err, &f):
		r.Outcome, r.Cause, r.Detail = Failed, f.cause, detail(f.err)
	default:
		r.Detail = detail(err)
	}
	return r
}

func (n Net) call(ctx context.Context, c Call, r *Result) error {
	s := c.Source
	switch s.Kind {
	case KindHTTP, KindInstances:
		return n.http(ctx, c)
	case KindTCP:
		conn, err := n.dial(ctx, s.Address)
		if err == nil {
			_ = conn.Close() // the check has passed before
		}
		return err
	case KindTLS:
		return n.tls(ctx, s, r)
	case KindDNS:
		return n.dns(ctx, s)
	}
	return fmt.Errorf("kind %q is unknown", s.Kind)
}

func (n Net) dns(ctx context.Context, s Source) error {
	found, err := n.lookup(ctx, s.Host)
	if err != nil {
		return err
	}
	if len(s.Expect) > 0 && !slices.ContainsFunc(found, func(a netip.Addr) bool { return slices.Contains(s.Expect, a) }) {
		return failed(CauseDNS, "%s is %v, want one of %v", s.Host, found, s.Expect)
	}
	return nil
}

// lookup resolves a name to plain addresses, IPv4 first, sorted.
func (n Net) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	found, err := n.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, failed(CauseDNS, "look up %s: %w", host, err)
	}
	if len(found) == 0 {
		return nil, failed(CauseDNS, "look up %s: no address", host)
	}
	all := make([]netip.Addr, 0, len(found))
	for _, a := range found {
		all = append(all, a.Unmap())
	}
	slices.SortFunc(all, func(a, b netip.Addr) int { return a.Compare(b) })
	return slices.Compact(all), nil
}

// dial connects to the first address of a host that answers. The addresses are judged here, after the look-up and before any of
// them is called, so that no name can lead where no probe may go; one that may not be called spoils the name.
func (n Net) dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("split address: %w", err)
	}
	found, err := n.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	refused := n.Refused
	if refused == nil {
		refused = RefusedAddress
	}
	for _, a := range found {
		if why := refused(a); why != "" {
			return nil, fmt.Errorf("%w: %s", errAddressRefused, why)
		}
	}
	for _, a := range found {
		var conn net.Conn
		if conn, err = n.Dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	if timedOut(err) {
		return nil, failed(CauseTimeout, "connect: %w", err)
	}
	return nil, failed(CauseRefused, "connect: %w", err)
}

// handshake connects and makes the connection a TLS one.
func (n Net) handshake(ctx context.Context, s Source, address string) (*tls.Conn, error) {
	raw, err := n.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	name := s.ServerName
	if name == "" {
		if name, _, err = net.SplitHostPort(address); err != nil {
			return nil, errors.Join(fmt.Errorf("split address: %w", err), raw.Close())
		}
	}
	conn := tls.Client(raw, &tls.Config{ServerName: name, RootCAs: roots(s.CA), Time: n.Now, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close() // the handshake's error says more
		if timedOut(err) {
			return nil, failed(CauseTimeout, "handshake: %w", err)
		}
		return nil, failed(CauseTLS, "handshake: %w", err)
	}
	return conn, nil
}

// roots are the certificates to trust; nil means the machine's.
func roots(ca string) *x509.CertPool {
	if ca == "" {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ca)) // Parse has seen that it holds one
	return pool
}

func (n Net) tls(ctx context.Context, s Source, r *Result) error {
	conn, err := n.handshake(ctx, s, s.Address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // all is known before
	days := expiry(conn.ConnectionState()).Sub(n.Now()).Hours() / 24
	r.Days = &days
	if days < float64(s.DaysMin) {
		return failed(CauseTLS, "the certificate expires in %.1f days, want at least %d", days, s.DaysMin)
	}
	return nil
}

// expiry is when the longest-lived verified chain ends, which is when its first certificate expires.
func expiry(state tls.ConnectionState) time.Time {
	var last time.Time
	for _, chain := range state.VerifiedChains {
		first := chain[0].NotAfter
		for _, cert := range chain {
			if cert.NotAfter.Before(first) {
				first = cert.NotAfter
			}
		}
		if first.After(last) {
			last = first
		}
	}
	return last
}

func detail(err error) string {
	text := err.Error()
	for i := range text {
		if i > DetailMax-4 {
			return text[:i] + "…"
		}
	}
	return text
}
