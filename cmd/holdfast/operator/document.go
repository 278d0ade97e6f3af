package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Setting is one change of a policy document: a key with its new JSON value, or without one to take the key out.
type Setting struct {
	Key string
	Raw json.RawMessage
}

// ParseSettings reads KEY=VALUE arguments. A value that is JSON is taken as it is, any other is a JSON string, so that words need
// no quotes; KEY= takes the key out. Whether a key exists and its value is in range is not asked here.
func ParseSettings(args []string) ([]Setting, error) {
	var out []Setting
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", arg)
		}
		if slices.ContainsFunc(out, func(s Setting) bool { return s.Key == key }) {
			return nil, fmt.Errorf("key %q stands twice", key)
		}
		out = append(out, Setting{Key: key, Raw: rawValue(value)})
	}
	return out, nil
}

// Examples are settings of the keys whose values are JSON, as they are written in a shell, in the order of the documentation.
func Examples() []string {
	var out []string
	for _, k := range guard.Keys() {
		if e := example(k.Name); e != "" {
			out = append(out, e)
		}
	}
	return out
}

// example is a setting of a key whose value is JSON, "" for other keys.
func example(key string) string {
	switch key {
	case "hold_processes":
		return `hold_processes='["ReplaceUnhealthy","HealthCheck"]'`
	case "dependencies":
		return `dependencies='[{"alarm":"db-slow","kind":"hard"}]'`
	case "queue":
		return `queue='{"sqs_url":"https://sqs.us-east-1.amazonaws.com/111122223333/jobs","deep":1000}'`
	}
	return ""
}

func rawValue(value string) json.RawMessage {
	if value == "" {
		return nil
	}
	if json.Valid([]byte(value)) {
		return json.RawMessage(strings.TrimSpace(value))
	}
	return encoded(value)
}

// encoded is a value as JSON without the escapes that are only needed inside HTML: a queue's address may hold an ampersand.
func encoded(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("encode JSON: " + err.Error()) // strings and checked raw values always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// values decodes a document: one JSON object in which each key stands once; nil has none.
func values(content []byte) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if content == nil {
		return out, nil
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("is not a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("is not JSON: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("is not JSON: %w", err)
		}
		key := fmt.Sprint(name)
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("has the key %q twice", key)
		}
		out[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has something after the JSON object")
	}
	return out, nil
}

// edit applies settings to a document and keeps every other key as it was. It returns the names of the keys that changed, sorted.
func edit(content []byte, settings []Setting) (next []byte, changed []string, err error) {
	doc, err := values(content)
	if err != nil {
		return nil, nil, err
	}
	was := maps.Clone(doc)
	for _, s := range settings {
		if s.Raw == nil {
			delete(doc, s.Key)
		} else {
			doc[s.Key] = s.Raw
		}
	}
	next = encoded(doc)
	after, err := values(next)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range settings {
		old, had := was[s.Key]
		now, has := after[s.Key]
		if had != has || !bytes.Equal(compact(old), compact(now)) {
			changed = append(changed, s.Key)
		}
	}
	slices.Sort(changed)
	return next, changed, nil
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Effective is one key of a policy in force.
type Effective struct {
	Key string `json:"key"`
	// Value is as it is written in the layer, words without their quotes, so that a setting can repeat it; From names that layer.
	Value string `json:"value"`
	From  string `json:"from"`
}

// effective lists the policy in force in the order of the documentation, each value with the layer that it came from.
func effective(r guard.Resolution) []Effective {
	layers := map[string]map[string]json.RawMessage{}
	for name, content := range r.Good {
		if doc, err := values(content); err == nil {
			layers[name] = doc
		}
	}
	var out []Effective
	for _, k := range guard.Keys() {
		from := r.Sources[k.Name]
		value := builtIn(k)
		if raw, ok := layers[from][k.Name]; ok {
			value = plain(raw)
		}
		if k.Name == "mode" {
			value = r.Policy.Mode // also bounded by the switch and by layers that are invalid
		}
		out = append(out, Effective{Key: k.Name, Value: value, From: from})
	}
	return out
}

// builtIn is a key's built-in value as a setting would give it. That there is no queue is no value at all.
func builtIn(k guard.Key) string {
	switch k.Name {
	case "hold_processes":
		return string(encoded(guard.Defaults().HoldProcesses))
	case "dependencies":
		return "[]"
	}
	return k.Default
}

// plain shows a JSON string as its text and everything else as it is.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(compact(raw))
}
