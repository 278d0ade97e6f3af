package template

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// workMax bounds the number of values that a template may come to. A text of 1 MB with aliases or nested mappings can come to billions.
const workMax = 1_000_000

var errWork = fmt.Errorf("the template comes to more than %d values", workMax)

// evaluator computes values of a CloudFormation template.
type evaluator struct {
	parameters, mappings, conditions, resources *node
	// open are the conditions under way, so that one that needs itself ends as unknown.
	open  map[string]bool
	known map[string]value
	work  int
	// blind is the same template with no parameter's default known. In it, touched are the parameters that were asked for and hangs those
	// of each condition.
	blind   *evaluator
	touched map[string]bool
	hangs   map[string][]string
	// chose are the parameters whose defaults chose a value since someone began to watch; nil when nobody does.
	chose map[string]bool
}

// newEvaluator indexes a template.
func newEvaluator(root *node) *evaluator {
	return &evaluator{
		parameters: root.get("Parameters"), mappings: root.get("Mappings"), conditions: root.get("Conditions"), resources: root.get("Resources"),
		open: map[string]bool{}, known: map[string]value{},
	}
}

// eval computes a node. Beyond workMax everything is unknown; the caller looks at work once, at the end.
func (e *evaluator) eval(n *node) value {
	if e.work++; e.work > workMax {
		return unknownFor(errWork.Error())
	}
	if n == nil || n.form == formNull {
		return value{}
	}
	switch n.form {
	case formScalar:
		e.charge(n.text)
		if strings.Contains(n.text, "{{resolve:") {
			return unknownFor("it is a dynamic reference, which AWS resolves")
		}
		return textOf(n.text)
	case formList:
		out := value{kind: list}
		for _, item := range n.items {
			if v := e.eval(item); v.kind != absent {
				out.items = append(out.items, v)
			}
		}
		return out
	case formMapping:
		if len(n.pairs) == 1 && isFunction(n.pairs[0].key) {
			return e.call(n.pairs[0].key, n.pairs[0].value)
		}
		out := value{kind: mapping, pairs: map[string]value{}}
		for _, p := range n.pairs {
			if v := e.eval(p.value); v.kind != absent {
				out.pairs[p.key] = v
			} else {
				delete(out.pairs, p.key)
			}
		}
		return out
	case formNull:
	}
	return value{}
}

// charge counts a long text as work: an alias makes any number of it, and each is looked through.
func (e *evaluator) charge(text string) { e.work += len(text) / 256 }

func isFunction(key string) bool {
	return key == "Ref" || key == "Condition" || strings.HasPrefix(key, "Fn::")
}

// call computes an intrinsic function. Source: CloudFormation user guide, intrinsic function reference.
func (e *evaluator) call(name string, arg *node) value {
	switch name {
	case "Ref":
		return e.ref(arg)
	case "Condition":
		return e.condition(e.eval(arg).text)
	case "Fn::GetAtt":
		return e.getAtt(arg)
	case "Fn::If":
		return e.choose(arg)
	case "Fn::FindInMap":
		return e.findInMap(arg)
	case "Fn::Sub":
		return e.sub(arg)
	case "Fn::Join":
		return e.join(arg)
	case "Fn::Select":
		return e.pick(arg)
	case "Fn::Split":
		return e.split(arg)
	case "Fn::Equals", "Fn::And", "Fn::Or", "Fn::Not":
		return e.logic(name, arg)
	case "Fn::Length":
		if v := e.eval(arg); v.kind == list {
			return textOf(strconv.Itoa(len(v.items)))
		}
	case "Fn::GetAZs":
		return unknownFor("the zones are those of the account and Region (Fn::GetAZs)")
	case "Fn::ImportValue":
		return unknownFor("it is imported from another stack (Fn::ImportValue)")
	}
	return unknownFor("it is computed by " + name)
}

// pseudo are the names that every template may refer to. Source: CloudFormation user guide, pseudo parameters reference.
func isPseudo(name string) bool { return strings.HasPrefix(name, "AWS::") }

func (e *evaluator) ref(arg *node) value {
	if arg == nil || arg.form != formScalar {
		return unknownFor("Ref names nothing")
	}
	switch name := arg.text; {
	case name == "AWS::NoValue":
		return value{}
	case isPseudo(name):
		return unknownFor(name + " is known at deployment only")
	case e.parameters.get(name) != nil:
		return e.parameter(name)
	case e.resources.get(name) != nil:
		return value{kind: reference, refs: []string{name}}
	default:
		return unknownFor(fmt.Sprintf("%s is no parameter and no resource of the template", name))
	}
}

// parameter is a parameter's default, unless no default is to be taken for granted.
func (e *evaluator) parameter(name string) value {
	v := e.defaultOf(name)
	if e.touched != nil && v.kind != unknown {
		e.touched[name] = true
		return unknownFor("whoever deploys chooses parameter " + name)
	}
	return v
}

