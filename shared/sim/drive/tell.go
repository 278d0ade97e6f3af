package drive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Who does things in a story.
const (
	WhoWorld        = "world"
	WhoAutoScaling  = "Auto Scaling"
	WhoLoadBalancer = "load balancer"
	WhoCloudWatch   = "CloudWatch"
	WhoHoldfast     = "Holdfast"
)

// Line is one line of a story for people.
type Line struct {
	// After is the time since the beginning of the story.
	After time.Duration `json:"-"`
	// Clock is After as minutes and seconds.
	Clock string `json:"at"`
	Who   string `json:"who"`
	Text  string `json:"text"`
}

// gatherWithin is how far apart changes of targets to one state may be to be told in one line.
const gatherWithin = time.Minute

// Clock writes a duration as minutes and seconds, such as 5:20.
func Clock(d time.Duration) string {
	d = d.Truncate(time.Second)
	return fmt.Sprintf("%d:%02d", int(d/time.Minute), int(d%time.Minute/time.Second))
}

// Lines tells the story in order. Changes of targets that belong together are one line; what no reader needs, such as the end of a
// termination, is left out.
func (s Story) Lines() []Line {
	var out []Line
	add := func(at time.Time, who, text string) {
		out = append(out, Line{After: s.Since(at), Clock: Clock(s.Since(at)), Who: who, Text: text})
	}
	for i, e := range s.Timeline {
		if text := s.tellEvent(i); text != "" {
			add(e.At, s.who(e), text)
		}
	}
	for _, n := range s.Notices {
		kind := "notice"
		if n.Urgent {
			kind = "page"
		}
		if n.Reminder {
			kind = "reminder of " + kind
		}
		add(n.At, WhoHoldfast, kind+" "+n.Key+": "+n.Text)
	}
	slices.SortStableFunc(out, func(a, b Line) int { return cmp.Compare(a.After, b.After) })
	return out
}

func (s Story) who(e sim.Event) string {
	switch e.Kind {
	case sim.EventSuspend, sim.EventResume, sim.EventRefused:
		return WhoHoldfast
	case sim.EventMark:
		if IsGuardMark(e) {
			return WhoHoldfast
		}
		return WhoAutoScaling
	case sim.EventLaunch, sim.EventTerminate, sim.EventRestore:
		return WhoAutoScaling
	case sim.EventAlarm:
		return WhoCloudWatch
	case sim.EventTarget:
		return WhoLoadBalancer
	case sim.EventBreak, sim.EventRepair, sim.EventNote, sim.EventServing, sim.EventDependency, sim.EventGone, sim.EventInService:
	}
	return WhoWorld
}

// tellEvent tells one event, and nothing for one that an earlier line tells with others, or that no reader needs.
func (s Story) tellEvent(i int) string {
	e := s.Timeline[i]
	switch e.Kind {
	case sim.EventTarget:
		return s.gathered(i)
	case sim.EventMark:
		return s.marksAt(i)
	case sim.EventDependency, sim.EventGone, sim.EventInService:
		return "" // a note says it, or the line before or after does
	case sim.EventRestore:
		return e.Instance + " counts as Healthy again"
	case sim.EventTerminate:
		return "terminates " + e.Instance + " (" + reasonOf(e.Text) + ")"
	case sim.EventLaunch:
		if e.Instance == "" {
			return "cannot launch: " + e.Text
		}
		return "launches " + e.Instance
	case sim.EventSuspend:
		return "suspends " + strings.Join(strings.Fields(e.Text), ", ")
	case sim.EventResume:
		return "resumes " + strings.Join(strings.Fields(e.Text), ", ")
	case sim.EventBreak:
		return condition(e, "broken")
	case sim.EventRepair:
		return condition(e, "repaired")
	case sim.EventServing:
		return e.Instance + " has started up"
	case sim.EventRefused:
		return "mark of " + e.Instance + " refused: " + e.Text
	case sim.EventAlarm:
	case sim.EventNote:
		if e.Instance != "" {
			return e.Instance + ": " + e.Text
		}
	}
	return e.Text
}

// condition tells that an instance is broken or repaired, or what concerns more than one, such as a zone.
func condition(e sim.Event, word string) string {
	if e.Instance == "" {
		return word + ": " + e.Text
	}
	return e.Instance + " is " + word + ": " + e.Text
}

