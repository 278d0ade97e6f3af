package collect

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// How much of a group's past is read: the newest launches within the window, in at most so many pages.
const (
	launchesMax       = 20
	launchWindow      = 7 * 24 * time.Hour
	activityPagesMax  = 5
	activitiesPageMax = 100
	refreshesPageMax  = 100
)

// refreshPreset is what an instance refresh keeps healthy, in percent, unless it or the group says otherwise.
// Source: SDK doc comment of RefreshPreferences.MinHealthyPercentage.
const refreshPreset = 90

// launchEnd is when a launch ended, which is when the member went into service; zero while it lasts.
type launchEnd = time.Time

// activityJob reads the newest launches: one page nearly always, since a page is a hundred activities.
func (r *reading) activityJob(g *group) job {
	since := r.account.At.Add(-launchWindow)
	in := &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: aws.String(g.Name), MaxRecords: aws.Int32(activitiesPageMax),
		Filters: []types.Filter{{Name: aws.String("StartTimeLowerBound"), Values: []string{since.Format(time.RFC3339)}}},
	}
	instance := regexp.MustCompile(`\bi-[0-9a-zA-Z]+`)
	var pages pager
	read := 0
	return job{kind: audit.KindGroup, what: "DescribeScalingActivities", names: []string{g.Name}, do: func(ctx context.Context) error {
		for !pages.over && read < activityPagesMax && len(g.Launches) < launchesMax {
			err := pages.one(func(token *string) (*string, error) {
				in.NextToken = token
				out, err := r.api.AutoScaling.DescribeScalingActivities(ctx, in)
				if err != nil {
					return nil, err
				}
				for _, raw := range out.Activities {
					g.addLaunch(raw, instance)
				}
				return out.NextToken, nil
			})
			if err != nil {
				return err
			}
			read++
		}
		slices.SortStableFunc(g.Launches, func(a, b audit.Launch) int { return b.At.Compare(a.At) })
		g.Launches = g.Launches[:min(len(g.Launches), launchesMax)]
		return nil
	}}
}

// addLaunch takes an activity that is a launch. What only fills a warm pool is none.
func (g *group) addLaunch(raw types.Activity, instance *regexp.Regexp) {
	description := aws.ToString(raw.Description)
	foreign := raw.AutoScalingGroupARN != nil && *raw.AutoScalingGroupARN != g.ARN
	if foreign || raw.StartTime == nil || !strings.HasPrefix(description, "Launching") || strings.Contains(description, "into warm pool") {
		return
	}
	l := audit.Launch{At: raw.StartTime.UTC()}
	if raw.StatusCode == types.ScalingActivityStatusCodeFailed || raw.StatusCode == types.ScalingActivityStatusCodeCancelled {
		l.Failed, l.Message = true, aws.ToString(raw.StatusMessage)
	}
	g.Launches = append(g.Launches, l)
	if id := cmp.Or(instance.FindString(description), instance.FindString(aws.ToString(raw.Details))); id != "" && raw.EndTime != nil && !l.Failed {
		g.started[id] = raw.EndTime.UTC()
	}
}

// refreshJob reads the instance refreshes that AWS keeps, because the order of its answer is not documented.
func (r *reading) refreshJob(g *group) job {
	in := &autoscaling.DescribeInstanceRefreshesInput{AutoScalingGroupName: aws.String(g.Name), MaxRecords: aws.Int32(refreshesPageMax)}
	var pages pager
	var newest *types.InstanceRefresh
	return job{kind: audit.KindGroup, what: "DescribeInstanceRefreshes", names: []string{g.Name}, do: func(ctx context.Context) error {
		err := pages.each(func(token *string) (*string, error) {
			in.NextToken = token
			out, err := r.api.AutoScaling.DescribeInstanceRefreshes(ctx, in)
			if err != nil {
				return nil, err
			}
			for _, refresh := range out.InstanceRefreshes {
				if newest == nil || later(refresh, *newest) {
					newest = &refresh
				}
			}
			return out.NextToken, nil
		})
		if err != nil {
			return err
		}
		g.RefreshMinHealthy = g.refreshMinimum(newest)
		return nil
	}}
}

// later tells which of two refreshes counts: one that runs before one that is over, then the one that began later.
func later(a, b types.InstanceRefresh) bool {
	if runs := a.EndTime == nil; runs != (b.EndTime == nil) {
		return runs
	}
	return aws.ToTime(a.StartTime).After(aws.ToTime(b.StartTime))
}

func (g *group) refreshMinimum(refresh *types.InstanceRefresh) *int {
	percent := audit.NotSet
	if refresh != nil {
		percent = refreshPreset
		if own := g.MinHealthyPercent; own != nil && *own != audit.NotSet {
			percent = *own
		}
		if p := refresh.Preferences; p != nil && p.MinHealthyPercentage != nil {
			percent = int(*p.MinHealthyPercentage)
		}
	}
	return &percent
}
