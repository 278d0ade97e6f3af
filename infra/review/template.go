package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// Tags that are read in templates.
const (
	// TagService on a target group names the service whose reviewed numbers it must have.
	TagService = "holdfast:service"
	// TagGuard with GuardValue on an Auto Scaling group puts it under guard.
	TagGuard   = "holdfast:guard"
	GuardValue = "true"
)

// Attribute keys of a target group. Source: Elastic Load Balancing user guide, target group attributes.
const (
	AttrDrain           = "deregistration_delay.timeout_seconds"
	AttrSlowStart       = "slow_start.duration_seconds"
	AttrAlgorithm       = "load_balancing.algorithm.type"
	AttrMitigation      = "load_balancing.algorithm.anomaly_mitigation"
	AttrFailOpenPercent = "target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage"
	AttrFailOpenCount   = "target_group_health.unhealthy_state_routing.minimum_healthy_targets.count"
	AttrDNSPercent      = "target_group_health.dns_failover.minimum_healthy_targets.percentage"
	AttrDNSCount        = "target_group_health.dns_failover.minimum_healthy_targets.count"
)

// Finding is a broken rule at a resource of a template.
type Finding struct {
	Resource string
	Problem
}

// resource is what is read of one.
type resource struct {
	Type       string
	Properties json.RawMessage
}

// JudgeTemplate judges every target group and Auto Scaling group of a finished CloudFormation template by the same rules as Problems, sorted
// by logical id. A target group that carries TagService must have exactly the numbers of the register. A value that is no literal
// cannot be judged and is a problem of its own.
func JudgeTemplate(text []byte, reg *Register) ([]Finding, error) {
	var template struct{ Resources map[string]resource }
	if err := json.Unmarshal(text, &template); err != nil {
		return nil, fmt.Errorf("decode template: %w", err)
	}
	var out []Finding
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(template.Resources)) {
		r := template.Resources[id]
		var problems []Problem
		var err error
		switch r.Type {
		case "AWS::ElasticLoadBalancingV2::TargetGroup":
			problems, err = judgeTargetGroup(r.Properties, reg)
		case "AWS::AutoScaling::AutoScalingGroup":
			problems, err = judgeGroup(r.Properties)
		default:
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("decode %s: %w", id, err))
		}
		for _, p := range problems {
			out = append(out, Finding{Resource: id, Problem: p})
		}
	}
	return out, errors.Join(errs...)
}

// literal is a property that may be a string, a number or an intrinsic function.
type literal struct {
	text         string
	stated, bare bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *literal) UnmarshalJSON(b []byte) error {
	l.stated = string(b) != "null"
	var s string
	if json.Unmarshal(b, &s) == nil {
		l.text, l.bare = s, true
		return nil
	}
	var n json.Number
	if json.Unmarshal(b, &n) == nil {
		l.text, l.bare = n.String(), true
	}
	return nil
}

type keyValue struct{ Key, Value literal }

type targetGroup struct {
	TargetType, HealthCheckProtocol, HealthCheckPath, HealthCheckPort                                     literal
	HealthCheckIntervalSeconds, HealthCheckTimeoutSeconds, UnhealthyThresholdCount, HealthyThresholdCount literal
	Protocol                                                                                              literal
	Matcher                                                                                               struct{ HTTPCode literal }
	TargetGroupAttributes, Tags                                                                           []keyValue
}

// reader collects what is missing while numbers are read.
type reader struct{ problems []Problem }

func (r *reader) word(name string, l literal) string {
	if !l.stated {
		r.problems = append(r.problems, Problem{RuleStated, name + " is not stated, and AWS's default is nobody's decision"})
	} else if !l.bare {
		r.problems = append(r.problems, Problem{RuleStated, name + " is no literal and cannot be judged"})
	}
	return l.text
}

func (r *reader) number(name string, l literal) int {
	text := r.word(name, l)
	n, err := strconv.Atoi(text)
	if err != nil && l.bare {
		r.problems = append(r.problems, Problem{RuleStated, fmt.Sprintf("%s %q is no whole number", name, text)})
	}
	return n
}

func judgeTargetGroup(properties []byte, reg *Register) ([]Problem, error) {
	var g targetGroup
	if err := json.Unmarshal(properties, &g); err != nil {
		return nil, err
	}
	protocol := g.HealthCheckProtocol.text
	if !g.HealthCheckProtocol.stated {
		protocol = g.Protocol.text
	}
	if g.TargetType.text == "lambda" || g.TargetType.text == "alb" || (protocol != "HTTP" && protocol != "HTTPS") {
		return nil, nil // no HTTP check of instances or addresses: nothing that Holdfast has a rule for
	}
	var r reader
	seconds := func(name string, l literal) time.Duration { return time.Duration(r.number(name, l)) * time.Second }
	check := timing.Check{
		Interval: seconds("interval", g.HealthCheckIntervalSeconds), Timeout: seconds("timeout", g.HealthCheckTimeoutSeconds),
		Unhealthy: r.number("unhealthy count", g.UnhealthyThresholdCount), Healthy: r.number("healthy count", g.HealthyThresholdCount),
	}
	r.word("health check protocol", g.HealthCheckProtocol)
	r.word("health check port", g.HealthCheckPort)
	r.word("matcher", g.Matcher.HTTPCode)
	path := r.word("health path", g.HealthCheckPath)
	if len(r.problems) > 0 {
		return r.problems, nil
	}
	out := problemsOf(append(check.Problems(), timing.PathProblems(path)...))
	attributes := pairs(g.TargetGroupAttributes)
	out = append(out, judgeAttributes(attributes)...)
	if service := pairs(g.Tags)[TagService]; service != "" {
		out = append(out, judgeReviewed(g, service, reg)...)
	}
	return out, nil
}

