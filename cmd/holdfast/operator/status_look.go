package operator

import (
	"slices"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// tellLook fills in what the last sweep saw: who looked bad and why each was not marked, and what was true.
func (g *GroupStatus) tellLook(rec runner.Record) {
	s := rec.State
	g.Suspects = suspects(s)
	if !s.Known() {
		return
	}
	if rec.Looked.At != s.LastSweep {
		// A state that an earlier release wrote. Reasons of another look would be told as those of this one.
		if len(g.Suspects) > 0 || s.Hold != nil {
			g.ReasonsUnknown = "the sweep that looked last kept no record of reasons and triggers"
		}
		return
	}
	g.Triggers, g.UnknownDependencies = rec.Looked.Triggers, rec.Looked.Unknown
	for _, d := range rec.Looked.Deferred {
		i := slices.IndexFunc(g.Suspects, func(m Suspect) bool { return m.Member == d.Member })
		if i < 0 {
			g.AlsoDeferred = append(g.AlsoDeferred, d)
			continue
		}
		g.Suspects[i].Deferred = &d
	}
}

// byGuard is who made a mark of Holdfast's, in the ledger's words.
const byGuard = "guard"

func suspects(s guard.State) []Suspect {
	var out []Suspect
	for _, m := range s.Members {
		if m.Bad {
			one := Suspect{Member: m.ID, Since: m.BadSince.Time(), Broken: m.BrokenSince != 0}
			for _, mark := range s.Marks {
				if mark.Member == m.ID && mark.By == byGuard && !mark.Observed && !mark.Gone && !mark.Closed {
					one.MarkedAt = mark.At.Time()
				}
			}
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b Suspect) int { return a.Since.Compare(b.Since) })
	return out
}
