package dynamo

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Size limits in bytes. Source: AWS developer guide, "Constraints in Amazon DynamoDB".
const (
	maxItemBytes    = 400 << 10
	maxPartitionKey = 2048
	maxSortKey      = 1024
)

func errItemSize() error { return validation("Item size has exceeded the maximum allowed size") }

// keyAttribute is one attribute of a table's key.
type keyAttribute struct {
	name string
	kind string // S, N or B
}

// itemID is the canonical text of a key; sort is empty for a table without a sort key.
type itemID struct{ partition, sort string }

type table struct {
	name        string
	description types.TableDescription
	partition   keyAttribute
	sort        *keyAttribute
	rows        map[string]map[string]Item // by partition, then by sort key
	ttl         string                     // attribute name, empty when off
	created     time.Time
	usage       Usage
}

func (tb *table) keys() []keyAttribute {
	if tb.sort == nil {
		return []keyAttribute{tb.partition}
	}
	return []keyAttribute{tb.partition, *tb.sort}
}

func (tb *table) isKey(name string) bool {
	return slices.ContainsFunc(tb.keys(), func(k keyAttribute) bool { return k.name == name })
}

// keyID checks a request's key, which must hold the key attributes and nothing else, and normalizes it.
func (tb *table) keyID(key Item) (itemID, Item, error) {
	if len(key) != len(tb.keys()) {
		return itemID{}, nil, validation("The provided key element does not match the schema")
	}
	clean, err := normalizeItem(key, 0)
	if err != nil {
		return itemID{}, nil, err
	}
	for _, k := range tb.keys() {
		if v, ok := clean[k.name]; !ok || typeName(v) != k.kind {
			return itemID{}, nil, validation("The provided key element does not match the schema")
		}
	}
	id, err := tb.itemID(clean)
	return id, clean, err
}

// itemID reads the key out of a whole item.
func (tb *table) itemID(item Item) (itemID, error) {
	var parts [2]string
	for i, k := range tb.keys() {
		v, ok := item[k.name]
		if !ok {
			return itemID{}, validation("One or more parameter values were invalid: Missing the key %s in the item", k.name)
		}
		if typeName(v) != k.kind {
			return itemID{}, validation("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s",
				k.name, k.kind, typeName(v))
		}
		parts[i] = scalarText(v)
		limit := maxPartitionKey
		if i == 1 {
			limit = maxSortKey
		}
		if parts[i] == "" {
			return itemID{}, validation("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", k.name)
		}
		if len(parts[i]) > limit {
			return itemID{}, validation("One or more parameter values were invalid: Size of key %s has exceeded the maximum size limit of %d bytes", k.name, limit)
		}
	}
	return itemID{parts[0], parts[1]}, nil
}

func scalarText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	}
	return ""
}

func (tb *table) get(id itemID) Item { return tb.rows[id.partition][id.sort] }

// set stores an item; nil deletes it. The table owns item from here on.
func (tb *table) set(id itemID, item Item) {
	if item == nil {
		delete(tb.rows[id.partition], id.sort)
		if len(tb.rows[id.partition]) == 0 {
			delete(tb.rows, id.partition)
		}
		return
	}
	if tb.rows[id.partition] == nil {
		tb.rows[id.partition] = make(map[string]Item)
	}
	tb.rows[id.partition][id.sort] = item
}

// sorted returns the rows of one partition in the order of the sort key.
func (tb *table) sorted(partition string) []Item {
	rows := slices.Collect(maps.Values(tb.rows[partition]))
	if tb.sort != nil {
		slices.SortFunc(rows, tb.bySortKey)
	}
	return rows
}

func (tb *table) bySortKey(a, b Item) int {
	if tb.sort == nil {
		return 0
	}
	o, _ := order(a[tb.sort.name], b[tb.sort.name])
	return o
}

// all returns every row, partitions in the order of their text. AWS gives no order; this one is at least stable.
func (tb *table) all() []Item {
	var out []Item
	for _, p := range slices.Sorted(maps.Keys(tb.rows)) {
		out = append(out, tb.sorted(p)...)
	}
	return out
}

func (tb *table) byKey(a, b Item) int {
	return cmp.Or(cmp.Compare(scalarText(a[tb.partition.name]), scalarText(b[tb.partition.name])), tb.bySortKey(a, b))
}

// keyOf cuts an item down to its key.
func (tb *table) keyOf(item Item) Item {
	key := Item{}
	for _, k := range tb.keys() {
		key[k.name] = copyValue(item[k.name])
	}
	return key
}
