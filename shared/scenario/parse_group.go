package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// optInTag is the tag that puts a group under guard. Its value must be true.
const optInTag = "holdfast:guard"

// processNames are all processes of Auto Scaling. Source: user guide, "Suspend and resume processes".
func processNames() []string {
	return []string{guard.ProcessLaunch, guard.ProcessTerminate, "AddToLoadBalancer", "AlarmNotification", guard.ProcessAZRebalance,
		guard.ProcessHealthCheck, "InstanceRefresh", guard.ProcessReplaceUnhealthy, "ScheduledActions"}
}

// settings reads the key group, of a head or of a step.
func (p *parser) settings(n *yaml.Node) Settings {
	m := p.object(n, "group", "name", "desired", "min", "max", "weights", "health_check", "grace", "suspended", "operator",
		"refresh", "activities", "foreign_targets", "tags")
	var s Settings
	p.sizes(m, &s)
	if v := m["name"]; v != nil {
		if name, ok := p.text(v, "group.name"); ok && name != p.group {
			p.fail(v, "group.name", fmt.Sprintf("%q, want %q", name, p.group))
		}
	}
	if v := m["health_check"]; v != nil {
		s.HealthCheck = p.words(v, "group.health_check", []string{"EC2", "ELB", "EBS", "VPC_LATTICE", "ECS"})
	}
	if v := m["grace"]; v != nil {
		s.Grace = p.age(v, "group.grace")
	}
	if v := m["suspended"]; v != nil {
		list := p.suspended(v)
		s.Suspended = &list
	}
	if v := m["operator"]; v != nil {
		s.Operator = p.maybe(v, "group.operator")
	}
	if v := m["refresh"]; v != nil {
		s.Refresh = p.maybe(v, "group.refresh")
	}
	if v := m["activities"]; v != nil {
		list := p.activities(v)
		s.Activities = &list
	}
	if v := m["foreign_targets"]; v != nil {
		list := p.foreign(v)
		s.Foreign = &list
	}
	if v := m["tags"]; v != nil {
		s.OptedIn = p.tags(v)
	}
	return s
}

func (p *parser) sizes(m map[string]*yaml.Node, s *Settings) {
	for _, size := range []struct {
		key  string
		into **int
	}{{"desired", &s.Desired}, {"min", &s.Min}, {"max", &s.Max}} {
		if v := m[size.key]; v != nil {
			*size.into = p.count(v, "group."+size.key)
		}
	}
	if s.Min != nil && s.Max != nil && *s.Min > *s.Max {
		p.fail(m["min"], "group.min", fmt.Sprintf("%d is above max %d", *s.Min, *s.Max))
	}
	if v := m["weights"]; v != nil {
		s.Weights = p.flag(v, "group.weights")
	}
}

// maybe reads a string; nil after a problem.
func (p *parser) maybe(n *yaml.Node, thing string) *string {
	s, ok := p.text(n, thing)
	if !ok {
		return nil
	}
	return &s
}

func (p *parser) suspended(n *yaml.Node) []guard.Suspension {
	out := []guard.Suspension{}
	for _, f := range p.fields(n, "group.suspended") {
		if !slices.Contains(processNames(), f.key) {
			p.fail(f.at, "group.suspended", fmt.Sprintf("%q is no process of Auto Scaling", f.key))
			continue
		}
		reason, _ := p.text(f.value, "group.suspended."+f.key)
		out = append(out, guard.Suspension{Process: f.key, Reason: reason})
	}
	return out
}

func (p *parser) tags(n *yaml.Node) *bool {
	opted := false
	for _, f := range p.fields(n, "group.tags") {
		if v, _ := p.text(f.value, "group.tags."+f.key); f.key == optInTag {
			opted = v == "true"
		}
	}
	return &opted
}

func (p *parser) activities(n *yaml.Node) []Activity {
	const thing = "group.activities"
	out := []Activity{}
	for _, item := range p.list(n, thing) {
		m := p.object(item, thing, "at", "kind", "status", "cause", "member")
		var a Activity
		for _, key := range []string{"at", "kind", "status"} {
			if m[key] == nil && item.Kind == yaml.MappingNode {
				p.fail(item, thing+"."+key, "is missing")
			}
		}
		if v := m["at"]; v != nil {
			if d := p.past(v, thing+".at"); d != nil {
				a.At = *d
			}
		}
		if v := m["kind"]; v != nil {
			a.Kind = p.word(v, thing+".kind", []string{"launch", "terminate"})
		}
		if v := m["status"]; v != nil {
			a.Status = p.word(v, thing+".status", []string{"Successful", "Failed", "InProgress"})
		}
		if v := m["cause"]; v != nil {
			a.Cause, _ = p.text(v, thing+".cause")
		}
		if v := m["member"]; v != nil {
			a.Member, _ = p.text(v, thing+".member")
		}
		out = append(out, a)
	}
	return out
}

