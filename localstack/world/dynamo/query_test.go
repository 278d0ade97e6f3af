package dynamo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
)

// filled has the rows n = 1 to 12 of "g" (odd ones marked), inserted out of order, and one row of another group.
func filled(t *testing.T) *rig {
	r := newRig(t)
	for _, n := range []int{3, 12, 1, 10, 2, 11, 9, 4, 8, 5, 7, 6} {
		item := dynamo.Item{"pk": str("g"), "n": num(n), "who": str(fmt.Sprintf("i-%02d", n))}
		if n%2 == 1 {
			item["marked"] = num(1)
		}
		r.put(t, "ledger", item)
	}
	r.put(t, "ledger", dynamo.Item{"pk": str("other"), "n": num(5)})
	return r
}

func query(condition string, vals dynamo.Item) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String("ledger"), KeyConditionExpression: aws.String(condition),
		ExpressionAttributeValues: vals, ConsistentRead: aws.Bool(true),
	}
}

func numbers(items []map[string]types.AttributeValue) string {
	var out []string
	for _, i := range items {
		out = append(out, text(i["n"]))
	}
	return strings.Join(out, " ")
}

func TestQueriesReadAPartitionInNumericOrder(t *testing.T) {
	cases := []struct {
		condition string
		values    dynamo.Item
		backward  bool
		want      string
	}{
		{"pk = :g", dynamo.Item{}, false, "1 2 3 4 5 6 7 8 9 10 11 12"},
		{"pk = :g", dynamo.Item{}, true, "12 11 10 9 8 7 6 5 4 3 2 1"},
		{"pk = :g AND n > :a", dynamo.Item{":a": num(9)}, false, "10 11 12"},
		{"n <= :a AND pk = :g", dynamo.Item{":a": num(2)}, false, "1 2"},
		{"(pk = :g) AND (n BETWEEN :a AND :b)", dynamo.Item{":a": num(8), ":b": num(11)}, true, "11 10 9 8"},
		{"pk = :g AND n = :a", dynamo.Item{":a": dec("10.0")}, false, "10"},
		{"pk = :g AND n > :a", dynamo.Item{":a": num(99)}, false, ""},
	}
	r := filled(t)
	for _, tc := range cases {
		tc.values[":g"] = str("g")
		in := query(tc.condition, tc.values)
		in.ScanIndexForward = aws.Bool(!tc.backward)
		out, err := r.client.Query(context.Background(), in)
		if err != nil {
			t.Fatalf("query %q: %v", tc.condition, err)
		}
		if got := numbers(out.Items); got != tc.want {
			t.Errorf("query %q: %q, want %q", tc.condition, got, tc.want)
		}
	}
}

func TestPagesFollowTheLimitInBothDirections(t *testing.T) {
	for _, forward := range []bool{true, false} {
		r := filled(t)
		in := query("pk = :g", dynamo.Item{":g": str("g"), ":one": num(1)})
		in.FilterExpression, in.Limit, in.ScanIndexForward = aws.String("marked = :one"), aws.Int32(1), aws.Bool(forward)
		var all []map[string]types.AttributeValue
		pages, empty := 0, 0
		p := dynamodb.NewQueryPaginator(r.client, in)
		for p.HasMorePages() {
			out, err := p.NextPage(context.Background())
			if err != nil {
				t.Fatalf("page %d: %v", pages, err)
			}
			pages++
			if out.Count == 0 {
				empty++
			}
			all = append(all, out.Items...)
		}
		want := "1 3 5 7 9 11"
		if !forward {
			want = "11 9 7 5 3 1"
		}
		// Twelve pages of one row, of which the filter empties six, and a last one that finds the end.
		if got := numbers(all); got != want || pages != 13 || empty != 7 {
			t.Errorf("forward %v: %q in %d pages, %d of them empty; want %q in 13, 7 empty", forward, got, pages, empty, want)
		}
	}
}

func TestAPageEndsAtItsSizeBeforeTheFilter(t *testing.T) {
	r := newRig(t) // pages of 2,000 bytes
	for n := range 6 {
		r.put(t, "ledger", dynamo.Item{"pk": str("g"), "n": num(n + 1), "blob1": str(strings.Repeat("x", 900))})
	}
	in := query("pk = :g", dynamo.Item{":g": str("g"), ":no": num(1)})
	in.FilterExpression = aws.String("absent = :no")
	out, err := r.client.Query(context.Background(), in)
	if err != nil {
		t.Fatalf("query: %v", err)
	}
	if out.Count != 0 || out.ScannedCount != 3 || text(out.LastEvaluatedKey["n"]) != "3" {
		t.Errorf("count %d, scanned %d, last %v; want an empty page that stops at 3", out.Count, out.ScannedCount, out.LastEvaluatedKey)
	}
}

