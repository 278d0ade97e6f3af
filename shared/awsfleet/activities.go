package awsfleet

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// activityWindow is how far back activities are read: the 24 hours of the daily budget, and one to spare for the difference of
// the clocks and for what began just before.
const activityWindow = 25 * time.Hour

// The largest pages. Source: SDK doc comments of the two MaxRecords.
const (
	activitiesPageMax = 100
	refreshesPageMax  = 100
)

// addActivities reads the launches and terminations that began in the window, newest first. What could be read is added, also
// when a later page is missing.
func (r *Run) addActivities(ctx context.Context, g *guard.Group) error {
	since := r.now().Add(-activityWindow).UTC()
	in := &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: aws.String(g.Name), MaxRecords: aws.Int32(activitiesPageMax),
		Filters: []types.Filter{{Name: aws.String("StartTimeLowerBound"), Values: []string{since.Format(time.RFC3339)}}},
	}
	instance := regexp.MustCompile(`\bi-[0-9a-zA-Z]+`)
	seen, malformed := map[string]bool{}, 0
	err := everyPage("describe scaling activities of "+g.Name, func(token *string) (*string, error) {
		in.NextToken = token
		out, err := r.api.AutoScaling.DescribeScalingActivities(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, raw := range out.Activities {
			id, kind := aws.ToString(raw.ActivityId), activityKind(aws.ToString(raw.Description))
			if id == "" || raw.StartTime == nil {
				malformed++
				continue
			}
			// A page that shifts while it is read repeats activities; an activity of another group of the same name is not ours.
			if kind == "" || seen[id] || raw.StartTime.Before(since) || raw.AutoScalingGroupARN != nil && *raw.AutoScalingGroupARN != g.ARN {
				continue
			}
			seen[id] = true
			g.Activities = append(g.Activities, guard.Activity{
				ID: id, At: raw.StartTime.UTC(), Kind: kind, Status: string(raw.StatusCode), Cause: aws.ToString(raw.Cause),
				Member: cmp.Or(instance.FindString(aws.ToString(raw.Description)), instance.FindString(aws.ToString(raw.Details))),
			})
		}
		return out.NextToken, nil
	})
	slices.SortFunc(g.Activities, func(a, b guard.Activity) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	if err == nil && malformed > 0 {
		err = fmt.Errorf("describe scaling activities of %s: %w: %d without an id or a start", g.Name, fault.Partial, malformed)
	}
	return err
}

// activityKind tells launches from terminations by how AWS describes them. What only fills or empties a warm pool changes no
// capacity and is neither, as is attaching, detaching and standby; a launch out of the warm pool is a launch.
func activityKind(description string) string {
	switch {
	case strings.Contains(description, "into warm pool"), strings.HasPrefix(description, "Terminating EC2 instance from warm pool"):
		return ""
	case strings.HasPrefix(description, "Launching"):
		return "launch"
	case strings.HasPrefix(description, "Terminating"):
		return "terminate"
	}
	return ""
}

// addRefresh takes the status of the newest instance refresh. The order of the answer is not documented, so all that AWS keeps
// are read; one that is not over comes before all others, because there is only one such, and it may not have a start yet.
func (r *Run) addRefresh(ctx context.Context, g *guard.Group) error {
	in := &autoscaling.DescribeInstanceRefreshesInput{AutoScalingGroupName: aws.String(g.Name), MaxRecords: aws.Int32(refreshesPageMax)}
	var newest *types.InstanceRefresh
	err := everyPage("describe instance refreshes of "+g.Name, func(token *string) (*string, error) {
		in.NextToken = token
		out, err := r.api.AutoScaling.DescribeInstanceRefreshes(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, refresh := range out.InstanceRefreshes {
			if newest == nil || laterRefresh(refresh, *newest) {
				newest = &refresh
			}
		}
		return out.NextToken, nil
	})
	if newest != nil {
		g.Refresh = string(newest.Status)
	}
	return err
}

func laterRefresh(a, b types.InstanceRefresh) bool {
	if running(a) != running(b) {
		return running(a)
	}
	if a.StartTime == nil || b.StartTime == nil {
		return a.StartTime != nil
	}
	return a.StartTime.After(*b.StartTime)
}

// running holds for every status that is not known to be final.
func running(r types.InstanceRefresh) bool {
	switch r.Status {
	case types.InstanceRefreshStatusSuccessful, types.InstanceRefreshStatusFailed, types.InstanceRefreshStatusCancelled,
		types.InstanceRefreshStatusRollbackFailed, types.InstanceRefreshStatusRollbackSuccessful:
		return false
	}
	return true
}
