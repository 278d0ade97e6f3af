// Package wholeclient is an HTTP client for tests that speak to a peer on loopback through the AWS SDK. It never retries and knows no
// AWS type; the product does not use it.
package wholeclient

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Client sends and receives whole bodies of its own. The SDK's client closes a request's body as soon as an answer begins; where the
// answer comes as fast as on loopback, that now and then closes the connection under it, which is no word of the peer's.
type Client struct{ Inner *http.Client }

// Do implements the SDK's HTTP client.
func (c Client) Do(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		own.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := c.Inner.Do(own)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(got))
	return res, nil
}
