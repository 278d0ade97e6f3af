package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// causes prints the triggers of a verdict as cause=have/limit, with the name of a zone, target group or alarm after a colon.
func causes(v guard.Verdict) string {
	var out []string
	for _, t := range v.Triggers {
		name := t.Cause
		if t.Name != "" {
			name += ":" + t.Name
		}
		out = append(out, fmt.Sprintf("%s=%d/%d", name, t.Have, t.Limit))
	}
	return strings.Join(out, " ")
}

// actions prints the actions of a verdict: the kind with its member or processes.
func actions(v guard.Verdict) string {
	var out []string
	for _, a := range v.Actions {
		out = append(out, strings.TrimSpace(a.Kind+" "+a.Member+strings.Join(a.Processes, ",")))
	}
	return strings.Join(out, "; ")
}

// deferral is what the verdict says of a member that it deferred.
func deferral(v guard.Verdict, id string) guard.Deferral {
	i := slices.IndexFunc(v.Deferred, func(d guard.Deferral) bool { return d.Member == id })
	if i < 0 {
		return guard.Deferral{}
	}
	return v.Deferred[i]
}

// fate is what became of a member: mark, its deferral as reason=have/limit, or nothing.
func fate(v guard.Verdict, id string) string {
	for _, a := range v.Marks() {
		if a.Member == id {
			return "mark"
		}
	}
	d := deferral(v, id)
	switch {
	case d.Reason == "":
		return "nothing"
	case d.Have == 0 && d.Limit == 0:
		return string(d.Reason)
	}
	return fmt.Sprintf("%s=%d/%d", d.Reason, d.Have, d.Limit)
}

// pages prints the pages of a verdict: the key, its subject after a slash, "!" if urgent, "again" for a reminder.
func pages(v guard.Verdict) string {
	var out []string
	for _, p := range v.Pages {
		s := p.Key
		if p.Subject != "" {
			s += "/" + p.Subject
		}
		if p.Urgent {
			s += "!"
		}
		if p.Reminder {
			s += " again"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// pageText is the text of the page with a key, "" if it is not told.
func pageText(v guard.Verdict, key string) string {
	for _, p := range v.Pages {
		if p.Key == key {
			return p.Text
		}
	}
	return ""
}

func want(t *testing.T, what, got, expected string) {
	t.Helper()
	if got != expected {
		t.Errorf("%s: got %q, want %q", what, got, expected)
	}
}

// upTo lists the first n members.
func upTo(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}

// calm moves every rule about many members out of the way, so that a test sees one rule alone.
func calm(f *guardtest.Fleet) *guardtest.Fleet {
	p := &f.In.Policy
	p.CorrelatedPercent, p.CorrelatedMin, p.ZonePercent = 50, 10, 100
	p.OnsetCount, p.RollingPercent = 100, 100
	return f
}
