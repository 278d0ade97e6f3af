package wire

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
)

// queryCodec serves the AWS query protocol. Source: the Smithy specification,
// "AWS query protocol".
type queryCodec struct{ xmlns string }

// Query returns the codec of the AWS query protocol (Auto Scaling, Elastic Load
// Balancing). The namespace is that of the answer's root element.
func Query(xmlns string) Codec { return queryCodec{xmlns: xmlns} }

// Decode implements Codec.
func (queryCodec) Decode(body []byte, in any) error {
	value, err := serializable(in)
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return fmt.Errorf("parse form: %w", err)
	}
	schema := schemaOf(value)
	if schema == nil {
		return nil
	}
	target, err := deserializable(in, schema)
	if err != nil {
		return err
	}
	if err := target.Deserialize(newFormReader(form)); err != nil {
		return fmt.Errorf("read form: %w", err)
	}
	return nil
}

// Encode implements Codec.
func (c queryCodec) Encode(reply Reply) (Response, error) {
	out, err := serializable(reply.Output)
	if err != nil {
		return Response{}, err
	}
	w := &xmlWriter{}
	out.Serialize(w)
	var b bytes.Buffer
	fmt.Fprintf(&b, "<%sResponse xmlns=%q><%sResult>", reply.Operation, c.xmlns, reply.Operation)
	b.Write(w.Bytes())
	fmt.Fprintf(&b, "</%sResult><ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata></%sResponse>",
		reply.Operation, reply.RequestID, reply.Operation)
	return Response{Status: http.StatusOK, Header: xmlHeader(), Body: b.Bytes()}, nil
}

// EncodeError implements Codec. A query error is a code and a message: no modeled
// error of the operations served here has more.
func (c queryCodec) EncodeError(requestID string, err error) Response {
	f := failureOf(err)
	code := f.code
	if f.query != "" {
		code = f.query
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<ErrorResponse xmlns=%q><Error><Type>%s</Type>", c.xmlns, f.fault())
	writeElement(&b, "Code", code)
	writeElement(&b, "Message", f.message)
	b.WriteString("</Error>")
	writeElement(&b, "RequestId", requestID)
	b.WriteString("</ErrorResponse>")
	return Response{Status: f.status, Header: xmlHeader(), Body: b.Bytes()}
}

func writeElement(b *bytes.Buffer, name, text string) {
	b.WriteString("<" + name + ">")
	_ = xml.EscapeText(b, []byte(text)) // a buffer does not fail
	b.WriteString("</" + name + ">")
}

func xmlHeader() http.Header {
	return http.Header{"Content-Type": []string{"text/xml"}}
}
