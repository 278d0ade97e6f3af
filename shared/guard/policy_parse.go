package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Problem is one refused setting: which layer, which key and which rule it breaks.
type Problem struct {
	Layer, Key, Rule string
}

// String says it in one line.
func (p Problem) String() string {
	if p.Key == "" {
		return p.Layer + ": " + p.Rule
	}
	return p.Layer + ": " + p.Key + ": " + p.Rule
}

// document is one decoded layer: its raw values by key, the policy below with them, and the problems that make it invalid.
type document struct {
	layer    string
	values   map[string]json.RawMessage
	policy   Policy
	problems []Problem
}

// decodeLayer decodes one layer strictly: one JSON object, known keys, each once, right types, values in range.
func decodeLayer(layer string, raw []byte, keys map[string]*Key, below Policy) document {
	d := document{layer: layer, policy: below}
	values, err := decodeObject(raw)
	d.values = values // also of a broken one: somebody may have meant to stop the guard with it
	if err != nil {
		d.problems = []Problem{{Layer: layer, Rule: err.Error()}}
		return d
	}
	for _, name := range sortedNames(values) {
		k, ok := keys[name]
		if !ok {
			d.problems = append(d.problems, Problem{layer, name, "is no policy key"})
			continue
		}
		if k.DefaultsOnly && layer != LayerDefaults {
			d.problems = append(d.problems, Problem{layer, name, "is accepted in " + LayerDefaults + " only"})
			continue
		}
		if err := k.apply(&d.policy, values[name]); err != nil {
			d.problems = append(d.problems, Problem{layer, name, err.Error()})
		}
	}
	return d
}

