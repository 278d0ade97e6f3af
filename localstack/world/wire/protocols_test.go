package wire_test

import (
	"bytes"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// alarmMount is CloudWatch as it is asked in two protocols.
func alarmMount() wire.Mount {
	return wire.Mount{
		Name:  "cloudwatch",
		Codec: wire.CBOR(cloudwatchschemas.GraniteServiceVersion20100801),
		JSON:  wire.JSON10(cloudwatchschemas.GraniteServiceVersion20100801),
	}
}

func TestTheCodecIsThatOfTheRequestsProtocol(t *testing.T) {
	m := alarmMount()
	for name, c := range map[string]struct {
		media, rpc string
		want       wire.Codec
	}{
		"the SDK":                         {"application/cbor", "rpc-v2-cbor", m.Codec},
		"the SDK without input":           {"", "rpc-v2-cbor", m.Codec},
		"CBOR by its Content-Type alone":  {"application/cbor", "", m.Codec},
		"the command line":                {"application/x-amz-json-1.0", "", m.JSON},
		"letter case and parameters":      {"Application/X-Amz-JSON-1.0; charset=utf-8", "", m.JSON},
		"the query form":                  {"application/x-www-form-urlencoded; charset=utf-8", "", nil},
		"another version of JSON":         {"application/x-amz-json-1.1", "", nil},
		"RPC v2 in another format":        {"application/cbor", "rpc-v2-json", nil},
		"JSON that calls itself CBOR":     {"application/x-amz-json-1.0", "rpc-v2-cbor", nil},
		"nothing said about the protocol": {"", "", nil},
	} {
		h := http.Header{}
		if c.media != "" {
			h.Set("Content-Type", c.media)
		}
		if c.rpc != "" {
			h.Set("Smithy-Protocol", c.rpc)
		}
		have, err := m.CodecFor(h)
		if have != c.want || (err == nil) != (c.want != nil) {
			t.Errorf("%s: have %v, %v", name, have, err)
		}
		if err == nil {
			continue
		}
		for _, word := range []string{"cloudwatch", `"` + c.media + `"`, `"` + c.rpc + `"`, "application/cbor", "rpc-v2-cbor", "application/x-amz-json-1.0"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: the refusal does not say %s: %v", name, word, err)
			}
		}
	}
}

func TestAServiceOfOneProtocolReadsWhateverItIsSent(t *testing.T) {
	m := wire.Mount{Name: "autoscaling", Codec: wire.Query("urn:x")}
	if have, err := m.CodecFor(http.Header{}); have != m.Codec || err != nil {
		t.Errorf("have %v, %v", have, err)
	}
}

func TestTheOperationOfATargetFollowsTheLastDot(t *testing.T) {
	for target, want := range map[string]wire.Target{
		"GraniteServiceVersion20100801.DescribeAlarms":                          {Key: "GraniteServiceVersion20100801", Operation: "DescribeAlarms"},
		"com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents":   {Key: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101", Operation: "LookupEvents"},
		"com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.DescribeTrails": {Key: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101", Operation: "DescribeTrails"},
	} {
		have, err := wire.TargetOf(&http.Request{Header: http.Header{"X-Amz-Target": {target}}}, nil)
		if have != want || err != nil {
			t.Errorf("%s: have %+v, %v", target, have, err)
		}
	}
	if _, err := wire.TargetOf(&http.Request{Header: http.Header{"X-Amz-Target": {"nothing"}}}, nil); err == nil {
		t.Error("a target without a dot was accepted")
	}
}

// inJSON is CloudWatch's real client told to speak JSON.
func inJSON(t transport) *cloudwatch.Client {
	return cloudwatch.NewFromConfig(configOf(t), func(o *cloudwatch.Options) {
		o.Protocol = awsjson.New10(cloudwatchschemas.GraniteServiceVersion20100801)
	})
}

// cloudWatchIn is CloudWatch with the client that speaks CBOR by itself, or JSON when told.
func cloudWatchIn(client func(transport) *cloudwatch.Client) service {
	return service{name: "cloudwatch", protocol: "cbor", codec: alarmMount().Codec, used: []string{"DescribeAlarms"},
		client: func(t transport) any { return client(t) }}
}

func inCBOR(t transport) *cloudwatch.Client { return cloudwatch.NewFromConfig(configOf(t)) }

// The makers' fixtures of CloudWatch are in CBOR only. What they say has to come through JSON the same, which is seen when it is
// written in CBOR again.
func TestAnswersOfCloudWatchSayTheSameInJSON(t *testing.T) {
	for op, raw := range snapshots(t, "cloudwatch", "response_snapshot", ".response.snap") {
		fixture, err := parseAnswer(raw)
		must(t, err)
		out, err := call(inCBOR(answering(fixture)), op, nil)
		must(t, err)
		written, err := alarmMount().JSON.Encode(wire.Reply{Operation: op, Output: out})
		must(t, err)
		out, err = call(inJSON(answering(written)), op, nil)
		must(t, err)
		again, err := alarmMount().Codec.Encode(wire.Reply{Operation: op, Output: out})
		must(t, err)
		if err := sameBody(cloudWatchIn(inCBOR), op, fixture.Body, again.Body); err != nil {
			t.Errorf("%s: %v, in JSON\n%s", op, err, written.Body)
		}
	}
}

func TestErrorsOfCloudWatchSayTheSameInJSON(t *testing.T) {
	for name, raw := range snapshots(t, "cloudwatch", "response_snapshot", ".error.snap") {
		fixture, err := parseAnswer(raw)
		must(t, err)
		want := failureFrom(cloudWatchIn(inCBOR), fixture)
		written := alarmMount().JSON.EncodeError("oracle", want)
		have := failureFrom(cloudWatchIn(inJSON), written)
		clearOverride(want)
		clearOverride(have)
		if written.Status != fixture.Status || !reflect.DeepEqual(have, want) {
			t.Errorf("%s: have %v, want %v, written was %d\n%s", name, have, want, written.Status, written.Body)
		}
	}
}

func TestRequestsToCloudWatchSayTheSameInJSON(t *testing.T) {
	for op, raw := range snapshots(t, "cloudwatch", "request_snapshot", ".request.snap") {
		parts := bytes.SplitN(raw, []byte("\n\n"), 3)
		if len(parts) != 3 {
			t.Fatalf("%s: fixture has no body", op)
		}
		in := newInput(inCBOR(nil), op)
		must(t, wire.NewCall(alarmMount().Codec, op, parts[2]).Decode(in))
		var sent []byte
		_, err := call(inJSON(func(r *http.Request) (*http.Response, error) {
			body, err := wire.ReadBody(r)
			sent = body
			return nil, errors.Join(err, errors.New("sent"))
		}), op, in)
		if err == nil || !strings.Contains(err.Error(), "sent") {
			t.Errorf("send %s: %v", op, err)
		}
		in = newInput(inJSON(nil), op)
		must(t, wire.NewCall(alarmMount().JSON, op, sent).Decode(in))
		again, err := alarmMount().Codec.Encode(wire.Reply{Operation: op, Output: in})
		must(t, err)
		if err := sameBody(cloudWatchIn(inCBOR), op, parts[2], again.Body); err != nil {
			t.Errorf("%s: %v, in JSON\n%s", op, err, sent)
		}
	}
}
