package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/prelude"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"github.com/aws/smithy-go/transport/http/protocol/rpcv2"
)

// modelCodec serves the protocols whose bodies look the same in both directions.
// The SDK ships codecs for the client's side only, but a request writer is just
// as good at writing an answer, and a response reader at reading a request, so
// the server's side is the client's side turned around.
type modelCodec struct {
	protocol    smithyhttp.ClientProtocol
	contentType string
	header      map[string]string
	// emptyBody is what an operation without output answers.
	emptyBody string
	// queryCodes says that the service also reports the older query error code.
	queryCodes bool
	errors     errorShape
}

// What requests and answers of the protocols say about themselves.
const (
	contentJSON10 = "application/x-amz-json-1.0"
	contentCBOR   = "application/cbor"
	protocolCBOR  = "rpc-v2-cbor"
)

// JSON10 returns the codec of AWS JSON 1.0 (DynamoDB, SQS, CloudWatch asked by
// the AWS command line). Timestamps are written as seconds since 1970.
func JSON10(service *smithy.ServiceSchema) Codec {
	return &modelCodec{
		protocol:    awsjson.New10(service),
		contentType: contentJSON10,
		emptyBody:   "{}",
		errors:      newErrorShape(),
		queryCodes:  true,
	}
}

// JSON11 returns the codec of AWS JSON 1.1 (SSM, EventBridge).
func JSON11(service *smithy.ServiceSchema) Codec {
	return &modelCodec{
		protocol:    awsjson.New11(service),
		contentType: "application/x-amz-json-1.1",
		emptyBody:   "{}",
		errors:      newErrorShape(),
	}
}

// CBOR returns the codec of Smithy RPC v2 CBOR (CloudWatch). Timestamps are
// written as tag 1 and absent members are left out.
func CBOR(service *smithy.ServiceSchema) Codec {
	return &modelCodec{
		protocol:    rpcv2.NewCBOR(service),
		contentType: contentCBOR,
		header:      map[string]string{"Smithy-Protocol": protocolCBOR},
		errors:      newErrorShape(),
		queryCodes:  true,
	}
}

// Decode implements Codec.
func (c *modelCodec) Decode(body []byte, in any) error {
	value, err := serializable(in)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return nil
	}
	schema := schemaOf(value)
	if schema == nil {
		return nil
	}
	target, err := deserializable(in, schema)
	if err != nil {
		return err
	}
	resp := &smithyhttp.Response{Response: &http.Response{
		StatusCode: http.StatusOK,
		Body:       io.NopCloser(bytes.NewReader(body)),
	}}
	op := operation("Decode", schema)
	if err := c.protocol.DeserializeResponse(context.Background(), op, nil, resp, target); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	return nil
}

// Encode implements Codec.
func (c *modelCodec) Encode(reply Reply) (Response, error) {
	out, err := serializable(reply.Output)
	if err != nil {
		return Response{}, err
	}
	resp := c.response(http.StatusOK)
	schema := schemaOf(out)
	if schema == nil {
		resp.Body = []byte(c.emptyBody)
		return resp, nil
	}
	resp.Body, err = c.write(out, schema)
	return resp, err
}

// EncodeError implements Codec.
func (c *modelCodec) EncodeError(_ string, err error) Response {
	f := failureOf(err)
	resp := c.response(f.status)
	if c.queryCodes && f.query != "" {
		resp.Header.Set("X-Amzn-Query-Error", f.query+";"+f.fault())
	}
	body, werr := c.write(typedError{failure: f, shape: c.errors}, c.errors.root)
	if werr != nil {
		resp.Status = http.StatusInternalServerError
		return resp
	}
	resp.Body = body
	return resp
}

func (c *modelCodec) response(status int) Response {
	h := http.Header{}
	h.Set("Content-Type", c.contentType)
	for k, v := range c.header {
		h.Set(k, v)
	}
	return Response{Status: status, Header: h}
}

// write encodes a value with the client's request writer.
func (c *modelCodec) write(v smithy.Serializable, schema *smithy.Schema) ([]byte, error) {
	req, ok := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	if !ok {
		return nil, errors.New("write body: not an HTTP request")
	}
	if err := c.protocol.SerializeRequest(context.Background(), operation("Encode", schema), v, req); err != nil {
		return nil, fmt.Errorf("write body: %w", err)
	}
	stream := req.GetStream()
	if stream == nil {
		return nil, nil
	}
	body, err := io.ReadAll(stream)
	if err != nil {
		return nil, fmt.Errorf("read written body: %w", err)
	}
	return body, nil
}

// operation wraps a schema so that it serves as both input and output.
func operation(name string, schema *smithy.Schema) *smithy.OperationSchema {
	id := smithy.ShapeID{Namespace: "holdfast.wire", Name: name}
	return smithy.NewOperationSchema(smithy.NewSchema(id, smithy.ShapeTypeOperation, 0), schema, schema)
}

// errorShape describes an error of which only code and message are known.
type errorShape struct{ root, name, message *smithy.Schema }

func newErrorShape() errorShape {
	id := smithy.ShapeID{Namespace: "holdfast.wire", Name: "Error"}
	root := smithy.NewSchema(id, smithy.ShapeTypeStructure, 2)
	return errorShape{
		root:    root,
		name:    root.AddMember("__type", prelude.String),
		message: root.AddMember("message", prelude.String),
	}
}

// typedError writes an error's code next to its own members.
type typedError struct {
	failure
	shape errorShape
}

// Serialize implements smithy.Serializable.
func (e typedError) Serialize(s smithy.ShapeSerializer) {
	s.WriteStruct(e.shape.root)
	s.WriteString(e.shape.name, e.code)
	if e.model != nil {
		e.model.SerializeMembers(s)
	} else {
		s.WriteString(e.shape.message, e.message)
	}
	s.CloseStruct()
}
