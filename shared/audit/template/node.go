package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// depthMax bounds how deep values may nest. Real templates stay below 30.
const depthMax = 200

var errDepth = fmt.Errorf("values nest deeper than %d", depthMax)

// form is what a node of the text is.
type form int

const (
	formNull form = iota
	formScalar
	formList
	formMapping
)

// node is one value of a template's text. YAML aliases share nodes, so a tree takes no more memory than its text; whoever walks it must
// count the steps.
type node struct {
	form form
	// text is a scalar as it is written, so that 0755 and 1e3 stay what the author wrote.
	text  string
	line  int
	items []*node
	pairs []pair
	// index finds a key in a large mapping; get makes it.
	index map[string]*node
}

// indexFrom is the number of keys from which on an index is worth it.
const indexFrom = 16

type pair struct {
	key   string
	value *node
}

// get returns the value of a key, or nil. The last of several wins, as in JSON.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if len(n.pairs) < indexFrom {
		for i := len(n.pairs) - 1; i >= 0; i-- {
			if n.pairs[i].key == key {
				return n.pairs[i].value
			}
		}
		return nil
	}
	if n.index == nil {
		n.index = map[string]*node{}
		for _, p := range n.pairs {
			n.index[p.key] = p.value
		}
	}
	return n.index[key]
}

// parse reads JSON or YAML.
func parse(text []byte) (*node, error) {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) > 0 && trimmed[0] == '{' {
		n, err := parseJSON(text)
		if err == nil {
			return n, nil
		}
		// A flow mapping of YAML begins like JSON. If it is neither, JSON's complaint is the one that helps.
		if y, yamlErr := parseYAML(text); yamlErr == nil {
			return y, nil
		}
		return nil, err
	}
	return parseYAML(text)
}

type jsonReader struct {
	dec  *json.Decoder
	text []byte
	at   int64
	line int
}

func parseJSON(text []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	r := &jsonReader{dec: dec, text: text, line: 1}
	n, err := r.value(0)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read JSON: there is text after the end of the value")
	}
	return n, nil
}

// here is the line of the decoder's place.
func (r *jsonReader) here() int {
	offset := r.dec.InputOffset()
	r.line += bytes.Count(r.text[r.at:offset], []byte("\n"))
	r.at = offset
	return r.line
}

func (r *jsonReader) value(depth int) (*node, error) {
	if depth > depthMax {
		return nil, errDepth
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &node{line: r.here()}
	switch v := token.(type) {
	case json.Delim:
		return n, r.inside(n, v, depth)
	case string:
		n.form, n.text = formScalar, v
	case json.Number:
		n.form, n.text = formScalar, v.String()
	case bool:
		n.form, n.text = formScalar, fmt.Sprint(v)
	}
	return n, nil
}

// inside reads what stands between brackets or braces, and the closing one.
func (r *jsonReader) inside(n *node, open json.Delim, depth int) error {
	n.form = formList
	if open == '{' {
		n.form = formMapping
	}
	for r.dec.More() {
		var key string
		if n.form == formMapping {
			token, err := r.dec.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string)
		}
		line := r.here()
		v, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if n.form == formMapping {
			v.line = line // where the key stands, which is where an editor should jump to
			n.pairs = append(n.pairs, pair{key, v})
		} else {
			n.items = append(n.items, v)
		}
	}
	_, err := r.dec.Token()
	return err
}

type yamlReader struct {
	done map[*yaml.Node]*node
	open map[*yaml.Node]bool
	// merged counts the pairs that merge keys have copied, which may be far more than the text has.
	merged int
}

func parseYAML(text []byte) (*node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return &node{}, nil
		}
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, fmt.Errorf("read YAML: %w", err)
		}
		return nil, errors.New("read YAML: there are several documents, want one")
	}
	r := &yamlReader{done: map[*yaml.Node]*node{}, open: map[*yaml.Node]bool{}}
	n, err := r.convert(&doc, 0)
	if err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	return n, nil
}

// convert makes a node of a YAML node once, however many aliases lead to it.
func (r *yamlReader) convert(y *yaml.Node, depth int) (*node, error) {
	if depth > depthMax {
		return nil, errDepth
	}
	if n := r.done[y]; n != nil {
		return n, nil
	}
	if r.open[y] {
		return nil, fmt.Errorf("line %d: the anchor %q contains itself", y.Line, y.Anchor)
	}
	r.open[y] = true
	defer delete(r.open, y)
	n := &node{line: y.Line}
	var err error
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) > 0 {
			return r.convert(y.Content[0], depth+1)
		}
	case yaml.AliasNode:
		return r.convert(y.Alias, depth+1)
	case yaml.ScalarNode:
		if y.ShortTag() != "!!null" {
			n.form, n.text = formScalar, y.Value
		}
	case yaml.SequenceNode:
		n.form = formList
		for _, item := range y.Content {
			v, itemErr := r.convert(item, depth+1)
			if itemErr != nil {
				return nil, itemErr
			}
			n.items = append(n.items, v)
		}
	case yaml.MappingNode:
		n.form = formMapping
		n.pairs, err = r.pairs(y, depth)
	}
	if err != nil {
		return nil, err
	}
	n = longForm(y, n)
	r.done[y] = n
	return n, nil
}

// pairs reads a mapping. A merge key comes first, so that the mapping's own keys win.
func (r *yamlReader) pairs(y *yaml.Node, depth int) ([]pair, error) {
	var merged, own []pair
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		v, err := r.convert(y.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.ShortTag() == "!!merge" {
			for _, from := range append([]*node{v}, v.items...) {
				if r.merged += len(from.pairs); r.merged > workMax {
					return nil, errWork
				}
				merged = append(merged, from.pairs...)
			}
			continue
		}
		if v.line != key.Line {
			shared := *v // an aliased value keeps the line of its anchor for others
			shared.line = key.Line
			v = &shared
		}
		own = append(own, pair{key.Value, v})
	}
	return append(merged, own...), nil
}

// longForm turns a short tag of CloudFormation such as !Ref or !GetAtt into the function it stands for.
func longForm(y *yaml.Node, n *node) *node {
	if !strings.HasPrefix(y.Tag, "!") || strings.HasPrefix(y.Tag, "!!") || len(y.Tag) == 1 {
		return n
	}
	name := y.Tag[1:]
	if y.Kind == yaml.ScalarNode { // a tagged scalar is never null: !Ref null names a thing called null
		n.form, n.text = formScalar, y.Value
	}
	switch name {
	case "Ref", "Condition":
	case "GetAtt":
		if resource, attribute, ok := strings.Cut(n.text, "."); ok && n.form == formScalar {
			n = &node{form: formList, line: n.line, items: []*node{
				{form: formScalar, text: resource, line: n.line}, {form: formScalar, text: attribute, line: n.line},
			}}
		}
		name = "Fn::GetAtt"
	default:
		name = "Fn::" + name
	}
	return &node{form: formMapping, line: n.line, pairs: []pair{{name, n}}}
}
