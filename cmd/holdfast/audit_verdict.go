package main

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// severityNames are the values of --fail-on.
const severityNames = "critical, high, medium or low"

// severities are those that --fail-on takes, worst first.
func severities() []audit.Severity {
	return []audit.Severity{audit.Critical, audit.High, audit.Medium, audit.Low}
}

// severityValue is a flag that takes a severity.
type severityValue audit.Severity

func (v *severityValue) String() string { return string(*v) }

// Set implements flag.Value.
func (v *severityValue) Set(text string) error {
	if !slices.Contains(severities(), audit.Severity(text)) {
		return errors.New("want " + severityNames)
	}
	*v = severityValue(text)
	return nil
}

// Get implements flag.Getter.
func (v *severityValue) Get() any { return audit.Severity(*v) }

// judged is what came of an audit.
type judged struct {
	report audit.Report
	// unjudged is what was read of the account as a whole, and was not.
	unjudged []audit.Unread
}

// unjudged is what could not be read of all groups, of all target groups or of the account, and every group that was asked for by name and
// could not be listed. That one property of one resource is unknown is not among it.
func unjudged(a audit.Account) []audit.Unread {
	var out []audit.Unread
	for _, u := range a.Unread {
		whole := u.Name == "" && slices.Contains([]string{"account", audit.KindGroup, audit.KindTargetGroup}, u.Kind)
		if whole || u.Kind == audit.KindGroup && u.What == "DescribeAutoScalingGroups" {
			out = append(out, u)
		}
	}
	return out
}

// verdict is the exit code. An audit that did not see the groups has no finding about them, and so does not pass.
func (a *auditing) verdict(v judged, s streams) int {
	if a.failOn == "" {
		return exitOK
	}
	code := exitOK
	for _, u := range v.unjudged {
		name := u.Kind
		if u.Name != "" {
			name += " " + u.Name
		}
		complain(s, "holdfast audit: not judged: %s\n", printable(name+", "+u.What+": "+u.Why))
		code = exitNo
	}
	worst := severities()[:slices.Index(severities(), audit.Severity(a.failOn))+1]
	count := 0
	for _, f := range v.report.Findings {
		if f.Acknowledged == nil && slices.Contains(worst, f.Severity) {
			count++
		}
	}
	if count == 0 {
		return code
	}
	are := "findings are"
	if count == 1 {
		are = "finding is"
	}
	complain(s, "holdfast audit: %d %s %s or worse\n", count, are, a.failOn)
	return exitNo
}

// printable keeps a text of others on its line: a dump may hold anything.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
