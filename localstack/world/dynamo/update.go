package dynamo

import (
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// update is a parsed update expression.
type update struct {
	sets    []setAction
	removes []path
	adds    []setAction
	deletes []setAction
}

type setAction struct {
	path path
	from operand
}

type (
	sum struct {
		left, right operand
		minus       bool
	}
	ifNotExists struct {
		path path
		or   operand
	}
	listAppend struct{ left, right operand }
)

func (p *placeholders) update(text *string) (update, error) {
	var u update
	if text == nil {
		return u, nil
	}
	err := p.parse("UpdateExpression", *text, func(x *parser) { x.sections(&u) })
	return u, err
}

func (x *parser) sections(u *update) {
	seen := make(map[string]bool)
	for x.err == nil && x.peek().kind != tokenEnd {
		t := x.take()
		name := strings.ToUpper(t.text)
		if seen[name] {
			x.fail("The %q section can only be used once in an update expression;", name)
			return
		}
		seen[name] = true
		switch name {
		case "SET":
			x.list(func() { u.sets = append(u.sets, x.assignment()) })
		case "REMOVE":
			x.list(func() { u.removes = append(u.removes, x.path()) })
		case "ADD":
			x.list(func() { u.adds = append(u.adds, x.pair("ADD", "N", "SS", "NS", "BS")) })
		case "DELETE":
			x.list(func() { u.deletes = append(u.deletes, x.pair("DELETE", "SS", "NS", "BS")) })
		default:
			x.syntax(t)
		}
	}
	if x.err == nil {
		x.checkOverlap(u.targets())
	}
}

func (x *parser) list(one func()) {
	one()
	for x.err == nil && x.symbol(",") {
		one()
	}
}

func (x *parser) assignment() setAction {
	a := setAction{path: x.path()}
	x.expect("=")
	a.from = x.setOperand()
	for x.err == nil {
		switch {
		case x.symbol("+"):
			a.from = sum{left: a.from, right: x.setOperand()}
		case x.symbol("-"):
			a.from = sum{left: a.from, right: x.setOperand(), minus: true}
		default:
			return a
		}
		s := a.from.(sum)
		operator := "+"
		if s.minus {
			operator = "-"
		}
		x.checkLiteral(operator, s.left, "N")
		x.checkLiteral(operator, s.right, "N")
		// AWS allows one arithmetic operator in an assignment.
		if next := x.peek(); next.text == "+" || next.text == "-" {
			x.syntax(next)
		}
	}
	return a
}

func (x *parser) setOperand() operand {
	if x.symbol("(") {
		o := x.setOperand()
		x.expect(")")
		return o
	}
	name, isCall := x.call()
	if !isCall {
		return x.pathOrLiteral()
	}
	if name != "if_not_exists" && name != "list_append" {
		x.badFunction(name)
		return nil
	}
	x.take()
	x.expect("(")
	var o operand
	if name == "if_not_exists" {
		f := ifNotExists{path: x.path()}
		x.expect(",")
		f.or = x.setOperand()
		o = f
	} else {
		f := listAppend{left: x.setOperand()}
		x.expect(",")
		f.right = x.setOperand()
		x.checkLiteral(name, f.left, "L")
		x.checkLiteral(name, f.right, "L")
		o = f
	}
	x.expect(")")
	return o
}

func (x *parser) pair(section string, kinds ...string) setAction {
	a := setAction{path: x.path(), from: x.literal()}
	x.checkLiteral(section, a.from, kinds...)
	return a
}

func (u *update) targets() []path {
	var all []path
	for _, list := range [][]setAction{u.sets, u.adds, u.deletes} {
		for _, a := range list {
			all = append(all, a.path)
		}
	}
	return append(all, u.removes...)
}

func (x *parser) checkOverlap(targets []path) {
	for i, a := range targets {
		for _, b := range targets[:i] {
			n := min(len(a), len(b))
			if slices.Equal(a[:n], b[:n]) {
				x.fail("Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [%s], path two: [%s]", b, a)
				return
			}
		}
	}
}

func (s sum) value(item Item) (types.AttributeValue, error) {
	left, err := numberOf(s.left, item)
	if err != nil {
		return nil, err
	}
	right, err := numberOf(s.right, item)
	if err != nil {
		return nil, err
	}
	if s.minus {
		right.Neg(right)
	}
	return addNumbers(left, right)
}

func numberOf(o operand, item Item) (*big.Rat, error) {
	v, err := o.value(item)
	if err != nil {
		return nil, err
	}
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return nil, validation("An operand in the update expression has an incorrect data type")
	}
	return parseNumber(n.Value)
}

func addNumbers(left, right *big.Rat) (types.AttributeValue, error) {
	result := left.Add(left, right)
	if err := checkNumber(result); err != nil {
		return nil, err
	}
	return &types.AttributeValueMemberN{Value: formatNumber(result)}, nil
}

func (f ifNotExists) value(item Item) (types.AttributeValue, error) {
	if v, ok := f.path.lookup(item); ok {
		return v, nil
	}
	return f.or.value(item)
}

func (f listAppend) value(item Item) (types.AttributeValue, error) {
	var all []types.AttributeValue
	for _, o := range []operand{f.left, f.right} {
		v, err := o.value(item)
		if err != nil {
			return nil, err
		}
		l, ok := v.(*types.AttributeValueMemberL)
		if !ok {
			return nil, validation("An operand in the update expression has an incorrect data type")
		}
		all = append(all, l.Value...)
	}
	return &types.AttributeValueMemberL{Value: all}, nil
}

// operandError turns a missing attribute into the error that an update gives for it.
func operandError(err error) error {
	if errors.Is(err, errMissing) {
		return validation("The provided expression refers to an attribute that does not exist in the item")
	}
	return err
}