// defaultOf is a parameter's default. Whoever deploys may choose another one.
func (e *evaluator) defaultOf(name string) value {
	p := e.parameters.get(name)
	form := ""
	if t := p.get("Type"); t != nil {
		form = t.text
	}
	def := p.get("Default")
	switch {
	case def == nil || def.form != formScalar:
		return unknownFor(fmt.Sprintf("parameter %s has no default", name))
	case strings.HasPrefix(form, "AWS::SSM::Parameter::Value"):
		return unknownFor(fmt.Sprintf("parameter %s is read from Parameter Store at deployment", name))
	case form == "CommaDelimitedList" || strings.HasPrefix(form, "List<"):
		out := value{kind: list}
		if strings.TrimSpace(def.text) == "" {
			return out
		}
		for item := range strings.SplitSeq(def.text, ",") {
			out.items = append(out.items, textOf(strings.TrimSpace(item)))
		}
		return out
	}
	return textOf(def.text)
}

func (e *evaluator) getAtt(arg *node) value {
	v := e.eval(arg)
	var parts []string
	if v.kind == scalar {
		parts = strings.SplitN(v.text, ".", 2)
	}
	for _, item := range v.items {
		parts = append(parts, item.text)
	}
	if len(parts) < 2 || e.resources.get(parts[0]) == nil {
		return unknownFor("Fn::GetAtt names no resource of the template")
	}
	return value{kind: reference, refs: parts[:1], attribute: strings.Join(parts[1:], ".")}
}

func (e *evaluator) choose(arg *node) value {
	if arg == nil || len(arg.items) != 3 {
		return unknownFor("Fn::If has not three parts")
	}
	name := arg.items[0].text
	switch c := e.condition(name); {
	case c.isText("true"):
		v := e.eval(arg.items[1])
		e.choice(name, v, arg.items[2])
		return v
	case c.isText("false"):
		v := e.eval(arg.items[2])
		e.choice(name, v, arg.items[1])
		return v
	default:
		yes, no := e.eval(arg.items[1]), e.eval(arg.items[2])
		if same, known := yes.equal(no); same && known {
			return yes
		}
		v := unknownFor(fmt.Sprintf("it depends on condition %s: %s", name, c.why))
		v.conditional = true
		return v
	}
}

// condition is the text true or false, or unknown.
func (e *evaluator) condition(name string) value {
	if v, ok := e.known[name]; ok {
		for _, parameter := range e.hangs[name] {
			e.touched[parameter] = true
		}
		return v
	}
	n := e.conditions.get(name)
	if n == nil {
		return unknownFor(fmt.Sprintf("condition %s is not in the template", name))
	}
	if e.open[name] {
		return unknownFor(fmt.Sprintf("condition %s needs itself", name))
	}
	e.open[name] = true
	before := e.touched
	if before != nil {
		e.touched = map[string]bool{}
	}
	v := e.eval(n)
	if before != nil {
		e.hangs[name] = slices.Sorted(maps.Keys(e.touched))
		maps.Copy(before, e.touched)
		e.touched = before
	}
	delete(e.open, name)
	if v.kind != unknown && !v.isText("true") && !v.isText("false") {
		v = unknownFor(fmt.Sprintf("condition %s is neither true nor false", name))
	}
	e.known[name] = v
	return v
}

// logic computes with three values: what one operand settles is settled, even if another is unknown.
func (e *evaluator) logic(name string, arg *node) value {
	if arg == nil || arg.form != formList || len(arg.items) == 0 {
		return unknownFor(name + " has no operands")
	}
	var operands []value
	for _, item := range arg.items {
		operands = append(operands, e.eval(item))
	}
	verdict := func(b bool) value { return textOf(strconv.FormatBool(b)) }
	open := slices.IndexFunc(operands, func(v value) bool { return !v.isText("true") && !v.isText("false") })
	has := func(s string) bool { return slices.ContainsFunc(operands, func(v value) bool { return v.isText(s) }) }
	switch {
	case name == "Fn::Equals" && len(operands) == 2:
		if same, known := operands[0].equal(operands[1]); known {
			return verdict(same)
		}
		for _, o := range operands {
			if o.kind == unknown {
				return o
			}
		}
		return unknownFor("it compares what is known at deployment only")
	case name == "Fn::Not" && open < 0:
		return verdict(operands[0].isText("false"))
	case name == "Fn::And" && has("false"):
		return verdict(false)
	case name == "Fn::Or" && has("true"):
		return verdict(true)
	case name != "Fn::Equals" && open < 0:
		return verdict(name == "Fn::And")
	case open >= 0 && operands[open].kind == unknown:
		return operands[open]
	}
	return unknownFor(name + " has an operand that is neither true nor false")
}

// err says that the template came to too much.
func (e *evaluator) err() error {
	if e.work > workMax {
		return errWork
	}
	return nil
}
