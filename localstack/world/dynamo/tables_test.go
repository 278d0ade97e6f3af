package dynamo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
)

func TestATableIsActiveForTheSDKWaiter(t *testing.T) {
	r := newRig(t)
	w := dynamodb.NewTableExistsWaiter(r.client)
	if err := w.Wait(context.Background(), &dynamodb.DescribeTableInput{TableName: aws.String("ledger")}, time.Second); err != nil {
		t.Fatalf("wait: %v", err)
	}
	out, err := r.client.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: aws.String("ledger")})
	if err != nil {
		t.Fatalf("describe table: %v", err)
	}
	if got := aws.ToString(out.Table.TableArn); got != "arn:aws:dynamodb:us-east-1:111122223333:table/ledger" {
		t.Errorf("ARN is %s", got)
	}
	if !aws.ToTime(out.Table.CreationDateTime).Equal(r.clock.at) {
		t.Errorf("created at %v, want %v", out.Table.CreationDateTime, r.clock.at)
	}
	if _, err := r.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: out.Table.TableArn, Key: dynamo.Item{"pk": str("a"), "n": num(1)}}); err != nil {
		t.Errorf("get item by ARN: %v", err)
	}
	list, err := r.client.ListTables(context.Background(), &dynamodb.ListTablesInput{Limit: aws.Int32(1)})
	if err != nil || len(list.TableNames) != 1 || aws.ToString(list.LastEvaluatedTableName) != "ledger" {
		t.Errorf("list tables: %v, %v", list, err)
	}
}

func TestExpiredItemsAreStillReturned(t *testing.T) {
	r := newRig(t)
	_, err := r.client.UpdateTimeToLive(context.Background(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String("plain"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		t.Fatalf("update time to live: %v", err)
	}
	r.put(t, "plain", dynamo.Item{"pk": str("a"), "expires": num(int(r.clock.at.Unix()))})
	r.clock.at = r.clock.at.Add(48 * time.Hour)
	if r.get(t, "plain", dynamo.Item{"pk": str("a")}) == nil {
		t.Error("the expired item is gone")
	}
	out, err := r.client.DescribeTimeToLive(context.Background(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("plain")})
	if err != nil || aws.ToString(out.TimeToLiveDescription.AttributeName) != "expires" {
		t.Errorf("describe time to live: %v, %v", out, err)
	}
}

func TestWrongItemsAndTablesAreRefused(t *testing.T) {
	cases := []struct {
		name  string
		table string
		item  dynamo.Item
		code  string
	}{
		{"no key", "plain", dynamo.Item{"seq": num(1)}, "ValidationException"},
		{"a key of another type", "plain", dynamo.Item{"pk": num(1)}, "ValidationException"},
		{"an empty key", "plain", dynamo.Item{"pk": str("")}, "ValidationException"},
		{"a key of 2,049 bytes", "plain", dynamo.Item{"pk": str(strings.Repeat("k", 2049))}, "ValidationException"},
		{"half a key", "ledger", dynamo.Item{"pk": str("a")}, "ValidationException"},
		{"an item over 400 KB", "plain", dynamo.Item{"pk": str("a"), "blob1": str(strings.Repeat("x", 400<<10))}, "ValidationException"},
		{"a table that does not exist", "nowhere", dynamo.Item{"pk": str("a")}, "ResourceNotFoundException"},
		{"an item of exactly 400 KB", "plain", dynamo.Item{"pk": str("a"), "b": str(strings.Repeat("x", 400<<10-4))}, ""},
	}
	r := newRig(t)
	for _, tc := range cases {
		_, err := r.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(tc.table), Item: tc.item})
		if code(err) != tc.code {
			t.Errorf("%s: put got %v, want %q", tc.name, err, tc.code)
		}
		if direct := code(r.tables.Put(tc.table, tc.item)); direct != tc.code {
			t.Errorf("%s: direct put got %q, want %q", tc.name, direct, tc.code)
		}
	}
	if _, err := r.update("SET b = :v", dynamo.Item{":v": str(strings.Repeat("x", 400<<10-3))}, ""); code(err) != "ValidationException" {
		t.Errorf("an update that makes the item one byte too large: %v", err)
	}
	key := dynamo.Item{"pk": str("a"), "extra": num(1)}
	if _, err := r.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("plain"), Key: key}); code(err) != "ValidationException" {
		t.Errorf("a key with too many attributes: %v", err)
	}
	in := &dynamodb.CreateTableInput{TableName: aws.String("plain"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}}}
	if _, err := r.client.CreateTable(context.Background(), in); code(err) != "ResourceInUseException" {
		t.Errorf("a table that exists: %v", err)
	}
}

