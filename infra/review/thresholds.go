package review

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// Health check types of an Auto Scaling group that are judged here. Source: Auto Scaling user guide, "Health checks for instances".
const (
	TypeEC2 = "EC2"
	TypeELB = timing.TypeELB
)

// Values are the reviewed numbers of one service. Times are whole seconds. Nothing has a default: what a person did not write down, nobody
// has reviewed.
type Values struct {
	// Path is asked for by the load balancer; it must be answered by local checks only. Port is a number or "traffic-port".
	Path     string `json:"path"`
	Port     string `json:"port"`
	Protocol string `json:"protocol"`
	// Matcher has the HTTP codes that count as healthy, such as "200" or "200-299".
	Matcher string `json:"matcher"`

	IntervalSeconds int `json:"interval_seconds"`
	TimeoutSeconds  int `json:"timeout_seconds"`
	UnhealthyCount  int `json:"unhealthy_count"`
	HealthyCount    int `json:"healthy_count"`

	DeregistrationDelaySeconds int `json:"deregistration_delay_seconds"`
	// SlowStartSeconds is 0 for none.
	SlowStartSeconds int `json:"slow_start_seconds"`
	// FailOpenPercent: with fewer healthy targets than this, the load balancer sends requests to all of them; 0 leaves it at "none healthy".
	FailOpenPercent int `json:"fail_open_percent"`
	// DNSFailoverPercent: with fewer healthy targets than this in a zone, DNS leaves the zone out; 0 is off.
	DNSFailoverPercent int `json:"dns_failover_percent"`

	// HealthCheckTypes are those of the Auto Scaling group, GraceSeconds its grace.
	HealthCheckTypes []string `json:"health_check_types"`
	GraceSeconds     int      `json:"grace_seconds"`
	// MinHealthyPercent and MaxHealthyPercent are its instance maintenance policy.
	MinHealthyPercent int `json:"min_healthy_percent"`
	MaxHealthyPercent int `json:"max_healthy_percent"`

	// What the service promises: its handler's own timeout, the longest timeout of anything that the handler calls (0: it calls nothing),
	// how long a restart takes, and how soon a failure must be known.
	HandlerTimeoutMS         int `json:"handler_timeout_ms"`
	DependencyTimeoutMS      int `json:"dependency_timeout_ms"`
	RestartSeconds           int `json:"restart_seconds"`
	RecoveryObjectiveSeconds int `json:"recovery_objective_seconds"`
	// Targets are the most that are expected, Nodes the load balancer's nodes: each node probes each target.
	Targets int `json:"targets"`
	Nodes   int `json:"nodes"`
}

// Review is the record of the last review.
type Review struct {
	// By says who, Why for which reason; On is the day as YYYY-MM-DD.
	By  string `json:"by"`
	On  string `json:"on"`
	Why string `json:"why"`
	// Fingerprint is Values.Fingerprint of what was reviewed: it ties the record to the numbers.
	Fingerprint string `json:"fingerprint"`
}

// Thresholds are the numbers of one service with their review.
type Thresholds struct {
	// Service is the name under which they stand in the register.
	Service string
	Values
	Review Review
}

// fingerprintBytes of a digest are enough to see that a number changed, and few enough to be typed.
const fingerprintBytes = 6

// Fingerprint is a short digest of the numbers; it changes whenever one of them does.
func (v Values) Fingerprint() string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // a struct of numbers, words and a list of words is always encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:fingerprintBytes])
}

// Check is the arithmetic of these numbers.
func (v Values) Check() timing.Check {
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	return timing.Check{
		Interval: seconds(v.IntervalSeconds), Timeout: seconds(v.TimeoutSeconds), Unhealthy: v.UnhealthyCount, Healthy: v.HealthyCount,
		Handler: time.Duration(v.HandlerTimeoutMS) * time.Millisecond, Dependency: time.Duration(v.DependencyTimeoutMS) * time.Millisecond,
		Restart: seconds(v.RestartSeconds), Objective: seconds(v.RecoveryObjectiveSeconds), Targets: v.Targets, Nodes: v.Nodes,
	}
}
