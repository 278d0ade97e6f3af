package picture

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Classes of a member's band. Each has a colour and a pattern of its own.
const (
	classStarting = "starting"
	classServing  = "serving"
	classFailing  = "failing"
	classLeaving  = "leaving"
	classIdle     = "idle"
)

// member is one instance over the samples.
type member struct {
	id, zone string
	phases   []phase
	calls    []phase // while AWS calls it Unhealthy
}

// phase is a time during which nothing about a member changed.
type phase struct {
	class, text string
	from, to    time.Time
}

// members gathers the samples by member, in the order in which they were first seen.
func (c *chart) members() []*member {
	var order []*member
	byID := map[string]*member{}
	samples := c.story.Samples
	for i, s := range samples {
		from, to := s.At, c.story.End
		if i == 0 {
			from = c.story.Start
		}
		if i+1 < len(samples) {
			to = samples[i+1].At
		}
		for _, m := range s.Members {
			known, ok := byID[m.ID]
			if !ok {
				known = &member{id: m.ID, zone: m.Zone}
				byID[m.ID] = known
				order = append(order, known)
			}
			class, text := classify(m)
			known.phases = extend(known.phases, phase{class, text, from, to})
			if m.Health == sim.Unhealthy {
				known.calls = extend(known.calls, phase{"called", "Auto Scaling calls it Unhealthy", from, to})
			}
		}
	}
	return order
}

// extend adds a phase, or makes the last one longer when it goes on.
func extend(phases []phase, next phase) []phase {
	if n := len(phases); n > 0 {
		last := &phases[n-1]
		if last.class == next.class && last.text == next.text && last.to.Equal(next.from) {
			last.to = next.to
			return phases
		}
	}
	return append(phases, next)
}

// classify says how a member is drawn and in which words.
func classify(m sim.MemberSample) (class, text string) {
	text = string(m.Lifecycle)
	if m.Target != "" {
		text += ", target " + string(m.Target)
	}
	if m.Reason != "" {
		text += " (" + m.Reason + ")"
	}
	if m.Truth.Broken != "" {
		text += ", really " + string(m.Truth.Broken)
	}
	switch m.Lifecycle {
	case sim.Pending:
		return classStarting, text
	case sim.Terminating:
		return classLeaving, text
	case sim.Standby:
		return classIdle, text
	case sim.InService:
	}
	switch m.Target {
	case sim.TargetUnhealthy:
		return classFailing, text
	case sim.TargetInitial:
		return classStarting, text
	case sim.TargetHealthy:
		return classServing, text
	case sim.TargetUnused, sim.TargetDraining:
	}
	return classIdle, text
}

// addRows draws a band for each member.
func (c *chart) addRows(y int) int {
	for _, m := range c.members() {
		r := row{Label: m.id, Y: y}
		for _, p := range m.phases {
			x, w := c.interval(p.from, p.to)
			r.Bars = append(r.Bars, bar{Class: p.class, X: x, W: w, Y: y + 2, H: bandHeight, Title: c.titleOf(m, p)})
		}
		for _, p := range m.calls {
			x, w := c.interval(p.from, p.to)
			r.Bars = append(r.Bars, bar{Class: "called", X: x, W: w, Y: y + bandHeight, H: 4, Title: c.titleOf(m, p)})
		}
		middle := y + 2 + bandHeight/2
		for _, e := range c.story.Timeline {
			if class, text := signOf(e); class != "" && e.Instance == m.id {
				r.Signs = append(r.Signs, c.sign(class, e.At, middle, text))
			}
		}
		c.Rows = append(c.Rows, r)
		y += rowHeight
	}
	return y
}

func (c *chart) titleOf(m *member, p phase) string {
	return m.id + " in " + m.zone + ", " + c.clock(p.from) + " to " + c.clock(p.to) + ": " + p.text
}

// signOf says which sign an event gets on its member's row, if any, and in which words.
func signOf(e sim.Event) (class, text string) {
	if e.Kind == sim.EventBreak {
		return "break", e.Instance + " breaks: " + e.Text
	}
	if e.Kind == sim.EventTerminate {
		return "terminate", "Auto Scaling terminates " + e.Instance + ": " + e.Text
	}
	if e.Kind == sim.EventRestore {
		return "restore", e.Instance + " counts as Healthy again"
	}
	return "", ""
}
