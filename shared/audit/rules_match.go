package audit

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// matching are the rules about which answers count as healthy, and about target groups that do not fit each other or nobody.
func matching() []Rule {
	return []Rule{matcherTooWide(), pathRedirects(), thresholdsDiffer(), targetsNotUsed()}
}

// codes is a range of HTTP codes that count as healthy, both ends included.
type codes struct{ first, last int }

// codesOf reads a matcher such as 200, 200,204 or 200-299. What is no HTTP code, as in a gRPC matcher, is left out.
func codesOf(matcher string) []codes {
	var out []codes
	for part := range strings.SplitSeq(matcher, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		first, errFirst := strconv.Atoi(low)
		last, errLast := strconv.Atoi(high)
		if errFirst == nil && errLast == nil && first >= 100 && last <= 599 && first <= last {
			out = append(out, codes{first, last})
		}
	}
	return out
}

// accepts says whether any code from first to last counts as healthy.
func accepts(all []codes, first, last int) bool {
	return slices.ContainsFunc(all, func(c codes) bool { return c.first <= last && c.last >= first })
}

func matcherTooWide() Rule {
	return Rule{
		ID: "HF014", Name: "matcher-too-wide", Severity: High,
		Title: "Error answers count as healthy",
		Why: "A member that answers \"not found\", \"forbidden\" or an error to everything, because its release is broken or not there, passes its health check and " +
			"goes on getting requests. Nobody is told.",
		Source: "Application Load Balancer user guide, \"Health checks for your target groups\", success codes",
		Fix:    probeFix("success codes 200.", "--matcher HttpCode=200", "healthyHttpCodes: \"200\"", "matcher = \"200\""),
		check: func(v *view) []Finding {
			var out []Finding
			for _, t := range v.targetGroups {
				if !v.checksHTTP(t) {
					continue
				}
				matcher, ok := have(v, t.ref(), "matcher", t.Matcher)
				if all := codesOf(matcher); ok && (accepts(all, 400, 599) || accepts(all, 100, 199)) {
					out = append(out, t.finding("success codes "+matcher, "codes outside 200 to 399 count as healthy; want 200 to 299 at most"))
				}
			}
			return out
		},
	}
}

func pathRedirects() Rule {
	return Rule{
		ID: "HF015", Name: "health-path-redirects", Severity: Medium,
		Title: "A redirect answers the health check",
		Why: "The load balancer does not follow a redirect. Where it counts as healthy, the check proves only that something redirects, to a login page or to HTTPS, " +
			"not that the service works; where it does not count, working members are taken out.",
		Source: "Application Load Balancer user guide, \"Health checks for your target groups\", success codes",
		Fix:    probeFix("a path that answers 200 itself, and success codes 200.", "--health-check-path /health --matcher HttpCode=200", "path: \"/health\", healthyHttpCodes: \"200\"", "path = \"/health\", matcher = \"200\""),
		check:  checkRedirects,
	}
}

func checkRedirects(v *view) []Finding {
	var out []Finding
	for _, t := range v.targetGroups {
		if !v.checksHTTP(t) {
			continue
		}
		matcher, ok := have(v, t.ref(), "matcher", t.Matcher)
		failing, reason := t.redirected()
		switch {
		case failing > 0:
			f := t.finding(fmt.Sprintf("%s: %s", guard.Counted(failing, "target"), reason), "a code from 300 to 399 is a redirect, and takes them out")
			f.Severity = High
			out = append(out, f)
		case ok && accepts(codesOf(matcher), 300, 399):
			out = append(out, t.finding("success codes "+matcher, "codes from 300 to 399 are redirects and count as healthy"))
		}
	}
	return out
}

// redirected counts the targets that are unhealthy because they answered with a redirect, with the reason of the first such state.
func (t *TargetGroup) redirected() (count int, reason string) {
	code := regexp.MustCompile(`^unhealthy\b.*\b3\d\d\b`)
	for _, state := range slices.Sorted(maps.Keys(t.States)) {
		if t.States[state] > 0 && code.MatchString(state) {
			if count == 0 {
				reason = state
			}
			count += t.States[state]
		}
	}
	return count, reason
}

