package collect

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// targetGroupsPageMax is the largest page. Source: SDK doc comment of DescribeTargetGroupsInput.PageSize.
const targetGroupsPageMax = 400

// registration is one target of a target group.
type registration struct{ id, state string }

// targetGroupJob lists all target groups, which also says which load balancers use them.
func (r *reading) targetGroupJob() job {
	var pages pager
	return job{kind: audit.KindTargetGroup, what: "DescribeTargetGroups", do: func(ctx context.Context) error {
		err := pages.each(func(marker *string) (*string, error) {
			out, err := r.api.LoadBalancing.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{
				Marker: marker, PageSize: aws.Int32(targetGroupsPageMax),
			})
			if err != nil {
				return nil, err
			}
			r.pool.mu.Lock()
			defer r.pool.mu.Unlock()
			for _, raw := range out.TargetGroups {
				r.targetGroups = append(r.targetGroups, decodeTargetGroup(raw))
			}
			return out.NextMarker, nil
		})
		r.listed = err == nil
		return err
	}}
}

func decodeTargetGroup(raw types.TargetGroup) *audit.TargetGroup {
	t := &audit.TargetGroup{
		ID: aws.ToString(raw.TargetGroupArn), Name: aws.ToString(raw.TargetGroupName), TargetType: string(raw.TargetType),
		Protocol: string(raw.Protocol), CheckProtocol: string(raw.HealthCheckProtocol), Path: raw.HealthCheckPath, Port: raw.HealthCheckPort,
		IntervalSeconds: number(raw.HealthCheckIntervalSeconds), TimeoutSeconds: number(raw.HealthCheckTimeoutSeconds),
		HealthyCount: number(raw.HealthyThresholdCount), UnhealthyCount: number(raw.UnhealthyThresholdCount),
		LoadBalancers: append([]string{}, raw.LoadBalancerArns...),
	}
	if m := raw.Matcher; m != nil {
		t.Matcher = m.HttpCode
		if m.GrpcCode != nil {
			t.Matcher = m.GrpcCode
		}
	}
	return t
}

// settleTargetGroups keeps the target groups of the chosen groups, and names those that a group has and the list did not.
func (r *reading) settleTargetGroups() {
	used := map[string]bool{}
	for _, g := range r.groups {
		for _, id := range g.TargetGroups {
			used[id] = true
		}
	}
	known := map[string]bool{}
	for _, t := range r.targetGroups {
		known[t.ID] = true
	}
	if len(r.o.Groups) > 0 {
		r.targetGroups = slices.DeleteFunc(r.targetGroups, func(t *audit.TargetGroup) bool { return !used[t.ID] })
	}
	if !r.listed {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		if !known[id] {
			r.pool.add(audit.Unread{Kind: audit.KindTargetGroup, Name: id, What: "DescribeTargetGroups", Why: "a group names it and it was not returned"})
		}
	}
}

// attributeJob reads what DescribeTargetGroups does not tell.
func (r *reading) attributeJob(t *audit.TargetGroup) job {
	return job{kind: audit.KindTargetGroup, what: "DescribeTargetGroupAttributes", names: []string{t.Name}, do: func(ctx context.Context) error {
		var attributes []types.TargetGroupAttribute
		err := (&pager{}).one(func(*string) (*string, error) {
			out, err := r.api.LoadBalancing.DescribeTargetGroupAttributes(ctx, &elb.DescribeTargetGroupAttributesInput{TargetGroupArn: aws.String(t.ID)})
			if err == nil {
				attributes = out.Attributes
			}
			return nil, err
		})
		if err != nil {
			return err
		}
		fields := attributeFields(t)
		for _, a := range attributes {
			if field, ok := fields[aws.ToString(a.Key)]; ok {
				*field = attributeValue(aws.ToString(a.Value))
			}
		}
		return nil
	}}
}

// attributeFields are the attributes that are kept. Source: SDK doc comment of TargetGroupAttribute.Key.
func attributeFields(t *audit.TargetGroup) map[string]**int {
	const health = "target_group_health."
	return map[string]**int{
		"deregistration_delay.timeout_seconds":                                &t.DrainSeconds,
		"slow_start.duration_seconds":                                         &t.SlowStartSeconds,
		health + "unhealthy_state_routing.minimum_healthy_targets.count":      &t.FailOpenCount,
		health + "unhealthy_state_routing.minimum_healthy_targets.percentage": &t.FailOpenPercent,
		health + "dns_failover.minimum_healthy_targets.count":                 &t.DNSCount,
		health + "dns_failover.minimum_healthy_targets.percentage":            &t.DNSPercent,
	}
}

// attributeValue is a whole number, NotSet for off, and unknown for anything else.
func attributeValue(text string) *int {
	value := audit.NotSet
	if text == "off" {
		return &value
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return &n
}

// healthJob reads the states of all targets of a target group; the answer has no pages.
func (r *reading) healthJob(t *audit.TargetGroup) job {
	return job{kind: audit.KindTargetGroup, what: "DescribeTargetHealth", names: []string{t.Name}, do: func(ctx context.Context) error {
		var all []types.TargetHealthDescription
		err := (&pager{}).one(func(*string) (*string, error) {
			out, err := r.api.LoadBalancing.DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(t.ID)})
			if err == nil {
				all = out.TargetHealthDescriptions
			}
			return nil, err
		})
		if err != nil {
			return err
		}
		t.States = map[string]int{}
		var found []registration
		for _, d := range all {
			if d.Target == nil || d.TargetHealth == nil {
				continue
			}
			state := strings.TrimSpace(string(d.TargetHealth.State) + " " + string(d.TargetHealth.Reason))
			t.States[state]++
			found = append(found, registration{aws.ToString(d.Target.Id), state})
		}
		r.pool.mu.Lock()
		defer r.pool.mu.Unlock()
		r.states[t.ID] = found
		return nil
	}}
}

// joinTargets tells each member its states, and each group its boot time as far as it can be seen.
func (r *reading) joinTargets() {
	byID := map[string]map[string]string{} // by target group, then by target
	for id, all := range r.states {
		worst := map[string]string{}
		for _, reg := range all {
			if was, ok := worst[reg.id]; !ok || rank(reg.state) < rank(was) {
				worst[reg.id] = reg.state
			}
		}
		byID[id] = worst
	}
	for _, g := range r.groups {
		for i, m := range g.Members {
			for _, id := range g.TargetGroups {
				if state, ok := byID[id][m.ID]; ok {
					if g.Members[i].Targets == nil {
						g.Members[i].Targets = map[string]string{}
					}
					g.Members[i].Targets[id] = state
				}
			}
		}
		g.BootSeconds = r.boot(g)
	}
}

// rank orders states, the worst first: over several ports a member has its worst one.
func rank(state string) int {
	word, _, _ := strings.Cut(state, " ")
	return slices.Index([]string{"healthy", "initial", "draining", "unavailable", "unused", "unhealthy.draining", "unhealthy"}, word) * -1
}

// boot is the longest time for which a member has been in service while its target still had its first checks to pass. It is less
// than what booting takes in the end, and never more.
func (r *reading) boot(g *group) *int {
	longest := audit.NotSet
	for _, m := range g.Members {
		began, ok := g.started[m.ID]
		if !ok || m.Lifecycle != "InService" {
			continue
		}
		for _, state := range m.Targets {
			if strings.HasPrefix(state, "initial") {
				longest = max(longest, int(r.account.At.Sub(began).Seconds()))
			}
		}
	}
	return &longest
}
