package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// Secrets that no log line and no error may show.
const (
	slackToken = "XSLACKTOKENX0123456789"
	pagerKey   = "XPAGERKEYX0123456789abcdef0123456"
)

func now() time.Time { return time.Date(2026, 11, 30, 11, 43, 5, 0, time.UTC) }

// world is what the function talks to: the state table, SNS and SSM over HTTP, and two webhooks over TLS.
type world struct {
	tables   *dynamo.Tables
	webhooks *httptest.Server

	mu        sync.Mutex
	topicDown bool
	slackDown bool
	published []url.Values
	slack     []string
	pager     []map[string]any
}

func newWorld(t *testing.T) (*world, *handler, *bytes.Buffer) {
	t.Helper()
	w := &world{tables: dynamo.New(dynamo.Options{Now: now})}
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	}
	if _, err := w.tables.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("state"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}); err != nil {
		t.Fatal(err)
	}
	w.webhooks = httptest.NewTLSServer(http.HandlerFunc(w.webhook))
	t.Cleanup(w.webhooks.Close)
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	h, err := assemble(notify.Config{
		StateTable: "state", Topic: "arn:aws:sns:us-east-1:111122223333:mail", ChatTopic: "arn:aws:sns:us-east-1:111122223333:chat",
		SlackSecret: "/secrets/slack", PagerDutySecret: "/aws/reference/secretsmanager/pager", PagerDutyURL: w.webhooks.URL + "/v2/enqueue",
	}, aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}, parts{now: now, webhooks: w.webhooks.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	h.log, h.metrics = telemetry.NewLogger(&out, function), telemetry.NewEmitter(&out, now)
	return w, h, &out
}

// ServeHTTP is AWS.
func (w *world) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, err := wire.ReadBody(req)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	if target, err := wire.TargetOf(req, body); err == nil && target.Key == w.tables.Mount().Key {
		w.table(rw, req, wire.NewCall(w.tables.Mount().Codec, target.Operation, body))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".GetParameter") {
		w.parameter(rw, body)
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("Action") != "Publish" {
		http.Error(rw, "not expected: "+string(body), http.StatusBadRequest)
		return
	}
	if w.topicDown {
		rw.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.published = append(w.published, form)
	_, _ = io.WriteString(rw, `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>`)
}

func (w *world) table(rw http.ResponseWriter, req *http.Request, call wire.Call) {
	codec := w.tables.Mount().Codec
	out, err := w.tables.Handle(req.Context(), call)
	var res wire.Response
	if err != nil {
		res = codec.EncodeError("req", err)
	} else if res, err = codec.Encode(wire.Reply{Operation: call.Operation, RequestID: "req", Output: out}); err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	for k, v := range res.Header {
		rw.Header()[k] = v
	}
	rw.WriteHeader(res.Status)
	_, _ = rw.Write(res.Body) // the client sees a broken answer
}

func (w *world) parameter(rw http.ResponseWriter, body []byte) {
	var in struct{ Name string }
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	value := map[string]string{
		"/secrets/slack": w.webhooks.URL + "/services/" + slackToken, "/aws/reference/secretsmanager/pager": pagerKey,
	}[in.Name]
	rw.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_, _ = fmt.Fprintf(rw, `{"Parameter":{"Name":%q,"Type":"SecureString","Value":%q}}`, in.Name, value)
}

// webhook is Slack and PagerDuty. One that is down answers with what it was sent, as some proxies do.
func (w *world) webhook(rw http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	var body map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		http.Error(rw, err.Error(), http.StatusBadRequest)
	case w.slackDown && strings.HasPrefix(req.URL.Path, "/services/"):
		http.Error(rw, "cannot reach "+req.URL.String(), http.StatusBadGateway)
	case req.URL.Path == "/services/"+slackToken:
		w.slack = append(w.slack, body["text"].(string))
	case req.URL.Path == "/v2/enqueue" && body["routing_key"] == pagerKey:
		w.pager = append(w.pager, body)
		rw.WriteHeader(http.StatusAccepted)
	default:
		http.Error(rw, "nobody here", http.StatusNotFound)
	}
}