// decodeObject reads exactly one JSON object and refuses a key that stands twice. Beside an error it gives what stands before it.
func decodeObject(raw []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("is empty, want one JSON object")
	}
	if err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if open != json.Delim('{') {
		return nil, errors.New("is not a JSON object")
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return out, fmt.Errorf("is not JSON: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return out, fmt.Errorf("is not JSON: %w", err)
		}
		key, _ := name.(string)
		if _, twice := out[key]; twice {
			return out, fmt.Errorf("has the key %q twice", key)
		}
		out[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return out, fmt.Errorf("is not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return out, errors.New("has something after the JSON object")
	}
	return out, nil
}

func sortedNames[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// apply decodes one value into its field; the error is the rule that it breaks.
func (k *Key) apply(p *Policy, raw json.RawMessage) error {
	switch {
	case k.number != nil:
		n, err := wholeNumber(raw)
		if err != nil {
			return err
		}
		switch {
		case n > k.Max && k.Max == limitUnbounded:
			return fmt.Errorf("%d, want at most %d", n, k.Max)
		case n < k.Min || n > k.Max:
			return fmt.Errorf("%d, want %s", n, k.Range())
		}
		*k.number(p) = n
	case k.flag != nil:
		var b *bool
		if err := json.Unmarshal(raw, &b); err != nil || b == nil {
			return fmt.Errorf("%s, want true or false", shown(raw))
		}
		*k.flag(p) = *b
	case k.word != nil:
		var w string
		_ = json.Unmarshal(raw, &w) // what is no text leaves none, which is no word
		if !slices.Contains(k.Words, w) {
			return fmt.Errorf("%s, want %s", shown(raw), strings.Join(k.Words, ", "))
		}
		*k.word(p) = w
	default:
		return applyList(k.Name, p, raw)
	}
	return nil
}

// Range is the key's range for people: a..b, "a or more", or its words.
func (k Key) Range() string {
	switch {
	case k.word != nil:
		return strings.Join(k.Words, ", ")
	case k.flag != nil:
		return "true, false"
	case k.number == nil:
		return ""
	case k.Max == limitUnbounded:
		return strconv.Itoa(k.Min) + " or more"
	default:
		return fmt.Sprintf("%d..%d", k.Min, k.Max)
	}
}

// wholeNumber takes a JSON number without a fraction, so 60, 6e1 and 60.0 but not "60" or null. What it is given is one JSON value, so
// that no number of Go's alone, such as NaN or 1_000, comes here.
func wholeNumber(raw json.RawMessage) (int, error) {
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, fmt.Errorf("%s is not a number", shown(raw))
	case f != float64(int(f)): // out of a float's range is infinite, and no whole number
		return 0, fmt.Errorf("%s is not a whole number in range", shown(raw))
	}
	return int(f), nil
}

// shown prints a refused value, cut to a length that a page can bear.
func shown(raw json.RawMessage) string {
	const most = 60
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}

func applyList(name string, p *Policy, raw json.RawMessage) error {
	switch name {
	case "hold_processes":
		return applyProcesses(p, raw)
	case "dependencies":
		return applyDependencies(p, raw)
	default:
		return applyQueue(p, raw)
	}
}

// applyProcesses takes only subsets of the built-in set that have ReplaceUnhealthy. An empty list would mean all processes to
// AWS, and suspending Launch or Terminate lets the other run alone. Source: Auto Scaling user guide, suspend and resume processes.
func applyProcesses(p *Policy, raw json.RawMessage) error {
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil || names == nil {
		return fmt.Errorf("%s is not a list of process names", shown(raw))
	}
	allowed := builtInHoldProcesses()
	for i, n := range names {
		if !slices.Contains(allowed, n) {
			return fmt.Errorf("%q is not one of %s", n, strings.Join(allowed, ", "))
		}
		if slices.Contains(names[:i], n) {
			return fmt.Errorf("%q stands twice", n)
		}
	}
	if !slices.Contains(names, ProcessReplaceUnhealthy) {
		return fmt.Errorf("%s has no %s", shown(raw), ProcessReplaceUnhealthy)
	}
	p.HoldProcesses = names
	return nil
}

func applyDependencies(p *Policy, raw json.RawMessage) error {
	deps, err := strictDependencies(raw)
	if err != nil {
		return err
	}
	if len(deps) > dependenciesMax {
		return fmt.Errorf("%d dependencies, want at most %d", len(deps), dependenciesMax)
	}
	seen := map[string]bool{}
	for i := range deps {
		d := &deps[i]
		if d.Missing == "" {
			d.Missing = MissingUnknown
		}
		switch {
		case d.Alarm == "":
			return fmt.Errorf("dependency %d has no alarm", i+1)
		case seen[d.Alarm]:
			return fmt.Errorf("alarm %q stands twice", d.Alarm)
		case d.Kind != DependencyHard && d.Kind != DependencySoft:
			return fmt.Errorf("alarm %q: kind %q, want hard or soft", d.Alarm, d.Kind)
		case d.Missing != MissingUnknown && d.Missing != MissingOK:
			return fmt.Errorf("alarm %q: missing %q, want unknown or ok", d.Alarm, d.Missing)
		}
		seen[d.Alarm] = true
	}
	p.Dependencies = deps
	return nil
}

// queueDeep is the depth from which a queue is called deep unless stated.
const queueDeep = 1000

func applyQueue(p *Policy, raw json.RawMessage) error {
	q := QueueSpec{Deep: queueDeep}
	if strictQueue(raw, &q) != nil {
		return fmt.Errorf("%s is not {sqs_url | namespace, metric, dimensions; deep}", shown(raw))
	}
	metric := q.Namespace != "" || q.Metric != "" || len(q.Dimensions) > 0
	switch {
	case q.SQSURL != "" && metric:
		return errors.New("has both sqs_url and a metric, want one of them")
	case q.SQSURL == "" && (q.Namespace == "" || q.Metric == ""):
		return errors.New("has neither sqs_url nor namespace and metric")
	case q.Deep < 1 || q.Deep > limitUnbounded:
		return fmt.Errorf("deep %d, want 1 or more", q.Deep)
	}
	p.Queue = &q
	return nil
}
