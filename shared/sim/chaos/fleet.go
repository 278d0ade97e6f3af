package chaos

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// The tag that opts a group in, and an instance out; the one dependency, and its alarm.
const (
	tagGuard   = "holdfast:guard"
	dependency = "db"
	alarmName  = "db-red"
)

// settings is one policy layer by key.
type settings map[string]any

// document is a policy layer as it stands in its parameter; nil is none.
type document []byte

func (s settings) raw() document {
	if s == nil {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("chaos: settings: " + err.Error()) // plain values always have a JSON form
	}
	return text
}

// fleet is what is guarded, and what its owners have set.
type fleet struct {
	groups []*member
	byARN  map[string]string
	zones  []string
	alarm  sim.AlarmSpec
	// defaults is the layer of all groups; mode is the switch; tableDown says that no call to the ledger works.
	defaults  document
	mode      string
	tableDown bool
}

// member is one group of the fleet with its two layers.
type member struct {
	name, arn        string
	declared, edited document
	// wellAt is when nothing was the matter with it last.
	wellAt time.Time
	// deep says that its targets' check asks the dependency, own that the agent answers it; action is the declared one.
	deep, own bool
	action    string
	// broken is an operator's layer that is no valid document, "" for none.
	broken string
}

func (f *fleet) names() []string {
	var out []string
	for _, g := range f.groups {
		out = append(out, g.name)
	}
	return out
}

func (f *fleet) name(arn string) string { return f.byARN[arn] }

// deep says that the check of a group's targets asks the dependency.
func (f *fleet) deep(name string) bool {
	return slices.ContainsFunc(f.groups, func(g *member) bool { return g.name == name && g.deep })
}

// own says that the agent itself answers the check of a group's targets: without it, both witnesses are gone.
func (f *fleet) own(name string) bool {
	return slices.ContainsFunc(f.groups, func(g *member) bool { return g.name == name && g.own })
}

func (f *fleet) arn(name string) string {
	for _, g := range f.groups {
		if g.name == name {
			return g.arn
		}
	}
	return ""
}

func (f *fleet) policies(names []string) runner.PolicySet {
	set := runner.PolicySet{
		Switch:   guard.Switch{Value: f.mode, Found: true},
		Defaults: guard.Layer{Name: guard.LayerDefaults, Raw: f.defaults}, Groups: map[string][]guard.Layer{},
	}
	for _, name := range names {
		for _, g := range f.groups {
			if g.name != name {
				continue
			}
			edited := guard.Layer{Name: guard.LayerGroups + name, Raw: g.edited}
			if g.broken != "" {
				edited.Raw = []byte(g.broken)
			}
			set.Groups[name] = []guard.Layer{{Name: guard.LayerDeclared + name, Raw: g.declared}, edited}
		}
	}
	return set
}

// unread is the answer when no layer could be read.
func (f *fleet) unread(names []string, why string) runner.PolicySet {
	set := runner.PolicySet{
		Switch:   guard.Switch{ReadError: why},
		Defaults: guard.Layer{Name: guard.LayerDefaults, ReadError: why}, Groups: map[string][]guard.Layer{},
	}
	for _, name := range names {
		set.Groups[name] = []guard.Layer{{Name: guard.LayerDeclared + name, ReadError: why}, {Name: guard.LayerGroups + name, ReadError: why}}
	}
	return set
}

// newFleet draws one to three groups and what their owners have declared.
func newFleet(c *sim.Cloud, d dice) (*fleet, error) {
	f := &fleet{byARN: map[string]string{}, mode: guard.ModeAct, defaults: settings{"region_marks_per_hour": pick(d, 1, 1, 2, 6, 6)}.raw()}
	for _, z := range []string{"a", "b", "c"}[:d.between(1, 3)] {
		f.zones = append(f.zones, "us-east-1"+z)
	}
	f.alarm = sim.AlarmSpec{
		Name: alarmName, Dependency: dependency, Period: pick(d, 10*time.Second, time.Minute), Evaluations: d.between(1, 3), Since: c.Now().Add(-24 * time.Hour),
	}
	if err := c.PutAlarm(f.alarm); err != nil {
		return nil, fmt.Errorf("put alarm: %w", err)
	}
	for _, name := range []string{"alpha", "beta", "gamma"}[:d.between(1, 3)] {
		if err := f.add(c, d, name); err != nil {
			return nil, fmt.Errorf("add group %s: %w", name, err)
		}
	}
	return f, nil
}

