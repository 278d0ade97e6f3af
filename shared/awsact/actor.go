package awsact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// API is what the actor needs of the Auto Scaling client.
type API interface {
	SetInstanceHealth(context.Context, *autoscaling.SetInstanceHealthInput, ...func(*autoscaling.Options)) (*autoscaling.SetInstanceHealthOutput, error)
	SuspendProcesses(context.Context, *autoscaling.SuspendProcessesInput, ...func(*autoscaling.Options)) (*autoscaling.SuspendProcessesOutput, error)
	ResumeProcesses(context.Context, *autoscaling.ResumeProcessesInput, ...func(*autoscaling.Options)) (*autoscaling.ResumeProcessesOutput, error)
}

// Actor makes the calls. It is safe for concurrent use. A nil error says that AWS accepted the call; every other answer is an
// error of one of the kinds of package fault.
type Actor struct {
	api      API
	retryers retryers
}

// New returns an actor; it makes no call.
func New(api API, o Options) *Actor {
	return &Actor{api: api, retryers: newRetryers(o)}
}

// Health states of a member. Source: SDK doc comment of SetInstanceHealthInput.
const (
	healthy   = "Healthy"
	unhealthy = "Unhealthy"
)

// Mark sets one member, by instance id, Unhealthy. The grace period is respected and the flag is stated, whatever the default
// is: a member in it gives fault.TooYoung, one that is gone fault.Gone. AWS replaces a marked member at once.
// Source: Auto Scaling user guide, "Health checks for instances in an Auto Scaling group".
func (a *Actor) Mark(ctx context.Context, member string) error {
	if err := a.setHealth(ctx, member, unhealthy, a.retryers.mark); err != nil {
		return fmt.Errorf("mark %s: %w", member, err)
	}
	return nil
}

// Restore sets one member, by instance id, Healthy. It may be repeated safely.
func (a *Actor) Restore(ctx context.Context, member string) error {
	if err := a.setHealth(ctx, member, healthy, a.retryers.restore); err != nil {
		return fmt.Errorf("restore %s: %w", member, err)
	}
	return nil
}

func (a *Actor) setHealth(ctx context.Context, member, status string, retryer aws.Retryer) error {
	if !strings.HasPrefix(member, "i-") {
		return fmt.Errorf("%w: %q is no instance id", fault.Refused, member)
	}
	_, err := a.api.SetInstanceHealth(ctx, &autoscaling.SetInstanceHealthInput{
		InstanceId: aws.String(member), HealthStatus: aws.String(status), ShouldRespectGracePeriod: aws.Bool(true),
	}, with(retryer))
	return awserr.Classify(err)
}

// Suspend suspends exactly the named processes of a group, by the group's name. The list must not be empty and may hold
// ReplaceUnhealthy, HealthCheck and AZRebalance only; anything else is fault.Refused, and no call is made.
func (a *Actor) Suspend(ctx context.Context, group string, processes []string) error {
	err := checkProcesses(group, processes)
	if err == nil {
		_, err = a.api.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{
			AutoScalingGroupName: aws.String(group), ScalingProcesses: slices.Clone(processes),
		}, with(a.retryers.hold))
	}
	if err != nil {
		return fmt.Errorf("suspend processes of %s: %w", group, awserr.Classify(err))
	}
	return nil
}

// Resume resumes exactly the named processes of a group, on the terms of Suspend.
func (a *Actor) Resume(ctx context.Context, group string, processes []string) error {
	err := checkProcesses(group, processes)
	if err == nil {
		_, err = a.api.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{
			AutoScalingGroupName: aws.String(group), ScalingProcesses: slices.Clone(processes),
		}, with(a.retryers.hold))
	}
	if err != nil {
		return fmt.Errorf("resume processes of %s: %w", group, awserr.Classify(err))
	}
	return nil
}

func with(r aws.Retryer) func(*autoscaling.Options) {
	return func(o *autoscaling.Options) { o.Retryer = r }
}

// checkProcesses lets pass only what a hold may touch. Launch and Terminate get words of their own: a suspended Launch keeps
// terminating without replacement, and a suspended Terminate ends in one burst.
// Source: Auto Scaling user guide, "Suspend and resume processes".
func checkProcesses(group string, processes []string) error {
	if group == "" {
		return fmt.Errorf("%w: no group", fault.Refused)
	}
	if len(processes) == 0 {
		return fmt.Errorf("%w: an empty list would mean all processes", fault.Refused)
	}
	for _, p := range processes {
		switch p {
		case guard.ProcessReplaceUnhealthy, guard.ProcessHealthCheck, guard.ProcessAZRebalance:
		case guard.ProcessLaunch, guard.ProcessTerminate:
			return fmt.Errorf("%w: %s is never touched", fault.Refused, p)
		default:
			return fmt.Errorf("%w: unknown process %q", fault.Refused, p)
		}
	}
	return nil
}
