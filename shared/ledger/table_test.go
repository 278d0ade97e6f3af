package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/ledger"
)

const tableName = "state"

// table is the embedded DynamoDB behind the real SDK client, without a network. Faults hit one HTTP request each, so that the
// client's own retries are part of what is tested.
type table struct {
	*dynamo.Tables
	client *dynamodb.Client

	mu sync.Mutex
	// eventual counts queries that did not ask for a strongly consistent answer.
	eventual int
	// before and after are asked for each request: the operation, and how often it was requested, from 1. An error of before
	// keeps the request from the table; one of after loses the reply.
	before, after func(op string, n int) error
	count         map[string]int
	now           time.Time
}

func newTable(t *testing.T) *table {
	t.Helper()
	tb := &table{count: map[string]int{}, now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	tb.Tables = dynamo.New(dynamo.Options{Now: func() time.Time { return tb.now }})
	tb.client = dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://table.invalid"), HTTPClient: tb,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
		EndpointDiscovery: dynamodb.EndpointDiscoveryOptions{EnableEndpointDiscovery: aws.EndpointDiscoveryDisabled},
	})
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := tb.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatalf("create table: %v", err)
	}
	return tb
}

func (tb *table) ledger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := ledger.New(tb.client, ledger.Options{Table: tableName, Now: func() time.Time { return tb.now }})
	if err != nil {
		t.Fatalf("new ledger: %v", err)
	}
	return l
}

// Do implements the SDK's HTTP client.
func (tb *table) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	body, err := wire.ReadBody(r)
	if err != nil {
		return nil, err
	}
	target, err := wire.TargetOf(r, body)
	if err != nil {
		return nil, err
	}
	op := target.Operation
	tb.mu.Lock()
	tb.count[op]++
	n := tb.count[op]
	if op == "Query" && !bytes.Contains(body, []byte(`"ConsistentRead":true`)) {
		tb.eventual++
	}
	tb.mu.Unlock()
	if tb.before != nil {
		if err := tb.before(op, n); err != nil {
			return tb.answerOrBreak(err)
		}
	}
	mount := tb.Mount()
	var res wire.Response
	out, err := mount.Service.Handle(r.Context(), wire.NewCall(mount.Codec, op, body))
	if err != nil {
		res = mount.Codec.EncodeError("req", err)
	} else if res, err = mount.Codec.Encode(wire.Reply{Operation: op, RequestID: "req", Output: out}); err != nil {
		return nil, err
	}
	if tb.after != nil {
		if err := tb.after(op, n); err != nil {
			return tb.answerOrBreak(err)
		}
	}
	return response(res), nil
}

// answerOrBreak turns a planned fault into a server's answer, or else into a broken connection.
func (tb *table) answerOrBreak(err error) (*http.Response, error) {
	if planned, ok := errors.AsType[*wire.Error](err); ok {
		return response(tb.Mount().Codec.EncodeError("req", planned)), nil
	}
	return nil, err
}

func response(r wire.Response) *http.Response {
	return &http.Response{StatusCode: r.Status, Header: r.Header, Body: io.NopCloser(bytes.NewReader(r.Body)), ContentLength: int64(len(r.Body))}
}

// on returns a fault plan that gives err for the n-th request of one operation.
func on(op string, n int, err error) func(string, int) error {
	return func(o string, i int) error {
		if o == op && i == n {
			return err
		}
		return nil
	}
}

// always is like on for every request of the operation.
func always(op string, err error) func(string, int) error {
	return func(o string, _ int) error {
		if o == op {
			return err
		}
		return nil
	}
}

func (tb *table) sortKeys() []string {
	var out []string
	for _, i := range tb.Items(tableName) {
		out = append(out, i["sk"].(*types.AttributeValueMemberS).Value)
	}
	return out
}
