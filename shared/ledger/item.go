package ledger

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
)

// Attribute names.
const (
	attrPK      = "pk"
	attrSK      = "sk"
	attrVersion = "version"
	attrWrite   = "write"
	attrData    = "data"
	attrParts   = "parts"
	attrJSON    = "json"
	attrExpires = "expires"
)

type key struct{ pk, sk string }

func (k key) item() item { return item{attrPK: text(k.pk), attrSK: text(k.sk)} }

type item map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func (i item) text(name string) string {
	if s, ok := i[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func (i item) bytes(name string) []byte {
	if b, ok := i[name].(*types.AttributeValueMemberB); ok {
		return b.Value
	}
	return nil
}

// number is 0 for an attribute that is not there; one that is there and is no number is an error.
func (i item) number(name string) (int64, error) {
	v, there := i[name]
	if !there {
		return 0, nil
	}
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("decode item: %s is no number", name)
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("decode item: %s: %w", name, err)
	}
	return value, nil
}

// span is a range of sort keys of one partition, both ends included.
type span struct{ pk, from, to string }

// query reads a whole span, strongly consistent, page by page; keysOnly leaves out the contents.
func (l *Ledger) query(ctx context.Context, s span, keysOnly bool) ([]item, error) {
	in := &dynamodb.QueryInput{
		TableName:                aws.String(l.table),
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk BETWEEN :from AND :to"),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(s.pk), ":from": text(s.from), ":to": text(s.to),
		},
	}
	if keysOnly {
		in.ProjectionExpression = aws.String("#pk, #sk")
	}
	var out []item
	for {
		page, err := l.api.Query(ctx, in)
		if err != nil {
			return nil, awserr.Classify(err)
		}
		for _, i := range page.Items {
			out = append(out, i)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return out, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}
