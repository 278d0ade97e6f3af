package daily

import (
	"fmt"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// listMax is how many findings of each list a digest names; it counts the others.
const listMax = 20

// Digest is what people are told of the changes, in plain text. Characters that act instead of being seen are written as what they are.
func Digest(c Changes, r audit.Report) string {
	var b strings.Builder
	if c.First {
		fmt.Fprintf(&b, "This is the first audit: %s.\n", found(c.New))
	} else {
		fmt.Fprintf(&b, "Since the last audit: %d new, %d gone, %d as before.\n", len(c.New), len(c.Gone), len(c.Lasting)+len(c.Kept))
	}
	if headline := report.Headline(r); headline != "" {
		b.WriteString(headline + "\n")
	}
	titles := map[string]string{}
	for _, rule := range audit.Rules() {
		titles[rule.ID] = rule.Title
	}
	section(&b, "New", len(c.New), func(i int) string {
		f := c.New[i]
		return fmt.Sprintf("%s %s, %s %s: %s. %s", strings.ToUpper(string(f.Severity)), f.Rule, f.Kind, f.Name, titles[f.Rule], f.Saw)
	})
	section(&b, "Gone, or accepted", len(c.Gone), func(i int) string {
		g := c.Gone[i]
		return fmt.Sprintf("%s, %s %s: %s", g.Rule, g.Kind, g.title(), titles[g.Rule])
	})
	if len(c.Kept) > 0 {
		fmt.Fprintf(&b, "%s could not be judged again, because something was not read.\n", guard.Counted(len(c.Kept), "earlier finding"))
	}
	if n := len(r.Unread); n > 0 {
		fmt.Fprintf(&b, "Not read: %s.\n", guard.Counted(n, "thing"))
	}
	for _, note := range c.Notes {
		b.WriteString(oneLine(note) + "\n")
	}
	return report.Visible(strings.TrimSpace(b.String()))
}

func section(b *strings.Builder, title string, n int, line func(int) string) {
	if n == 0 {
		return
	}
	b.WriteString(title + ":\n")
	for i := range min(n, listMax) {
		b.WriteString("- " + oneLine(line(i)) + "\n")
	}
	if n > listMax {
		fmt.Fprintf(b, "- and %d more\n", n-listMax)
	}
}

// oneLine keeps a text, which may be AWS's or whoever named a resource, from looking like a line of the digest.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

// found counts findings by severity, worst first.
func found(all []audit.Finding) string {
	if len(all) == 0 {
		return "nothing was found"
	}
	count := map[audit.Severity]int{}
	for _, f := range all {
		count[f.Severity]++
	}
	var parts []string
	for _, s := range severities() {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return guard.Counted(len(all), "finding") + ", " + strings.Join(parts, ", ")
}

func severities() []audit.Severity {
	return []audit.Severity{audit.Critical, audit.High, audit.Medium, audit.Low}
}
