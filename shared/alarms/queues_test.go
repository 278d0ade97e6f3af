package alarms_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/alarms"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Queues = (*alarms.QueueReader)(nil)

const queueURL = "https://sqs.us-east-1.amazonaws.com/111122223333/orders"

// store is a queue with a past. Its points are newest first, as CloudWatch has them unless asked otherwise.
type store struct {
	depth    string
	queueErr error

	metric   string // which metric was asked for
	window   string
	values   map[time.Time]float64
	page     int // points a page, 0 is all
	status   types.StatusCode
	loop     bool
	lopsided bool // one timestamp too many
	fail     func(call int) error
	calls    int
}

func (s *store) GetQueueAttributes(_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	if s.queueErr != nil {
		return nil, s.queueErr
	}
	out := &sqs.GetQueueAttributesOutput{Attributes: map[string]string{}}
	for _, name := range in.AttributeNames {
		if name == "ApproximateNumberOfMessages" && aws.ToString(in.QueueUrl) == queueURL {
			out.Attributes[string(name)] = s.depth
		}
	}
	return out, nil
}

func (s *store) GetMetricData(_ context.Context, in *cw.GetMetricDataInput, _ ...func(*cw.Options)) (*cw.GetMetricDataOutput, error) {
	s.calls++
	if s.fail != nil {
		if err := s.fail(s.calls); err != nil {
			return nil, err
		}
	}
	q := in.MetricDataQueries[0]
	m := q.MetricStat.Metric
	s.metric = aws.ToString(m.Namespace) + " " + aws.ToString(m.MetricName)
	for _, d := range m.Dimensions {
		s.metric += " " + aws.ToString(d.Name) + "=" + aws.ToString(d.Value)
	}
	s.window = in.StartTime.Format("15:04") + "-" + in.EndTime.Format("15:04")
	var times []time.Time
	for t := in.EndTime.Add(-time.Minute); !t.Before(*in.StartTime); t = t.Add(-time.Minute) {
		if _, ok := s.values[t]; ok {
			times = append(times, t)
		}
	}
	i, _ := strconv.Atoi(aws.ToString(in.NextToken))
	size := s.page
	if size == 0 {
		size = max(len(times), 1)
	}
	from := min(i*size, len(times))
	to := min(from+size, len(times))
	result := types.MetricDataResult{Id: q.Id, StatusCode: s.status}
	out := &cw.GetMetricDataOutput{}
	if to < len(times) {
		out.NextToken = aws.String(strconv.Itoa(i + 1))
		result.StatusCode = types.StatusCodePartialData
	} else if s.status == "" {
		result.StatusCode = types.StatusCodeComplete
	}
	if s.loop {
		out.NextToken = aws.String("0")
	}
	for _, t := range times[from:to] {
		result.Timestamps = append(result.Timestamps, t)
		result.Values = append(result.Values, s.values[t])
	}
	if s.lopsided {
		result.Timestamps = append(result.Timestamps, *in.StartTime)
	}
	out.MetricDataResults = []types.MetricDataResult{result}
	return out, nil
}

// past sets one point a minute, oldest first, the last at 12:29; a gap leaves its minute out.
func past(values ...float64) map[time.Time]float64 {
	out := map[time.Time]float64{}
	for i, v := range values {
		if v >= 0 {
			out[at(30-len(values)+i)] = v
		}
	}
	return out
}

const gap = -1.0

func repeat(v float64, n int) []float64 {
	var out []float64
	for range n {
		out = append(out, v)
	}
	return out
}

func (s *store) queue(ctx context.Context, spec guard.QueueSpec) (guard.QueueReading, error) {
	now := func() time.Time { return at(29).Add(40 * time.Second) }
	return alarms.NewQueues(alarms.QueueAPI{SQS: s, Metrics: s}, alarms.QueueOptions{Now: now}).Queue(ctx, spec)
}

func join(parts ...[]float64) []float64 {
	var out []float64
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func TestTheTrendComparesTheOldestAndTheNewestThird(t *testing.T) {
	cases := []struct {
		name string
		past []float64
		want string
	}{
		{"more than 5 % and more than one message up is rising", join(repeat(100, 5), repeat(103, 5), repeat(105.1, 5)), "rising"},
		{"exactly 5 % up is flat", join(repeat(100, 5), repeat(103, 5), repeat(105, 5)), "flat"},
		{"exactly 5 % down is flat", join(repeat(100, 5), repeat(97, 5), repeat(95, 5)), "flat"},
		{"more than 5 % down is falling", join(repeat(100, 5), repeat(97, 5), repeat(94.9, 5)), "falling"},
		{"one message more in a small queue is flat", join(repeat(3, 5), repeat(4, 10)), "flat"},
		{"two messages more in a small queue are rising", join(repeat(3, 5), repeat(5, 10)), "rising"},
		{"an empty queue is flat", repeat(0, 15), "flat"},
		{"a queue that empties is falling", join(repeat(50, 10), repeat(0, 5)), "falling"},
		{"one burst is no trend", join(repeat(100, 12), []float64{5000}, repeat(100, 2)), "flat"},
		{"three points are enough", join([]float64{10}, repeat(gap, 4), []float64{11}, repeat(gap, 4), []float64{20}), "rising"},
		{"four points make thirds of one", []float64{10, gap, 90, gap, 90, gap, 10}, "flat"},
		{"points that ended ten minutes ago are enough", join(repeat(10, 4), repeat(30, 2), repeat(gap, 9)), "rising"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, page := range []int{0, 4} {
				s := &store{depth: "7", values: past(c.past...), page: page}
				got, err := s.queue(t.Context(), guard.QueueSpec{SQSURL: queueURL})
				if err != nil {
					t.Fatal(err)
				}
				check(t, got, guard.QueueReading{Depth: 7, Trend: c.want})
			}
		})
	}
}

