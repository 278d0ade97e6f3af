package baseline

import "github.com/holdfast-aws/holdfast/shared/sim/gameday"

// AutoScalingELB leaves the day to Auto Scaling with ELB health checks: a member whose target is unhealthy after its grace period is
// marked and replaced, at most a tenth of the desired capacity at a time and at least one, each round after the one before is in
// service and warm, one at a time when no member looks healthy; a mark by a health check stays. Source: the user guide pages on health
// checks and on the grace period. The rules are the simulator's own (package sim, reconcile.go and health.go), which says where AWS
// documents nothing.
func AutoScalingELB() gameday.Guardian { return gameday.Nobody("EC2", "ELB") }

// AutoScalingEC2 leaves the day to Auto Scaling with EC2 health checks: only a machine that does not run, or whose status check is
// impaired for some minutes, is replaced. Source: the user guide page on health checks.
func AutoScalingEC2() gameday.Guardian { return gameday.Nobody("EC2") }
