package wire

import (
	"fmt"
	"reflect"
	"time"

	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// deserializable returns the part of in that reads itself from a deserializer.
// Most input structs of the SDK can only write themselves, since a client never
// reads one; for those the schema is walked and the fields are set by name.
func deserializable(in any, schema *smithy.Schema) (smithy.Deserializable, error) {
	if d, ok := in.(smithy.Deserializable); ok {
		return d, nil
	}
	v := reflect.ValueOf(in)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is not a pointer to a struct", in)
	}
	return bound{value: v.Elem(), schema: schema}, nil
}

// bound is a struct that is read by walking its schema.
type bound struct {
	value  reflect.Value
	schema *smithy.Schema
}

// Deserialize implements smithy.Deserializable.
func (b bound) Deserialize(d smithy.ShapeDeserializer) error {
	return smithy.ReadStruct(d, b.schema, func(member *smithy.Schema) error {
		field := b.value.FieldByName(member.MemberName())
		if !field.IsValid() {
			return fmt.Errorf("%s has no field for member %s", b.value.Type(), member.MemberName())
		}
		if err := read(d, member, field); err != nil {
			return fmt.Errorf("%s: %w", member.MemberName(), err)
		}
		return nil
	})
}

// read fills v from the value the deserializer stands on.
func read(d smithy.ShapeDeserializer, s *smithy.Schema, v reflect.Value) error {
	if v.Kind() == reflect.Interface {
		return readUnion(d, s, v)
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return read(d, s, v.Elem())
	}
	if v.CanAddr() {
		if own, ok := v.Addr().Interface().(smithy.Deserializable); ok {
			return own.Deserialize(d)
		}
	}
	switch v.Interface().(type) {
	case time.Time:
		var t time.Time
		err := d.ReadTime(s, &t)
		v.Set(reflect.ValueOf(t))
		return err
	case []byte:
		var b []byte
		err := d.ReadBlob(s, &b)
		v.SetBytes(b)
		return err
	}
	return readKind(d, s, v)
}

// readKind covers the plain Go kinds the SDK's inputs are made of.
func readKind(d smithy.ShapeDeserializer, s *smithy.Schema, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		var x string
		err := d.ReadString(s, &x)
		v.SetString(x)
		return err
	case reflect.Bool:
		var x bool
		err := d.ReadBool(s, &x)
		v.SetBool(x)
		return err
	case reflect.Int32:
		var x int32
		err := d.ReadInt32(s, &x)
		v.SetInt(int64(x))
		return err
	case reflect.Int64:
		var x int64
		err := d.ReadInt64(s, &x)
		v.SetInt(x)
		return err
	case reflect.Float32:
		var x float32
		err := d.ReadFloat32(s, &x)
		v.SetFloat(float64(x))
		return err
	case reflect.Float64:
		var x float64
		err := d.ReadFloat64(s, &x)
		v.SetFloat(x)
		return err
	case reflect.Struct:
		return bound{value: v, schema: s}.Deserialize(d)
	case reflect.Slice:
		return readList(d, s, v)
	case reflect.Map:
		return readMap(d, s, v)
	}
	return fmt.Errorf("type %s is not supported", v.Type())
}

func readList(d smithy.ShapeDeserializer, s *smithy.Schema, v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return smithy.ReadList(d, s, func() error {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := readNullable(d, s.ListMember(), item); err != nil {
			return err
		}
		v.Set(reflect.Append(v, item))
		return nil
	})
}

func readMap(d smithy.ShapeDeserializer, s *smithy.Schema, v reflect.Value) error {
	v.Set(reflect.MakeMap(v.Type()))
	return smithy.ReadMap(d, s, func(key string) error {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := readNullable(d, s.MapValue(), item); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), item)
		return nil
	})
}

func readNullable(d smithy.ShapeDeserializer, s *smithy.Schema, v reflect.Value) error {
	null, err := d.ReadNil(s)
	if null || err != nil {
		return err
	}
	return read(d, s, v)
}

// readUnion reads a union. The SDK holds unions in Go interfaces, which do not
// list their implementations, so those of the operations used here are listed by
// hand.
func readUnion(d smithy.ShapeDeserializer, s *smithy.Schema, v reflect.Value) error {
	return smithy.ReadUnion(d, s, func(member *smithy.Schema) error {
		variant, err := newVariant(v.Type(), member.MemberName())
		if err != nil {
			return err
		}
		v.Set(reflect.ValueOf(variant))
		return variant.Deserialize(d)
	})
}

func newVariant(union reflect.Type, member string) (smithy.Deserializable, error) {
	switch union {
	case reflect.TypeFor[ddb.AttributeValue]():
		return newAttributeValue(member)
	case reflect.TypeFor[cw.EvaluationCriteria]():
		if member == "PromQLCriteria" {
			return &cw.EvaluationCriteriaMemberPromQLCriteria{}, nil
		}
	case reflect.TypeFor[cw.EvaluationWindow]():
		switch member {
		case "SlidingWindow":
			return &cw.EvaluationWindowMemberSlidingWindow{}, nil
		case "WallClockWindow":
			return &cw.EvaluationWindowMemberWallClockWindow{}, nil
		}
	}
	return nil, fmt.Errorf("union %s has no member %q here", union, member)
}

func newAttributeValue(name string) (smithy.Deserializable, error) {
	switch name {
	case "B":
		return &ddb.AttributeValueMemberB{}, nil
	case "BOOL":
		return &ddb.AttributeValueMemberBOOL{}, nil
	case "BS":
		return &ddb.AttributeValueMemberBS{}, nil
	case "L":
		return &ddb.AttributeValueMemberL{}, nil
	case "M":
		return &ddb.AttributeValueMemberM{}, nil
	case "N":
		return &ddb.AttributeValueMemberN{}, nil
	case "NS":
		return &ddb.AttributeValueMemberNS{}, nil
	case "NULL":
		return &ddb.AttributeValueMemberNULL{}, nil
	case "S":
		return &ddb.AttributeValueMemberS{}, nil
	case "SS":
		return &ddb.AttributeValueMemberSS{}, nil
	}
	return nil, fmt.Errorf("attribute value type %q is unknown", name)
}
