package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// sweepsMax bounds the sweeps of a scenario: a fortnight of minutes.
const sweepsMax = 14 * 24 * 60

// changeKeys are the step keys that may also stand under one group.
func changeKeys() []string {
	return []string{"fleet", "group", "dependencies", "policy", "queue", "reread", "reads", "calls", "trigger", "expect"}
}

func (p *parser) steps(n *yaml.Node) {
	list := p.list(n, "steps")
	if n.Kind == yaml.SequenceNode && len(list) == 0 {
		p.fail(n, "steps", "is empty, want at least one")
	}
	next, total := time.Duration(0), 0
	for _, item := range list {
		step := Step{Line: item.Line}
		m := p.object(item, "", append([]string{"at", "repeat", "until", "groups"}, changeKeys()...)...)
		var count int
		step.Times, count = p.times(item, m, next)
		if len(step.Times) > 0 {
			next = step.Times[len(step.Times)-1] + p.s.Interval
		}
		if total += count; total > sweepsMax {
			p.fail(item, "steps", fmt.Sprintf("%d sweeps, want at most %d", total, sweepsMax))
			return
		}
		p.stepGroups(m, &step)
		p.s.Steps = append(p.s.Steps, step)
	}
}

// times computes the moments of a step's sweeps, and how many there are to be; next is one interval after the sweep before.
func (p *parser) times(item *yaml.Node, m map[string]*yaml.Node, next time.Duration) (out []time.Duration, count int) {
	first, count := next, 1
	if n := m["at"]; n != nil {
		d := p.age(n, "at")
		if d == nil {
			return []time.Duration{next}, 1
		}
		if len(p.s.Steps) > 0 && *d < next-p.s.Interval {
			p.fail(n, "at", fmt.Sprintf("%s goes back, the sweep before is at %s", n.Value, spanText(next-p.s.Interval)))
			return []time.Duration{next}, 1
		}
		first = *d
	}
	if n := m["repeat"]; n != nil {
		if c := p.count(n, "repeat"); c != nil && *c == 0 {
			p.fail(n, "repeat", "0, want 1 or more")
		} else if c != nil {
			count = *c
			if m["at"] != nil {
				count++
			}
		}
		if m["until"] != nil {
			p.fail(item, "repeat", "stands beside until, want one of the two")
		}
	}
	if n := m["until"]; n != nil {
		if d := p.age(n, "until"); d != nil && *d < first {
			p.fail(n, "until", fmt.Sprintf("%s is before the first sweep of the step, at %s", n.Value, spanText(first)))
		} else if d != nil {
			count = int((*d-first)/p.s.Interval) + 1
		}
	}
	for i := range min(count, sweepsMax+1) {
		out = append(out, first+time.Duration(i)*p.s.Interval)
	}
	return out, count
}

// spanText writes a time in whole seconds, as the format does.
func spanText(d time.Duration) string { return fmt.Sprintf("%ds", int64(d/time.Second)) }

// stepGroups reads what a step says for each group: what stands at its top, then what stands under the group.
func (p *parser) stepGroups(m map[string]*yaml.Node, step *Step) {
	own := map[string]map[string]*yaml.Node{}
	if n := m["groups"]; n != nil {
		for _, f := range p.fields(n, "groups") {
			if !slices.ContainsFunc(p.s.Groups, func(g Group) bool { return g.Name == f.key }) {
				p.fail(f.at, "groups."+f.key, "unknown group")
				continue
			}
			own[f.key] = p.object(f.value, "groups."+f.key, changeKeys()...)
		}
	}
	if n := m["fleet"]; n != nil && len(p.s.Groups) > 1 {
		p.fail(n, "fleet", "stands beside several groups, want it under one of them")
		delete(m, "fleet")
	}
	for _, g := range p.s.Groups {
		p.group = g.Name
		c := Change{Trigger: "sweep", Reads: map[string]string{}, Calls: map[string]string{}}
		p.change(&c, g, m)
		if mine := own[g.Name]; mine != nil {
			p.change(&c, g, mine)
		}
		step.Changes = append(step.Changes, c)
	}
}

func (p *parser) change(c *Change, g Group, m map[string]*yaml.Node) {
	p.statement(&c.Statement, g, m)
	if n := m["reread"]; n != nil {
		if c.Reread == nil {
			c.Reread = &Statement{}
		}
		p.statement(c.Reread, g, p.object(n, "reread", "fleet", "group", "dependencies"))
	}
	if n := m["reads"]; n != nil {
		for _, f := range p.fields(n, "reads") {
			p.oneOf(f, "reads", sources())
			c.Reads[f.key] = p.word(f.value, "reads."+f.key, []string{readFailed, readPartial})
		}
	}
	if n := m["calls"]; n != nil {
		for _, f := range p.fields(n, "calls") {
			p.oneOf(f, "calls", neverKeys())
			c.Calls[f.key] = p.word(f.value, "calls."+f.key, answers())
		}
	}
	if n := m["trigger"]; n != nil {
		c.Trigger = p.word(n, "trigger", []string{"sweep", "alarm", "manual"})
		if c.Trigger == "alarm" && len(p.alarmNames()) == 0 {
			p.fail(n, "trigger", "alarm, but the file has no dependency")
		}
	}
	if n := m["expect"]; n != nil {
		c.Expect = p.expect(n)
	}
}

func (p *parser) statement(s *Statement, g Group, m map[string]*yaml.Node) {
	if n := m["fleet"]; n != nil {
		s.Fleet = append(s.Fleet, p.fleet(n, false)...)
	}
	if n := m["group"]; n != nil {
		s.Settings = append(s.Settings, p.settings(n))
	}
	if n := m["dependencies"]; n != nil {
		known := []string{}
		for _, d := range g.Start.Dependencies {
			known = append(known, d.Alarm)
		}
		s.Dependencies = append(s.Dependencies, p.stepDependencies(n, known)...)
	}
	if n := m["policy"]; n != nil {
		s.Policy = append(s.Policy, p.policy(n)...)
	}
	if n := m["queue"]; n != nil {
		s.Queue = append(s.Queue, p.queue(n))
	}
}

// alarmNames are the dependencies of the file, in its order.
func (p *parser) alarmNames() []string { return p.s.alarmNames() }

func (s *Scenario) alarmNames() []string {
	var out []string
	for _, g := range s.Groups {
		for _, d := range g.Start.Dependencies {
			if !slices.Contains(out, d.Alarm) {
				out = append(out, d.Alarm)
			}
		}
	}
	return out
}

func (p *parser) oneOf(f field, thing string, keys []string) {
	if !slices.Contains(keys, f.key) {
		p.fail(f.at, under(thing, f.key), "unknown key, want one of "+strings.Join(keys, ", "))
	}
}
