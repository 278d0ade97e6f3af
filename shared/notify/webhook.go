package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"

	"github.com/holdfast-aws/holdfast/shared/fault"
)

const (
	// answerBytesMax is how much of an answer is read at all, answerShown how much of it an error may show.
	answerBytesMax = 16 << 10
	answerShown    = 300
)

// NewHTTPClient returns the client for webhooks over a transport, or over the default one if it is nil: no redirect is followed,
// because what is sent may hold a secret, and no request lasts longer than SendTimeout.
func NewHTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: SendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post is one JSON request to a webhook.
type post struct {
	client *http.Client
	// mask is taken out of every error, as is the address.
	address, mask secret
	// private says that the address is the secret: then no error shows what the peer says, which could repeat it in any spelling.
	private bool
	body    any
}

// send makes the request once. Any answer but 2xx is an error with the status: fault.Throttled for 429, fault.Refused for the rest
// below 500, fault.Unknown above and for what has no answer.
func (p post) send(ctx context.Context) error {
	if err := checkAddress(string(p.address)); err != nil {
		return err
	}
	body, err := json.Marshal(p.body)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, string(p.address), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w: the address cannot be used", fault.Refused)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := p.client.Do(req)
	if err != nil {
		return fmt.Errorf("post: %w: %s", fault.Unknown, p.safe(p.without(err)))
	}
	defer func() { _ = res.Body.Close() }() // the answer is read or given up; nothing depends on its end
	answer, err := io.ReadAll(io.LimitReader(res.Body, answerBytesMax))
	if res.StatusCode >= http.StatusOK && res.StatusCode < http.StatusMultipleChoices {
		return nil // the status is the answer, whatever became of its text
	}
	if p.private {
		return fmt.Errorf("post: %w: status %d", kindOfStatus(res.StatusCode), res.StatusCode)
	}
	text := string(answer)
	if err != nil {
		text = "unreadable answer"
	}
	return fmt.Errorf("post: %w: status %d: %s", kindOfStatus(res.StatusCode), res.StatusCode, cut(p.safe(text), answerShown, cutShort))
}

func (p post) safe(text string) string { return oneLine(p.mask.maskIn(p.address.maskIn(text))) }

func kindOfStatus(status int) error {
	switch {
	case status == http.StatusTooManyRequests:
		return fault.Throttled
	case status >= http.StatusInternalServerError:
		return fault.Unknown
	}
	return fault.Refused
}

// without says why there was no answer, without what net/http puts around it: the method and the address. Of a private address it
// tells only what was found out before anything was sent, or that time was up: the rest may quote a broken answer.
func (p post) without(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	op, network := errors.AsType[*net.OpError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	late := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err)
	switch {
	case !p.private, late, certificate:
		return err.Error()
	case network:
		return op.Error()
	}
	return "no answer that can be understood"
}

// checkAddress accepts HTTPS only. Its error does not show the address.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("address: %w: want https:// with a host and no user", fault.Refused)
	}
	return nil
}
