package scenario

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// defaultPort is the port of a registration for which the file names none.
const defaultPort = 80

// settledAge is how long a member has been InService when the file does not say.
const settledAge = 5 * 24 * time.Hour

// stated is the world of one group as the file states it, with the guard's own calls.
type stated struct {
	// group has everything but members, suspensions and dependencies.
	group     guard.Group
	suspended map[string]string
	members   []*member
	alarms    []guard.DependencyReading
	queue     guard.QueueReading
	policy    []Setting
	// begun says that the head of the file is read: who comes now comes by a step.
	begun bool
}

// member is one instance as stated.
type member struct {
	guard.Member
	// fixed says that the present step states the group's mark, so that no call changes it.
	fixed bool
	// entered and pending are when it entered InService and Pending, if the file says so.
	entered, pending time.Time
	// unported says, by target group, that no row has named a port there yet.
	unported          map[string]bool
	abnormal, shifted bool
	beat              BeatToken
	// stamp is the last beat of a silent member.
	stamp time.Time
	agent string
}

// newStated builds the world before the first step.
func newStated(g Group, index int) *stated {
	s := &stated{suspended: map[string]string{}, queue: guard.QueueReading{Trend: "flat"}}
	s.group = guard.Group{
		ARN: fmt.Sprintf("arn:aws:autoscaling:eu-central-1:123456789012:autoScalingGroup:00000000-0000-4000-8000-%012d:autoScalingGroupName/%s",
			index+1, g.Name),
		Name: g.Name, OptedIn: true, Desired: -1, Max: 100, HealthCheckTypes: []string{"EC2", "ELB"}, Grace: 300 * time.Second,
		TargetGroups: g.TargetGroups,
	}
	for _, d := range g.Start.Dependencies {
		s.alarms = append(s.alarms, guard.DependencyReading{Dependency: guard.Dependency{Alarm: d.Alarm, Kind: d.Kind, Missing: d.Missing}})
	}
	s.apply(g.Start, Start())
	for _, m := range s.members {
		m.fixed = false
	}
	if s.group.Desired < 0 {
		s.group.Desired = s.present()
	}
	s.group.Max = max(s.group.Max, s.group.Desired)
	s.begun = true
	return s
}

// present is the weight of the members that are InService or Pending.
func (s *stated) present() int {
	n := 0
	for _, m := range s.members {
		if m.Lifecycle == "InService" || pending(m.Lifecycle) {
			if s.group.Weighted {
				n += max(1, m.Weight)
			} else {
				n++
			}
		}
	}
	return n
}

func pending(lifecycle string) bool {
	return lifecycle == "Pending" || lifecycle == "Pending:Wait" || lifecycle == "Pending:Proceed"
}

// apply lays a statement over the world; now is when it is made.
func (s *stated) apply(c Statement, now time.Time) {
	for _, row := range c.Fleet {
		s.row(row, now)
	}
	for _, set := range c.Settings {
		s.settings(set, now)
	}
	for _, d := range c.Dependencies {
		s.alarm(d, now)
	}
	for _, p := range c.Policy {
		s.setPolicy(p)
	}
	for _, q := range c.Queue {
		if q.Depth != nil {
			s.queue.Depth = int64(*q.Depth)
		}
		s.queue.Trend = cmp.Or(q.Trend, s.queue.Trend)
	}
}

