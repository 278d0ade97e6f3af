package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Ways of fixing a finding, for TextOptions.
const (
	WayConsole        = "console"
	WayCLI            = "cli"
	WayCloudFormation = "cloudformation"
	WayCDK            = "cdk"
	WayTerraform      = "terraform"
)

// TextOptions say how text is laid out.
type TextOptions struct {
	// Width is the width of the terminal in columns, at least 40; 0 breaks no line, as for a file or a pipe.
	Width int
	// Ways are the ways of fixing that are shown. Empty means console and CLI for an account, CloudFormation, CDK and Terraform for a
	// template.
	Ways []string
}

// needsPart is the heading of acknowledgements that do not say which of several findings they mean.
const needsPart = "ACKNOWLEDGEMENTS THAT MUST SAY WHICH PART: THE RULE HAS SEVERAL FINDINGS THERE"

const (
	widthMin = 40
	// nameWidth is what a name may take in a table; longer ones are cut in the table only.
	nameWidth = 32
)

// Text writes the report for people: what a bad minute would cost, then the findings by rule, then what was not read. An error is one
// of writing.
func Text(w io.Writer, r audit.Report, o TextOptions) error {
	if o.Width > 0 {
		o.Width = max(o.Width, widthMin)
	}
	t := &texter{o: o}
	open, accepted := split(r.Findings)
	t.head(r, open, len(accepted))
	t.whatIf(r)
	t.findings(open)
	t.accepted(accepted)
	t.stale(r)
	t.unread(r.Unread)
	if _, err := w.Write(t.out.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type texter struct {
	out bytes.Buffer
	o   TextOptions
}

// line writes words after an indentation and a label; further lines stand below the words.
func (t *texter) line(indent int, label, words string) {
	words = visible(words)
	for i, part := range strings.Split(words, "\n") {
		if i > 0 {
			label = strings.Repeat(" ", utf8.RuneCountInString(label))
		}
		t.wrapped(strings.Repeat(" ", indent)+label, part)
	}
}

func (t *texter) wrapped(head, words string) {
	hang := utf8.RuneCountInString(head)
	if t.o.Width == 0 || hang+utf8.RuneCountInString(words) <= t.o.Width {
		t.out.WriteString(strings.TrimRight(head+words, " ") + "\n")
		return
	}
	row := head
	used := hang
	for _, word := range strings.Split(words, " ") {
		n := utf8.RuneCountInString(word)
		if used > hang && used+1+n > t.o.Width {
			t.out.WriteString(strings.TrimRight(row, " ") + "\n")
			row, used = strings.Repeat(" ", hang), hang
		}
		if used > hang {
			row += " "
			used++
		}
		row += word
		used += n
	}
	t.out.WriteString(strings.TrimRight(row, " ") + "\n")
}

func (t *texter) heading(words string) { t.line(0, "", "\n"+words) }

func (t *texter) head(r audit.Report, open []audit.Finding, accepted int) {
	first := "Audit of " + title(r)
	if at := when(r.At); at != "" {
		first += " at " + at
	}
	t.line(0, "", fmt.Sprintf("%s: %s, %s.", first, guard.Counted(r.Groups, "group"), guard.Counted(r.TargetGroups, "target group")))
	n := counts(open)
	unread, atDefault := splitUnread(r.Unread)
	var parts []string
	for _, s := range severities() {
		parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
	}
	t.line(0, "", fmt.Sprintf("Findings: %s; %d acknowledged. Not read: %d.", strings.Join(parts, ", "), accepted, len(unread)))
	if len(atDefault) > 0 {
		t.line(0, "", fmt.Sprintf("Judged at a parameter's default, which whoever deploys may change: %d.", len(atDefault)))
	}
}

func (t *texter) whatIf(r audit.Report) {
	if len(r.WhatIf) == 0 {
		return
	}
	t.heading("WHAT IF every target of a group turns unhealthy")
	if h := Headline(r); h != "" {
		t.line(0, "", h)
	}
	rows, names := spells(r.WhatIf), namesOf(r.WhatIf)
	width := 5
	for _, n := range names {
		width = max(width, min(utf8.RuneCountInString(n), nameWidth))
	}
	narrow := t.o.Width > 0 && t.o.Width < width+66
	if narrow {
		width = max(9, min(width, t.o.Width-37))
	}
	row := func(cells ...string) {
		text := fmt.Sprintf("  %s  %15s  %7s  %5s  %5s  %10s  %10s", padded(cells[0], width), cells[1], cells[2], cells[3], cells[4], cells[5], cells[6])
		if narrow {
			text = fmt.Sprintf("  %s  %15s  %5s  %5s", padded(cells[0], width), cells[1], cells[3], cells[4])
		}
		t.out.WriteString(text + "\n")
	}
	t.out.WriteString("\n")
	row("", "", "", "lost", "lost", "min. empty", "min. empty")
	row("group", "for", "members", "alone", "held", "alone", "held")
	for _, w := range rows {
		row(names[w.Group+"\n"+w.Where], w.lasts(), fmt.Sprint(w.Members), fmt.Sprint(w.Alone.Lost), fmt.Sprint(w.Held.Lost), minutes(w.Alone.EmptyMinutes), minutes(w.Held.EmptyMinutes))
	}
	t.line(2, "", "\nlost: healthy members terminated; min. empty: minutes with fewer than half of the members serving; alone: AWS by itself; held: with Holdfast.")
	t.notes(r.WhatIf)
}

// namesOf names each group, by its place too when another one has the same name.
func namesOf(all []audit.WhatIf) map[string]string {
	twice := twins(all)
	out := map[string]string{}
	for _, w := range all {
		name := visible(w.Group)
		if twice[w.Group] {
			name += " " + visible(tail(w.Where, nameWidth-len(w.Group)-1))
		}
		out[w.Group+"\n"+w.Where] = name
	}
	return out
}

// notes says what was not simulated and what was taken for granted.
func (t *texter) notes(all []audit.WhatIf) {
	skipped, assumed := notesOf(all)
	for _, s := range skipped {
		t.line(2, "not simulated: ", s)
	}
	for _, a := range assumed {
		t.line(2, "assumed: ", a)
	}
}

// padded fills a cell, or cuts it.
func padded(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n > width {
		return string([]rune(s)[:width-3]) + "..."
	}
	return s + strings.Repeat(" ", width-n)
}

func (t *texter) findings(open []audit.Finding) {
	if len(open) == 0 {
		t.heading("NO FINDINGS")
		return
	}
	t.heading("FINDINGS")
	rules := rulesByID()
	last := ""
	for _, f := range open {
		if f.Rule != last {
			last = f.Rule
			rule := ruleOf(rules, f)
			t.out.WriteString("\n")
			t.line(0, visible(strings.ToUpper(string(f.Severity)))+"  ", rule.ID+" "+rule.Name+": "+rule.Title)
			t.line(2, "", rule.Why)
			if rule.Source != "" {
				t.line(2, "source: ", rule.Source)
			}
		}
		t.finding(f)
	}
}

func (t *texter) finding(f audit.Finding) {
	t.out.WriteString("\n")
	t.line(2, "", name(f))
	if f.Part != "" {
		t.line(4, "part: ", f.Part)
	}
	t.line(4, "saw: ", f.Saw)
	if f.Sum != "" {
		t.line(4, "sum: ", f.Sum)
	}
	ways := t.o.Ways
	if len(ways) == 0 {
		ways = []string{WayConsole, WayCLI}
		if f.Where != "" {
			ways = []string{WayCloudFormation, WayCDK, WayTerraform}
		}
	}
	for _, way := range ways {
		switch text := wayOf(f.Fix, way); {
		case text == "":
		case way == WayConsole:
			t.line(4, "fix, "+way+": ", text)
		default: // to be copied, and so never broken
			whole := texter{}
			whole.line(4, "fix, "+way+": ", text)
			t.out.Write(whole.out.Bytes())
		}
	}
}

func wayOf(f audit.Fix, way string) string {
	return map[string]string{WayConsole: f.Console, WayCLI: f.CLI, WayCloudFormation: f.CloudFormation, WayCDK: f.CDK, WayTerraform: f.Terraform}[way]
}

// name says which resource a finding is about.
func name(f audit.Finding) string {
	out := strings.TrimSpace(f.Kind + " " + f.Name)
	if where := cmp.Or(f.Where, f.ARN); where != "" {
		out += " (" + where + ")"
	}
	return out
}

func (t *texter) accepted(all []audit.Finding) {
	if len(all) == 0 {
		return
	}
	t.heading("ACKNOWLEDGED")
	for _, f := range all {
		a := f.Acknowledged
		t.line(2, "", fmt.Sprintf("%s %s, %s: %s (%s, until %s)", f.Rule, f.Severity, name(f)+partText(f.Part), a.Reason, a.By, a.Until))
	}
}

// partText names one of several findings of a rule about a resource.
func partText(part string) string {
	if part == "" {
		return ""
	}
	return ", part " + part
}

// stale lists acknowledgements that accept nothing.
func (t *texter) stale(r audit.Report) {
	for _, part := range []struct {
		heading string
		all     []audit.Acknowledgement
	}{{"ACKNOWLEDGEMENTS WHOSE TIME IS OVER", r.Expired}, {"ACKNOWLEDGEMENTS THAT NO FINDING NEEDS", r.Unused}, {needsPart, r.NeedsPart}} {
		if len(part.all) == 0 {
			continue
		}
		t.heading(part.heading)
		for _, a := range part.all {
			t.line(2, "", fmt.Sprintf("%s of %s: %s (%s, until %s)", a.Rule, a.Name+partText(a.Part), a.Reason, a.By, a.Until))
		}
	}
}

func (t *texter) unread(all []audit.Unread) {
	unread, atDefault := splitUnread(all)
	for _, part := range []struct {
		heading string
		all     []audit.Unread
	}{{"JUDGED AT A PARAMETER'S DEFAULT: ANOTHER CHOICE MAY FIND MORE", atDefault}, {"NOT READ, AND SO NOT JUDGED", unread}} {
		if len(part.all) == 0 {
			continue
		}
		t.heading(part.heading)
		for _, u := range part.all {
			t.line(2, "", unreadText(u))
		}
	}
}

// splitUnread parts what was not judged from what was judged as one of several values.
func splitUnread(all []audit.Unread) (unread, atDefault []audit.Unread) {
	for _, u := range all {
		if u.Judged() {
			atDefault = append(atDefault, u)
		} else {
			unread = append(unread, u)
		}
	}
	return unread, atDefault
}

func unreadText(u audit.Unread) string {
	return strings.TrimSpace(u.Kind+" "+u.Name) + ", " + u.What + ": " + u.Why
}
