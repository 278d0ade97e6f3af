package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// The two ways in which a stated read fails.
const (
	readFailed  = "failed"
	readPartial = "partial"
)

// sources are the reads that a file can make fail.
func sources() []string { return []string{"heartbeats", "targets", "alarms", "group", "ledger"} }

// answers are AWS's answers that a file can state for a call.
func answers() []string {
	return []string{"ValidationError", "ResourceContention", "Throttling", "AccessDenied", "InternalFailure", "Timeout", "Failed"}
}

// place is one group in the world during one step.
type place struct {
	*stated
	change Change
	// second is what a second look sees instead, nil unless it is in force; acted says that this run has made a call already.
	second *stated
	acted  bool
	log    []Call
	pages  []PageSent
	report *runner.Report
}

// view is what a read sees now.
func (p *place) view() *stated {
	if p.second != nil {
		return p.second
	}
	return p.stated
}

func (p *place) failing(source string) error {
	how := p.change.Reads[source]
	switch how {
	case readFailed:
		return fmt.Errorf("read %s: %w: as the scenario states", source, fault.Throttled)
	case readPartial:
		return fmt.Errorf("read %s: %w: as the scenario states", source, fault.Partial)
	}
	return nil
}

// missing says whether entry i of a read is left out.
func (p *place) missing(source string, i int) bool {
	how := p.change.Reads[source]
	return how == readFailed || (how == readPartial && i%2 == 0)
}

// world is the stated world as the runner's ports see it.
type world struct {
	now    time.Time
	places []*place
	// current is the group that is being looked at, for reads that do not name one.
	current *place
	ledger  *memledger.Ledger
	mode    string
}

// What calls answer.
var (
	errNoProcesses = errors.New("an empty list of processes means all of them")
	errStated      = errors.New("failed, as the scenario states")
)

func (w *world) place(name string) *place {
	for _, p := range w.places {
		if p.group.Name == name || p.group.ARN == name {
			return p
		}
	}
	return nil
}

// Guarded lists every group of the file, so that the guard itself has to refuse one without the tag.
func (w *world) Guarded(context.Context) ([]guard.Group, error) {
	var out []guard.Group
	for _, p := range w.places {
		g := p.view().read()
		if p.change.Reads["group"] != "" {
			g.Members = g.Members[:len(g.Members)/2]
		}
		if p.change.Reads["group"] == readFailed {
			g = guard.Group{ARN: g.ARN, Name: g.Name, OptedIn: g.OptedIn}
		}
		out = append(out, g)
	}
	return out, nil
}

// Group is a second look, or a read-back after a call: before the first call of a run, what reread states comes into force.
func (w *world) Group(_ context.Context, name string) (guard.Group, error) {
	p := w.place(name)
	if p == nil {
		return guard.Group{}, fmt.Errorf("describe group %s: %w", name, fault.Gone)
	}
	w.current = p
	if p.change.Reread != nil && !p.acted && p.second == nil {
		p.second = p.clone()
		p.second.apply(*p.change.Reread, w.now)
	}
	if err := p.failing("group"); err != nil {
		return guard.Group{}, err
	}
	return p.view().read(), nil
}

// Details adds targets, foreign targets, opt-outs, activities and the refresh.
func (w *world) Details(_ context.Context, g guard.Group) (guard.Group, guard.Reads) {
	p := w.place(g.Name)
	w.current = p
	var reads guard.Reads
	if err := p.failing("group"); err != nil {
		reads.Group = err.Error()
	}
	if err := p.failing("targets"); err != nil {
		reads.Targets = err.Error()
	}
	s := p.view()
	g.TargetGroups = slices.Clone(s.group.TargetGroups)
	g.Activities = slices.Clone(s.group.Activities)
	g.Refresh = s.group.Refresh
	if reads.Targets == "" {
		g.ForeignTargets = slices.Clone(s.group.ForeignTargets)
	}
	g.Members = slices.Clone(g.Members)
	for i := range g.Members {
		m := s.find(g.Members[i].ID)
		if m == nil {
			continue
		}
		g.Members[i].OptedOut = m.OptedOut
		g.Members[i].Targets = nil
		if p.missing("targets", i) {
			continue
		}
		for _, t := range m.Targets {
			t.Anomalous, t.Shifted = m.abnormal, m.shifted
			g.Members[i].Targets = append(g.Members[i].Targets, t)
		}
	}
	return g, reads
}

// Beats reads the heartbeats by key.
func (w *world) Beats(_ context.Context, g guard.Group) (map[string]guard.Beat, error) {
	p := w.place(g.Name)
	w.current = p
	out := map[string]guard.Beat{}
	for i, m := range g.Members {
		s := p.view().find(m.ID)
		switch {
		case p.missing("heartbeats", i):
			out[m.ID] = guard.Beat{Unreadable: true}
		case s != nil:
			out[m.ID] = s.beatAt(w.now)
		default:
			out[m.ID] = guard.Beat{}
		}
	}
	return out, p.failing("heartbeats")
}

// Alarms answers from the group that is being looked at, else from the first that has the alarm.
func (w *world) Alarms(_ context.Context, names []string) map[string]guard.AlarmReading {
	out := map[string]guard.AlarmReading{}
	for i, name := range names {
		r := guard.AlarmReading{State: guard.AlarmMissing}
		for _, p := range w.alarmPlaces() {
			at := slices.IndexFunc(p.view().alarms, func(a guard.DependencyReading) bool { return a.Alarm == name })
			if at < 0 {
				continue
			}
			r = p.view().alarms[at].AlarmReading
			if p.missing("alarms", i) {
				r = guard.AlarmReading{State: guard.AlarmUnread, Detail: p.failing("alarms").Error()}
			}
			break
		}
		out[name] = r
	}
	return out
}

