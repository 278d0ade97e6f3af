package probe_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/probe"
)

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// authority signs certificates with a chosen end.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t), cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: noon().AddDate(-1, 0, 0), NotAfter: noon().AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatalf("make authority: %v", err)
	}
	a.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("make key: %v", err)
	}
	return key
}

// issue makes a certificate for a name that is valid until end.
func (a *authority) issue(name string, end time.Time) tls.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: noon().AddDate(-1, 0, 0), NotAfter: end,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatalf("make certificate: %v", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// names is a resolver; what it does not hold does not exist.
type names map[string][]string

func (n names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	if host == "slow.test" {
		<-ctx.Done()
		return nil, &net.DNSError{Err: "i/o timeout", Name: host, IsTimeout: true}
	}
	texts, ok := n[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var all []netip.Addr
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all, nil
}

func everywhere(netip.Addr) string { return "" }

// loopback calls servers of the test under the name dep.test. The clock that dates certificates stands at noon.
func loopback() probe.Net {
	return probe.Net{Resolver: names{"dep.test": {"127.0.0.1"}}, Dialer: &net.Dialer{}, Now: noon, Refused: everywhere}
}

// serve starts a server and returns dep.test with its port.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return "dep.test:" + port(t, server.Listener.Addr())
}

func serveTLS(t *testing.T, cert tls.Certificate, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are what is tested
	server.StartTLS()
	t.Cleanup(server.Close)
	return "dep.test:" + port(t, server.Listener.Addr())
}

func port(t *testing.T, a net.Addr) string {
	t.Helper()
	_, p, err := net.SplitHostPort(a.String())
	if err != nil {
		t.Fatalf("split address: %v", err)
	}
	return p
}

// closed is an address on which nobody listens.
func closed(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return "dep.test:" + port(t, l.Addr())
}

// pipes is a dialer without a network: each address has a server on the other end of a pipe.
type pipes map[string]func(net.Conn)

var errUnreachable = errors.New("no route to host")

func (p pipes) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	serve, ok := p[address]
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errUnreachable}
	}
	if serve == nil { // packets vanish
		<-ctx.Done()
		return nil, ctx.Err()
	}
	near, far := net.Pipe()
	go serve(far)
	return near, nil
}

// source makes one valid source of a document's text.
func source(t *testing.T, text string) probe.Source {
	t.Helper()
	c, err := probe.Parse([]byte(with(text)))
	if err != nil {
		t.Fatalf("parse source: %v", err)
	}
	return c.Sources[0]
}

// check makes one call on a source and checks what must hold for every result.
func check(t *testing.T, n probe.Net, s probe.Source) probe.Result {
	t.Helper()
	r := n.Check(t.Context(), probe.Call{Source: s})
	if (r.Cause != "") != (r.Outcome == probe.Failed) || (r.Detail == "") != (r.Outcome == probe.Passed) || len(r.Detail) > probe.DetailMax {
		t.Errorf("a result that contradicts itself: %+v", r)
	}
	return r
}

// found fails the test unless the result is a failure of that cause whose detail says so.
func found(t *testing.T, r probe.Result, cause probe.Cause, says string) {
	t.Helper()
	outcome := probe.Failed
	if cause == "" {
		outcome = probe.Passed
	}
	if r.Outcome != outcome || r.Cause != cause || !strings.Contains(r.Detail, says) {
		t.Errorf("have %+v\nwant %q with %q", r, cause, says)
	}
}
