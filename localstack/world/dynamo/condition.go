package dynamo

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// condition is a parsed condition, filter or key condition. An attribute that is missing or of another type is
// no error: the comparison is false (for <> it is true).
type condition interface {
	holds(item Item) bool
}

type (
	both    struct{ left, right condition }
	either  struct{ left, right condition }
	negated struct{ of condition }

	exists struct {
		path path
		want bool
	}
	comparison struct {
		left  operand
		op    string
		right operand
	}
	between struct{ of, low, high operand }
	oneOf   struct {
		of   operand
		list []operand
	}
	// function is begins_with, contains or attribute_type.
	function struct {
		name     string
		of, with operand
	}
)

func (c both) holds(i Item) bool    { return c.left.holds(i) && c.right.holds(i) }
func (c either) holds(i Item) bool  { return c.left.holds(i) || c.right.holds(i) }
func (c negated) holds(i Item) bool { return !c.of.holds(i) }

func (c exists) holds(i Item) bool {
	_, ok := c.path.lookup(i)
	return ok == c.want
}

func (c comparison) holds(i Item) bool {
	left, errLeft := c.left.value(i)
	right, errRight := c.right.value(i)
	if errLeft != nil || errRight != nil {
		return c.op == "<>"
	}
	switch c.op {
	case "=":
		return equal(left, right)
	case "<>":
		return !equal(left, right)
	}
	o, ok := order(left, right)
	return ok && ordered(c.op, o)
}

func ordered(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

func (c between) holds(i Item) bool {
	return comparison{c.of, ">=", c.low}.holds(i) && comparison{c.of, "<=", c.high}.holds(i)
}

func (c oneOf) holds(i Item) bool {
	for _, o := range c.list {
		if (comparison{c.of, "=", o}).holds(i) {
			return true
		}
	}
	return false
}

func (c function) holds(i Item) bool {
	of, errOf := c.of.value(i)
	with, errWith := c.with.value(i)
	if errOf != nil || errWith != nil {
		return false
	}
	switch c.name {
	case "begins_with":
		return hasPrefix(of, with)
	case "contains":
		return contains(of, with)
	default:
		name, ok := with.(*types.AttributeValueMemberS)
		return ok && typeName(of) == name.Value
	}
}

// condition parses text; nil for nil, which every item passes.
func (p *placeholders) condition(kind string, text *string) (condition, error) {
	if text == nil {
		return nil, nil
	}
	var c condition
	err := p.parse(kind, *text, func(x *parser) { c = x.or() })
	return c, err
}

func passes(c condition, item Item) bool { return c == nil || c.holds(item) }

func (x *parser) or() condition {
	c := x.and()
	for x.keyword("OR") {
		c = either{c, x.and()}
	}
	return c
}

func (x *parser) and() condition {
	c := x.not()
	for x.keyword("AND") {
		c = both{c, x.not()}
	}
	return c
}

func (x *parser) not() condition {
	if x.keyword("NOT") {
		return negated{x.not()}
	}
	if x.symbol("(") {
		c := x.or()
		x.expect(")")
		return c
	}
	if name, isCall := x.call(); isCall && name != "size" {
		return x.functionCall(name)
	}
	return x.comparison()
}

func (x *parser) functionCall(name string) condition {
	x.take()
	x.expect("(")
	var c condition
	switch name {
	case "attribute_exists", "attribute_not_exists":
		c = exists{x.path(), name == "attribute_exists"}
	case "begins_with", "contains", "attribute_type":
		f := function{name: name, of: x.conditionOperand()}
		x.expect(",")
		f.with = x.conditionOperand()
		x.checkFunction(f)
		c = f
	default:
		x.badFunction(name)
	}
	x.expect(")")
	return c
}

func (x *parser) checkFunction(f function) {
	switch f.name {
	case "begins_with":
		x.checkLiteral(f.name, f.of, "S", "B")
		x.checkLiteral(f.name, f.with, "S", "B")
	case "attribute_type":
		x.checkLiteral(f.name, f.with, "S")
		l, ok := f.with.(literal)
		name, isText := l.AttributeValue.(*types.AttributeValueMemberS)
		if x.err != nil || !ok || !isText {
			return
		}
		switch name.Value {
		case "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M":
		default:
			x.fail("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", name.Value)
		}
	}
}

func (x *parser) comparison() condition {
	left := x.conditionOperand()
	t := x.take()
	switch t.text {
	case "=", "<>":
		return comparison{left, t.text, x.conditionOperand()}
	case "<", "<=", ">", ">=":
		c := comparison{left, t.text, x.conditionOperand()}
		x.checkLiteral(t.text, c.left, "S", "N", "B")
		x.checkLiteral(t.text, c.right, "S", "N", "B")
		return c
	}
	if t.kind == tokenWord {
		x.pos--
		switch {
		case x.keyword("BETWEEN"):
			return x.between(left)
		case x.keyword("IN"):
			return x.in(left)
		}
	}
	x.syntax(t)
	return nil
}

func (x *parser) between(of operand) condition {
	c := between{of: of, low: x.conditionOperand()}
	if !x.keyword("AND") {
		x.syntax(x.peek())
	}
	c.high = x.conditionOperand()
	x.checkLiteral("BETWEEN", c.low, "S", "N", "B")
	x.checkLiteral("BETWEEN", c.high, "S", "N", "B")
	low, lowFixed := c.low.(literal)
	high, highFixed := c.high.(literal)
	if x.err != nil || !lowFixed || !highFixed {
		return c
	}
	o, same := order(low.AttributeValue, high.AttributeValue)
	if !same {
		x.fail("The BETWEEN operator requires same data type for lower and upper bounds")
	} else if o > 0 {
		x.fail("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
	}
	return c
}

func (x *parser) in(of operand) condition {
	const maxOperands = 100 // Source: AWS developer guide, "Condition and filter expressions".
	c := oneOf{of: of}
	x.expect("(")
	for x.err == nil {
		c.list = append(c.list, x.conditionOperand())
		if !x.symbol(",") {
			break
		}
	}
	x.expect(")")
	if len(c.list) > maxOperands {
		x.fail("Too many operands for the operator IN; number of operands: %d", len(c.list))
	}
	return c
}
