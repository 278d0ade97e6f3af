package wire

import (
	"math/big"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
)

// schemaOf returns the schema a value writes itself with, nil for the SDK's
// empty shapes. The schemas are exported too, but this way nobody has to name
// them, and a value can never be paired with another value's schema.
func schemaOf(v smithy.Serializable) *smithy.Schema {
	r := &recorder{}
	v.Serialize(r)
	return r.root
}

// recorder is a serializer that keeps the first struct's schema and nothing else.
type recorder struct {
	root *smithy.Schema
	seen bool
}

// WriteStruct implements smithy.ShapeSerializer.
func (r *recorder) WriteStruct(s *smithy.Schema) {
	if !r.seen {
		r.root, r.seen = s, true
	}
}

// Bytes implements smithy.ShapeSerializer.
func (*recorder) Bytes() []byte { return nil }

// WriteInt8 implements smithy.ShapeSerializer.
func (*recorder) WriteInt8(*smithy.Schema, int8) {}

// WriteInt16 implements smithy.ShapeSerializer.
func (*recorder) WriteInt16(*smithy.Schema, int16) {}

// WriteInt32 implements smithy.ShapeSerializer.
func (*recorder) WriteInt32(*smithy.Schema, int32) {}

// WriteInt64 implements smithy.ShapeSerializer.
func (*recorder) WriteInt64(*smithy.Schema, int64) {}

// WriteFloat32 implements smithy.ShapeSerializer.
func (*recorder) WriteFloat32(*smithy.Schema, float32) {}

// WriteFloat64 implements smithy.ShapeSerializer.
func (*recorder) WriteFloat64(*smithy.Schema, float64) {}

// WriteBool implements smithy.ShapeSerializer.
func (*recorder) WriteBool(*smithy.Schema, bool) {}

// WriteString implements smithy.ShapeSerializer.
func (*recorder) WriteString(*smithy.Schema, string) {}

// WriteBigInt implements smithy.ShapeSerializer.
func (*recorder) WriteBigInt(*smithy.Schema, *big.Int) {}

// WriteBigFloat implements smithy.ShapeSerializer.
func (*recorder) WriteBigFloat(*smithy.Schema, *big.Float) {}

// WriteBlob implements smithy.ShapeSerializer.
func (*recorder) WriteBlob(*smithy.Schema, []byte) {}

// WriteTime implements smithy.ShapeSerializer.
func (*recorder) WriteTime(*smithy.Schema, time.Time) {}

// WriteUnion implements smithy.ShapeSerializer.
func (*recorder) WriteUnion(_, _ *smithy.Schema) {}

// CloseUnion implements smithy.ShapeSerializer.
func (*recorder) CloseUnion() {}

// WriteDocument implements smithy.ShapeSerializer.
func (*recorder) WriteDocument(*smithy.Schema, document.Value) {}

// WriteNil implements smithy.ShapeSerializer.
func (*recorder) WriteNil(*smithy.Schema) {}

// CloseStruct implements smithy.ShapeSerializer.
func (*recorder) CloseStruct() {}

// WriteList implements smithy.ShapeSerializer.
func (*recorder) WriteList(*smithy.Schema) {}

// CloseList implements smithy.ShapeSerializer.
func (*recorder) CloseList() {}

// WriteMap implements smithy.ShapeSerializer.
func (*recorder) WriteMap(*smithy.Schema) {}

// WriteKey implements smithy.ShapeSerializer.
func (*recorder) WriteKey(*smithy.Schema, string) {}

// CloseMap implements smithy.ShapeSerializer.
func (*recorder) CloseMap() {}
