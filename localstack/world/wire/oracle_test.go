package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbschemas "github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventbridgeschemas "github.com/aws/aws-sdk-go-v2/service/eventbridge/schemas"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqsschemas "github.com/aws/aws-sdk-go-v2/service/sqs/schemas"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmschemas "github.com/aws/aws-sdk-go-v2/service/ssm/schemas"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/fxamacker/cbor/v2"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// The oracle: every SDK module ships the makers' own wire fixtures, one request
// and one answer per operation and one answer per error. They judge this package
// in three ways.
//
//   - answers: the real client reads the fixture, wire writes what it read, the
//     real client reads that; both results must be equal.
//   - errors: the same with the modeled errors.
//   - requests: wire reads the fixture into the typed input, the real client
//     writes that input; the bytes must be those of the fixture.

// service is one SDK module under test.
type service struct {
	name     string
	protocol string
	codec    wire.Codec
	// client returns the real client, with its transport replaced.
	client func(transport) any
	// used are the operations the repository depends on. All operations of the
	// module are judged; these must not be among the expected gaps.
	used []string
}

type transport func(*http.Request) (*http.Response, error)

// Do implements the SDK's HTTP client interface.
func (t transport) Do(r *http.Request) (*http.Response, error) { return t(r) }

// bare lets a call through whose input is empty or filled with placeholders: no
// validation, and no endpoint, signature or retry either, which look at the input.
func bare(s *middleware.Stack) error {
	s.Finalize.Clear()
	for _, id := range s.Initialize.List() {
		if id == "OperationInputValidation" {
			_, err := s.Initialize.Remove(id)
			return err
		}
	}
	return nil
}

func configOf(t transport) aws.Config {
	return aws.Config{
		Region:                      "us-east-1",
		BaseEndpoint:                aws.String("http://oracle.invalid"),
		HTTPClient:                  t,
		RequestMinCompressSizeBytes: 10240,
		APIOptions:                  []func(*middleware.Stack) error{bare},
	}
}

func services() []service {
	return []service{
		{
			name: "autoscaling", protocol: "query", codec: wire.Query("http://autoscaling.amazonaws.com/doc/2011-01-01/"),
			client: func(t transport) any { return autoscaling.NewFromConfig(configOf(t)) },
			used: []string{"DescribeAutoScalingGroups", "DescribeScalingActivities", "DescribeInstanceRefreshes",
				"SetInstanceHealth", "SuspendProcesses", "ResumeProcesses", "DescribeAutoScalingInstances"},
		},
		{
			name: "elasticloadbalancingv2", protocol: "query", codec: wire.Query("http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"),
			client: func(t transport) any { return elasticloadbalancingv2.NewFromConfig(configOf(t)) },
			used:   []string{"DescribeTargetHealth", "DescribeTargetGroups", "DescribeTargetGroupAttributes", "DescribeTags", "AddTags"},
		},
		{
			name: "cloudwatch", protocol: "cbor", codec: wire.CBOR(cloudwatchschemas.GraniteServiceVersion20100801),
			client: func(t transport) any { return cloudwatch.NewFromConfig(configOf(t)) },
			used:   []string{"DescribeAlarms", "DescribeAlarmsForMetric", "SetAlarmState", "GetMetricData", "PutMetricAlarm", "PutMetricData"},
		},
		{
			name: "ssm", protocol: "json", codec: wire.JSON11(ssmschemas.AmazonSSM),
			client: func(t transport) any { return ssm.NewFromConfig(configOf(t)) },
			used:   []string{"GetParameter", "GetParameters", "GetParametersByPath", "PutParameter", "DeleteParameter"},
		},
		{
			name: "dynamodb", protocol: "json", codec: wire.JSON10(dynamodbschemas.DynamoDB_20120810),
			client: func(t transport) any {
				return dynamodb.NewFromConfig(configOf(t), func(o *dynamodb.Options) {
					o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryDisabled
				})
			},
			used: []string{"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "BatchGetItem",
				"TransactWriteItems", "CreateTable", "DescribeTable"},
		},
		{
			name: "eventbridge", protocol: "json", codec: wire.JSON11(eventbridgeschemas.AWSEvents),
			client: func(t transport) any { return eventbridge.NewFromConfig(configOf(t)) },
			used:   []string{"PutEvents", "PutRule", "PutTargets"},
		},
		{
			name: "sns", protocol: "query", codec: wire.Query("http://sns.amazonaws.com/doc/2010-03-31/"),
			client: func(t transport) any { return sns.NewFromConfig(configOf(t)) },
			used:   []string{"CreateTopic", "Subscribe", "GetTopicAttributes", "Publish"},
		},
		{
			name: "sqs", protocol: "json", codec: wire.JSON10(sqsschemas.AmazonSQS),
			client: func(t transport) any {
				return sqs.NewFromConfig(configOf(t), func(o *sqs.Options) { o.DisableMessageChecksumValidation = true })
			},
			used: []string{"GetQueueAttributes", "SendMessage", "ReceiveMessage", "DeleteMessage"},
		},
	}
}

