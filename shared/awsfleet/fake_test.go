package awsfleet_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	as "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	lb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/awsfleet"
)

var _ awsfleet.AutoScaling = (*cloud)(nil)

// The operations of the fake, as counted and failed.
const (
	opGroups     = "DescribeAutoScalingGroups"
	opActivities = "DescribeScalingActivities"
	opRefreshes  = "DescribeInstanceRefreshes"
	opUsage      = "DescribeTargetGroups"
	opHealth     = "DescribeTargetHealth"
	opInstances  = "DescribeInstances"
)

// cloud is an account with state. Every listing is paged by page items, begins with empty pages, and can fail on call N.
type cloud struct {
	mu         sync.Mutex
	groups     []as.AutoScalingGroup
	activities map[string][]as.Activity
	refreshes  map[string][]as.InstanceRefresh
	health     map[string][]lb.TargetHealthDescription // by target group ARN
	used       map[string]bool                         // by target group ARN; absent: no such target group
	hideUsage  string                                  // a target group that answers leave out
	instances  []ec2types.Instance

	page      int // items a page, 0 is all
	empty     int // empty pages before the first item
	loop      string
	tagless   bool // answers as if there were no filters, as an emulator may
	fail      func(op string, n int) error
	calls     map[string]int
	asked     []string // target groups whose health was asked for
	lastBound string   // the newest StartTimeLowerBound
}

func newCloud() *cloud {
	return &cloud{
		activities: map[string][]as.Activity{}, refreshes: map[string][]as.InstanceRefresh{},
		health: map[string][]lb.TargetHealthDescription{}, used: map[string]bool{}, calls: map[string]int{},
	}
}

func (c *cloud) api() awsfleet.API {
	return awsfleet.API{AutoScaling: c, LoadBalancing: c, EC2: c}
}

// now is the clock of all tests.
func now() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 500, time.UTC) }

func (c *cloud) run() *awsfleet.Run {
	return awsfleet.New(c.api(), awsfleet.Options{Now: now}).NewRun()
}

func throttle() error { return &smithy.GenericAPIError{Code: "Throttling", Message: "Rate exceeded"} }

// failing makes the n-th call of an operation fail; n 0 makes all fail.
func failing(op string, n int, err error) func(string, int) error {
	return func(o string, m int) error {
		if o == op && (n == 0 || n == m) {
			return err
		}
		return nil
	}
}

func (c *cloud) begin(ctx context.Context, op string) error {
	c.calls[op]++
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.fail != nil {
		return c.fail(op, c.calls[op])
	}
	return nil
}

// slice cuts one page out of n items; the token is the index of the page.
func (c *cloud) slice(op string, n int, token *string) (from, to int, next *string) {
	i, _ := strconv.Atoi(aws.ToString(token))
	if c.loop == op {
		return 0, n, aws.String("7")
	}
	size := c.page
	if size == 0 {
		size = max(n, 1)
	}
	from = min(max(0, i-c.empty)*size, n)
	to = min(from+size, n)
	if i < c.empty {
		to = from
	}
	if to < n || i < c.empty {
		next = aws.String(strconv.Itoa(i + 1))
	}
	return from, to, next
}

func (c *cloud) DescribeAutoScalingGroups(ctx context.Context, in *autoscaling.DescribeAutoScalingGroupsInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, opGroups); err != nil {
		return nil, err
	}
	if aws.ToInt32(in.MaxRecords) > 100 {
		return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "MaxRecords"}
	}
	var found []as.AutoScalingGroup
	for _, g := range c.groups {
		named := len(in.AutoScalingGroupNames) == 0 || slices.Contains(in.AutoScalingGroupNames, aws.ToString(g.AutoScalingGroupName))
		tagged := true
		for _, f := range in.Filters {
			if c.tagless {
				break
			}
			key, ok := strings.CutPrefix(aws.ToString(f.Name), "tag:")
			tagged = tagged && ok && slices.ContainsFunc(g.Tags, func(t as.TagDescription) bool {
				return aws.ToString(t.Key) == key && slices.Contains(f.Values, aws.ToString(t.Value))
			})
		}
		if named && tagged {
			found = append(found, g)
		}
	}
	from, to, next := c.slice(opGroups, len(found), in.NextToken)
	return &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: found[from:to], NextToken: next}, nil
}

func (c *cloud) DescribeScalingActivities(ctx context.Context, in *autoscaling.DescribeScalingActivitiesInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, opActivities); err != nil {
		return nil, err
	}
	for _, f := range in.Filters {
		if aws.ToString(f.Name) == "StartTimeLowerBound" {
			c.lastBound = f.Values[0]
		}
	}
	// It ignores the bound, as an emulator may, so that the reader must keep to it by itself.
	all := c.activities[aws.ToString(in.AutoScalingGroupName)]
	from, to, next := c.slice(opActivities, len(all), in.NextToken)
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: all[from:to], NextToken: next}, nil
}

func (c *cloud) DescribeInstanceRefreshes(ctx context.Context, in *autoscaling.DescribeInstanceRefreshesInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeInstanceRefreshesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, opRefreshes); err != nil {
		return nil, err
	}
	all := c.refreshes[aws.ToString(in.AutoScalingGroupName)]
	from, to, next := c.slice(opRefreshes, len(all), in.NextToken)
	return &autoscaling.DescribeInstanceRefreshesOutput{InstanceRefreshes: all[from:to], NextToken: next}, nil
}

