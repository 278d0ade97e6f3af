package awsfleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	as "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

func activity(id string, ago time.Duration, description string) as.Activity {
	return as.Activity{
		ActivityId: aws.String(id), StartTime: aws.Time(now().Add(-ago)), Description: aws.String(description),
		StatusCode: as.ScalingActivityStatusCodeSuccessful, Cause: aws.String("At 11:59 an instance was taken out of service in response to a user health-check."),
	}
}

func TestActivitiesOfTheLastDayAreReadNewestFirst(t *testing.T) {
	failed := activity("5", 5*time.Minute, "Launching a new EC2 instance.  Status Reason: no capacity. Launching EC2 instance failed.")
	failed.StatusCode = as.ScalingActivityStatusCodeFailed
	foreign := activity("11", time.Minute, "Terminating EC2 instance: i-0dd")
	foreign.AutoScalingGroupARN = aws.String(groupARN("web") + "-of-last-year")
	detailed := activity("12", 24*time.Hour, "Terminating EC2 instance")
	detailed.Details = aws.String(`{"Subnet ID":"subnet-1","Instance":"i-0ee"}`)
	all := []as.Activity{
		activity("1", time.Hour, "Terminating EC2 instance: i-0aa"),
		activity("2", 2*time.Minute, "Launching a new EC2 instance: i-0bb"),
		activity("3", 25*time.Hour-time.Minute, "Launching a new EC2 instance from warm pool: i-0cc"),
		activity("4", 25*time.Hour+time.Minute, "Launching a new EC2 instance: i-old"),
		failed,
		activity("6", time.Minute, "Launching a new EC2 instance into warm pool: i-0w1"),
		activity("7", time.Minute, "Terminating EC2 instance from warm pool: i-0w1"),
		activity("8", time.Minute, "Moving EC2 instance to Standby: i-0ff"),
		activity("9", time.Minute, "Detaching EC2 instance: i-0ff"),
		activity("2", 2*time.Minute, "Launching a new EC2 instance: i-0bb"), // the page shifted
		foreign, detailed,
	}
	for _, page := range []int{0, 1, 3} {
		c := newCloud()
		c.addGroup("web", ids("a", 1))
		c.activities["web"] = all
		c.page, c.empty = page, 1
		run := c.run()
		g, reads := run.Details(t.Context(), guarded(t, run)[0])
		check(t, "reads", reads, guard.Reads{})
		var got []string
		for _, a := range g.Activities {
			got = append(got, strings.Join([]string{a.ID, a.Kind, a.Status, a.Member}, " "))
		}
		check(t, "activities", strings.Join(got, "\n"), strings.Join([]string{
			"2 launch Successful i-0bb", "5 launch Failed ", "1 terminate Successful i-0aa", "12 terminate Successful i-0ee",
			"3 launch Successful i-0cc",
		}, "\n"))
		check(t, "cause", g.Activities[2].Cause, "At 11:59 an instance was taken out of service in response to a user health-check.")
		check(t, "start", g.Activities[2].At, now().Add(-time.Hour))
		check(t, "bound", c.lastBound, "2026-11-29T11:00:00Z")
	}
}

func TestActivitiesThatCannotAllBeReadAreAFailedRead(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(*cloud)
		want  string
		read  int
	}{
		{"the second page is throttled", func(c *cloud) { c.fail = failing(opActivities, 2, throttle()) }, "describe scaling activities of web: throttled", 1},
		{"a token comes back", func(c *cloud) { c.loop = opActivities }, `partial: page token "7" came back`, 3},
		{"an activity has no start", func(c *cloud) { c.activities["web"][1].StartTime = nil }, "partial: 1 without an id or a start", 2},
		{"a token of the refreshes comes back", func(c *cloud) { c.loop = opRefreshes }, "describe instance refreshes of web: partial", 3},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := newCloud()
			c.addGroup("web", ids("a", 1))
			for _, id := range []string{"1", "2", "3"} {
				c.activities["web"] = append(c.activities["web"], activity(id, time.Hour, "Terminating EC2 instance: i-0aa"))
			}
			c.page = 1
			tc.spoil(c)
			run := c.run()
			g, reads := run.Details(t.Context(), guarded(t, run)[0])
			if !strings.Contains(reads.Activities, tc.want) {
				t.Errorf("read of activities %q, want %q in it", reads.Activities, tc.want)
			}
			check(t, "activities that were read", len(g.Activities), tc.read)
		})
	}
}

func TestTheNewestInstanceRefreshCounts(t *testing.T) {
	refresh := func(status as.InstanceRefreshStatus, ago time.Duration) as.InstanceRefresh {
		r := as.InstanceRefresh{Status: status}
		if ago > 0 {
			r.StartTime = aws.Time(now().Add(-ago))
		}
		return r
	}
	cases := []struct {
		name string
		have []as.InstanceRefresh
		want string
	}{
		{"there is none", nil, ""},
		{"the newest is over", []as.InstanceRefresh{refresh("Successful", 2*time.Hour), refresh("Failed", time.Hour)}, "Failed"},
		{"the newest stands first", []as.InstanceRefresh{refresh("Cancelled", time.Hour), refresh("Successful", 2*time.Hour)}, "Cancelled"},
		{"one is running", []as.InstanceRefresh{refresh("Baking", time.Hour), refresh("Successful", 2*time.Hour)}, "Baking"},
		{"one has not begun", []as.InstanceRefresh{refresh("Successful", time.Hour), refresh("Pending", 0)}, "Pending"},
		{"one was cancelled before it began", []as.InstanceRefresh{refresh("Cancelled", 0), refresh("Successful", time.Hour)}, "Successful"},
		{"one has a status that is new to us", []as.InstanceRefresh{refresh("Simmering", 2*time.Hour), refresh("Successful", time.Hour)}, "Simmering"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := newCloud()
			c.addGroup("web", ids("a", 1))
			c.refreshes["web"] = tc.have
			c.page, c.empty = 1, 1
			run := c.run()
			g, reads := run.Details(t.Context(), guarded(t, run)[0])
			check(t, "reads", reads, guard.Reads{})
			check(t, "refresh", g.Refresh, tc.want)
		})
	}
}
