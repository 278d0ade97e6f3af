package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
	smithytime "github.com/aws/smithy-go/time"
	"github.com/aws/smithy-go/traits"
)

// xmlWriter writes a value as the content of an XML element, by the rules of the
// AWS query protocol. Source: the Smithy specification, "XML bindings".
//
// Only the names are difficult: a value's element is named by where it stands
// (struct member, list item, map value), not by what it is. Each open container
// is therefore a frame that knows the name of what comes next inside it.
type xmlWriter struct {
	buf   bytes.Buffer
	stack []xmlFrame
}

type xmlFrame struct {
	// close is the element to end with this container, "" for none.
	close string
	// next names the values inside; "" means that members name themselves.
	next string
	// entry is the element around a map's key and value, "" outside maps.
	entry string
	// key names the key element of a map entry.
	key string
	// open says that a map entry has been begun and not ended.
	open bool
}

func (w *xmlWriter) top() *xmlFrame {
	if len(w.stack) == 0 {
		return nil
	}
	return &w.stack[len(w.stack)-1]
}

// name returns the element name of the value about to be written. It is empty
// for the root, whose element the caller writes.
func (w *xmlWriter) name(s *smithy.Schema) string {
	top := w.top()
	if top == nil {
		return ""
	}
	if top.next != "" {
		return top.next
	}
	return xmlName(s, s.MemberName())
}

// xmlName is the xmlName trait of the member itself, or the fallback. The trait
// of a member's target names the target's own elements and does not count.
func xmlName(s *smithy.Schema, fallback string) string {
	if t, ok := smithy.SchemaDirectTrait[*traits.XMLName](s); ok {
		return t.Name
	}
	return fallback
}

func (w *xmlWriter) begin(name string) {
	if name != "" {
		w.buf.WriteString("<" + name + ">")
	}
}

func (w *xmlWriter) end(name string) {
	if name != "" {
		w.buf.WriteString("</" + name + ">")
	}
}

func (w *xmlWriter) scalar(s *smithy.Schema, text string) {
	name := w.name(s)
	w.begin(name)
	// EscapeText fails only when its writer does, and a buffer never does.
	_ = xml.EscapeText(&w.buf, []byte(text))
	w.end(name)
}

func (w *xmlWriter) push(f xmlFrame) { w.stack = append(w.stack, f) }

func (w *xmlWriter) pop() {
	w.end(w.top().close)
	w.stack = w.stack[:len(w.stack)-1]
}

// Bytes implements smithy.ShapeSerializer.
func (w *xmlWriter) Bytes() []byte { return w.buf.Bytes() }

// WriteStruct implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteStruct(s *smithy.Schema) {
	name := w.name(s)
	w.begin(name)
	w.push(xmlFrame{close: name})
}

// CloseStruct implements smithy.ShapeSerializer.
func (w *xmlWriter) CloseStruct() { w.pop() }

// WriteUnion implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteUnion(s, _ *smithy.Schema) { w.WriteStruct(s) }

// CloseUnion implements smithy.ShapeSerializer.
func (w *xmlWriter) CloseUnion() { w.pop() }

// WriteList implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteList(s *smithy.Schema) {
	name := w.name(s)
	if _, flat := smithy.SchemaTrait[*traits.XMLFlattened](s); flat {
		w.push(xmlFrame{next: name})
		return
	}
	w.begin(name)
	w.push(xmlFrame{close: name, next: xmlName(s.ListMember(), "member")})
}

// CloseList implements smithy.ShapeSerializer.
func (w *xmlWriter) CloseList() { w.pop() }

// WriteMap implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteMap(s *smithy.Schema) {
	name := w.name(s)
	f := xmlFrame{
		close: name,
		entry: "entry",
		key:   xmlName(s.MapKey(), "key"),
		next:  xmlName(s.MapValue(), "value"),
	}
	if _, flat := smithy.SchemaTrait[*traits.XMLFlattened](s); flat {
		f.entry, f.close = name, ""
	}
	w.begin(f.close)
	w.push(f)
}

// WriteKey implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteKey(_ *smithy.Schema, key string) {
	w.endEntry()
	top := w.top()
	top.open = true
	w.begin(top.entry)
	w.begin(top.key)
	_ = xml.EscapeText(&w.buf, []byte(key)) // a buffer does not fail
	w.end(top.key)
}

// CloseMap implements smithy.ShapeSerializer.
func (w *xmlWriter) CloseMap() {
	w.endEntry()
	w.pop()
}

func (w *xmlWriter) endEntry() {
	if top := w.top(); top.open {
		w.end(top.entry)
		top.open = false
	}
}

// WriteInt8 implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteInt8(s *smithy.Schema, v int8) { w.WriteInt64(s, int64(v)) }

// WriteInt16 implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteInt16(s *smithy.Schema, v int16) { w.WriteInt64(s, int64(v)) }

// WriteInt32 implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteInt32(s *smithy.Schema, v int32) { w.WriteInt64(s, int64(v)) }

// WriteInt64 implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteInt64(s *smithy.Schema, v int64) {
	w.scalar(s, strconv.FormatInt(v, 10))
}

// WriteFloat32 implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteFloat32(s *smithy.Schema, v float32) {
	w.scalar(s, formatFloat(float64(v), 32))
}

// WriteFloat64 implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteFloat64(s *smithy.Schema, v float64) { w.scalar(s, formatFloat(v, 64)) }

// formatFloat spells the infinities as Smithy does.
func formatFloat(v float64, bits int) string {
	switch {
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// WriteBool implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteBool(s *smithy.Schema, v bool) { w.scalar(s, strconv.FormatBool(v)) }

// WriteString implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteString(s *smithy.Schema, v string) { w.scalar(s, v) }

// WriteBlob implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteBlob(s *smithy.Schema, v []byte) {
	w.scalar(s, base64.StdEncoding.EncodeToString(v))
}

// WriteTime implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteTime(s *smithy.Schema, v time.Time) {
	w.scalar(s, smithytime.FormatDateTime(v))
}

// WriteNil implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteNil(*smithy.Schema) {}

// WriteBigInt implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteBigInt(s *smithy.Schema, v *big.Int) { w.scalar(s, v.String()) }

// WriteBigFloat implements smithy.ShapeSerializer.
func (w *xmlWriter) WriteBigFloat(s *smithy.Schema, v *big.Float) { w.scalar(s, v.String()) }

// WriteDocument implements smithy.ShapeSerializer. No query service has document
// members; one that did would need a rule the protocol does not define.
func (w *xmlWriter) WriteDocument(s *smithy.Schema, _ document.Value) {
	panic("wire: document member " + s.MemberName() + " in a query answer")
}
