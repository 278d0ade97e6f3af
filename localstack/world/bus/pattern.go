package bus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// Pattern is a parsed event pattern. Source of the rules: EventBridge user guide, "Creating event patterns".
type Pattern struct{ root object }

// node is a part of a pattern that judges the value at its place; present is false when there is none.
type node interface {
	matches(v any, present bool) bool
}

// object wants all its fields, and of each "$or" one alternative.
type object struct {
	fields map[string]node
	or     []object
}

// leaf wants one of its matchers.
type leaf []matcher

// ParsePattern reads an event pattern. The error is an *types.InvalidEventPatternException.
func ParsePattern(text string) (*Pattern, error) {
	value, err := decode([]byte(text))
	if err != nil {
		return nil, badPattern("%v", err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, badPattern("Filter is not an object")
	}
	root, err := parseObject(fields)
	if err != nil {
		return nil, badPattern("%v", err)
	}
	return &Pattern{root}, nil
}

// Matches reports whether an event, in JSON, meets the pattern.
func (p *Pattern) Matches(event []byte) (bool, error) {
	value, err := decode(event)
	if err != nil {
		return false, fmt.Errorf("decode event: %w", err)
	}
	return p.root.matches(value, true), nil
}

func badPattern(format string, args ...any) error {
	return &types.InvalidEventPatternException{
		Message: aws.String("Event pattern is not valid. Reason: " + fmt.Sprintf(format, args...)),
	}
}

// decode keeps numbers as they are written, because AWS compares exact numbers by their text.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

func parseObject(fields map[string]any) (object, error) {
	o := object{fields: make(map[string]node)}
	if len(fields) == 0 {
		return o, fmt.Errorf("empty objects are not allowed")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var err error
		switch v := fields[name].(type) {
		case map[string]any:
			o.fields[name], err = parseObject(v)
		case []any:
			if name == "$or" {
				o.or, err = parseOr(v)
			} else {
				o.fields[name], err = parseLeaf(v)
			}
		default:
			err = fmt.Errorf("must be an object or an array")
		}
		if err != nil {
			return o, fmt.Errorf("%q: %w", name, err)
		}
	}
	return o, nil
}

func parseOr(list []any) ([]object, error) {
	if len(list) < 2 {
		return nil, fmt.Errorf("there must be at least two alternatives")
	}
	var out []object
	for _, one := range list {
		fields, ok := one.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("every alternative must be an object")
		}
		o, err := parseObject(fields)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func parseLeaf(list []any) (leaf, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("empty arrays are not allowed")
	}
	var out leaf
	for _, one := range list {
		m, err := parseMatcher(one)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func (o object) matches(v any, _ bool) bool {
	if list, ok := v.([]any); ok {
		return slices.ContainsFunc(list, func(e any) bool {
			_, isObject := e.(map[string]any)
			return isObject && o.matches(e, true)
		})
	}
	// Anything but an object has none of the fields, which is what "exists": false asks for.
	fields, _ := v.(map[string]any)
	for name, n := range o.fields {
		value, present := fields[name]
		if !n.matches(value, present) {
			return false
		}
	}
	return o.or == nil || slices.ContainsFunc(o.or, func(alternative object) bool { return alternative.matches(v, true) })
}

func (l leaf) matches(v any, present bool) bool {
	list, isList := v.([]any)
	_, isObject := v.(map[string]any)
	// Only values are leaves: an object or an empty list is, to a leaf, as good as absent.
	if !present || isObject || (isList && len(list) == 0) {
		return slices.ContainsFunc(l, func(m matcher) bool {
			e, ok := m.(exists)
			return ok && !e.want
		})
	}
	if !isList {
		list = []any{v}
	}
	return slices.ContainsFunc(l, func(m matcher) bool { return slices.ContainsFunc(list, m.accepts) })
}
