package contract_test

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/shared/awsact"
	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

func balancerRules() []rule {
	return []rule{
		{service: "loadbalancing", name: "a target group is described with its health check", check: targetGroupIsWhole},
		{service: "loadbalancing", name: "an unknown target group is an error", check: unknownTargetGroup},
		{service: "loadbalancing", name: "the members of a group are its targets", check: membersAreTargets},
		{service: "loadbalancing", name: "a target that is not registered is unused, not an error", check: unregisteredTarget},
		{service: "ec2", name: "members are found by the tag of their group", check: membersByTag},
		{service: "ec2", name: "an unknown instance is an error", check: unknownInstance},
	}
}

func (s *subject) health(ctx context.Context, arn string, ids ...string) ([]elbtypes.TargetHealthDescription, error) {
	in := &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(arn)}
	for _, id := range ids {
		in.Targets = append(in.Targets, elbtypes.TargetDescription{Id: aws.String(id)})
	}
	out, err := s.elb.DescribeTargetHealth(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.TargetHealthDescriptions, nil
}

func targetGroupIsWhole(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	out, err := s.elb.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{TargetGroupArns: []string{f.targetGroup}})
	if err != nil || len(out.TargetGroups) != 1 {
		return errors.Join(err, errors.New("not one target group"))
	}
	g := out.TargetGroups[0]
	return errors.Join(
		differ("path and port of the check", []string{aws.ToString(g.HealthCheckPath), aws.ToString(g.HealthCheckPort)}, []string{"/health", "traffic-port"}),
		differ("protocols", []elbtypes.ProtocolEnum{g.Protocol, g.HealthCheckProtocol}, []elbtypes.ProtocolEnum{"HTTP", "HTTP"}),
		differ("port, interval, timeout, thresholds", []int32{aws.ToInt32(g.Port), aws.ToInt32(g.HealthCheckIntervalSeconds),
			aws.ToInt32(g.HealthCheckTimeoutSeconds), aws.ToInt32(g.HealthyThresholdCount), aws.ToInt32(g.UnhealthyThresholdCount)},
			[]int32{8080, 30, 5, 5, 2}),
		differ("type", g.TargetType, elbtypes.TargetTypeEnumInstance),
	)
}

func unknownTargetGroup(ctx context.Context, s *subject) error {
	arn := "arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/nothing/0123456789abcdef"
	_, describe := s.elb.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{TargetGroupArns: []string{arn}})
	_, health := s.health(ctx, arn)
	return errors.Join(refused("describing it", describe, "TargetGroupNotFound"), refused("its health", health, "TargetGroupNotFound"))
}

func membersAreTargets(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	list, err := s.health(ctx, f.targetGroup)
	have := []string{}
	for _, d := range list {
		have = append(have, aws.ToString(d.Target.Id))
		if d.TargetHealth.State != elbtypes.TargetHealthStateEnumHealthy || aws.ToInt32(d.Target.Port) != 8080 {
			err = errors.Join(err, differ("target", d.TargetHealth.State, "healthy on port 8080"))
		}
	}
	slices.Sort(have)
	return errors.Join(err, differ("targets", have, f.ids))
}

func unregisteredTarget(ctx context.Context, s *subject) error {
	a, errA := s.shared(ctx)
	b, errB := s.fleet(ctx, "other", settled)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	list, err := s.health(ctx, a.targetGroup, b.ids[0])
	if err != nil || len(list) != 1 {
		return errors.Join(err, differ("answers", len(list), 1))
	}
	return differ("state", []string{string(list[0].TargetHealth.State), string(list[0].TargetHealth.Reason)}, []string{"unused", "Target.NotRegistered"})
}

func membersByTag(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	have := []string{}
	pages := ec2.NewDescribeInstancesPaginator(s.ec2, &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("tag:aws:autoscaling:groupName"), Values: []string{f.group}},
		{Name: aws.String("instance-state-name"), Values: []string{"running"}},
	}})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, r := range out.Reservations {
			for _, i := range r.Instances {
				have = append(have, aws.ToString(i.InstanceId))
			}
		}
	}
	slices.Sort(have)
	return differ("members", have, f.ids)
}

func unknownInstance(ctx context.Context, s *subject) error {
	_, err := s.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{"i-00000000000000000"}})
	return refused("an unknown instance", err, "InvalidInstanceID.NotFound")
}

func fleetRules() []rule {
	return []rule{
		{service: "autoscaling", name: "Holdfast reads a guarded group completely", check: readsCompletely},
		{service: "autoscaling", name: "Holdfast holds, marks, restores and lets go", check: holdsAndMarks},
		{service: "autoscaling", name: "Holdfast is told that a group or a member is gone", check: goneIsGone},
	}
}

func (s *subject) reader() *awsfleet.Run {
	return awsfleet.New(awsfleet.API{AutoScaling: s.autoscaling, LoadBalancing: s.elb, EC2: s.ec2}, awsfleet.Options{Now: s.now}).NewRun()
}

func readsCompletely(ctx context.Context, s *subject) error {
	f, err := s.shared(ctx)
	if err != nil {
		return err
	}
	run := s.reader()
	list, err := run.Guarded(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(g guard.Group) bool { return g.Name == f.group })
	if i < 0 {
		return errors.New("the group is not among the guarded ones")
	}
	g, reads := run.Details(ctx, list[i])
	ids := []string{}
	for _, m := range g.Members {
		ids = append(ids, m.ID)
		err = errors.Join(err, differ("targets of a member", len(m.Targets), 1))
	}
	slices.Sort(ids)
	return errors.Join(err, differ("members", ids, f.ids), differ("what could not be read", reads, guard.Reads{}))
}

func holdsAndMarks(ctx context.Context, s *subject) error {
	f, err := s.fleet(ctx, "hold", settled)
	if err != nil {
		return err
	}
	actor := awsact.New(s.autoscaling, awsact.Options{})
	processes := []string{"HealthCheck", "ReplaceUnhealthy"}
	state := func(unhealthy bool, suspended []string) error {
		g, err := s.reader().Group(ctx, f.group)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(g.Members, func(m guard.Member) bool { return m.ID == f.ids[0] })
		if i < 0 {
			return errors.New("the member is not there")
		}
		names := []string{}
		for _, p := range g.Suspended {
			names = append(names, p.Process)
		}
		slices.Sort(names)
		return errors.Join(differ("marked Unhealthy", g.Members[i].Unhealthy, unhealthy), differ("suspended", names, suspended))
	}
	for _, step := range []func() error{
		func() error { return actor.Suspend(ctx, f.group, processes) },
		func() error { return actor.Mark(ctx, f.ids[0]) },
		func() error { return state(true, processes) },
		func() error { return actor.Restore(ctx, f.ids[0]) },
		func() error { return actor.Resume(ctx, f.group, processes) },
		func() error { return state(false, []string{}) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func goneIsGone(ctx context.Context, s *subject) error {
	_, group := s.reader().Group(ctx, s.name("nothing"))
	member := awsact.New(s.autoscaling, awsact.Options{}).Mark(ctx, "i-00000000000000000")
	return errors.Join(
		differ("the group is gone, "+text(group), errors.Is(group, fault.Gone), true),
		differ("the member is gone, "+text(member), errors.Is(member, fault.Gone), true),
	)
}

func text(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
