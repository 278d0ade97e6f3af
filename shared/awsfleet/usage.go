package awsfleet

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// usageBatchMax is how many target groups are asked for in one call. DescribeTargetGroups documents no bound for its ARNs; 20 is
// the bound that its sister call DescribeLoadBalancers has.
const usageBatchMax = 20

// usage knows which target groups a load balancer uses, for the whole run.
type usage struct {
	mu sync.Mutex
	// asked says that the batch over all groups of the run was tried; byARN has what it answered.
	asked bool
	byARN map[string]bool
}

// addUsage says which of the group's target groups no listener routes to. A first look takes it from one batch over all groups
// of the run. What the batch left open is asked for again for this group alone, so that neither a throttled batch nor another
// group's deleted target group is this group's failure. What stays unknown is left as in use, and is an error.
func (r *Run) addUsage(ctx context.Context, g *guard.Group, from sources) error {
	known := map[string]bool{}
	if !from.fresh && len(from.targetGroups) > 0 {
		known = r.batchedUsage(ctx, from.targetGroups)
	}
	var missing []string
	for _, arn := range from.targetGroups {
		if _, ok := known[arn]; !ok {
			missing = append(missing, arn)
		}
	}
	err := r.readUsage(ctx, missing, known)
	names := map[string]bool{}
	for _, arn := range from.targetGroups {
		inUse, ok := known[arn]
		if !ok && err == nil {
			err = fmt.Errorf("describe target groups of %s: %w: %s was asked for and not returned", g.Name, fault.Partial, targetGroupName(arn))
		}
		names[targetGroupName(arn)] = inUse || !ok
	}
	for i := range g.TargetGroups {
		g.TargetGroups[i].InUse = names[g.TargetGroups[i].Name]
	}
	return err
}

// batchedUsage tries the batch once a run and returns what is known of the target groups asked for. Its failures are not told
// here: who needs what is missing asks for it alone.
func (r *Run) batchedUsage(ctx context.Context, arns []string) map[string]bool {
	r.usage.mu.Lock()
	defer r.usage.mu.Unlock()
	if !r.usage.asked {
		all := r.targetGroups()
		slices.Sort(all)
		for chunk := range slices.Chunk(slices.Compact(all), usageBatchMax) {
			_ = r.readUsage(ctx, chunk, r.usage.byARN)
		}
		r.usage.asked = ctx.Err() == nil
	}
	known := map[string]bool{}
	for _, arn := range arns {
		if inUse, ok := r.usage.byARN[arn]; ok {
			known[arn] = inUse
		}
	}
	return known
}

// readUsage adds to known what it can learn of the target groups.
func (r *Run) readUsage(ctx context.Context, arns []string, known map[string]bool) error {
	for chunk := range slices.Chunk(arns, usageBatchMax) {
		in := &elb.DescribeTargetGroupsInput{TargetGroupArns: chunk}
		err := everyPage("describe target groups", func(marker *string) (*string, error) {
			in.Marker = marker
			out, err := r.api.LoadBalancing.DescribeTargetGroups(ctx, in)
			if err != nil {
				return nil, err
			}
			for _, tg := range out.TargetGroups {
				known[aws.ToString(tg.TargetGroupArn)] = len(tg.LoadBalancerArns) > 0
			}
			return out.NextMarker, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