func (c *cloud) DescribeTargetGroups(ctx context.Context, in *elb.DescribeTargetGroupsInput, _ ...func(*elb.Options)) (*elb.DescribeTargetGroupsOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, opUsage); err != nil {
		return nil, err
	}
	if len(in.TargetGroupArns) > 20 || len(in.TargetGroupArns) == 0 {
		return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "too many target groups"}
	}
	var found []lb.TargetGroup
	for _, arn := range in.TargetGroupArns {
		used, ok := c.used[arn]
		if !ok {
			return nil, &smithy.GenericAPIError{Code: "TargetGroupNotFound", Message: "One or more target groups not found"}
		}
		tg := lb.TargetGroup{TargetGroupArn: aws.String(arn)}
		if used {
			tg.LoadBalancerArns = []string{"arn:aws:elasticloadbalancing:us-east-1:111122223333:loadbalancer/app/shop/1"}
		}
		if arn != c.hideUsage {
			found = append(found, tg)
		}
	}
	from, to, next := c.slice(opUsage, len(found), in.Marker)
	return &elb.DescribeTargetGroupsOutput{TargetGroups: found[from:to], NextMarker: next}, nil
}

func (c *cloud) DescribeTargetHealth(ctx context.Context, in *elb.DescribeTargetHealthInput, _ ...func(*elb.Options)) (*elb.DescribeTargetHealthOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, aws.ToString(in.TargetGroupArn))
	if err := c.begin(ctx, opHealth); err != nil {
		return nil, err
	}
	if _, ok := c.used[aws.ToString(in.TargetGroupArn)]; !ok {
		return nil, &smithy.GenericAPIError{Code: "TargetGroupNotFound", Message: "One or more target groups not found"}
	}
	out := slices.Clone(c.health[aws.ToString(in.TargetGroupArn)])
	if !slices.Contains(in.Include, lb.DescribeTargetHealthInputIncludeEnumAnomaly) {
		for i := range out {
			out[i].AnomalyDetection = nil
		}
	}
	return &elb.DescribeTargetHealthOutput{TargetHealthDescriptions: out}, nil
}

func (c *cloud) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, opInstances); err != nil {
		return nil, err
	}
	var found []ec2types.Reservation
	for _, i := range c.instances {
		ok := true
		for _, f := range in.Filters {
			key := strings.TrimPrefix(aws.ToString(f.Name), "tag:")
			ok = ok && slices.ContainsFunc(i.Tags, func(t ec2types.Tag) bool {
				return aws.ToString(t.Key) == key && slices.Contains(f.Values, aws.ToString(t.Value))
			})
		}
		if ok {
			found = append(found, ec2types.Reservation{Instances: []ec2types.Instance{i}})
		}
	}
	from, to, next := c.slice(opInstances, len(found), in.NextToken)
	return &ec2.DescribeInstancesOutput{Reservations: found[from:to], NextToken: next}, nil
}

func groupARN(name string) string {
	return "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0c1d:autoScalingGroupName/" + name
}

func targetGroupARN(name string) string {
	return "arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/" + name + "/0123456789abcdef"
}

// addGroup adds an opted-in group with members that are healthy targets of every one of the target groups.
func (c *cloud) addGroup(name string, members []string, targetGroups ...string) *as.AutoScalingGroup {
	g := as.AutoScalingGroup{
		AutoScalingGroupName: aws.String(name), AutoScalingGroupARN: aws.String(groupARN(name)),
		DesiredCapacity: aws.Int32(int32(len(members))), MinSize: aws.Int32(1), MaxSize: aws.Int32(10), HealthCheckType: aws.String("EC2"),
		Tags: []as.TagDescription{{Key: aws.String("holdfast:guard"), Value: aws.String("true")}},
	}
	for _, id := range members {
		g.Instances = append(g.Instances, as.Instance{
			InstanceId: aws.String(id), LifecycleState: as.LifecycleStateInService, HealthStatus: aws.String("Healthy"),
			AvailabilityZone: aws.String("us-east-1a"), ProtectedFromScaleIn: aws.Bool(false),
		})
	}
	for _, tg := range targetGroups {
		arn := targetGroupARN(tg)
		g.TargetGroupARNs = append(g.TargetGroupARNs, arn)
		c.used[arn] = true
		for _, id := range members {
			c.health[arn] = append(c.health[arn], target(id, 80, lb.TargetHealthStateEnumHealthy))
		}
	}
	c.groups = append(c.groups, g)
	return &c.groups[len(c.groups)-1]
}

func (c *cloud) addInstance(id, address string, tags ...string) {
	i := ec2types.Instance{InstanceId: aws.String(id), PrivateIpAddress: aws.String(address)}
	for k := 0; k+1 < len(tags); k += 2 {
		i.Tags = append(i.Tags, ec2types.Tag{Key: aws.String(tags[k]), Value: aws.String(tags[k+1])})
	}
	c.instances = append(c.instances, i)
}

func target(id string, port int32, state lb.TargetHealthStateEnum) lb.TargetHealthDescription {
	return lb.TargetHealthDescription{
		Target: &lb.TargetDescription{Id: aws.String(id), Port: aws.Int32(port)}, TargetHealth: &lb.TargetHealth{State: state},
	}
}

func ids(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("i-%s%03d", prefix, i))
	}
	return out
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
