package dynamo

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Limits of BatchGetItem. Source: SDK doc comment of BatchGetItem.
const (
	maxBatchKeys  = 100
	maxBatchBytes = 16 << 20
)

// GetItem reads one item; a missing one is an empty answer, no error. Reads are always up to date here, and
// charged by what the request asked for.
func (t *Tables) GetItem(in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(in.AttributesToGet) > 0 {
		return nil, errLegacy("AttributesToGet")
	}
	tb, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	keep, err := t.keep(in.ExpressionAttributeNames, in.ProjectionExpression)
	if err != nil {
		return nil, err
	}
	id, _, err := tb.keyID(in.Key)
	if err != nil {
		return nil, err
	}
	item := tb.get(id)
	units := readUnits(ItemSize(item), aws.ToBool(in.ConsistentRead))
	return &dynamodb.GetItemOutput{
		Item:             keep.of(item),
		ConsumedCapacity: consumedRead(tb, units, in.ReturnConsumedCapacity),
	}, nil
}

func (t *Tables) keep(names map[string]string, expression *string) (projection, error) {
	p, err := t.placeholders(names, nil)
	if err != nil {
		return nil, err
	}
	keep, err := p.projection(expression)
	if err != nil {
		return nil, err
	}
	return keep, p.finish()
}

// BatchGetItem reads up to 100 keys. A key in UnprocessedKeys was not read: nothing is known about it.
func (t *Tables) BatchGetItem(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	total := 0
	for name, want := range in.RequestItems {
		if len(want.Keys) == 0 {
			return nil, validation("1 validation error detected: Value at 'requestItems.%s.member.keys' failed to satisfy constraint: Member must have length greater than or equal to 1", name)
		}
		total += len(want.Keys)
	}
	if total == 0 {
		return nil, validation("1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	if total > maxBatchKeys {
		return nil, validation("Too many items requested for the BatchGetItem call")
	}
	out := &dynamodb.BatchGetItemOutput{
		Responses:       make(map[string][]map[string]types.AttributeValue),
		UnprocessedKeys: make(map[string]types.KeysAndAttributes),
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		b := batch{tables: t, name: name, want: in.RequestItems[name], out: out, size: &size}
		if err := b.run(in.ReturnConsumedCapacity); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// batch is the part of a BatchGetItem for one table.
type batch struct {
	tables *Tables
	name   string
	want   types.KeysAndAttributes
	out    *dynamodb.BatchGetItemOutput
	size   *int // bytes of the whole answer so far
}

func (b batch) run(want types.ReturnConsumedCapacity) error {
	if len(b.want.AttributesToGet) > 0 {
		return errLegacy("AttributesToGet")
	}
	tb, err := b.tables.table(&b.name)
	if err != nil {
		return err
	}
	keep, err := b.tables.keep(b.want.ExpressionAttributeNames, b.want.ProjectionExpression)
	if err != nil {
		return err
	}
	ids, err := b.ids(tb)
	if err != nil {
		return err
	}
	b.out.Responses[b.name] = []map[string]types.AttributeValue{}
	left := b.want
	left.Keys = nil
	units := 0.0
	hook := b.tables.hooks.Unprocessed
	for i, id := range ids {
		item := tb.get(id)
		if *b.size+ItemSize(item) > maxBatchBytes || (hook != nil && hook(tb.name, CopyItem(b.want.Keys[i]))) {
			left.Keys = append(left.Keys, b.want.Keys[i])
			continue
		}
		units += readUnits(ItemSize(item), aws.ToBool(b.want.ConsistentRead))
		*b.size += ItemSize(item)
		if item != nil {
			b.out.Responses[b.name] = append(b.out.Responses[b.name], keep.of(item))
		}
	}
	if len(left.Keys) > 0 {
		b.out.UnprocessedKeys[b.name] = left
	}
	if c := consumedRead(tb, units, want); c != nil {
		b.out.ConsumedCapacity = append(b.out.ConsumedCapacity, *c)
	}
	return nil
}

func (b batch) ids(tb *table) ([]itemID, error) {
	var ids []itemID
	seen := make(map[itemID]bool)
	for _, key := range b.want.Keys {
		id, _, err := tb.keyID(key)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			return nil, validation("Provided list of item keys contains duplicates")
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids, nil
}
