package dynamo

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// projection is a parsed projection expression; nil keeps whole items.
type projection []path

func (p *placeholders) projection(text *string) (projection, error) {
	if text == nil {
		return nil, nil
	}
	var paths projection
	err := p.parse("ProjectionExpression", *text, func(x *parser) {
		x.list(func() { paths = append(paths, x.path()) })
		if x.err == nil {
			x.checkOverlap(paths)
		}
	})
	return paths, err
}

// of returns a copy of the projected part of item. List elements close up: [0] and [2] become a list of two.
func (p projection) of(item Item) Item {
	if p == nil || item == nil {
		return CopyItem(item)
	}
	return project(&types.AttributeValueMemberM{Value: item}, p).(*types.AttributeValueMemberM).Value
}

// project keeps the parts of v that the paths name; an empty path names the whole of v.
func project(v types.AttributeValue, paths []path) types.AttributeValue {
	if slices.ContainsFunc(paths, func(p path) bool { return len(p) == 0 }) {
		return copyValue(v)
	}
	var order []step
	rest := make(map[step][]path)
	for _, p := range paths {
		if _, seen := rest[p[0]]; !seen {
			order = append(order, p[0])
		}
		rest[p[0]] = append(rest[p[0]], p[1:])
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		out := Item{}
		for _, s := range order {
			if child, ok := v.Value[s.name]; ok && s.name != "" {
				if kept := project(child, rest[s]); kept != nil {
					out[s.name] = kept
				}
			}
		}
		return &types.AttributeValueMemberM{Value: out}
	case *types.AttributeValueMemberL:
		out := []types.AttributeValue{}
		slices.SortFunc(order, func(a, b step) int { return a.index - b.index })
		for _, s := range order {
			if s.name == "" && s.index < len(v.Value) {
				if kept := project(v.Value[s.index], rest[s]); kept != nil {
					out = append(out, kept)
				}
			}
		}
		return &types.AttributeValueMemberL{Value: out}
	}
	return nil
}
