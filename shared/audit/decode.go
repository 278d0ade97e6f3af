package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// DecodeAccount reads a saved dump. It is strict: an unknown key, one in another case, a key that stands twice, another format number, a resource without a
// name and a number out of its range are errors that name the thing and what is wanted; all of them are reported together.
func DecodeAccount(text []byte) (Account, error) {
	text = withoutMark(text)
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Account{}, fmt.Errorf("decode dump: %w", err)
	}
	if head.Format == nil {
		return Account{}, fmt.Errorf("decode dump: no format number, want \"format\": %d: is this a dump of an audit?", Format)
	}
	if *head.Format != Format {
		return Account{}, fmt.Errorf("decode dump: format %d, want %d: write the dump anew", *head.Format, Format)
	}
	var a Account
	if err := decodeStrict(text, &a); err != nil {
		return Account{}, fmt.Errorf("decode dump: %w", err)
	}
	if err := a.validate(); err != nil {
		return Account{}, fmt.Errorf("check dump: %w", err)
	}
	return a, nil
}

// DecodePromises reads a file of reviewed thresholds, by service. Keys of it that no rule of an audit looks at are left to the review; one
// that a rule looks at must be there.
func DecodePromises(text []byte) (map[string]Promise, error) {
	var raw map[string]map[string]json.RawMessage
	if err := decodeStrict(text, &raw); err != nil {
		return nil, fmt.Errorf("decode thresholds: %w", err)
	}
	if raw == nil {
		return nil, errors.New("decode thresholds: want an object with a key for each service")
	}
	out := map[string]Promise{}
	var errs []error
	for _, service := range slices.Sorted(maps.Keys(raw)) {
		p, err := promiseOf(raw[service])
		if service == "" {
			err = errors.Join(errors.New("a service without a name"), err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("thresholds of %q: %w", service, err))
		}
		out[service] = p
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// healthTypes are all health check types. Source: Auto Scaling API reference, CreateAutoScalingGroup, HealthCheckType.
func healthTypes() []string { return []string{"EC2", "EBS", timing.TypeELB, timing.TypeLattice} }

func promiseOf(raw map[string]json.RawMessage) (Promise, error) {
	var p Promise
	var errs []error
	for _, f := range []struct {
		key  string
		into any
		n    *int
		high int
	}{
		{"handler_timeout_ms", &p.HandlerTimeoutMS, &p.HandlerTimeoutMS, NumberMax}, {"dependency_timeout_ms", &p.DependencyTimeoutMS, &p.DependencyTimeoutMS, NumberMax},
		{"restart_seconds", &p.RestartSeconds, &p.RestartSeconds, NumberMax}, {"recovery_objective_seconds", &p.RecoveryObjectiveSeconds, &p.RecoveryObjectiveSeconds, NumberMax},
		{"fail_open_percent", &p.FailOpenPercent, &p.FailOpenPercent, 100}, {"health_check_types", &p.HealthCheckTypes, nil, 0},
	} {
		value, ok := raw[f.key]
		if !ok || string(value) == "null" {
			errs = append(errs, fmt.Errorf("%s is not stated", f.key))
			continue
		}
		if err := json.Unmarshal(value, f.into); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.key, err))
		} else if f.n != nil && (*f.n < 0 || *f.n > f.high) {
			errs = append(errs, fmt.Errorf("%s %d, want 0 to %d", f.key, *f.n, f.high))
		}
	}
	for _, kind := range p.HealthCheckTypes {
		if !slices.Contains(healthTypes(), kind) {
			errs = append(errs, fmt.Errorf("health_check_types: %q is not known, want %s", kind, strings.Join(healthTypes(), ", ")))
		}
	}
	return p, errors.Join(append(errs, sameButCase(slices.Sorted(maps.Keys(raw))))...)
}

// yearAhead is how far in the future an acknowledgement may end.
const yearAhead = 1

// DecodeAcknowledgements reads the file of acknowledgements, {"acknowledgements": [...]}, as of the time of the audit. It is strict: an
// unknown key, an unknown rule, a missing name, reason, person or day, a day more than a year ahead and two entries for one resource and part are
// errors that name the entry and its rule. An entry whose time is over is no error: Judge lists it as expired.
func DecodeAcknowledgements(text []byte, at time.Time) ([]Acknowledgement, error) {
	var file struct {
		Acknowledgements *[]Acknowledgement `json:"acknowledgements"`
	}
	if err := decodeStrict(text, &file); err != nil {
		return nil, fmt.Errorf("decode acknowledgements: %w", err)
	}
	if file.Acknowledgements == nil {
		return nil, errors.New("decode acknowledgements: want an object with the key \"acknowledgements\"")
	}
	rules := map[string]bool{}
	for _, r := range Rules() {
		rules[r.ID] = true
	}
	seen := map[[3]string]bool{}
	var errs []error
	for i, a := range *file.Acknowledgements {
		var problems []error
		if !rules[a.Rule] {
			problems = append(problems, fmt.Errorf("rule %q is not known", a.Rule))
		}
		for _, f := range [][2]string{{"name", a.Name}, {"reason", a.Reason}, {"by", a.By}, {"until", a.Until}} {
			if strings.TrimSpace(f[1]) == "" {
				problems = append(problems, fmt.Errorf("%s is not stated", f[0]))
			}
		}
		problems = append(problems, a.checkUntil(at))
		if key := [3]string{a.Rule, a.Name, a.Part}; seen[key] {
			problems = append(problems, errors.New("stands twice"))
		} else {
			seen[key] = true
		}
		if err := errors.Join(problems...); err != nil {
			errs = append(errs, fmt.Errorf("acknowledgement %d, rule %s, name %q: %w", i+1, a.Rule, a.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return *file.Acknowledgements, nil
}

func (a Acknowledgement) checkUntil(at time.Time) error {
	if strings.TrimSpace(a.Until) == "" {
		return nil // said already
	}
	until, err := time.Parse(time.DateOnly, a.Until)
	if err != nil {
		return fmt.Errorf("until %q is no day, want YYYY-MM-DD", a.Until)
	}
	if last := at.UTC().AddDate(yearAhead, 0, 0); until.After(last) {
		return fmt.Errorf("until %s is more than a year ahead, want %s at the latest", a.Until, last.Format(time.DateOnly))
	}
	return nil
}

// printable says that a name cannot play tricks on a terminal.
func printable(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
