package dynamo

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
)

// reservedText lists the words that may not be attribute names in an expression.
// Source: AWS developer guide, "Reserved words in DynamoDB".
//
//go:embed reserved.txt
var reservedText string

func reservedWords() map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.Fields(reservedText) {
		words[w] = true
	}
	return words
}

// placeholders are the names and values that all the expressions of one request share. They remember what was
// used, because AWS refuses a request that brings one it does not use.
type placeholders struct {
	names    map[string]string
	values   Item
	reserved map[string]bool

	usedNames, usedValues map[string]bool
	parsed                bool
	roots                 []string // top-level attributes that were named, in order
}

func (t *Tables) placeholders(names map[string]string, values Item) (*placeholders, error) {
	for name := range names {
		if !strings.HasPrefix(name, "#") || len(name) < 2 {
			return nil, validation("ExpressionAttributeNames contains invalid key: Syntax error; key: %q", name)
		}
	}
	for name := range values {
		if !strings.HasPrefix(name, ":") || len(name) < 2 {
			return nil, validation("ExpressionAttributeValues contains invalid key: Syntax error; key: %q", name)
		}
	}
	clean, err := normalizeItem(values, 0)
	if err != nil {
		return nil, err
	}
	return &placeholders{
		names: names, values: clean, reserved: t.reserved,
		usedNames: make(map[string]bool), usedValues: make(map[string]bool),
	}, nil
}

// finish reports the placeholders that no expression used.
func (p *placeholders) finish() error {
	if !p.parsed && len(p.names) > 0 {
		return validation("ExpressionAttributeNames can only be specified when using expressions")
	}
	if !p.parsed && len(p.values) > 0 {
		return validation("ExpressionAttributeValues can only be specified when using expressions")
	}
	if unused := missingFrom(p.usedNames, p.names); unused != "" {
		return validation("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", unused)
	}
	if unused := missingFrom(p.usedValues, p.values); unused != "" {
		return validation("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", unused)
	}
	return nil
}

func missingFrom[V any](used map[string]bool, given map[string]V) string {
	var unused []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	return strings.Join(unused, ", ")
}
