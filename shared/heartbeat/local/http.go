package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// bodyMax is how much of an answer is read, so that the whole path is travelled, but not for ever.
const bodyMax = 64 << 10

// HTTPOptions describe a request to the application of this host.
type HTTPOptions struct {
	// URL is what is asked: http or https, and a path that does what a user's request does, not a page that the edge answers itself.
	URL string
	// Statuses are those that pass; empty means 200 to 399.
	Statuses []int
	// HostHeader is sent as Host instead of the URL's.
	HostHeader string
	// Own is the agent's own listening address, such as :9180, which must not be what is asked. May be empty.
	Own string
	// Dependency says that the URL is of another host, and that this is known.
	Dependency bool
}

// HTTP makes a check that sends one GET, on a connection of its own and without following redirections.
func HTTP(o HTTPOptions) (func(context.Context) error, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("url %q, want http or https and a host", o.URL)
	}
	if err := checkHost(u.Hostname(), o.Dependency); err != nil {
		return nil, err
	}
	if !isLoopback(u.Hostname()) && healthPath(u.Path) {
		return nil, fmt.Errorf("url %q is another service's health endpoint: its answer carries the state of all that it depends on; ask for something that it does for you", o.URL)
	}
	if _, port, err := net.SplitHostPort(o.Own); err == nil && isLoopback(u.Hostname()) && u.Port() == port {
		return nil, fmt.Errorf("url %q is the agent's own address: it would ask itself", o.URL)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context) error { return get(ctx, client, o) }, nil
}

func get(ctx context.Context, client *http.Client, o HTTPOptions) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL, nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Host = o.HostHeader
	req.Header.Set("User-Agent", "holdfast-heartbeat")
	res, err := client.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // the URL is known from the name of the check
		}
		return fmt.Errorf("get: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, bodyMax)); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if len(o.Statuses) == 0 {
		if res.StatusCode < 200 || res.StatusCode > 399 {
			return fmt.Errorf("status %d, want 200 to 399", res.StatusCode)
		}
		return nil
	}
	for _, want := range o.Statuses {
		if res.StatusCode == want {
			return nil
		}
	}
	return fmt.Errorf("status %d, want one of %v", res.StatusCode, o.Statuses)
}

// TCP makes a check that opens a connection to host:port and closes it.
func TCP(address string, dependency bool) (func(context.Context) error, error) {
	host, _, err := dialAddress(address)
	if err != nil {
		return nil, err
	}
	if err := checkHost(host, dependency); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		_ = conn.Close() // nothing was sent
		return nil
	}, nil
}
