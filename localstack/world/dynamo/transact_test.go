package dynamo_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
)

func putAction(id, condition string) types.TransactWriteItem {
	p := &types.Put{TableName: aws.String("plain"), Item: dynamo.Item{"pk": str(id), "seq": num(1)}}
	if condition != "" {
		p.ConditionExpression = aws.String(condition)
	}
	return types.TransactWriteItem{Put: p}
}

// spend takes one from the budget, which may not pass five.
func spend() *types.Update {
	return &types.Update{
		TableName: aws.String("plain"), Key: dynamo.Item{"pk": str("budget")}, UpdateExpression: aws.String("ADD used :one"),
		ConditionExpression:       aws.String("attribute_not_exists(used) OR used < :max"),
		ExpressionAttributeValues: dynamo.Item{":one": num(1), ":max": num(5)},
	}
}

func (r *rig) transact(token string, items ...types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: items}
	if token != "" {
		in.ClientRequestToken = aws.String(token)
	}
	_, err := r.client.TransactWriteItems(context.Background(), in)
	return err
}

func codes(t *testing.T, err error) string {
	t.Helper()
	var out []string
	for _, c := range as[*types.TransactionCanceledException](t, err).CancellationReasons {
		out = append(out, aws.ToString(c.Code))
	}
	return strings.Join(out, " ")
}

func TestATransactionIsAllOrNothingAndNamesTheCulprit(t *testing.T) {
	r := newRig(t)
	r.put(t, "plain", dynamo.Item{"pk": str("b"), "seq": num(9)})
	guarded := putAction("b", "attribute_not_exists(pk)")
	guarded.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	err := r.transact("", putAction("a", ""), guarded, putAction("c", "attribute_not_exists(pk)"))
	if got := codes(t, err); got != "None ConditionalCheckFailed None" {
		t.Errorf("reasons are %q", got)
	}
	if got := text(as[*types.TransactionCanceledException](t, err).CancellationReasons[1].Item["seq"]); got != "9" {
		t.Errorf("the reason shows seq %q, want the stored 9", got)
	}
	if n := len(r.tables.Items("plain")); n != 1 {
		t.Errorf("%d items after a cancelled transaction, want 1", n)
	}
	check := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String("plain"), Key: dynamo.Item{"pk": str("b")}, ConditionExpression: aws.String("attribute_exists(pk)"),
	}}
	gone := types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("plain"), Key: dynamo.Item{"pk": str("d")}}}
	if err := r.transact("", putAction("a", ""), check, types.TransactWriteItem{Update: spend()}, gone); err != nil {
		t.Fatalf("transact: %v", err)
	}
	if n := len(r.tables.Items("plain")); n != 3 {
		t.Errorf("%d items, want a, b and budget", n)
	}
}

func TestAnActionThatCannotBeAppliedCancelsTheTransaction(t *testing.T) {
	r := newRig(t)
	r.put(t, "plain", dynamo.Item{"pk": str("budget"), "used": str("many")})
	bad := spend()
	bad.ConditionExpression, bad.ExpressionAttributeValues = nil, dynamo.Item{":one": num(1)}
	if got := codes(t, r.transact("", putAction("a", ""), types.TransactWriteItem{Update: bad})); got != "None ValidationError" {
		t.Errorf("reasons are %q", got)
	}
}

func TestARequestTokenMakesARepetitionHarmlessForTenMinutes(t *testing.T) {
	r := newRig(t)
	one := types.TransactWriteItem{Update: spend()}
	used := func() string { return text(r.get(t, "plain", dynamo.Item{"pk": str("budget")})["used"]) }
	steps := []struct {
		name  string
		after time.Duration
		items []types.TransactWriteItem
		code  string
		used  string
	}{
		{"first", 0, []types.TransactWriteItem{one}, "", "1"},
		{"repeated at once", 0, []types.TransactWriteItem{one}, "", "1"},
		{"repeated at ten minutes", 10 * time.Minute, []types.TransactWriteItem{one}, "", "1"},
		{"other content", 0, []types.TransactWriteItem{one, putAction("a", "")}, "IdempotentParameterMismatchException", "1"},
		{"repeated after ten minutes", time.Second, []types.TransactWriteItem{one}, "", "2"},
	}
	for _, s := range steps {
		r.clock.at = r.clock.at.Add(s.after)
		if got := code(r.transact("run-1", s.items...)); got != s.code || used() != s.used {
			t.Errorf("%s: code %q and used %s, want %q and %s", s.name, got, used(), s.code, s.used)
		}
	}
}

