package wire

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
)

// Codec translates between bytes and the SDK's types for one protocol. A codec
// is safe for concurrent use.
type Codec interface {
	// Decode reads a request body into in, a pointer to one of the SDK's input
	// structs (for EC2Query a *url.Values). The body is already decompressed.
	Decode(body []byte, in any) error
	// Encode writes a successful answer.
	Encode(reply Reply) (Response, error)
	// EncodeError writes err as a failed answer, whatever its type.
	EncodeError(requestID string, err error) Response
}

// Reply is what a service answered to one call.
type Reply struct {
	// Operation is the operation's name, for example "GetItem".
	Operation string
	// RequestID appears in the answer where the protocol has a place for it.
	RequestID string
	// Output is a pointer to the SDK's output struct of that operation (for
	// EC2Query any value encoding/xml can write as the response element).
	Output any
}

// Response is an answer ready to be sent.
type Response struct {
	// Status is the HTTP status, 200 for every success.
	Status int
	// Header holds the headers of the protocol, Content-Type among them.
	Header http.Header
	// Body is the encoded answer; it may be empty.
	Body []byte
}

// Service answers the calls of one AWS service. The returned value is the
// operation's output struct, as Reply.Output describes it.
type Service interface {
	Handle(ctx context.Context, call Call) (any, error)
}

// Mount says under which name clients reach a service.
type Mount struct {
	// Name is the short name used in counters, logs and faults: "autoscaling".
	Name string
	// Key is what a request carries: the part of X-Amz-Target before the last dot, the
	// service name of an RPC v2 path, or the Version of a query form.
	Key   string
	Codec Codec
	// JSON is set for a service that is asked in two protocols: it reads AWS JSON
	// 1.0, and Codec reads Smithy RPC v2 CBOR only. Else Codec reads every request.
	JSON    Codec
	Service Service
}

// CodecFor returns the codec of a request with these headers, or an error that
// says which protocol the request is in and which the service understands.
func (m Mount) CodecFor(h http.Header) (Codec, error) {
	if m.JSON == nil {
		return m.Codec, nil
	}
	sent, rpc := h.Get("Content-Type"), h.Get("Smithy-Protocol")
	media, _, _ := strings.Cut(sent, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case rpc == "" && media == contentJSON10:
		return m.JSON, nil
	// An RPC v2 request without input has no body, and so no Content-Type.
	case rpc == protocolCBOR && (media == contentCBOR || media == ""), rpc == "" && media == contentCBOR:
		return m.Codec, nil
	}
	return nil, fmt.Errorf("%s was asked with Content-Type %q and Smithy-Protocol %q; it understands %s with %s, and %s without a Smithy-Protocol",
		m.Name, sent, rpc, contentCBOR, protocolCBOR, contentJSON10)
}

// Call is one request to a service.
type Call struct {
	// Operation is the operation's name, for example "GetItem".
	Operation string

	codec Codec
	body  []byte
}

// NewCall returns the call of an operation whose input is encoded in body.
func NewCall(codec Codec, operation string, body []byte) Call {
	return Call{Operation: operation, codec: codec, body: body}
}

// Decode reads the call's input into in, a pointer to the SDK's input struct.
// An unreadable body yields an *Error that EncodeError can write.
func (c Call) Decode(in any) error {
	if err := c.codec.Decode(c.body, in); err != nil {
		return &Error{
			Code:    "SerializationException",
			Message: fmt.Sprintf("decode %s: %v", c.Operation, err),
		}
	}
	return nil
}

// Do decodes a call's input and hands it to fn. It turns a typed method into
// what Service.Handle returns.
func Do[In, Out any](call Call, fn func(*In) (*Out, error)) (any, error) {
	in := new(In)
	if err := call.Decode(in); err != nil {
		return nil, err
	}
	out, err := fn(in)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// serializable says that the SDK wrote the value's type from a schema.
func serializable(v any) (smithy.Serializable, error) {
	s, ok := v.(smithy.Serializable)
	if !ok {
		return nil, fmt.Errorf("%T has no schema", v)
	}
	return s, nil
}
