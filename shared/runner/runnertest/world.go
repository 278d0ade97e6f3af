package runnertest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Interval is the time between two scheduled sweeps of a test.
const Interval = time.Minute

// Start is the moment at which a new world begins; a whole second in UTC.
func Start() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// Member is one instance of a group.
type Member struct {
	guard.Member
	// Mute says that its heartbeat stands still at Last.
	Mute bool
	Last time.Time
}

// Group is one Auto Scaling group of the world.
type Group struct {
	// Group is what a read gives; its members and suspensions are made from the fields below.
	guard.Group
	Members   []*Member
	Suspended map[string]string
	// Own says which suspensions a process of the test made, by process name.
	Own map[string]bool
	// Policy is the operator's layer as JSON, "" for none.
	Policy string
	// Gone says that reads do not find the group any more; Unlisted that it lost its tag.
	Gone, Unlisted bool

	launched int
}

// Done is one call that took effect.
type Done struct {
	Process string
	At      time.Time
	Op      string
	Group   string
	Member  string
	// Processes are sorted.
	Processes []string
	// Marked counts, at a resume, the members that were in service and called Unhealthy.
	Marked int
	// Foreign says that a resume took a suspension that no process of the test had made; Held that a mark came while
	// ReplaceUnhealthy was suspended.
	Foreign, Held bool
}

// World is everything outside the processes. A test may change it freely while no process runs.
type World struct {
	mu  sync.Mutex
	Now time.Time
	// Mode is the value of the switch.
	Mode   string
	Groups []*Group
	Alarms map[string]guard.AlarmReading
	Queue  guard.QueueReading
	// Defaults is the layer /holdfast/defaults as JSON, "" for none.
	Defaults string
	// Others are the names of parameters that belong to no group of the world.
	Others []string
	// Renew says that a second suspension of a process renews AWS's text; otherwise the first is kept. AWS documents neither.
	Renew bool
	// Changing says that the world changes by itself while processes run, by Process.Happen.
	Changing bool

	Ledger runner.Ledger
	// Done are the calls that took effect, Pages the notices that were delivered, Reports the records, oldest first.
	Done    []Done
	Pages   []runner.Notice
	Reports []runner.Report

	old []*Group
	// latest is the moment of the last change of suspensions.
	latest  time.Time
	content map[string]string
}

// New returns a world without groups over a ledger.
func New(ledger runner.Ledger) *World {
	return &World{Now: Start(), Mode: guard.ModeAct, Ledger: ledger, Alarms: map[string]guard.AlarmReading{}, content: map[string]string{}}
}

// Add adds a group of n members that serve and beat, in three zones.
func (w *World) Add(name string, n int) *Group {
	g := &Group{Suspended: map[string]string{}, Own: map[string]bool{}}
	g.Group = guard.Group{
		ARN: "arn:aws:autoscaling:eu-west-1:111122223333:autoScalingGroup:0:autoScalingGroupName/" + name, Name: name, OptedIn: true,
		Desired: n, Min: n, Max: 2 * n, HealthCheckTypes: []string{"EC2"}, TargetGroups: []guard.TargetGroup{{Name: name + "-tg", InUse: true}},
	}
	for i := range n {
		g.Members = append(g.Members, newMember(g, fmt.Sprintf("i-%s-%03d", name, i), i))
	}
	w.Groups = append(w.Groups, g)
	return g
}

func newMember(g *Group, id string, i int) *Member {
	return &Member{Member: guard.Member{
		ID: id, Lifecycle: "InService", Zone: "eu-west-1" + string(rune('a'+i%3)), LaunchTemplate: "1", InstanceType: "m7g.large", Weight: 1,
		Targets: []guard.Target{{Group: g.TargetGroups[0].Name, Port: 80, State: "healthy"}},
	}}
}

// Break makes members fail for both witnesses from now on.
func (w *World) Break(g *Group, members ...int) {
	for _, i := range members {
		m := g.Members[i]
		m.Targets[0].State, m.Targets[0].Reason = "unhealthy", "Target.Timeout"
		if !m.Mute {
			m.Mute, m.Last = true, w.Now
		}
	}
}

// Fail makes the targets of members unhealthy while they go on beating.
func (w *World) Fail(g *Group, members ...int) {
	for _, i := range members {
		g.Members[i].Targets[0].State, g.Members[i].Targets[0].Reason = "unhealthy", "Target.Timeout"
	}
}

// Heal makes members well for both witnesses; what AWS calls them stays.
func (w *World) Heal(g *Group, members ...int) {
	for _, i := range members {
		m := g.Members[i]
		m.Mute = false
		m.Targets[0].State, m.Targets[0].Reason = "healthy", ""
	}
}

// Suspend suspends a process as somebody else would.
func (w *World) Suspend(g *Group, process string) {
	g.Suspended[process] = reasonText(w.Now)
	delete(g.Own, process)
}

// Resume resumes a process as somebody else would.
func (w *World) Resume(g *Group, process string) {
	delete(g.Suspended, process)
	delete(g.Own, process)
}

func reasonText(at time.Time) string { return "User suspended at " + at.UTC().Format(time.RFC3339) }

// Keep takes the picture that stale reads answer from.
func (w *World) Keep() { w.old = cloneGroups(w.Groups) }

