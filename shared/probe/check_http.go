package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
)

// agent is how the calls name themselves, so that they can be told from traffic in a log.
const agent = "holdfast-probe"

// http makes one GET over a connection of its own and reads the answer, its body up to BodyMax.
func (n Net) http(ctx context.Context, c Call) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target(c), nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("User-Agent", agent)
	transport := n.transport(c.Source)
	defer transport.CloseIdleConnections()
	client := http.Client{
		Transport: transport,
		// A redirect is an answer; where it leads was reviewed by nobody.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
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
