package bus

import (
	"encoding/json"
	"fmt"
	"strings"
)

// matcher judges one value that is there.
type matcher interface {
	accepts(v any) bool
}

type (
	exact  struct{ want any }
	exists struct{ want bool }
	// affix is a prefix or a suffix.
	affix struct {
		text   string
		suffix bool
		fold   bool
	}
	equalFold   struct{ text string }
	wildcard    struct{ parts []string } // what stands between the stars
	anythingBut struct{ none []matcher }
	numeric     struct{ bounds []bound }
)

type bound struct {
	op    string
	limit float64
}

func (m exact) accepts(v any) bool { return v == m.want }
func (m exists) accepts(any) bool  { return m.want }

func (m affix) accepts(v any) bool {
	text, ok := v.(string)
	if !ok {
		return false
	}
	part := m.text
	if m.fold {
		text, part = strings.ToLower(text), strings.ToLower(part)
	}
	if m.suffix {
		return strings.HasSuffix(text, part)
	}
	return strings.HasPrefix(text, part)
}

func (m equalFold) accepts(v any) bool {
	text, ok := v.(string)
	return ok && strings.EqualFold(text, m.text)
}

func (m wildcard) accepts(v any) bool {
	text, ok := v.(string)
	last := len(m.parts) - 1
	if !ok || len(text) < len(m.parts[0])+len(m.parts[last]) ||
		!strings.HasPrefix(text, m.parts[0]) || !strings.HasSuffix(text, m.parts[last]) {
		return false
	}
	text = text[len(m.parts[0]) : len(text)-len(m.parts[last])]
	for _, part := range m.parts[1:last] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

func (m anythingBut) accepts(v any) bool {
	for _, n := range m.none {
		if n.accepts(v) {
			return false
		}
	}
	return true
}

func (m numeric) accepts(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	f, err := n.Float64()
	if err != nil {
		return false
	}
	for _, b := range m.bounds {
		if !b.holds(f) {
			return false
		}
	}
	return true
}

func (b bound) holds(f float64) bool {
	switch b.op {
	case "=":
		return f == b.limit
	case "<":
		return f < b.limit
	case "<=":
		return f <= b.limit
	case ">":
		return f > b.limit
	default:
		return f >= b.limit
	}
}

func parseMatcher(v any) (matcher, error) {
	switch v := v.(type) {
	case []any:
		return nil, fmt.Errorf("match value must be a string, number, true, false, null or an object")
	case map[string]any:
		if len(v) != 1 {
			return nil, fmt.Errorf("only one key allowed in match expression")
		}
		for name, argument := range v {
			return parseOperator(name, argument)
		}
	}
	return exact{v}, nil
}

func parseOperator(name string, argument any) (matcher, error) {
	switch name {
	case "exists":
		want, ok := argument.(bool)
		if !ok {
			return nil, fmt.Errorf("exists match pattern must be either true or false")
		}
		return exists{want}, nil
	case "anything-but":
		return parseAnythingBut(argument)
	case "numeric":
		return parseNumeric(argument)
	case "prefix", "suffix", "equals-ignore-case", "wildcard":
		return parseText(name, argument)
	}
	return nil, fmt.Errorf("unrecognized match type %s", name)
}

func parseText(name string, argument any) (matcher, error) {
	fold := false
	if inner, ok := argument.(map[string]any); ok && (name == "prefix" || name == "suffix") && len(inner) == 1 {
		argument, fold = inner["equals-ignore-case"], true
	}
	text, ok := argument.(string)
	if !ok {
		return nil, fmt.Errorf("%s match pattern must be a string", name)
	}
	switch name {
	case "equals-ignore-case":
		return equalFold{text}, nil
	case "wildcard":
		parts := strings.Split(text, "*")
		if strings.Contains(text, "**") {
			return nil, fmt.Errorf("consecutive wildcard characters")
		}
		if len(parts) == 1 {
			return exact{text}, nil
		}
		return wildcard{parts}, nil
	}
	if text == "" {
		return nil, fmt.Errorf("null %s not allowed", name)
	}
	return affix{text: text, suffix: name == "suffix", fold: fold}, nil
}

func parseAnythingBut(argument any) (matcher, error) {
	if inner, ok := argument.(map[string]any); ok {
		return parseAnythingButText(inner)
	}
	list, ok := argument.([]any)
	if !ok {
		list = []any{argument}
	}
	var m anythingBut
	for _, v := range list {
		switch v.(type) {
		case string, json.Number:
			m.none = append(m.none, exact{v})
		default:
			return nil, fmt.Errorf("anything-but list must be only strings or numbers")
		}
	}
	if len(m.none) == 0 {
		return nil, fmt.Errorf("empty arrays are not allowed")
	}
	return m, nil
}

func parseAnythingButText(inner map[string]any) (matcher, error) {
	if len(inner) != 1 {
		return nil, fmt.Errorf("only one key allowed in match expression")
	}
	var m anythingBut
	for name, argument := range inner {
		switch name {
		case "prefix", "suffix", "equals-ignore-case", "wildcard":
		default:
			return nil, fmt.Errorf("unsupported anything-but pattern: %s", name)
		}
		list, ok := argument.([]any)
		if !ok {
			list = []any{argument}
		}
		for _, one := range list {
			t, err := parseText(name, one)
			if err != nil {
				return nil, err
			}
			m.none = append(m.none, t)
		}
	}
	if len(m.none) == 0 {
		return nil, fmt.Errorf("empty arrays are not allowed")
	}
	return m, nil
}

func parseNumeric(argument any) (matcher, error) {
	const largest = 5e9 // Source: EventBridge user guide, "Comparison operators".
	list, ok := argument.([]any)
	if !ok || (len(list) != 2 && len(list) != 4) {
		return nil, fmt.Errorf("numeric match must be an array of one or two pairs of operator and number")
	}
	var m numeric
	for i := 0; i < len(list); i += 2 {
		op, isText := list[i].(string)
		number, isNumber := list[i+1].(json.Number)
		if !isText || !isNumber || !strings.Contains(" = < <= > >= ", " "+op+" ") {
			return nil, fmt.Errorf("unrecognized numeric range: %v %v", list[i], list[i+1])
		}
		limit, err := number.Float64()
		if err != nil || limit < -largest || limit > largest {
			return nil, fmt.Errorf("value of %s must be between -5.0e9 and 5.0e9", number)
		}
		m.bounds = append(m.bounds, bound{op, limit})
	}
	if len(m.bounds) == 2 {
		low, high := m.bounds[0], m.bounds[1]
		if low.op[0] != '>' || high.op[0] != '<' || low.limit >= high.limit {
			return nil, fmt.Errorf("bottom must be less than top")
		}
	}
	return m, nil
}
