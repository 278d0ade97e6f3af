package contract_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/ledger/ledgertest"
)

func tableRules() []rule {
	list := []rule{
		{name: "a refused condition changes nothing and returns the item", check: conditionRefused},
		{name: "a cancelled transaction writes nothing and tells whose condition failed", check: transactionCancelled},
		{name: "a transaction repeated with its token is done once", check: transactionToken},
		{name: "a token used for another transaction is refused", check: tokenMismatch},
		{name: "a query is in order, paged, and keeps to the beginning of a key", check: queryPaged},
		{name: "of many conditional increments no more than the limit succeed", check: racingUpdates, concurrent: true},
		{name: "of many transactions no more than the limit succeed", check: racingTransactions, concurrent: true},
		{name: "Holdfast reads heartbeats, and a row that is not there is not there", check: readsBeats},
		{name: "a table knows when its items expire", check: timeToLive},
	}
	for i := range list {
		list[i].service = "dynamodb"
	}
	return list
}

// TestTheLedgerKeepsItsContractOnPeers runs the ledger's own contract. Peers without transactions, or without atomic ones, cannot
// be asked.
func TestTheLedgerKeepsItsContractOnPeers(t *testing.T) {
	for _, p := range peers() {
		if p.name != embedded && p.name != ministack {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			s := open(t, p)
			var tables atomic.Int64
			ledgertest.Contract(t, func(t *testing.T) ledgertest.Store {
				t.Helper()
				table, err := s.table(t.Context(), "ledger-"+strconv.FormatInt(tables.Add(1), 10))
				if err != nil {
					t.Fatal(err)
				}
				l, err := ledger.New(ownTokens{s.dynamodb, table}, ledger.Options{Table: table, Now: s.now})
				if err != nil {
					t.Fatalf("new ledger: %v", err)
				}
				return l
			})
		})
	}
}

// ownTokens gives each table its own tokens: the contract uses the same ones for each store, and they count for the whole account.
type ownTokens struct {
	*dynamodb.Client
	table string
}

func (o ownTokens) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	own := *in
	sum := sha256.Sum256([]byte(o.table + aws.ToString(in.ClientRequestToken)))
	own.ClientRequestToken = aws.String(hex.EncodeToString(sum[:16]))
	return o.Client.TransactWriteItems(ctx, &own, opts...)
}

// tableWait is how long a peer may take to make a table.
const tableWait = 20 * time.Second

// table makes an empty table with the keys pk and sk.
func (s *subject) table(ctx context.Context, word string) (string, error) {
	name := s.name(word)
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := s.dynamodb.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		return "", fmt.Errorf("create table: %w", err)
	}
	if err := s.waitForTable(ctx, name); err != nil {
		return "", fmt.Errorf("wait for table: %w", err)
	}
	return name, nil
}

type item = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

// put writes an item with a number v.
func (s *subject) put(ctx context.Context, table, sk string, v int) error {
	_, err := s.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: item{"pk": str("p"), "sk": str(sk), "v": num(v)}})
	return err
}

// values are the numbers v of all items of the partition, in the order of their keys.
func (s *subject) values(ctx context.Context, table string) ([]string, error) {
	out, err := s.dynamodb.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": str("p")}})
	if err != nil {
		return nil, err
	}
	have := []string{}
	for _, i := range out.Items {
		n, ok := i["v"].(*types.AttributeValueMemberN)
		if !ok {
			return nil, fmt.Errorf("v is %T", i["v"])
		}
		have = append(have, n.Value)
	}
	return have, nil
}

func conditionRefused(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "condition")
	if err != nil {
		return err
	}
	if err := s.put(ctx, table, "a", 7); err != nil {
		return err
	}
	_, err = s.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: item{"pk": str("p"), "sk": str("a"), "v": num(8)},
		ConditionExpression: aws.String("v = :six"), ExpressionAttributeValues: item{":six": num(6)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return fmt.Errorf("the condition was not refused: %w", err)
	}
	have, err := s.values(ctx, table)
	return errors.Join(err, differ("values", have, []string{"7"}),
		differ("attributes of the returned item", len(failed.Item), 3), differ("its v", failed.Item["v"], num(7)))
}

