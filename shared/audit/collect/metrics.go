package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// queriesMax is how many metrics one call may ask for. Source: CloudWatch API reference, GetMetricData.
const queriesMax = 500

// The longest request is that of the last day, asked for by the hour.
const (
	metricWindow = 24 * time.Hour
	metricPeriod = time.Hour
)

// metricJobs read the longest request of each target group of an Application Load Balancer, which alone measures it.
func (r *reading) metricJobs() []job {
	var measured []*audit.TargetGroup
	for _, t := range r.targetGroups {
		if dimensionsOf(t) != nil {
			measured = append(measured, t)
		}
	}
	var jobs []job
	for chunk := range slices.Chunk(measured, queriesMax) {
		jobs = append(jobs, r.metricJob(chunk))
	}
	return jobs
}

// dimensionsOf are the dimensions of a target group's metrics, nil if it has none.
// Source: Application Load Balancer user guide, "CloudWatch metrics".
func dimensionsOf(t *audit.TargetGroup) []types.Dimension {
	if len(t.LoadBalancers) == 0 {
		return nil
	}
	_, balancer, isApplication := strings.Cut(t.LoadBalancers[0], ":loadbalancer/app/")
	_, group, isGroup := strings.Cut(t.ID, ":targetgroup/")
	if !isApplication || !isGroup {
		return nil
	}
	return []types.Dimension{
		{Name: aws.String("LoadBalancer"), Value: aws.String("app/" + balancer)},
		{Name: aws.String("TargetGroup"), Value: aws.String("targetgroup/" + group)},
	}
}

func (r *reading) metricJob(of []*audit.TargetGroup) job {
	end := r.account.At.Truncate(metricPeriod).Add(metricPeriod)
	in := &cw.GetMetricDataInput{StartTime: aws.Time(end.Add(-metricWindow - metricPeriod)), EndTime: aws.Time(end)}
	byID := map[string]*audit.TargetGroup{}
	names := make([]string, 0, len(of))
	for i, t := range of {
		id := fmt.Sprintf("m%d", i)
		byID[id] = t
		names = append(names, t.Name)
		in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{Id: aws.String(id), MetricStat: &types.MetricStat{
			Metric: &types.Metric{Namespace: aws.String("AWS/ApplicationELB"), MetricName: aws.String("TargetResponseTime"), Dimensions: dimensionsOf(t)},
			Period: aws.Int32(int32(metricPeriod / time.Second)), Stat: aws.String("Maximum"),
		}})
	}
	var pages pager
	return job{kind: audit.KindTargetGroup, what: "GetMetricData", names: names, do: func(ctx context.Context) error {
		return pages.each(func(token *string) (*string, error) {
			in.NextToken = token
			out, err := r.api.CloudWatch.GetMetricData(ctx, in)
			if err != nil {
				return nil, err
			}
			for _, result := range out.MetricDataResults {
				t, ok := byID[aws.ToString(result.Id)]
				if !ok {
					continue
				}
				if s := result.StatusCode; s == types.StatusCodeInternalError || s == types.StatusCodeForbidden {
					return nil, fmt.Errorf("%w: the metric's data has status %q", fault.Partial, s)
				}
				for _, value := range result.Values {
					longest := max(value, aws.ToFloat64(t.LongestRequestSeconds))
					t.LongestRequestSeconds = &longest
				}
			}
			return out.NextToken, nil
		})
	}}
}
