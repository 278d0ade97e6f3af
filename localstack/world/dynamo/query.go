package dynamo

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// pageRequest is what Query and Scan have in common.
type pageRequest struct {
	table      *string
	key        *string // nil for a scan
	filter     *string
	projection *string
	names      map[string]string
	values     Item
	start      Item
	limit      *int32
	forward    bool
	strong     bool
	selected   types.Select
	capacity   types.ReturnConsumedCapacity
}

type page struct {
	items    []Item
	count    int32
	scanned  int32
	last     Item
	consumed *types.ConsumedCapacity
}

// Query reads one page of one partition in the order of the sort key. Limit and the size of a page are applied
// before the filter, so a page may be short or empty while LastEvaluatedKey is set.
func (t *Tables) Query(in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	if len(in.KeyConditions)+len(in.QueryFilter)+len(in.AttributesToGet) > 0 || in.ConditionalOperator != "" {
		return nil, errLegacy("KeyConditions, QueryFilter, AttributesToGet")
	}
	if in.IndexName != nil {
		return nil, validation("The table does not have the specified index: %s", *in.IndexName)
	}
	if in.KeyConditionExpression == nil {
		return nil, validation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	p, err := t.page(pageRequest{
		table: in.TableName, key: in.KeyConditionExpression, filter: in.FilterExpression,
		projection: in.ProjectionExpression, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		start: in.ExclusiveStartKey, limit: in.Limit, forward: in.ScanIndexForward == nil || *in.ScanIndexForward,
		strong: aws.ToBool(in.ConsistentRead), selected: in.Select, capacity: in.ReturnConsumedCapacity,
	})
	if err != nil {
		return nil, err
	}
	return &dynamodb.QueryOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last, ConsumedCapacity: p.consumed,
	}, nil
}

// Scan reads one page of the whole table. Parallel segments are refused.
func (t *Tables) Scan(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	if len(in.ScanFilter)+len(in.AttributesToGet) > 0 || in.ConditionalOperator != "" {
		return nil, errLegacy("ScanFilter, AttributesToGet")
	}
	if in.IndexName != nil {
		return nil, validation("The table does not have the specified index: %s", *in.IndexName)
	}
	if in.Segment != nil || in.TotalSegments != nil {
		return nil, validation("parallel scans are not part of the embedded DynamoDB")
	}
	p, err := t.page(pageRequest{
		table: in.TableName, filter: in.FilterExpression, projection: in.ProjectionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, start: in.ExclusiveStartKey,
		limit: in.Limit, forward: true, strong: aws.ToBool(in.ConsistentRead), selected: in.Select,
		capacity: in.ReturnConsumedCapacity,
	})
	if err != nil {
		return nil, err
	}
	return &dynamodb.ScanOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last, ConsumedCapacity: p.consumed,
	}, nil
}

// reader is a parsed pageRequest.
type reader struct {
	pageRequest
	table  *table
	key    keyCondition
	filter condition
	keep   projection
}

func (t *Tables) page(r pageRequest) (*page, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.limit != nil && *r.limit < 1 {
		return nil, validation("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *r.limit)
	}
	tb, err := t.table(r.table)
	if err != nil {
		return nil, err
	}
	x := &reader{pageRequest: r, table: tb}
	if err := t.parsePage(x); err != nil {
		return nil, err
	}
	rows, err := x.rows()
	if err != nil {
		return nil, err
	}
	return x.read(rows, t.opts.PageBytes), nil
}

func (t *Tables) parsePage(x *reader) error {
	p, err := t.placeholders(x.names, x.values)
	if err != nil {
		return err
	}
	key, err := p.condition("KeyConditionExpression", x.pageRequest.key)
	if err != nil {
		return err
	}
	if key != nil {
		if x.key, err = x.table.keyCondition(key); err != nil {
			return err
		}
	}
	p.roots = nil
	if x.filter, err = p.condition("FilterExpression", x.pageRequest.filter); err != nil {
		return err
	}
	for _, name := range p.roots {
		if key != nil && x.table.isKey(name) {
			return validation("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	if x.keep, err = p.projection(x.projection); err != nil {
		return err
	}
	if x.selected == types.SelectSpecificAttributes && x.projection == nil {
		return validation("One or more parameter values were invalid: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	}
	return p.finish()
}

// rows lists, in reading order, what comes after the start key and meets the key condition.
func (x *reader) rows() ([]Item, error) {
	rows := x.table.all()
	after := x.table.byKey
	if x.pageRequest.key != nil {
		rows = x.table.sorted(scalarText(x.key.partition))
		rows = slices.DeleteFunc(rows, func(i Item) bool { return !passes(x.key.sort, i) })
		after = x.table.bySortKey
	}
	if !x.forward {
		slices.Reverse(rows)
	}
	if x.start == nil {
		return rows, nil
	}
	_, start, err := x.table.keyID(x.start)
	if err != nil || (x.pageRequest.key != nil && !equal(start[x.table.partition.name], x.key.partition)) {
		return nil, validation("The provided starting key is invalid")
	}
	if x.pageRequest.key != nil && x.table.sort == nil {
		return nil, nil // a partition without a sort key is one item, and that was read
	}
	return slices.DeleteFunc(rows, func(i Item) bool {
		o := after(i, start)
		if !x.forward {
			o = -o
		}
		return o <= 0
	}), nil
}

func (x *reader) read(rows []Item, pageBytes int) *page {
	p := &page{}
	if x.selected != types.SelectCount {
		p.items = []Item{}
	}
	size := 0
	for i, row := range rows {
		size += ItemSize(row)
		p.scanned++
		if passes(x.filter, row) {
			p.count++
			if p.items != nil {
				p.items = append(p.items, x.keep.of(row))
			}
		}
		// At its limit AWS stops without looking whether more follows; at the size limit it knows that more does.
		atLimit := x.limit != nil && p.scanned == *x.limit
		if atLimit || (size >= pageBytes && i < len(rows)-1) {
			p.last = x.table.keyOf(row)
			break
		}
	}
	p.consumed = consumedRead(x.table, readUnits(size, x.strong), x.capacity)
	return p
}
