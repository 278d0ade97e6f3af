package dynamo

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// equal compares two values of any type; values of different types are never equal. Sets have no order.
func equal(a, b types.AttributeValue) bool {
	if typeName(a) != typeName(b) {
		return false
	}
	switch x := a.(type) {
	case *types.AttributeValueMemberBOOL:
		return x.Value == b.(*types.AttributeValueMemberBOOL).Value
	case *types.AttributeValueMemberNULL:
		return true
	case *types.AttributeValueMemberL:
		return slices.EqualFunc(x.Value, b.(*types.AttributeValueMemberL).Value, equal)
	case *types.AttributeValueMemberM:
		return equalItems(x.Value, b.(*types.AttributeValueMemberM).Value)
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		left, right := setMembers(a), setMembers(b)
		slices.Sort(left)
		slices.Sort(right)
		return slices.Equal(left, right)
	}
	order, ok := order(a, b)
	return ok && order == 0
}

func equalItems(a, b Item) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		other, ok := b[name]
		if !ok || !equal(v, other) {
			return false
		}
	}
	return true
}

// order compares two values of one ordered type (S, N, B); ok is false for any other pair, which makes every
// comparison of it false, as on AWS.
func order(a, b types.AttributeValue) (result int, ok bool) {
	switch x := a.(type) {
	case *types.AttributeValueMemberS:
		if y, same := b.(*types.AttributeValueMemberS); same {
			return cmp.Compare(x.Value, y.Value), true
		}
	case *types.AttributeValueMemberB:
		if y, same := b.(*types.AttributeValueMemberB); same {
			return bytes.Compare(x.Value, y.Value), true
		}
	case *types.AttributeValueMemberN:
		y, same := b.(*types.AttributeValueMemberN)
		if !same {
			return 0, false
		}
		left, errLeft := parseNumber(x.Value)
		right, errRight := parseNumber(y.Value)
		if errLeft != nil || errRight != nil {
			return 0, false
		}
		return left.Cmp(right), true
	}
	return 0, false
}

// ItemSize returns the size in bytes that DynamoDB charges and limits: names and values in UTF-8.
// Source: AWS developer guide, "DynamoDB item sizes and formats".
func ItemSize(item Item) int {
	size := 0
	for name, v := range item {
		size += len(name) + valueSize(v)
	}
	return size
}

func valueSize(v types.AttributeValue) int {
	const containerOverhead = 3 // and one byte for each element
	size := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberNS:
		for _, n := range v.Value {
			size += numberSize(n)
		}
		return size
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			size += valueSize(e) + 1
		}
		return size + containerOverhead
	case *types.AttributeValueMemberM:
		return ItemSize(v.Value) + len(v.Value) + containerOverhead
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberBS:
		for _, m := range setMembers(v) {
			size += len(m)
		}
		return size
	}
	return 1
}
