package audit

import (
	"cmp"
	"slices"
)

// Options are what people have said about an account.
type Options struct {
	// Promises are what services promise, by the name that the tag TagService of a target group gives. A rule that needs a promise says
	// nothing without one.
	Promises map[string]Promise
	// Acknowledgements are findings that people accept for a time.
	Acknowledgements []Acknowledgement
}

// Judge applies every rule to an account. The same account and options give the same report, whatever the order of their resources.
// WhatIf is left empty: it is the simulator's part.
func Judge(a Account, o Options) Report {
	v := newView(&a, o)
	findings := []Finding{} // none is [] in JSON, not null
	for _, r := range Rules() {
		if r.state && a.Static {
			continue
		}
		for _, f := range r.check(v) {
			findings = append(findings, v.complete(r, f))
		}
	}
	v.switchUnread()
	slices.SortStableFunc(findings, compareFindings)
	r := Report{
		Source: a.Source, Account: a.ID, Partition: a.Partition, Region: a.Region, At: a.At,
		Groups: len(v.groups), TargetGroups: len(v.targetGroups), WhatIf: []WhatIf{}, Findings: findings, Unread: v.unread(),
	}
	r.acknowledge(o.Acknowledgements)
	return r
}

// rank is the place of a severity, worst first.
func (s Severity) rank() int {
	return slices.Index([]Severity{Critical, High, Medium, Low}, s)
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Where, b.Where),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ARN, b.ARN), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Saw, b.Saw), cmp.Compare(a.Sum, b.Sum),
	)
}
