package review

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// Problem is one rule that is broken, in one line with its sum.
type Problem struct{ Rule, Text string }

// Names of the rules beside those of package timing, which also judges the path, the grace and the floors.
const (
	RulePort       = "health-port"
	RuleProtocol   = "health-protocol"
	RuleMatcher    = "matcher"
	RuleDrain      = "deregistration-delay"
	RuleSlowStart  = "slow-start"
	RuleTypes      = "health-check-types"
	RuleMaintain   = "maintenance-policy"
	RuleReview     = "review"
	RuleUnreviewed = "unreviewed-change"
	RuleStated     = "not-stated"
)

// Ranges. Source: Elastic Load Balancing user guide, target group attributes; Auto Scaling user guide, instance maintenance policies and
// grace periods.
const (
	DrainMaxSeconds     = 3600
	SlowStartMinSeconds = 30
	SlowStartMaxSeconds = 900
	MaxHealthyMin       = 100
	MaxHealthyMax       = 200
	MaintainSpanMax     = 100
)

// Problems lists every rule that the thresholds break, the review's last. Each text begins with the service.
func (t Thresholds) Problems() []Problem {
	out := problemsOf(t.Check().Problems())
	out = append(out, t.promises()...)
	out = append(out, problemsOf(timing.PathProblems(t.Path))...)
	out = append(out, t.probe()...)
	out = append(out, t.routing()...)
	out = append(out, t.group()...)
	out = append(out, t.reviewed()...)
	for i := range out {
		out[i].Text = t.Service + ": " + out[i].Text
	}
	return out
}

// promises wants the numbers without which the sums say nothing. A handler that calls nothing has no dependency timeout.
func (t Thresholds) promises() []Problem {
	var out []Problem
	for _, p := range []struct {
		name  string
		value int
	}{
		{"handler_timeout_ms", t.HandlerTimeoutMS}, {"restart_seconds", t.RestartSeconds},
		{"recovery_objective_seconds", t.RecoveryObjectiveSeconds}, {"targets", t.Targets}, {"nodes", t.Nodes},
	} {
		if p.value == 0 {
			out = append(out, Problem{RuleStated, p.name + " is 0, want the service's own number"})
		}
	}
	return out
}

func (t Thresholds) probe() []Problem {
	var out []Problem
	if n, err := strconv.Atoi(t.Port); t.Port != "traffic-port" && (err != nil || n < 1 || n > 65535) {
		out = append(out, Problem{RulePort, fmt.Sprintf("port %q, want traffic-port or 1 to 65535", t.Port)})
	}
	if t.Protocol != "HTTP" && t.Protocol != "HTTPS" {
		out = append(out, Problem{RuleProtocol, fmt.Sprintf("protocol %q, want HTTP or HTTPS", t.Protocol)})
	}
	if !regexp.MustCompile(`^[2-4]\d\d([,-][2-4]\d\d)*$`).MatchString(t.Matcher) {
		out = append(out, Problem{RuleMatcher, fmt.Sprintf("matcher %q, want codes such as 200 or 200-299", t.Matcher)})
	}
	return out
}

func (t Thresholds) routing() []Problem {
	var out []Problem
	if t.DeregistrationDelaySeconds < 0 || t.DeregistrationDelaySeconds > DrainMaxSeconds {
		out = append(out, Problem{RuleDrain, fmt.Sprintf("deregistration delay %d s, want 0 to %d", t.DeregistrationDelaySeconds, DrainMaxSeconds)})
	}
	if s := t.SlowStartSeconds; s != 0 && (s < SlowStartMinSeconds || s > SlowStartMaxSeconds) {
		out = append(out, Problem{RuleSlowStart, fmt.Sprintf("slow start %d s, want 0 for none or %d to %d", s, SlowStartMinSeconds, SlowStartMaxSeconds)})
	}
	return append(out, problemsOf(timing.FloorProblems(t.FailOpenPercent, t.DNSFailoverPercent))...)
}

func (t Thresholds) group() []Problem {
	var out []Problem
	for _, kind := range t.HealthCheckTypes {
		if kind != TypeEC2 && kind != TypeELB {
			out = append(out, Problem{RuleTypes, fmt.Sprintf("health check type %q, want %s or %s", kind, TypeEC2, TypeELB)})
		}
	}
	if !slices.Contains(t.HealthCheckTypes, TypeEC2) {
		out = append(out, Problem{RuleTypes, "health check types without EC2, which is always on"})
	}
	out = append(out, problemsOf(timing.GraceProblems(t.HealthCheckTypes, t.GraceSeconds))...)
	low, high := t.MinHealthyPercent, t.MaxHealthyPercent
	if low < 0 || low > 100 || high < MaxHealthyMin || high > MaxHealthyMax || high-low > MaintainSpanMax {
		out = append(out, Problem{RuleMaintain, fmt.Sprintf("instance maintenance policy %d %% to %d %%, a span of %d: want 0 to 100, %d to %d, and a span of at most %d",
			low, high, high-low, MaxHealthyMin, MaxHealthyMax, MaintainSpanMax)})
	}
	return out
}

// reviewed judges the record of the review.
func (t Thresholds) reviewed() []Problem {
	var out []Problem
	for _, f := range [][2]string{{"by", t.Review.By}, {"why", t.Review.Why}} {
		if strings.TrimSpace(f[1]) == "" {
			out = append(out, Problem{RuleReview, "the review does not say " + f[0]})
		}
	}
	if _, err := time.Parse(time.DateOnly, t.Review.On); err != nil {
		out = append(out, Problem{RuleReview, fmt.Sprintf("the review's day %q is no YYYY-MM-DD", t.Review.On)})
	}
	if want := t.Fingerprint(); t.Review.Fingerprint != want {
		out = append(out, Problem{RuleUnreviewed, fmt.Sprintf("the numbers have fingerprint %s, and the review of %s by %s was of %s: review them, then write by, on, why and this fingerprint; %s",
			want, t.Review.On, t.Review.By, t.Review.Fingerprint, t.Sums())})
	}
	return out
}

// Sums says in one line what the numbers come to.
func (t Thresholds) Sums() string {
	c := t.Check()
	return fmt.Sprintf("detection %d x %s + %s = %s, recovery %d x %s = %s, %d targets x %d nodes / %s = %.1f probes a second",
		c.Unhealthy, c.Interval, c.Timeout, c.Detection(), c.Healthy, c.Interval, c.Recovery(), c.Targets, c.Nodes, c.Interval, c.Probes())
}

// problemsOf makes problems of those of package timing.
func problemsOf(in []timing.Problem) []Problem {
	out := make([]Problem, 0, len(in))
	for _, p := range in {
		out = append(out, Problem(p))
	}
	return out
}
