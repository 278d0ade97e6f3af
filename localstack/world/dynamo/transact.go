package dynamo

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Limits of a transaction. Source: SDK doc comment of TransactWriteItems.
const (
	maxActions          = 100
	maxTransactionBytes = 4 << 20
	tokenLife           = 10 * time.Minute
)

// The reason codes of a cancelled transaction. Source: SDK doc comment of TransactionCanceledException.
const (
	reasonNone       = "None"
	reasonCondition  = "ConditionalCheckFailed"
	reasonConflict   = "TransactionConflict"
	reasonThroughput = "ProvisionedThroughputExceeded"
	reasonValidation = "ValidationError"
)

func reasonMessage(code string) string {
	switch code {
	case reasonConflict:
		return "Transaction is ongoing for the item"
	case reasonThroughput:
		return "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."
	default:
		return "Throughput exceeds the current capacity for one or more global secondary indexes or the table. DynamoDB is automatically scaling it, so please try again shortly."
	}
}

// doneTransaction is what a request token stands for.
type doneTransaction struct {
	items []types.TransactWriteItem
	at    time.Time
}

// TransactWriteItems applies all its actions or none. A refusal is a TransactionCanceledException with one reason
// for each action, in order, None for those that were not the cause. A ClientRequestToken makes a repetition
// within ten minutes of success a no-op; with other content it is an IdempotentParameterMismatchException. The
// caller must not change the actions afterwards.
func (t *Tables) TransactWriteItems(in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	writes, err := t.prepareAll(in.TransactItems)
	if err != nil {
		return nil, err
	}
	token := aws.ToString(in.ClientRequestToken)
	if len(token) > 36 {
		return nil, validation("1 validation error detected: Value at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36")
	}
	if done, err := t.repeated(token, in.TransactItems); err != nil || done {
		return &dynamodb.TransactWriteItemsOutput{}, err
	}
	outcomes := make([]outcome, len(writes))
	reasons := make([]types.CancellationReason, len(writes))
	cancelled := false
	units := make(map[string]float64)
	for i, w := range writes {
		var tryErr error
		outcomes[i], tryErr = w.try()
		units[w.table.name] += transactional * outcomes[i].units
		reasons[i] = t.reason(w, tryErr)
		cancelled = cancelled || aws.ToString(reasons[i].Code) != reasonNone
	}
	out := &dynamodb.TransactWriteItemsOutput{}
	for _, name := range slices.Sorted(maps.Keys(units)) {
		if c := consumedWrite(t.tables[name], units[name], in.ReturnConsumedCapacity); c != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, *c)
		}
	}
	if cancelled {
		return nil, errCancelled(reasons)
	}
	for i, w := range writes {
		w.commit(outcomes[i])
	}
	if token != "" {
		t.tokens[token] = doneTransaction{in.TransactItems, t.opts.Now()}
	}
	return out, nil
}

func (t *Tables) prepareAll(items []types.TransactWriteItem) ([]*write, error) {
	if len(items) < 1 || len(items) > maxActions {
		return nil, validation("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length between 1 and 100, but has %d", len(items))
	}
	type where struct {
		table *table
		id    itemID
	}
	seen := make(map[where]bool)
	var writes []*write
	size := 0
	for _, item := range items {
		r, err := requestOf(item)
		if err != nil {
			return nil, err
		}
		w, err := t.prepare(r)
		if err != nil {
			return nil, err
		}
		at := where{w.table, w.id}
		if seen[at] {
			return nil, validation("Transaction request cannot include multiple operations on one item")
		}
		seen[at] = true
		size += ItemSize(w.item) + ItemSize(r.values)
		writes = append(writes, w)
	}
	if size > maxTransactionBytes {
		return nil, validation("Collection size of items in the transaction exceeds 4 MB")
	}
	return writes, nil
}

func requestOf(item types.TransactWriteItem) (writeRequest, error) {
	var all []writeRequest
	if p := item.Put; p != nil {
		all = append(all, writeRequest{writePut, p.TableName, p.Item, nil, p.ConditionExpression,
			p.ExpressionAttributeNames, p.ExpressionAttributeValues, p.ReturnValuesOnConditionCheckFailure})
	}
	if u := item.Update; u != nil {
		if u.UpdateExpression == nil {
			return writeRequest{}, validation("1 validation error detected: Value null at 'updateExpression' failed to satisfy constraint: Member must not be null")
		}
		all = append(all, writeRequest{writeUpdate, u.TableName, u.Key, u.UpdateExpression, u.ConditionExpression,
			u.ExpressionAttributeNames, u.ExpressionAttributeValues, u.ReturnValuesOnConditionCheckFailure})
	}
	if d := item.Delete; d != nil {
		all = append(all, writeRequest{writeDelete, d.TableName, d.Key, nil, d.ConditionExpression,
			d.ExpressionAttributeNames, d.ExpressionAttributeValues, d.ReturnValuesOnConditionCheckFailure})
	}
	if c := item.ConditionCheck; c != nil {
		if c.ConditionExpression == nil {
			return writeRequest{}, validation("1 validation error detected: Value null at 'conditionExpression' failed to satisfy constraint: Member must not be null")
		}
		all = append(all, writeRequest{writeCheck, c.TableName, c.Key, nil, c.ConditionExpression,
			c.ExpressionAttributeNames, c.ExpressionAttributeValues, c.ReturnValuesOnConditionCheckFailure})
	}
	if len(all) != 1 {
		return writeRequest{}, validation("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return all[0], nil
}

// repeated reports whether this token already succeeded; tokens past their life are forgotten first.
func (t *Tables) repeated(token string, items []types.TransactWriteItem) (bool, error) {
	now := t.opts.Now()
	for name, d := range t.tokens {
		if now.Sub(d.at) > tokenLife {
			delete(t.tokens, name)
		}
	}
	d, ok := t.tokens[token]
	if !ok {
		return false, nil
	}
	if !reflect.DeepEqual(d.items, items) {
		return false, &types.IdempotentParameterMismatchException{
			Message: aws.String("The provided client request token has already been used with different parameters"),
		}
	}
	return true, nil
}

func (t *Tables) reason(w *write, err error) types.CancellationReason {
	if t.hooks.Refuse != nil {
		if code := t.hooks.Refuse(w.table.name, w.table.keyOf(w.item)); code != "" {
			return types.CancellationReason{Code: aws.String(code), Message: aws.String(reasonMessage(code))}
		}
	}
	var failed *types.ConditionalCheckFailedException
	var wrong smithy.APIError
	switch {
	case errors.As(err, &failed):
		return types.CancellationReason{Code: aws.String(reasonCondition), Message: failed.Message, Item: failed.Item}
	case errors.As(err, &wrong):
		return types.CancellationReason{Code: aws.String(reasonValidation), Message: aws.String(wrong.ErrorMessage())}
	}
	return types.CancellationReason{Code: aws.String(reasonNone)}
}

func errCancelled(reasons []types.CancellationReason) error {
	var codes []string
	for _, r := range reasons {
		codes = append(codes, aws.ToString(r.Code))
	}
	return &types.TransactionCanceledException{
		Message: aws.String(fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]",
			strings.Join(codes, ", "))),
		CancellationReasons: reasons,
	}
}
