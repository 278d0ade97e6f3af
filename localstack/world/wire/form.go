package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
	smithytime "github.com/aws/smithy-go/time"
	"github.com/aws/smithy-go/traits"
)

// formReader reads a query form. Keys are dotted paths ("Filters.member.1.Name"),
// so the form is first turned into a tree and then walked as the schema asks.
type formReader struct {
	// at is the node the next value is read from.
	at    *formNode
	stack []formFrame
}

type formNode struct {
	text     string
	children map[string]*formNode
}

// formFrame is an open container: the values still to be handed out.
type formFrame struct {
	members []*smithy.Schema
	nodes   []*formNode
	keys    []string
}

func newFormReader(form url.Values) *formReader {
	root := &formNode{}
	for path, values := range form {
		node := root
		for step := range strings.SplitSeq(path, ".") {
			node = node.descend(step)
		}
		node.text = values[0]
	}
	return &formReader{at: root}
}

func (n *formNode) descend(step string) *formNode {
	if n.children == nil {
		n.children = map[string]*formNode{}
	}
	if n.children[step] == nil {
		n.children[step] = &formNode{}
	}
	return n.children[step]
}

// numbered returns the children 1, 2, 3 … in order, stopping at the first gap.
func (n *formNode) numbered() []*formNode {
	var nodes []*formNode
	for n != nil {
		next, ok := n.children[strconv.Itoa(len(nodes)+1)]
		if !ok {
			break
		}
		nodes = append(nodes, next)
	}
	return nodes
}

// formName is the key of a member; unlike in XML an inherited xmlName counts.
func formName(s *smithy.Schema, fallback string) string {
	if t, ok := smithy.SchemaTrait[*traits.XMLName](s); ok {
		return t.Name
	}
	return fallback
}

func (r *formReader) top() *formFrame { return &r.stack[len(r.stack)-1] }

func (r *formReader) pop() { r.stack = r.stack[:len(r.stack)-1] }

// ReadStruct implements smithy.ShapeDeserializer.
func (r *formReader) ReadStruct(s *smithy.Schema) error {
	var f formFrame
	if s != nil {
		for _, name := range slices.Sorted(maps.Keys(s.Members())) {
			member := s.Member(name)
			if node, ok := r.at.children[formName(member, name)]; ok {
				f.members = append(f.members, member)
				f.nodes = append(f.nodes, node)
			}
		}
	}
	r.stack = append(r.stack, f)
	return nil
}

// ReadStructMember implements smithy.ShapeDeserializer.
func (r *formReader) ReadStructMember() (*smithy.Schema, error) {
	f := r.top()
	if len(f.members) == 0 {
		r.pop()
		return nil, nil
	}
	member := f.members[0]
	r.at = f.nodes[0]
	f.members, f.nodes = f.members[1:], f.nodes[1:]
	return member, nil
}

// ReadList implements smithy.ShapeDeserializer.
func (r *formReader) ReadList(s *smithy.Schema) error {
	node := r.at
	if _, flat := smithy.SchemaTrait[*traits.XMLFlattened](s); !flat {
		node = node.children[formName(s.ListMember(), "member")]
	}
	r.stack = append(r.stack, formFrame{nodes: node.numbered()})
	return nil
}

// ReadListItem implements smithy.ShapeDeserializer.
func (r *formReader) ReadListItem(*smithy.Schema) (bool, error) {
	f := r.top()
	if len(f.nodes) == 0 {
		r.pop()
		return false, nil
	}
	r.at, f.nodes = f.nodes[0], f.nodes[1:]
	return true, nil
}

// ReadMap implements smithy.ShapeDeserializer.
func (r *formReader) ReadMap(s *smithy.Schema) error {
	node := r.at
	if _, flat := smithy.SchemaTrait[*traits.XMLFlattened](s); !flat {
		node = node.children["entry"]
	}
	var f formFrame
	for _, entry := range node.numbered() {
		key := entry.children[formName(s.MapKey(), "key")]
		value := entry.children[formName(s.MapValue(), "value")]
		if key == nil || value == nil {
			return errors.New("map entry without key or value")
		}
		f.keys = append(f.keys, key.text)
		f.nodes = append(f.nodes, value)
	}
	r.stack = append(r.stack, f)
	return nil
}