func (w *world) counts() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("sns %d slack %d pagerduty %d", len(w.published), len(w.slack), len(w.pager))
}

func sample(t *testing.T) json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "notice-held.json"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func invocation() context.Context {
	return lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
}

func wantNoSecret(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, s := range []string{slackToken, pagerKey} {
			if strings.Contains(text, s) {
				t.Errorf("a secret is shown in %s", text)
			}
		}
	}
}

func TestANoticeReachesEveryChannelOnce(t *testing.T) {
	w, h, out := newWorld(t)
	for range 2 {
		if err := h.Handle(invocation(), sample(t)); err != nil {
			t.Fatal(err)
		}
	}
	if have := w.counts(); have != "sns 2 slack 1 pagerduty 1" {
		t.Errorf("%s, want one to each topic and webhook", have)
	}
	bodies := map[string]string{}
	for _, form := range w.published {
		bodies[form.Get("TopicArn")] = form.Get("Message")
	}
	if mail := bodies["arn:aws:sns:us-east-1:111122223333:mail"]; !strings.Contains(mail, "6 of 8 are bad") || !strings.Contains(mail, " HOLDFAST_STATE_TABLE=state holdfast release orders-web-asg") {
		t.Errorf("the mail is\n%s", mail)
	}
	if chat := bodies["arn:aws:sns:us-east-1:111122223333:chat"]; !strings.HasPrefix(chat, `{"version":"1.0","source":"custom"`) {
		t.Errorf("the chat is\n%s", chat)
	}
	lines := out.String()
	for _, want := range []string{`"delivered":["sns","chat","slack","pagerduty"]`, `"request_id":"req-1"`, `"pages":4`, `"cold_start":true`, `"skipped":{"chat":"told already`} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, lines)
		}
	}
	wantNoSecret(t, lines)
	for _, item := range w.tables.Items("state") {
		wantNoSecret(t, fmt.Sprint(item["json"].(*types.AttributeValueMemberS).Value))
	}
}

func TestChannelsThatFailAreTriedAgainAlone(t *testing.T) {
	w, h, out := newWorld(t)
	w.slackDown, w.topicDown = true, true
	err := h.Handle(invocation(), sample(t))
	if !errors.Is(err, fault.Unknown) || !strings.Contains(err.Error(), "send to slack") || !strings.Contains(err.Error(), "send to sns") {
		t.Fatalf("error %v", err)
	}
	wantNoSecret(t, err.Error(), out.String())
	if have := w.counts(); have != "sns 0 slack 0 pagerduty 1" {
		t.Errorf("%s, want PagerDuty alone", have)
	}
	if !strings.Contains(out.String(), `"page_failures":3`) {
		t.Errorf("no three failures in\n%s", out.String())
	}
	w.slackDown, w.topicDown = false, false
	if err := h.Handle(invocation(), sample(t)); err != nil {
		t.Fatal(err)
	}
	if have := w.counts(); have != "sns 2 slack 1 pagerduty 1" {
		t.Errorf("%s, want the rest once and PagerDuty not again", have)
	}
}

func TestAnEventThatIsNoNoticeIsRefused(t *testing.T) {
	w, h, out := newWorld(t)
	raw, err := os.ReadFile(filepath.Join("..", "..", "events", "alarm-state-change-single-metric.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Handle(context.Background(), raw); err == nil {
		t.Error("no error")
	}
	if have := w.counts(); have != "sns 0 slack 0 pagerduty 0" || !strings.Contains(out.String(), "event refused") {
		t.Errorf("%s\n%s", have, out.String())
	}
}

func TestAssembleNeedsAChannel(t *testing.T) {
	if _, err := assemble(notify.Config{StateTable: "state"}, aws.Config{}, parts{now: now}); err == nil {
		t.Error("a function that could tell nobody was made")
	}
}
