package daily

import (
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// The operations of package collect, as its unread entries name them.
const (
	readGroups       = "DescribeAutoScalingGroups"
	readTargetGroups = "DescribeTargetGroups"
	readTopic        = "GetTopicAttributes of "
	kindAccount      = "account"
)

// read is a kind of resource and an operation on it.
type read struct{ kind, what string }

// needs is what a rule's answer hangs on beside the account itself.
type needs struct {
	reads []read
	// excuses are those of them that keep the rule silent about a fault, so that without them it finds too much.
	excuses []read
	// promises says that it looks at what services promise.
	promises bool
}

// rulesNeed says for each rule which reads it looks at. Of a read that failed, its findings are neither gone nor less severe.
func rulesNeed() map[string]needs {
	of := func(kind string, whats ...string) (out []read) {
		for _, what := range whats {
			out = append(out, read{kind, what})
		}
		return out
	}
	groups, targets := of(audit.KindGroup, readGroups), of(audit.KindTargetGroup, readTargetGroups)
	launches, refreshes := of(audit.KindGroup, "DescribeScalingActivities"), of(audit.KindGroup, "DescribeInstanceRefreshes")
	beats := slices.Concat(of(audit.KindGroup, "the members' heartbeats"), of(audit.KindGuardian, "heartbeats"))
	holds := of(audit.KindGroup, "the group's holds", "the group's suspended processes")
	attributes, tags := of(audit.KindTargetGroup, "DescribeTargetGroupAttributes"), of(audit.KindTargetGroup, "DescribeTags")
	health, metrics := of(audit.KindTargetGroup, "DescribeTargetHealth"), of(audit.KindTargetGroup, "GetMetricData")
	checks := of(audit.KindStatusCheck, "DescribeApplicationStatusChecks", "DescribeApplicationStatusCheckAssociations", "DescribeApplicationStatus")
	policies, alarms := of(audit.KindGuardian, "GetParametersByPath"), of(audit.KindAlarm, "DescribeAlarms")
	own, topics := of(audit.KindGuardian, "DescribeAlarmsForMetric", "DescribeAlarms"), of(audit.KindGuardian, readTopic)

	plain := func(all ...[]read) needs { return needs{reads: slices.Concat(all...)} }
	promised := func(all ...[]read) needs { return needs{reads: slices.Concat(all...), promises: true} }
	excused := func(by []read, all ...[]read) needs { return needs{reads: slices.Concat(all...), excuses: by} }
	suppressed := checks[2:]
	return map[string]needs{
		"HF001": plain(groups, targets), "HF002": plain(groups, targets), "HF003": promised(groups, targets, tags), "HF004": plain(groups, targets),
		"HF005": plain(groups, targets, launches, health), "HF006": excused(suppressed, checks, groups), "HF007": promised(targets, tags), "HF008": promised(targets, tags),
		"HF009": promised(targets, tags), "HF010": plain(targets), "HF011": promised(targets, attributes, tags), "HF012": plain(targets, attributes),
		"HF013": plain(targets, attributes, metrics), "HF014": plain(targets), "HF015": plain(targets, health), "HF016": plain(groups, targets),
		"HF017": plain(targets, health), "HF018": plain(groups), "HF019": plain(groups), "HF020": plain(groups), "HF021": plain(groups), "HF022": plain(groups),
		"HF023": plain(groups, refreshes), "HF024": plain(groups, holds), "HF025": excused(launches, groups, launches), "HF026": plain(groups, policies, alarms),
		"HF027": excused(own, groups, policies, alarms, own), "HF028": plain(groups, policies, alarms, own), "HF029": plain(groups, policies, alarms),
		"HF030": excused(launches, groups, policies, beats, launches), "HF031": excused(launches, groups, policies, beats, launches), "HF032": plain(groups, policies),
		"HF033": plain(groups, policies), "HF034": plain(own, topics), "HF035": plain(groups, targets), "HF036": plain(own),
	}
}

// unread is what could not be read.
type unread struct {
	account audit.Account
	needs   map[string]needs
	// known are all reads that a rule needs, with the topic's name left out.
	known map[read]bool
	// targets are the names of the target groups of each group; there are the groups and target groups that were listed.
	targets map[string][]string
	there   map[[2]string]bool
	titles  map[string]string
	// names are the names in the account by what a remembered finding without a name has instead, for each rule and kind.
	names map[[2]string]map[string]string
}

func unreadOf(a audit.Account) *unread {
	u := &unread{
		account: a, needs: rulesNeed(), known: map[read]bool{}, targets: map[string][]string{}, there: map[[2]string]bool{}, titles: map[string]string{},
		names: map[[2]string]map[string]string{},
	}
	for _, n := range u.needs {
		for _, r := range n.reads {
			u.known[r] = true
		}
	}
	for _, t := range a.TargetGroups {
		name := t.Name
		if name == "" {
			name = t.ID
		}
		u.titles[t.ID] = name
		u.there[[2]string{audit.KindTargetGroup, name}] = true
	}
	for _, g := range a.Groups {
		u.there[[2]string{audit.KindGroup, g.Name}] = true
		for _, id := range slices.Concat(g.TargetGroups, g.LatticeGroups) {
			u.targets[g.Name] = append(u.targets[g.Name], u.title(id))
		}
	}
	return u
}

// title is the name of a target group, which an unread entry or a group may call by its ARN.
func (u *unread) title(id string) string {
	if name, ok := u.titles[id]; ok {
		return name
	}
	if _, rest, ok := strings.Cut(id, ":targetgroup/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	return id
}

// readOf is what an entry is about; other says that it is none of package collect's, so that it counts for all of its kind.
func (u *unread) readOf(entry audit.Unread) (r read, topic string, other bool) {
	r = read{entry.Kind, entry.What}
	if arn, ok := strings.CutPrefix(entry.What, readTopic); ok {
		r.what, topic = readTopic, arn
	}
	return r, topic, !u.known[r]
}

// touches says whether a finding may be missing, or be less severe, only because something that its rule looks at was not read. A group or
// target group that a complete list does not have is gone, whatever else was not read.
func (u *unread) touches(b Brief) bool {
	if b.Name != "" && u.deleted(b.Kind, b.Name) {
		return false
	}
	n, ok := u.needs[b.Rule]
	if b.Name == "" && u.whole(b.Kind) {
		return false // its name would have been found
	}
	return u.hangs(b, n.reads, !ok)
}

// excuses says whether a finding may be there only because something was not read.
func (u *unread) excuses(b Brief) bool { return u.hangs(b, u.needs[b.Rule].excuses, false) }

// hangs says whether one of the reads failed for a finding's resource, or anything if the reads are not known.
func (u *unread) hangs(b Brief, reads []read, unknown bool) bool {
	return slices.ContainsFunc(u.account.Unread, func(entry audit.Unread) bool {
		r, topic, other := u.readOf(entry)
		switch {
		case entry.Kind == kindAccount && len(reads) > 0 || unknown:
			return true
		case other && !slices.ContainsFunc(reads, func(needed read) bool { return needed.kind == entry.Kind }):
			return false
		case !other && !slices.Contains(reads, r):
			return false
		case topic != "" && b.Name != "":
			return topic == b.Name
		}
		return u.about(b, entry)
	})
}

// about says whether an entry that a rule needs is about a finding's resource, as far as names tell.
func (u *unread) about(b Brief, entry audit.Unread) bool {
	if entry.Name == "" || b.Name == "" {
		return true
	}
	name := entry.Name
	if entry.Kind == audit.KindTargetGroup {
		name = u.title(name)
	}
	switch {
	case entry.Kind == audit.KindGuardian:
		return true // its entries name metrics and topics
	case entry.Kind == b.Kind:
		return name == b.Name
	case entry.Kind == audit.KindTargetGroup && b.Kind == audit.KindGroup:
		return slices.Contains(u.targets[b.Name], name)
	}
	return true
}

// whole says that the list of a kind's resources is complete, so that who is not in it is gone.
func (u *unread) whole(kind string) bool { return u.deleted(kind, "") }

// deleted says that a complete list does not have a group or target group.
func (u *unread) deleted(kind, name string) bool {
	list, ok := map[string]string{audit.KindGroup: readGroups, audit.KindTargetGroup: readTargetGroups}[kind]
	if !ok || u.there[[2]string{kind, name}] {
		return false
	}
	return !slices.ContainsFunc(u.account.Unread, func(entry audit.Unread) bool {
		if entry.Kind == kindAccount {
			return true
		}
		_, _, other := u.readOf(entry)
		mayHide := entry.Kind == kind && (other || entry.What == list)
		return mayHide && (entry.Name == "" || entry.Name == name || u.title(entry.Name) == name)
	})
}

// named gives a remembered finding without a name its name, if its resource is still there.
func (u *unread) named(b Brief) Brief {
	if b.Name != "" {
		return b
	}
	key := [2]string{b.Rule, b.Kind}
	if u.names[key] == nil {
		u.names[key] = map[string]string{}
		for _, name := range u.namesOf(b.Kind) {
			u.names[key][idOf(b.Rule, b.Kind, name)] = name
		}
	}
	b.Name = u.names[key][b.Hash]
	return b
}

// namesOf are the names of all resources of a kind, also of those that are only named as unread.
func (u *unread) namesOf(kind string) []string {
	var out []string
	for key := range u.there {
		if key[0] == kind {
			out = append(out, key[1])
		}
	}
	for _, entry := range u.account.Unread {
		if entry.Kind == kind {
			out = append(out, entry.Name, u.title(entry.Name))
		}
	}
	switch kind {
	case audit.KindAlarm:
		for _, a := range u.account.Alarms {
			out = append(out, a.Name)
		}
	case audit.KindStatusCheck:
		for _, c := range u.account.StatusChecks {
			out = append(out, c.ID)
		}
	case audit.KindGuardian:
		for _, t := range u.account.Guardian.Topics {
			out = append(out, t.ARN)
		}
	}
	return out
}
