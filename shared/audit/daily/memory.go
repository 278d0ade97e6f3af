package daily

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// Key of the one item. PartitionKey is what IAM can fence (dynamodb:LeadingKeys).
const (
	PartitionKey = "audit"
	sortKey      = "findings"
)

// dataBytesMax is how large the packed contents may be; DynamoDB takes 400 KB for an item. notesBytesMax is what is left for notes, contentBytesMax bounds what is unpacked.
// Source: DynamoDB developer guide, "Constraints".
const (
	dataBytesMax    = 380 << 10
	notesBytesMax   = 8 << 10
	contentBytesMax = 64 << 20
)

// TableAPI are the calls of the DynamoDB client that are made here.
type TableAPI interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Memory keeps what is known in one item of the state table.
type Memory struct {
	api   TableAPI
	table string
}

// NewMemory makes a Memory over a client and the name or ARN of the state table. It makes no call.
func NewMemory(api TableAPI, table string) *Memory { return &Memory{api: api, table: table} }

func itemKey() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: PartitionKey}, "sk": &types.AttributeValueMemberS{Value: sortKey},
	}
}

// Load reads the item, strongly consistent; no item is the zero Known. One that cannot be understood is an error, never an empty memory.
func (m *Memory) Load(ctx context.Context) (Known, error) {
	out, err := m.api.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(m.table), Key: itemKey(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return Known{}, fmt.Errorf("load findings: %w", awserr.Classify(err))
	}
	if len(out.Item) == 0 {
		return Known{}, nil
	}
	known, err := unpack(out.Item)
	if err != nil {
		return Known{}, fmt.Errorf("load findings: %w", err)
	}
	return known, nil
}

func unpack(item map[string]types.AttributeValue) (Known, error) {
	version, isNumber := item["version"].(*types.AttributeValueMemberN)
	data, isBinary := item["data"].(*types.AttributeValueMemberB)
	if !isNumber || !isBinary {
		return Known{}, errors.New("version or data is missing")
	}
	var known Known
	zipped, err := gzip.NewReader(bytes.NewReader(data.Value))
	if err != nil {
		return Known{}, fmt.Errorf("unpack: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(zipped, contentBytesMax))
	if err != nil {
		return Known{}, fmt.Errorf("unpack: %w", err)
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return Known{}, fmt.Errorf("decode: %w", err)
	}
	if known.Version, err = strconv.ParseInt(version.Value, 10, 64); err != nil || known.Version < 1 {
		return Known{}, fmt.Errorf("version %q is no count", version.Value)
	}
	return known, nil
}

// Save writes the item under the next version; fault.Conflict says that its version is no longer the one that was loaded.
func (m *Memory) Save(ctx context.Context, k Known) error {
	data, err := pack(k)
	if err != nil {
		return fmt.Errorf("save findings: %w", err)
	}
	item := itemKey()
	item["version"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(k.Version+1, 10)}
	item["data"] = &types.AttributeValueMemberB{Value: data}
	in := &dynamodb.PutItemInput{
		TableName: aws.String(m.table), Item: item,
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": "pk"},
	}
	if k.Version > 0 {
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#version = :version"), map[string]string{"#version": "version"}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":version": &types.AttributeValueMemberN{Value: strconv.FormatInt(k.Version, 10)}}
	}
	if _, err := m.api.PutItem(ctx, in); err != nil {
		return fmt.Errorf("save findings: %w", awserr.Classify(err))
	}
	return nil
}

func pack(k Known) ([]byte, error) {
	b, err := zip(k)
	if err != nil {
		return nil, err
	}
	if len(b) > dataBytesMax {
		return nil, fmt.Errorf("%w: %d findings take %d bytes, an item holds %d", fault.Refused, len(k.Findings), len(b), dataBytesMax)
	}
	return b, nil
}

func zip(k Known) ([]byte, error) {
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(zipped).Encode(k), zipped.Close()); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return b.Bytes(), nil
}

// fit makes a memory that is too large small enough: names become hashes, which costs that a finding about a resource that is deleted ends
// without its name. If that is not enough, the least severe findings are left out, and Least says from where on.
func (k Known) fit() Known {
	if k.fits() {
		return k
	}
	short := k
	short.Findings = slices.Clone(k.Findings)
	for i, b := range short.Findings {
		short.Findings[i] = b.short()
	}
	slices.SortStableFunc(short.Findings, func(a, b Brief) int { return rank(a.Severity) - rank(b.Severity) })
	first := func(n int) Known {
		some := short
		if some.Findings = short.Findings[:n]; n < len(short.Findings) {
			some.Least = short.Findings[n].Severity
		}
		return some
	}
	n := sort.Search(len(short.Findings)+1, func(n int) bool { return !first(n).fits() }) - 1
	if n < 0 {
		short.Accepted, n = nil, 0 // more are accepted than fit
	}
	return first(n)
}

func (k Known) fits() bool {
	b, err := zip(k)
	return err == nil && len(b) <= dataBytesMax-notesBytesMax
}
