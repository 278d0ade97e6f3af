package audit

import (
	"cmp"
	"slices"
	"time"
)

// acknowledge marks the findings that people accepted, and lists the acknowledgements that are over, that no finding needs or that do not
// say which of several findings they mean. One that says more is preferred: a part, then a name, then one for all.
func (r *Report) acknowledge(all []Acknowledgement) {
	used, vague := make([]bool, len(all)), make([]bool, len(all))
	several := map[string]int{}
	for _, f := range r.Findings {
		several[f.resource()]++
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		best := -1
		for n, a := range all {
			if !a.covers(*f) {
				continue
			}
			if a.Part == "" && a.Name != everyName && several[f.resource()] > 1 {
				vague[n] = true
				continue
			}
			used[n] = true
			if a.holds(r.At) && (best < 0 || a.exactness() > all[best].exactness()) {
				best = n
			}
		}
		if best >= 0 {
			accepted := all[best]
			f.Acknowledged = &accepted
		}
	}
	for n, a := range all {
		switch {
		case !a.holds(r.At):
			r.Expired = append(r.Expired, a)
		case vague[n]:
			r.NeedsPart = append(r.NeedsPart, a)
		case !used[n]:
			r.Unused = append(r.Unused, a)
		}
	}
	slices.SortStableFunc(r.Expired, compareAcknowledgements)
	slices.SortStableFunc(r.Unused, compareAcknowledgements)
	slices.SortStableFunc(r.NeedsPart, compareAcknowledgements)
}

// everyName is the name in an acknowledgement that stands for every resource of the rule.
const everyName = "*"

func (a Acknowledgement) covers(f Finding) bool {
	return a.Rule == f.Rule && (a.Name == everyName || a.Name == f.Name) && (a.Part == "" || a.Part == f.Part)
}

// exactness ranks what an acknowledgement names.
func (a Acknowledgement) exactness() int {
	n := 0
	if a.Name != everyName {
		n += 2
	}
	if a.Part != "" {
		n++
	}
	return n
}

// holds says whether the time is not over. A day that cannot be read, and an account without a time, leave nothing acknowledged.
func (a Acknowledgement) holds(at time.Time) bool {
	until, err := time.Parse(time.DateOnly, a.Until)
	return err == nil && !at.IsZero() && at.Before(until)
}

func compareAcknowledgements(a, b Acknowledgement) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Until, b.Until), cmp.Compare(a.By, b.By), cmp.Compare(a.Reason, b.Reason))
}
