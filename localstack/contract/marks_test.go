package contract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
)

func namedProcesses(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "suspend", settled)
	if err != nil {
		return err
	}
	steps := []struct {
		suspend, resume, want []string
	}{
		{[]string{"ReplaceUnhealthy", "HealthCheck", "AZRebalance"}, nil, []string{"AZRebalance", "HealthCheck", "ReplaceUnhealthy"}},
		{[]string{"HealthCheck"}, nil, []string{"AZRebalance", "HealthCheck", "ReplaceUnhealthy"}},
		{nil, []string{"HealthCheck"}, []string{"AZRebalance", "ReplaceUnhealthy"}},
		{nil, []string{"HealthCheck", "AZRebalance", "ReplaceUnhealthy"}, []string{}},
	}
	for i, step := range steps {
		if step.suspend != nil {
			_, err = s.autoscaling.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: aws.String(f.group), ScalingProcesses: step.suspend})
		} else {
			_, err = s.autoscaling.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: aws.String(f.group), ScalingProcesses: step.resume})
		}
		if err != nil {
			return err
		}
		have, err := s.suspended(ctx, f.group)
		if err = errors.Join(err, differ(fmt.Sprint("suspended after step ", i), have, step.want)); err != nil {
			return err
		}
	}
	return nil
}

// allProcesses holds nine names. Source: Auto Scaling API reference, SuspendProcesses.
func allProcesses(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "all", settled)
	if err != nil {
		return err
	}
	if _, err := s.autoscaling.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: aws.String(f.group)}); err != nil {
		return err
	}
	have, err := s.suspended(ctx, f.group)
	return errors.Join(err, differ("suspended", have, []string{"AZRebalance", "AddToLoadBalancer", "AlarmNotification", "HealthCheck",
		"InstanceRefresh", "Launch", "ReplaceUnhealthy", "ScheduledActions", "Terminate"}))
}

func unknownProcess(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "sleep", settled)
	if err != nil {
		return err
	}
	_, err = s.autoscaling.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: aws.String(f.group), ScalingProcesses: []string{"Sleep"}})
	return refused("the process Sleep", err, "ValidationError")
}

func suspendUnknownGroup(ctx context.Context, s *subject) error {
	_, err := s.autoscaling.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{
		AutoScalingGroupName: aws.String(s.name("nothing")), ScalingProcesses: []string{"HealthCheck"}})
	return refused("an unknown group", err, "ValidationError")
}

func markInGrace(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "young", young)
	if err != nil {
		return err
	}
	return refused("a mark in the grace period", s.mark(ctx, f.ids[0], "Unhealthy"), "ValidationError")
}

func markUnknown(ctx context.Context, s *subject) error {
	return refused("a mark of an unknown instance", s.mark(ctx, "i-00000000000000000", "Unhealthy"), "ValidationError")
}

func markOdd(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "odd", settled)
	if err != nil {
		return err
	}
	return refused("the health Poorly", s.mark(ctx, f.ids[0], "Poorly"), "ValidationError")
}

func markedReplaced(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "replace", settled)
	if err != nil {
		return err
	}
	if err := errors.Join(s.mark(ctx, f.ids[0], "Unhealthy"), s.pass(ctx, 20*time.Minute)); err != nil {
		return err
	}
	g, err := s.describe(ctx, f.group)
	ids := []string{}
	for _, i := range g.Instances {
		ids = append(ids, aws.ToString(i.InstanceId))
	}
	return errors.Join(err, differ("members", len(ids), fleetSize), differ("the marked one is there", slices.Contains(ids, f.ids[0]), false))
}

func activities(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "launches", young)
	if err != nil {
		return err
	}
	out, err := s.autoscaling.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String(f.group)})
	if err != nil {
		return err
	}
	launched := 0
	for _, a := range out.Activities {
		if strings.HasPrefix(aws.ToString(a.Description), "Launching a new EC2 instance") && aws.ToString(a.Cause) != "" {
			launched++
		}
	}
	return differ("launches told", launched, fleetSize)
}

func refreshes(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	out, err := s.autoscaling.DescribeInstanceRefreshes(ctx, &autoscaling.DescribeInstanceRefreshesInput{AutoScalingGroupName: aws.String(f.group)})
	if err != nil {
		return err
	}
	return differ("refreshes", len(out.InstanceRefreshes), 0)
}
