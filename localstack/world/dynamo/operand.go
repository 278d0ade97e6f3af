package dynamo

import (
	"errors"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// errMissing says that an operand names an attribute that the item does not have.
var errMissing = errors.New("attribute does not exist")

// operand is a part of an expression that has a value for a given item.
type operand interface {
	value(item Item) (types.AttributeValue, error)
}

type literal struct{ types.AttributeValue }

func (l literal) value(Item) (types.AttributeValue, error) { return l.AttributeValue, nil }

func (p path) value(item Item) (types.AttributeValue, error) {
	if v, ok := p.lookup(item); ok {
		return v, nil
	}
	return nil, errMissing
}

// sizeOf is the function size(path).
type sizeOf struct{ of operand }

func (s sizeOf) value(item Item) (types.AttributeValue, error) {
	v, err := s.of.value(item)
	if err != nil {
		return nil, err
	}
	n := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		n = len(v.Value)
	case *types.AttributeValueMemberB:
		n = len(v.Value)
	case *types.AttributeValueMemberL:
		n = len(v.Value)
	case *types.AttributeValueMemberM:
		n = len(v.Value)
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		n = len(setMembers(v))
	default:
		return nil, errMissing // numbers and booleans have no size: the comparison is false
	}
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}, nil
}

// conditionOperand reads path, :value or size(path).
func (x *parser) conditionOperand() operand {
	if name, isCall := x.call(); isCall {
		if name != "size" {
			x.badFunction(name)
			return nil
		}
		x.take()
		x.expect("(")
		of := x.pathOrLiteral()
		x.expect(")")
		x.checkLiteral("size", of, "S", "B", "SS", "NS", "BS", "L", "M")
		return sizeOf{of}
	}
	return x.pathOrLiteral()
}

func (x *parser) pathOrLiteral() operand {
	if x.peek().kind == tokenValue {
		return x.literal()
	}
	return x.path()
}

func (x *parser) badFunction(name string) {
	switch name {
	case "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size",
		"if_not_exists", "list_append":
		x.fail("The function is not allowed to be used this way in an expression; function: %s", name)
	default:
		x.fail("Invalid function name; function: %s", name)
	}
}

// checkLiteral refuses a literal of a type that the operator can never compare, as AWS does before it reads.
func (x *parser) checkLiteral(operator string, o operand, allowed ...string) {
	l, ok := o.(literal)
	if !ok || x.err != nil {
		return
	}
	kind := typeName(l.AttributeValue)
	for _, a := range allowed {
		if a == kind {
			return
		}
	}
	x.fail("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", operator, kind)
}

func hasPrefix(v, prefix types.AttributeValue) bool {
	switch x := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := prefix.(*types.AttributeValueMemberS)
		return ok && strings.HasPrefix(x.Value, p.Value)
	case *types.AttributeValueMemberB:
		p, ok := prefix.(*types.AttributeValueMemberB)
		return ok && strings.HasPrefix(string(x.Value), string(p.Value))
	}
	return false
}

// contains is a substring for strings and binaries, a member for sets and lists.
func contains(v, part types.AttributeValue) bool {
	switch x := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := part.(*types.AttributeValueMemberS)
		return ok && strings.Contains(x.Value, p.Value)
	case *types.AttributeValueMemberB:
		p, ok := part.(*types.AttributeValueMemberB)
		return ok && strings.Contains(string(x.Value), string(p.Value))
	case *types.AttributeValueMemberL:
		for _, e := range x.Value {
			if equal(e, part) {
				return true
			}
		}
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return typeName(v) == typeName(part)+"S" && containsMember(v, part)
	}
	return false
}

func containsMember(set, member types.AttributeValue) bool {
	for _, m := range setMembers(set) {
		switch x := member.(type) {
		case *types.AttributeValueMemberS:
			if m == x.Value {
				return true
			}
		case *types.AttributeValueMemberN:
			if m == x.Value {
				return true
			}
		case *types.AttributeValueMemberB:
			if m == string(x.Value) {
				return true
			}
		}
	}
	return false
}
