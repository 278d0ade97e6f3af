package alarms

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// errNoPoints is a metric without any point in the window.
var errNoPoints = fmt.Errorf("%w: the metric has no points in the last 15 minutes", fault.Partial)

// valueMax is the largest depth that a float64 holds exactly; no queue is as deep.
const valueMax = 1 << 53

// Metrics is the call of the CloudWatch client that reads a queue's past.
type Metrics interface {
	GetMetricData(context.Context, *cw.GetMetricDataInput, ...func(*cw.Options)) (*cw.GetMetricDataOutput, error)
}

// SQS is the call of the SQS client that reads a queue's depth.
type SQS interface {
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// QueueAPI are the clients of a QueueReader.
type QueueAPI struct {
	SQS     SQS
	Metrics Metrics
}

// QueueOptions are the settings of a QueueReader; the zero value is complete.
type QueueOptions struct {
	// Now is the clock that the window of the trend ends at; nil is the system's.
	Now func() time.Time
}

// QueueReader reads queues. It keeps nothing between calls and may be used by several goroutines at once.
type QueueReader struct {
	api QueueAPI
	now func() time.Time
}

// NewQueues makes a QueueReader over the clients.
func NewQueues(api QueueAPI, o QueueOptions) *QueueReader {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &QueueReader{api: api, now: o.Now}
}

// Queue reads the depth of a queue in messages, 0 or more, and its trend over the last 15 minutes. An SQS queue's depth is asked of
// SQS and its trend taken from its metric ApproximateNumberOfMessagesVisible; otherwise both come from the metric that the policy
// names, the depth being its newest point. An SQS queue that is empty and has no metric, as one that rested for hours, is flat.
//
// The trend is rising or falling if the median of the newest third of the points differs from that of the oldest third by more
// than one message and more than 5 % of the older; else it is flat. With fewer than 3 points, or points over less than 5
// minutes, there is no trend: that is fault.Partial.
func (q *QueueReader) Queue(ctx context.Context, spec guard.QueueSpec) (guard.QueueReading, error) {
	if spec.SQSURL == "" {
		points, err := q.points(ctx, metricOf(spec))
		if err != nil {
			return guard.QueueReading{}, fmt.Errorf("read metric %s %s: %w", spec.Namespace, spec.Metric, err)
		}
		return guard.QueueReading{Depth: int64(math.Round(points[len(points)-1].value)), Trend: trend(points)}, nil
	}
	depth, err := q.depth(ctx, spec.SQSURL)
	if err != nil {
		return guard.QueueReading{}, fmt.Errorf("read queue %s: %w", spec.SQSURL, err)
	}
	points, err := q.points(ctx, metricOf(spec))
	switch {
	case errors.Is(err, errNoPoints) && depth == 0:
		return guard.QueueReading{Trend: trendFlat}, nil
	case err != nil:
		return guard.QueueReading{}, fmt.Errorf("read trend of queue %s: %w", spec.SQSURL, err)
	}
	return guard.QueueReading{Depth: depth, Trend: trend(points)}, nil
}

func (q *QueueReader) depth(ctx context.Context, queueURL string) (int64, error) {
	name := sqstypes.QueueAttributeNameApproximateNumberOfMessages
	out, err := q.api.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(queueURL), AttributeNames: []sqstypes.QueueAttributeName{name},
	})
	if err != nil {
		return 0, awserr.Classify(err)
	}
	depth, err := strconv.ParseInt(out.Attributes[string(name)], 10, 64)
	if err != nil || depth < 0 {
		return 0, fmt.Errorf("%w: %s is %q", fault.Partial, name, out.Attributes[string(name)])
	}
	return depth, nil
}

// metricOf is the metric of the depth. SQS names its own by the last part of the queue's URL.
// Source: SQS developer guide, "Available CloudWatch metrics for Amazon SQS".
func metricOf(spec guard.QueueSpec) *types.Metric {
	if spec.SQSURL != "" {
		path := spec.SQSURL
		if u, err := url.Parse(path); err == nil {
			path = u.Path
		}
		name := path[strings.LastIndex(path, "/")+1:]
		spec.Namespace, spec.Metric, spec.Dimensions = "AWS/SQS", "ApproximateNumberOfMessagesVisible", map[string]string{"QueueName": name}
	}
	m := &types.Metric{Namespace: aws.String(spec.Namespace), MetricName: aws.String(spec.Metric)}
	for _, name := range slices.Sorted(maps.Keys(spec.Dimensions)) {
		m.Dimensions = append(m.Dimensions, types.Dimension{Name: aws.String(name), Value: aws.String(spec.Dimensions[name])})
	}
	return m
}

// points reads the window, oldest first, and answers for it that it is good enough for a trend.
func (q *QueueReader) points(ctx context.Context, metric *types.Metric) ([]point, error) {
	// The end is exclusive, so the minute that has just begun is in.
	end := q.now().UTC().Truncate(trendPeriod).Add(trendPeriod)
	points, err := q.metricData(ctx, &cw.GetMetricDataInput{
		StartTime: aws.Time(end.Add(-trendWindow)), EndTime: aws.Time(end), ScanBy: types.ScanByTimestampAscending,
		MetricDataQueries: []types.MetricDataQuery{{
			Id: aws.String("depth"),
			MetricStat: &types.MetricStat{
				Metric: metric, Period: aws.Int32(int32(trendPeriod / time.Second)), Stat: aws.String("Average"),
			},
		}},
	})
	if err != nil {
		return nil, err
	}
	if len(points) == 0 {
		return nil, errNoPoints
	}
	slices.SortFunc(points, func(a, b point) int { return a.at.Compare(b.at) })
	oldest, newest := points[0].at, points[len(points)-1].at
	if len(points) < pointsMin || newest.Sub(oldest) < spanMin {
		return nil, fmt.Errorf("%w: the metric has %d points over %s, want %d over %s", fault.Partial, len(points), newest.Sub(oldest), pointsMin, spanMin)
	}
	for _, p := range points {
		if math.IsNaN(p.value) || p.value < 0 || p.value > valueMax {
			return nil, fmt.Errorf("%w: the metric has the value %v, which is no number of messages", fault.Partial, p.value)
		}
	}
	return points, nil
}

// metricData follows every page. CloudWatch says with the last of them whether the data is complete.
func (q *QueueReader) metricData(ctx context.Context, in *cw.GetMetricDataInput) ([]point, error) {
	var points []point
	var status types.StatusCode
	seen := map[string]bool{}
	for {
		out, err := q.api.Metrics.GetMetricData(ctx, in)
		if err != nil {
			return nil, awserr.Classify(err)
		}
		for _, result := range out.MetricDataResults {
			if len(result.Timestamps) != len(result.Values) {
				return nil, fmt.Errorf("%w: %d timestamps for %d values", fault.Partial, len(result.Timestamps), len(result.Values))
			}
			status = result.StatusCode
			for i, at := range result.Timestamps {
				points = append(points, point{at: at, value: result.Values[i]})
			}
		}
		next := aws.ToString(out.NextToken)
		if next == "" {
			break
		}
		if seen[next] {
			return nil, fmt.Errorf("%w: page token %q came back", fault.Partial, next)
		}
		seen[next] = true
		in.NextToken = out.NextToken
	}
	if status != types.StatusCodeComplete {
		return nil, fmt.Errorf("%w: the metric's data has status %q", fault.Partial, status)
	}
	return points, nil
}