func thresholdsDiffer() Rule {
	return Rule{
		ID: "HF016", Name: "thresholds-differ", Severity: Low,
		Title: "Target groups of one group judge its members by different numbers",
		Why: "One member is healthy here and unhealthy there at the same time. Where the load balancer's word terminates, the strictest of them decides, which is " +
			"seldom the one that was reviewed.",
		Source: "Auto Scaling user guide, \"Health checks for instances in an Auto Scaling group\"",
		Fix: Fix{
			Console:        "EC2 > Target groups: give all target groups of {name} the same interval, timeout and thresholds, or one target group less.",
			CLI:            "aws autoscaling describe-traffic-sources --auto-scaling-group-name {name}\naws elbv2 modify-target-group --target-group-arn ARN --health-check-interval-seconds 10 --health-check-timeout-seconds 5 --unhealthy-threshold-count 3 --healthy-threshold-count 2",
			CloudFormation: "Give all AWS::ElasticLoadBalancingV2::TargetGroup of the group the same HealthCheckIntervalSeconds, HealthCheckTimeoutSeconds, HealthyThresholdCount and UnhealthyThresholdCount.",
			CDK:            "Give all ApplicationTargetGroups of the group one and the same healthCheck object.",
			Terraform:      "Give all aws_lb_target_group of the group the same health_check block, from one local value.",
		},
		check: checkDiffer,
	}
}

func checkDiffer(v *view) []Finding {
	var out []Finding
	for _, g := range v.groups {
		if g.TargetGroups == nil {
			v.unknown(g.ref(), "target_groups")
		}
		var saw []string
		for _, p := range []struct {
			name string
			of   func(*TargetGroup) *int
		}{
			{"interval", func(t *TargetGroup) *int { return t.IntervalSeconds }}, {"timeout", func(t *TargetGroup) *int { return t.TimeoutSeconds }},
			{"unhealthy count", func(t *TargetGroup) *int { return t.UnhealthyCount }}, {"healthy count", func(t *TargetGroup) *int { return t.HealthyCount }},
		} {
			var values []int
			for _, id := range g.attached() {
				if t, ok := v.byID[id]; ok && p.of(t) != nil {
					values = append(values, *p.of(t))
				}
			}
			if len(values) > 1 && slices.Min(values) != slices.Max(values) {
				saw = append(saw, fmt.Sprintf("%s %d to %d", p.name, slices.Min(values), slices.Max(values)))
			}
		}
		if len(saw) > 0 {
			f := g.finding(fmt.Sprintf("target groups %s: %s", v.titles(g.attached()), strings.Join(saw, ", ")), "")
			if g.byLoadBalancer() {
				f.Severity, f.Sum = Medium, typesText(g)+": the strictest of them terminates"
			}
			out = append(out, f)
		}
	}
	return out
}

func targetsNotUsed() Rule {
	return Rule{
		ID: "HF017", Name: "targets-not-used", Severity: Medium, state: true,
		Title: "Registered members get no requests and no health check",
		Why: "No listener sends requests to this target group, or not in the members' zone. Nobody asks whether its members work: they count as neither healthy nor " +
			"unhealthy, and the day on which a listener is pointed at them is the day on which it shows.",
		Source: "Application Load Balancer user guide, \"Target health status\", Target.NotInUse",
		Fix: Fix{
			Console:        "EC2 > Load balancers > Listeners: forward to {name}, and enable the members' zones at the load balancer; or take the target group off its Auto Scaling group and delete it.",
			CLI:            "aws elbv2 describe-target-health --target-group-arn {arn}\naws elbv2 create-listener --load-balancer-arn ARN --protocol HTTP --port 80 --default-actions Type=forward,TargetGroupArn={arn}",
			CloudFormation: "AWS::ElasticLoadBalancingV2::Listener: { DefaultActions: [{ Type: forward, TargetGroupArn: ... }] }",
			CDK:            "listener.addTargetGroups(..., { targetGroups: [...] }), and all zones of the group in the load balancer's vpcSubnets",
			Terraform:      "resource \"aws_lb_listener\": default_action { type = \"forward\", target_group_arn = ... }",
		},
		check: checkNotUsed,
	}
}

func checkNotUsed(v *view) []Finding {
	var out []Finding
	for _, t := range v.targetGroups {
		if t.LoadBalancers == nil {
			v.unknown(t.ref(), "load_balancers")
		}
		total, unused := 0, 0
		for state, n := range t.States {
			total += n
			if strings.Contains(state, "Target.NotInUse") {
				unused += n
			}
		}
		switch {
		case t.LoadBalancers != nil && len(t.LoadBalancers) == 0 && total > 0:
			out = append(out, t.finding("no load balancer uses it; "+guard.Counted(total, "registered target"), ""))
		case unused > 0:
			out = append(out, t.finding(fmt.Sprintf("%d of %s are unused, Target.NotInUse", unused, guard.Counted(total, "target")), ""))
		}
	}
	return out
}