// marksAt tells the marks of one instant together, and nothing for all but the first of them; marks of Holdfast stand alone.
func (s Story) marksAt(i int) string {
	first := s.Timeline[i]
	if IsGuardMark(first) {
		return "marks " + first.Instance + " Unhealthy"
	}
	same := func(e sim.Event) bool { return e.Kind == sim.EventMark && e.At.Equal(first.At) && !IsGuardMark(e) }
	if slices.ContainsFunc(s.Timeline[:i], same) {
		return ""
	}
	n := 0
	for _, e := range s.Timeline[i:] {
		if same(e) {
			n++
		}
	}
	if n == 1 {
		return "calls " + first.Instance + " Unhealthy"
	}
	return fmt.Sprintf("calls %d members Unhealthy", n)
}

// reasonOf shortens Auto Scaling's cause of a termination.
func reasonOf(cause string) string {
	const before = "in response to "
	if i := strings.LastIndex(cause, before); i >= 0 {
		cause = cause[i+len(before):]
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(cause, "an "), "a "), ".")
}

// gathered tells a run of changes to one target state in the words of its first event, and nothing for the others.
func (s Story) gathered(i int) string {
	first := s.Timeline[i]
	state := stateOf(first)
	if state == "" {
		return ""
	}
	last := first.At
	for _, e := range slices.Backward(s.Timeline[:i]) {
		if last.Sub(e.At) > gatherWithin {
			break
		}
		if e.Kind == sim.EventTarget && stateOf(e) == state {
			return "" // told by an earlier one
		}
	}
	n, last := 0, first.At
	for _, e := range s.Timeline[i:] {
		if e.At.Sub(last) > gatherWithin {
			break
		}
		if e.Kind == sim.EventTarget && stateOf(e) == state {
			n, last = n+1, e.At
		}
	}
	switch {
	case n == 1:
		return "target " + first.Instance + " is " + state
	case last.Equal(first.At):
		return fmt.Sprintf("%d targets are %s", n, state)
	default:
		return fmt.Sprintf("%d targets are %s, the last at %s", n, state, Clock(s.Since(last)))
	}
}

// stateOf is the state that a target event tells, nothing for a state that only accompanies something else.
func stateOf(e sim.Event) string {
	_, state, _ := strings.Cut(e.Text, " ")
	if strings.HasPrefix(state, string(sim.TargetDraining)) || strings.HasPrefix(state, string(sim.TargetInitial)) {
		return ""
	}
	return strings.TrimSuffix(strings.Replace(state, "[", " (", 1), "]") + closing(state)
}

func closing(state string) string {
	if strings.Contains(state, "[") {
		return ")"
	}
	return ""
}

// Headline is the story in one or two sentences, computed from what was recorded.
func (s Story) Headline() string {
	var parts []string
	lost := s.Stats.HealthyTerminated
	size := 0
	if len(s.Samples) > 0 {
		size = len(s.Samples[0].Members)
	}
	parts = append(parts, fmt.Sprintf("%s of %d lost", guard.Counted(lost, "healthy member"), size))
	replacements := s.Replacements()
	for _, m := range s.Broken() {
		parts = append(parts, s.fate(m, replacements))
	}
	for _, h := range s.Holds() {
		if h.Open {
			parts = append(parts, "held from "+Clock(s.Since(h.From))+" on")
			continue
		}
		parts = append(parts, "held from "+Clock(s.Since(h.From))+" to "+Clock(s.Since(h.To)))
	}
	return strings.Join(parts, "; ")
}

// fate tells what became of an instance that broke.
func (s Story) fate(broken sim.Event, replacements []Replacement) string {
	for _, e := range s.Terminations() {
		if e.Instance != broken.Instance || e.At.Before(broken.At) {
			continue
		}
		text := "the broken " + e.Instance + " replaced at " + Clock(s.Since(e.At))
		for _, r := range replacements {
			if !r.Launched.Before(e.At) && !r.Serves.IsZero() {
				return text + ", its replacement serves at " + Clock(s.Since(r.Serves))
			}
		}
		return text
	}
	return "the broken " + broken.Instance + " never replaced"
}
