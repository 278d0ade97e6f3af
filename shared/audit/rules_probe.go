package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// probing are the rules about the numbers of a target group's health check.
func probing() []Rule {
	return []Rule{restartCalledFailure(), detectionTooLate(), timeoutsNotNested(), hairTrigger()}
}

// probeFix is the fix of rules about one number of the health check.
func probeFix(console, cli, cdk, terraform string) Fix {
	return Fix{
		Console:        "EC2 > Target groups > {name} > Health checks > Edit: " + console,
		CLI:            "aws elbv2 modify-target-group --target-group-arn {arn} " + cli,
		CloudFormation: "AWS::ElasticLoadBalancingV2::TargetGroup: { " + properties(cli) + " }",
		CDK:            "new ApplicationTargetGroup(this, ..., { healthCheck: { " + cdk + " } })",
		Terraform:      "resource \"aws_lb_target_group\": health_check { " + terraform + " }",
	}
}

// properties writes the flags of a command as CloudFormation's properties, whose names are the same words.
func properties(cli string) string {
	var out []string
	words := strings.Fields(cli)
	for i := 0; i+1 < len(words); i += 2 {
		name := ""
		for part := range strings.SplitSeq(strings.TrimPrefix(words[i], "--"), "-") {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
		value := words[i+1]
		if key, codes, nested := strings.Cut(value, "="); nested {
			value = fmt.Sprintf("{ %s: \"%s\" }", key, codes)
		}
		out = append(out, name+": "+value)
	}
	return strings.Join(out, ", ")
}

// known is a target group's health check with what its service promises. Numbers that are unknown are 0; ok says that all of those asked
// for are known.
func (v *view) known(t *TargetGroup, p Promise, asked ...string) (c timing.Check, ok bool) {
	c, ok = p.check(), true
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	for _, name := range asked {
		var n int
		var found bool
		switch name {
		case "interval_seconds":
			n, found = have(v, t.ref(), name, t.IntervalSeconds)
			c.Interval = seconds(n)
		case "timeout_seconds":
			n, found = have(v, t.ref(), name, t.TimeoutSeconds)
			c.Timeout = seconds(n)
		case "unhealthy_count":
			c.Unhealthy, found = have(v, t.ref(), name, t.UnhealthyCount)
		}
		ok = ok && found
	}
	return c, ok
}

// broken lists the texts of one rule's problems.
func broken(problems []timing.Problem, rule string) []string {
	var out []string
	for _, p := range problems {
		if p.Rule == rule {
			out = append(out, p.Text)
		}
	}
	return out
}

func windowText(c timing.Check) string {
	return fmt.Sprintf("interval %s, timeout %s, unhealthy count %d", c.Interval, c.Timeout, c.Unhealthy)
}

// promised judges one rule of package timing on each target group whose service promises something. The promise says in words what it is,
// with the number that would keep it.
func promised(v *view, rule string, promise func(timing.Check) (saw string, want int)) []Finding {
	var out []Finding
	for _, t := range v.targetGroups {
		service, p, ok := v.promise(t)
		if !ok || t.lambda() {
			continue
		}
		c, ok := v.known(t, p, "interval_seconds", "timeout_seconds", "unhealthy_count")
		if !ok {
			continue
		}
		for _, text := range broken(c.Problems(), rule) {
			saw, want := promise(c)
			f := t.finding(fmt.Sprintf("service %s: %s; %s", service, saw, windowText(c)), text)
			f.detail = []string{strconv.Itoa(want)}
			out = append(out, f)
		}
	}
	return out
}

func restartCalledFailure() Rule {
	return Rule{
		ID: "HF007", Name: "restart-called-failure", Severity: Medium,
		Title: "A plain restart is called a failure",
		Why: "The service may take longer to restart than the load balancer needs to call it unhealthy. Each deploy and each crash that mends itself then takes " +
			"the member out, and where the load balancer's word terminates, it is replaced for nothing.",
		Source: "Elastic Load Balancing user guides, \"Health checks for your target groups\"; the service's reviewed restart budget",
		Fix: probeFix("a longer interval or a higher unhealthy threshold, so that unhealthy x interval + timeout is more than the restart budget.",
			"--unhealthy-threshold-count {detail}", "unhealthyThresholdCount: {detail}", "unhealthy_threshold = {detail}"),
		check: func(v *view) []Finding {
			return promised(v, timing.RuleRestart, func(c timing.Check) (string, int) {
				// The lowest count whose window is longer than the budget.
				count := max(int((c.Restart-c.Timeout)/max(c.Interval, time.Second))+1, timing.CountMin)
				return "restart budget " + c.Restart.String(), min(count, timing.CountMax)
			})
		},
	}
}

func detectionTooLate() Rule {
	return Rule{
		ID: "HF008", Name: "detection-too-late", Severity: Medium,
		Title:  "A failure is known later than the service promises",
		Why:    "Until the load balancer calls a broken member unhealthy, it goes on sending it its share of the requests, and all of them fail.",
		Source: "Elastic Load Balancing user guides, \"Health checks for your target groups\"; the service's reviewed recovery objective",
		Fix: probeFix("a shorter interval and a timeout below it, so that unhealthy x interval + timeout is at most the recovery objective.",
			"--health-check-interval-seconds {detail}", "interval: Duration.seconds({detail})", "interval = {detail}"),
		check: func(v *view) []Finding {
			return promised(v, timing.RuleObjective, func(c timing.Check) (string, int) {
				// The longest interval whose window is not longer than the objective.
				interval := (c.Objective - c.Timeout) / time.Duration(max(c.Unhealthy, 1))
				return "recovery objective " + c.Objective.String(), int(min(max(interval, timing.IntervalMin), timing.IntervalMax) / time.Second)
			})
		},
	}
}

func timeoutsNotNested() Rule {
	return Rule{
		ID: "HF009", Name: "timeouts-not-nested", Severity: Medium,
		Title: "Timeouts do not end inside each other",
		Why: "When an inner timeout is as long as the one around it, a slow dependency looks exactly like a wedged instance, and the right answers to the two are " +
			"opposite. Wanted: dependency < handler < probe < interval.",
		Source: "Elastic Load Balancing user guides, \"Health checks for your target groups\"; the service's reviewed timeouts",
		Fix: probeFix("a timeout below the interval and above the handler's own; and in the service a handler timeout above its longest dependency's.",
			"--health-check-interval-seconds 10 --health-check-timeout-seconds 5", "interval: Duration.seconds(10), timeout: Duration.seconds(5)", "interval = 10, timeout = 5"),
		check: checkNested,
	}
}

func checkNested(v *view) []Finding {
	var out []Finding
	for _, t := range v.targetGroups {
		if t.lambda() {
			continue
		}
		service, p, _ := v.promise(t)
		// A number that is unknown is left out of the chain; the others still have their order.
		c, _ := v.known(t, p, "interval_seconds", "timeout_seconds")
		texts := broken(c.Problems(), timing.RuleNested)
		if len(texts) == 0 {
			continue
		}
		var saw []string
		for _, s := range []struct {
			name  string
			value time.Duration
		}{{"dependency timeout", c.Dependency}, {"handler timeout", c.Handler}, {"probe timeout", c.Timeout}, {"interval", c.Interval}} {
			if s.value > 0 {
				saw = append(saw, s.name+" "+s.value.String())
			}
		}
		text := strings.Join(saw, ", ")
		if service != "" {
			text = "service " + service + ": " + text
		}
		out = append(out, t.finding(text, strings.Join(texts, "; ")))
	}
	return out
}

func hairTrigger() Rule {
	return Rule{
		ID: "HF010", Name: "hair-trigger", Severity: Medium,
		Title: "Two lost probes within seconds take a member out",
		Why: "A pause of the process, a lost packet and its repeat, or a busy minute are as long as two short probes. Members leave and come back by turns, " +
			"and the load on the others grows each time.",
		Source: "Elastic Load Balancing user guides, \"Health checks for your target groups\"",
		Fix: probeFix("an unhealthy threshold of 3, or an interval above 10 seconds.", "--unhealthy-threshold-count 3", "unhealthyThresholdCount: 3",
			"unhealthy_threshold = 3"),
		check: func(v *view) []Finding {
			var out []Finding
			for _, t := range v.targetGroups {
				if t.lambda() {
					continue
				}
				c, ok := v.known(t, Promise{}, "interval_seconds", "unhealthy_count")
				if ok && c.HairTrigger() {
					out = append(out, t.finding(fmt.Sprintf("unhealthy count %d, interval %s", c.Unhealthy, c.Interval),
						fmt.Sprintf("%d x %s = %s of lost probes; want more than %d of them, or an interval above %s",
							c.Unhealthy, c.Interval, time.Duration(c.Unhealthy)*c.Interval, timing.CountMin, timing.ShortInterval)))
				}
			}
			return out
		},
	}
}