func (p *parser) foreign(n *yaml.Node) []guard.ForeignTarget {
	const thing = "group.foreign_targets"
	out := []guard.ForeignTarget{}
	for _, item := range p.list(n, thing) {
		m := p.object(item, thing, "target", "state")
		var f guard.ForeignTarget
		for _, key := range []string{"target", "state"} {
			if m[key] == nil && item.Kind == yaml.MappingNode {
				p.fail(item, thing+"."+key, "is missing")
			}
		}
		if v := m["target"]; v != nil {
			f.Target, _ = p.text(v, thing+".target")
		}
		if v := m["state"]; v != nil {
			if s, ok := p.text(v, thing+".state"); ok {
				var problem string
				if f.State, f.Reason, problem = targetState(s); problem != "" {
					p.fail(v, thing+".state", problem)
				}
			}
		}
		out = append(out, f)
	}
	return out
}

func (p *parser) targetGroups(n *yaml.Node) []guard.TargetGroup {
	if n == nil {
		return []guard.TargetGroup{{Name: p.group, InUse: true}}
	}
	var out []guard.TargetGroup
	names := []string{}
	for _, f := range p.fields(n, "target_groups") {
		m := p.object(f.value, "target_groups."+f.key, "in_use")
		tg := guard.TargetGroup{Name: f.key, InUse: true}
		if v := m["in_use"]; v != nil {
			if used := p.flag(v, "target_groups."+f.key+".in_use"); used != nil {
				tg.InUse = *used
			}
		}
		out = append(out, tg)
		names = append(names, f.key)
	}
	p.ports[p.group] = names
	return out
}

// alarmStates are the states that a file can state for a dependency.
func alarmStates() []string {
	return []string{guard.AlarmOK, guard.AlarmRed, guard.AlarmNoData, guard.AlarmMissing}
}

func (p *parser) headDependencies(n *yaml.Node) []Dependency {
	var out []Dependency
	for _, f := range p.fields(n, "dependencies") {
		thing := "dependencies." + f.key
		m := p.object(f.value, thing, "kind", "state", "since", "missing")
		d := Dependency{Alarm: f.key, Kind: guard.DependencyHard, State: guard.AlarmOK, Missing: guard.MissingUnknown}
		if v := m["kind"]; v != nil {
			d.Kind = p.word(v, thing+".kind", []string{guard.DependencyHard, guard.DependencySoft})
		}
		if v := m["missing"]; v != nil {
			d.Missing = p.word(v, thing+".missing", []string{guard.MissingUnknown, guard.MissingOK})
		}
		p.alarm(m, thing, &d)
		out = append(out, d)
	}
	return out
}

func (p *parser) alarm(m map[string]*yaml.Node, thing string, d *Dependency) {
	if v := m["state"]; v != nil {
		d.State = p.word(v, thing+".state", alarmStates())
	}
	if v := m["since"]; v != nil {
		d.Since = p.past(v, thing+".since")
	}
}

// stepDependencies reads a step's changes: {db: ALARM} or {db: {state: ALARM, since: -2m}}.
func (p *parser) stepDependencies(n *yaml.Node, known []string) []Dependency {
	var out []Dependency
	for _, f := range p.fields(n, "dependencies") {
		thing := "dependencies." + f.key
		if !slices.Contains(known, f.key) {
			p.fail(f.at, thing, "is no dependency of the head of the file")
			continue
		}
		d := Dependency{Alarm: f.key}
		if f.value.Kind == yaml.MappingNode {
			p.alarm(p.object(f.value, thing, "state", "since"), thing, &d)
		} else {
			d.State = p.word(f.value, thing, alarmStates())
		}
		out = append(out, d)
	}
	return out
}

func (p *parser) queue(n *yaml.Node) Queue {
	m := p.object(n, "queue", "depth", "trend")
	var q Queue
	if v := m["depth"]; v != nil {
		q.Depth = p.count(v, "queue.depth")
	}
	if v := m["trend"]; v != nil {
		q.Trend = p.word(v, "queue.trend", []string{"rising", "flat", "falling"})
	}
	return q
}

