package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// lookLines tell what the last sweep saw: what was true, and of each suspect why it was not marked.
func (g GroupStatus) lookLines(s Status) []string {
	var out []string
	for _, t := range g.Triggers {
		out = append(out, triggerLine(t))
	}
	if g.Hold != nil && len(g.Triggers) == 0 && g.ReasonsUnknown == "" {
		out = append(out, "the last look saw no trigger")
	}
	for _, alarm := range g.UnknownDependencies {
		out = append(out, unknownLine(alarm))
	}
	shown := g.Suspects[:min(len(g.Suspects), suspectsShown)]
	for _, m := range shown {
		out = append(out, "suspect "+m.line(s))
	}
	if more := g.Suspects[len(shown):]; len(more) > 0 {
		out = append(out, moreLine(more))
	}
	for i, d := range g.AlsoDeferred {
		if i == suspectsShown {
			out = append(out, fmt.Sprintf("not bad, with a reason all the same: and %d more", len(g.AlsoDeferred)-i))
			break
		}
		out = append(out, "not bad, with a reason all the same: "+d.Member+": "+deferralText(d))
	}
	if g.ReasonsUnknown != "" {
		out = append(out, g.ReasonsUnknown)
	}
	return out
}

func triggerLine(t guard.Trigger) string {
	line := "trigger " + strings.TrimSpace(t.Cause+" "+t.Name) + " is true: " + t.Text
	if !t.Prolongs {
		line += " (it begins a hold and does not keep one from ending)"
	}
	return line
}

// unknownLine tells what an alarm keeps from happening while its state is not known.
func unknownLine(alarm string) string {
	return fmt.Sprintf("the state of the hard dependency %s is not known (no data, no such alarm, or unreadable): nothing is released until it is, and unless it only lacks data no member is marked", alarm)
}

// deferralText is a reason with the numbers that were compared.
func deferralText(d guard.Deferral) string {
	text := string(d.Reason)
	if d.Have != 0 || d.Limit != 0 {
		text += fmt.Sprintf(" (have %d, limit %d)", d.Have, d.Limit)
	}
	if d.Text != "" {
		text += ", " + d.Text
	}
	return text
}

func (m Suspect) line(s Status) string {
	line := m.Member + ": bad"
	if m.Broken {
		line = m.Member + ": broken"
	}
	if !m.Since.IsZero() {
		line += " for " + ago(s.At.Sub(m.Since))
	}
	switch {
	case m.Deferred != nil:
		line += "; deferred: " + deferralText(*m.Deferred)
	case !m.MarkedAt.IsZero():
		line += "; marked " + ago(s.At.Sub(m.MarkedAt)) + " ago"
	}
	return line
}

// moreLine counts the suspects that are not shown, by reason.
func moreLine(more []Suspect) string {
	reasons := map[guard.Reason]int{}
	for _, m := range more {
		if m.Deferred != nil {
			reasons[m.Deferred.Reason]++
		}
	}
	var parts []string
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		parts = append(parts, fmt.Sprintf("%s %d", r, reasons[r]))
	}
	line := fmt.Sprintf("and %d more", len(more))
	if len(parts) > 0 {
		line += "; deferred: " + strings.Join(parts, ", ")
	}
	return "suspects: " + line
}
