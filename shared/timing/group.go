package timing

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Names of the rules about a health check's path, a group's grace and a target group's floors.
const (
	RulePath     = "health-path"
	RuleGrace    = "grace"
	RuleFailOpen = "fail-open"
	RuleDNS      = "dns-failover"
)

// Health check types that let a load balancer's word terminate a member.
// Source: Auto Scaling user guide, "Health checks for instances in an Auto Scaling group".
const (
	TypeELB     = "ELB"
	TypeLattice = "VPC_LATTICE"
)

// GraceMaxSeconds is the longest grace of a group, in seconds. Source: Auto Scaling user guide, "Set the health check grace period".
const GraceMaxSeconds = 7200

// DeepWords are the words that say in a path that the check asks more than the instance itself. They count whole, in any case.
func DeepWords() []string {
	return []string{"deep", "full", "all", "db", "database", "dependency", "dependencies", "downstream", "ready", "readiness", "readyz"}
}

// ActuatorPath is the end of the path of Spring Boot's health endpoint. It asks every indicator that Spring Boot finds something for, such
// as the data source, Redis or the mail server, and answers 503 when one of them is down; a group of its own, such as
// /actuator/health/liveness, asks only what belongs to it. Source: Spring Boot reference, "Endpoints", sections "Health Information",
// "Auto-configured HealthIndicators" and "Kubernetes Probes".
const ActuatorPath = "/actuator/health"

// IsActuator says whether a path is Spring Boot's health endpoint as a whole, below any prefix, with or without a query.
func IsActuator(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return strings.HasSuffix(strings.TrimRight(strings.ToLower(path), "/"), ActuatorPath)
}

// PathProblems judges a health check's path: it must be stated, and must not be a deep one. One slow dependency would take out
// every target at once.
func PathProblems(path string) []Problem {
	switch {
	case path == "":
		return []Problem{{RulePath, "the health path is empty, want a path that is answered by local checks only, such as /health"}}
	case path == "/":
		return []Problem{{RulePath, "the health path is /, the front page: it needs what the front page needs; want a path of its own, such as /health"}}
	case !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \t\"#"):
		return []Problem{{RulePath, fmt.Sprintf("the health path %q is no path", path)}}
	}
	if IsActuator(path) {
		return []Problem{{RulePath, fmt.Sprintf("the health path %s asks every indicator that Spring Boot finds, by default those of databases and caches too; want /actuator/health/liveness", path)}}
	}
	for _, word := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(path, -1) {
		if slices.Contains(DeepWords(), strings.ToLower(word)) {
			return []Problem{{RulePath, fmt.Sprintf("the health path %s says %q: a deep check fails on all targets at once; let the probe function ask dependencies", path, word)}}
		}
	}
	return nil
}

// FloorProblems judges the two percentage thresholds of target group health, 0 for off and else 1 to 100. DNS may give a zone up only
// before or when routing does. Source: Application Load Balancer user guide, "Target group health".
func FloorProblems(failOpen, dns int) []Problem {
	var out []Problem
	if failOpen < 0 || failOpen > 100 {
		out = append(out, Problem{RuleFailOpen, fmt.Sprintf("fail-open threshold %d %%, want 0 for none or 1 to 100", failOpen)})
	}
	if dns < 0 || dns > 100 {
		out = append(out, Problem{RuleDNS, fmt.Sprintf("DNS failover threshold %d %%, want 0 for off or 1 to 100", dns)})
	}
	return append(out, floorOrder(failOpen, dns, " %")...)
}

// FloorCountProblems judges the same two thresholds as counts of healthy targets, 0 for off.
// Source: Application Load Balancer user guide, "Target group health".
func FloorCountProblems(failOpen, dns int) []Problem { return floorOrder(failOpen, dns, " targets") }

func floorOrder(failOpen, dns int, unit string) []Problem {
	if dns <= 0 || dns >= failOpen {
		return nil
	}
	return []Problem{{RuleDNS, fmt.Sprintf("DNS failover threshold %d%s is below the fail-open threshold %d%s", dns, unit, failOpen, unit)}}
}

// GraceProblems judges a group's grace in seconds under its health check types. CloudFormation's default is 0, and with a load balancer's
// checks a new member is then terminated before it can serve. Source: Auto Scaling user guide, "Set the health check grace period".
func GraceProblems(types []string, seconds int) []Problem {
	if seconds < 0 || seconds > GraceMaxSeconds {
		return []Problem{{RuleGrace, fmt.Sprintf("grace %d s, want 0 to %d", seconds, GraceMaxSeconds)}}
	}
	for _, kind := range []string{TypeELB, TypeLattice} {
		if seconds == 0 && slices.Contains(types, kind) {
			return []Problem{{RuleGrace, fmt.Sprintf("grace 0 s with %s health checks: a member would be replaced before it can serve; 0 is also what CloudFormation takes when none is stated", kind)}}
		}
	}
	return nil
}

// ShortInterval is the longest interval that HairTrigger calls short.
const ShortInterval = 10 * time.Second

// HairTrigger says that a few lost probes within seconds take a target out: at most 2 of them, at an interval of at most ShortInterval.
// A pause of the process for garbage, or one lost packet with its repeat, is as long. Two probes are also the load balancer's default,
// but at its 30 seconds. Source: Elastic Load Balancing user guides, "Health checks for your target groups".
func (c Check) HairTrigger() bool {
	return c.Unhealthy <= CountMin && c.Interval <= ShortInterval
}
