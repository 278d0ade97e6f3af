package dynamo

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// parser reads one expression by recursive descent. The first error sticks and moves the parser to the end, so
// that every rule can go on without looking.
type parser struct {
	*placeholders
	kind   string // the request member, for the error text
	text   string
	tokens []token
	pos    int
	err    error
}

// parse runs rule over the whole of text.
func (p *placeholders) parse(kind, text string, rule func(*parser)) error {
	p.parsed = true
	if strings.TrimSpace(text) == "" {
		return validation("Invalid %s: The expression can not be empty;", kind)
	}
	x := &parser{placeholders: p, kind: kind, text: text}
	tokens, bad, ok := lex(text)
	if !ok {
		x.tokens = []token{{kind: tokenEnd}}
		x.syntax(bad)
		return x.err
	}
	x.tokens = tokens
	rule(x)
	if x.err == nil && x.peek().kind != tokenEnd {
		x.syntax(x.peek())
	}
	return x.err
}

func (x *parser) fail(format string, args ...any) {
	if x.err == nil {
		x.err = validation("Invalid "+x.kind+": "+format, args...)
	}
	x.pos = len(x.tokens) - 1
}

func (x *parser) syntax(t token) {
	from, to := max(0, t.at-10), min(len(x.text), t.at+len(t.text)+10)
	x.fail("Syntax error; token: %q, near: %q", t.text, x.text[min(from, len(x.text)):to])
}

func (x *parser) peek() token { return x.tokens[x.pos] }

func (x *parser) take() token {
	t := x.tokens[x.pos]
	if t.kind != tokenEnd {
		x.pos++
	}
	return t
}

// symbol takes the given symbol if it is next.
func (x *parser) symbol(text string) bool {
	if t := x.peek(); t.kind == tokenSymbol && t.text == text {
		x.pos++
		return true
	}
	return false
}

func (x *parser) expect(text string) {
	if !x.symbol(text) {
		x.syntax(x.peek())
	}
}

// keyword takes the given word if it is next; keywords have no case.
func (x *parser) keyword(word string) bool {
	if t := x.peek(); t.kind == tokenWord && strings.EqualFold(t.text, word) {
		x.pos++
		return true
	}
	return false
}

// call reports whether a function call is next, and of what.
func (x *parser) call() (string, bool) {
	if x.peek().kind != tokenWord || x.pos+1 >= len(x.tokens) {
		return "", false
	}
	after := x.tokens[x.pos+1]
	return x.peek().text, after.kind == tokenSymbol && after.text == "("
}

// step is one part of a document path: a name, or an index when the name is empty.
type step struct {
	name  string
	index int
}

type path []step

func (p path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

func (x *parser) path() path {
	p := path{{name: x.attribute()}}
	x.roots = append(x.roots, p[0].name)
	for x.err == nil {
		switch {
		case x.symbol("."):
			p = append(p, step{name: x.attribute()})
		case x.symbol("["):
			t := x.take()
			n, err := strconv.Atoi(t.text)
			if t.kind != tokenIndex || err != nil {
				x.syntax(t)
				return p
			}
			x.expect("]")
			p = append(p, step{index: n})
		default:
			return p
		}
	}
	return p
}

func (x *parser) attribute() string {
	t := x.take()
	switch t.kind {
	case tokenWord:
		if x.reserved[strings.ToUpper(t.text)] {
			x.fail("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
		}
		return t.text
	case tokenName:
		name, ok := x.names[t.text]
		if !ok {
			x.fail("An expression attribute name used in the document path is not defined; attribute name: %s", t.text)
		}
		x.usedNames[t.text] = true
		return name
	case tokenEnd, tokenValue, tokenIndex, tokenSymbol:
	}
	x.syntax(t)
	return ""
}

func (x *parser) literal() literal {
	t := x.take()
	if t.kind != tokenValue {
		x.syntax(t)
		return literal{}
	}
	v, ok := x.values[t.text]
	if !ok {
		x.fail("An expression attribute value used in expression is not defined; attribute value: %s", t.text)
	}
	x.usedValues[t.text] = true
	return literal{v}
}

// lookup finds the value at a path; ok is false if any part of it is missing.
func (p path) lookup(item Item) (v types.AttributeValue, ok bool) {
	v = &types.AttributeValueMemberM{Value: item}
	for _, s := range p {
		switch at := v.(type) {
		case *types.AttributeValueMemberM:
			if v, ok = at.Value[s.name]; !ok || s.name == "" {
				return nil, false
			}
		case *types.AttributeValueMemberL:
			if s.name != "" || s.index >= len(at.Value) {
				return nil, false
			}
			v = at.Value[s.index]
		default:
			return nil, false
		}
	}
	return v, true
}