func TestWrongQueriesAreRefused(t *testing.T) {
	g := dynamo.Item{":g": str("g")}
	with := func(name string, v types.AttributeValue) dynamo.Item { return dynamo.Item{":g": str("g"), name: v} }
	cases := []struct {
		name    string
		in      *dynamodb.QueryInput
		message string
	}{
		{"no partition key", query("n = :g", dynamo.Item{":g": num(1)}), "missed key schema element: pk"},
		{"a range of partition keys", query("pk > :g", g), "not supported"},
		{"another attribute", query("pk = :g AND who = :w", with(":w", str("i"))), "missed key schema element"},
		{"not equal", query("pk = :g AND n <> :w", with(":w", num(1))), "Invalid operator"},
		{"or", query("pk = :g OR n = :w", with(":w", num(1))), "Invalid operator"},
		{"a key of the wrong type", query("pk = :g AND n = :w", with(":w", str("1"))), "does not match schema type"},
		{"an index", func() *dynamodb.QueryInput { q := query("pk = :g", g); q.IndexName = aws.String("x"); return q }(), "specified index"},
		{"a filter on the key", func() *dynamodb.QueryInput {
			q := query("pk = :g", with(":w", num(1)))
			q.FilterExpression = aws.String("n = :w")
			return q
		}(), "non-primary key attributes"},
		{"a start key of another partition", func() *dynamodb.QueryInput {
			q := query("pk = :g", g)
			q.ExclusiveStartKey = dynamo.Item{"pk": str("other"), "n": num(1)}
			return q
		}(), "starting key is invalid"},
	}
	r := filled(t)
	for _, tc := range cases {
		_, err := r.client.Query(context.Background(), tc.in)
		if code(err) != "ValidationException" || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: got %v, want a ValidationException with %q", tc.name, err, tc.message)
		}
	}
}

func TestProjectionKeepsOnlyWhatIsNamed(t *testing.T) {
	r := newRig(t)
	r.put(t, "plain", sample())
	out, err := r.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String("plain"), Key: dynamo.Item{"pk": str("a")},
		ProjectionExpression: aws.String("seq, hold1.who, items1[1], #p"), ExpressionAttributeNames: map[string]string{"#p": "phase"},
	})
	if err != nil {
		t.Fatalf("get item: %v", err)
	}
	hold := out.Item["hold1"].(*types.AttributeValueMemberM).Value
	if len(out.Item) != 4 || len(hold) != 1 || flat(out.Item["items1"]) != "2" || text(out.Item["phase"]) != "held" {
		t.Errorf("item is %v", out.Item)
	}
}

func TestScanReadsEveryRowOnce(t *testing.T) {
	r := filled(t)
	seen := make(map[string]int)
	p := dynamodb.NewScanPaginator(r.client, &dynamodb.ScanInput{TableName: aws.String("ledger"), Limit: aws.Int32(5)})
	for p.HasMorePages() {
		out, err := p.NextPage(context.Background())
		if err != nil {
			t.Fatalf("scan: %v", err)
		}
		for _, i := range out.Items {
			seen[text(i["pk"])+text(i["n"])]++
		}
	}
	if len(seen) != 13 {
		t.Errorf("%d different rows, want 13: %v", len(seen), seen)
	}
	for k, n := range seen {
		if n != 1 {
			t.Errorf("row %s was read %d times", k, n)
		}
	}
}

func batchKeys(ids ...string) map[string]types.KeysAndAttributes {
	k := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, id := range ids {
		k.Keys = append(k.Keys, dynamo.Item{"pk": str(id)})
	}
	return map[string]types.KeysAndAttributes{"plain": k}
}

func TestBatchGetItem(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"a", "b", "c"} {
		if err := r.tables.Put("plain", dynamo.Item{"pk": str(id)}); err != nil {
			t.Fatalf("put: %v", err)
		}
	}
	r.tables.SetHooks(dynamo.Hooks{Unprocessed: func(_ string, key dynamo.Item) bool { return text(key["pk"]) == "b" }})
	out, err := r.client.BatchGetItem(context.Background(), &dynamodb.BatchGetItemInput{RequestItems: batchKeys("a", "b", "c", "d")})
	if err != nil {
		t.Fatalf("batch get item: %v", err)
	}
	left := out.UnprocessedKeys["plain"]
	if len(out.Responses["plain"]) != 2 || len(left.Keys) != 1 || text(left.Keys[0]["pk"]) != "b" || !aws.ToBool(left.ConsistentRead) {
		t.Errorf("got %v and unprocessed %v, want a and c, and b left", out.Responses, out.UnprocessedKeys)
	}
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("k%d", i))
	}
	for name, keys := range map[string][]string{"101 keys": many, "one key twice": {"a", "a"}} {
		_, err := r.client.BatchGetItem(context.Background(), &dynamodb.BatchGetItemInput{RequestItems: batchKeys(keys...)})
		if code(err) != "ValidationException" {
			t.Errorf("%s: got %v, want a ValidationException", name, err)
		}
	}
	r.tables.SetHooks(dynamo.Hooks{})
	if out, err = r.client.BatchGetItem(context.Background(), &dynamodb.BatchGetItemInput{RequestItems: batchKeys(many[:100]...)}); err != nil || len(out.UnprocessedKeys) != 0 {
		t.Errorf("100 keys: %v, unprocessed %v", err, out)
	}
}
