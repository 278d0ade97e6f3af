package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse decodes the sources strictly: one JSON object, known keys, each once, no null, values in range, timeouts nested. It
// repairs nothing; the error joins everything that is wrong, each with its path, and the Config is then the zero value.
func Parse(raw []byte) (Config, error) {
	values, err := object(raw)
	if err != nil {
		return Config{}, err
	}
	f := &fields{values: values}
	f.only("interval_seconds", "run_timeout_seconds", "concurrency", "sources")
	c := Config{
		Interval:    time.Duration(f.number("interval_seconds", IntervalDefault, bounds{IntervalMin, IntervalMax})) * time.Second,
		RunTimeout:  time.Duration(f.number("run_timeout_seconds", RunTimeoutDefault, bounds{RunTimeoutMin, RunTimeoutMax})) * time.Second,
		Concurrency: f.number("concurrency", ConcurrencyDefault, bounds{1, ConcurrencyMax}),
	}
	for i, raw := range f.list("sources", SourcesMax) {
		s, errs := parseSource(i, raw, c.Interval)
		c.Sources = append(c.Sources, s)
		f.errs = append(f.errs, errs...)
	}
	if len(f.errs) == 0 {
		f.errs = c.relations()
	}
	if err := errors.Join(f.errs...); err != nil {
		return Config{}, err
	}
	return c, nil
}

func parseSource(index int, raw json.RawMessage, interval time.Duration) (Source, []error) {
	path := fmt.Sprintf("sources[%d]", index)
	values, err := object(raw)
	if err != nil {
		return Source{}, []error{fmt.Errorf("%s: %w", path, err)}
	}
	f := &fields{path: path + ": ", values: values}
	s := Source{Name: f.name()}
	if s.Name != "" {
		f.path = fmt.Sprintf("%s %s: ", path, s.Name)
	}
	s.Kind = Kind(f.word("type", "", kinds()))
	if s.Kind == "" {
		return s, f.errs
	}
	f.only(append([]string{"name", "type", "timeout_ms", "every_seconds", "failures_in_row"}, keysOf(s.Kind)...)...)
	seconds := int(interval / time.Second)
	s.Timeout = time.Duration(f.number("timeout_ms", TimeoutDefault, bounds{TimeoutMin, TimeoutMax})) * time.Millisecond
	every := f.number("every_seconds", seconds, bounds{1, EveryMax})
	if seconds > 0 && every%seconds != 0 {
		f.refuse("every_seconds", "%d, want a multiple of interval_seconds, %d", every, seconds)
	}
	s.Every = time.Duration(every) * time.Second
	s.FailuresInRow = f.number("failures_in_row", FailuresInRowDefault, bounds{1, FailuresInRowMax})
	f.kind(&s)
	return s, f.errs
}

// object reads exactly one JSON object, which has each key once and no null.
func object(raw []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("want one JSON object: %w", err)
	}
	if open != json.Delim('{') {
		return nil, errors.New("want one JSON object")
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("want one JSON object: %w", err)
		}
		key, _ := token.(string) // the decoder lets only strings be keys
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("want one JSON object: %w", err)
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("%s: stands twice", key)
		}
		if string(value) == "null" {
			return nil, fmt.Errorf("%s: null, want a value or no key", key)
		}
		out[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("want one JSON object: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want nothing after the JSON object")
	}
	return out, nil
}

// fields reads the values of one object and collects what is wrong.
type fields struct {
	path   string
	values map[string]json.RawMessage
	errs   []error
}

type bounds struct{ min, max int }

func (f *fields) refuse(key, format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("%s%s: %s", f.path, key, fmt.Sprintf(format, args...)))
}

// only refuses every key but those.
func (f *fields) only(keys ...string) {
	var unknown []string
	for key := range f.values {
		if !slices.Contains(keys, key) {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	for _, key := range unknown {
		f.refuse(key, "is no key here, want one of %s", strings.Join(keys, " "))
	}
}

func (f *fields) number(key string, preset int, b bounds) int {
	raw, ok := f.values[key]
	if !ok {
		return preset
	}
	return f.whole(key, raw, b)
}

func (f *fields) whole(key string, raw json.RawMessage, b bounds) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < b.min || n > b.max {
		f.refuse(key, "%s, want a whole number from %d to %d", shown(raw), b.min, b.max)
		return 0
	}
	return n
}

// text reads a string of 1 to most bytes; required refuses its absence.
func (f *fields) text(key string, most int, required bool) string {
	raw, ok := f.values[key]
	if !ok {
		if required {
			f.refuse(key, "is missing")
		}
		return ""
	}
	return f.str(key, raw, most)
}

func (f *fields) str(key string, raw json.RawMessage, most int) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || s == "" || len(s) > most {
		f.refuse(key, "%s, want a text of 1 to %d bytes", told(shown(raw)), most)
		return ""
	}
	return s
}

// word reads one of some words; an empty preset makes it required.
func (f *fields) word(key, preset string, words []string) string {
	raw, ok := f.values[key]
	if !ok && preset != "" {
		return preset
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || !slices.Contains(words, s) {
		f.refuse(key, "%s, want %s", shown(raw), strings.Join(words, ", "))
		return ""
	}
	return s
}

// list reads an array of up to most values; one that is required may be empty, an optional one may not.
func (f *fields) list(key string, most int) []json.RawMessage {
	raw, ok := f.values[key]
	required := key == "sources"
	if !ok {
		if required {
			f.refuse(key, "is missing")
		}
		return nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		f.refuse(key, "%s, want a list", shown(raw))
		return nil
	}
	if len(all) > most || (len(all) == 0 && !required) {
		f.refuse(key, "%d values, want at most %d and no empty list", len(all), most)
		return nil
	}
	return all
}

// shown shortens a raw value for a message.
func shown(raw json.RawMessage) string {
	const most = 60
	if len(raw) == 0 {
		return "nothing"
	}
	if len(raw) > most {
		return strings.ToValidUTF8(string(raw[:most]), "") + "…"
	}
	return string(raw)
}
