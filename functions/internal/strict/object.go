package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Object decodes exactly one JSON object into a struct. Its keys are among those named, letter for letter, each stands once, and none
// is null. Package json alone is lenient in all of this: "GROUPS": null would empty the groups that were named before it.
func Object(raw []byte, into any, keys ...string) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("want one JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return fmt.Errorf("want one JSON object: %w", err)
		}
		key, _ := token.(string) // the decoder lets only strings be keys
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("want one JSON object: %w", err)
		}
		switch {
		case !slices.Contains(keys, key):
			return fmt.Errorf("unknown field %.60q, want one of %s", key, strings.Join(keys, " "))
		case seen[key]:
			return fmt.Errorf("key %q stands twice", key)
		case string(value) == "null":
			return fmt.Errorf("key %q is null, want a value or no key", key)
		}
		seen[key] = true
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("want one JSON object: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return json.Unmarshal(raw, into)
}
