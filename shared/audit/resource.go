package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

func (g *Group) ref() ref { return ref{KindGroup, g.Name} }

// attached lists every target group of the group once, those of VPC Lattice too.
func (g *Group) attached() []string { return sorted(slices.Concat(g.TargetGroups, g.LatticeGroups)) }

func (g *Group) checksWith(kind string) bool { return slices.Contains(g.HealthCheckTypes, kind) }

// byLoadBalancer says whether the word of Elastic Load Balancing or VPC Lattice terminates members.
func (g *Group) byLoadBalancer() bool {
	return g.checksWith(timing.TypeELB) || g.checksWith(timing.TypeLattice)
}

// guarded says whether Holdfast guards the group, as far as can be seen.
func (g *Group) guarded() bool { return g.Policy != nil || g.Tags[TagGuard] == "true" }

// inService lists the members that serve.
func (g *Group) inService() []Member {
	var out []Member
	for _, m := range g.Members {
		if m.Lifecycle == "InService" {
			out = append(out, m)
		}
	}
	return out
}

func (g *Group) finding(saw, sum string) Finding {
	return Finding{Kind: KindGroup, Name: g.Name, ARN: g.ARN, Where: g.Where, Saw: saw, Sum: sum}
}

// title is the name that people know a target group by.
func (t *TargetGroup) title() string { return cmp.Or(t.Name, t.ID) }

func (t *TargetGroup) ref() ref { return ref{KindTargetGroup, t.title()} }

func (t *TargetGroup) finding(saw, sum string) Finding {
	f := Finding{Kind: KindTargetGroup, Name: t.title(), Where: t.Where, Saw: saw, Sum: sum}
	if strings.HasPrefix(t.ID, "arn:") {
		f.ARN = t.ID
	}
	return f
}

// lambda says that the target is a function: it has no members, and its health check is off unless someone turns it on.
func (t *TargetGroup) lambda() bool { return t.TargetType == "lambda" }

// checksHTTP says that the target group asks its targets by HTTP, so that it has a path and a matcher. What no protocol tells is listed as
// unread.
func (v *view) checksHTTP(t *TargetGroup) bool {
	if t.lambda() {
		return false
	}
	protocol := cmp.Or(t.CheckProtocol, t.Protocol)
	if protocol == "" {
		v.unknown(t.ref(), "check_protocol")
	}
	return protocol == "HTTP" || protocol == "HTTPS"
}

func (a *Alarm) finding(saw, sum string) Finding {
	return Finding{Kind: KindAlarm, Name: a.Name, ARN: a.ARN, Where: a.Where, Saw: saw, Sum: sum}
}

// Selects says whether the check asks members of the group, suppressed or not. A tag of a group is taken to reach its members.
func (c StatusCheck) Selects(g *Group) bool {
	if c.TagKey == groupNameTag {
		return c.TagValue == g.Name
	}
	if value, ok := g.Tags[c.TagKey]; ok && c.TagKey != "" && value == c.TagValue {
		return true
	}
	return slices.ContainsFunc(g.Members, func(m Member) bool { return slices.Contains(c.Instances, m.ID) })
}

// selector says in words how the check finds its instances.
func (c StatusCheck) selector() string {
	if c.TagKey != "" {
		return fmt.Sprintf("tag %s = %s", c.TagKey, c.TagValue)
	}
	return guard.Counted(len(c.Instances), "instance") + " by id"
}

// part tells the association from others of the same check. Instances that are named by id come and go, and stand together.
func (c StatusCheck) part() string {
	if c.TagKey != "" {
		return c.selector()
	}
	return "instances by id"
}

// arguments are those of the command that takes the association away.
func (c StatusCheck) arguments() []string {
	if c.TagKey != "" {
		return []string{"--target-tag-associations", "Key=" + c.TagKey + ",Value=" + c.TagValue}
	}
	return append([]string{"--instance-ids"}, c.Instances...)
}

// titleOf is the name of a target group by its id.
func (v *view) titleOf(id string) string {
	if t, ok := v.byID[id]; ok {
		return t.title()
	}
	return id
}

// partOf is the name of a target group among those with the ids, or its id where another one has the same name.
func (v *view) partOf(t *TargetGroup, ids []string) string {
	for _, id := range ids {
		if id != t.ID && v.titleOf(id) == t.title() {
			return t.ID
		}
	}
	return t.title()
}

func (v *view) titles(ids []string) string {
	var names []string
	for _, id := range ids {
		names = append(names, v.titleOf(id))
	}
	return strings.Join(sorted(names), ", ")
}

// sorted is the list in order, each once.
func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
