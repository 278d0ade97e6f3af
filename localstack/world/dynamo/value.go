package dynamo

import (
	"bytes"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is one row, or the key of one.
type Item = map[string]types.AttributeValue

// maxDepth is how deep lists and maps may nest. Source: AWS developer guide, "Constraints".
const maxDepth = 32

// CopyItem returns a deep copy, so that no caller shares memory with the table.
func CopyItem(item Item) Item {
	if item == nil {
		return nil
	}
	out := make(Item, len(item))
	for name, v := range item {
		out[name] = copyValue(v)
	}
	return out
}

func copyValue(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	case *types.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberBS:
		out := make([][]byte, len(v.Value))
		for i, b := range v.Value {
			out[i] = bytes.Clone(b)
		}
		return &types.AttributeValueMemberBS{Value: out}
	case *types.AttributeValueMemberL:
		out := make([]types.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			out[i] = copyValue(e)
		}
		return &types.AttributeValueMemberL{Value: out}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: CopyItem(v.Value)}
	}
	return v
}

// typeName is the letter code that AWS uses for the type of a value.
func typeName(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	}
	return ""
}

// normalize checks a value and returns it in canonical form, sharing nothing with the argument.
func normalize(v types.AttributeValue, depth int) (types.AttributeValue, error) {
	if depth > maxDepth {
		return nil, validation("Nesting Levels have exceeded supported limits: attributes nested too deep")
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		r, err := parseNumber(v.Value)
		if err != nil {
			return nil, err
		}
		return &types.AttributeValueMemberN{Value: formatNumber(r)}, nil
	case *types.AttributeValueMemberNULL:
		if !v.Value {
			return nil, validation("One or more parameter values were invalid: Null attribute value types must have the value of true")
		}
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return normalizeSet(v)
	case *types.AttributeValueMemberL:
		out := make([]types.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			n, err := normalize(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = n
		}
		return &types.AttributeValueMemberL{Value: out}, nil
	case *types.AttributeValueMemberM:
		m, err := normalizeItem(v.Value, depth+1)
		if err != nil {
			return nil, err
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	}
	if typeName(v) == "" {
		return nil, validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	return copyValue(v), nil
}

func normalizeItem(item Item, depth int) (Item, error) {
	out := make(Item, len(item))
	for name, v := range item {
		if name == "" {
			return nil, validation("One or more parameter values were invalid: An attribute name may not be empty")
		}
		n, err := normalize(v, depth)
		if err != nil {
			return nil, err
		}
		out[name] = n
	}
	return out, nil
}

func normalizeSet(v types.AttributeValue) (types.AttributeValue, error) {
	members := setMembers(v)
	if len(members) == 0 {
		return nil, validation("One or more parameter values were invalid: An %s set may not be empty",
			map[string]string{"SS": "string", "NS": "number", "BS": "binary"}[typeName(v)])
	}
	if ns, ok := v.(*types.AttributeValueMemberNS); ok {
		for i, text := range ns.Value {
			r, err := parseNumber(text)
			if err != nil {
				return nil, err
			}
			members[i] = formatNumber(r)
		}
	}
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		if seen[m] {
			return nil, validation("One or more parameter values were invalid: Input collection [%s] contains duplicates.",
				strings.Join(members, ", "))
		}
		seen[m] = true
	}
	return makeSet(typeName(v), members), nil
}

// setMembers lists a set as strings, whatever its type, in a new slice; nil if v is no set.
func setMembers(v types.AttributeValue) []string {
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		return slices.Clone(v.Value)
	case *types.AttributeValueMemberNS:
		return slices.Clone(v.Value)
	case *types.AttributeValueMemberBS:
		out := make([]string, len(v.Value))
		for i, b := range v.Value {
			out[i] = string(b)
		}
		return out
	}
	return nil
}

func makeSet(kind string, members []string) types.AttributeValue {
	switch kind {
	case "NS":
		return &types.AttributeValueMemberNS{Value: members}
	case "BS":
		out := make([][]byte, len(members))
		for i, m := range members {
			out[i] = []byte(m)
		}
		return &types.AttributeValueMemberBS{Value: out}
	}
	return &types.AttributeValueMemberSS{Value: members}
}