func pairs(in []keyValue) map[string]string {
	out := map[string]string{}
	for _, p := range in {
		out[p.Key.text] = p.Value.text
	}
	return out
}

func judgeAttributes(attributes map[string]string) []Problem {
	number := func(key string) int {
		n, err := strconv.Atoi(attributes[key])
		if err != nil {
			return 0 // off, or not stated
		}
		return n
	}
	out := problemsOf(timing.FloorProblems(number(AttrFailOpenPercent), number(AttrDNSPercent)))
	if n := number(AttrDrain); n < 0 || n > DrainMaxSeconds {
		out = append(out, Problem{RuleDrain, fmt.Sprintf("deregistration delay %d s, want 0 to %d", n, DrainMaxSeconds)})
	}
	algorithm := attributes[AttrAlgorithm]
	if number(AttrSlowStart) > 0 && algorithm != "" && algorithm != "round_robin" {
		out = append(out, Problem{RuleSlowStart, fmt.Sprintf("slow start %d s with %s, want round_robin", number(AttrSlowStart), algorithm)})
	}
	return out
}

// judgeReviewed wants the numbers in the template to be those of the review: an override on the resource is an unreviewed change.
func judgeReviewed(g targetGroup, service string, reg *Register) []Problem {
	t, err := reg.Of(service)
	if err != nil {
		return []Problem{{RuleReview, err.Error()}}
	}
	attributes := pairs(g.TargetGroupAttributes)
	var out []Problem
	want := func(name, have, reviewed string) {
		if have != reviewed {
			out = append(out, Problem{RuleUnreviewed, fmt.Sprintf("%s is %q, and the review of %s by %s was of %q", name, have, t.Review.On, t.Review.By, reviewed)})
		}
	}
	want("interval", g.HealthCheckIntervalSeconds.text, strconv.Itoa(t.IntervalSeconds))
	want("timeout", g.HealthCheckTimeoutSeconds.text, strconv.Itoa(t.TimeoutSeconds))
	want("unhealthy count", g.UnhealthyThresholdCount.text, strconv.Itoa(t.UnhealthyCount))
	want("healthy count", g.HealthyThresholdCount.text, strconv.Itoa(t.HealthyCount))
	want("health path", g.HealthCheckPath.text, t.Path)
	want("health check port", g.HealthCheckPort.text, t.Port)
	want("health check protocol", g.HealthCheckProtocol.text, t.Protocol)
	want("matcher", g.Matcher.HTTPCode.text, t.Matcher)
	for _, a := range t.Attributes() {
		want(a.Key, attributes[a.Key], a.Value)
	}
	return out
}

// Attribute is an attribute of a target group.
type Attribute struct{ Key, Value string }

// Attributes are the target group's attributes that the numbers come to. The counts stand at what AWS takes when none is stated, so
// that only the percentages decide.
func (v Values) Attributes() []Attribute {
	percent := func(n int) string {
		if n == 0 {
			return "off"
		}
		return strconv.Itoa(n)
	}
	return []Attribute{
		{AttrDrain, strconv.Itoa(v.DeregistrationDelaySeconds)},
		{AttrSlowStart, strconv.Itoa(v.SlowStartSeconds)},
		{AttrAlgorithm, "round_robin"},
		{AttrFailOpenCount, "1"},
		{AttrFailOpenPercent, percent(v.FailOpenPercent)},
		{AttrDNSCount, "1"},
		{AttrDNSPercent, percent(v.DNSFailoverPercent)},
	}
}

type scalingGroup struct {
	HealthCheckType, HealthCheckGracePeriod literal
	Tags                                    []keyValue
}

func judgeGroup(properties []byte) ([]Problem, error) {
	var g scalingGroup
	if err := json.Unmarshal(properties, &g); err != nil {
		return nil, err
	}
	var r reader
	guarded := pairs(g.Tags)[TagGuard] == GuardValue
	if guarded {
		r.word("health check type", g.HealthCheckType)
		r.number("grace", g.HealthCheckGracePeriod)
	}
	if len(r.problems) > 0 || (g.HealthCheckGracePeriod.stated && !g.HealthCheckGracePeriod.bare) {
		return r.problems, nil
	}
	var types []string
	for kind := range strings.SplitSeq(g.HealthCheckType.text, ",") {
		types = append(types, strings.TrimSpace(kind))
	}
	grace, err := strconv.Atoi(g.HealthCheckGracePeriod.text)
	if err != nil {
		grace = 0 // CloudFormation's default. Source: CloudFormation reference, AWS::AutoScaling::AutoScalingGroup
	}
	return problemsOf(timing.GraceProblems(types, grace)), nil
}
