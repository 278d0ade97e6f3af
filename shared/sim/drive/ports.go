package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// The tag that opts a group in, and an instance out.
const (
	tagKey = "holdfast:guard"
	tagOn  = "true"
	tagOff = "false"
)

// activityWindow is how far back activities are told: the day of the daily budget, and an hour to spare.
const activityWindow = 25 * time.Hour

// ports are the runner's ports over one simulated Region. The cloud is not safe for concurrent use, so a run looks at one group
// after the other.
type ports struct {
	cloud *sim.Cloud
	// declared are the policies by group name, as JSON; mode is the big switch.
	declared map[string]string
	mode     string
	// kept are the last answers; nil asks the cloud every time.
	kept *answers

	records bool // keep reports
	reports []runner.Report
	notices []runner.Notice
}

// Guarded lists the groups that carry the opt-in tag.
func (p *ports) Guarded(context.Context) ([]guard.Group, error) {
	if p.kept != nil {
		if p.kept.fresh(p.cloud.Told()); p.kept.listed {
			return p.kept.guarded, nil
		}
	}
	var out []guard.Group
	for _, name := range p.cloud.GroupNames() {
		if p.cloud.GroupTag(name, tagKey) == tagOn {
			g, _ := p.group(name)
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b guard.Group) int { return cmp.Compare(a.Name, b.Name) })
	if p.kept != nil {
		p.kept.listed, p.kept.guarded = true, out
	}
	return out, nil
}

// Group reads one group; fault.Gone if it does not exist.
func (p *ports) Group(_ context.Context, name string) (guard.Group, error) {
	g, ok := p.group(name)
	if !ok {
		return guard.Group{}, fmt.Errorf("describe group %s: %w", name, fault.Gone)
	}
	return g, nil
}

func (p *ports) group(name string) (guard.Group, bool) {
	if p.kept == nil {
		return p.readGroup(name)
	}
	p.kept.fresh(p.cloud.Told())
	a := p.kept.of(name)
	if a == nil {
		g, ok := p.readGroup(name)
		if !ok {
			return g, false
		}
		a = p.kept.add(g)
	}
	return a.group, true
}

func (p *ports) readGroup(name string) (guard.Group, bool) {
	var out guard.Group
	template, version := "", 0
	g, ok := p.cloud.Roster(name, func(g *sim.Group, m *sim.Member) {
		if out.Members == nil {
			out.Members = make([]guard.Member, 0, g.Desired+2) // as many as there mostly are
		}
		out.Weighted = out.Weighted || m.Weight > 1
		if template == "" || version != m.LaunchTemplateVersion { // most members have the version of the one before
			version = m.LaunchTemplateVersion
			template = g.LaunchTemplateName + ":" + strconv.Itoa(version)
		}
		out.Members = append(out.Members, guard.Member{
			ID: m.ID, Lifecycle: string(m.Lifecycle), Unhealthy: m.Health == sim.Unhealthy, Protected: m.Protected, Zone: m.Zone,
			LaunchTemplate: template, InstanceType: m.InstanceType, Weight: m.Weight,
		})
	})
	out.ARN, out.Name, out.OptedIn, out.Operator = g.ARN, g.Name, p.cloud.GroupTag(name, tagKey) == tagOn, g.Operator
	out.Desired, out.Min, out.Max, out.HealthCheckTypes, out.Grace = g.Desired, g.Min, g.Max, g.HealthCheckTypes, g.Grace
	for _, s := range g.Suspended {
		out.Suspended = append(out.Suspended, guard.Suspension{Process: s.Process, Reason: s.Reason})
	}
	slices.SortFunc(out.Members, func(a, b guard.Member) int { return cmp.Compare(a.ID, b.ID) })
	return out, ok
}

// Details adds targets, opt-outs, activities and the newest instance refresh.
func (p *ports) Details(_ context.Context, g guard.Group) (guard.Group, guard.Reads) {
	if p.kept == nil {
		return p.readDetails(g)
	}
	p.kept.fresh(p.cloud.Told())
	a := p.kept.of(g.Name)
	if a == nil || !sameGroup(&a.group, &g) {
		return p.readDetails(g)
	}
	if !a.detailed || a.outlived(p.cloud.Now().Add(-activityWindow)) {
		a.details, a.reads = p.readDetails(g)
		a.detailed = true
	}
	return a.details, a.reads
}

func (p *ports) readDetails(g guard.Group) (guard.Group, guard.Reads) {
	if !slices.Contains(p.cloud.GroupNames(), g.Name) {
		return g, guard.Reads{Group: "describe group " + g.Name + ": " + fault.Gone.Error()}
	}
	g.Members = slices.Clone(g.Members)
	at := make(map[string]int, len(g.Members))
	for i := range g.Members {
		at[g.Members[i].ID] = i
		g.Members[i].OptedOut = p.cloud.InstanceTag(g.Members[i].ID, tagKey) == tagOff
	}
	reads := guard.Reads{Targets: p.addTargets(&g, p.cloud.TargetGroupsOf(g.Name), at)}
	since := p.cloud.Now().Add(-activityWindow)
	for _, a := range p.cloud.Activities(g.Name) {
		if a.GroupARN == g.ARN && !a.Start.Before(since) {
			g.Activities = append(g.Activities, guard.Activity{
				ID: a.ID, At: a.Start, Kind: string(a.Kind), Status: a.Status, Cause: a.Cause, Member: a.InstanceID,
			})
		}
	}
	g.Refresh = p.cloud.RefreshStatus(g.Name)
	return g, reads
}

