package memledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// kept is one stored content: its JSON, or in a ledger of values the value itself.
type kept struct {
	data  []byte
	value any
}

func (l *Ledger) keep(what string, v any) (kept, error) {
	if l.values {
		return kept{value: v}, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return kept{}, fmt.Errorf("encode %s: %w: %w", what, fault.Refused, err)
	}
	return kept{data: data}, nil
}

// keepRecord leaves out the request, which has an item of its own.
func (l *Ledger) keepRecord(rec runner.Record) (kept, error) {
	rec.Request = guard.Request{}
	return l.keep("state", rec)
}

func (k kept) equal(other kept) bool {
	return bytes.Equal(k.data, other.data) && reflect.DeepEqual(k.value, other.value)
}

// taken is a stored content; no content is the zero value.
func taken[T any](k kept) (T, error) {
	if v, ok := k.value.(T); ok {
		return v, nil
	}
	var out T
	if len(k.data) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(k.data, &out); err != nil {
		return out, fmt.Errorf("decode item: %w", err)
	}
	return out, nil
}
