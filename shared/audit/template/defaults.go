package template

import (
	"maps"
	"slices"
)

// byDefaults lists the parameters whose defaults decide a condition; none when it comes to the same whatever is chosen for them, or is not
// known even with them.
func (e *evaluator) byDefaults(name string) []string {
	if v := e.condition(name); v.kind == unknown {
		return nil
	}
	if e.blind == nil {
		e.blind = &evaluator{
			parameters: e.parameters, mappings: e.mappings, conditions: e.conditions, resources: e.resources,
			open: map[string]bool{}, known: map[string]value{}, hangs: map[string][]string{}, touched: map[string]bool{},
		}
	}
	b := e.blind
	b.work = e.work // one bound for both
	b.touched = map[string]bool{}
	v := b.condition(name)
	e.work = b.work
	if v.kind != unknown {
		return nil
	}
	return slices.Sorted(maps.Keys(b.touched))
}

// chosen are the parameters whose defaults chose a part of a property, by the property's name; "" is all of them.
type chosen map[string][]string

// properties computes a block of properties and tells which of them a condition chose that hangs on defaults.
func (e *evaluator) properties(n *node) (value, chosen) {
	if n == nil || n.form != formMapping || (len(n.pairs) == 1 && isFunction(n.pairs[0].key)) {
		v, by := e.watched(n)
		return v, chosen{"": by}
	}
	out, marks := value{kind: mapping, pairs: map[string]value{}}, chosen{}
	for _, p := range n.pairs {
		v, by := e.watched(p.value)
		delete(out.pairs, p.key)
		if v.kind != absent {
			out.pairs[p.key] = v
		}
		marks[p.key] = by
	}
	return out, marks
}

// watched computes a node and tells which parameters' defaults chose between two values of it.
func (e *evaluator) watched(n *node) (value, []string) {
	e.chose = map[string]bool{}
	v := e.eval(n)
	by := slices.Sorted(maps.Keys(e.chose))
	e.chose = nil
	return v, by
}

// choice notes that a condition chose a branch, if it hangs on defaults and the other branch is another value.
func (e *evaluator) choice(condition string, taken value, other *node) {
	if e.chose == nil {
		return
	}
	by := e.byDefaults(condition)
	if len(by) == 0 {
		return
	}
	kept := e.chose
	e.chose = nil // the other branch is not taken, and so chooses nothing
	same, known := taken.equal(e.eval(other))
	e.chose = kept
	if same && known {
		return
	}
	for _, name := range by {
		e.chose[name] = true
	}
}
