package drive

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Story is one run of an incident as the simulator recorded it, enough to tell it and to draw it.
type Story struct {
	Incident string    `json:"incident"`
	Group    string    `json:"group"`
	Guarded  bool      `json:"guarded"`
	Checks   []string  `json:"health_checks"`
	Seed     uint64    `json:"seed"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	// Looks is how often the guardian ran.
	Looks    int          `json:"looks"`
	Timeline []sim.Event  `json:"timeline"`
	Samples  []sim.Sample `json:"-"`
	Stats    sim.Stats    `json:"stats"`
	// Notices are what people were told, in order.
	Notices []Notice `json:"notices"`
}

// Notice is one page to people.
type Notice struct {
	At       time.Time `json:"at"`
	Group    string    `json:"group"`
	Key      string    `json:"key"`
	Subject  string    `json:"subject,omitempty"`
	Urgent   bool      `json:"urgent"`
	Reminder bool      `json:"reminder,omitempty"`
	Text     string    `json:"text"`
}

// Teller is what a driver knows about a run that the cloud does not.
type Teller struct {
	Guarded bool
	Seed    uint64
	Start   time.Time
}

// Tell takes the story of the watched group out of a cloud. It fails when a step of the incident's script failed.
func Tell(c *sim.Cloud, in sim.Incident, t Teller) (Story, error) {
	stats, err := c.Stats(in.Group)
	if err != nil {
		return Story{}, fmt.Errorf("tell %s: %w", in.Name, err)
	}
	g, _ := c.Group(in.Group)
	s := Story{
		Incident: in.Name, Group: in.Group, Guarded: t.Guarded, Checks: g.HealthCheckTypes, Seed: t.Seed, Start: t.Start, End: c.Now(),
		Stats: stats, Notices: []Notice{},
	}
	for _, e := range c.Timeline() {
		if strings.HasPrefix(e.Text, "script:") {
			return Story{}, fmt.Errorf("tell %s: %s", in.Name, e.Text)
		}
		if e.Group == "" || e.Group == in.Group {
			s.Timeline = append(s.Timeline, e)
		}
	}
	for _, sample := range c.Samples() {
		if sample.Group == in.Group {
			s.Samples = append(s.Samples, sample)
		}
	}
	return s, nil
}

// Span is an interval of a story; To is the end of the story when it was still going on, and Open says so.
type Span struct {
	From, To time.Time
	Open     bool
}

// Holds are the intervals during which ReplaceUnhealthy was suspended.
func (s Story) Holds() []Span {
	return s.spans(func(e sim.Event) (begins, ends bool) {
		replace := slices.Contains(strings.Fields(e.Text), guard.ProcessReplaceUnhealthy)
		return replace && e.Kind == sim.EventSuspend, replace && e.Kind == sim.EventResume
	})
}

// Outages are the intervals during which some dependency was not well.
func (s Story) Outages() []Span {
	return s.spans(func(e sim.Event) (begins, ends bool) {
		if e.Kind != sim.EventDependency {
			return false, false
		}
		well := strings.HasSuffix(e.Text, " is "+string(sim.DependencyOK))
		return !well, well
	})
}

// Red are the intervals during which an alarm was in ALARM.
func (s Story) Red() []Span {
	return s.spans(func(e sim.Event) (begins, ends bool) {
		if e.Kind != sim.EventAlarm {
			return false, false
		}
		red := strings.HasSuffix(e.Text, " is "+string(sim.AlarmRed))
		return red, !red
	})
}

func (s Story) spans(edge func(sim.Event) (begins, ends bool)) []Span {
	var out []Span
	open := false
	for _, e := range s.Timeline {
		begins, ends := edge(e)
		switch {
		case begins && !open:
			out, open = append(out, Span{From: e.At, To: s.End, Open: true}), true
		case ends && open:
			out[len(out)-1].To, out[len(out)-1].Open, open = e.At, false, false
		}
	}
	return out
}

// IsGuardMark says whether an event is a mark by SetInstanceHealth: in the simulator nobody else makes that call.
func IsGuardMark(e sim.Event) bool {
	return e.Kind == sim.EventMark && strings.Contains(e.Text, "user health-check")
}

// Marks are the marks that the guardian made, in order.
func (s Story) Marks() []sim.Event { return s.events(IsGuardMark) }

// Broken are the instances that broke, with when.
func (s Story) Broken() []sim.Event {
	return s.events(func(e sim.Event) bool { return e.Kind == sim.EventBreak && e.Instance != "" })
}

// Terminations are the members that Auto Scaling began to terminate.
func (s Story) Terminations() []sim.Event {
	return s.events(func(e sim.Event) bool { return e.Kind == sim.EventTerminate })
}

func (s Story) events(want func(sim.Event) bool) []sim.Event {
	var out []sim.Event
	for _, e := range s.Timeline {
		if want(e) {
			out = append(out, e)
		}
	}
	return out
}

// Replacement is a launched member and when its target first was healthy; zero when it never was.
type Replacement struct {
	ID       string
	Launched time.Time
	Serves   time.Time
}

// Replacements are the members that were launched during the story, in order.
func (s Story) Replacements() []Replacement {
	var out []Replacement
	for _, e := range s.Timeline {
		switch {
		case e.Instance == "":
		case e.Kind == sim.EventLaunch:
			out = append(out, Replacement{ID: e.Instance, Launched: e.At})
		case e.Kind == sim.EventTarget && strings.HasSuffix(e.Text, " "+string(sim.TargetHealthy)):
			for i := range out {
				if out[i].ID == e.Instance && out[i].Serves.IsZero() {
					out[i].Serves = e.At
				}
			}
		}
	}
	return out
}

// Since is the time from the beginning of the story.
func (s Story) Since(t time.Time) time.Duration { return t.Sub(s.Start) }

// LastFailure is when requests failed for the last time, by the samples; zero when none did.
func (s Story) LastFailure() time.Time {
	var last time.Time
	for _, sample := range s.Samples {
		if sample.FailShare > 0 {
			last = sample.At
		}
	}
	return last
}