// addTargets adds the registrations of a group's target groups and says why some could not be read.
func (p *ports) addTargets(g *guard.Group, arns []string, at map[string]int) (failed string) {
	for _, arn := range arns {
		tg, ok := p.cloud.TargetGroup(arn)
		targets, err := p.cloud.TargetHealth(arn)
		if !ok || err != nil {
			failed = "describe target health of " + arn + ": " + fault.Gone.Error()
			continue
		}
		g.TargetGroups = append(g.TargetGroups, guard.TargetGroup{Name: tg.Name, InUse: !tg.NotInUse})
		first := make([]guard.Target, 0, len(targets)) // of members that have none yet, which is mostly all that there will be
		for j := range targets {
			t := &targets[j]
			i, ours := at[t.ID]
			if !ours {
				g.ForeignTargets = append(g.ForeignTargets, guard.ForeignTarget{Group: tg.Name, Target: t.ID, State: string(t.State), Reason: t.Reason})
				continue
			}
			to := &g.Members[i].Targets
			if *to == nil {
				*to = first[len(first) : len(first) : len(first)+1]
				first = first[:len(first)+1]
			}
			*to = append(*to, guard.Target{
				Group: tg.Name, Port: t.Port, State: string(t.State), Reason: t.Reason, Anomalous: t.Anomalous, Shifted: t.Shifted,
			})
		}
	}
	return failed
}

// Beats reads the newest heartbeat of each member.
func (p *ports) Beats(_ context.Context, g guard.Group) (map[string]guard.Beat, error) {
	if p.cloud.TableRefuses() {
		return nil, fmt.Errorf("get heartbeats: %w", fault.Throttled)
	}
	if of := p.kept.beatsOf(&g, p.cloud.Told()); of != nil {
		p.cloud.NewestBeats(g.Name, func(id string, b *sim.Beat, wrote bool) { of[id] = beatOf(b, wrote) })
		return of, nil
	}
	out := make(map[string]guard.Beat, len(g.Members))
	for i := range g.Members {
		id := g.Members[i].ID
		b := beatOf(p.cloud.NewestBeat(id))
		b.Failing = slices.Clone(b.Failing)
		out[id] = b
	}
	return out, nil
}

func beatOf(b *sim.Beat, wrote bool) guard.Beat {
	if !wrote {
		return guard.Beat{}
	}
	return guard.Beat{Found: true, At: b.Stamp, Seq: int64(b.Seq), Boot: b.Boot, Status: b.Status, Failing: b.Failing, Agent: b.Agent}
}

// Alarms reads alarms by name.
func (p *ports) Alarms(_ context.Context, names []string) map[string]guard.AlarmReading {
	out := map[string]guard.AlarmReading{}
	for _, name := range names {
		out[name] = guard.AlarmReading{State: guard.AlarmMissing}
		if a, ok := p.cloud.Alarm(name); ok {
			out[name] = guard.AlarmReading{State: string(a.State), Since: a.Transitioned}
		}
	}
	return out
}

// Policies gives the declared layer of each group and the switch.
func (p *ports) Policies(_ context.Context, groups []string) runner.PolicySet {
	if known := p.kept.policySet(groups); known != nil {
		return *known
	}
	set := runner.PolicySet{
		Switch: guard.Switch{Value: p.mode, Found: true}, Defaults: guard.Layer{Name: guard.LayerDefaults}, Groups: map[string][]guard.Layer{},
	}
	for _, name := range groups {
		declared := guard.Layer{Name: guard.LayerDeclared + guard.EscapeName(name)}
		if text, ok := p.declared[name]; ok {
			declared.Raw = []byte(text)
		}
		set.Groups[name] = []guard.Layer{declared, {Name: guard.LayerGroups + guard.EscapeName(name)}}
	}
	if p.kept != nil {
		p.kept.names, p.kept.set = slices.Clone(groups), set
	}
	return set
}

// Mark sets one member Unhealthy, grace respected.
func (p *ports) Mark(_ context.Context, member string) error {
	return classify("mark "+member, p.cloud.SetInstanceHealth(member, sim.Unhealthy, true))
}

// Restore sets one member Healthy.
func (p *ports) Restore(_ context.Context, member string) error {
	return classify("restore "+member, p.cloud.SetInstanceHealth(member, sim.Healthy, true))
}

// Suspend suspends exactly the named processes.
func (p *ports) Suspend(_ context.Context, group string, processes []string) error {
	if len(processes) == 0 {
		return fmt.Errorf("suspend processes of %s: %w: an empty list means all of them", group, fault.Refused)
	}
	return classify("suspend processes of "+group, p.cloud.SuspendProcesses(group, processes))
}

// Resume resumes exactly the named processes.
func (p *ports) Resume(_ context.Context, group string, processes []string) error {
	if len(processes) == 0 {
		return fmt.Errorf("resume processes of %s: %w: an empty list means all of them", group, fault.Refused)
	}
	return classify("resume processes of "+group, p.cloud.ResumeProcesses(group, processes))
}

// Page keeps a notice.
func (p *ports) Page(_ context.Context, n runner.Notice) error {
	p.notices = append(p.notices, n)
	return nil
}

// Report keeps the record of a look.
func (p *ports) Report(_ context.Context, r runner.Report) {
	if p.records {
		p.reports = append(p.reports, r)
	}
}

// classify gives an answer of the simulator its fault kind.
func classify(what string, err error) error {
	if err == nil {
		return nil
	}
	kind := fault.Refused
	var young *sim.GraceError
	var missing *sim.NotFoundError
	var leaving *sim.LifecycleError
	switch {
	case errors.As(err, &young):
		kind = fault.TooYoung
	case errors.As(err, &missing), errors.As(err, &leaving):
		kind = fault.Gone
	}
	return fmt.Errorf("%s: %w: %w", what, kind, err)
}
