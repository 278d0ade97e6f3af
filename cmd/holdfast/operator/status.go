package operator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Status is what the ledger, the policy and the groups say. The JSON names are stable.
type Status struct {
	At time.Time `json:"at"`
	// Switch is /holdfast/mode as a sweep would read it; SwitchProblem says what is wrong with it, "" if nothing.
	Switch        string        `json:"switch"`
	SwitchProblem string        `json:"switch_problem,omitempty"`
	Groups        []GroupStatus `json:"groups"`
	// RegionUnread says why what the groups share could not be read, "" if it could.
	RegionUnread string `json:"region_unread,omitempty"`
}

// GroupStatus is one group's part. Fields that could not be filled are zero, and Unread says why.
type GroupStatus struct {
	Group string `json:"group"`
	ARN   string `json:"arn,omitempty"`
	// Guarded is false for a group without the opt-in tag, of an AWS service, or that does not exist or could not be read.
	Guarded bool `json:"guarded"`
	// Mode is watching, held, releasing, blind or off as of the last sweep; "" when no sweep has looked yet or the ledger is unread.
	Mode string `json:"mode"`
	// PolicyMode and Action are of the policy in force now; PolicyModeFrom is the layer that decided the mode.
	PolicyMode     string `json:"policy_mode"`
	PolicyModeFrom string `json:"policy_mode_from"`
	Action         string `json:"action"`
	Hold           *Hold  `json:"hold,omitempty"`
	// PacedExit is what a hold that ended by the paced exit left to repair.
	PacedExit *PacedExit `json:"paced_exit,omitempty"`
	// Triggers are those that were true at the last sweep, with their counts; each that prolongs keeps a hold from ending.
	Triggers []guard.Trigger `json:"triggers,omitempty"`
	// UnknownDependencies are the alarms of hard dependencies whose state was not known at the last sweep: nothing is released meanwhile.
	UnknownDependencies []string `json:"unknown_dependencies,omitempty"`
	// Suspects are the members that looked bad at the last sweep, longest first, each with why it was not marked.
	Suspects []Suspect `json:"suspects,omitempty"`
	// AlsoDeferred are members that do not count as bad and for which a sweep gave a reason all the same, such as one in its first grace.
	AlsoDeferred []guard.Deferral `json:"also_deferred,omitempty"`
	// ReasonsUnknown says why neither reasons nor triggers are known, "" if they are.
	ReasonsUnknown string `json:"reasons_unknown,omitempty"`
	// Limits are the budgets in force and what is used of them.
	Limits *guard.Limits `json:"limits,omitempty"`
	// Foreign are suspended processes that are not Holdfast's.
	Foreign []guard.Suspension `json:"foreign_suspensions,omitempty"`
	// Request is what an operator asked for and no sweep has obeyed yet.
	Request   *guard.Request `json:"pending_request,omitempty"`
	LastSweep time.Time      `json:"last_sweep,omitzero"`
	// Late says that nobody has looked for too long.
	Late string `json:"late,omitempty"`
	// Problems are refused settings of the policy; Unread is what could not be read.
	Problems []string `json:"problems,omitempty"`
	Unread   []string `json:"unread,omitempty"`
}

// Hold is a hold in force.
type Hold struct {
	Since time.Time `json:"since"`
	Cause string    `json:"cause"`
	Text  string    `json:"text,omitempty"`
	// Stage is 1 (quiet) to 5 (resumed); QuietSince is zero while a trigger is true.
	Stage      int       `json:"stage"`
	QuietSince time.Time `json:"quiet_since,omitzero"`
	// UntilReleased says that only a person ends it; ReleaseBy names who asked for that.
	UntilReleased bool   `json:"until_released,omitempty"`
	ReleaseBy     string `json:"release_by,omitempty"`
	// Forced says that the request was to leave by the paced exit.
	Forced bool `json:"forced,omitempty"`
	// Observed says that no call was made; Conflict that somebody resumed twice what it held, which is left to people.
	Observed bool `json:"observed,omitempty"`
	Conflict bool `json:"conflict,omitempty"`
	// Processes are those that it suspended.
	Processes []string `json:"processes,omitempty"`
}

// PacedExit is a hold that is over but for members that are repaired one by one.
type PacedExit struct {
	Since time.Time `json:"since"`
	// Members are those that are not repaired yet, sorted.
	Members []string `json:"members"`
	// Process stays suspended until the last of them is repaired; "" if the hold had suspended none that must wait.
	Process string `json:"process,omitempty"`
}

// Suspect is a member that looked bad.
type Suspect struct {
	Member string    `json:"member"`
	Since  time.Time `json:"since,omitzero"`
	// Broken is a member that two witnesses call bad; the others are only suspected.
	Broken bool `json:"broken,omitempty"`
	// Deferred is why it was not marked, with the numbers that were compared; nil for one that was marked, and where it is not known.
	Deferred *guard.Deferral `json:"deferred,omitempty"`
	// MarkedAt is when Holdfast marked it, whether or not AWS's answer is known; zero if it did not, or only observed.
	MarkedAt time.Time `json:"marked_at,omitzero"`
}

// Incomplete says that something could not be read.
func (s Status) Incomplete() bool {
	return s.RegionUnread != "" || slices.ContainsFunc(s.Groups, func(g GroupStatus) bool { return len(g.Unread) > 0 })
}

