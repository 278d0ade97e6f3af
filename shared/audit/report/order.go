package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// severities are all, worst first.
func severities() []audit.Severity {
	return []audit.Severity{audit.Critical, audit.High, audit.Medium, audit.Low}
}

// rank is the place of a severity, 0 the worst. One that is not known comes first, so that it is not overlooked.
func rank(s audit.Severity) int { return slices.Index(severities(), s) }

// split parts the open findings from those that people have accepted.
func split(all []audit.Finding) (open, accepted []audit.Finding) {
	for _, f := range all {
		if f.Acknowledged == nil {
			open = append(open, f)
		} else {
			accepted = append(accepted, f)
		}
	}
	return open, accepted
}

// counts says how many findings there are of each severity.
func counts(open []audit.Finding) map[audit.Severity]int {
	out := map[audit.Severity]int{}
	for _, f := range open {
		out[f.Severity]++
	}
	return out
}

// worst orders what would happen by what would be lost: groups that lose most first, each group's durations together and rising.
func worst(all []audit.WhatIf) []audit.WhatIf {
	lost := map[string][2]float64{}
	for _, w := range all {
		key := w.Group + "\n" + w.Where
		lost[key] = [2]float64{max(lost[key][0], float64(w.Alone.Lost)), max(lost[key][1], w.Alone.EmptyMinutes)}
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b audit.WhatIf) int {
		x, y := lost[a.Group+"\n"+a.Where], lost[b.Group+"\n"+b.Where]
		return cmp.Or(cmp.Compare(y[0], x[0]), cmp.Compare(y[1], x[1]), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Seconds, b.Seconds))
	})
	return out
}

// spell is what would happen to a group in bad times of several durations that come to the same.
type spell struct {
	audit.WhatIf
	from, to int
}

// lasts says how long.
func (s spell) lasts() string {
	if s.from == s.to {
		return duration(s.to)
	}
	return duration(s.from) + " to " + duration(s.to)
}

// spells are the bad times that were simulated, worst groups first, those of a group joined as long as they come to the same.
func spells(all []audit.WhatIf) []spell {
	var out []spell
	for _, w := range worst(all) {
		if w.Why != "" {
			continue
		}
		if n := len(out); n > 0 {
			last := &out[n-1]
			if last.Group == w.Group && last.Where == w.Where && last.Members == w.Members && last.Alone == w.Alone && last.Held == w.Held {
				last.to = w.Seconds
				continue
			}
		}
		out = append(out, spell{w, w.Seconds, w.Seconds})
	}
	return out
}

// Headline says in one sentence what the longest simulated bad time would cost, or "" when nothing was simulated.
func Headline(r audit.Report) string {
	longest, groups, hit, members, alone, held := 0, 0, 0, 0, 0, 0
	for _, w := range r.WhatIf {
		longest = max(longest, w.Seconds)
	}
	for _, w := range r.WhatIf {
		if w.Seconds != longest || w.Why != "" {
			continue
		}
		groups++
		members, alone, held = members+w.Members, alone+w.Alone.Lost, held+w.Held.Lost
		if w.Alone.Lost > 0 {
			hit++
		}
	}
	switch {
	case groups == 0:
		return ""
	case hit == 0:
		return fmt.Sprintf("In %s in which every target is unhealthy, none of %s would terminate a healthy member.", duration(longest), guard.Counted(groups, "group"))
	}
	return fmt.Sprintf("In %s in which every target is unhealthy, %d of %s would terminate healthy members: %s, with %s members in service. With Holdfast: %d.",
		duration(longest), hit, guard.Counted(groups, "group"), guard.Counted(alone, "termination"), strconv.Itoa(members), held)
}

// duration writes seconds as people say them.
func duration(seconds int) string {
	if seconds < 120 || seconds%60 != 0 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min", seconds/60)
}

// minutes writes minutes with one decimal where it matters.
func minutes(m float64) string {
	if m == float64(int(m)) {
		return strconv.Itoa(int(m))
	}
	return strconv.FormatFloat(m, 'f', 1, 64)
}