// ReadMapKey implements smithy.ShapeDeserializer.
func (r *formReader) ReadMapKey(*smithy.Schema) (string, bool, error) {
	f := r.top()
	if len(f.keys) == 0 {
		r.pop()
		return "", false, nil
	}
	key := f.keys[0]
	r.at = f.nodes[0]
	f.keys, f.nodes = f.keys[1:], f.nodes[1:]
	return key, true, nil
}

func readNumber[T int8 | int16 | int32 | int64](r *formReader, v *T, bits int) error {
	n, err := strconv.ParseInt(r.at.text, 10, bits)
	if err != nil {
		return fmt.Errorf("parse number: %w", err)
	}
	*v = T(n)
	return nil
}

// ReadInt8 implements smithy.ShapeDeserializer.
func (r *formReader) ReadInt8(_ *smithy.Schema, v *int8) error { return readNumber(r, v, 8) }

// ReadInt16 implements smithy.ShapeDeserializer.
func (r *formReader) ReadInt16(_ *smithy.Schema, v *int16) error { return readNumber(r, v, 16) }

// ReadInt32 implements smithy.ShapeDeserializer.
func (r *formReader) ReadInt32(_ *smithy.Schema, v *int32) error { return readNumber(r, v, 32) }

// ReadInt64 implements smithy.ShapeDeserializer.
func (r *formReader) ReadInt64(_ *smithy.Schema, v *int64) error { return readNumber(r, v, 64) }

// ReadFloat32 implements smithy.ShapeDeserializer.
func (r *formReader) ReadFloat32(_ *smithy.Schema, v *float32) error {
	f, err := strconv.ParseFloat(r.at.text, 32)
	*v = float32(f)
	return err
}

// ReadFloat64 implements smithy.ShapeDeserializer.
func (r *formReader) ReadFloat64(_ *smithy.Schema, v *float64) error {
	f, err := strconv.ParseFloat(r.at.text, 64)
	*v = f
	return err
}

// ReadBool implements smithy.ShapeDeserializer.
func (r *formReader) ReadBool(_ *smithy.Schema, v *bool) error {
	switch r.at.text {
	case "true":
		*v = true
	case "false":
		*v = false
	default:
		return fmt.Errorf("parse boolean %q", r.at.text)
	}
	return nil
}

// ReadString implements smithy.ShapeDeserializer.
func (r *formReader) ReadString(_ *smithy.Schema, v *string) error {
	*v = r.at.text
	return nil
}

// ReadBlob implements smithy.ShapeDeserializer.
func (r *formReader) ReadBlob(_ *smithy.Schema, v *[]byte) error {
	b, err := base64.StdEncoding.DecodeString(r.at.text)
	*v = b
	return err
}

// ReadTime implements smithy.ShapeDeserializer.
func (r *formReader) ReadTime(_ *smithy.Schema, v *time.Time) error {
	t, err := smithytime.ParseDateTime(r.at.text)
	*v = t
	return err
}

// ReadNil implements smithy.ShapeDeserializer. A form has no null.
func (*formReader) ReadNil(*smithy.Schema) (bool, error) { return false, nil }

// ReadBigInt implements smithy.ShapeDeserializer.
func (*formReader) ReadBigInt(*smithy.Schema, *big.Int) error {
	return errors.New("big integers are not supported in forms")
}

// ReadBigFloat implements smithy.ShapeDeserializer.
func (*formReader) ReadBigFloat(*smithy.Schema, *big.Float) error {
	return errors.New("big decimals are not supported in forms")
}

// ReadUnion implements smithy.ShapeDeserializer.
func (*formReader) ReadUnion(*smithy.Schema) (*smithy.Schema, error) {
	return nil, errors.New("unions are not supported in forms")
}

// ReadDocument implements smithy.ShapeDeserializer.
func (*formReader) ReadDocument(*smithy.Schema, *document.Value) error {
	return errors.New("documents are not supported in forms")
}