func TestACancelledTransactionDoesNotUseUpItsToken(t *testing.T) {
	r := newRig(t)
	r.put(t, "plain", dynamo.Item{"pk": str("budget"), "used": num(5)})
	one := types.TransactWriteItem{Update: spend()}
	if got := codes(t, r.transact("run-1", one)); got != "ConditionalCheckFailed" {
		t.Fatalf("reasons are %q", got)
	}
	r.put(t, "plain", dynamo.Item{"pk": str("budget"), "used": num(4)})
	if err := r.transact("run-1", one); err != nil {
		t.Errorf("second try: %v", err)
	}
}

func TestWrongTransactionsAreRefused(t *testing.T) {
	r := newRig(t)
	var many []types.TransactWriteItem
	for i := range 101 {
		many = append(many, putAction(fmt.Sprint(i), ""))
	}
	both := putAction("a", "")
	both.Update = spend()
	cases := map[string][]types.TransactWriteItem{
		"two actions on one item":               {putAction("a", ""), putAction("a", "attribute_not_exists(pk)")},
		"101 actions":                           many,
		"two actions in one":                    {both},
		"no action in one":                      {{}},
		"a condition that cannot be read":       {putAction("a", "status = :v")},
		"more than 4 MB":                        {big("a"), big("b"), big("c"), big("d"), big("e"), big("f"), big("g"), big("h"), big("i"), big("j"), big("k")},
		"a check and an update of one item":     {{Update: spend()}, {ConditionCheck: &types.ConditionCheck{TableName: aws.String("plain"), Key: dynamo.Item{"pk": str("budget")}, ConditionExpression: aws.String("attribute_exists(pk)")}}},
		"one item twice and another in between": {putAction("a", ""), putAction("b", ""), putAction("a", "")},
	}
	for name, items := range cases {
		if got := code(r.transact("", items...)); got != "ValidationException" {
			t.Errorf("%s: code %q, want ValidationException", name, got)
		}
	}
	if n := len(r.tables.Items("plain")); n != 0 {
		t.Errorf("%d items were written", n)
	}
	if err := r.transact("", many[:100]...); err != nil {
		t.Errorf("100 actions: %v", err)
	}
}

func big(id string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String("plain"), Item: dynamo.Item{"pk": str(id), "blob1": str(strings.Repeat("x", 399<<10))}}}
}

func TestConflictsAndThrottlingAreInjectedPerKey(t *testing.T) {
	for reason, plain := range map[string]string{
		"TransactionConflict":           "TransactionConflictException",
		"ProvisionedThroughputExceeded": "ProvisionedThroughputExceededException",
		"ThrottlingError":               "ThrottlingException",
	} {
		r := newRig(t)
		r.tables.SetHooks(dynamo.Hooks{Refuse: func(_ string, key dynamo.Item) string {
			if text(key["pk"]) == "b" {
				return reason
			}
			return ""
		}})
		if got := codes(t, r.transact("", putAction("a", ""), putAction("b", ""))); got != "None "+reason {
			t.Errorf("reasons are %q", got)
		}
		_, err := r.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("plain"), Item: dynamo.Item{"pk": str("b")}})
		if code(err) != plain {
			t.Errorf("plain write: %v, want %s", err, plain)
		}
		if len(r.tables.Items("plain")) != 0 {
			t.Error("something was written")
		}
	}
}

// race lets forty callers go at once and counts those that succeed.
func race(t *testing.T, try func(i int) error, refused string) int {
	t.Helper()
	var wg sync.WaitGroup
	start, results := make(chan struct{}), make(chan error, 40)
	for i := range 40 {
		wg.Go(func() {
			<-start
			results <- try(i)
		})
	}
	close(start)
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		switch got := code(err); got {
		case "":
			won++
		case refused:
		default:
			t.Errorf("a racer got %v", err)
		}
	}
	return won
}

func TestFortyRacersOnALimitOfFiveLeaveExactlyFiveWinners(t *testing.T) {
	for round := range 5 {
		r := newRig(t)
		won := race(t, func(int) error {
			s := spend()
			_, err := r.client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
				TableName: s.TableName, Key: s.Key, UpdateExpression: s.UpdateExpression,
				ConditionExpression: s.ConditionExpression, ExpressionAttributeValues: s.ExpressionAttributeValues,
			})
			return err
		}, "ConditionalCheckFailedException")
		if got := text(r.get(t, "plain", dynamo.Item{"pk": str("budget")})["used"]); won != 5 || got != "5" {
			t.Errorf("updates, round %d: %d won and used is %s, want 5 and 5", round, won, got)
		}
		r = newRig(t)
		won = race(t, func(i int) error {
			return r.transact("", types.TransactWriteItem{Update: spend()}, putAction(fmt.Sprintf("mark-%d", i), "attribute_not_exists(pk)"))
		}, "TransactionCanceledException")
		if n := len(r.tables.Items("plain")); won != 5 || n != 6 {
			t.Errorf("transactions, round %d: %d won and %d items, want 5 winners, their marks and the budget", round, won, n)
		}
	}
}
