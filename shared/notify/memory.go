package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
)

const (
	// recordLife is how long a record stays after its last write: longer than any interval between two reminders.
	recordLife = 30 * 24 * time.Hour
	// sortPrefix keeps the records apart from the ledger's items of the same group, which are read by ranges of sort keys.
	sortPrefix = "notice#"
	// sortBytesMax is how long a readable sort key may be; DynamoDB takes 1,024 bytes.
	// Source: DynamoDB developer guide, "Constraints".
	sortBytesMax = 900
)

// TableAPI is what the memory needs of the DynamoDB client.
type TableAPI interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Table is a Memory in the state table: one small item for each condition, under the group's ARN.
type Table struct {
	api  TableAPI
	name string
	now  func() time.Time
}

// NewTable returns a memory over the table with this name or ARN; it makes no call. The clock dates the items' expiry only.
func NewTable(api TableAPI, name string, now func() time.Time) *Table {
	return &Table{api: api, name: name, now: now}
}

// stored is the form of a record in the table.
type stored struct {
	Told map[string]Told `json:"told,omitempty"`
	Busy time.Time       `json:"busy,omitzero"`
	// BusySince is not written by versions that do not know it; then it is the zero time, which ends nothing.
	BusySince time.Time `json:"busy_since,omitzero"`
}

// Load reads the record of a condition, strongly consistent; no item is the zero Record. An item past its expiry that is still
// there counts: it keeps old notices from being told again.
func (t *Table) Load(ctx context.Context, c Condition) (Record, error) {
	out, err := t.api.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(t.name), Key: itemKey(c), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return Record{}, fmt.Errorf("load notices told: %w", awserr.Classify(err))
	}
	if len(out.Item) == 0 {
		return Record{}, nil
	}
	version, err := numberOf(out.Item["version"])
	if err != nil {
		return Record{}, fmt.Errorf("load notices told: %w", err)
	}
	text, ok := out.Item["json"].(*types.AttributeValueMemberS)
	if !ok {
		return Record{}, errors.New("load notices told: an item without contents")
	}
	var s stored
	if err := json.Unmarshal([]byte(text.Value), &s); err != nil {
		return Record{}, fmt.Errorf("load notices told: %w", err)
	}
	return Record{Version: version, Told: s.Told, Busy: s.Busy, BusySince: s.BusySince}, nil
}

// Save writes the record of a condition if its version is still r.Version. A write whose first answer was lost may be told as
// overtaken by itself: the next try finds the condition busy, and the one after that finds it free.
func (t *Table) Save(ctx context.Context, c Condition, r Record) (Record, error) {
	text, err := json.Marshal(stored{Told: r.Told, Busy: r.Busy, BusySince: r.BusySince})
	if err != nil {
		return r, fmt.Errorf("save notices told: %w", err)
	}
	item := itemKey(c)
	item["version"] = number(r.Version + 1)
	item["json"] = &types.AttributeValueMemberS{Value: string(text)}
	item["expires"] = number(t.now().Add(recordLife).Unix())
	in := &dynamodb.PutItemInput{
		TableName: aws.String(t.name), Item: item,
		ExpressionAttributeNames: map[string]string{"#v": "version"},
		ConditionExpression:      aws.String("attribute_not_exists(#v)"),
	}
	if r.Version > 0 {
		in.ConditionExpression = aws.String("#v = :v")
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":v": number(r.Version)}
	}
	if _, err := t.api.PutItem(ctx, in); err != nil {
		return r, fmt.Errorf("save notices told: %w", awserr.Classify(err))
	}
	r.Version++
	return r, nil
}

func itemKey(c Condition) map[string]types.AttributeValue {
	sk := sortPrefix + c.Key + "#" + c.Subject
	if len(sk) > sortBytesMax {
		sk = sortPrefix + c.Key + "#" + digest(c.Subject)
	}
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: c.GroupARN}, "sk": &types.AttributeValueMemberS{Value: sk},
	}
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func numberOf(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, errors.New("decode item: no version")
	}
	return strconv.ParseInt(n.Value, 10, 64)
}