func (f *fleet) add(c *sim.Cloud, d dice, name string) error {
	size := pick(d, 1, 1, 2, 3, 4, 4, 5, 6, 6, 8, 8, 12, 12, 24, 40)
	weight := pick(d, 1, 1, 1, 2)
	path := pick(d, sim.PathLocal, sim.PathLocal, sim.PathDeep, sim.PathOwn)
	if _, err := c.CreateTargetGroup(sim.TargetGroupSpec{
		Name: name, Path: path, Dependencies: []string{dependency},
		Interval: pick(d, 10*time.Second, 30*time.Second), Timeout: 5 * time.Second, HealthyCount: d.between(2, 5), UnhealthyCount: d.between(2, 3),
		DeregistrationDelay: pick(d, 10*time.Second, 30*time.Second, 300*time.Second),
	}); err != nil {
		return fmt.Errorf("create target group: %w", err)
	}
	spec := sim.GroupSpec{
		Name: name, Tags: map[string]string{tagGuard: "true"}, Desired: size * weight, Weight: weight, Min: 0, Max: 2*size*weight + 2*weight, Zones: f.zones,
		HealthCheckTypes: []string{"EC2"}, Grace: d.span(0, 5*time.Minute).Truncate(time.Second), TargetGroups: []string{name},
		LaunchTime: launchTime(d), WarmUp: d.span(10*time.Second, 60*time.Second), SteadyFor: 24 * time.Hour, Uses: []string{dependency},
	}
	if d.chance(0.5) { // a grace that covers the warm-up and the checks after it: a shorter one replaces for ever, with nobody's help
		spec.HealthCheckTypes, spec.Grace = []string{"EC2", "ELB"}, d.span(4*time.Minute, 6*time.Minute).Truncate(time.Second)
	}
	if d.chance(0.4) {
		spec.AgentReports = []string{dependency}
	}
	if err := c.CreateGroup(spec); err != nil {
		return fmt.Errorf("create group: %w", err)
	}
	g, _ := c.Group(name)
	owner := declared(d)
	if size >= 40 && d.chance(0.7) { // large enough for two slots: the policy takes them
		maps.Copy(owner, settings{"marks_per_10_minutes": 100, "marks_per_hour": 100, "marks_per_day": 100, "max_in_flight": 100, "rolling_percent": 100, "onset_count": 100})
	}
	action, _ := owner["action"].(string)
	f.groups = append(f.groups, &member{name: name, arn: g.ARN, declared: owner.raw(), deep: path == sim.PathDeep, own: path == sim.PathOwn, action: action, wellAt: c.Now()})
	f.byARN[g.ARN] = name
	return nil
}

// launchTime is short in most groups; in some a slot stays taken for longer than a window of the budget, in a few for longer than a
// member may be Pending.
func launchTime(d dice) time.Duration {
	switch {
	case d.chance(0.03):
		return 18 * time.Minute
	case d.chance(0.08):
		return d.span(8*time.Minute, 14*time.Minute)
	}
	return d.span(20*time.Second, 90*time.Second)
}

// declared draws the layer that an owner declares. Most of the fleets hold so reluctantly that limits and gates are met.
func declared(d dice) settings {
	s := settings{
		"boot_grace_seconds": pick(d, 60, 120, 300), "confirm_sweeps": pick(d, 1, 1, 2, 3), "quiet_seconds": pick(d, 120, 300, 600),
		"disagree_seconds": pick(d, 300, 900), "page_repeat_seconds": pick(d, 600, 1800), "deferred_page_seconds": pick(d, 300, 900),
		"hold_max_seconds": pick(d, 600, 1200, 3600, 86400), "hold_exit": pick(d, guard.ExitOperator, guard.ExitPaced),
		"first_heartbeat_seconds": pick(d, 300, 900), "action": guard.ActionReplace, "self_report_alone": d.chance(0.2), "act_on_last_instance": d.chance(0.4), "rolling_window_seconds": pick(d, 600, 1200, 3600), "converge_failures": pick(d, 1, 1, 2),
		"marks_per_10_minutes": pick(d, 1, 1, 100), "marks_per_hour": pick(d, 2, 3, 100), "marks_per_day": pick(d, 1, 2, 8, 100), "max_in_flight": pick(d, 1, 1, 100),
	}
	if d.chance(0.75) {
		maps.Copy(s, settings{"correlated_percent": 50, "correlated_min": pick(d, 2, 6, 10), "zone_percent": 100, "onset_count": 100, "rolling_percent": 100})
	}
	if d.chance(0.12) {
		s["action"] = pick(d, guard.ActionHoldOnly, guard.ActionAlertOnly)
	}
	switch d.IntN(10) {
	case 0:
		s["capacity_loss_percent_max"] = pick(d, 5, 20)
	case 1:
		s["min_healthy_percent"] = pick(d, 90, 100)
	case 2, 3, 4:
		s["capacity_loss_percent_max"], s["min_healthy_percent"] = 100, 0
	}
	if d.chance(0.2) {
		s["hold_processes"] = []string{guard.ProcessReplaceUnhealthy, guard.ProcessHealthCheck}
	}
	if d.chance(0.6) {
		kind := pick(d, guard.DependencyHard, guard.DependencyHard, guard.DependencySoft)
		s["dependencies"] = []any{map[string]any{"alarm": alarmName, "kind": kind, "missing": pick(d, guard.MissingUnknown, guard.MissingOK)}}
	}
	return s
}
