package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// withoutMark drops a byte order mark, which editors on Windows write. It is taken in every file of an audit, templates too.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// decodeStrict takes text with or without a byte order mark. It refuses unknown keys, keys in another case, keys that stand twice, and
// anything after the value.
func decodeStrict(text []byte, into any) error {
	text = withoutMark(text)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return once(json.NewDecoder(bytes.NewReader(text)), reflect.TypeOf(into))
}

// once refuses what the decoder would silently take: the last of two keys, and a key in another case, of which the last would count too.
// Keys of a map, such as tags, are their owner's and may differ in case only. The text was decoded into the type before, so that its
// depth has a limit.
func once(d *json.Decoder, into reflect.Type) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	for into != nil && into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	seen := map[string]bool{}
	for d.More() {
		inner := elementOf(into)
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return err
			}
			key := fmt.Sprint(token)
			if seen[key] {
				return fmt.Errorf("key %q stands twice", key)
			}
			seen[key] = true
			if into != nil && into.Kind() == reflect.Struct {
				var want string
				if want, inner = fieldOf(into, key); want != key {
					return fmt.Errorf("key %q is not known, want %q", key, want)
				}
			}
		}
		if err := once(d, inner); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// elementOf is the type of what a list or map holds, nil for others. A message that is decoded later has no type here.
func elementOf(t reflect.Type) reflect.Type {
	if t == nil || t == reflect.TypeFor[json.RawMessage]() || (t.Kind() != reflect.Slice && t.Kind() != reflect.Map) {
		return nil
	}
	return t.Elem()
}

// fieldOf is the field that the decoder takes a key for, by its name in JSON.
func fieldOf(t reflect.Type, key string) (name string, of reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		own, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if own == key {
			return own, f.Type
		}
		if strings.EqualFold(own, key) {
			name, of = own, f.Type
		}
	}
	return name, of
}

// sameButCase refuses keys of which only one can be meant.
func sameButCase(keys []string) error {
	for i, key := range keys {
		for _, other := range keys[:i] {
			if strings.EqualFold(key, other) {
				return fmt.Errorf("keys %q and %q differ in case only", other, key)
			}
		}
	}
	return nil
}
