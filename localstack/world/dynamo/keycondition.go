package dynamo

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// keyCondition is a key condition expression read against a table's key.
type keyCondition struct {
	partition types.AttributeValue
	sort      condition // nil takes the whole partition
}

// keyCondition accepts what AWS accepts: the partition key equal to a value, and at most one condition of the
// permitted kinds on the sort key.
func (tb *table) keyCondition(c condition) (keyCondition, error) {
	var k keyCondition
	for _, part := range conjuncts(c) {
		name, values, ok := keyPart(part)
		if !ok {
			return k, validation("Invalid operator used in KeyConditionExpression")
		}
		var attribute keyAttribute
		switch {
		case name == tb.partition.name && k.partition == nil:
			attribute = tb.partition
			if x, isComparison := part.(comparison); !isComparison || x.op != "=" {
				return k, validation("Query key condition not supported")
			}
			k.partition = values[0]
		case tb.sort != nil && name == tb.sort.name && k.sort == nil:
			attribute = *tb.sort
			k.sort = part
		default:
			return k, validation("Query condition missed key schema element: %s", tb.partition.name)
		}
		for _, v := range values {
			if typeName(v) != attribute.kind {
				return k, validation("One or more parameter values were invalid: Condition parameter type does not match schema type")
			}
		}
	}
	if k.partition == nil {
		return k, validation("Query condition missed key schema element: %s", tb.partition.name)
	}
	return k, nil
}

func conjuncts(c condition) []condition {
	if b, ok := c.(both); ok {
		return append(conjuncts(b.left), conjuncts(b.right)...)
	}
	return []condition{c}
}

// keyPart takes apart one condition of the form attribute, operator, literals.
func keyPart(c condition) (name string, values []types.AttributeValue, ok bool) {
	var of operand
	var with []operand
	switch c := c.(type) {
	case comparison:
		if c.op == "<>" {
			return "", nil, false
		}
		of, with = c.left, []operand{c.right}
	case between:
		of, with = c.of, []operand{c.low, c.high}
	case function:
		if c.name != "begins_with" {
			return "", nil, false
		}
		of, with = c.of, []operand{c.with}
	default:
		return "", nil, false
	}
	p, isPath := of.(path)
	if !isPath || len(p) != 1 {
		return "", nil, false
	}
	for _, w := range with {
		l, isLiteral := w.(literal)
		if !isLiteral {
			return "", nil, false
		}
		values = append(values, l.AttributeValue)
	}
	return p[0].name, values, true
}
