package notify_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// table is the embedded DynamoDB behind the real SDK client, without a network. It notes reads that may be stale.
type table struct {
	*dynamo.Tables
	client *dynamodb.Client
	stale  int
	broken error
}

func newTable(t *testing.T) *table {
	t.Helper()
	tb := &table{Tables: dynamo.New(dynamo.Options{Now: start})}
	tb.client = dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://table.invalid"), HTTPClient: tb, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
		EndpointDiscovery: dynamodb.EndpointDiscoveryOptions{EnableEndpointDiscovery: aws.EndpointDiscoveryDisabled},
	})
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	}
	if _, err := tb.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("state"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}); err != nil {
		t.Fatal(err)
	}
	return tb
}

// Do implements the SDK's HTTP client.
func (tb *table) Do(r *http.Request) (*http.Response, error) {
	if tb.broken != nil {
		return nil, tb.broken
	}
	body, err := wire.ReadBody(r)
	if err != nil {
		return nil, err
	}
	target, err := wire.TargetOf(r, body)
	if err != nil {
		return nil, err
	}
	if target.Operation == "GetItem" && !bytes.Contains(body, []byte(`"ConsistentRead":true`)) {
		tb.stale++
	}
	mount := tb.Mount()
	var res wire.Response
	out, err := mount.Service.Handle(r.Context(), wire.NewCall(mount.Codec, target.Operation, body))
	if err != nil {
		res = mount.Codec.EncodeError("req", err)
	} else if res, err = mount.Codec.Encode(wire.Reply{Operation: target.Operation, RequestID: "req", Output: out}); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: res.Status, Header: res.Header, Body: io.NopCloser(bytes.NewReader(res.Body)), ContentLength: int64(len(res.Body))}, nil
}

func TestTheTableKeepsWhatWasTold(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	m := notify.NewTable(tb.client, "state", start)
	c := notify.Condition{GroupARN: groupARN, Key: guard.PageConfig, Subject: "defaults mode"}
	rec, err := m.Load(ctx, c)
	if err != nil || rec.Version != 0 || len(rec.Told) != 0 {
		t.Fatalf("nothing stored: %+v, %v", rec, err)
	}
	rec.Busy, rec.BusySince = start().Add(time.Minute), start()
	if rec, err = m.Save(ctx, c, rec); err != nil || rec.Version != 1 {
		t.Fatalf("first save: %+v, %v", rec, err)
	}
	if have, err := m.Load(ctx, c); err != nil || !have.Busy.Equal(rec.Busy) || !have.BusySince.Equal(rec.BusySince) {
		t.Errorf("a claim is read as %+v, %v; want %+v", have, err, rec)
	}
	rec.Busy, rec.BusySince, rec.Told = time.Time{}, time.Time{}, map[string]notify.Told{"sns": {Since: start(), At: start().Add(time.Second), Urgent: true, Claimed: start().Add(time.Hour)}}
	if rec, err = m.Save(ctx, c, rec); err != nil || rec.Version != 2 {
		t.Fatalf("second save: %+v, %v", rec, err)
	}
	have, err := m.Load(ctx, c)
	if err != nil || have.Version != 2 || !have.Busy.IsZero() || !have.BusySince.IsZero() || have.Told["sns"] != rec.Told["sns"] {
		t.Errorf("have %+v, %v; want %+v", have, err, rec)
	}
	if tb.stale > 0 {
		t.Errorf("%d reads may have been stale", tb.stale)
	}
	items := tb.Items("state")
	if len(items) != 1 {
		t.Fatalf("%d items, want one for a condition", len(items))
	}
	expires, ok := items[0]["expires"].(*types.AttributeValueMemberN)
	if !ok || expires.Value != "1798630860" { // 30 days after the start
		t.Errorf("expires %+v", items[0]["expires"])
	}
}

func TestASlowerWriterIsToldSo(t *testing.T) {
	ctx, m := context.Background(), notify.NewTable(newTable(t).client, "state", start)
	c := notify.Condition{GroupARN: groupARN, Key: guard.PageHeld}
	stored, err := m.Save(ctx, c, notify.Record{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(ctx, c, notify.Record{}); !errors.Is(err, fault.Conflict) {
		t.Errorf("a first write after another: %v", err)
	}
	if _, err := m.Save(ctx, c, stored); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(ctx, c, stored); !errors.Is(err, fault.Conflict) {
		t.Errorf("a later write after another: %v", err)
	}
}

func TestConditionsHaveItemsOfTheirOwn(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	m := notify.NewTable(tb.client, "state", start)
	long := strings.Repeat("x", 2000)
	for _, c := range []notify.Condition{
		{GroupARN: groupARN, Key: "a"}, {GroupARN: groupARN, Key: "a", Subject: "b"}, {GroupARN: groupARN + "2", Key: "a"},
		{GroupARN: groupARN, Key: "a", Subject: long + "1"}, {GroupARN: groupARN, Key: "a", Subject: long + "2"},
	} {
		if _, err := m.Save(ctx, c, notify.Record{}); err != nil {
			t.Errorf("%.60v: %v", c, err)
		}
	}
	if n := len(tb.Items("state")); n != 5 {
		t.Errorf("%d items, want 5", n)
	}
}

// TestTheLedgerDoesNotSeeTheRecords is why the two can share a table: the ledger reads a group by ranges of keys.
func TestTheLedgerDoesNotSeeTheRecords(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	l, err := ledger.New(tb.client, ledger.Options{Table: "state", Now: start})
	if err != nil {
		t.Fatal(err)
	}
	m := notify.NewTable(tb.client, "state", start)
	if _, err := m.Save(ctx, notify.Condition{GroupARN: groupARN, Key: guard.PageHeld}, notify.Record{}); err != nil {
		t.Fatal(err)
	}
	rec, err := l.Load(ctx, groupARN)
	if err != nil || rec.Version != 0 {
		t.Errorf("the ledger reads %+v, %v", rec, err)
	}
	if _, err := l.Save(ctx, groupARN, runner.Record{State: guard.State{}}); err != nil {
		t.Error(err)
	}
}

func TestATableThatAnswersBadlyIsAnError(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	m := notify.NewTable(tb.client, "state", start)
	c := notify.Condition{GroupARN: groupARN, Key: guard.PageHeld}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for name, extra := range map[string]map[string]types.AttributeValue{
		"without a version": {"json": text("{}")},
		"without contents":  {"version": &types.AttributeValueMemberN{Value: "1"}},
		"with broken JSON":  {"version": &types.AttributeValueMemberN{Value: "1"}, "json": text("{")},
	} {
		item := map[string]types.AttributeValue{"pk": text(groupARN), "sk": text("notice#held#")}
		for k, v := range extra {
			item[k] = v
		}
		if _, err := tb.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("state"), Item: item}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Load(ctx, c); err == nil {
			t.Errorf("an item %s: no error", name)
		}
	}
	tb.broken = io.ErrUnexpectedEOF
	if _, err := m.Load(ctx, c); !errors.Is(err, fault.Unknown) {
		t.Errorf("load: %v", err)
	}
	if _, err := m.Save(ctx, c, notify.Record{}); !errors.Is(err, fault.Unknown) {
		t.Errorf("save: %v", err)
	}
}
