package drive

import (
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Unmet says what of the promise about its incident a guarded story does not keep; nothing when all is kept.
//
// The promise: an instance that broke alone is marked, once, nobody else is, and a replacement serves; when a dependency failed, no
// member is lost, none is marked, and the group is held and let go again. Everyone serves at the end.
func (s Story) Unmet() []string {
	if !s.Guarded {
		return []string{"Holdfast was not on watch"}
	}
	var unmet []string
	say := func(format string, args ...any) { unmet = append(unmet, fmt.Sprintf(format, args...)) }
	if n := s.Stats.HealthyTerminated; n > 0 {
		say("%d healthy members were terminated, want 0", n)
	}
	if s.Looks == 0 {
		say("the guardian never ran")
	}
	if len(s.Outages()) > 0 {
		s.unmetMany(say)
	} else {
		s.unmetSingle(say)
	}
	s.unmetEnd(say)
	return unmet
}

func (s Story) unmetMany(say func(string, ...any)) {
	if n := len(s.Marks()); n > 0 {
		say("%s marked, want 0", guard.Counted(n, "member"))
	}
	holds := s.Holds()
	if len(holds) != 1 {
		say("%s, want 1", guard.Counted(len(holds), "hold"))
	}
	for _, h := range holds {
		if h.Open {
			say("the hold of %s was never released", s.Since(h.From))
		}
	}
}

func (s Story) unmetSingle(say func(string, ...any)) {
	broken, marks := s.Broken(), s.Marks()
	if len(broken) != 1 {
		say("%s broke, want 1", guard.Counted(len(broken), "instance"))
		return
	}
	if len(marks) != 1 || marks[0].Instance != broken[0].Instance {
		say("%s %v, want one, of %s", guard.Counted(len(marks), "mark"), instances(marks), broken[0].Instance)
	}
	if n := s.Stats.BrokenTerminated; n != 1 {
		say("%s terminated, want 1", guard.Counted(n, "broken member"))
	}
	if r := s.Replacements(); len(r) != 1 || r[0].Serves.IsZero() {
		say("replacements %v, want one that serves", r)
	}
	if n := len(s.Holds()); n > 0 {
		say("%s, want 0", guard.Counted(n, "hold"))
	}
}

// unmetEnd checks that the last sample shows a whole fleet.
func (s Story) unmetEnd(say func(string, ...any)) {
	if len(s.Samples) == 0 {
		say("there is no sample of the group")
		return
	}
	last := s.Samples[len(s.Samples)-1]
	if last.Serving < last.Desired {
		say("%d of %d serve at the end", last.Serving, last.Desired)
	}
	for _, m := range last.Members {
		if m.Health != sim.Healthy || m.Lifecycle != sim.InService {
			say("at the end %s is %s and %s", m.ID, m.Lifecycle, m.Health)
		}
	}
}

func instances(events []sim.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.Instance)
	}
	return out
}
