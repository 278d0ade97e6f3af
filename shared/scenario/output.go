package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteJSON writes one JSON object a sweep, one a line.
func (r Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, s := range r.Sweeps {
		if err := enc.Encode(s); err != nil {
			return fmt.Errorf("write sweep: %w", err)
		}
	}
	return nil
}

// WriteStory tells the scenario to a person: one block a sweep.
func (r Result) WriteStory(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Scenario.Name)
	if r.Scenario.About != "" {
		b.WriteString(": " + r.Scenario.About)
	}
	b.WriteString("\n")
	failures := 0
	for _, s := range r.Sweeps {
		s.block(&b)
		failures += len(s.Failures)
	}
	fmt.Fprintf(&b, "\n%s: %d looks, ", r.Scenario.Name, len(r.Sweeps))
	switch failures {
	case 0:
		b.WriteString("every expectation met\n")
	case 1:
		b.WriteString("1 expectation not met\n")
	default:
		fmt.Fprintf(&b, "%d expectations not met\n", failures)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write story: %w", err)
	}
	return nil
}

// block tells one sweep.
func (s Sweep) block(b *strings.Builder) {
	m := s.Members
	at, _ := parseSpan(s.At)
	fmt.Fprintf(b, "\n%s (%s)  %s  %s", Start().Add(at).Format(time.TimeOnly), s.At, s.Group, orNothing(s.Mode))
	if s.Cause != "" {
		fmt.Fprintf(b, ", cause: %s", s.Cause)
	}
	if s.Trigger != "sweep" {
		fmt.Fprintf(b, ", trigger: %s", s.Trigger)
	}
	fmt.Fprintf(b, "\n  %d eligible, %d healthy, %d bad, %d broken, %d outside\n", m.Eligible, m.Healthy, m.Bad, m.Broken, m.Outside)
	for _, t := range s.Verdict.Triggers {
		fmt.Fprintf(b, "  because  %s\n", t.Text)
	}
	for _, c := range s.Actions {
		fmt.Fprintf(b, "  did      %s %s", c.Kind, c.object())
		if c.Error != "" {
			fmt.Fprintf(b, " (refused: %s)", c.Error)
		}
		b.WriteString("\n")
	}
	for _, c := range s.Would {
		fmt.Fprintf(b, "  would    %s %s\n", c.Kind, c.object())
	}
	for _, d := range s.Deferred {
		fmt.Fprintf(b, "  deferred %s: %s", d.Member, d.Reason)
		if d.Have != 0 || d.Limit != 0 {
			fmt.Fprintf(b, " (have %d, limit %d)", d.Have, d.Limit)
		}
		b.WriteString("\n")
	}
	for _, page := range s.Pages {
		fmt.Fprintf(b, "  paged    %s: %s\n", page.Key, page.Text)
	}
	if s.Trouble != "" {
		fmt.Fprintf(b, "  trouble  %s\n", s.Trouble)
	}
	for _, f := range s.Failures {
		fmt.Fprintf(b, "  FAILED   %s\n", f)
	}
}