// gaps lists the fixtures wire does not reproduce, by "service/kind/name", with
// the reason. A gap that has closed fails the test.
func gaps() map[string]string {
	return map[string]string{
		"sns/error/VerificationException": "it has a member beside the message, and no operation here verifies a phone number",
	}
}

func snapshots(t *testing.T, module, dir, suffix string) map[string][]byte {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2/service/"+module).Output()
	if err != nil {
		t.Fatalf("find module %s: %v", module, err)
	}
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), dir, "*"+suffix))
	if err != nil || len(paths) == 0 {
		t.Fatalf("module %s has no %s: %v", module, suffix, err)
	}
	found := map[string][]byte{}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(p), suffix)] = raw
	}
	return found
}

// judge runs one comparison and holds it against the list of expected gaps.
func judge(t *testing.T, key string, compare func() error) {
	t.Helper()
	reason, expected := gaps()[key]
	err := compare()
	if err != nil && !expected {
		t.Errorf("%s: %v", key, err)
	}
	if err == nil && expected {
		t.Errorf("%s: this gap has closed, remove it from the list (was: %s)", key, reason)
	}
}

// call invokes an operation of the real client by name.
func call(client any, operation string, in any) (any, error) {
	method := reflect.ValueOf(client).MethodByName(operation)
	if !method.IsValid() {
		return nil, fmt.Errorf("client has no operation %s", operation)
	}
	arg := reflect.New(method.Type().In(1).Elem())
	if in != nil {
		arg = reflect.ValueOf(in)
	}
	results := method.Call([]reflect.Value{reflect.ValueOf(context.Background()), arg})
	if err, ok := results[1].Interface().(error); ok && err != nil {
		return nil, err
	}
	out := results[0]
	out.Elem().FieldByName("ResultMetadata").Set(reflect.ValueOf(middleware.Metadata{}))
	return out.Interface(), nil
}

func newInput(client any, operation string) any {
	return reflect.New(reflect.ValueOf(client).MethodByName(operation).Type().In(1).Elem()).Interface()
}

func answering(resp wire.Response) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode:    resp.Status,
			Header:        resp.Header.Clone(),
			Body:          io.NopCloser(bytes.NewReader(resp.Body)),
			ContentLength: int64(len(resp.Body)),
			Request:       r,
		}, nil
	}
}

func TestAnswersOfTheSDKFixturesSurviveWriting(t *testing.T) {
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			found := snapshots(t, s.name, "response_snapshot", ".response.snap")
			for _, op := range s.used {
				// These two are checked against MD5 sums by the client, which is why
				// the module has no fixture; messages_test.go covers them.
				if found[op] == nil && op != "SendMessage" && op != "ReceiveMessage" {
					t.Errorf("no fixture for %s", op)
				}
			}
			t.Logf("%d answers", len(found))
			for op, raw := range found {
				judge(t, s.name+"/answer/"+op, func() error { return sameAnswer(s, op, raw) })
			}
		})
	}
}

func sameAnswer(s service, op string, raw []byte) error {
	fixture, err := parseAnswer(raw)
	if err != nil {
		return err
	}
	want, err := call(s.client(answering(fixture)), op, nil)
	if err != nil {
		return fmt.Errorf("read fixture: %w", err)
	}
	written, err := s.codec.Encode(wire.Reply{Operation: op, RequestID: "oracle", Output: want})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	got, err := call(s.client(answering(written)), op, nil)
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("differs after writing:\n%s", written.Body)
	}
	return sameBody(s, op, fixture.Body, written.Body)
}

// sameBody compares what stands on the wire. The client alone is no strict judge:
// it ignores the case of element names, and the names of list items altogether.
func sameBody(s service, op string, want, got []byte) error {
	wantTree, err := answerTree(s, op, want)
	if err != nil {
		return err
	}
	gotTree, err := answerTree(s, op, got)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(wantTree, gotTree) {
		return fmt.Errorf("the fixture has\n%s\nwritten was\n%s", want, got)
	}
	return nil
}

func answerTree(s service, op string, body []byte) (any, error) {
	if s.protocol != "query" {
		if len(bytes.TrimSpace(body)) == 0 || string(body) == "{}" {
			return nil, nil // an operation without output may send either
		}
		return tree(s, body)
	}
	var root element
	if err := xml.Unmarshal(body, &root); err != nil {
		return nil, err
	}
	for _, child := range root.Children {
		if child.XMLName.Local == op+"Result" {
			return child.flat(), nil
		}
	}
	return nil, nil
}

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