func (w *world) alarmPlaces() []*place {
	if w.current == nil {
		return w.places
	}
	return append([]*place{w.current}, w.places...)
}

// Queue reads the queue of the group that is being looked at.
func (w *world) Queue(context.Context, guard.QueueSpec) (guard.QueueReading, error) {
	p := w.alarmPlaces()[0]
	return p.view().queue, nil
}

// Policies gives the layers: the dependencies as declared, the file's policy as the operator's own.
func (w *world) Policies(_ context.Context, groups []string) runner.PolicySet {
	set := runner.PolicySet{Switch: guard.Switch{Value: w.mode, Found: true}, Defaults: guard.Layer{Name: guard.LayerDefaults},
		Groups: map[string][]guard.Layer{}}
	for _, name := range groups {
		p := w.place(name)
		if p == nil {
			continue
		}
		layers, defaults := p.policyLayers()
		set.Groups[name] = layers
		if defaults != nil {
			set.Defaults.Raw = defaults
		}
	}
	return set
}

func (s *stated) policyLayers() (layers []guard.Layer, defaults []byte) {
	own, defaults := s.layers()
	name := guard.EscapeName(s.group.Name)
	return []guard.Layer{{Name: guard.LayerDeclared + name, Raw: s.declared()}, {Name: guard.LayerGroups + name, Raw: own}}, defaults
}

// Mark makes the group's mark Unhealthy.
func (w *world) Mark(_ context.Context, id string) error {
	return w.setHealth(Call{Kind: guard.ActMark, Member: id}, true)
}

// Restore makes the group's mark Healthy.
func (w *world) Restore(_ context.Context, id string) error {
	return w.setHealth(Call{Kind: guard.ActRestore, Member: id}, false)
}

func (w *world) setHealth(c Call, unhealthy bool) error {
	p := w.owner(c.Member)
	if p == nil {
		return fmt.Errorf("set health of %s: %w", c.Member, fault.Gone)
	}
	m := p.find(c.Member)
	err := p.answer(c)
	if err == nil && m == nil {
		err = fmt.Errorf("set health of %s: %w", c.Member, fault.Gone)
	}
	p.made(c, err)
	if err == nil && !m.fixed {
		m.Unhealthy = unhealthy
	}
	return err
}

// owner is the group that has a member, on the first look or on the second.
func (w *world) owner(id string) *place {
	for _, p := range w.places {
		if p.find(id) != nil || p.view().find(id) != nil {
			return p
		}
	}
	return nil
}

// Suspend adds to the suspended processes; one that is suspended already keeps its text.
func (w *world) Suspend(_ context.Context, group string, processes []string) error {
	return w.setProcesses(Call{Kind: guard.ActSuspend, Processes: processes}, group)
}

// Resume takes processes off the suspended ones.
func (w *world) Resume(_ context.Context, group string, processes []string) error {
	return w.setProcesses(Call{Kind: guard.ActResume, Processes: processes}, group)
}

func (w *world) setProcesses(c Call, group string) error {
	p := w.place(group)
	if p == nil {
		return fmt.Errorf("%s processes of %s: %w", c.Kind, group, fault.Gone)
	}
	c.Processes = slices.Sorted(slices.Values(c.Processes))
	err := p.answer(c)
	if len(c.Processes) == 0 {
		err = fmt.Errorf("%s processes: %w: %w", c.Kind, fault.Refused, errNoProcesses)
	}
	p.made(c, err)
	if err != nil {
		return err
	}
	for _, process := range c.Processes {
		if _, have := p.suspended[process]; c.Kind == guard.ActResume {
			delete(p.suspended, process)
		} else if !have {
			p.suspended[process] = suspendedText(w.now)
		}
	}
	return nil
}

// suspendedText is AWS's text about a process that was suspended by a call.
func suspendedText(at time.Time) string { return "User suspended at " + at.UTC().Format(time.RFC3339) }

// made notes a call; after one that changed something, reads see the stated world with its effect.
func (p *place) made(c Call, err error) {
	if err != nil {
		c.Error = err.Error()
	} else {
		p.acted, p.second = true, nil
	}
	p.log = append(p.log, c)
}

// answer is what the step says that AWS answers to a call.
func (p *place) answer(c Call) error {
	word := p.change.Calls[c.Kind]
	kind := map[string]error{"ValidationError": fault.Refused, "ResourceContention": fault.Unknown, "Throttling": fault.Throttled,
		"AccessDenied": fault.Refused, "InternalFailure": fault.Unknown, "Timeout": fault.Unknown, "Failed": errStated}[word]
	if word == "ValidationError" && c.Kind == guard.ActMark {
		kind = fault.Gone
	}
	if kind == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", c.Kind, kind, word)
}

// Page notes a notice, also one whose delivery the step makes fail.
func (w *world) Page(_ context.Context, n runner.Notice) error {
	p := w.place(n.GroupARN)
	if p == nil {
		p = w.place(n.Group)
	}
	sent := PageSent{Key: n.Key, Text: n.Text}
	var err error
	if word := p.change.Calls["page"]; word != "" {
		err = fmt.Errorf("page: %w: %s", errStated, word)
		sent.Error = err.Error()
	}
	p.pages = append(p.pages, sent)
	return err
}

// Report keeps the last record of a group's look in this run.
func (w *world) Report(_ context.Context, r runner.Report) {
	if p := w.place(r.ARN); p != nil {
		p.report = &r
	}
}
