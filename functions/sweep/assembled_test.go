package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/functions/internal/assemble"
	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// region answers the assembled clients over HTTP: no group carries the tag, the state table is empty, nothing else is granted.
type region struct {
	tables *dynamo.Tables
	listed error

	mu    sync.Mutex
	calls []string
}

func (r *region) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := wire.ReadBody(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	target, err := wire.TargetOf(req, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.calls = append(r.calls, target.Operation)
	r.mu.Unlock()
	codec := wire.Query("http://autoscaling.amazonaws.com/doc/2011-01-01/")
	var out any
	err = r.listed
	switch {
	case target.Key == r.tables.Mount().Key:
		codec = r.tables.Mount().Codec
		out, err = r.tables.Handle(req.Context(), wire.NewCall(codec, target.Operation, body))
	case target.Operation == "DescribeAutoScalingGroups" && err == nil:
		out = &autoscaling.DescribeAutoScalingGroupsOutput{}
	case err == nil:
		err = &wire.Error{Code: "AccessDenied", Message: "not granted: " + target.Operation, Status: http.StatusForbidden}
	}
	var res wire.Response
	if err != nil {
		res = codec.EncodeError("req", err)
	} else if res, err = codec.Encode(wire.Reply{Operation: target.Operation, RequestID: "req", Output: out}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(res.Status)
	_, _ = w.Write(res.Body) // the client sees a broken answer
}

func assembled(t *testing.T, r *region) (*handler, *bytes.Buffer) {
	t.Helper()
	r.tables = dynamo.New(dynamo.Options{Now: tick})
	_, err := r.tables.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("state"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatalf("create table: %v", err)
	}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	h := newHandler(assemble.New(config.Config{StateTable: "state", HeartbeatTable: "beats", EventBus: "bus", Shards: 1, SweepInterval: time.Minute, Concurrency: 2}, aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMode: aws.RetryModeAdaptive,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}, tick))
	var out bytes.Buffer
	h.log, h.metrics = telemetry.NewLogger(&out, function), telemetry.NewEmitter(&out, tick)
	return h, &out
}

func TestTheAssembledFunctionSweepsARegionWithoutGroups(t *testing.T) {
	r := &region{}
	h, out := assembled(t, r)
	sum, err := h.Handle(context.Background(), sample(t, "scheduled-event-rule.json"))
	if err != nil || sum.Looked != 0 || sum.Failed != 0 {
		t.Fatalf("summary %+v, %v", sum, err)
	}
	if calls := strings.Join(r.calls, " "); calls != "DescribeAutoScalingGroups Query" {
		t.Errorf("calls %q, want the list of groups and the Region's item", calls)
	}
	if !strings.Contains(out.String(), `"sweep_completed":1`) {
		t.Errorf("no completed sweep in\n%s", out.String())
	}
}

func TestTheAssembledFunctionFailsWhenItMayNotListGroups(t *testing.T) {
	r := &region{listed: &wire.Error{Code: "AccessDenied", Message: "not authorized to perform: autoscaling:DescribeAutoScalingGroups", Status: http.StatusForbidden}}
	h, out := assembled(t, r)
	_, err := h.Handle(context.Background(), json.RawMessage(`{}`))
	if !errors.Is(err, fault.Refused) || strings.Contains(out.String(), "sweep_completed") {
		t.Errorf("have %v and\n%s", err, out.String())
	}
}
