package guard

import (
	"fmt"
	"strings"
)

// What the group is doing, as a sweep's record and status show it.
const (
	Watching  = "watching"
	Held      = "held"
	Releasing = "releasing"
	Blind     = "blind"
	Off       = "off"
)

// Kinds of action.
const (
	ActMark    = "mark"
	ActRestore = "restore"
	ActSuspend = "suspend"
	ActResume  = "resume"
)

// Action is one call to be made. Its ID derives from the group, the kind, the member and the sweep that first decided it.
type Action struct {
	Kind      string   `json:"kind"`
	Member    string   `json:"member,omitempty"`
	Processes []string `json:"processes,omitempty"`
	ID        string   `json:"id,omitempty"`
	// Withheld says why the call is not to be made: mode or alert-only; "" makes it.
	Withheld string `json:"withheld,omitempty"`
	// Weight is the capacity weight of a marked member; Note goes into the record.
	Weight int    `json:"weight,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Deferral is a member that looks bad and was not acted on: the first gate that said no, with its numbers.
type Deferral struct {
	Member string `json:"member"`
	Reason Reason `json:"reason"`
	// Have and Limit are the numbers that the gate compared; both 0 when it compared none.
	Have  int    `json:"have"`
	Limit int    `json:"limit"`
	Text  string `json:"text,omitempty"`
	// Broken is false for a member that is only bad.
	Broken bool `json:"broken,omitempty"`
}

// why is the reason with the numbers that the gate compared.
func (d Deferral) why() string {
	out := string(d.Reason)
	if d.Have != 0 || d.Limit != 0 {
		out += fmt.Sprintf(", have %d, limit %d", d.Have, d.Limit)
	}
	return out + suffix(d.Text)
}

// Page is a notice to people.
type Page struct {
	Key string `json:"key"`
	// Subject tells conditions of one key apart, such as two alarms; "" for most.
	Subject string `json:"subject,omitempty"`
	Urgent  bool   `json:"urgent,omitempty"`
	Text    string `json:"text"`
	// Since is when the condition began; Reminder says that it was told before.
	Since    Instant `json:"since,omitempty"`
	Reminder bool    `json:"reminder,omitempty"`
}

// Counts are the members by what they count as.
type Counts struct {
	Eligible int `json:"eligible"`
	Healthy  int `json:"healthy"`
	Bad      int `json:"bad"`
	Broken   int `json:"broken"`
	Outside  int `json:"outside"`
}

// Limits are the budgets in force and what is used of them.
type Limits struct {
	InFlight      int `json:"in_flight"`
	InFlightMax   int `json:"in_flight_max"`
	TenMinutes    int `json:"ten_minutes"`
	TenMinutesMax int `json:"ten_minutes_max"`
	Hour          int `json:"hour"`
	HourMax       int `json:"hour_max"`
	Day           int `json:"day"`
	DayMax        int `json:"day_max"`
	RegionHour    int `json:"region_hour"`
	RegionHourMax int `json:"region_hour_max"`
}

// Trigger is one rule that is true and holds the group.
type Trigger struct {
	Cause string `json:"cause"`
	// Name is the zone, target group or alarm.
	Name  string `json:"name,omitempty"`
	Have  int    `json:"have"`
	Limit int    `json:"limit"`
	Of    int    `json:"of,omitempty"`
	Text  string `json:"text"`
	// Prolongs says that it also keeps a hold from ending.
	Prolongs bool `json:"prolongs,omitempty"`
}

// Verdict is the decision about one group.
type Verdict struct {
	Group string `json:"group"`
	Mode  string `json:"mode"`
	// Cause is the hold's cause with its name, such as "dependency db"; "" when not held.
	Cause    string     `json:"cause,omitempty"`
	Actions  []Action   `json:"actions,omitempty"`
	Deferred []Deferral `json:"deferred,omitempty"`
	Pages    []Page     `json:"pages,omitempty"`
	Triggers []Trigger  `json:"triggers,omitempty"`
	Members  Counts     `json:"members"`
	Limits   Limits     `json:"limits"`
	// Unknown are the hard dependencies whose state is not known, in the policy's order: nothing is released meanwhile.
	Unknown []string `json:"unknown,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// State is what is to be kept if every intent is recorded and nothing is confirmed yet.
	State State `json:"-"`
	// Region is this group's part of what the Region shares.
	Region RegionDelta `json:"-"`
}

// RegionDelta is what one look contributes to the Region's state.
type RegionDelta struct {
	Group    string
	Eligible int
	Onsets   []RegionOnset
	// Forget says that the group is not guarded any more. A guarded group without eligible members is not forgotten: it is missed
	// when it vanishes.
	Forget bool
}

// Marks returns the members to be marked, in order.
func (v Verdict) Marks() []Action { return v.actions(ActMark) }

func (v Verdict) actions(kind string) []Action {
	var out []Action
	for _, a := range v.Actions {
		if a.Kind == kind {
			out = append(out, a)
		}
	}
	return out
}

// Explain tells the verdict in lines for a person.
func (v Verdict) Explain() []string {
	m := v.Members
	head := fmt.Sprintf("%s: %s, %d eligible, %d healthy, %d bad, %d broken, %d outside", v.Group, v.Mode, m.Eligible, m.Healthy, m.Bad, m.Broken, m.Outside)
	if v.Cause != "" {
		head += ", cause " + v.Cause
	}
	out := []string{head}
	for _, t := range v.Triggers {
		out = append(out, "trigger: "+t.Text)
	}
	for _, a := range v.Actions {
		out = append(out, a.explain())
	}
	for _, d := range v.Deferred {
		line := fmt.Sprintf("deferred %s: %s", d.Member, d.Reason)
		if d.Have != 0 || d.Limit != 0 {
			line += fmt.Sprintf(" (%d of %d)", d.Have, d.Limit)
		}
		if d.Text != "" {
			line += ", " + d.Text
		}
		out = append(out, line)
	}
	for _, p := range v.Pages {
		out = append(out, fmt.Sprintf("page %s: %s", p.Key, p.Text))
	}
	for _, n := range v.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

func (a Action) explain() string {
	what := a.Member
	if len(a.Processes) > 0 {
		what = strings.Join(a.Processes, ", ")
	}
	if a.Withheld != "" {
		return fmt.Sprintf("would %s %s (%s)", a.Kind, what, a.Withheld)
	}
	return a.Kind + " " + what
}