// title names what was audited.
func title(r audit.Report) string {
	if r.Source != "" && r.Source != "account" {
		return r.Source
	}
	var parts []string
	if r.Account != "" {
		parts = append(parts, "account "+r.Account)
	}
	if r.Region != "" {
		parts = append(parts, r.Region)
	}
	if len(parts) == 0 {
		return "account"
	}
	return strings.Join(parts, ", ")
}

// when writes the time of the audit, or "" for one without a time.
func when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2 Jan 2006 15:04 UTC")
}

// place is a Where taken apart.
type place struct {
	file, inside string
	line         int
}

// placeOf reads "file:line: resource" and "file: resource".
func placeOf(where string) place {
	if m := regexp.MustCompile(`(?s)^(.+?):(\d{1,9}): (.*)$`).FindStringSubmatch(where); m != nil {
		line, err := strconv.Atoi(m[2])
		if err == nil && line > 0 {
			return place{m[1], m[3], line}
		}
	}
	if file, inside, ok := strings.Cut(where, ": "); ok {
		return place{file: file, inside: inside}
	}
	return place{inside: where}
}

// hidden says whether a character acts instead of being seen: control characters, and those that turn the direction of writing or take
// no room.
func hidden(r rune) bool {
	return (unicode.IsControl(r) && r != '\n') || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Visible writes characters that act instead of being seen, all but line ends, as what they are.
func Visible(s string) string { return visible(s) }

// visible writes hidden characters as what they are.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if hidden(r) {
			out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// rulesByID are the rules of this version.
func rulesByID() map[string]audit.Rule {
	out := map[string]audit.Rule{}
	for _, r := range audit.Rules() {
		out[r.ID] = r
	}
	return out
}

// ruleOf is a finding's rule. A report of another version may have one that is not known here.
func ruleOf(rules map[string]audit.Rule, f audit.Finding) audit.Rule {
	if r, ok := rules[f.Rule]; ok {
		return r
	}
	return audit.Rule{ID: f.Rule, Name: "unknown-rule", Severity: f.Severity, Title: "A rule of another version", Why: "This version does not know the rule."}
}

// notesOf says what was not simulated and what was taken for granted, each text once with the groups that it is about.
func notesOf(all []audit.WhatIf) (skipped, assumed []string) {
	var order []string
	groups := map[string][]string{}
	seen := map[string]bool{}
	for _, w := range all {
		if note := visible(w.Group + ": " + w.Why); w.Why != "" && !seen[note] {
			seen[note] = true
			skipped = append(skipped, note)
		}
		for _, a := range w.Assumed {
			if groups[a] == nil {
				order = append(order, a)
			}
			if n := len(groups[a]); n == 0 || groups[a][n-1] != w.Group {
				groups[a] = append(groups[a], w.Group)
			}
		}
	}
	for _, a := range order {
		who := groups[a]
		if len(who) > 3 {
			who = append(who[:2:2], fmt.Sprintf("%d more", len(who)-2))
		}
		assumed = append(assumed, visible(a+" ("+strings.Join(who, ", ")+")"))
	}
	return skipped, assumed
}

// twins are the names that several groups have, as in templates of several files.
func twins(all []audit.WhatIf) map[string]bool {
	places, out := map[string]string{}, map[string]bool{}
	for _, w := range all {
		if place, ok := places[w.Group]; ok && place != w.Where {
			out[w.Group] = true
		}
		places[w.Group] = w.Where
	}
	return out
}

// tail is the end of a place, without the resource in it, which tells more than its beginning.
func tail(where string, width int) string {
	at := placeOf(where)
	text := at.file
	if at.line > 0 {
		text += fmt.Sprintf(":%d", at.line)
	}
	if runes := []rune(text); len(runes) > max(width, 12) {
		return "..." + string(runes[len(runes)-max(width, 12)+3:])
	}
	return text
}
