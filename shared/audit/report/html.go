package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

//go:embed page.js
var scriptText string

// page is what the page's template shows.
type page struct {
	Title, When, Headline               string
	Groups, TargetGroups                string
	Policy                              string
	Style                               template.CSS
	Script                              template.JS
	Counts                              []count
	WhatIf                              []bad
	Skipped, Assumed, Unread, AtDefault []string
	Findings                            []row
	Accepted                            int
	Stale                               []string
}

// count is the number of open findings of a severity.
type count struct {
	Severity audit.Severity
	N        int
}

// bad is one row of what would happen.
type bad struct {
	audit.WhatIf
	For                            string
	AloneEmpty, HeldEmpty, Missing string
	// Longest is the longest duration, in seconds, by which rows are sorted.
	Longest int
	// AloneBar and HeldBar are in hundredths of the members, or of the terminations if those are more.
	AloneBar, HeldBar int
}

// row is one finding.
type row struct {
	audit.Finding
	Rank   int
	Rule   audit.Rule
	Place  string
	Fixes  []fix
	Accept string
}

type fix struct {
	Name, Text string
	Code       bool
}

// HTML writes the report as one page: it asks for nothing, has its own script and style behind a policy that allows no other, and works
// without the script, only not sortable. An error is one of writing.
func HTML(w io.Writer, r audit.Report) error {
	tmpl, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	p := page{
		Title: visible(title(r)), When: when(r.At), Headline: Headline(r), Groups: guard.Counted(r.Groups, "group"), TargetGroups: guard.Counted(r.TargetGroups, "target group"),
		Style: template.CSS(styleText), Script: template.JS(scriptText), Policy: policy(),
	}
	open, accepted := split(r.Findings)
	p.Accepted = len(accepted)
	n := counts(open)
	for _, s := range severities() {
		p.Counts = append(p.Counts, count{s, n[s]})
	}
	p.whatIf(r)
	rules := rulesByID()
	for _, f := range append(open, accepted...) {
		p.Findings = append(p.Findings, rowOf(f, ruleOf(rules, f)))
	}
	for _, stale := range []struct {
		why string
		all []audit.Acknowledgement
	}{{"The time is over", r.Expired}, {"No finding needs it", r.Unused}, {"The rule has several findings there, and it does not say which part", r.NeedsPart}} {
		for _, a := range stale.all {
			p.Stale = append(p.Stale, visible(fmt.Sprintf("%s: %s of %s, %s (%s, until %s).", stale.why, a.Rule, a.Name+partText(a.Part), a.Reason, a.By, a.Until)))
		}
	}
	unread, atDefault := splitUnread(r.Unread)
	for _, u := range unread {
		p.Unread = append(p.Unread, visible(unreadText(u)))
	}
	for _, u := range atDefault {
		p.AtDefault = append(p.AtDefault, visible(unreadText(u)))
	}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, p); err != nil {
		return fmt.Errorf("fill page: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// policy allows the page's own script and style, by their hashes, and nothing else.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(scriptText) + "; style-src " + hash(styleText) + "; base-uri 'none'; form-action 'none'"
}

// placeWidth is what a group's place may take beside its name, in characters.
const placeWidth = 40

// whatIf fills the rows and the notes under them; the notes are those of the text report.
func (p *page) whatIf(r audit.Report) {
	twice := twins(r.WhatIf)
	for _, w := range spells(r.WhatIf) {
		where := ""
		if twice[w.Group] {
			where = visible(tail(w.Where, placeWidth))
		}
		w.Group, w.Where = visible(w.Group), where
		full := max(w.Members, w.Alone.Lost, w.Held.Lost)
		p.WhatIf = append(p.WhatIf, bad{
			WhatIf: w.WhatIf, For: strings.ReplaceAll(strings.ReplaceAll(w.lasts(), " s", "\u00a0s"), " min", "\u00a0min"), Longest: w.to, AloneEmpty: minutes(w.Alone.EmptyMinutes), HeldEmpty: minutes(w.Held.EmptyMinutes),
			Missing:  minutes(w.Alone.CapacityMinutes) + " / " + minutes(w.Held.CapacityMinutes),
			AloneBar: share(w.Alone.Lost, full), HeldBar: share(w.Held.Lost, full),
		})
	}
	p.Skipped, p.Assumed = notesOf(r.WhatIf)
}

func share(lost, full int) int {
	if full <= 0 {
		return 0
	}
	return min(max(lost*100/full, 0), 100)
}

func rowOf(f audit.Finding, rule audit.Rule) row {
	out := row{Finding: f, Rank: rank(f.Severity), Rule: rule}
	out.Name, out.Saw, out.Sum, out.Place = visible(f.Name), visible(f.Saw), visible(f.Sum), visible(f.Where)
	out.Part = visible(f.Part)
	out.Kind, out.Severity, out.Rule.ID = visible(f.Kind), audit.Severity(visible(string(f.Severity))), visible(rule.ID)
	if out.Place == "" {
		out.Place = visible(f.ARN)
	}
	for _, x := range []fix{
		{"Console", f.Fix.Console, false}, {"CLI", f.Fix.CLI, true}, {"CloudFormation", f.Fix.CloudFormation, true}, {"CDK", f.Fix.CDK, true}, {"Terraform", f.Fix.Terraform, true},
	} {
		if x.Text = visible(strings.TrimSpace(x.Text)); x.Text != "" {
			out.Fixes = append(out.Fixes, x)
		}
	}
	if a := f.Acknowledged; a != nil {
		out.Accept = visible(fmt.Sprintf("%s (%s, until %s)", a.Reason, a.By, a.Until))
	}
	return out
}
