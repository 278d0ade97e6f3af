package collect

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// groupsPageMax is the largest page, and the most names in one call. Source: SDK doc comments of DescribeAutoScalingGroupsInput.
const groupsPageMax = 100

// tagGuard is the value of the tag audit.TagGuard that opts a group in.
const tagGuard = "true"

// groupJobs list all groups, or those that were asked for.
func (r *reading) groupJobs() []job {
	if len(r.o.Groups) == 0 {
		return []job{r.groupJob(nil)}
	}
	var jobs []job
	for names := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(r.o.Groups))), groupsPageMax) {
		jobs = append(jobs, r.groupJob(names))
	}
	return jobs
}

func (r *reading) groupJob(names []string) job {
	var pages pager
	return job{kind: audit.KindGroup, what: "DescribeAutoScalingGroups", names: names, do: func(ctx context.Context) error {
		return pages.each(func(token *string) (*string, error) {
			out, err := r.api.AutoScaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
				AutoScalingGroupNames: names, MaxRecords: aws.Int32(groupsPageMax), NextToken: token,
			})
			if err != nil {
				return nil, err
			}
			r.pool.mu.Lock()
			defer r.pool.mu.Unlock()
			for _, raw := range out.AutoScalingGroups {
				r.groups = append(r.groups, decodeGroup(raw))
			}
			return out.NextToken, nil
		})
	}}
}

func decodeGroup(raw types.AutoScalingGroup) *group {
	g := &group{started: map[string]launchEnd{}, Group: audit.Group{
		Name: aws.ToString(raw.AutoScalingGroupName), ARN: aws.ToString(raw.AutoScalingGroupARN), Tags: map[string]string{},
		Min: number(raw.MinSize), Max: number(raw.MaxSize), Desired: number(raw.DesiredCapacity),
		HealthCheckTypes: checkTypes(raw.HealthCheckType), GraceSeconds: number(raw.HealthCheckGracePeriod),
		WarmupSeconds: numberOrNone(raw.DefaultInstanceWarmup),
		Zones:         slices.Sorted(slices.Values(raw.AvailabilityZones)), CapacityRebalance: raw.CapacityRebalance,
		ProtectedFromScale: raw.NewInstancesProtectedFromScaleIn, TargetGroups: []string{},
	}}
	// What is off is left out of the answer.
	g.CapacityRebalance = cmp.Or(g.CapacityRebalance, new(bool))
	g.ProtectedFromScale = cmp.Or(g.ProtectedFromScale, new(bool))
	zones := len(g.Zones)
	g.ZoneCount = &zones
	g.MinHealthyPercent, g.MaxHealthyPercent = numberOrNone(nil), numberOrNone(nil)
	if m := raw.InstanceMaintenancePolicy; m != nil {
		g.MinHealthyPercent, g.MaxHealthyPercent = numberOrNone(m.MinHealthyPercentage), numberOrNone(m.MaxHealthyPercentage)
	}
	if raw.Operator != nil {
		g.Operator = cmp.Or(aws.ToString(raw.Operator.Principal), "unnamed service")
	}
	for _, tag := range raw.Tags {
		g.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	g.optedIn = g.Tags[audit.TagGuard] == tagGuard
	g.addTrafficSources(raw)
	g.addSuspensions(raw.SuspendedProcesses)
	g.addMembers(raw.Instances)
	return g
}

func number(n *int32) *int {
	if n == nil {
		return nil
	}
	whole := int(*n)
	return &whole
}

// numberOrNone is number for a setting that AWS leaves out when it is not set.
func numberOrNone(n *int32) *int {
	if n == nil {
		none := audit.NotSet
		return &none
	}
	return number(n)
}

// checkTypes splits the comma-separated list. EC2 is always on. Source: SDK doc comment of HealthCheckType.
func checkTypes(list *string) []string {
	if list == nil {
		return nil
	}
	found := []string{"EC2"}
	for word := range strings.SplitSeq(*list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			found = append(found, word)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// addTrafficSources takes target groups attached the old way and as traffic sources, each once.
func (g *group) addTrafficSources(raw types.AutoScalingGroup) {
	g.TargetGroups = append(g.TargetGroups, raw.TargetGroupARNs...)
	for _, source := range raw.TrafficSources {
		id, kind := aws.ToString(source.Identifier), aws.ToString(source.Type)
		switch {
		case kind == "elbv2", kind == "" && strings.Contains(id, ":targetgroup/"):
			g.TargetGroups = append(g.TargetGroups, id)
		case kind == "vpc-lattice":
			g.LatticeGroups = append(g.LatticeGroups, id)
		}
	}
	slices.Sort(g.TargetGroups)
	g.TargetGroups = slices.Compact(g.TargetGroups)
}

// suspendedAt is the form in which AWS tells the time of a suspension. Source: seen in public code, not documented.
func suspendedAt() *regexp.Regexp {
	return regexp.MustCompile(`^User suspended at (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)`)
}

func (g *group) addSuspensions(all []types.SuspendedProcess) {
	when := suspendedAt()
	for _, raw := range all {
		s := audit.Suspension{Process: aws.ToString(raw.ProcessName), Reason: aws.ToString(raw.SuspensionReason)}
		if found := when.FindStringSubmatch(s.Reason); found != nil {
			if at, err := time.Parse(time.RFC3339, found[1]); err == nil {
				s.Since = at
			}
		}
		g.Suspended = append(g.Suspended, s)
	}
	slices.SortFunc(g.Suspended, func(a, b audit.Suspension) int { return strings.Compare(a.Process, b.Process) })
}

func (g *group) addMembers(all []types.Instance) {
	g.in = guard.Group{ARN: g.ARN, Name: g.Name}
	for _, i := range all {
		m := audit.Member{
			ID: aws.ToString(i.InstanceId), Zone: aws.ToString(i.AvailabilityZone), Lifecycle: string(i.LifecycleState),
			Unhealthy: strings.EqualFold(aws.ToString(i.HealthStatus), "Unhealthy"), Protected: aws.ToBool(i.ProtectedFromScaleIn),
		}
		g.Members = append(g.Members, m)
		g.in.Members = append(g.in.Members, guard.Member{ID: m.ID})
	}
	slices.SortFunc(g.Members, func(a, b audit.Member) int { return strings.Compare(a.ID, b.ID) })
}
