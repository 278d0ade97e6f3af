package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// terminating are the rules about what may terminate members of a group by itself.
func terminating() []Rule {
	return []Rule{deepCheck(), unreviewedCheck()}
}

func deepCheck() Rule {
	return Rule{
		ID: "HF001", Name: "deep-check-terminates", Severity: Critical,
		Title: "A deep health check terminates members",
		Why: "The group replaces every member that the load balancer calls unhealthy, and the health check asks more than the member itself. " +
			"When a dependency is slow for a minute, all members fail together and the group terminates its whole fleet. " +
			"The load balancer alone would have sent requests to all of them until the minute was over.",
		Source: "Auto Scaling user guide, \"Health checks for instances in an Auto Scaling group\"; Application Load Balancer user guide, \"Target group health\"",
		Fix: Fix{
			Console:   "EC2 > Auto Scaling groups > {name} > Details > Health checks > Edit: turn Elastic Load Balancing and VPC Lattice health checks off. Then give the health check a path that only the member itself answers.",
			CLI:       "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --health-check-type EC2 --health-check-grace-period 300",
			CDK:       "autoscaling.NewAutoScalingGroup(..., &AutoScalingGroupProps{HealthChecks: autoscaling.HealthChecks_Ec2(&Ec2HealthChecksOptions{GracePeriod: Duration_Seconds(300)})})",
			Terraform: "aws_autoscaling_group: health_check_type = \"EC2\"; aws_lb_target_group: health_check { path = \"/health\" }",
		},
		check: checkDeep,
	}
}

func checkDeep(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		v.typesOf(g)
		for _, id := range v.judging(g) {
			t, ok := v.byID[id]
			if !ok {
				v.unknown(ref{KindTargetGroup, id}, "path")
				continue
			}
			if !t.checksHTTP() {
				continue
			}
			path, ok := have(v, t.ref(), "path", t.Path)
			if !ok {
				continue
			}
			for _, p := range timing.PathProblems(path) {
				out = append(out, g.finding(fmt.Sprintf("health check types %s, target group %s, path %q", strings.Join(g.HealthCheckTypes, ","), t.title(), path), p.Text))
			}
		}
	}
	return out
}

func unreviewedCheck() Rule {
	return Rule{
		ID: "HF003", Name: "unreviewed-check-terminates", Severity: Medium,
		Title: "The load balancer's word terminates members, and nobody has reviewed it",
		Why: "Any failure of the health check that members share, such as a bad release, a wrong security group or an expired certificate, terminates " +
			"them. That may be right for a service; here no review says so.",
		Source: "Auto Scaling user guide, \"Health checks for instances in an Auto Scaling group\"",
		Fix: Fix{
			Console:   "EC2 > Auto Scaling groups > {name} > Details > Health checks > Edit: turn Elastic Load Balancing and VPC Lattice health checks off. Or review the thresholds and write them down with ELB among the health check types.",
			CLI:       "aws autoscaling update-auto-scaling-group --auto-scaling-group-name {name} --health-check-type EC2",
			CDK:       "autoscaling.NewAutoScalingGroup(..., &AutoScalingGroupProps{HealthChecks: autoscaling.HealthChecks_Ec2(&Ec2HealthChecksOptions{GracePeriod: Duration_Seconds(300)})}), or a reviewed entry in thresholds.json with health_check_types [\"EC2\", \"ELB\"]",
			Terraform: "aws_autoscaling_group: health_check_type = \"EC2\"",
		},
		check: checkUnreviewed,
	}
}

func checkUnreviewed(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		v.typesOf(g)
		if !g.byLoadBalancer() || v.reviewed(g) {
			continue
		}
		out = append(out, g.finding("health check types "+strings.Join(g.HealthCheckTypes, ","), "no reviewed thresholds of its target groups have these types"))
	}
	return out
}

// reviewed says whether a review of every target group that may terminate members allows it to.
func (v *view) reviewed(g *Group) bool {
	ids := v.judging(g)
	for _, id := range ids {
		t, ok := v.byID[id]
		if !ok {
			return false
		}
		_, p, ok := v.promise(t)
		if !ok || !allows(p, g) {
			return false
		}
	}
	return len(ids) > 0
}

func allows(p Promise, g *Group) bool {
	for _, kind := range []string{timing.TypeELB, timing.TypeLattice} {
		if g.checksWith(kind) && !slices.Contains(p.HealthCheckTypes, kind) {
			return false
		}
	}
	return true
}
