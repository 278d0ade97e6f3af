package probeaws

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// GroupsAPI is the call of the Auto Scaling client that is made here.
type GroupsAPI interface {
	DescribeAutoScalingGroups(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
}

// InstancesAPI is the call of the EC2 client that is made here.
type InstancesAPI interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
}

// Members reads the members of groups from Auto Scaling and their addresses from EC2.
type Members struct {
	groups    GroupsAPI
	instances InstancesAPI
}

// NewMembers makes Members over two clients.
func NewMembers(groups GroupsAPI, instances InstancesAPI) *Members {
	return &Members{groups: groups, instances: instances}
}

// InService lists the IDs of the members in service. A group that is on no page is fault.Gone; a page may be empty and have another
// after it.
func (m *Members) InService(ctx context.Context, group string) ([]string, error) {
	in := &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{group}}
	seen := map[string]bool{}
	for {
		out, err := m.groups.DescribeAutoScalingGroups(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("describe groups: %w", awserr.Classify(err))
		}
		for _, g := range out.AutoScalingGroups {
			if aws.ToString(g.AutoScalingGroupName) == group {
				return inService(g), nil
			}
		}
		next := aws.ToString(out.NextToken)
		if next == "" {
			return nil, fmt.Errorf("describe groups: %w: %q does not exist", fault.Gone, group)
		}
		if seen[next] {
			return nil, fmt.Errorf("describe groups: %w: page token %q came back", fault.Partial, next)
		}
		seen[next] = true
		in.NextToken = out.NextToken
	}
}

func inService(g astypes.AutoScalingGroup) []string {
	var ids []string
	for _, i := range g.Instances {
		if i.LifecycleState == astypes.LifecycleStateInService && i.InstanceId != nil {
			ids = append(ids, *i.InstanceId)
		}
	}
	return ids
}

// Addresses gives the private IPv4 addresses of up to 200 instances, which is how many values a filter takes. A filter, unlike a
// list of IDs, leaves out what is gone. Source: EC2 API reference, DescribeInstances and Filter.
func (m *Members) Addresses(ctx context.Context, ids []string) (map[string]string, error) {
	in := &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{{Name: aws.String("instance-id"), Values: ids}}}
	found, seen := map[string]string{}, map[string]bool{}
	for {
		out, err := m.instances.DescribeInstances(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("describe instances: %w", awserr.Classify(err))
		}
		for _, r := range out.Reservations {
			for _, i := range r.Instances {
				if address := aws.ToString(i.PrivateIpAddress); address != "" {
					found[aws.ToString(i.InstanceId)] = address
				}
			}
		}
		next := aws.ToString(out.NextToken)
		if next == "" {
			return found, nil
		}
		if seen[next] {
			return nil, fmt.Errorf("describe instances: %w: page token %q came back", fault.Partial, next)
		}
		seen[next] = true
		in.NextToken = out.NextToken
	}
}
