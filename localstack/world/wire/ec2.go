package wire

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
)

// ec2Codec serves the EC2 dialect of the query protocol. The SDK's ec2 module has
// no schemas, so inputs stay forms and outputs are plain encoding/xml structs.
type ec2Codec struct{ xmlns string }

// EC2Query returns the codec of EC2's query dialect. It decodes into a
// *url.Values and encodes any value that encoding/xml can write.
func EC2Query(xmlns string) Codec { return ec2Codec{xmlns: xmlns} }

// Decode implements Codec.
func (ec2Codec) Decode(body []byte, in any) error {
	form, ok := in.(*url.Values)
	if !ok {
		return fmt.Errorf("%T is not a *url.Values", in)
	}
	parsed, err := url.ParseQuery(string(body))
	if err != nil {
		return fmt.Errorf("parse form: %w", err)
	}
	*form = parsed
	return nil
}

// Encode implements Codec.
func (c ec2Codec) Encode(reply Reply) (Response, error) {
	var b bytes.Buffer
	start := xml.StartElement{
		Name: xml.Name{Local: reply.Operation + "Response"},
		Attr: []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: c.xmlns}},
	}
	if err := xml.NewEncoder(&b).EncodeElement(reply.Output, start); err != nil {
		return Response{}, fmt.Errorf("write %s: %w", reply.Operation, err)
	}
	return Response{Status: http.StatusOK, Header: xmlHeader(), Body: b.Bytes()}, nil
}

// EncodeError implements Codec.
func (ec2Codec) EncodeError(requestID string, err error) Response {
	f := failureOf(err)
	var b bytes.Buffer
	b.WriteString("<Response><Errors><Error>")
	writeElement(&b, "Code", f.code)
	writeElement(&b, "Message", f.message)
	b.WriteString("</Error></Errors>")
	writeElement(&b, "RequestID", requestID)
	b.WriteString("</Response>")
	return Response{Status: f.status, Header: xmlHeader(), Body: b.Bytes()}
}
