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
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// fleet is a group of three members behind a target group.
type fleet struct {
	group, targetGroup string // name and ARN
	ids                []string
}

// fleetSize is the number of members of a fleet.
const fleetSize = 3

// Grace periods of fleets. Members of a young one have just been launched and are in it, those of others are long past it. Even so it
// must be longer than a new member takes until its balancer finds it healthy, or that one is replaced as well.
const (
	settled = 10 * time.Minute
	young   = time.Hour
)

// fleet makes one with a grace period.
func (s *subject) fleet(ctx context.Context, word string, grace time.Duration) (fleet, error) {
	f := fleet{group: s.name(word)}
	var err error
	if s.world != nil {
		err = s.simulate(&f, grace)
	} else {
		err = s.create(ctx, &f, grace)
	}
	if err != nil {
		return f, fmt.Errorf("make fleet: %w", err)
	}
	// Those that are being launched get so far.
	if err := s.pass(ctx, 10*time.Minute); err != nil {
		return f, err
	}
	g, err := s.describe(ctx, f.group)
	if err != nil {
		return f, err
	}
	for _, i := range g.Instances {
		f.ids = append(f.ids, aws.ToString(i.InstanceId))
	}
	slices.Sort(f.ids)
	return f, differ("members of the new fleet", len(f.ids), fleetSize)
}

// shared returns a fleet that nobody changes, the same for all who only look at it.
func (s *subject) shared(ctx context.Context) (fleet, error) {
	if s.still.group != "" {
		return s.still, nil
	}
	f, err := s.fleet(ctx, "still", settled)
	if err == nil {
		s.still = f
	}
	return f, err
}

func (s *subject) tags() map[string]string {
	return map[string]string{"holdfast:guard": "true", "contract": s.run}
}

func (s *subject) simulate(f *fleet, grace time.Duration) error {
	var err error
	steady := time.Hour
	if grace == young {
		steady = 0
	}
	s.world.Do(func(c *sim.Cloud) {
		if f.targetGroup, err = c.CreateTargetGroup(sim.TargetGroupSpec{Name: f.group, Ports: []int{8080}}); err != nil {
			return
		}
		err = c.CreateGroup(sim.GroupSpec{
			Name: f.group, Desired: fleetSize, Min: 1, Max: 6, Zones: []string{region + "a"}, Tags: s.tags(),
			HealthCheckTypes: []string{"EC2", "ELB"}, Grace: grace, TargetGroups: []string{f.group}, SteadyFor: steady,
		})
	})
	return err
}

func (s *subject) create(ctx context.Context, f *fleet, grace time.Duration) error {
	vpcs, err := s.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	if err != nil || len(vpcs.Vpcs) == 0 {
		return errors.Join(err, errors.New("describe vpcs: none found"))
	}
	targets, err := s.elb.CreateTargetGroup(ctx, &elb.CreateTargetGroupInput{
		Name: aws.String(shorten(f.group)), Protocol: elbtypes.ProtocolEnumHttp, Port: aws.Int32(8080), VpcId: vpcs.Vpcs[0].VpcId,
		TargetType: elbtypes.TargetTypeEnumInstance, HealthCheckPath: aws.String("/health"), HealthCheckIntervalSeconds: aws.Int32(30),
		HealthyThresholdCount: aws.Int32(5), UnhealthyThresholdCount: aws.Int32(2),
	})
	if err != nil {
		return fmt.Errorf("create target group: %w", err)
	}
	f.targetGroup = aws.ToString(targets.TargetGroups[0].TargetGroupArn)
	images, err := s.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{})
	if err != nil || len(images.Images) == 0 {
		return errors.Join(err, errors.New("describe images: none found"))
	}
	_, err = s.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(f.group),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: images.Images[0].ImageId, InstanceType: ec2types.InstanceTypeT3Micro},
	})
	if err != nil {
		return fmt.Errorf("create launch template: %w", err)
	}
	in := &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: aws.String(f.group), MinSize: aws.Int32(1), MaxSize: aws.Int32(6), DesiredCapacity: aws.Int32(fleetSize),
		AvailabilityZones: []string{region + "a"}, HealthCheckType: aws.String("ELB"),
		HealthCheckGracePeriod: aws.Int32(int32(grace / time.Second)), TargetGroupARNs: []string{f.targetGroup},
		LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: aws.String(f.group), Version: aws.String("$Latest")},
	}
	for k, v := range s.tags() {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(k), Value: aws.String(v), PropagateAtLaunch: aws.Bool(false),
			ResourceId: aws.String(f.group), ResourceType: aws.String("auto-scaling-group")})
	}
	if _, err := s.autoscaling.CreateAutoScalingGroup(ctx, in); err != nil {
		return fmt.Errorf("create group: %w", err)
	}
	return nil
}

// shorten keeps a target group's name within its 32 characters. Source: ELB API reference, CreateTargetGroup.
func shorten(name string) string { return strings.TrimPrefix(name, "contract-") }

func (s *subject) describe(ctx context.Context, group string) (types.AutoScalingGroup, error) {
	out, err := s.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{group}})
	if err != nil {
		return types.AutoScalingGroup{}, fmt.Errorf("describe group: %w", err)
	}
	if len(out.AutoScalingGroups) != 1 {
		return types.AutoScalingGroup{}, fmt.Errorf("describe group: %d answers, want 1", len(out.AutoScalingGroups))
	}
	return out.AutoScalingGroups[0], nil
}

