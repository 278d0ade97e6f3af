package probe

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Member is an instance in service, with the private address on which it is asked, "" if it has none.
type Member struct{ ID, Address string }

// Verdict is what one check says of a dependency.
type Verdict struct {
	Source Source
	// Outcome, Cause and Detail are of the dependency; Cause is set if and only if it failed.
	Outcome Outcome
	Cause   Cause
	Detail  string
	// Calls are the results that it follows from.
	Calls []Result
	// InRow and Since (zero if InRow is 0) are the failed checks in a row, this one included; Counted is false if the memory
	// could not be read, or could not be written while the row is not yet long enough to be down. Before is what was known before.
	InRow   int
	Since   time.Time
	Counted bool
	Before  Record
}

// Down says that as many checks in a row failed as the source asks for.
func (v Verdict) Down() bool { return v.InRow >= v.Source.FailuresInRow }

// sample picks the members to ask: as many as the source wants, another part of the group each time, all of it in turn.
func sample(s Source, members []string, now time.Time) []string {
	members = slices.Compact(slices.Sorted(slices.Values(members)))
	n := min(s.Sample, len(members))
	picked := make([]string, 0, n)
	first := int(now.Unix() / int64(s.Every/time.Second) % int64(max(1, len(members))))
	for i := range n {
		picked = append(picked, members[(first*n+i)%len(members)])
	}
	return picked
}

// judge makes one verdict of a source's calls. A sample speaks for the dependency only if two instances or more gave a result, and
// it fails only if more than half of them failed: one instance that fails alone is a broken instance.
func judge(s Source, calls []Result) Verdict {
	v := Verdict{Source: s, Calls: calls}
	counts := map[Cause]int{}
	known, bad := 0, 0
	for _, r := range calls {
		switch r.Outcome {
		case Unknown:
			continue
		case Failed:
			bad++
			counts[r.Cause]++
		case Passed:
		}
		known++
	}
	if s.Kind != KindInstances {
		if len(calls) == 1 {
			v.Outcome, v.Cause, v.Detail = calls[0].Outcome, calls[0].Cause, calls[0].Detail
		}
		return v
	}
	v.Detail = named(calls, known, bad)
	if known < SampleMin {
		return v
	}
	v.Outcome = Passed
	if 2*bad > known {
		v.Outcome = Failed
		for _, cause := range Causes() {
			if counts[cause] > counts[v.Cause] {
				v.Cause = cause
			}
		}
	}
	return v
}

// named says how a sample came out and why, shortened.
func named(calls []Result, known, bad int) string {
	text := fmt.Sprintf("%d of %d failed", bad, known)
	if known < SampleMin {
		text = fmt.Sprintf("%d instances gave a result, want at least %d", known, SampleMin)
	}
	for _, r := range calls {
		if r.Outcome != Passed {
			text += fmt.Sprintf("; %s: %s", r.Member, strings.TrimSpace(string(r.Cause)+" "+r.Detail))
		}
	}
	return detail(fmt.Errorf("%s", text))
}