func TestWhichMetricIsRead(t *testing.T) {
	s := &store{depth: "7", values: past(repeat(7, 15)...)}
	if _, err := s.queue(t.Context(), guard.QueueSpec{SQSURL: queueURL}); err != nil {
		t.Fatal(err)
	}
	check(t, s.metric, "AWS/SQS ApproximateNumberOfMessagesVisible QueueName=orders")
	check(t, s.window, "12:15-12:30")
	s.values = past(join(repeat(7, 14), []float64{12.6})...)
	got, err := s.queue(t.Context(), guard.QueueSpec{Namespace: "Kafka", Metric: "Lag", Dimensions: map[string]string{"Topic": "orders", "Group": "web"}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, s.metric, "Kafka Lag Group=web Topic=orders")
	check(t, got, guard.QueueReading{Depth: 13, Trend: "flat"})
}

func TestAQueueThatCannotBeReadIsAnError(t *testing.T) {
	full := past(repeat(7, 15)...)
	sqsSpec, metricSpec := guard.QueueSpec{SQSURL: queueURL}, guard.QueueSpec{Namespace: "N", Metric: "M"}
	cases := []struct {
		name string
		have store
		spec guard.QueueSpec
		want error
		text string
	}{
		{"SQS is throttled", store{queueErr: throttle(), values: full}, sqsSpec, fault.Throttled, "read queue " + queueURL},
		{"the queue is gone", store{queueErr: &smithy.GenericAPIError{Code: "QueueDoesNotExist"}, values: full}, sqsSpec, fault.Gone, ""},
		{"the depth is left out", store{values: full}, sqsSpec, fault.Partial, `ApproximateNumberOfMessages is ""`},
		{"the depth is no number", store{depth: "many", values: full}, sqsSpec, fault.Partial, `is "many"`},
		{"CloudWatch is throttled", store{depth: "7", values: full, fail: failOn(1)}, sqsSpec, fault.Throttled, "read trend of queue"},
		{"the second page is throttled", store{depth: "7", values: full, page: 5, fail: failOn(2)}, sqsSpec, fault.Throttled, ""},
		{"a token comes back", store{depth: "7", values: full, loop: true}, sqsSpec, fault.Partial, `page token "0" came back`},
		{"the data is partial", store{depth: "7", values: full, status: types.StatusCodePartialData}, sqsSpec, fault.Partial, `status "PartialData"`},
		{"CloudWatch had an internal error", store{depth: "7", values: full, status: types.StatusCodeInternalError}, sqsSpec, fault.Partial, `status "InternalError"`},
		{"times and values do not match", store{depth: "7", values: full, lopsided: true}, sqsSpec, fault.Partial, "timestamps for"},
		{"a full queue has no metric", store{depth: "7"}, sqsSpec, fault.Partial, "no points"},
		{"a metric has no points", store{}, metricSpec, fault.Partial, "read metric N M: partial: the metric has no points"},
		{"there are two points", store{values: past(7, gap, gap, gap, gap, gap, 7)}, metricSpec, fault.Partial, "2 points over 6m0s"},
		{"the points span less than five minutes", store{values: past(7, 7, 7, 7, 7)}, metricSpec, fault.Partial, "5 points over 4m0s"},
		{"the metric ended eleven minutes ago", store{values: past(join(repeat(7, 5), repeat(gap, 10))...)}, metricSpec, fault.Partial, "5 points over 4m0s"},
		{"a value is infinite", store{values: past(join(repeat(7, 14), []float64{math.Inf(1)})...)}, metricSpec, fault.Partial, "no number of messages"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.have.queue(t.Context(), c.spec)
			if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.text)
			}
			check(t, got, guard.QueueReading{})
		})
	}
}

func TestAnSQSQueueThatRestedForHoursIsEmptyAndFlat(t *testing.T) {
	s := &store{depth: "0"}
	got, err := s.queue(t.Context(), guard.QueueSpec{SQSURL: queueURL})
	if err != nil {
		t.Fatal(err)
	}
	check(t, got, guard.QueueReading{Trend: "flat"})
	s.fail = failOn(2)
	if _, err := s.queue(t.Context(), guard.QueueSpec{SQSURL: queueURL}); !errors.Is(err, fault.Throttled) {
		t.Errorf("an empty queue whose trend is throttled: %v, want throttled", err)
	}
}
