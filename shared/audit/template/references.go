package template

import (
	"slices"
	"strings"
)

// scope is where a reference stands: a module instance, and the resource or call in it.
type scope struct {
	module string
	source *node
	depth  int
}

// resolveDepth bounds how many modules a reference is followed through.
const resolveDepth = 30

// resolve lists the addresses of planned resources that references lead to, through variables and outputs of modules. What goes through
// a local value is not found, because a plan does not tell how locals are computed.
func (p *plan) resolve(at scope, names []string) []string {
	if at.depth > resolveDepth {
		return nil
	}
	var found []string
	for _, name := range names {
		if p.work += len(names); p.work > workMax {
			return nil
		}
		if longerAmong(names, name) {
			continue
		}
		more := p.follow(at, steps(name))
		p.work += len(more) / 16
		found = append(found, more...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// longerAmong says that the same reference stands in the list with more of its path: a plan lists a.b.c, and a.b after it.
func longerAmong(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool {
		return strings.HasPrefix(other, name+".") || strings.HasPrefix(other, name+"[")
	})
}

// step is one part of an address, such as web["a"].
type step struct{ name, index string }

// steps splits an address at its dots, those inside brackets left alone.
func steps(address string) []step {
	var out []step
	var now step
	depth, quoted := 0, false
	for i := 0; i < len(address); i++ {
		c := address[i]
		switch {
		case c == '\\' && quoted && i+1 < len(address):
			i++
			now.index += address[i : i+1]
			continue
		case c == '"':
			quoted = !quoted
			continue
		case quoted:
		case c == '[':
			depth++
			continue
		case c == ']' && depth > 0:
			depth--
			continue
		case c == '.' && depth == 0:
			out, now = append(out, now), step{}
			continue
		}
		if depth > 0 {
			now.index += string(c)
		} else {
			now.name += string(c)
		}
	}
	return append(out, now)
}

// sourceOf is the source of a planned resource, or nil.
func (p *plan) sourceOf(r *planned) *node {
	list := p.sourceModule(r.module).get("resources")
	if list == nil {
		return nil
	}
	if p.sources[list] == nil {
		p.sources[list] = map[string]*node{}
		for _, n := range list.items {
			if n.get("mode").scalarText() != "data" {
				p.sources[list][plainType(n.get("type").scalarText())+" "+n.get("name").scalarText()] = n
			}
		}
	}
	return p.sources[list][r.form+" "+r.name]
}

// sourceModule is the source of a module instance, or nil.
func (p *plan) sourceModule(address string) *node {
	at := p.config
	if address == "" {
		return at
	}
	for _, s := range steps(address) {
		if s.name != "module" {
			at = at.get("module_calls").get(s.name).get("module")
		}
	}
	return at
}

// follow resolves one reference.
func (p *plan) follow(at scope, path []step) []string {
	if len(path) < 2 {
		return nil
	}
	next := scope{module: at.module, depth: at.depth + 1}
	switch path[0].name {
	case "var":
		parent, call := cutModule(at.module)
		if call == "" {
			return nil
		}
		next.module, next.source = parent, p.sourceModule(parent).get("module_calls").get(call)
		return p.resolve(next, referencesOf(next.source.get("expressions").get(path[1].name)))
	case "each":
		return p.resolve(scope{module: at.module, depth: at.depth + 1}, referencesOf(at.source.get("for_each_expression")))
	case "module":
		return p.output(at, path)
	case "data", "local", "path", "terraform", "count", "self":
		return nil
	}
	var found []string
	for _, r := range p.byName[(&planned{module: at.module, form: plainType(path[0].name), name: path[1].name}).key()] {
		if path[1].index == "" || path[1].index == r.index {
			found = append(found, r.address)
		}
	}
	return found
}

// output resolves module.NAME.OUTPUT in every instance of the module. If the output is looked into by a key that is the key of some
// of the resources found, only those are meant.
func (p *plan) output(at scope, path []step) []string {
	if len(path) < 3 {
		return nil
	}
	prefix := "module." + path[1].name
	if at.module != "" {
		prefix = at.module + "." + prefix
	}
	var found []string
	p.work += len(p.modules)/100 + 1
	for _, m := range p.modules {
		rest, ok := strings.CutPrefix(m, prefix)
		instance := ok && (rest == "" || (rest[0] == '[' && len(steps("x"+rest)) == 1))
		if !instance || (path[1].index != "" && steps("x" + rest)[0].index != path[1].index) {
			continue
		}
		names := referencesOf(p.sourceModule(m).get("outputs").get(path[2].name).get("expression"))
		found = append(found, p.resolve(scope{module: m, depth: at.depth + 1}, names)...)
	}
	if key := path[2].index; key != "" {
		narrow := slices.DeleteFunc(slices.Clone(found), func(a string) bool { return p.byAddress[a].index != key })
		if len(narrow) > 0 {
			return narrow
		}
	}
	return found
}

// cutModule splits the address of a module instance into its parent's and the name of the call.
func cutModule(address string) (parent, call string) {
	all := steps(address)
	if len(all) < 2 {
		return "", ""
	}
	call = all[len(all)-1].name
	at := strings.LastIndex(address, "module."+call)
	return strings.TrimSuffix(address[:max(at, 0)], "."), call
}

// referencesOf collects the references of an expression, or of a block of expressions.
func referencesOf(expr *node) []string {
	if expr == nil {
		return nil
	}
	var out []string
	if list := expr.get("references"); list != nil {
		for _, n := range list.items {
			out = append(out, n.text)
		}
	}
	return out
}
