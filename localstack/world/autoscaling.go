package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// autoScaling answers EC2 Auto Scaling from the simulator.
type autoScaling struct{ server *Server }

// Handle implements wire.Service.
func (a *autoScaling) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "DescribeAutoScalingGroups":
		return wire.Do(call, a.describeGroups)
	case "DescribeAutoScalingInstances":
		return wire.Do(call, a.describeInstances)
	case "DescribeScalingActivities":
		return wire.Do(call, a.describeActivities)
	case "DescribeInstanceRefreshes":
		return wire.Do(call, a.describeRefreshes)
	case "SetInstanceHealth":
		return wire.Do(call, a.setInstanceHealth)
	case "SuspendProcesses":
		return wire.Do(call, a.suspend)
	case "ResumeProcesses":
		return wire.Do(call, a.resume)
	}
	return nil, wire.UnknownOperation(call.Operation)
}

func (a *autoScaling) setInstanceHealth(in *autoscaling.SetInstanceHealthInput) (*autoscaling.SetInstanceHealthOutput, error) {
	status := sim.Health(aws.ToString(in.HealthStatus))
	if status != sim.Healthy && status != sim.Unhealthy {
		return nil, validation("Health status %q is not valid: Healthy and Unhealthy are.", status)
	}
	// Source: SDK doc comment of ShouldRespectGracePeriod: leaving it out respects.
	respect := in.ShouldRespectGracePeriod == nil || *in.ShouldRespectGracePeriod
	var err error
	a.server.Do(func(c *sim.Cloud) {
		err = c.SetInstanceHealth(aws.ToString(in.InstanceId), status, respect)
	})
	if err != nil {
		return nil, autoScalingError(err)
	}
	return &autoscaling.SetInstanceHealthOutput{}, nil
}

func (a *autoScaling) suspend(in *autoscaling.SuspendProcessesInput) (*autoscaling.SuspendProcessesOutput, error) {
	var err error
	a.server.Do(func(c *sim.Cloud) {
		err = c.SuspendProcesses(aws.ToString(in.AutoScalingGroupName), in.ScalingProcesses)
	})
	if err != nil {
		return nil, autoScalingError(err)
	}
	return &autoscaling.SuspendProcessesOutput{}, nil
}

func (a *autoScaling) resume(in *autoscaling.ResumeProcessesInput) (*autoscaling.ResumeProcessesOutput, error) {
	var err error
	a.server.Do(func(c *sim.Cloud) {
		err = c.ResumeProcesses(aws.ToString(in.AutoScalingGroupName), in.ScalingProcesses)
	})
	if err != nil {
		return nil, autoScalingError(err)
	}
	return &autoscaling.ResumeProcessesOutput{}, nil
}

// validation is the error AWS gives for input it cannot use.
func validation(format string, args ...any) *wire.Error {
	return &wire.Error{Code: "ValidationError", Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest}
}

// autoScalingError turns the simulator's refusals into the answers of AWS. The
// text about the grace period is the one seen in aws-cli issue 171, the one about
// an unmanaged instance is that of the terminate call; the others are ours.
func autoScalingError(err error) error {
	var grace *sim.GraceError
	var missing *sim.NotFoundError
	var state *sim.LifecycleError
	var process *sim.UnknownProcessError
	switch {
	case errors.As(err, &grace):
		return validation("The age of the instance (%d seconds) is less than the configured grace period of %d seconds",
			grace.Age, grace.Grace)
	case errors.As(err, &missing) && missing.Kind == "group":
		return groupNotFound(missing.Name)
	case errors.As(err, &missing):
		return validation("Instance Id not found - No managed instance found for instance ID: %s", missing.Name)
	case errors.As(err, &state):
		return validation("The instance %s is not in a state for this call: %s", state.ID, state.State)
	case errors.As(err, &process):
		return validation("Invalid scaling process: %s", process.Name)
	}
	return validation("%v", err)
}

func groupNotFound(name string) error {
	return validation("AutoScalingGroup name not found - AutoScalingGroup '%s' not found", name)
}

func badAutoScalingToken() error {
	return &types.InvalidNextToken{Message: aws.String("The NextToken value is not valid.")}
}
