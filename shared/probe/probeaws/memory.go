package probeaws

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/probe"
)

// Key of the one item. PartitionKey is what IAM can fence (dynamodb:LeadingKeys).
const (
	PartitionKey = "probe"
	sortKey      = "results"
)

// TableAPI are the calls of the DynamoDB client that are made here.
type TableAPI interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Memory keeps the results in one item of the state table: a run costs one read and one write, however many sources there are.
type Memory struct {
	api   TableAPI
	table string
}

// NewMemory makes a Memory over a client and the name or ARN of the state table.
func NewMemory(api TableAPI, table string) *Memory { return &Memory{api: api, table: table} }

type document struct {
	Records  map[string]probe.Record `json:"records"`
	LastGood string                  `json:"last_good"`
}

func itemKey() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: PartitionKey}, "sk": &types.AttributeValueMemberS{Value: sortKey},
	}
}

// Load reads the item, strongly consistent. An item that cannot be understood is an error, never an empty memory.
func (m *Memory) Load(ctx context.Context) (probe.Remembered, error) {
	out, err := m.api.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(m.table), Key: itemKey(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return probe.Remembered{}, fmt.Errorf("get item: %w", awserr.Classify(err))
	}
	if len(out.Item) == 0 {
		return probe.Remembered{}, nil
	}
	version, isNumber := out.Item["version"].(*types.AttributeValueMemberN)
	data, isText := out.Item["data"].(*types.AttributeValueMemberS)
	if !isNumber || !isText {
		return probe.Remembered{}, fmt.Errorf("decode item: version or data is missing")
	}
	r := probe.Remembered{}
	if r.Version, err = strconv.ParseInt(version.Value, 10, 64); err != nil || r.Version < 1 {
		return probe.Remembered{}, fmt.Errorf("decode item: version %q is no count", version.Value)
	}
	var doc document
	if err := json.Unmarshal([]byte(data.Value), &doc); err != nil {
		return probe.Remembered{}, fmt.Errorf("decode item: %w", err)
	}
	r.Records, r.LastGood = doc.Records, doc.LastGood
	return r, nil
}

// Save writes the item under the next version; fault.Conflict says that its version is no longer the one that was loaded.
func (m *Memory) Save(ctx context.Context, r probe.Remembered) error {
	data, err := json.Marshal(document{Records: r.Records, LastGood: r.LastGood})
	if err != nil {
		return fmt.Errorf("encode item: %w", err)
	}
	item := itemKey()
	item["version"] = count(r.Version + 1)
	item["data"] = &types.AttributeValueMemberS{Value: string(data)}
	in := &dynamodb.PutItemInput{
		TableName: aws.String(m.table), Item: item,
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": "pk"},
	}
	if r.Version > 0 {
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#version = :version"), map[string]string{"#version": "version"}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":version": count(r.Version)}
	}
	if _, err := m.api.PutItem(ctx, in); err != nil {
		return fmt.Errorf("put item: %w", awserr.Classify(err))
	}
	return nil
}

func count(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
