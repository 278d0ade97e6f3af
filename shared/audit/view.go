package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// Tags and health check types that rules know.
const (
	// TagService on a target group names the service whose promises it must keep.
	TagService = "holdfast:service"
	// TagGuard with the value "true" on a group puts it under Holdfast's guard.
	TagGuard = "holdfast:guard"

	groupNameTag = "aws:autoscaling:groupName"
)

// Kinds of resources, as findings and unread entries name them.
const (
	KindGroup       = "group"
	KindTargetGroup = "target-group"
	KindAlarm       = "alarm"
	KindStatusCheck = "status-check"
	KindGuardian    = "guardian"
)

// ref names a resource.
type ref struct{ kind, name string }

// view is an account, indexed, with what rules wanted to know and could not.
type view struct {
	account  *Account
	promises map[string]Promise
	// groups are those that are judged: no group that AWS itself manages.
	groups       []*Group
	targetGroups []*TargetGroup
	byID         map[string]*TargetGroup
	// users are the groups of each target group, by its id.
	users   map[string][]*Group
	alarms  map[string]*Alarm
	skipped []Unread
	missing map[ref]map[string]bool
}

func newView(a *Account, o Options) *view {
	v := &view{
		account: a, promises: o.Promises, byID: map[string]*TargetGroup{}, users: map[string][]*Group{}, alarms: map[string]*Alarm{},
		missing: map[ref]map[string]bool{},
	}
	for i := range a.TargetGroups {
		t := &a.TargetGroups[i]
		v.targetGroups = append(v.targetGroups, t)
		v.byID[t.ID] = t
	}
	for i := range a.Groups {
		g := &a.Groups[i]
		if g.Operator != "" {
			v.skipped = append(v.skipped, Unread{Kind: KindGroup, Name: g.Name, What: "group", Why: "not judged: it is managed by " + g.Operator + ", and only that service may change it"})
			continue
		}
		v.groups = append(v.groups, g)
		for _, id := range g.attached() {
			v.users[id] = append(v.users[id], g)
		}
	}
	for i := range a.Alarms {
		v.alarms[a.Alarms[i].Name] = &a.Alarms[i]
	}
	return v
}

// judging lists the target groups whose word terminates members of the group.
func (v *view) judging(g *Group) []string {
	var ids []string
	for _, by := range []struct {
		kind, property string
		ids            []string
	}{{timing.TypeELB, "target_groups", g.TargetGroups}, {timing.TypeLattice, "lattice_groups", g.LatticeGroups}} {
		if !g.checksWith(by.kind) {
			continue
		}
		if by.ids == nil {
			v.unknown(g.ref(), by.property)
		}
		ids = append(ids, by.ids...)
	}
	return sorted(ids)
}

// have returns what a rule asks for; when it is unknown, it is listed as unread and the rule says nothing.
func have[T any](v *view, r ref, property string, p *T) (value T, ok bool) {
	if p == nil {
		v.unknown(r, property)
		return value, false
	}
	return *p, true
}

func (v *view) unknown(r ref, property string) {
	if v.missing[r] == nil {
		v.missing[r] = map[string]bool{}
	}
	v.missing[r][property] = true
}

// typesOf are the group's health check types; nil, and listed as unread, when they are unknown.
func (v *view) typesOf(g *Group) []string {
	if g.HealthCheckTypes == nil {
		v.unknown(g.ref(), "health_check_types")
	}
	return g.HealthCheckTypes
}

// unread lists what was not read and not judged: once for each resource, and once for all of a kind when none of them tells a property.
func (v *view) unread() []Unread {
	const why = "unknown: the rules that need it said nothing"
	out := slices.Concat(v.account.Unread, v.skipped)
	listed := map[Unread]bool{}
	for _, u := range v.account.Unread {
		listed[Unread{Kind: u.Kind, Name: u.Name, What: u.What}] = true
	}
	nowhere := v.nowhere()
	for u := range nowhere {
		u.Why = why
		out = append(out, u)
	}
	for r, properties := range v.missing {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !listed[Unread{Kind: r.kind, Name: r.name, What: name}] && !nowhere[Unread{Kind: r.kind, What: name}] {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			out = append(out, Unread{Kind: r.kind, Name: r.name, What: strings.Join(names, ", "), Why: why})
		}
	}
	slices.SortFunc(out, func(a, b Unread) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why))
	})
	return slices.Compact(out)
}

// switchUnread lists a guardian whose mode is not told: nobody can then say whether it acts.
func (v *view) switchUnread() {
	if g := v.account.Guardian; g.Installed && g.Mode == "" && !v.account.Static {
		v.skipped = append(v.skipped, Unread{Kind: KindGuardian, What: "mode", Why: "unknown: the switch was not read, or nobody has set it"})
	}
}

// nowhere are the properties that no resource of their kind tells, of two resources or more.
func (v *view) nowhere() map[Unread]bool {
	total := map[string]int{KindGroup: len(v.groups), KindTargetGroup: len(v.targetGroups), KindAlarm: len(v.account.Alarms)}
	count := map[Unread]int{}
	for r, properties := range v.missing {
		for name := range properties {
			count[Unread{Kind: r.kind, What: name}]++
		}
	}
	out := map[Unread]bool{}
	for u, n := range count {
		if n > 1 && n == total[u.Kind] {
			out[u] = true
		}
	}
	return out
}

// complete fills in what every finding of a rule has.
func (v *view) complete(r Rule, f Finding) Finding {
	f.Rule = r.ID
	f.Severity = cmp.Or(f.Severity, r.Severity)
	f.Fix = r.Fix.fill(v.account.Region, f)
	f.detail = nil
	return f
}
