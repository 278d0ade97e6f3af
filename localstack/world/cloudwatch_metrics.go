package world

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// dataMax bounds the metric data kept; the oldest goes first.
const dataMax = 100_000

// datum is one value of one metric.
type datum struct {
	metric string
	at     time.Time
	value  float64
	count  float64
}

// metricKey names a metric: namespace, name and dimensions in order.
func metricKey(namespace, name string, dims []types.Dimension) string {
	parts := make([]string, 0, len(dims))
	for _, d := range dims {
		parts = append(parts, fmt.Sprintf("%q=%q", aws.ToString(d.Name), aws.ToString(d.Value)))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%q/%q{%s}", namespace, name, strings.Join(parts, ","))
}

func (w *cloudWatch) putMetricData(in *cw.PutMetricDataInput) (*cw.PutMetricDataOutput, error) {
	var fresh []datum
	for _, m := range in.MetricData {
		if m.StatisticValues != nil {
			return nil, invalidMetric("StatisticValues are not part of the embedded AWS")
		}
		values, counts := m.Values, m.Counts
		if m.Value != nil {
			values, counts = []float64{*m.Value}, nil
		}
		if len(counts) > 0 && len(counts) != len(values) {
			return nil, invalidMetric("Values and Counts of %s differ in length", aws.ToString(m.MetricName))
		}
		at := w.server.now()
		if m.Timestamp != nil {
			at = *m.Timestamp
		}
		key := metricKey(aws.ToString(in.Namespace), aws.ToString(m.MetricName), m.Dimensions)
		for i, v := range values {
			d := datum{metric: key, at: at, value: v, count: 1}
			if len(counts) > 0 {
				d.count = counts[i]
			}
			fresh = append(fresh, d)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, fresh...)
	if over := len(w.data) - dataMax; over > 0 {
		w.data = slices.Clone(w.data[over:])
	}
	return &cw.PutMetricDataOutput{}, nil
}

func (w *cloudWatch) getMetricData(in *cw.GetMetricDataInput) (*cw.GetMetricDataOutput, error) {
	if in.StartTime == nil || in.EndTime == nil || !in.StartTime.Before(*in.EndTime) {
		return nil, invalidMetric("StartTime must be before EndTime")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := &cw.GetMetricDataOutput{}
	for _, q := range in.MetricDataQueries {
		if q.MetricStat == nil || q.MetricStat.Metric == nil {
			return nil, invalidMetric("query %s: only MetricStat is part of the embedded AWS", aws.ToString(q.Id))
		}
		if q.ReturnData != nil && !*q.ReturnData {
			continue
		}
		result, err := w.series(in, q)
		if err != nil {
			return nil, err
		}
		out.MetricDataResults = append(out.MetricDataResults, result)
	}
	return out, nil
}

// series computes one statistic per period. Periods without data are left out, as
// in AWS; the newest comes first unless the caller says otherwise.
func (w *cloudWatch) series(in *cw.GetMetricDataInput, q types.MetricDataQuery) (types.MetricDataResult, error) {
	m := q.MetricStat.Metric
	key := metricKey(aws.ToString(m.Namespace), aws.ToString(m.MetricName), m.Dimensions)
	period := time.Duration(aws.ToInt32(q.MetricStat.Period)) * time.Second
	if period <= 0 {
		return types.MetricDataResult{}, invalidMetric("query %s: Period must be positive", aws.ToString(q.Id))
	}
	buckets := map[time.Time][]datum{}
	for _, d := range w.data {
		if d.metric == key && !d.at.Before(*in.StartTime) && d.at.Before(*in.EndTime) {
			at := d.at.UTC().Truncate(period)
			buckets[at] = append(buckets[at], d)
		}
	}
	result := types.MetricDataResult{Id: q.Id, Label: q.Label, StatusCode: types.StatusCodeComplete}
	if q.Label == nil {
		result.Label = m.MetricName
	}
	for at := range buckets {
		result.Timestamps = append(result.Timestamps, at)
	}
	slices.SortFunc(result.Timestamps, func(a, b time.Time) int {
		if in.ScanBy == types.ScanByTimestampAscending {
			return a.Compare(b)
		}
		return b.Compare(a)
	})
	for _, at := range result.Timestamps {
		v, ok := statistic(aws.ToString(q.MetricStat.Stat), buckets[at])
		if !ok {
			return types.MetricDataResult{}, invalidMetric("statistic %q is not part of the embedded AWS", aws.ToString(q.MetricStat.Stat))
		}
		result.Values = append(result.Values, v)
	}
	return result, nil
}

func statistic(name string, data []datum) (float64, bool) {
	sum, count, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for _, d := range data {
		sum += d.value * d.count
		count += d.count
		low, high = min(low, d.value), max(high, d.value)
	}
	switch name {
	case "Sum":
		return sum, true
	case "Average":
		return sum / count, true
	case "SampleCount":
		return count, true
	case "Minimum":
		return low, true
	case "Maximum":
		return high, true
	}
	return 0, false
}
