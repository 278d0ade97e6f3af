package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type writeKind int

const (
	writePut writeKind = iota
	writeUpdate
	writeDelete
	writeCheck
)

// writeRequest is what plain writes and the actions of a transaction have in common.
type writeRequest struct {
	kind      writeKind
	table     *string
	item      Item // the item of a put, else the key
	update    *string
	condition *string
	names     map[string]string
	values    Item
	onFailure types.ReturnValuesOnConditionCheckFailure
}

// write is a checked request, ready to be tried against the table.
type write struct {
	kind      writeKind
	table     *table
	id        itemID
	item      Item
	update    update
	condition condition
	onFailure types.ReturnValuesOnConditionCheckFailure
}

// outcome is what a write would do; nothing is stored before commit.
type outcome struct {
	old, new Item
	units    float64
}

// prepare finds everything that is wrong with the request whatever the table holds.
func (t *Tables) prepare(r writeRequest) (*write, error) {
	tb, err := t.table(r.table)
	if err != nil {
		return nil, err
	}
	w := &write{kind: r.kind, table: tb, onFailure: r.onFailure}
	p, err := t.placeholders(r.names, r.values)
	if err != nil {
		return nil, err
	}
	if w.update, err = p.update(r.update); err != nil {
		return nil, err
	}
	if w.condition, err = p.condition("ConditionExpression", r.condition); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if r.kind == writePut {
		if w.item, err = normalizeItem(r.item, 0); err != nil {
			return nil, err
		}
		w.id, err = tb.itemID(w.item)
	} else {
		w.id, w.item, err = tb.keyID(r.item)
	}
	if err != nil {
		return nil, err
	}
	for _, target := range w.update.targets() {
		if tb.isKey(target[0].name) {
			return nil, validation("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", target[0].name)
		}
	}
	if r.kind == writePut && ItemSize(w.item) > maxItemBytes {
		return nil, errItemSize()
	}
	return w, nil
}

// try judges the write against the table as it is now. The units are due even when it fails.
func (w *write) try() (outcome, error) {
	o := outcome{old: w.table.get(w.id)}
	o.units = writeUnits(ItemSize(o.old))
	if !passes(w.condition, o.old) {
		var seen Item
		if w.onFailure == types.ReturnValuesOnConditionCheckFailureAllOld {
			seen = CopyItem(o.old)
		}
		return o, errCondition(seen)
	}
	switch w.kind {
	case writePut:
		o.new = w.item
	case writeUpdate:
		base := o.old
		if base == nil {
			base = w.item // an update creates the item that is not there, from its key
		}
		changed, err := w.update.apply(base)
		if err != nil {
			return o, err
		}
		if ItemSize(changed) > maxItemBytes {
			return o, validation("Item size to update has exceeded the maximum allowed size")
		}
		o.new = changed
	case writeCheck:
		o.new = o.old
	case writeDelete:
	}
	o.units = writeUnits(max(ItemSize(o.old), ItemSize(o.new)))
	return o, nil
}

func (w *write) commit(o outcome) {
	if w.kind != writeCheck {
		w.table.set(w.id, o.new)
	}
}

// result is what the three plain writes answer from.
type result struct {
	write    *write
	outcome  outcome
	consumed *types.ConsumedCapacity
}

// single runs one plain write.
func (t *Tables) single(r writeRequest, want types.ReturnConsumedCapacity) (result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, err := t.prepare(r)
	if err != nil {
		return result{}, err
	}
	if t.hooks.Refuse != nil {
		if code := t.hooks.Refuse(w.table.name, w.table.keyOf(w.item)); code != "" {
			return result{}, refusal(code)
		}
	}
	o, err := w.try()
	used := consumedWrite(w.table, o.units, want)
	if err != nil {
		return result{}, err
	}
	w.commit(o)
	// What the caller gets must stay as it was when the lock was held.
	o.old, o.new = CopyItem(o.old), CopyItem(o.new)
	return result{w, o, used}, nil
}

// PutItem replaces a whole item. Errors: ConditionalCheckFailedException, ResourceNotFoundException,
// ValidationException.
func (t *Tables) PutItem(in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
	if len(in.Expected) > 0 || in.ConditionalOperator != "" {
		return nil, errLegacy("Expected")
	}
	if err := checkReturn(in.ReturnValues); err != nil {
		return nil, err
	}
	r, err := t.single(writeRequest{
		kind: writePut, table: in.TableName, item: in.Item, condition: in.ConditionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		onFailure: in.ReturnValuesOnConditionCheckFailure,
	}, in.ReturnConsumedCapacity)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.PutItemOutput{ConsumedCapacity: r.consumed}
	if in.ReturnValues == types.ReturnValueAllOld {
		out.Attributes = r.outcome.old
	}
	return out, nil
}

// DeleteItem deletes an item; one that does not exist is no error unless a condition says so.
func (t *Tables) DeleteItem(in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	if len(in.Expected) > 0 || in.ConditionalOperator != "" {
		return nil, errLegacy("Expected")
	}
	if err := checkReturn(in.ReturnValues); err != nil {
		return nil, err
	}
	r, err := t.single(writeRequest{
		kind: writeDelete, table: in.TableName, item: in.Key, condition: in.ConditionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		onFailure: in.ReturnValuesOnConditionCheckFailure,
	}, in.ReturnConsumedCapacity)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.DeleteItemOutput{ConsumedCapacity: r.consumed}
	if in.ReturnValues == types.ReturnValueAllOld {
		out.Attributes = r.outcome.old
	}
	return out, nil
}

// UpdateItem changes attributes of an item, creating it if it is not there. Everything an expression reads is
// read before anything is changed.
func (t *Tables) UpdateItem(in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	if len(in.Expected) > 0 || len(in.AttributeUpdates) > 0 || in.ConditionalOperator != "" {
		return nil, errLegacy("Expected, AttributeUpdates")
	}
	r, err := t.single(writeRequest{
		kind: writeUpdate, table: in.TableName, item: in.Key, update: in.UpdateExpression,
		condition: in.ConditionExpression, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		onFailure: in.ReturnValuesOnConditionCheckFailure,
	}, in.ReturnConsumedCapacity)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.UpdateItemOutput{ConsumedCapacity: r.consumed}
	touched := append(projection{}, r.write.update.targets()...) // empty keeps nothing, nil would keep all
	switch in.ReturnValues {
	case types.ReturnValueAllOld:
		out.Attributes = r.outcome.old
	case types.ReturnValueAllNew:
		out.Attributes = r.outcome.new
	case types.ReturnValueUpdatedOld:
		out.Attributes = touched.of(r.outcome.old)
	case types.ReturnValueUpdatedNew:
		out.Attributes = touched.of(r.outcome.new)
	}
	return out, nil
}

func checkReturn(v types.ReturnValue) error {
	switch v {
	case "", types.ReturnValueNone, types.ReturnValueAllOld:
		return nil
	}
	return validation("Return values set to invalid value")
}

func errLegacy(members string) error {
	return validation("legacy request members are not part of the embedded DynamoDB: %s", members)
}