// pair is a transaction that writes two items, the second if its v has a value.
func pair(table, token string, v, second int) *dynamodb.TransactWriteItemsInput {
	put := func(sk string) *types.Put {
		return &types.Put{TableName: aws.String(table), Item: item{"pk": str("p"), "sk": str(sk), "v": num(v)}}
	}
	guarded := put("b")
	guarded.ConditionExpression, guarded.ExpressionAttributeValues = aws.String("attribute_not_exists(pk) OR v = :v"), item{":v": num(second)}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: put("a")}, {Put: guarded}}}
	if token != "" {
		in.ClientRequestToken = aws.String(token)
	}
	return in
}

func transactionCancelled(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "cancelled")
	if err != nil {
		return err
	}
	if err := s.put(ctx, table, "b", 1); err != nil {
		return err
	}
	_, err = s.dynamodb.TransactWriteItems(ctx, pair(table, "", 5, 2))
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return fmt.Errorf("not cancelled: %w", err)
	}
	codes := []string{}
	for _, r := range cancelled.CancellationReasons {
		codes = append(codes, aws.ToString(r.Code))
	}
	have, err := s.values(ctx, table)
	return errors.Join(err, differ("values", have, []string{"1"}), differ("reasons", codes, []string{"None", "ConditionalCheckFailed"}))
}

func transactionToken(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "token")
	if err != nil {
		return err
	}
	add := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(s.name("once")), TransactItems: []types.TransactWriteItem{{Update: &types.Update{
		TableName: aws.String(table), Key: item{"pk": str("p"), "sk": str("n")},
		UpdateExpression: aws.String("ADD v :one"), ExpressionAttributeValues: item{":one": num(1)}}}}}
	for range 3 {
		if _, err := s.dynamodb.TransactWriteItems(ctx, add); err != nil {
			return err
		}
	}
	have, err := s.values(ctx, table)
	return errors.Join(err, differ("values", have, []string{"1"}))
}

func tokenMismatch(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "mismatch")
	if err != nil {
		return err
	}
	if _, err := s.dynamodb.TransactWriteItems(ctx, pair(table, s.name("t"), 1, 0)); err != nil {
		return err
	}
	_, err = s.dynamodb.TransactWriteItems(ctx, pair(table, s.name("t"), 2, 1))
	have, readErr := s.values(ctx, table)
	return errors.Join(refused("other content", err, "IdempotentParameterMismatchException"), readErr, differ("values", have, []string{"1", "1"}))
}

func queryPaged(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "query")
	if err != nil {
		return err
	}
	for i, sk := range []string{"b#3", "a", "b#1", "c", "b#2"} {
		if err := s.put(ctx, table, sk, i); err != nil {
			return err
		}
	}
	pages := dynamodb.NewQueryPaginator(s.dynamodb, &dynamodb.QueryInput{TableName: aws.String(table), Limit: aws.Int32(2),
		KeyConditionExpression: aws.String("pk = :p AND begins_with(sk, :b)"), ExpressionAttributeValues: item{":p": str("p"), ":b": str("b#")}})
	keys, asked := []string{}, 0
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		asked++
		for _, i := range out.Items {
			if sk, ok := i["sk"].(*types.AttributeValueMemberS); ok {
				keys = append(keys, sk.Value)
			}
		}
	}
	return errors.Join(differ("keys", keys, []string{"b#1", "b#2", "b#3"}), differ("pages", asked, 2))
}

// race runs n calls at once and returns how many succeeded; errors other than the expected ones are returned.
func race(n int, call func() error, expected ...string) (int, error) {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = call() })
	}
	wg.Wait()
	won := 0
	var odd error
	for _, err := range errs {
		api, ok := errors.AsType[smithy.APIError](err)
		switch {
		case err == nil:
			won++
		case !ok || !slices.Contains(expected, api.ErrorCode()):
			odd = err // one is enough to tell
		}
	}
	return won, odd
}

