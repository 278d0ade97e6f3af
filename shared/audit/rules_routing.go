package audit

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

// routing are the rules about where a load balancer sends requests, and until when.
func routing() []Rule {
	return []Rule{failOpenRaised(), dnsBelowRouting(), drainCutsRequests()}
}

// attributeFix is the fix of rules about an attribute of a target group.
func attributeFix(console, cli, cdk, terraform string) Fix {
	return Fix{
		Console:        "EC2 > Target groups > {name} > Attributes > Edit: " + console,
		CLI:            "aws elbv2 modify-target-group-attributes --target-group-arn {arn} --attributes " + cli,
		CloudFormation: "AWS::ElasticLoadBalancingV2::TargetGroup: { TargetGroupAttributes: [" + attributes(cli) + "] }",
		CDK:            "new ApplicationTargetGroup(this, ..., { " + cdk + " })",
		Terraform:      "resource \"aws_lb_target_group\": " + terraform,
	}
}

// attributes writes the attributes of a command as CloudFormation does.
func attributes(cli string) string {
	var out []string
	for pair := range strings.FieldsSeq(cli) {
		key, value, _ := strings.Cut(strings.TrimPrefix(pair, "Key="), ",Value=")
		out = append(out, fmt.Sprintf("{ Key: %s, Value: \"%s\" }", key, value))
	}
	return strings.Join(out, ", ")
}

func failOpenRaised() Rule {
	return Rule{
		ID: "HF011", Name: "fail-open-raised", Severity: Medium,
		Title: "Requests go to unhealthy members earlier than by default, and nobody has reviewed it",
		Why: "With fewer healthy members than this threshold, the load balancer sends requests to all of them, broken ones included. Raised, it protects the healthy " +
			"ones from overload; but then a part of all requests fails while others could have been served. It is a choice to be made on purpose.",
		Source: "Application Load Balancer user guide, \"Target group health\"",
		Fix: attributeFix("set the routing threshold of target group health back to 1 and no percentage, or review it and write it down as fail_open_percent.",
			"Key=target_group_health.unhealthy_state_routing.minimum_healthy_targets.count,Value=1 Key=target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage,Value=off",
			"targetGroupHealth: { routingMinimumHealthyTargetCount: 1 }", "target_group_health { unhealthy_state_routing { minimum_healthy_targets_count = 1 } }"),
		check: checkFailOpen,
	}
}

func checkFailOpen(v *view) []Finding {
	var out []Finding
	for _, t := range v.targetGroups {
		if t.lambda() {
			continue
		}
		_, p, _ := v.promise(t)
		count, okCount := have(v, t.ref(), "fail_open_count", t.FailOpenCount)
		percent, okPercent := have(v, t.ref(), "fail_open_percent", t.FailOpenPercent)
		var saw []string
		if okCount && count > 1 {
			saw = append(saw, fmt.Sprintf("fail-open below %d healthy targets, default 1", count))
		}
		if okPercent && percent > 0 && percent != p.FailOpenPercent && !v.tagsUnread(t) {
			saw = append(saw, fmt.Sprintf("fail-open below %d %% healthy targets, default off", percent))
		}
		if len(saw) == 0 {
			continue
		}
		sum := ""
		if okPercent && percent > 0 {
			sum = fmt.Sprintf("with %d %% of the targets unhealthy, all of them get requests", min(100, 101-percent))
		}
		out = append(out, t.finding(strings.Join(saw, "; "), sum))
	}
	return out
}

func dnsBelowRouting() Rule {
	return Rule{
		ID: "HF012", Name: "dns-below-routing", Severity: Medium,
		Title: "DNS gives a zone up later than routing does",
		Why: "The load balancer first spreads requests over broken members of a zone, and only with still fewer healthy ones does DNS leave the zone out. " +
			"The order must be the other way round.",
		Source: "Application Load Balancer user guide, \"Target group health\"",
		Fix: attributeFix("in target group health, a DNS failover threshold that is at least the routing threshold.",
			"Key=target_group_health.dns_failover.minimum_healthy_targets.percentage,Value=50 Key=target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage,Value=50",
			"targetGroupHealth: { dnsMinimumHealthyTargetPercentage: 50, routingMinimumHealthyTargetPercentage: 50 }",
			"target_group_health { dns_failover { minimum_healthy_targets_percentage = 50 }, unhealthy_state_routing { minimum_healthy_targets_percentage = 50 } }"),
		check: checkDNS,
	}
}

func checkDNS(v *view) []Finding {
	var out []Finding
	for _, t := range v.targetGroups {
		if t.lambda() {
			continue
		}
		var texts []string
		failOpen, ok := have(v, t.ref(), "fail_open_percent", t.FailOpenPercent)
		dns, okDNS := have(v, t.ref(), "dns_percent", t.DNSPercent)
		if ok && okDNS {
			texts = broken(timing.FloorProblems(max(failOpen, 0), max(dns, 0)), timing.RuleDNS)
		}
		failOpenCount, ok := have(v, t.ref(), "fail_open_count", t.FailOpenCount)
		dnsCount, okDNS := have(v, t.ref(), "dns_count", t.DNSCount)
		if ok && okDNS {
			texts = append(texts, broken(timing.FloorCountProblems(failOpenCount, dnsCount), timing.RuleDNS)...)
		}
		if len(texts) > 0 {
			out = append(out, t.finding(fmt.Sprintf("routing %s, DNS failover %s", floor(t.FailOpenCount, t.FailOpenPercent), floor(t.DNSCount, t.DNSPercent)), strings.Join(texts, "; ")))
		}
	}
	return out
}

// floor writes a threshold that may be a count, a percentage or both.
func floor(count, percent *int) string {
	var parts []string
	if count != nil && *count > 0 {
		parts = append(parts, guard.Counted(*count, "target"))
	}
	if percent != nil && *percent > 0 {
		parts = append(parts, fmt.Sprintf("%d %%", *percent))
	}
	return cmp.Or(strings.Join(parts, " or "), "off")
}

func drainCutsRequests() Rule {
	return Rule{
		ID: "HF013", Name: "drain-cuts-requests", Severity: Medium, state: true,
		Title: "Deregistration ends before the longest request does",
		Why: "A member that is replaced or scaled in is cut off after the deregistration delay. Requests that take longer end in an error, also in a deploy in which " +
			"nothing is wrong.",
		Source: "Application Load Balancer user guide, \"Deregistration delay\"",
		Fix: attributeFix("a deregistration delay above the longest request.", "Key=deregistration_delay.timeout_seconds,Value={detail}",
			"deregistrationDelay: Duration.seconds({detail})", "deregistration_delay = {detail}"),
		check: checkDrain,
	}
}

func checkDrain(v *view) []Finding {
	const drainMax = 3600
	var out []Finding
	for _, t := range v.targetGroups {
		if t.lambda() {
			continue
		}
		drain, okDrain := have(v, t.ref(), "deregistration_delay_seconds", t.DrainSeconds)
		longest, okLongest := have(v, t.ref(), "longest_request_seconds", t.LongestRequestSeconds)
		if !okDrain || !okLongest || float64(drain) >= longest {
			continue
		}
		f := t.finding(fmt.Sprintf("deregistration delay %d s; the longest request of the last day took %.1f s", drain, longest), fmt.Sprintf("%.1f s - %d s = %.1f s too short", longest, drain, longest-float64(drain)))
		f.detail = []string{fmt.Sprint(min(int(min(longest, drainMax))+30, drainMax))}
		out = append(out, f)
	}
	return out
}
