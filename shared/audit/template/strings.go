package template

import (
	"fmt"
	"strconv"
	"strings"
)

// lengthMax bounds a computed text, because Fn::Join and Fn::Sub can make long ones of short ones. CloudFormation's own limit of a whole
// template is 1 MB.
const lengthMax = 1 << 20

func (e *evaluator) findInMap(arg *node) value {
	if arg == nil || len(arg.items) < 3 {
		return unknownFor("Fn::FindInMap has not three parts")
	}
	keys := make([]string, 3)
	for i := range keys {
		v := e.eval(arg.items[i])
		if v.kind == unknown {
			return v
		}
		if v.kind != scalar {
			return unknownFor("Fn::FindInMap has a key that is known at deployment only")
		}
		keys[i] = v.text
	}
	if n := e.mappings.get(keys[0]).get(keys[1]).get(keys[2]); n != nil {
		return e.eval(n)
	}
	if len(arg.items) > 3 {
		return e.eval(arg.items[3].get("DefaultValue"))
	}
	return unknownFor(fmt.Sprintf("mapping %s has no %s, %s", keys[0], keys[1], keys[2]))
}

func (e *evaluator) sub(arg *node) value {
	if arg == nil {
		return value{}
	}
	pattern, own := arg.text, (*node)(nil)
	if arg.form == formList && len(arg.items) == 2 {
		pattern, own = arg.items[0].text, arg.items[1]
	}
	e.charge(pattern)
	if e.work > workMax {
		return unknownFor(errWork.Error())
	}
	var out strings.Builder
	rest := pattern
	for {
		before, after, ok := strings.Cut(rest, "${")
		name, tail, closed := strings.Cut(after, "}")
		if !ok || !closed {
			break
		}
		whole := before == "" && tail == "" && out.Len() == 0
		out.WriteString(before)
		rest, name = tail, strings.TrimSpace(name)
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			out.WriteString("${" + literal + "}")
			continue
		}
		v := e.hole(name, own)
		if v.kind == reference && whole {
			return v // the text is nothing but the reference
		}
		switch {
		case v.kind == unknown:
			return v
		case v.kind != scalar:
			return unknownFor("it has a part that is known at deployment only: ${" + name + "}")
		case out.Len()+len(v.text) > lengthMax:
			return unknownFor("it is longer than CloudFormation allows")
		}
		out.WriteString(v.text)
	}
	out.WriteString(rest)
	e.charge(out.String())
	return textOf(out.String())
}

// hole is the value of ${name}: the function's own variable, a parameter, a resource or an attribute.
func (e *evaluator) hole(name string, own *node) value {
	if n := own.get(name); n != nil {
		return e.eval(n)
	}
	literal := &node{form: formScalar, text: name}
	if strings.Contains(name, ".") {
		return e.getAtt(literal)
	}
	return e.ref(literal)
}

func (e *evaluator) join(arg *node) value {
	if arg == nil || len(arg.items) != 2 {
		return unknownFor("Fn::Join has not two parts")
	}
	parts := e.eval(arg.items[1])
	if parts.kind == unknown {
		return parts
	}
	if len(parts.items) == 1 && parts.items[0].kind == reference {
		return parts.items[0]
	}
	var out strings.Builder
	for i, item := range parts.items {
		switch {
		case item.kind == unknown:
			return item
		case item.kind != scalar:
			return unknownFor("it has a part that is known at deployment only")
		case out.Len()+len(item.text)+len(arg.items[0].text) > lengthMax:
			return unknownFor("it is longer than CloudFormation allows")
		}
		if i > 0 {
			out.WriteString(arg.items[0].text)
		}
		out.WriteString(item.text)
	}
	if parts.kind != list {
		return unknownFor("Fn::Join joins no list")
	}
	e.charge(out.String())
	return textOf(out.String())
}

func (e *evaluator) pick(arg *node) value {
	if arg == nil || len(arg.items) != 2 {
		return unknownFor("Fn::Select has not two parts")
	}
	index, items := e.eval(arg.items[0]), e.eval(arg.items[1])
	for _, v := range []value{index, items} {
		if v.kind == unknown {
			return v
		}
	}
	i, err := strconv.Atoi(index.text)
	if err != nil || i < 0 || i >= len(items.items) {
		return unknownFor("Fn::Select points at nothing")
	}
	return items.items[i]
}

func (e *evaluator) split(arg *node) value {
	if arg == nil || len(arg.items) != 2 {
		return unknownFor("Fn::Split has not two parts")
	}
	by, whole := e.eval(arg.items[0]), e.eval(arg.items[1])
	if whole.kind == unknown {
		return whole
	}
	if by.kind != scalar || whole.kind != scalar || by.text == "" {
		return unknownFor("Fn::Split splits what is known at deployment only")
	}
	out := value{kind: list}
	for part := range strings.SplitSeq(whole.text, by.text) {
		if e.work++; e.work > workMax {
			return unknownFor(errWork.Error())
		}
		out.items = append(out.items, textOf(part))
	}
	return out
}