const racers, limit = 40, 5

func racingUpdates(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "race")
	if err != nil {
		return err
	}
	if err := s.put(ctx, table, "n", 0); err != nil {
		return err
	}
	won, odd := race(racers, func() error {
		_, err := s.dynamodb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(table), Key: item{"pk": str("p"), "sk": str("n")},
			UpdateExpression: aws.String("SET v = v + :one"), ConditionExpression: aws.String("v < :limit"),
			ExpressionAttributeValues: item{":one": num(1), ":limit": num(limit)}})
		return err
	}, "ConditionalCheckFailedException")
	have, err := s.values(ctx, table)
	return errors.Join(odd, err, differ("winners", won, limit), differ("values", have, []string{strconv.Itoa(limit)}))
}

// racingTransactions may give fewer winners than the limit, because transactions that meet cancel each other; never more.
func racingTransactions(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "trace")
	if err != nil {
		return err
	}
	if err := s.put(ctx, table, "n", 0); err != nil {
		return err
	}
	won, odd := race(racers, func() error {
		_, err := s.dynamodb.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Update: &types.Update{
			TableName: aws.String(table), Key: item{"pk": str("p"), "sk": str("n")},
			UpdateExpression: aws.String("SET v = v + :one"), ConditionExpression: aws.String("v < :limit"),
			ExpressionAttributeValues: item{":one": num(1), ":limit": num(limit)}}}}})
		return err
	}, "TransactionCanceledException", "TransactionConflictException")
	have, err := s.values(ctx, table)
	return errors.Join(odd, err, differ("one to five winners", won >= 1 && won <= limit, true), differ("values", have, []string{strconv.Itoa(won)}))
}

// waitForTable waits until a table is active, where a table ever says so.
func (s *subject) waitForTable(ctx context.Context, name string) error {
	if s.neverActive {
		return nil
	}
	return dynamodb.NewTableExistsWaiter(s.dynamodb, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 50 * time.Millisecond }).
		Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)}, tableWait)
}

func readsBeats(ctx context.Context, s *subject) error {
	name := s.name("beats")
	_, err := s.dynamodb.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		return fmt.Errorf("create table: %w", err)
	}
	if err := s.waitForTable(ctx, name); err != nil {
		return fmt.Errorf("wait for table: %w", err)
	}
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	group := guard.Group{Name: "web", ARN: ledgertest.GroupB, Members: []guard.Member{{ID: "i-0001"}, {ID: "i-0002"}}}
	_, err = s.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(name), Item: item{
		"pk": str(beats.Key(group.ARN, "i-0001")), "beat": &types.AttributeValueMemberN{Value: strconv.FormatInt(at.UnixMilli(), 10)}, "seq": num(9),
		"boot": str("b1"), "status": str("failing"), "failing": &types.AttributeValueMemberSS{Value: []string{"disk"}}}})
	if err != nil {
		return err
	}
	have, err := beats.New(s.dynamodb, beats.Options{Table: name}).Beats(ctx, group)
	return errors.Join(err, differ("beats", have, map[string]guard.Beat{
		"i-0001": {Found: true, At: at, Seq: 9, Boot: "b1", Status: "failing", Failing: []string{"disk"}}, "i-0002": {},
	}))
}

func timeToLive(ctx context.Context, s *subject) error {
	table, err := s.table(ctx, "ttl")
	if err != nil {
		return err
	}
	_, err = s.dynamodb.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: aws.String(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)}})
	if err != nil {
		return err
	}
	out, err := s.dynamodb.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		return err
	}
	on := out.TimeToLiveDescription.TimeToLiveStatus
	return errors.Join(differ("attribute", aws.ToString(out.TimeToLiveDescription.AttributeName), "expires"),
		differ("on or becoming so", on == types.TimeToLiveStatusEnabled || on == types.TimeToLiveStatusEnabling, true))
}
