package dynamo_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
)

// clock is a time that moves only when a test says so.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

// rig is a set of tables with a real SDK client in front of it.
type rig struct {
	tables *dynamo.Tables
	client *dynamodb.Client
	clock  *clock
}

// newRig makes a table "ledger" with the string key pk and the number key n, and a table "plain" with pk alone.
func newRig(t *testing.T) *rig {
	t.Helper()
	c := newClock()
	r := &rig{tables: dynamo.New(dynamo.Options{Now: c.now, PageBytes: 2000}), clock: c}
	server := world.New(world.Options{Now: c.now})
	server.Mount(r.tables.Mount())
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	r.client = dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(listener.URL),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer:     aws.NopRetryer{},
		// The client warns, for example, of an answer without its checksum.
		Logger: logging.LoggerFunc(func(_ logging.Classification, format string, v ...any) { t.Errorf("the client logs: "+format, v...) }),
	})
	for _, in := range []*dynamodb.CreateTableInput{
		{
			TableName: aws.String("ledger"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
				{AttributeName: aws.String("n"), AttributeType: types.ScalarAttributeTypeN},
			},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("n"), KeyType: types.KeyTypeRange},
			},
		},
		{
			TableName: aws.String("plain"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		},
	} {
		if _, err := r.client.CreateTable(context.Background(), in); err != nil {
			t.Fatalf("create table: %v", err)
		}
	}
	return r
}

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func num(v int) types.AttributeValue    { return &types.AttributeValueMemberN{Value: strconv.Itoa(v)} }
func dec(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

func (r *rig) put(t *testing.T, table string, item dynamo.Item) {
	t.Helper()
	if _, err := r.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatalf("put item: %v", err)
	}
}

func (r *rig) get(t *testing.T, table string, key dynamo.Item) dynamo.Item {
	t.Helper()
	out, err := r.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatalf("get item: %v", err)
	}
	return out.Item
}

func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}

// code is the error code that a client matches on, "" for success.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	if err != nil {
		return "not an API error: " + err.Error()
	}
	return ""
}