// Step moves the clock by one interval and lets AWS work: what was terminating is gone, what was pending serves, and members
// called Unhealthy are taken out of service unless their replacement is suspended.
func (w *World) Step() {
	w.Now = w.Now.Add(Interval)
	for _, g := range w.Groups {
		w.replace(g)
	}
}

func (w *World) replace(g *Group) {
	g.Members = slices.DeleteFunc(g.Members, func(m *Member) bool { return m.Lifecycle == "Terminating" })
	for _, m := range g.Members {
		if m.Lifecycle == "Pending" {
			m.Lifecycle = "InService"
		}
	}
	_, held := g.Suspended[guard.ProcessReplaceUnhealthy]
	for _, m := range slices.Clone(g.Members) {
		if held || !m.Unhealthy || m.Lifecycle != "InService" {
			continue
		}
		m.Lifecycle = "Terminating"
		g.launched++
		fresh := newMember(g, fmt.Sprintf("i-%s-new-%03d", g.Name, g.launched), g.launched)
		fresh.Lifecycle = "Pending"
		g.Members = append(g.Members, fresh)
		g.Activities = append(g.Activities,
			guard.Activity{ID: "end-" + m.ID, At: w.Now, Kind: "terminate", Status: "Successful", Member: m.ID, Cause: "an instance was taken out of service in response to a user health-check."},
			guard.Activity{ID: "new-" + fresh.ID, At: w.Now, Kind: "launch", Status: "Successful", Member: fresh.ID})
	}
}

// Marks are the marks that took effect, oldest first.
func (w *World) Marks() []Done { return w.Calls(guard.ActMark) }

// Calls are the calls of one kind that took effect, oldest first.
func (w *World) Calls(op string) []Done {
	return slices.DeleteFunc(slices.Clone(w.Done), func(d Done) bool { return d.Op != op })
}

// Clone copies the world, with another ledger, so that two futures of one moment can be tried.
func (w *World) Clone(ledger runner.Ledger) *World {
	c := &World{Now: w.Now, Mode: w.Mode, Groups: cloneGroups(w.Groups), Alarms: maps.Clone(w.Alarms), Queue: w.Queue, Defaults: w.Defaults, Others: slices.Clone(w.Others), Renew: w.Renew, Changing: w.Changing, Ledger: ledger, content: map[string]string{}}
	c.Done, c.Pages, c.Reports = slices.Clone(w.Done), slices.Clone(w.Pages), slices.Clone(w.Reports)
	c.old, c.latest = cloneGroups(w.old), w.latest
	return c
}

func cloneGroups(groups []*Group) []*Group {
	var out []*Group
	for _, g := range groups {
		n := *g
		n.Suspended, n.Own = maps.Clone(g.Suspended), maps.Clone(g.Own)
		n.Activities = slices.Clone(g.Activities)
		n.Members = nil
		for _, m := range g.Members {
			c := *m
			c.Targets = slices.Clone(m.Targets)
			n.Members = append(n.Members, &c)
		}
		out = append(out, &n)
	}
	return out
}

// Find returns a group by name or ARN, nil if there is none.
func (w *World) Find(name string) *Group { return find(w.Groups, name) }

func find(groups []*Group, name string) *Group {
	for _, g := range groups {
		if g.Name == name || g.ARN == name {
			return g
		}
	}
	return nil
}

func (g *Group) member(id string) *Member {
	for _, m := range g.Members {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// read is the group as Auto Scaling answers, without targets, activities and the refresh.
func (g *Group) read() guard.Group {
	out := g.Group
	out.TargetGroups, out.ForeignTargets, out.Activities, out.Refresh, out.Members, out.Suspended = nil, nil, nil, "", nil, nil
	for _, process := range slices.Sorted(maps.Keys(g.Suspended)) {
		out.Suspended = append(out.Suspended, guard.Suspension{Process: process, Reason: g.Suspended[process]})
	}
	for _, m := range g.Members {
		r := m.Member
		r.Targets, r.OptedOut = nil, false
		out.Members = append(out.Members, r)
	}
	return out
}

// marked counts the members in service that AWS calls Unhealthy.
func (g *Group) marked() int {
	n := 0
	for _, m := range g.Members {
		if m.Unhealthy && m.Lifecycle == "InService" {
			n++
		}
	}
	return n
}

// beat is the member's row of the heartbeat table at an instant.
func (m *Member) beat(now time.Time) guard.Beat {
	at := now
	if m.Mute {
		at = m.Last
	}
	b := m.Beat
	if b.Status == "" {
		b.Status = "ok"
	}
	b.Found, b.At, b.Seq, b.Boot, b.Agent = true, at, at.Unix(), "boot-"+m.ID, "1.0.0"
	return b
}

// wrote notes what an item of the ledger holds now, so that two worlds can be compared.
func (w *World) wrote(key string, version int64, content any) {
	text, err := json.Marshal(content)
	if err != nil {
		text = []byte(err.Error())
	}
	w.content[key] = fmt.Sprintf("%d %s", version, text)
}

// fingerprint is equal for two worlds of one test only if their ledgers and groups are.
func (w *World) fingerprint() [sha256.Size]byte {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(w.content)) {
		b.WriteString(key + w.content[key] + "\n")
	}
	b.WriteString(w.latest.String())
	for _, g := range w.Groups {
		text, _ := json.Marshal(g) // plain data, always has a JSON form
		b.Write(text)
	}
	return sha256.Sum256([]byte(b.String()))
}
