package awsfleet

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// registration is one target of a target group: an instance, an address, or something else that is never a member.
type registration struct {
	id     string
	target guard.Target
}

// addTargets reads one target group after the other, so that one that cannot be read leaves the others.
func (r *Run) addTargets(ctx context.Context, g *guard.Group, from sources) (failed failures) {
	var all []registration
	for _, arn := range from.targetGroups {
		g.TargetGroups = append(g.TargetGroups, guard.TargetGroup{Name: targetGroupName(arn), InUse: true})
		registrations, err := r.targetHealth(ctx, arn, from.fresh)
		failed.add(err)
		all = append(all, registrations...)
	}
	owners := map[string]int{}
	for i, m := range g.Members {
		owners[m.ID] = i
	}
	unmapped := false
	if slices.ContainsFunc(all, registration.isAddress) {
		addresses, err := r.memberAddresses(ctx, g.Name)
		failed.add(err)
		unmapped = err != nil
		for address, id := range addresses {
			if i, ok := owners[id]; ok {
				owners[address.String()] = i
			}
		}
	}
	for _, reg := range all {
		i, ours := owners[reg.key()]
		switch {
		case ours:
			g.Members[i].Targets = append(g.Members[i].Targets, reg.target)
		case unmapped && reg.isAddress():
			// It may well be a member's, so it is not called foreign; the failed read tells of it.
		default:
			g.ForeignTargets = append(g.ForeignTargets, guard.ForeignTarget{
				Group: reg.target.Group, Target: reg.id, State: reg.target.State, Reason: reg.target.Reason,
			})
		}
	}
	sortTargets(g)
	return failed
}

func sortTargets(g *guard.Group) {
	for _, m := range g.Members {
		slices.SortFunc(m.Targets, func(a, b guard.Target) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Port, b.Port), cmp.Compare(a.State, b.State))
		})
	}
	slices.SortFunc(g.ForeignTargets, func(a, b guard.ForeignTarget) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Target, b.Target), cmp.Compare(a.State, b.State))
	})
	slices.SortFunc(g.TargetGroups, func(a, b guard.TargetGroup) int { return cmp.Compare(a.Name, b.Name) })
}

// isAddress says that the target is registered by address, as IPv4 or IPv6.
func (r registration) isAddress() bool {
	_, err := netip.ParseAddr(r.id)
	return err == nil
}

// key is the one spelling of an address; other ids are their own key.
func (r registration) key() string {
	if address, err := netip.ParseAddr(r.id); err == nil {
		return address.Unmap().String()
	}
	return r.id
}

func (r *Run) targetHealth(ctx context.Context, arn string, fresh bool) ([]registration, error) {
	if fresh {
		return r.readTargetHealth(ctx, arn)
	}
	return r.health.get(ctx, arn, r.readTargetHealth)
}

// readTargetHealth asks for all targets of a target group; the answer has no pages. With it come the targets that are
// understood, also when some are not.
func (r *Run) readTargetHealth(ctx context.Context, arn string) ([]registration, error) {
	name := targetGroupName(arn)
	out, err := r.api.LoadBalancing.DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{
		TargetGroupArn: aws.String(arn),
		Include:        []types.DescribeTargetHealthInputIncludeEnum{types.DescribeTargetHealthInputIncludeEnumAnomaly},
	})
	if err != nil {
		return nil, fmt.Errorf("describe target health of %s: %w", name, awserr.Classify(err))
	}
	var found []registration
	malformed := 0
	for _, d := range out.TargetHealthDescriptions {
		if d.Target == nil || aws.ToString(d.Target.Id) == "" || d.TargetHealth == nil || d.TargetHealth.State == "" {
			malformed++
			continue
		}
		found = append(found, registration{id: *d.Target.Id, target: decodeTarget(name, d)})
	}
	if malformed > 0 {
		return found, fmt.Errorf("describe target health of %s: %w: %d targets without an id or a state", name, fault.Partial, malformed)
	}
	return found, nil
}

func decodeTarget(group string, d types.TargetHealthDescription) guard.Target {
	t := guard.Target{
		Group: group, Port: int(aws.ToInt32(d.Target.Port)),
		State: string(d.TargetHealth.State), Reason: string(d.TargetHealth.Reason),
	}
	if a := d.AnomalyDetection; a != nil {
		t.Anomalous = a.Result == types.AnomalyResultEnumAnomalous
	}
	if o := d.AdministrativeOverride; o != nil {
		t.Shifted = strings.HasPrefix(string(o.State), "zonal_shift_")
	}
	return t
}

// targetGroupName takes the name out of an ARN (…:targetgroup/name/id). Names are unique in a Region, so it is what targets and
// pages refer to. Something else is its own name.
func targetGroupName(arn string) string {
	_, rest, ok := strings.Cut(arn, ":targetgroup/")
	if !ok {
		return arn
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}
