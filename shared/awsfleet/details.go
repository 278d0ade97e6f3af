package awsfleet

import (
	"context"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Details adds to a group that Guarded or Group of this run returned: its targets, foreign targets, opted-out members,
// activities and newest instance refresh. What could not be read completely stands in the Reads: a group whose description made
// no sense under Group, everything of the load balancer under Targets, activities and refresh under Activities.
// The group then has what could be read.
func (r *Run) Details(ctx context.Context, g guard.Group) (guard.Group, guard.Reads) {
	from, ok := r.recall(g.ARN)
	if !ok {
		return g, guard.Reads{Group: "read details of " + g.Name + ": this run has not seen the group"}
	}
	g.Members = slices.Clone(g.Members)
	for i := range g.Members {
		g.Members[i].Targets, g.Members[i].OptedOut = nil, false
	}
	g.TargetGroups, g.ForeignTargets, g.Activities, g.Refresh = nil, nil, nil, ""
	var group, targets, activities, optOuts failures
	if from.malformed != "" {
		group = append(group, "describe group "+g.Name+": "+from.malformed)
	}
	optOuts.add(r.addOptOuts(ctx, &g, from.fresh))
	targets = append(targets, r.addTargets(ctx, &g, from)...)
	targets.add(r.addUsage(ctx, &g, from))
	activities.add(r.addActivities(ctx, &g))
	activities.add(r.addRefresh(ctx, &g))
	return g, guard.Reads{
		Group: group.String(), Targets: targets.String(), Activities: activities.String(), OptOuts: optOuts.String(),
	}
}

// failures are the reasons why one source is incomplete.
type failures []string

func (f *failures) add(err error) {
	if err != nil {
		*f = append(*f, err.Error())
	}
}

func (f failures) String() string { return strings.Join(f, "; ") }