// policy takes the keys and values of a policy document as they are written; the policy's own decoder judges them.
func (p *parser) policy(n *yaml.Node) []Setting {
	var out []Setting
	for _, f := range p.fields(n, "policy") {
		out = append(out, Setting{Key: f.key, Raw: p.asJSON(f.value, "policy."+f.key)})
	}
	return out
}

// asJSON writes a YAML value as JSON. A number that JSON cannot write, such as .nan, becomes a string, so that it is refused as
// the value of its key and not as broken JSON.
func (p *parser) asJSON(n *yaml.Node, thing string) json.RawMessage {
	var value any
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]json.RawMessage{}
		for _, f := range p.fields(n, thing) {
			object[f.key] = p.asJSON(f.value, under(thing, f.key))
		}
		value = object
	case yaml.SequenceNode:
		list := []json.RawMessage{}
		for i, item := range n.Content {
			list = append(list, p.asJSON(item, fmt.Sprintf("%s[%d]", thing, i)))
		}
		value = list
	case yaml.ScalarNode:
		return scalarJSON(n)
	default:
		p.fail(n, thing, "want a value, have "+kindOf(n))
	}
	raw, err := json.Marshal(value)
	if err != nil {
		p.fail(n, thing, "cannot be written as JSON: "+err.Error())
		return json.RawMessage("null")
	}
	return raw
}

func scalarJSON(n *yaml.Node) json.RawMessage {
	switch n.Tag {
	case "!!null":
		return json.RawMessage("null")
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return json.RawMessage(strconv.FormatBool(b))
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.RawMessage(n.Value)
		}
		var i int64
		if n.Tag == "!!int" && n.Decode(&i) == nil {
			return json.RawMessage(strconv.FormatInt(i, 10))
		}
	}
	raw, _ := json.Marshal(n.Value) // a string always has a JSON form
	return raw
}

// causes are the kinds of trigger that can have begun a hold.
func causes() []string {
	return []string{guard.CauseCorrelated, guard.CauseZone, guard.CauseTargetGroup, guard.CauseOnset, guard.CauseRegion, guard.CauseRolling,
		guard.CauseDependency, guard.CauseNotConverging, guard.CauseBacklog, guard.CauseOperator}
}

func (p *parser) history(n *yaml.Node) History {
	h := History{Clean: true, LastSweep: -p.s.Interval}
	if n == nil {
		return h
	}
	m := p.object(n, "history", "last_sweep", "marks", "held", "quiet_since", "clean")
	if v := m["clean"]; v != nil {
		if clean := p.flag(v, "history.clean"); clean != nil {
			h.Clean = *clean
		}
		if !h.Clean && len(m) > 1 {
			p.fail(v, "history.clean", "false leaves no history, want no other key beside it")
		}
	}
	if v := m["last_sweep"]; v != nil {
		if d := p.past(v, "history.last_sweep"); d != nil && *d == 0 {
			p.fail(v, "history.last_sweep", "0s is the first sweep of the scenario, want a time before it")
		} else if d != nil {
			h.LastSweep = *d
		}
	}
	if v := m["marks"]; v != nil {
		for _, f := range p.fields(v, "history.marks") {
			if d := p.past(f.value, "history.marks."+f.key); d != nil {
				h.Marks = append(h.Marks, PastMark{Member: f.key, At: *d})
			}
		}
	}
	if v := m["held"]; v != nil {
		h.Held = p.held(v)
	}
	if v := m["quiet_since"]; v != nil {
		h.QuietSince = p.quiet(v, h.Held)
	}
	return h
}

func (p *parser) quiet(n *yaml.Node, held *PastHold) *time.Duration {
	d := p.past(n, "history.quiet_since")
	switch {
	case held == nil:
		p.fail(n, "history.quiet_since", "stands without held")
	case d != nil && *d < held.Since:
		p.fail(n, "history.quiet_since", n.Value+" is before the hold began")
	}
	return d
}

func (p *parser) held(n *yaml.Node) *PastHold {
	m := p.object(n, "history.held", "since", "processes", "cause")
	h := &PastHold{Cause: guard.CauseCorrelated,
		Processes: []string{guard.ProcessReplaceUnhealthy, guard.ProcessHealthCheck, guard.ProcessAZRebalance}}
	if v := m["since"]; v == nil {
		p.fail(n, "history.held.since", "is missing")
	} else if d := p.past(v, "history.held.since"); d != nil {
		h.Since = *d
	}
	if v := m["processes"]; v != nil {
		h.Processes = p.words(v, "history.held.processes", processNames())
	}
	if v := m["cause"]; v != nil {
		h.Cause = p.word(v, "history.held.cause", causes())
	}
	return h
}
