package wire

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// bodyBytesMax bounds a request body after decompression. The largest request
// AWS accepts in the services served here is DynamoDB's 16 MB.
const bodyBytesMax = 16 << 20

// Target names the operation a request asks for.
type Target struct {
	// Key matches Mount.Key.
	Key string
	// Operation is the operation's name.
	Operation string
}

// ReadBody reads a request's body and unpacks gzip, which the SDK applies to
// large PutMetricData calls. A body above 16 MiB is an error.
func ReadBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, fmt.Errorf("open gzip body: %w", err)
		}
		in = unpacked
	}
	body, err := io.ReadAll(io.LimitReader(in, bodyBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if len(body) > bodyBytesMax {
		return nil, errors.New("read body: more than 16 MiB")
	}
	return body, nil
}

// TargetOf tells which service and operation a request is for, from the header
// of the JSON protocols, the path of RPC v2, or the form of the query protocols.
func TargetOf(r *http.Request, body []byte) (Target, error) {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		// The name of a service may have dots in it, as CloudTrail's has.
		dot := strings.LastIndex(target, ".")
		if dot < 0 {
			return Target{}, fmt.Errorf("X-Amz-Target %q has no operation", target)
		}
		return Target{Key: target[:dot], Operation: target[dot+1:]}, nil
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/service/"); ok {
		key, op, ok := strings.Cut(rest, "/operation/")
		if !ok {
			return Target{}, fmt.Errorf("path %q has no operation", r.URL.Path)
		}
		return Target{Key: key, Operation: op}, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return Target{}, fmt.Errorf("parse form: %w", err)
	}
	if form.Get("Action") == "" {
		return Target{}, errors.New("request names no operation")
	}
	return Target{Key: form.Get("Version"), Operation: form.Get("Action")}, nil
}
