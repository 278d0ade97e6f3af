package collect

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
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
	DescribeTargetGroupAttributes(context.Context, *elb.DescribeTargetGroupAttributesInput, ...func(*elb.Options)) (*elb.DescribeTargetGroupAttributesOutput, error)
	DescribeTags(context.Context, *elb.DescribeTagsInput, ...func(*elb.Options)) (*elb.DescribeTagsOutput, error)
	DescribeTargetHealth(context.Context, *elb.DescribeTargetHealthInput, ...func(*elb.Options)) (*elb.DescribeTargetHealthOutput, error)
}

// EC2 are the calls of the EC2 client that are made here.
type EC2 interface {
	DescribeApplicationStatus(context.Context, *ec2.DescribeApplicationStatusInput, ...func(*ec2.Options)) (*ec2.DescribeApplicationStatusOutput, error)
	DescribeApplicationStatusChecks(context.Context, *ec2.DescribeApplicationStatusChecksInput, ...func(*ec2.Options)) (*ec2.DescribeApplicationStatusChecksOutput, error)
	DescribeApplicationStatusCheckAssociations(context.Context, *ec2.DescribeApplicationStatusCheckAssociationsInput, ...func(*ec2.Options)) (*ec2.DescribeApplicationStatusCheckAssociationsOutput, error)
}

// CloudWatch are the calls of the CloudWatch client that are made here.
type CloudWatch interface {
	DescribeAlarms(context.Context, *cw.DescribeAlarmsInput, ...func(*cw.Options)) (*cw.DescribeAlarmsOutput, error)
	DescribeAlarmsForMetric(context.Context, *cw.DescribeAlarmsForMetricInput, ...func(*cw.Options)) (*cw.DescribeAlarmsForMetricOutput, error)
	GetMetricData(context.Context, *cw.GetMetricDataInput, ...func(*cw.Options)) (*cw.GetMetricDataOutput, error)
}

// SNS is the call of the SNS client that is made here.
type SNS interface {
	GetTopicAttributes(context.Context, *sns.GetTopicAttributesInput, ...func(*sns.Options)) (*sns.GetTopicAttributesOutput, error)
}

// Policies is the call of the Systems Manager client that is made here.
type Policies interface {
	GetParametersByPath(context.Context, *ssm.GetParametersByPathInput, ...func(*ssm.Options)) (*ssm.GetParametersByPathOutput, error)
}

// Holds reads what Holdfast remembers of a group.
type Holds interface {
	Load(ctx context.Context, groupARN string) (runner.Record, error)
}

// Beats reads the heartbeats of a group's members.
type Beats interface {
	Beats(ctx context.Context, g guard.Group) (map[string]guard.Beat, error)
}

// API are the clients of one account and Region. Holds and Beats may be nil: nobody said which tables they are in.
type API struct {
	AutoScaling   AutoScaling
	LoadBalancing LoadBalancing
	EC2           EC2
	CloudWatch    CloudWatch
	SNS           SNS
	Policies      Policies
	Holds         Holds
	Beats         Beats
}

// Progress tells how far a reading is.
type Progress struct {
	// Stage says what is being read.
	Stage string
	// Done and Total count the reads of the stage.
	Done, Total int
}

// Options are the settings of a reading; the zero value reads everything but metrics.
type Options struct {
	// Region is what the account says of itself if no ARN tells it.
	Region string
	// Groups limits the reading to these groups and their target groups; none means all.
	Groups []string
	// Metrics reads also the longest request of each target group, from CloudWatch, which costs a metric each.
	Metrics bool
	// Concurrency is how many reads are under way at once, 1 or more; 0 means 16.
	Concurrency int
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// Sleep waits before further tries, and returns the context's error if that ends first; nil is a real wait. Several goroutines may be
	// in it at once.
	Sleep func(context.Context, time.Duration) error
	// Progress is told after each read, by one goroutine at a time; nil tells nobody.
	Progress func(Progress)
}

const concurrencyPreset = 16

func (o Options) settled() Options {
	if o.Concurrency < 1 {
		o.Concurrency = concurrencyPreset
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = wait
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
