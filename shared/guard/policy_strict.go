package guard

import (
	"encoding/json"
	"fmt"
	"slices"
)

// strictObject decodes one JSON object of which it knows every key, and gives its raw values too. Package json alone takes a key in any
// letters, a key that stands twice and a null, and says nothing: a second "kind" would make a hard dependency soft.
func strictObject(raw json.RawMessage, into any, keys ...string) (map[string]json.RawMessage, error) {
	values, err := strictValues(raw)
	if err != nil {
		return nil, err
	}
	for name := range values {
		if !slices.Contains(keys, name) {
			return nil, fmt.Errorf("%q is no key here", name)
		}
	}
	return values, json.Unmarshal(raw, into)
}

// strictValues are the values of one JSON object that has each key once and no null.
func strictValues(raw json.RawMessage) (map[string]json.RawMessage, error) {
	values, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	for name, value := range values {
		if string(value) == "null" {
			return nil, fmt.Errorf("%q is null", name)
		}
	}
	return values, nil
}

// strictDependencies decodes the list of dependencies.
func strictDependencies(raw json.RawMessage) ([]Dependency, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil || entries == nil {
		return nil, fmt.Errorf("%s is not a list of {alarm, kind, missing}", shown(raw))
	}
	deps := make([]Dependency, len(entries))
	for i, entry := range entries {
		if _, err := strictObject(entry, &deps[i], "alarm", "kind", "missing"); err != nil {
			return nil, fmt.Errorf("%s is not a list of {alarm, kind, missing}", shown(raw))
		}
	}
	return deps, nil
}

// strictQueue decodes a queue over the values that q has already.
func strictQueue(raw json.RawMessage, q *QueueSpec) error {
	values, err := strictObject(raw, q, "sqs_url", "namespace", "metric", "dimensions", "deep")
	if err != nil {
		return err
	}
	if dimensions, ok := values["dimensions"]; ok {
		_, err = strictValues(dimensions)
	}
	return err
}