// Status looks at the named groups, each once, or at every guarded one and those that were guarded before, and writes nothing. What cannot
// be read of one group stands in its Unread; an error is returned only when no group could be read at all.
func (d *Desk) Status(ctx context.Context, names []string) (Status, error) {
	if d.p.Ledger == nil {
		return Status{}, errNoLedger
	}
	s := Status{At: d.o.Now().UTC(), Groups: []GroupStatus{}}
	region, err := d.p.Ledger.LoadRegion(ctx)
	if err != nil {
		s.RegionUnread = err.Error()
	}
	groups, unread, err := d.listed(ctx, names)
	if err != nil {
		return Status{}, err
	}
	if len(names) == 0 {
		for _, arn := range former(region.State.Eligible, groups) {
			groups = append(groups, guard.Group{ARN: arn, Name: nameOf(arn)})
		}
	}
	var all []string
	for _, g := range groups {
		all = append(all, g.Name)
	}
	set := d.p.Policies.Policies(ctx, all)
	set.Switch.LastGood = region.LastGoodMode
	shared := guard.Resolve(nil, set.Switch)
	s.Switch = shared.Policy.Mode
	for _, p := range shared.Problems {
		s.SwitchProblem = p.Rule
	}
	for _, g := range groups {
		s.Groups = append(s.Groups, d.groupStatus(ctx, &file{group: g, region: region, set: set}))
	}
	for name, cause := range unread {
		s.Groups = append(s.Groups, GroupStatus{Group: name, Unread: []string{"the group could not be read: " + cause.Error()}})
	}
	slices.SortStableFunc(s.Groups, func(a, b GroupStatus) int { return strings.Compare(a.Group, b.Group) })
	return s, nil
}

// listed reads the groups that were asked for. One that does not exist has a name and nothing else; unread are those that could not be read,
// by name. If that is so for each, it is an error.
func (d *Desk) listed(ctx context.Context, names []string) (found []guard.Group, unread map[string]error, err error) {
	if len(names) == 0 {
		found, err = d.p.Fleet.Guarded(ctx)
		return found, nil, err
	}
	unread = map[string]error{}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		g, cause := d.p.Fleet.Group(ctx, name)
		switch {
		case errors.Is(cause, fault.Gone):
			found = append(found, guard.Group{Name: name})
		case cause != nil:
			unread[name], err = cause, cmp.Or(err, cause)
		default:
			found = append(found, g)
		}
	}
	if len(found) > 0 {
		err = nil
	}
	return found, unread, err
}

// former are the groups that the Region's item knows and that are not guarded any more.
func former(known map[string]int, groups []guard.Group) []string {
	var out []string
	for arn := range known {
		if !slices.ContainsFunc(groups, func(g guard.Group) bool { return g.ARN == arn }) {
			out = append(out, arn)
		}
	}
	slices.Sort(out)
	return out
}

// nameOf is the group's name at the end of its ARN; a name may hold slashes.
func nameOf(arn string) string {
	if _, name, ok := strings.Cut(arn, "autoScalingGroupName/"); ok {
		return name
	}
	return arn
}

func (d *Desk) groupStatus(ctx context.Context, f *file) GroupStatus {
	g := f.group
	out := GroupStatus{Group: g.Name, ARN: g.ARN, Guarded: g.OptedIn && g.Operator == ""}
	if g.ARN == "" {
		out.Unread = append(out.Unread, "no Auto Scaling group of this name in this account and Region")
		return out
	}
	rec, err := d.p.Ledger.Load(ctx, g.ARN)
	if err != nil {
		out.Unread = append(out.Unread, err.Error())
	}
	f.rec = rec
	f.resolve()
	p := f.res.Policy
	out.PolicyMode, out.PolicyModeFrom, out.Action = p.Mode, f.res.Sources["mode"], p.Action
	for _, problem := range f.res.Problems {
		if problem.Layer != guard.ModeParameter {
			out.Problems = append(out.Problems, problem.String())
		}
	}
	if err != nil {
		return out
	}
	out.Mode, out.Hold, out.PacedExit = modeOf(rec, p), holdOf(rec.State.Hold), pacedExitOf(rec.State.Paced)
	out.tellLook(rec)
	out.LastSweep, out.Request = rec.State.LastSweep.Time(), f.pending()
	if out.Guarded {
		out.Late = d.late(f)
	}
	if len(g.Members) > 0 || g.OptedIn {
		limits := d.limits(f, p)
		out.Limits, out.Foreign = &limits, f.foreign()
	}
	return out
}

// modeOf is what the last sweep found, in the words of a verdict.
func modeOf(rec runner.Record, p guard.Policy) string {
	s := rec.State
	switch {
	case !s.Known():
		return ""
	case p.Mode == guard.ModeOff:
		return guard.Off
	case s.Hold != nil && s.Hold.Stage > guard.StageQuiet:
		return guard.Releasing
	case s.Hold != nil:
		return guard.Held
	case s.BlindRun > 0:
		return guard.Blind
	}
	return guard.Watching
}

func holdOf(h *guard.Hold) *Hold {
	if h == nil {
		return nil
	}
	out := &Hold{
		Since: h.Since.Time(), Cause: h.Cause, Text: h.Text, Stage: h.Stage, QuietSince: h.QuietSince.Time(), UntilReleased: h.Sticky,
		ReleaseBy: h.ReleaseBy, Forced: h.Forced, Observed: h.Observed, Conflict: h.Conflict,
	}
	for _, p := range h.Ours {
		if p.Resumed == 0 {
			out.Processes = append(out.Processes, p.Process)
		}
	}
	return out
}

func pacedExitOf(p *guard.Paced) *PacedExit {
	if p == nil {
		return nil
	}
	out := &PacedExit{Since: p.Since.Time(), Members: append([]string{}, p.Members...)}
	if p.Process != nil {
		out.Process = p.Process.Process
	}
	return out
}
