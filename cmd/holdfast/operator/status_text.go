package operator

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// suspectsShown is how many suspects a person is shown by name.
const suspectsShown = 8

// WriteText writes the status for a person: one row a group, then what there is to say about each.
func (s Status) WriteText(w io.Writer) error {
	var b strings.Builder
	found := slices.ContainsFunc(s.Groups, GroupStatus.exists)
	if found || len(s.Groups) == 0 {
		s.overview(&b)
	}
	for _, g := range s.Groups {
		for _, line := range g.details(s) {
			fmt.Fprintf(&b, "%s: %s\n", g.Group, line)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

// overview writes what all groups share and the table.
func (s Status) overview(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s", guard.ModeParameter, s.Switch)
	if s.SwitchProblem != "" {
		fmt.Fprintf(b, " (%s)", s.SwitchProblem)
	}
	b.WriteString("\n")
	if s.RegionUnread != "" {
		fmt.Fprintf(b, "what the groups share could not be read: %s\n", s.RegionUnread)
	}
	if left, most, ok := s.regionLeft(); ok {
		fmt.Fprintf(b, "marks left in the Region this hour: %d of %d\n", left, most)
	}
	if len(s.Groups) == 0 {
		b.WriteString("no group carries the tag holdfast:guard=true\n")
		return
	}
	s.table(b)
}

// exists says that there is a group of this name.
func (g GroupStatus) exists() bool { return g.ARN != "" }

// regionLeft is what is left of the budget that all groups share.
func (s Status) regionLeft() (left, most int, ok bool) {
	for _, g := range s.Groups {
		if l := g.Limits; l != nil && s.RegionUnread == "" {
			return max(0, l.RegionHourMax-l.RegionHour), l.RegionHourMax, true
		}
	}
	return 0, 0, false
}

func (s Status) table(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "GROUP\tMODE\tHELD SINCE\tCAUSE\tSUSPECTS\tMARKS LEFT 10MIN/HOUR/DAY\tIN FLIGHT\tFOREIGN\tLAST SWEEP") // a Builder takes everything
	for _, g := range s.Groups {
		if !g.exists() {
			continue
		}
		since, cause, left, flight, sweep, suspects := "-", "-", "-", "-", "never", strconv.Itoa(len(g.Suspects))
		if len(g.Unread) > 0 {
			sweep, suspects = "-", "-"
		}
		if g.Hold != nil {
			since, cause = stamp(g.Hold.Since), g.Hold.Cause
		}
		if l := g.Limits; l != nil {
			left = fmt.Sprintf("%d/%d/%d", max(0, l.TenMinutesMax-l.TenMinutes), max(0, l.HourMax-l.Hour), max(0, l.DayMax-l.Day))
			flight = fmt.Sprintf("%d of %d", l.InFlight, l.InFlightMax)
		}
		if !g.LastSweep.IsZero() {
			sweep = sweptAgo(s.At, g.LastSweep)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", g.Group, g.shown(), since, cause, suspects, left, flight, len(g.Foreign), sweep)
	}
	_ = w.Flush()
}

// shown is the mode for the table.
func (g GroupStatus) shown() string {
	switch {
	case len(g.Unread) > 0:
		return "unread"
	case !g.Guarded:
		return "not guarded"
	case g.Mode == "":
		return "not seen yet"
	case g.Hold != nil && g.Hold.Observed && (g.Mode == guard.Held || g.Mode == guard.Releasing):
		return g.Mode + " (observed)"
	}
	return g.Mode
}

// details are the lines below the table.
func (g GroupStatus) details(s Status) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, u := range g.Unread {
		if !g.exists() {
			return append(out, u)
		}
		say("could not be read: %s", u)
	}
	if !g.Guarded && g.ARN != "" {
		say("no sweep looks at it: it does not exist any more, lacks the tag holdfast:guard=true or is managed by an AWS service")
	}
	if g.PolicyMode != "" && g.PolicyMode != guard.ModeAct {
		say("mode %s, by %s", g.PolicyMode, g.PolicyModeFrom)
	}
	if g.Action != "" && g.Action != guard.ActionReplace {
		say("action %s", g.Action)
	}
	if g.Hold != nil {
		out = append(out, g.Hold.lines(s)...)
	}
	if p := g.PacedExit; p != nil {
		out = append(out, p.line())
	}
	out = append(out, g.lookLines(s)...)
	for _, f := range g.Foreign {
		say("%s is suspended, not by Holdfast: %s", f.Process, f.Reason)
	}
	if q := g.Request; q != nil {
		say("%s asked for by %s at %s, not obeyed yet: %s", q.Kind, q.By, stamp(q.At), q.Reason)
	}
	if g.Late != "" {
		say("%s", g.Late)
	}
	for _, p := range g.Problems {
		say("policy: %s", p)
	}
	return out
}

func (h Hold) lines(s Status) []string {
	// The text is of the look that began the hold: what it says may be over by now.
	head := "held for " + ago(s.At.Sub(h.Since)) + "; it began with: " + h.Text
	if h.Observed {
		head = "would be held for " + ago(s.At.Sub(h.Since)) + ", no call was made; it began with: " + h.Text
	}
	out := []string{head}
	stage := fmt.Sprintf("release: stage %d of %d", h.Stage, guard.StageResumed)
	switch {
	case h.ReleaseBy != "" && h.Forced:
		stage += ", forced by " + h.ReleaseBy + ": what was bad then is replaced one by one"
	case h.ReleaseBy != "":
		stage += ", asked for by " + h.ReleaseBy
	case h.UntilReleased:
		stage += ", only a person ends this hold (holdfast release)"
	case h.QuietSince.IsZero():
		stage += ", a trigger is still true"
	default:
		stage += ", quiet for " + ago(s.At.Sub(h.QuietSince))
	}
	out = append(out, stage)
	switch {
	case len(h.Processes) == 0:
	case h.Observed:
		out = append(out, "would have suspended: "+strings.Join(h.Processes, ", "))
	default:
		out = append(out, "suspended by Holdfast: "+strings.Join(h.Processes, ", "))
	}
	if h.Conflict {
		out = append(out, "somebody resumed twice what this hold suspended: it is left to people")
	}
	return out
}

func (p PacedExit) line() string {
	text := "the last replacement has to serve yet"
	if shown := p.Members[:min(len(p.Members), suspectsShown)]; len(shown) > 0 {
		text = "to be replaced one by one: " + strings.Join(shown, ", ")
		if more := len(p.Members) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	if p.Process != "" {
		text += "; until then " + p.Process + " stays suspended by Holdfast"
	}
	return "paced exit since " + stamp(p.Since) + ": " + text
}
