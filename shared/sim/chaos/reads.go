package chaos

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// staleFor is how old the picture of a stale read may be.
const staleFor = 75 * time.Second

// answer is an older answer of a read.
type answer struct {
	at    time.Time
	group guard.Group
	beats map[string]guard.Beat
}

// older gives the last answer of a read if it is young enough, and keeps the new one.
func (s *stage) older(key string, now answer, stale bool) answer {
	old, ok := s.book.answers[key]
	if stale && ok && s.cloud.Now().Sub(old.at) <= staleFor {
		return old
	}
	now.at = s.cloud.Now()
	s.book.answers[key] = now
	return now
}

// Guarded lists the groups.
func (p *process) Guarded(ctx context.Context) (out []guard.Group, err error) {
	err = p.call(opGuarded, "", func(m mishap) error {
		if m.partial {
			return fmt.Errorf("a page is missing: %w", fault.Partial)
		}
		all, err := p.world.Guarded(ctx)
		for _, g := range all {
			g = p.older(opGroup+g.Name, answer{group: g}, m.stale).group
			p.picture(g.Name).suspended = g.Suspended
			out = append(out, g)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Group reads one group.
func (p *process) Group(ctx context.Context, name string) (out guard.Group, err error) {
	err = p.call(opGroup, name, func(m mishap) error {
		if m.partial {
			return fmt.Errorf("the answer has no group: %w", fault.Partial)
		}
		g, err := p.world.Group(ctx, name)
		if err == nil {
			out = p.older(opGroup+name, answer{group: g}, m.stale).group
			p.picture(name).suspended = out.Suspended
		}
		return err
	})
	return out, err
}

// Details adds what else there is to a group.
func (p *process) Details(ctx context.Context, g guard.Group) (guard.Group, guard.Reads) {
	pic := p.picture(g.Name)
	pic.began = p.cloud.Now()
	var reads guard.Reads
	full := g
	err := p.call(opDetails, g.Name, func(m mishap) error {
		full, reads = p.world.Details(ctx, g)
		old := p.older(opDetails+g.Name, answer{group: full}, m.stale).group
		full = attach(g, old)
		if m.partial {
			full, reads = lose(p.faults, full)
		}
		return nil
	})
	if err != nil {
		full, reads = g, guard.Reads{Targets: err.Error(), Activities: err.Error(), OptOuts: err.Error()}
	}
	pic.group, pic.reads = full, reads
	pic.looks++
	return full, reads
}

// attach gives a group the details of an answer that may be older than its list of members.
func attach(g, details guard.Group) guard.Group {
	out := details
	out.Members = slices.Clone(g.Members)
	out.Suspended, out.Desired, out.Min, out.Max = g.Suspended, g.Desired, g.Min, g.Max
	for i := range out.Members {
		for _, m := range details.Members {
			if m.ID == out.Members[i].ID {
				out.Members[i].Targets, out.Members[i].OptedOut = m.Targets, m.OptedOut
			}
		}
	}
	return out
}

// lose takes one part out of an answer, as a page that is missing does, and says so.
func lose(d dice, g guard.Group) (guard.Group, guard.Reads) {
	why := fault.Partial.Error()
	switch d.IntN(4) {
	case 0:
		for i := range g.Members {
			if d.chance(0.5) {
				g.Members[i].Targets = nil
			}
		}
		return g, guard.Reads{Targets: why}
	case 1:
		g.Activities = g.Activities[len(g.Activities)/2:]
		return g, guard.Reads{Activities: why}
	case 2:
		for i := range g.Members {
			g.Members[i].OptedOut = false
		}
		return g, guard.Reads{OptOuts: why}
	}
	g.Members = g.Members[len(g.Members)/2:]
	return g, guard.Reads{Group: why}
}

// Beats reads the heartbeats.
func (p *process) Beats(ctx context.Context, g guard.Group) (map[string]guard.Beat, error) {
	pic := p.picture(g.Name)
	out := map[string]guard.Beat{}
	err := p.call(opBeats, g.Name, func(m mishap) error {
		read, err := p.world.Beats(ctx, g)
		if err != nil {
			return err
		}
		old := p.older(opBeats+g.Name, answer{beats: read}, m.stale).beats
		for id := range read {
			out[id] = old[id]
		}
		if !m.partial {
			return nil
		}
		for _, mem := range g.Members {
			if p.faults.chance(0.3) {
				out[mem.ID] = guard.Beat{Unreadable: true}
				err = fmt.Errorf("keys were not processed: %w", fault.Partial)
			}
		}
		return err
	})
	if err != nil {
		for _, m := range g.Members {
			if _, ok := out[m.ID]; !ok {
				out[m.ID] = guard.Beat{Unreadable: true}
			}
		}
	}
	pic.beatsErr = err
	pic.group.Members = slices.Clone(pic.group.Members)
	for i := range pic.group.Members {
		pic.group.Members[i].Beat = out[pic.group.Members[i].ID]
	}
	p.book.saw(pic, pic.began, pic.began.Add(p.skew))
	return out, err
}

// Alarms reads alarms by name.
func (p *process) Alarms(ctx context.Context, names []string) map[string]guard.AlarmReading {
	out := map[string]guard.AlarmReading{}
	err := p.call(opAlarms, "", func(m mishap) error {
		out = p.world.Alarms(ctx, names)
		if m.partial {
			out[names[0]] = guard.AlarmReading{State: guard.AlarmUnread, Detail: fault.Partial.Error()}
		}
		return nil
	})
	if err != nil {
		for _, n := range names {
			out[n] = guard.AlarmReading{State: guard.AlarmUnread, Detail: err.Error()}
		}
	}
	p.alarms = out
	return out
}

// Policies reads the layers and the switch.
func (p *process) Policies(_ context.Context, groups []string) runner.PolicySet {
	var set runner.PolicySet
	err := p.call(opPolicies, "", func(m mishap) error {
		set = p.fleet.policies(groups)
		if m.partial {
			for _, layers := range set.Groups {
				layers[1] = guard.Layer{Name: layers[1].Name, ReadError: fault.Partial.Error()}
			}
		}
		return nil
	})
	if err != nil {
		set = p.fleet.unread(groups, err.Error())
	}
	p.policies = set
	return set
}

// policy is what the layers and the switch that this process has read come to for one group.
func (p *process) policy(group string) guard.Policy {
	pic := p.picture(group)
	if pic.policy != nil {
		return *pic.policy
	}
	layers := append([]guard.Layer{p.policies.Defaults}, p.policies.Groups[group]...)
	for i := range layers {
		if layers[i].Name == guard.LayerDefaults {
			layers[i].LastGood = p.region.LastGoodDefaults
		} else {
			layers[i].LastGood = pic.prior.LastGood[layers[i].Name]
		}
	}
	sw := p.policies.Switch
	sw.LastGood = p.region.LastGoodMode
	resolved := p.book.resolve(layers, sw).Policy
	pic.policy = &resolved
	return resolved
}

// resolve is guard.Resolve, which answers the same to the same layers, with a memory.
func (b *book) resolve(layers []guard.Layer, sw guard.Switch) guard.Resolution {
	content := contentOf(layers, sw)
	resolved, ok := b.policies[content]
	if !ok {
		resolved = guard.Resolve(layers, sw)
		b.policies[content] = resolved
	}
	return resolved
}

// contentOf tells apart what comes to different policies.
func contentOf(layers []guard.Layer, sw guard.Switch) string {
	var b strings.Builder
	for _, l := range layers {
		for _, part := range []string{l.Name, string(l.Raw), l.ReadError, string(l.LastGood)} {
			b.WriteString(part)
			b.WriteByte(0)
		}
	}
	for _, part := range []string{sw.Value, strconv.FormatBool(sw.Found), sw.ReadError, sw.LastGood} {
		b.WriteString(part)
		b.WriteByte(0)
	}
	return b.String()
}
