package template

import (
	"strconv"
	"strings"
)

// kind is what is known of a value.
type kind int

const (
	// absent is a value that is not stated, or AWS::NoValue.
	absent kind = iota
	// scalar is any text, number or truth value.
	scalar
	list
	mapping
	// reference is something of another resource of the same template.
	reference
	// unknown is stated, and what it comes to is not known here.
	unknown
)

// value is a computed value of a template.
type value struct {
	kind  kind
	text  string
	items []value
	pairs map[string]value
	// refs are the resources of a reference: one, or several when a Terraform reference names all instances. attribute is what of it.
	refs      []string
	attribute string
	// why says why it is unknown; conditional, that it may also not be there at all.
	why         string
	conditional bool
}

func textOf(s string) value          { return value{kind: scalar, text: s} }
func unknownFor(why string) value    { return value{kind: unknown, why: why} }
func (v value) get(k string) value   { return v.pairs[k] }
func (v value) isText(s string) bool { return v.kind == scalar && v.text == s }

// at follows a path of keys. A list on the way is entered at its first item, as Terraform writes a block that may stand once. What lies
// below an unknown value or a reference is unknown too.
func (v value) at(path string) value {
	for key := range strings.SplitSeq(path, ".") {
		if v.kind == list {
			if len(v.items) == 0 {
				return value{}
			}
			v = v.items[0]
		}
		switch v.kind {
		case mapping:
			v = v.get(key)
		case unknown:
			return v
		case reference:
			return unknownFor("it is part of " + strings.Join(v.refs, ", "))
		case absent, scalar, list:
			return value{}
		}
	}
	return v
}

// equal compares what is known; a second result of false says that it cannot be told.
func (v value) equal(w value) (same, known bool) {
	if v.kind == unknown || w.kind == unknown {
		return false, false
	}
	if v.kind != w.kind {
		return false, v.kind != reference && w.kind != reference
	}
	switch v.kind {
	case scalar:
		return v.text == w.text, true
	case reference:
		same = strings.Join(v.refs, " ") == strings.Join(w.refs, " ") && v.attribute == w.attribute
		return same, same
	case list:
		if len(v.items) != len(w.items) {
			return false, true
		}
		for i := range v.items {
			if same, known = v.items[i].equal(w.items[i]); !same || !known {
				return same, known
			}
		}
		return true, true
	case mapping:
		return v.equalPairs(w)
	case absent, unknown:
	}
	return true, true
}

func (v value) equalPairs(w value) (same, known bool) {
	if len(v.pairs) != len(w.pairs) {
		return false, true
	}
	for k, item := range v.pairs {
		other, ok := w.pairs[k]
		if !ok {
			return false, true
		}
		if same, known = item.equal(other); !same || !known {
			return same, known
		}
	}
	return true, true
}

// whole reads a whole number. Templates write it as a number, as text, and some as 300.0.
func whole(s string) (int, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.Atoi(s); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != float64(int32(f)) {
		return 0, false
	}
	return int(f), true
}

// with is the mapping with another value at a key; the mapping itself stays as it is.
func (v value) with(key string, other value) value {
	out := v.without(key)
	out.pairs[key] = other
	return out
}

func (v value) without(key string) value {
	out := value{kind: mapping, pairs: map[string]value{}}
	for k, item := range v.pairs {
		if k != key {
			out.pairs[k] = item
		}
	}
	return out
}
