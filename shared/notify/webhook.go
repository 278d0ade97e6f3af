package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

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
	// address may itself be a secret; mask is taken out of every error beside it.
	address, mask secret
	body          any
}

// send makes the request once. Any answer but 2xx is an error: fault.Throttled for 429, fault.Refused for the rest below 500,
// fault.Unknown above and for what has no answer.
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
		return fmt.Errorf("post: %w: %s", fault.Unknown, p.safe(withoutAddress(err).Error()))
	}
	defer func() { _ = res.Body.Close() }() // the answer is read or given up; nothing depends on its end
	answer, err := io.ReadAll(io.LimitReader(res.Body, answerBytesMax))
	if res.StatusCode >= http.StatusOK && res.StatusCode < http.StatusMultipleChoices {
		return nil // the status is the answer, whatever became of its text
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

// withoutAddress takes off what net/http puts around an error: the method and the address.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// checkAddress accepts HTTPS only. Its error does not show the address.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("address: %w: want https:// with a host and no user", fault.Refused)
	}
	return nil
}
