package runner

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// What the ledger keeps of one look for people. A group of ten thousand bad members has as many deferrals, and each is one more thing to
// store every minute; their reasons are few.
const (
	lookedDeferredMax = 200
	lookedTriggersMax = 50
	lookedTextMax     = 300
)

// Looked is what the look that wrote a state saw: which triggers were true, and why each member that looked bad was not acted on. It is
// kept for people only; nothing is decided by it, and a state without it is as good as one with it.
type Looked struct {
	// At is the state's LastSweep: with another time in it, this is about another look; 0 if nothing was wrong and nothing held.
	At       guard.Instant   `json:"at,omitempty"`
	Triggers []guard.Trigger `json:"triggers,omitempty"`
	// Deferred are sorted by member. At most 200 are kept, broken ones first; LeftOut counts the others by their reason. Of triggers at
	// most 50 are kept, and of each text 300 bytes.
	Deferred []guard.Deferral     `json:"deferred,omitempty"`
	LeftOut  map[guard.Reason]int `json:"left_out,omitempty"`
	// Unknown are the hard dependencies whose state was not known: nothing is released meanwhile. A policy has 50 at most.
	Unknown []string `json:"unknown,omitempty"`
}

// lookedAt takes from a verdict what people are to be shown until the next look. Of a look at a group of which there is nothing to say
// it is empty: most looks are, and each byte is written every minute.
func lookedAt(v guard.Verdict) Looked {
	if len(v.Triggers)+len(v.Deferred)+len(v.Unknown)+v.Members.Bad == 0 && v.State.Hold == nil {
		return Looked{}
	}
	out := Looked{At: v.State.LastSweep, Unknown: v.Unknown}
	for _, t := range v.Triggers[:min(len(v.Triggers), lookedTriggersMax)] {
		t.Text = shortened(t.Text)
		out.Triggers = append(out.Triggers, t)
	}
	all := v.Deferred
	if len(all) > lookedDeferredMax {
		all = slices.Clone(all)
		slices.SortStableFunc(all, func(a, b guard.Deferral) int { return cmp.Compare(unbroken(a), unbroken(b)) })
		out.LeftOut = map[guard.Reason]int{}
		for _, d := range all[lookedDeferredMax:] {
			out.LeftOut[d.Reason]++
		}
		all = all[:lookedDeferredMax]
	}
	for _, d := range all {
		d.Text = shortened(d.Text)
		out.Deferred = append(out.Deferred, d)
	}
	slices.SortStableFunc(out.Deferred, func(a, b guard.Deferral) int { return cmp.Compare(a.Member, b.Member) })
	return out
}

func unbroken(d guard.Deferral) int {
	if d.Broken {
		return 0
	}
	return 1
}

// shortened cuts a text between two characters.
func shortened(text string) string {
	const mark = " [cut]"
	if len(text) <= lookedTextMax {
		return text
	}
	keep := lookedTextMax - len(mark)
	for keep > 0 && !utf8.RuneStart(text[keep]) {
		keep--
	}
	return text[:keep] + mark
}
