package timing

import (
	"fmt"
	"time"
)

// Ranges of a target group's health check for instances and IP addresses.
// Source: Elastic Load Balancing user guides, "Health checks for your target groups".
const (
	IntervalMin = 5 * time.Second
	IntervalMax = 300 * time.Second
	TimeoutMin  = 2 * time.Second
	TimeoutMax  = 120 * time.Second
	CountMin    = 2
	CountMax    = 10
)

// Check is a target group's health check with the times around it. Interval, Timeout, Unhealthy and Healthy are required; any other
// field may be 0, which says "not stated" and leaves its rules out.
type Check struct {
	// Interval is the time between two probes of one load balancer node, Timeout how long a probe waits; whole seconds.
	Interval, Timeout time.Duration
	// Unhealthy and Healthy are how many probes in a row change a target's state.
	Unhealthy, Healthy int
	// Handler is the health handler's own timeout, Dependency the longest timeout of anything that the handler calls.
	Handler, Dependency time.Duration
	// Restart is the longest time that a process may take to restart without being seen as failed.
	Restart time.Duration
	// Objective is how soon a failure must be known.
	Objective time.Duration
	// Targets are the registered targets, Nodes the load balancer's nodes: each node probes each target.
	Targets, Nodes int
}

// Detection is the longest time from a failure until the target is called unhealthy: unhealthy x interval + timeout.
func (c Check) Detection() time.Duration {
	return time.Duration(c.Unhealthy)*c.Interval + c.Timeout
}

// Recovery is the longest time from the end of a failure until the target is called healthy: healthy x interval. A target that was
// registered anew needs one probe only. Source: Elastic Load Balancing user guides, "Health checks for your target groups".
func (c Check) Recovery() time.Duration { return time.Duration(c.Healthy) * c.Interval }

// ProbesPerTarget is how many probes a target gets each second: nodes / interval; 0 when it cannot be said.
func (c Check) ProbesPerTarget() float64 {
	if c.Interval <= 0 {
		return 0
	}
	return float64(c.Nodes) / c.Interval.Seconds()
}

// Probes is how many probes all targets together get each second: targets x nodes / interval; 0 when it cannot be said. A
// dependency that the handler calls gets as many calls.
func (c Check) Probes() float64 { return float64(c.Targets) * c.ProbesPerTarget() }

// Problem is one rule that a Check breaks.
type Problem struct {
	// Rule is a short name that never changes.
	Rule string
	// Text is one line with the sum that shows it.
	Text string
}

// Names of the rules.
const (
	RuleInterval  = "interval"
	RuleTimeout   = "timeout"
	RuleUnhealthy = "unhealthy-count"
	RuleHealthy   = "healthy-count"
	RuleNested    = "nested-timeouts"
	RuleRestart   = "restart-budget"
	RuleObjective = "recovery-objective"
	RuleNegative  = "negative"
)

// Problems lists every rule that the check breaks, in the order of this file; none says that the numbers fit together.
func (c Check) Problems() []Problem {
	var out []Problem
	out = append(out, c.ranges()...)
	out = append(out, c.nesting()...)
	return append(out, c.windows()...)
}

func (c Check) ranges() []Problem {
	var out []Problem
	within := func(rule string, d, low, high time.Duration) {
		if d < low || d > high || d%time.Second != 0 {
			out = append(out, Problem{rule, fmt.Sprintf("%s %s, want whole seconds from %s to %s", rule, d, low, high)})
		}
	}
	within(RuleInterval, c.Interval, IntervalMin, IntervalMax)
	within(RuleTimeout, c.Timeout, TimeoutMin, TimeoutMax)
	if c.Unhealthy == 1 {
		out = append(out, Problem{RuleUnhealthy, fmt.Sprintf("unhealthy count 1: one lost probe would take a target out; want %d to %d", CountMin, CountMax)})
	} else if c.Unhealthy < CountMin || c.Unhealthy > CountMax {
		out = append(out, Problem{RuleUnhealthy, fmt.Sprintf("unhealthy count %d, want %d to %d", c.Unhealthy, CountMin, CountMax)})
	}
	if c.Healthy < CountMin || c.Healthy > CountMax {
		out = append(out, Problem{RuleHealthy, fmt.Sprintf("healthy count %d, want %d to %d", c.Healthy, CountMin, CountMax)})
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"handler timeout", int64(c.Handler)}, {"dependency timeout", int64(c.Dependency)}, {"restart budget", int64(c.Restart)},
		{"recovery objective", int64(c.Objective)}, {"targets", int64(c.Targets)}, {"nodes", int64(c.Nodes)},
	} {
		if f.value < 0 {
			out = append(out, Problem{RuleNegative, f.name + " is below 0"})
		}
	}
	return out
}

// nesting wants each timeout to end inside the one around it, so that the inner one is what answers:
// dependency < handler < probe timeout < interval.
func (c Check) nesting() []Problem {
	type limit struct {
		name  string
		value time.Duration
	}
	var chain []limit
	for _, l := range []limit{
		{"dependency timeout", c.Dependency}, {"handler timeout", c.Handler}, {"probe timeout", c.Timeout}, {"interval", c.Interval},
	} {
		if l.value > 0 {
			chain = append(chain, l)
		}
	}
	var out []Problem
	for i := 1; i < len(chain); i++ {
		if inner, outer := chain[i-1], chain[i]; inner.value >= outer.value {
			out = append(out, Problem{RuleNested, fmt.Sprintf("%s %s is not below %s %s", inner.name, inner.value, outer.name, outer.value)})
		}
	}
	return out
}

// windows wants restart budget < detection window <= recovery objective.
func (c Check) windows() []Problem {
	sum := fmt.Sprintf("%d x %s + %s = %s", c.Unhealthy, c.Interval, c.Timeout, c.Detection())
	var out []Problem
	if c.Restart > 0 && c.Restart >= c.Detection() {
		out = append(out, Problem{RuleRestart, fmt.Sprintf("restart budget %s is not below the detection window %s: a plain restart would be called a failure", c.Restart, sum)})
	}
	if c.Objective > 0 && c.Detection() > c.Objective {
		out = append(out, Problem{RuleObjective, fmt.Sprintf("detection window %s is above the recovery objective %s", sum, c.Objective)})
	}
	return out
}