func TestUnitsAreChargedByTheKilobyteAlsoForRefusedWrites(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	key := dynamo.Item{"pk": str("a")}
	large := dynamo.Item{"pk": str("a"), "blob1": str(strings.Repeat("x", 4500))}
	read := func(strong bool) func() error {
		return func() error {
			_, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("plain"), Key: key, ConsistentRead: aws.Bool(strong)})
			return err
		}
	}
	put := func(item dynamo.Item, condition *string) func() error {
		return func() error {
			_, err := r.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("plain"), Item: item, ConditionExpression: condition})
			return err
		}
	}
	steps := []struct {
		name        string
		do          func() error
		read, write float64
	}{
		{"a weak read of nothing", read(false), 0.5, 0},
		{"a small put", put(key, nil), 0, 1},
		{"a large put", put(large, nil), 0, 5},
		{"a refused put", put(key, aws.String("attribute_not_exists(pk)")), 0, 5},
		{"a strong read", read(true), 2, 0},
		{"a weak read", read(false), 1, 0},
		{"a small transaction", func() error { return r.transact("", putAction("b", "")) }, 0, 2},
		{"a put that shrinks", put(key, nil), 0, 5},
		{"a heartbeat of the simulator", func() error { return r.tables.Put("plain", large) }, 0, 0},
	}
	for _, s := range steps {
		before := r.tables.Usage("plain")
		if err := s.do(); err != nil && code(err) != "ConditionalCheckFailedException" {
			t.Fatalf("%s: %v", s.name, err)
		}
		after := r.tables.Usage("plain")
		if after.ReadUnits-before.ReadUnits != s.read || after.WriteUnits-before.WriteUnits != s.write {
			t.Errorf("%s: from %+v to %+v, want %v read and %v write units", s.name, before, after, s.read, s.write)
		}
	}
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("plain"), Key: key, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil || aws.ToFloat64(out.ConsumedCapacity.CapacityUnits) != 1 {
		t.Errorf("consumed capacity: %v, %v", out, err)
	}
}

func TestNobodySharesMemoryWithATable(t *testing.T) {
	r := newRig(t)
	item := dynamo.Item{"pk": str("a"), "m": &types.AttributeValueMemberM{Value: dynamo.Item{"x": num(1)}}}
	if err := r.tables.Put("plain", item); err != nil {
		t.Fatalf("put: %v", err)
	}
	item["m"].(*types.AttributeValueMemberM).Value["x"] = num(2)
	got := r.tables.Items("plain")[0]["m"].(*types.AttributeValueMemberM).Value
	if text(got["x"]) != "1" {
		t.Error("the table changed with the caller's item")
	}
	item["pk"].(*types.AttributeValueMemberS).Value = "other"
	if text(r.tables.Items("plain")[0]["pk"]) != "a" {
		t.Error("the table changed with the caller's value")
	}
	got["x"] = num(3)
	if text(r.tables.Items("plain")[0]["m"].(*types.AttributeValueMemberM).Value["x"]) != "1" {
		t.Error("the table changed with an item that it handed out")
	}
	if err := r.tables.Remove("plain", dynamo.Item{"pk": str("a")}); err != nil || len(r.tables.Items("plain")) != 0 {
		t.Errorf("remove: %v", err)
	}
}
