package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Register is the file of reviewed thresholds, by service.
type Register struct{ services map[string]Thresholds }

// entry is one service as written: the numbers and their review side by side.
type entry struct {
	Values
	Review Review `json:"review"`
}

// Parse reads the file. It is strict: an unknown key, a key that stands twice, a missing one and a second value are errors. The numbers
// themselves are judged by Problems.
func Parse(text []byte) (*Register, error) {
	var raw map[string]json.RawMessage
	if err := decode(text, &raw); err != nil {
		return nil, fmt.Errorf("decode thresholds: %w", err)
	}
	r := &Register{services: map[string]Thresholds{}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var e entry
		err := errors.Join(decode(raw[name], &e), complete(raw[name]))
		if name == "" {
			err = errors.Join(errors.New("a service without a name"), err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("thresholds of %q: %w", name, err))
			continue
		}
		r.services[name] = Thresholds{Service: name, Values: e.Values, Review: e.Review}
	}
	return r, errors.Join(errs...)
}

func decode(text []byte, into any) error {
	if err := once(json.NewDecoder(bytes.NewReader(text))); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// once refuses a key that stands twice: the decoder would silently take the last one.
func once(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[any]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return fmt.Errorf("key %q stands twice", key)
			}
			seen[key] = true
		}
		if err := once(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// complete wants every number to be written down: one that is left out would silently be 0.
func complete(text []byte) error {
	var have map[string]json.RawMessage
	if err := json.Unmarshal(text, &have); err != nil {
		return err
	}
	all, err := json.Marshal(Values{})
	if err != nil {
		return err
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(all, &want); err != nil {
		return err
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, ok := have[key]; !ok {
			errs = append(errs, fmt.Errorf("%s is not stated", key))
		}
	}
	return errors.Join(errs...)
}

// Services lists the services, sorted.
func (r *Register) Services() []string { return slices.Sorted(maps.Keys(r.services)) }

// Of returns the thresholds of a service; the error names the services that there are.
func (r *Register) Of(service string) (Thresholds, error) {
	t, ok := r.services[service]
	if !ok {
		return Thresholds{}, fmt.Errorf("no reviewed thresholds for service %q; there are those of %q", service, r.Services())
	}
	return t, nil
}

// Problems lists what is wrong with any service of the register.
func (r *Register) Problems() []Problem {
	var out []Problem
	for _, name := range r.Services() {
		out = append(out, r.services[name].Problems()...)
	}
	return out
}