func (s *stated) find(id string) *member {
	for _, m := range s.members {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func (s *stated) row(row Row, now time.Time) {
	for _, id := range row.Members {
		if row.Gone {
			s.members = slices.DeleteFunc(s.members, func(m *member) bool { return m.ID == id })
			continue
		}
		m := s.find(id)
		if m == nil {
			m = s.newMember(id)
			s.members = append(s.members, m)
			if row.Tokens.Entered == nil && cmp.Or(row.Tokens.Lifecycle, "InService") == "InService" && s.begun {
				m.entered = now.Add(-settledAge) // a member that comes by a step is no newcomer unless the file says so
			}
		}
		m.apply(row.Tokens, now)
	}
}

func (s *stated) newMember(id string) *member {
	m := &member{
		Member:   guard.Member{ID: id, Lifecycle: "InService", Zone: "a", LaunchTemplate: "1", InstanceType: "m7g.large", Weight: 1},
		unported: map[string]bool{}, beat: BeatToken{Age: 15 * time.Second, Status: "ok"},
	}
	for _, tg := range s.group.TargetGroups {
		m.Targets = append(m.Targets, guard.Target{Group: tg.Name, Port: defaultPort, State: "healthy"})
		m.unported[tg.Name] = true
	}
	return m
}

func (m *member) apply(t Tokens, now time.Time) {
	if t.Lifecycle != "" && t.Lifecycle != m.Lifecycle {
		m.Lifecycle, m.entered, m.pending = t.Lifecycle, time.Time{}, time.Time{}
	}
	if t.Mark != "" {
		m.Unhealthy, m.fixed = t.Mark == "Unhealthy", true
	}
	for _, target := range t.Targets {
		m.target(target)
	}
	if t.Beat != nil {
		m.beat = *t.Beat
		m.stamp = now.Add(-t.Beat.Age)
	}
	if t.Entered != nil {
		m.entered = now.Add(-*t.Entered)
	}
	if t.Pending != nil {
		m.pending = now.Add(-*t.Pending)
	}
	m.Zone = cmp.Or(t.Zone, m.Zone)
	m.LaunchTemplate = cmp.Or(t.LaunchTemplate, m.LaunchTemplate)
	m.InstanceType = cmp.Or(t.Type, m.InstanceType)
	m.agent = cmp.Or(t.Agent, m.agent)
	m.Weight = cmp.Or(t.Weight, m.Weight)
	for into, value := range map[*bool]*bool{&m.Protected: t.Protected, &m.OptedOut: t.OptedOut, &m.shifted: t.Shifted, &m.abnormal: t.Abnormal} {
		if value != nil {
			*into = *value
		}
	}
}

func (m *member) target(t TargetToken) {
	if t.Port != 0 && m.unported[t.Group] {
		m.Targets = slices.DeleteFunc(m.Targets, func(o guard.Target) bool { return o.Group == t.Group })
		m.unported[t.Group] = false
	}
	found := false
	for i := range m.Targets {
		o := &m.Targets[i]
		if (t.Group == "" || o.Group == t.Group) && (t.Port == 0 || o.Port == t.Port) {
			o.State, o.Reason, found = t.State, t.Reason, true
		}
	}
	if !found && t.Port != 0 {
		m.Targets = append(m.Targets, guard.Target{Group: t.Group, Port: t.Port, State: t.State, Reason: t.Reason})
	}
}

func (s *stated) settings(set Settings, now time.Time) {
	g := &s.group
	put(&g.Desired, set.Desired)
	put(&g.Min, set.Min)
	put(&g.Max, set.Max)
	put(&g.Weighted, set.Weights)
	put(&g.Grace, set.Grace)
	put(&g.Operator, set.Operator)
	put(&g.Refresh, set.Refresh)
	put(&g.OptedIn, set.OptedIn)
	if set.HealthCheck != nil {
		g.HealthCheckTypes = set.HealthCheck
	}
	if set.Suspended != nil {
		s.suspended = map[string]string{}
		for _, p := range *set.Suspended {
			s.suspended[p.Process] = p.Reason
		}
	}
	if set.Activities != nil {
		g.Activities = nil
		for i, a := range *set.Activities {
			at := now.Add(a.At)
			g.Activities = append(g.Activities, guard.Activity{ID: fmt.Sprintf("%s-%s-%d", g.Name, at.Format("20060102T150405Z"), i),
				At: at, Kind: a.Kind, Status: a.Status, Cause: a.Cause, Member: a.Member})
		}
	}
	if set.Foreign != nil {
		g.ForeignTargets = nil
		for _, f := range *set.Foreign {
			if len(g.TargetGroups) > 0 {
				f.Group = g.TargetGroups[0].Name
			}
			g.ForeignTargets = append(g.ForeignTargets, f)
		}
	}
}

func put[V any](into *V, value *V) {
	if value != nil {
		*into = *value
	}
}

func (s *stated) alarm(d Dependency, now time.Time) {
	for i := range s.alarms {
		a := &s.alarms[i]
		if a.Alarm != d.Alarm {
			continue
		}
		changed := d.State != "" && d.State != a.State
		first := a.State == ""
		if d.State != "" {
			a.State = d.State
		}
		switch {
		case d.Since != nil:
			a.Since = now.Add(*d.Since)
		case first && a.State == guard.AlarmOK:
			a.Since = now.Add(-24 * time.Hour)
		case changed:
			a.Since = now
		}
	}
}

func (s *stated) setPolicy(p Setting) {
	for i := range s.policy {
		if s.policy[i].Key == p.Key {
			s.policy[i] = p
			return
		}
	}
	s.policy = append(s.policy, p)
}

// regionKey is the one policy key that is accepted in the layer of the defaults only.
const regionKey = "region_marks_per_hour"

// layers writes the policy as the two documents that it comes from: the group's own, and the Region's defaults. Nil says that
// there is none.
func (s *stated) layers() (own, defaults []byte) {
	var mine, shared []Setting
	for _, p := range s.policy {
		if p.Key == regionKey {
			shared = append(shared, p)
		} else {
			mine = append(mine, p)
		}
	}
	return objectJSON(mine), objectJSON(shared)
}

// objectJSON writes the keys as they are, so that a wrong value reaches the decoder.
func objectJSON(settings []Setting) []byte {
	if len(settings) == 0 {
		return nil
	}
	var b bytes.Buffer
	for i, p := range settings {
		key, _ := json.Marshal(p.Key) // a string always has a JSON form
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(p.Raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// declared writes the dependencies as the layer that the construct declares; nil when there are none.
func (s *stated) declared() []byte {
	if len(s.alarms) == 0 {
		return nil
	}
	deps := []guard.Dependency{}
	for _, a := range s.alarms {
		deps = append(deps, a.Dependency)
	}
	raw, _ := json.Marshal(map[string][]guard.Dependency{"dependencies": deps}) // strings always have a JSON form
	return raw
}

// clone copies what a statement can change.
func (s *stated) clone() *stated {
	c := *s
	c.suspended = maps.Clone(s.suspended)
	c.alarms = slices.Clone(s.alarms)
	c.policy = slices.Clone(s.policy)
	c.members = nil
	for _, m := range s.members {
		n := *m
		n.Targets = slices.Clone(m.Targets)
		n.unported = maps.Clone(m.unported)
		c.members = append(c.members, &n)
	}
	return &c
}

// read is the group as Auto Scaling answers: members and suspensions, without targets, activities and heartbeats.
func (s *stated) read() guard.Group {
	g := s.group
	g.TargetGroups, g.ForeignTargets, g.Activities, g.Refresh = nil, nil, nil, ""
	g.HealthCheckTypes = slices.Clone(g.HealthCheckTypes)
	for _, process := range slices.Sorted(maps.Keys(s.suspended)) {
		g.Suspended = append(g.Suspended, guard.Suspension{Process: process, Reason: s.suspended[process]})
	}
	for _, m := range s.members {
		out := m.Member
		out.Targets, out.OptedOut, out.Since = nil, false, m.since()
		g.Members = append(g.Members, out)
	}
	return g
}

// since is when the member entered its state, if the file says so.
func (m *member) since() time.Time {
	switch {
	case m.Lifecycle == "InService":
		return m.entered
	case pending(m.Lifecycle):
		return m.pending
	default:
		return time.Time{}
	}
}

// beatAt is the member's row of the heartbeat table at an instant.
func (m *member) beatAt(now time.Time) guard.Beat {
	if m.beat.None {
		return guard.Beat{}
	}
	b := guard.Beat{Found: true, At: m.stamp, Seq: m.stamp.Unix(), Boot: "boot-" + m.ID, Status: m.beat.Status,
		Failing: slices.Clone(m.beat.Failing), Agent: m.agent}
	if !m.beat.Silent {
		b.At, b.Seq = now.Add(-m.beat.Age), now.Unix()
	}
	return b
}
