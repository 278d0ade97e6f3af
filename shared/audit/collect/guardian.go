package collect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/policystore"
)

// intentWindow is how long after its intent a suspension may have happened that no reason text was recorded for.
const intentWindow = 2 * time.Minute

// policyTap keeps the error that the policies' reader can only tell as a text.
type policyTap struct {
	Policies
	err error
}

// GetParametersByPath implements policystore.API.
func (p *policyTap) GetParametersByPath(ctx context.Context, in *ssm.GetParametersByPathInput, o ...func(*ssm.Options)) (*ssm.GetParametersByPathOutput, error) {
	out, err := p.Policies.GetParametersByPath(ctx, in, o...)
	p.err = err
	return out, err
}

// policyJob reads the switch and the policies of the opted-in groups.
func (r *reading) policyJob() job {
	var names []string
	for _, g := range r.groups {
		if g.optedIn {
			names = append(names, g.Name)
		}
	}
	return job{kind: audit.KindGuardian, what: "GetParametersByPath", do: func(ctx context.Context) error {
		tap := &policyTap{Policies: r.api.Policies}
		r.policies = policystore.New(tap).Policies(ctx, names)
		switch failed := r.policies.Switch.ReadError; {
		case tap.err != nil:
			return (&pager{}).one(func(*string) (*string, error) { return nil, tap.err })
		case failed != "":
			return fmt.Errorf("read policies: %s", failed)
		}
		r.policiesRead = true
		return nil
	}}
}

// resolve tells each opted-in group its policy in force. The last good content of a broken layer is not looked up: that it is broken
// is what is told.
func (r *reading) resolve() {
	r.account.Guardian.Installed = len(r.own.found) > 0
	if !r.policiesRead {
		return
	}
	r.account.Guardian.Installed = r.account.Guardian.Installed || r.policies.Switch.Found
	r.account.Guardian.Mode = r.policies.Switch.Value
	for _, g := range r.groups {
		if !g.optedIn {
			continue
		}
		layers := append([]guard.Layer{r.policies.Defaults}, r.policies.Groups[g.Name]...)
		g.Policy = policyOf(guard.Resolve(layers, r.policies.Switch))
	}
}

func policyOf(in guard.Resolution) *audit.Policy {
	p := &audit.Policy{
		Mode: in.Policy.Mode, Action: in.Policy.Action, Kind: in.Policy.Kind, MaxAlarmAgeSeconds: in.Policy.AlarmMaxAgeSeconds,
	}
	for _, d := range in.Policy.Dependencies {
		p.Dependencies = append(p.Dependencies, audit.Dependency{Alarm: d.Alarm, Kind: d.Kind})
	}
	for _, problem := range in.Problems {
		if problem.Layer == guard.ModeParameter {
			continue // the switch is the account's, not the group's
		}
		p.Problems = append(p.Problems, problem.String())
	}
	return p
}

// guardedJobs are the reads of Holdfast's own tables, for opted-in groups only.
func (r *reading) guardedJobs(g *group) []job {
	var jobs []job
	if g.optedIn && r.api.Beats != nil && len(g.Members) > 0 {
		jobs = append(jobs, r.beatJob(g))
	}
	if g.optedIn && r.api.Holds != nil && len(g.Suspended) > 0 {
		jobs = append(jobs, job{kind: audit.KindGroup, what: "the group's holds", names: []string{g.Name}, do: func(ctx context.Context) error {
			rec, err := r.api.Holds.Load(ctx, g.ARN)
			g.state, g.stateRead = rec.State, err == nil
			return err
		}})
	}
	return jobs
}

// beatJob reads the heartbeats of the members. What could be read stays, also when some could not.
func (r *reading) beatJob(g *group) job {
	return job{kind: audit.KindGroup, what: "the members' heartbeats", names: []string{g.Name}, do: func(ctx context.Context) error {
		rows, err := r.api.Beats.Beats(ctx, g.in)
		for i, m := range g.Members {
			row, ok := rows[m.ID]
			if !ok || row.Unreadable {
				continue
			}
			age := audit.NotSet
			if row.Found {
				age = max(0, int(r.account.At.Sub(row.At).Seconds()))
			}
			g.Members[i].BeatAgeSeconds, g.Members[i].Agent = &age, row.Agent
		}
		return err
	}}
}

// judgeSuspensions tells which suspensions are Holdfast's. Where that is not known, they are not told at all: a hold that is taken for
// a suspension that nobody remembers would be a false alarm.
func (r *reading) judgeSuspensions(g *group) {
	if !g.optedIn || len(g.Suspended) == 0 {
		return
	}
	if !g.stateRead {
		if r.api.Holds == nil {
			r.pool.add(audit.Unread{
				Kind: audit.KindGroup, Name: g.Name, What: "the group's suspended processes", Why: "no state table was named, so that a hold could not be told from others",
			})
		}
		g.Suspended = nil
		return
	}
	for i, s := range g.Suspended {
		g.Suspended[i].Held = held(g.state, s)
	}
}

func held(state guard.State, s audit.Suspension) bool {
	var ours []guard.HeldProcess
	if state.Hold != nil && !state.Hold.Observed {
		ours = append(ours, state.Hold.Ours...)
	}
	if state.Paced != nil && state.Paced.Process != nil {
		ours = append(ours, *state.Paced.Process)
	}
	return slices.ContainsFunc(ours, func(p guard.HeldProcess) bool {
		if p.Process != s.Process {
			return false
		}
		if p.Reason != "" {
			return p.Reason == s.Reason
		}
		after := s.Since.Sub(p.IntentAt.Time())
		return after > -intentWindow && after < intentWindow
	})
}

// tableless says which tables nobody named, if that leaves something unread.
func (r *reading) tableless() {
	if r.api.Beats == nil && slices.ContainsFunc(r.groups, func(g *group) bool { return g.optedIn }) {
		r.pool.add(audit.Unread{Kind: audit.KindGuardian, What: "heartbeats", Why: "no heartbeat table was named"})
	}
}
