package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
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

// WriteStory tells the scenario to a person: one block a sweep, where looks at a group that are all the same are one line.
func (r Result) WriteStory(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Scenario.Name)
	if r.Scenario.About != "" {
		b.WriteString(": " + r.Scenario.About)
	}
	b.WriteString("\n")
	f := folder{b: &b, named: len(r.Scenario.Groups) > 1, last: map[string]string{}}
	for _, s := range r.Sweeps {
		f.add(s)
	}
	f.flush()
	b.WriteString("\n" + r.verdict())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write story: %w", err)
	}
	return nil
}

// WriteVerdict writes one line, and before it every look that did not meet its expectations, in full.
func (r Result) WriteVerdict(w io.Writer) error {
	var b strings.Builder
	if r.Failed() {
		b.WriteString(r.Scenario.File + "\n")
		for _, s := range r.Sweeps {
			if len(s.Failures) > 0 {
				s.head(&b)
				b.WriteString(s.body())
			}
		}
		b.WriteString("\n")
	}
	b.WriteString(r.verdict())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	return nil
}

// Failures is how many expectations were not met.
func (r Result) Failures() int {
	n := 0
	for _, s := range r.Sweeps {
		n += len(s.Failures)
	}
	return n
}

func (r Result) verdict() string {
	return r.Scenario.Name + ": " + guard.Counted(len(r.Sweeps), "look") + ", " + Met(r.Failures()) + "\n"
}

// Met says how many expectations were not met.
func Met(failures int) string {
	if failures == 0 {
		return "every expectation met"
	}
	return guard.Counted(failures, "expectation") + " not met"
}

// folder writes looks and holds back those that are the same as the one before at their group.
type folder struct {
	b *strings.Builder
	// named says that a line must name its group.
	named bool
	// last is the body of the last look at each group; same are the runs of looks held back, in the order of their beginning.
	last map[string]string
	same []span
}

// span is a run of looks that are all the same.
type span struct {
	group    string
	from, to time.Time
}

func (f *folder) add(s Sweep) {
	body := s.body()
	if s.eventless() && f.last[s.Group] == s.title()+body {
		f.hold(s.Group, s.moment())
		return
	}
	f.flush()
	f.last[s.Group] = s.title() + body
	s.head(f.b)
	f.b.WriteString(body)
}

// eventless says that nothing was done or said at a look, so that nothing is lost when it is not told by itself.
func (s Sweep) eventless() bool {
	return len(s.Actions) == 0 && len(s.Pages) == 0 && len(s.Failures) == 0 && s.Trouble == ""
}

func (f *folder) hold(group string, at time.Time) {
	for i := range f.same {
		if f.same[i].group == group {
			f.same[i].to = at
			return
		}
	}
	f.same = append(f.same, span{group, at, at})
}

func (f *folder) flush() {
	for i, run := range f.same {
		if i == 0 {
			f.b.WriteString("\n")
		}
		f.b.WriteString(clock(run.from))
		if run.to.After(run.from) {
			f.b.WriteString(" to " + clock(run.to))
		}
		f.b.WriteString(": ")
		if f.named {
			f.b.WriteString(run.group + " ")
		}
		f.b.WriteString("the same\n")
	}
	f.same = nil
}

// clock is a moment without what does not matter: full minutes have no seconds, and the first day no date.
func clock(at time.Time) string {
	layout := "15:04"
	if at.Second() != 0 {
		layout = time.TimeOnly
	}
	if at.Format(time.DateOnly) != Start().Format(time.DateOnly) {
		layout = time.DateOnly + " " + layout
	}
	return at.Format(layout)
}

func (s Sweep) moment() time.Time {
	at, _ := parseSpan(s.At)
	return Start().Add(at)
}

// head is the line above a look.
func (s Sweep) head(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s (%s)  %s\n", s.moment().Format(time.TimeOnly), s.At, s.title())
}

func (s Sweep) title() string {
	text := s.Group + "  " + orNothing(s.Mode)
	if s.Cause != "" {
		text += ", cause: " + s.Cause
	}
	if s.Trigger != "sweep" {
		text += ", trigger: " + s.Trigger
	}
	return text
}

// body tells what was seen and done at one look.
func (s Sweep) body() string {
	var out strings.Builder
	b, m := &out, s.Members
	fmt.Fprintf(b, "  %d eligible, %d healthy, %d bad, %d broken, %d outside\n", m.Eligible, m.Healthy, m.Bad, m.Broken, m.Outside)
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
	return out.String()
}
