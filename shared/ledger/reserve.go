package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// ReservedActionsMax is how many action items fit into one reservation beside the two states. Source: SDK doc comment of
// TransactWriteItems, at most 100 actions.
const ReservedActionsMax = 98

// reasonCondition is the code of a cancellation because of a condition. Source: SDK doc comment of TransactionCanceledException.
const reasonCondition = "ConditionalCheckFailed"

// Reserve writes all of a reservation in one transaction, or nothing. A repeat with the same token and content is the same
// transaction: DynamoDB answers it with success for ten minutes, and afterwards the state still shows whose write it was. The
// same token with other content is fault.Refused, a lost race fault.Conflict, an answer that tells nothing fault.Unknown.
func (l *Ledger) Reserve(ctx context.Context, r runner.Reservation) error {
	if err := checkReservation(r); err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	if err := l.reserve(ctx, r); err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	return nil
}

func (l *Ledger) reserve(ctx context.Context, r runner.Reservation) error {
	group, err := reservedDocument(groupKey(r.Group), r.Record.Version, r.Token, contentOfGroup(r.Record))
	if err != nil {
		return err
	}
	region, err := reservedDocument(budgetKey(), r.Region.Version, r.Token, contentOfRegion(r.Region))
	if err != nil {
		return err
	}
	writes := []types.TransactWriteItem{l.headWrite(group), l.headWrite(region)}
	for _, a := range r.Actions {
		i, err := actionItem(a)
		if err != nil {
			return err
		}
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(l.table), Item: i}})
	}
	for _, d := range []document{group, region} {
		if err := l.putParts(ctx, d); err != nil {
			return err
		}
	}
	_, err = l.api.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: writes, ClientRequestToken: aws.String(digest(r.Token)),
	})
	if err != nil {
		return l.settleReservation(ctx, group, err)
	}
	for _, d := range []document{group, region} {
		if d.split() {
			l.removeOldParts(ctx, d)
		}
	}
	return nil
}

// reservedDocument derives the write id from token and content, not from chance: a repeat must be identical, and other content
// must not overwrite the parts of what the token stood for.
func reservedDocument(k key, version int64, token string, content any) (document, error) {
	d, err := newDocument(k, version, content)
	d.write = digest(token + "\x00" + string(d.data))
	return d, err
}

// digest is 32 characters long; a ClientRequestToken may have 36. Source: SDK doc comment of TransactWriteItemsInput.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func (l *Ledger) headWrite(d document) types.TransactWriteItem {
	expression, names, values := d.condition()
	return types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(l.table), Item: d.head(),
		ConditionExpression: aws.String(expression), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// settleReservation asks, when a condition failed, whether the state is what this very reservation wrote earlier: its parts are
// all or nothing, so the group's head speaks for the whole.
func (l *Ledger) settleReservation(ctx context.Context, group document, cause error) error {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](cause)
	if !ok || len(cancelled.CancellationReasons) == 0 {
		return awserr.Classify(cause)
	}
	failed := func(r types.CancellationReason) bool { return aws.ToString(r.Code) == reasonCondition }
	if !slices.ContainsFunc(cancelled.CancellationReasons, failed) {
		return awserr.Classify(cause)
	}
	return l.settle(ctx, group, cancelled.CancellationReasons[0].Item, cause)
}

func checkReservation(r runner.Reservation) error {
	if r.Group == "" || r.Token == "" {
		return fmt.Errorf("%w: group and token are required", fault.Refused)
	}
	if len(r.Actions) > ReservedActionsMax {
		return fmt.Errorf("%w: %d actions, at most %d", fault.Refused, len(r.Actions), ReservedActionsMax)
	}
	seen := map[string]bool{}
	for _, a := range r.Actions {
		if err := checkAction(a); err != nil {
			return err
		}
		if a.Group != r.Group {
			return fmt.Errorf("%w: action %s is of another group", fault.Refused, a.ID)
		}
		if seen[actionSort(a)] {
			return fmt.Errorf("%w: action %s twice", fault.Refused, a.ID)
		}
		seen[actionSort(a)] = true
	}
	return nil
}