// suspended are the names of a group's suspended processes, sorted.
func (s *subject) suspended(ctx context.Context, group string) ([]string, error) {
	g, err := s.describe(ctx, group)
	names := []string{}
	for _, p := range g.SuspendedProcesses {
		names = append(names, aws.ToString(p.ProcessName))
	}
	slices.Sort(names)
	return names, err
}

func (s *subject) mark(ctx context.Context, id, status string) error {
	_, err := s.autoscaling.SetInstanceHealth(ctx, &autoscaling.SetInstanceHealthInput{InstanceId: aws.String(id), HealthStatus: aws.String(status)})
	return err
}

func groupRules() []rule {
	list := []rule{
		{name: "a group is described with its members, tags, checks and target groups", check: groupIsWhole},
		{name: "a grace period of 0 stays 0", check: noGrace},
		{name: "an unknown group is absent, not an error", check: unknownGroupAbsent},
		{name: "groups are found by a tag and paged without loss", check: groupsPaged},
		{name: "instances of groups are found by id, unknown ones are absent", check: groupInstances},
		{name: "exactly the named processes are suspended and resumed", check: namedProcesses},
		{name: "an empty list of processes means all of them", check: allProcesses},
		{name: "an unknown process is refused", check: unknownProcess},
		{name: "a process of an unknown group is refused", check: suspendUnknownGroup},
		{name: "a mark in the grace period is refused", check: markInGrace},
		{name: "a mark of an unknown instance is refused", check: markUnknown},
		{name: "a health that is neither Healthy nor Unhealthy is refused", check: markOdd},
		{name: "a marked member is replaced", check: markedReplaced},
		{name: "scaling activities tell of the launches", check: activities},
		{name: "a group without refreshes has an empty list of them", check: refreshes},
	}
	for i := range list {
		list[i].service = "autoscaling"
	}
	return list
}

func groupIsWhole(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	g, err := s.describe(ctx, f.group)
	if err != nil {
		return err
	}
	tags := map[string]string{}
	for _, t := range g.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	members := map[string]int{}
	for _, i := range g.Instances {
		members[string(i.LifecycleState)+" "+aws.ToString(i.HealthStatus)+" "+aws.ToString(i.AvailabilityZone)]++
	}
	return errors.Join(
		differ("sizes", []int32{*g.MinSize, *g.DesiredCapacity, *g.MaxSize, *g.HealthCheckGracePeriod}, []int32{1, fleetSize, 6, 600}),
		differ("check on a balancer", strings.Contains(aws.ToString(g.HealthCheckType), "ELB"), true),
		differ("tags", tags, s.tags()),
		differ("members", members, map[string]int{"InService Healthy us-east-1a": fleetSize}),
		differ("target groups", g.TargetGroupARNs, []string{f.targetGroup}),
		differ("ARN has the name", strings.HasSuffix(aws.ToString(g.AutoScalingGroupARN), ":autoScalingGroupName/"+f.group), true),
		differ("suspended processes", len(g.SuspendedProcesses), 0),
	)
}

func noGrace(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "no-grace", 0)
	if err != nil {
		return err
	}
	g, err := s.describe(ctx, f.group)
	return errors.Join(err, differ("grace period", aws.ToInt32(g.HealthCheckGracePeriod), int32(0)))
}

func unknownGroupAbsent(ctx context.Context, s *subject) error {
	out, err := s.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{s.name("nothing")}})
	if err != nil {
		return err
	}
	return differ("groups", len(out.AutoScalingGroups), 0)
}

func groupsPaged(ctx context.Context, s *subject) error {
	want := []string{}
	for _, word := range []string{"page-a", "page-b", "page-c"} {
		f, err := s.fleet(ctx, word, settled)
		if err != nil {
			return err
		}
		want = append(want, f.group)
	}
	pages := autoscaling.NewDescribeAutoScalingGroupsPaginator(s.autoscaling, &autoscaling.DescribeAutoScalingGroupsInput{
		MaxRecords: aws.Int32(1), Filters: []types.Filter{{Name: aws.String("tag:contract"), Values: []string{s.run}}}})
	have := []string{}
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		if n := len(out.AutoScalingGroups); n > 1 {
			return fmt.Errorf("%d groups on a page of 1", n)
		}
		for _, g := range out.AutoScalingGroups {
			if name := aws.ToString(g.AutoScalingGroupName); strings.Contains(name, "page-") {
				have = append(have, name)
			}
		}
	}
	slices.Sort(have)
	return differ("groups on all pages", have, want)
}

func groupInstances(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	out, err := s.autoscaling.DescribeAutoScalingInstances(ctx, &autoscaling.DescribeAutoScalingInstancesInput{
		InstanceIds: []string{f.ids[0], "i-00000000000000000"}})
	if err != nil {
		return err
	}
	if len(out.AutoScalingInstances) != 1 {
		return differ("instances", len(out.AutoScalingInstances), 1)
	}
	i := out.AutoScalingInstances[0]
	return differ("instance", []string{aws.ToString(i.InstanceId), aws.ToString(i.AutoScalingGroupName), strings.ToUpper(aws.ToString(i.HealthStatus))},
		[]string{f.ids[0], f.group, "HEALTHY"})
}
