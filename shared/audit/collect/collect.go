package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Read reads an account and Region. What could not be read stands in Unread. It is an error only if neither groups nor target groups
// could be read, or if none of the groups that were asked for exists.
//
// It makes one call for each hundred groups and each four hundred target groups, then two for each group, two for each target group,
// one for each twenty target groups, each ten policies, each hundred heartbeats and each hundred alarms, and one for each opted-in group with a suspension.
func Read(ctx context.Context, api API, o Options) (audit.Account, error) {
	o = o.settled()
	r := &reading{
		api: api, o: o, pool: newPool(o), states: map[string][]registration{},
		account: audit.Account{Format: audit.Format, Source: "account", Region: o.Region, At: o.Now().UTC()},
	}
	r.pool.run(ctx, "groups, target groups and status checks", r.lists())
	if why := r.nothing(); why != "" {
		return audit.Account{}, fmt.Errorf("read account: nothing could be read: %s", why)
	}
	if err := r.settleGroups(); err != nil {
		return audit.Account{}, err
	}
	r.pool.run(ctx, "details of each group and target group", r.details())
	r.resolve()
	r.pool.run(ctx, "alarms", r.alarmJobs())
	r.pool.run(ctx, "topics", r.topicJobs())
	r.assemble()
	return r.account, nil
}

// reading is an account in the making. Jobs that run at once write to different groups and target groups, or lock.
type reading struct {
	api     API
	o       Options
	pool    *pool
	account audit.Account

	groups []*group
	// targetGroups are all of them; only those of the chosen groups are kept.
	targetGroups []*audit.TargetGroup
	// listed says that the list of target groups is complete.
	listed   bool
	checks   checks
	own      ownAlarms
	policies runner.PolicySet
	// policiesRead says that the policies are all there.
	policiesRead bool
	// states has the targets by target group, alarms the alarms by name; the pool's mutex guards both.
	states map[string][]registration
	alarms map[string]audit.Alarm
}

// group is a group in the making.
type group struct {
	audit.Group
	// in is the same group as the heartbeats' reader wants it.
	in guard.Group
	// optedIn says that it carries the tag holdfast:guard = true.
	optedIn bool
	// started has the end of each member's launch, which is when it went into service.
	started map[string]launchEnd
	// state is what the ledger remembers, if it was read.
	state     guard.State
	stateRead bool
}

// nothing says why neither a group nor a target group was listed, or "" if that is because there is none.
func (r *reading) nothing() string {
	if len(r.groups)+len(r.targetGroups) > 0 {
		return ""
	}
	reasons := map[string]string{}
	for _, u := range r.pool.all() {
		reasons[u.Kind] = u.What + ": " + u.Why
	}
	if reasons[audit.KindTargetGroup] == "" {
		return ""
	}
	return reasons[audit.KindGroup]
}

// lists are the reads that need nothing else.
func (r *reading) lists() []job {
	jobs := r.groupJobs()
	jobs = append(jobs, r.targetGroupJob())
	jobs = append(jobs, r.checks.jobs(r.api.EC2)...)
	return append(jobs, r.ownAlarmJobs()...)
}

// settleGroups sorts what was listed and leaves out what was not asked for.
func (r *reading) settleGroups() error {
	slices.SortFunc(r.groups, func(a, b *group) int { return strings.Compare(a.Name, b.Name) })
	r.groups = slices.CompactFunc(r.groups, func(a, b *group) bool { return a.Name == b.Name })
	missing := r.missingGroups()
	if len(r.o.Groups) > 0 && len(missing) == len(r.o.Groups) && len(r.pool.unread) == 0 && len(r.pool.denied) == 0 {
		return fmt.Errorf("read account: %w: %s", ErrNoSuchGroup, strings.Join(missing, ", "))
	}
	for _, name := range missing {
		r.pool.add(audit.Unread{Kind: audit.KindGroup, Name: name, What: "DescribeAutoScalingGroups", Why: "no group of that name was returned"})
	}
	slices.SortFunc(r.targetGroups, func(a, b *audit.TargetGroup) int { return strings.Compare(a.ID, b.ID) })
	r.targetGroups = slices.CompactFunc(r.targetGroups, func(a, b *audit.TargetGroup) bool { return a.ID == b.ID })
	r.settleTargetGroups()
	r.settleOwnAlarms()
	r.identify()
	return nil
}

// ErrNoSuchGroup says that none of the groups that were asked for exists.
var ErrNoSuchGroup = errors.New("no such group in this account and Region")

func (r *reading) missingGroups() []string {
	var missing []string
	for _, name := range r.o.Groups {
		if !slices.ContainsFunc(r.groups, func(g *group) bool { return g.Name == name }) {
			missing = append(missing, name)
		}
	}
	return missing
}

// identify takes partition, Region and account from the first ARN that there is.
func (r *reading) identify() {
	arns := make([]string, 0, 2)
	if len(r.groups) > 0 {
		arns = append(arns, r.groups[0].ARN)
	}
	if len(r.targetGroups) > 0 {
		arns = append(arns, r.targetGroups[0].ID)
	}
	for _, arn := range arns {
		if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 && parts[0] == "arn" {
			r.account.Partition, r.account.Region, r.account.ID = parts[1], parts[3], parts[4]
			return
		}
	}
}

// details are the reads for each group and target group.
func (r *reading) details() []job {
	var jobs []job
	for _, g := range r.groups {
		jobs = append(jobs, r.activityJob(g), r.refreshJob(g))
		jobs = append(jobs, r.guardedJobs(g)...)
	}
	for _, t := range r.targetGroups {
		jobs = append(jobs, r.attributeJob(t), r.healthJob(t))
	}
	jobs = append(jobs, r.tagJobs()...)
	jobs = append(jobs, r.checks.suppressedJobs(r.api.EC2)...)
	if r.o.Metrics {
		jobs = append(jobs, r.metricJobs()...)
	}
	return append(jobs, r.policyJob())
}

// assemble puts everything together.
func (r *reading) assemble() {
	r.joinTargets()
	r.tableless()
	r.account.Groups = make([]audit.Group, 0, len(r.groups))
	for _, g := range r.groups {
		r.judgeSuspensions(g)
		r.account.Groups = append(r.account.Groups, g.Group)
	}
	r.account.TargetGroups = make([]audit.TargetGroup, 0, len(r.targetGroups))
	for _, t := range r.targetGroups {
		r.account.TargetGroups = append(r.account.TargetGroups, *t)
	}
	r.account.Alarms = make([]audit.Alarm, 0, len(r.alarms))
	for _, name := range slices.Sorted(maps.Keys(r.alarms)) {
		r.account.Alarms = append(r.account.Alarms, r.alarms[name])
	}
	r.account.StatusChecks = r.checks.all(r.groups)
	r.account.Unread = r.pool.all()
}
