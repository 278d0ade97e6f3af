package awsfleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// The tag that opts a group in (true) and an instance out (false).
const (
	tagKey   = "holdfast:guard"
	tagGuard = "true"
)

// groupsPageMax is the largest page. Source: SDK doc comment of DescribeAutoScalingGroupsInput.MaxRecords.
const groupsPageMax = 100

// Guarded lists every group with the tag holdfast:guard = true, sorted by name, also those that an AWS service manages. It is
// complete or an error of a fault kind.
func (r *Run) Guarded(ctx context.Context) ([]guard.Group, error) {
	found, err := r.describe(ctx, "describe guarded groups", autoscaling.DescribeAutoScalingGroupsInput{
		Filters: []types.Filter{{Name: aws.String("tag:" + tagKey), Values: []string{tagGuard}}},
	})
	if err != nil {
		return nil, err
	}
	var groups []guard.Group
	for _, raw := range found {
		g, from := decodeGroup(raw)
		if !g.OptedIn {
			continue
		}
		r.remember(g.ARN, from)
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b guard.Group) int { return cmp.Compare(a.Name, b.Name) })
	return groups, nil
}

// Group reads one group afresh; fault.Gone if it does not exist. Its details are read afresh from then on.
func (r *Run) Group(ctx context.Context, name string) (guard.Group, error) {
	what := "describe group " + name
	found, err := r.describe(ctx, what, autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if err != nil {
		return guard.Group{}, err
	}
	for _, raw := range found {
		if aws.ToString(raw.AutoScalingGroupName) == name {
			g, from := decodeGroup(raw)
			from.fresh = true
			r.remember(g.ARN, from)
			return g, nil
		}
	}
	return guard.Group{}, fmt.Errorf("%s: %w", what, fault.Gone)
}

// describe follows every page of a question. A group that moved between pages while they were read stands once, as last seen.
func (r *Run) describe(ctx context.Context, what string, in autoscaling.DescribeAutoScalingGroupsInput) ([]types.AutoScalingGroup, error) {
	in.MaxRecords = aws.Int32(groupsPageMax)
	var found []types.AutoScalingGroup
	err := everyPage(what, func(token *string) (*string, error) {
		in.NextToken = token
		out, err := r.api.AutoScaling.DescribeAutoScalingGroups(ctx, &in)
		if err != nil {
			return nil, err
		}
		for _, g := range out.AutoScalingGroups {
			same := func(o types.AutoScalingGroup) bool {
				return aws.ToString(o.AutoScalingGroupName) == aws.ToString(g.AutoScalingGroupName)
			}
			if i := slices.IndexFunc(found, same); i >= 0 {
				found[i] = g
				continue
			}
			found = append(found, g)
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func decodeGroup(raw types.AutoScalingGroup) (guard.Group, sources) {
	g := guard.Group{
		ARN: aws.ToString(raw.AutoScalingGroupARN), Name: aws.ToString(raw.AutoScalingGroupName),
		Desired: int(aws.ToInt32(raw.DesiredCapacity)), Min: int(aws.ToInt32(raw.MinSize)), Max: int(aws.ToInt32(raw.MaxSize)),
		HealthCheckTypes: words(aws.ToString(raw.HealthCheckType)),
		Grace:            time.Duration(aws.ToInt32(raw.HealthCheckGracePeriod)) * time.Second,
	}
	if raw.Operator != nil {
		g.Operator = cmp.Or(aws.ToString(raw.Operator.Principal), "unnamed service")
	}
	for _, tag := range raw.Tags {
		if aws.ToString(tag.Key) == tagKey && aws.ToString(tag.Value) == tagGuard {
			g.OptedIn = true
		}
	}
	for _, s := range raw.SuspendedProcesses {
		g.Suspended = append(g.Suspended, guard.Suspension{Process: aws.ToString(s.ProcessName), Reason: aws.ToString(s.SuspensionReason)})
	}
	slices.SortFunc(g.Suspended, func(a, b guard.Suspension) int { return cmp.Compare(a.Process, b.Process) })

	var malformed []string
	if raw.AutoScalingGroupARN == nil || raw.DesiredCapacity == nil || raw.MinSize == nil || raw.MaxSize == nil {
		malformed = append(malformed, "the group has no ARN or no capacity")
	}
	for _, i := range raw.Instances {
		m, bad := decodeMember(i)
		if bad != "" {
			malformed = append(malformed, bad)
		}
		g.Weighted = g.Weighted || i.WeightedCapacity != nil
		if m.ID != "" { // everything about a member is found by its id
			g.Members = append(g.Members, m)
		}
	}
	slices.SortFunc(g.Members, func(a, b guard.Member) int { return cmp.Compare(a.ID, b.ID) })
	return g, sources{targetGroups: targetGroupARNs(raw), malformed: strings.Join(malformed, "; ")}
}

func decodeMember(i types.Instance) (m guard.Member, malformed string) {
	m = guard.Member{
		ID: aws.ToString(i.InstanceId), Lifecycle: string(i.LifecycleState),
		// DescribeAutoScalingInstances writes it in capitals, so the case is not to be relied on.
		Unhealthy: strings.EqualFold(aws.ToString(i.HealthStatus), "Unhealthy"),
		Protected: aws.ToBool(i.ProtectedFromScaleIn),
		Zone:      aws.ToString(i.AvailabilityZone), InstanceType: aws.ToString(i.InstanceType),
		LaunchTemplate: aws.ToString(i.LaunchConfigurationName),
	}
	if t := i.LaunchTemplate; t != nil {
		m.LaunchTemplate = cmp.Or(aws.ToString(t.LaunchTemplateName), aws.ToString(t.LaunchTemplateId)) + ":" + aws.ToString(t.Version)
	}
	if m.ID == "" || m.Lifecycle == "" {
		malformed = fmt.Sprintf("a member %q has no id or no lifecycle state", m.ID)
	}
	if i.WeightedCapacity != nil {
		weight, err := strconv.Atoi(*i.WeightedCapacity)
		if err != nil || weight < 1 {
			return m, fmt.Sprintf("the weight of member %s is %q", m.ID, *i.WeightedCapacity)
		}
		m.Weight = weight
	}
	return m, malformed
}

// words splits a comma-separated list; blanks around a word do not count.
func words(list string) []string {
	var out []string
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// targetGroupARNs are those attached the old way and as traffic sources, each once. Traffic sources that are no target group of
// the load balancers (Classic Load Balancers, VPC Lattice) are left out.
func targetGroupARNs(raw types.AutoScalingGroup) []string {
	arns := slices.Clone(raw.TargetGroupARNs)
	for _, source := range raw.TrafficSources {
		id := aws.ToString(source.Identifier)
		kind := aws.ToString(source.Type)
		if (kind == "elbv2" || kind == "" && strings.Contains(id, ":targetgroup/")) && !slices.Contains(arns, id) {
			arns = append(arns, id)
		}
	}
	return arns
}
