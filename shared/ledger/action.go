package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

const (
	// actionLife is how long an action item is kept.
	actionLife = 30 * 24 * time.Hour
	// timeLayout has a fixed width, so that sort keys sort by time.
	timeLayout   = "2006-01-02T15:04:05.000Z"
	actionPrefix = "action#"
	// attrRequest is the id of a request beside its content, for the condition of a write.
	attrRequest = "request"
)

// actionContent is the stored form of an action; the group is the partition key.
type actionContent struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Member    string    `json:"member,omitempty"`
	Processes []string  `json:"processes,omitempty"`
	At        time.Time `json:"at"`
	Outcome   string    `json:"outcome"`
	Detail    string    `json:"detail,omitempty"`
	Run       string    `json:"run,omitempty"`
}

func checkAction(a runner.ActionRecord) error {
	if a.Group == "" || a.ID == "" || a.At.IsZero() {
		return fmt.Errorf("%w: an action needs group, id and time", fault.Refused)
	}
	return nil
}

func actionSort(a runner.ActionRecord) string {
	return actionPrefix + a.At.UTC().Format(timeLayout) + "#" + a.ID
}

func actionItem(a runner.ActionRecord) (item, error) {
	content, err := json.Marshal(actionContent{a.ID, a.Kind, a.Member, a.Processes, a.At, a.Outcome, a.Detail, a.Run})
	if err != nil {
		return nil, fmt.Errorf("encode action: %w: %w", fault.Refused, err)
	}
	i := key{a.Group, actionSort(a)}.item()
	i[attrJSON] = text(string(content))
	i[attrExpires] = number(a.At.Add(actionLife).Unix())
	return i, nil
}

// PutAction writes one action item, or replaces the one with the same group, time and id.
func (l *Ledger) PutAction(ctx context.Context, a runner.ActionRecord) error {
	if err := checkAction(a); err != nil {
		return fmt.Errorf("put action: %w", err)
	}
	i, err := actionItem(a)
	if err != nil {
		return err
	}
	if _, err := l.api.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(l.table), Item: i}); err != nil {
		return fmt.Errorf("put action: %w", awserr.Classify(err))
	}
	return nil
}

// Actions returns a group's action items of since or later, oldest first; the zero time asks for all of the last 30 days.
func (l *Ledger) Actions(ctx context.Context, groupARN string, since time.Time) ([]runner.ActionRecord, error) {
	from := actionPrefix
	if !since.IsZero() {
		from += since.UTC().Format(timeLayout)
	}
	items, err := l.query(ctx, span{groupARN, from, actionPrefix + "~"}, false)
	if err != nil {
		return nil, fmt.Errorf("list actions: %w", err)
	}
	out := make([]runner.ActionRecord, 0, len(items))
	for _, i := range items {
		var c actionContent
		if err := json.Unmarshal([]byte(i.text(attrJSON)), &c); err != nil {
			return nil, fmt.Errorf("list actions: decode %s: %w", i.text(attrSK), err)
		}
		out = append(out, runner.ActionRecord{
			ID: c.ID, Group: groupARN, Kind: c.Kind, Member: c.Member, Processes: c.Processes,
			At: c.At, Outcome: c.Outcome, Detail: c.Detail, Run: c.Run,
		})
	}
	return out, nil
}

// checkRequest refuses a request that a sweep would use up without effect: it knows by By that somebody asked.
func checkRequest(groupARN string, q guard.Request) error {
	switch {
	case groupARN == "" || q.ID == "":
		return fmt.Errorf("%w: group and id are required", fault.Refused)
	case strings.TrimSpace(q.By) == "":
		return fmt.Errorf("%w: who asks (by) is required", fault.Refused)
	case q.Kind != guard.RequestHold && q.Kind != guard.RequestRelease:
		return fmt.Errorf("%w: kind %q, want %s or %s", fault.Refused, q.Kind, guard.RequestHold, guard.RequestRelease)
	}
	return nil
}

func requestItem(groupARN string, q guard.Request) (item, error) {
	if err := checkRequest(groupARN, q); err != nil {
		return nil, err
	}
	content, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("encode: %w: %w", fault.Refused, err)
	}
	i := key{groupARN, sortRequest}.item()
	i[attrJSON] = text(string(content))
	i[attrRequest] = text(q.ID)
	return i, nil
}

// PutRequest stores what an operator asks for a group, in place of an earlier request; fault.Refused without group, id, kind or who asks.
// It is for the command line; a sweep only reads it.
func (l *Ledger) PutRequest(ctx context.Context, groupARN string, q guard.Request) error {
	i, err := requestItem(groupARN, q)
	if err != nil {
		return fmt.Errorf("put request: %w", err)
	}
	if _, err := l.api.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(l.table), Item: i}); err != nil {
		return fmt.Errorf("put request: %w", awserr.Classify(err))
	}
	return nil
}

// ReplaceRequest is PutRequest in place of the request that was seen, by its id, "" if there was none; fault.Conflict if there is another
// one by now. A request that is gone meanwhile is no conflict: a sweep has obeyed it.
func (l *Ledger) ReplaceRequest(ctx context.Context, groupARN string, q guard.Request, seen string) error {
	i, err := requestItem(groupARN, q)
	if err != nil {
		return fmt.Errorf("replace request: %w", err)
	}
	in := &dynamodb.PutItemInput{
		TableName: aws.String(l.table), Item: i,
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": attrPK},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if seen != "" {
		// A request without the attribute was stored by a version that did not write it, and may be replaced as that version did.
		in.ConditionExpression = aws.String("attribute_not_exists(#id) OR #id = :seen")
		in.ExpressionAttributeNames = map[string]string{"#id": attrRequest}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":seen": text(seen)}
	}
	_, err = l.api.PutItem(ctx, in)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if item(failed.Item).text(attrRequest) == q.ID {
			return nil // the answer to the client's first try was lost, and its second one met what that wrote
		}
		return fmt.Errorf("replace request: %w: another request is there: %w", fault.Conflict, err)
	}
	if err != nil {
		return fmt.Errorf("replace request: %w", awserr.Classify(err))
	}
	return nil
}

// DeleteRequest removes a group's operator request; there need not be one.
func (l *Ledger) DeleteRequest(ctx context.Context, groupARN string) error {
	in := &dynamodb.DeleteItemInput{TableName: aws.String(l.table), Key: key{groupARN, sortRequest}.item()}
	if _, err := l.api.DeleteItem(ctx, in); err != nil {
		return fmt.Errorf("delete request: %w", awserr.Classify(err))
	}
	return nil
}
