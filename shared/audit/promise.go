package audit

import (
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// Promise is the part of a service's reviewed thresholds that rules look at. Times are whole seconds where the name says nothing else;
// 0 is "not stated", except that a percentage of 0 is off.
type Promise struct {
	HandlerTimeoutMS         int `json:"handler_timeout_ms"`
	DependencyTimeoutMS      int `json:"dependency_timeout_ms"`
	RestartSeconds           int `json:"restart_seconds"`
	RecoveryObjectiveSeconds int `json:"recovery_objective_seconds"`
	// FailOpenPercent is the reviewed fail-open threshold: a target group that has it breaks no rule.
	FailOpenPercent int `json:"fail_open_percent"`
	// HealthCheckTypes are the reviewed types of the service's group; ELB among them is a person's decision.
	HealthCheckTypes []string `json:"health_check_types"`
}

// promise is what the service of a target group promises.
func (v *view) promise(t *TargetGroup) (service string, p Promise, ok bool) {
	service = t.Tags[TagService]
	p, ok = v.promises[service]
	return service, p, ok && service != ""
}

// readTags is the operation that reads a target group's tags, as what is unread names it.
const readTags = "DescribeTags"

// tagsUnread says that the tags of a target group, and so its service, could not be read. Names of files and resources say nothing about
// that, whatever words are in them.
func (v *view) tagsUnread(t *TargetGroup) bool {
	if t.Tags[TagService] != "" {
		return false
	}
	return slices.ContainsFunc(v.account.Unread, func(u Unread) bool {
		if u.Kind != KindTargetGroup || (u.Name != "" && u.Name != t.title() && u.Name != t.ID) {
			return false
		}
		return u.Property == PropertyTags || (u.What == readTags && len(t.Tags) == 0)
	})
}

// check is the target group's health check, as far as it is known, with what its service promises.
func (p Promise) check() timing.Check {
	return timing.Check{
		Handler: time.Duration(p.HandlerTimeoutMS) * time.Millisecond, Dependency: time.Duration(p.DependencyTimeoutMS) * time.Millisecond,
		Restart: time.Duration(p.RestartSeconds) * time.Second, Objective: time.Duration(p.RecoveryObjectiveSeconds) * time.Second,
	}
}
