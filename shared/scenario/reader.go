package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// reader reads YAML nodes and collects what is wrong with them.
type reader struct {
	file     string
	problems Problems
}

func (r *reader) fail(n *yaml.Node, thing, rule string) {
	r.problems = append(r.problems, Problem{File: r.file, Line: n.Line, Thing: thing, Rule: rule})
}

// field is one key of a mapping.
type field struct {
	key       string
	at, value *yaml.Node
}

// fields reads a mapping whose keys are free; a key that stands twice is a problem.
func (r *reader) fields(n *yaml.Node, thing string) []field {
	if n.Kind != yaml.MappingNode {
		r.fail(n, thing, "want a mapping, have "+kindOf(n))
		return nil
	}
	var out []field
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		switch {
		case at.Kind != yaml.ScalarNode:
			r.fail(at, thing, "want a plain key, have "+kindOf(at))
		case seen[at.Value]:
			r.fail(at, under(thing, at.Value), "stands twice")
		default:
			seen[at.Value] = true
			out = append(out, field{at.Value, at, value})
		}
	}
	return out
}

// object reads a mapping with known keys; any other key is a problem.
func (r *reader) object(n *yaml.Node, thing string, keys ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for _, f := range r.fields(n, thing) {
		if !slices.Contains(keys, f.key) {
			r.fail(f.at, under(thing, f.key), "unknown key, want one of "+strings.Join(keys, ", "))
			continue
		}
		out[f.key] = f.value
	}
	return out
}

// list reads a sequence.
func (r *reader) list(n *yaml.Node, thing string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, thing, "want a list, have "+kindOf(n))
		return nil
	}
	return n.Content
}

// text reads a string.
func (r *reader) text(n *yaml.Node, thing string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.fail(n, thing, "want a string, have "+kindOf(n))
		return "", false
	}
	return n.Value, true
}

// word reads a string that must be one of some words; it returns "" after a problem.
func (r *reader) word(n *yaml.Node, thing string, words []string) string {
	s, ok := r.text(n, thing)
	if !ok {
		return ""
	}
	if !slices.Contains(words, s) {
		r.fail(n, thing, fmt.Sprintf("%q, want one of %s", s, strings.Join(words, ", ")))
		return ""
	}
	return s
}

// words reads a list of different words.
func (r *reader) words(n *yaml.Node, thing string, allowed []string) []string {
	out := []string{}
	for _, item := range r.list(n, thing) {
		w := r.word(item, thing, allowed)
		switch {
		case w == "":
		case slices.Contains(out, w):
			r.fail(item, thing, fmt.Sprintf("%q stands twice", w))
		default:
			out = append(out, w)
		}
	}
	return out
}

// count reads a whole number of 0 or more.
func (r *reader) count(n *yaml.Node, thing string) *int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < 0 || v > math.MaxInt32 {
		r.fail(n, thing, "want a whole number of 0 or more, have "+kindOf(n))
		return nil
	}
	return &v
}

// flag reads true or false.
func (r *reader) flag(n *yaml.Node, thing string) *bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.fail(n, thing, "want true or false, have "+kindOf(n))
		return nil
	}
	v := strings.EqualFold(n.Value, "true")
	return &v
}

// span reads a time such as -25m, 90s or 3d.
func (r *reader) span(n *yaml.Node, thing string) *time.Duration {
	if n.Kind != yaml.ScalarNode || (n.Tag != "!!str" && n.Tag != "!!int") {
		r.fail(n, thing, "want a time such as -25m, 90s or 3d, have "+kindOf(n))
		return nil
	}
	d, ok := parseSpan(n.Value)
	if !ok {
		r.fail(n, thing, fmt.Sprintf("%q is no time, want one such as -25m, 90s or 3d", n.Value))
		return nil
	}
	return &d
}

// past reads a time that is not in the future of its statement.
func (r *reader) past(n *yaml.Node, thing string) *time.Duration {
	d := r.span(n, thing)
	if d != nil && *d > 0 {
		r.fail(n, thing, n.Value+" is in the future, want 0s or a time such as -25m")
		return nil
	}
	return d
}

// age reads a time of 0 or more.
func (r *reader) age(n *yaml.Node, thing string) *time.Duration {
	d := r.span(n, thing)
	if d != nil && *d < 0 {
		r.fail(n, thing, n.Value+" is negative, want 0s or more")
		return nil
	}
	return d
}

// spanDaysMax keeps every sum of times far from overflow.
const spanDaysMax = 20 * 366

// parseSpan reads one whole number with its unit: s, m, h or d.
func parseSpan(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	unit, ok := units[s[len(s)-1]]
	number := s[:len(s)-1]
	if !ok || number == "" || number[0] == '+' {
		return 0, false
	}
	v, err := strconv.ParseInt(number, 10, 64)
	limit := int64(spanDaysMax * 24 * time.Hour / unit)
	if err != nil || v > limit || v < -limit {
		return 0, false
	}
	return time.Duration(v) * unit, true
}

// kindOf names what a node is, for a problem's text.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias, which scenario files do not use"
	default:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return strconv.Quote(n.Value)
	}
}

// under joins two keys for a problem's text.
func under(thing, key string) string {
	if thing == "" {
		return key
	}
	return thing + "." + key
}