// flat writes an element without namespaces, members sorted, list items in order.
func (e element) flat() string {
	children := make([]string, 0, len(e.Children))
	for _, c := range e.Children {
		children = append(children, c.flat())
	}
	sort.SliceStable(children, func(i, j int) bool {
		a, _, _ := strings.Cut(children[i], "[")
		b, _, _ := strings.Cut(children[j], "[")
		return a < b
	})
	return e.XMLName.Local + "[" + e.Text + strings.Join(children, "") + "]"
}

func TestErrorsOfTheSDKFixturesSurviveWriting(t *testing.T) {
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			found := snapshots(t, s.name, "response_snapshot", ".error.snap")
			t.Logf("%d errors", len(found))
			for name, raw := range found {
				judge(t, s.name+"/error/"+name, func() error { return sameError(s, name, raw) })
			}
		})
	}
}

func sameError(s service, name string, raw []byte) error {
	fixture, err := parseAnswer(raw)
	if err != nil {
		return err
	}
	want := failureFrom(s, fixture)
	written := s.codec.EncodeError("oracle", want)
	got := failureFrom(s, written)
	if modeled := reflect.TypeOf(want).Elem().Name(); modeled != name {
		return fmt.Errorf("fixture read as %s: %s", modeled, want.Error())
	}
	if written.Status != fixture.Status {
		return fmt.Errorf("status %d, want %d", written.Status, fixture.Status)
	}
	if reflect.TypeOf(want) != reflect.TypeOf(got) || want.ErrorMessage() != got.ErrorMessage() {
		return fmt.Errorf("differs after writing: %s, want %s\n%s", got.Error(), want.Error(), written.Body)
	}
	clearOverride(want)
	clearOverride(got)
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("members differ after writing:\n%s", written.Body)
	}
	return nil
}

// clearOverride forgets the older query code, which the fixtures do not send.
func clearOverride(err smithy.APIError) {
	if f := reflect.ValueOf(err).Elem().FieldByName("ErrorCodeOverride"); f.IsValid() {
		f.SetZero()
	}
}

func failureFrom(s service, resp wire.Response) smithy.APIError {
	_, err := call(s.client(answering(resp)), s.used[0], nil)
	var api smithy.APIError
	if !errors.As(err, &api) {
		return &smithy.GenericAPIError{Code: "NotAnAPIError", Message: fmt.Sprint(err)}
	}
	return api
}

func TestRequestsOfTheSDKFixturesAreReadWhole(t *testing.T) {
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			found := snapshots(t, s.name, "request_snapshot", ".request.snap")
			for _, op := range s.used {
				raw, ok := found[op]
				if !ok {
					t.Errorf("no fixture for %s", op)
					continue
				}
				judge(t, s.name+"/request/"+op, func() error { return sameRequest(s, op, raw) })
			}
		})
	}
}

func sameRequest(s service, op string, raw []byte) error {
	_, rest, ok := bytes.Cut(raw, []byte("\n\n"))
	if !ok {
		return errors.New("fixture has no headers")
	}
	_, want, ok := bytes.Cut(rest, []byte("\n\n"))
	if !ok {
		return errors.New("fixture has no body")
	}
	sent := []byte("nothing was sent")
	client := s.client(func(r *http.Request) (*http.Response, error) {
		body, err := wire.ReadBody(r)
		sent = body
		return nil, errors.Join(err, errors.New("sent"))
	})
	in := newInput(client, op)
	if err := wire.NewCall(s.codec, op, want).Decode(in); err != nil {
		return err
	}
	if _, err := call(client, op, in); err == nil || !strings.Contains(err.Error(), "sent") {
		return fmt.Errorf("send: %w", err)
	}
	sentTree, err := tree(s, sent)
	if err != nil {
		return err
	}
	wantTree, err := tree(s, want)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(sentTree, wantTree) {
		return fmt.Errorf("the client sends\n%s\nthe fixture says\n%s", sent, want)
	}
	return nil
}

// tree parses a body without the SDK and without wire, so that the order of
// members does not matter.
func tree(s service, body []byte) (any, error) {
	var v any
	switch s.protocol {
	case "query":
		return url.ParseQuery(string(body))
	case "json":
		err := json.Unmarshal(body, &v)
		return v, err
	case "cbor":
		err := cbor.Unmarshal(body, &v)
		return v, err
	}
	return nil, fmt.Errorf("protocol %q is unknown", s.protocol)
}

func parseAnswer(raw []byte) (wire.Response, error) {
	head, body, ok := bytes.Cut(raw, []byte("\n\n"))
	if !ok {
		return wire.Response{}, errors.New("fixture has no body")
	}
	lines := strings.Split(string(head), "\n")
	status, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return wire.Response{}, fmt.Errorf("parse status: %w", err)
	}
	resp := wire.Response{Status: status, Header: http.Header{}, Body: body}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		resp.Header.Add(name, value)
	}
	return resp, nil
}
