package awsfleet

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

// AutoScaling are the calls of the Auto Scaling client that are made here.
type AutoScaling interface {
	DescribeAutoScalingGroups(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
	DescribeScalingActivities(context.Context, *autoscaling.DescribeScalingActivitiesInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeScalingActivitiesOutput, error)
	DescribeInstanceRefreshes(context.Context, *autoscaling.DescribeInstanceRefreshesInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeInstanceRefreshesOutput, error)
}

// LoadBalancing are the calls of the Elastic Load Balancing client that are made here.
type LoadBalancing interface {
	DescribeTargetGroups(context.Context, *elb.DescribeTargetGroupsInput, ...func(*elb.Options)) (*elb.DescribeTargetGroupsOutput, error)
	DescribeTargetHealth(context.Context, *elb.DescribeTargetHealthInput, ...func(*elb.Options)) (*elb.DescribeTargetHealthOutput, error)
}

// EC2 is the call of the EC2 client that is made here.
type EC2 interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
}

// API are the clients of one account and Region.
type API struct {
	AutoScaling   AutoScaling
	LoadBalancing LoadBalancing
	EC2           EC2
}

// Options are the settings of a Reader; the zero value is complete.
type Options struct {
	// Now is the clock from which the window of activities is counted back; nil is the system's.
	Now func() time.Time
}

// Reader makes the runs. It keeps nothing between them.
type Reader struct {
	api API
	now func() time.Time
}

// New makes a Reader over the clients.
func New(api API, o Options) *Reader {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Reader{api: api, now: o.Now}
}

// NewRun starts one run: make it at the start of a sweep and forget it at its end.
func (r *Reader) NewRun() *Run {
	return &Run{
		api: r.api, now: r.now,
		known:  map[string]sources{},
		health: newMemo[[]registration](),
		optOut: newMemo[map[string]bool](),
		usage:  usage{byARN: map[string]bool{}},
	}
}

// Run reads for one run and implements runner.Fleet. It may be used by several goroutines at once.
type Run struct {
	api API
	now func() time.Time

	mu sync.Mutex
	// known has, by group ARN, what Guarded or Group saw and guard.Group has no room for.
	known map[string]sources

	health *memo[[]registration]
	optOut *memo[map[string]bool]
	usage  usage
}

// sources is what the details of a group are read from.
type sources struct {
	targetGroups []string // ARNs, in AWS's order
	// fresh says that Group read it, so that nothing older may be used.
	fresh bool
	// malformed says what in the group's description could not be understood, "" if nothing.
	malformed string
}

func (r *Run) remember(arn string, s sources) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[arn] = s
}

func (r *Run) recall(arn string) (sources, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.known[arn]
	return s, ok
}

// targetGroups are the target groups of all groups that this run has seen.
func (r *Run) targetGroups() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var arns []string
	for _, s := range r.known {
		arns = append(arns, s.targetGroups...)
	}
	return arns
}
