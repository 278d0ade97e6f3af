package telemetry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// Limits of the embedded metric format. Source: CloudWatch user guide, "Specification: Embedded metric format".
const (
	MetricsMax        = 100
	DimensionsMax     = 30
	ListMax           = 100
	dimensionBytesMax = 1024
)

// Set is one line of metrics.
type Set struct {
	// Dimensions are the dimensions with their values, 1 to 1024 printable ASCII characters each.
	Dimensions map[string]string
	// By are the combinations under which every metric is told, each a list of names of Dimensions; nil tells it under all of
	// them together.
	By [][]string
	// Values are the metrics, each declared in Metrics.
	Values map[string]float64
	// Lists are metrics with several values each, 1 to ListMax, of which CloudWatch makes percentiles. Values and Lists together
	// are 1 to MetricsMax metrics.
	Lists map[string][]float64
	// Properties go along for people who read the line; they are no metrics.
	Properties map[string]any
}

// Emitter writes sets of metrics. It is safe for concurrent use.
type Emitter struct {
	mu  sync.Mutex
	out io.Writer
	now func() time.Time
}

// NewEmitter returns an emitter that writes lines to out and dates them by now.
func NewEmitter(out io.Writer, now func() time.Time) *Emitter { return &Emitter{out: out, now: now} }

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct{ Name, Unit string }

// Emit writes one set on one line. It refuses what CloudWatch would silently treat as a mere log line: an undeclared metric, a
// number that JSON cannot carry, too many metrics, a dimension that is empty or collides with another name.
func (e *Emitter) Emit(s Set) error {
	if s.By == nil {
		s.By = [][]string{slices.Sorted(maps.Keys(s.Dimensions))}
	}
	line, err := s.line(e.now())
	if err != nil {
		return fmt.Errorf("encode metrics: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

func (s Set) line(at time.Time) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d := directive{Namespace: Namespace, Dimensions: s.By}
	root := map[string]any{}
	put := func(name string, value any) error {
		if _, taken := root[name]; taken || name == "_aws" {
			return fmt.Errorf("the name %q is used twice", name)
		}
		root[name] = value
		return nil
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		define, err := declared(name)
		d.Metrics = append(d.Metrics, define)
		errs = append(errs, err, put(name, s.Values[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Lists)) {
		define, err := declared(name)
		d.Metrics = append(d.Metrics, define)
		errs = append(errs, err, put(name, s.Lists[name]))
	}
	for name, value := range s.Dimensions {
		errs = append(errs, put(name, value))
	}
	for name, value := range s.Properties {
		errs = append(errs, put(name, value))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	root["_aws"] = map[string]any{"Timestamp": at.UnixMilli(), "CloudWatchMetrics": []directive{d}}
	return json.Marshal(root)
}

func declared(name string) (definition, error) {
	unit, ok := Unit(name)
	if !ok {
		return definition{}, fmt.Errorf("metric %q is not declared", name)
	}
	return definition{name, unit}, nil
}

func (s Set) check() error {
	if n := len(s.Values) + len(s.Lists); n == 0 || n > MetricsMax {
		return fmt.Errorf("%d metrics, want 1 to %d", n, MetricsMax)
	}
	for name, list := range s.Lists {
		if n := len(list); n == 0 || n > ListMax {
			return fmt.Errorf("metric %q has %d values, want 1 to %d", name, n, ListMax)
		}
	}
	for name, value := range s.Dimensions {
		if value == "" || len(value) > dimensionBytesMax || !printable(value) {
			return fmt.Errorf("dimension %s: %q, want 1 to %d printable ASCII characters", name, value, dimensionBytesMax)
		}
	}
	for _, names := range s.By {
		if len(names) > DimensionsMax {
			return fmt.Errorf("%d dimensions, at most %d", len(names), DimensionsMax)
		}
		for _, name := range names {
			if _, ok := s.Dimensions[name]; !ok {
				return fmt.Errorf("dimension %s has no value", name)
			}
		}
	}
	return nil
}

func printable(s string) bool {
	for _, r := range s {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return true
}
