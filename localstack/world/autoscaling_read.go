package world

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// groups returns copies of all groups of the present, or of those with one of the names.
func (a *autoScaling) groups(names []string) []sim.Group {
	var all []sim.Group
	a.server.Do(func(c *sim.Cloud) { all = named(c, names) })
	return all
}

// named finds groups by name; no names find all. One name, the usual question, copies one group only.
func named(c *sim.Cloud, names []string) []sim.Group {
	if len(names) == 1 {
		if g, ok := c.Group(names[0]); ok {
			return []sim.Group{g}
		}
		return nil
	}
	return slices.DeleteFunc(c.Groups(), func(g sim.Group) bool { return !one(names, g.Name) })
}

// managed reports whether a group of that operator is to be shown. Groups that
// AWS services operate are shown unless the caller says no.
// Source: SDK doc comment of IncludeManagedResources.
func managed(include *bool, operator string) bool {
	return operator == "" || include == nil || *include
}

func (a *autoScaling) describeGroups(in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	if err := groupFilterErrors(in.Filters); err != nil {
		return nil, err
	}
	var found []sim.Group
	for _, g := range a.groups(in.AutoScalingGroupNames) {
		if managed(in.IncludeManagedResources, g.Operator) && tagged(g.Tags, in.Filters) {
			found = append(found, g)
		}
	}
	part, next, err := page(a.server, found, pageAsk{
		operation: "autoscaling:DescribeAutoScalingGroups", token: in.NextToken, asked: in.MaxRecords,
		fallback: 50, most: 100, badToken: badAutoScalingToken(),
	})
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: []types.AutoScalingGroup{}, NextToken: next}
	for _, g := range part {
		shown := groupOf(g)
		if in.IncludeInstances != nil && !*in.IncludeInstances {
			shown.Instances = nil
		}
		out.AutoScalingGroups = append(out.AutoScalingGroups, shown)
	}
	return out, nil
}

// groupFilterErrors refuses filters DescribeAutoScalingGroups does not have.
func groupFilterErrors(filters []types.Filter) error {
	for _, f := range filters {
		name := aws.ToString(f.Name)
		if name != "tag-key" && name != "tag-value" && !strings.HasPrefix(name, "tag:") {
			return validation("Filter type %s is not correct. Allowed: tag-key, tag-value, tag:<key>", name)
		}
	}
	return nil
}

// tagged reports whether tags pass every filter; a filter passes when one of its
// values does. Source: SDK doc comment of types.Filter.
func tagged(tags map[string]string, filters []types.Filter) bool {
	for _, f := range filters {
		name := aws.ToString(f.Name)
		key, byKey := strings.CutPrefix(name, "tag:")
		pass := false
		for k, v := range tags {
			switch {
			case byKey:
				pass = pass || k == key && one(f.Values, v)
			case name == "tag-key":
				pass = pass || one(f.Values, k)
			default:
				pass = pass || one(f.Values, v)
			}
		}
		if !pass {
			return false
		}
	}
	return true
}

func (a *autoScaling) describeInstances(in *autoscaling.DescribeAutoScalingInstancesInput) (*autoscaling.DescribeAutoScalingInstancesOutput, error) {
	if len(in.InstanceIds) > 50 {
		return nil, validation("The number of instance IDs must not exceed 50")
	}
	var found []types.AutoScalingInstanceDetails
	for _, g := range a.groups(nil) {
		if !managed(in.IncludeManagedResources, g.Operator) {
			continue
		}
		for _, m := range g.Members {
			if one(in.InstanceIds, m.ID) {
				found = append(found, detailsOf(g, m))
			}
		}
	}
	part, next, err := page(a.server, found, pageAsk{
		operation: "autoscaling:DescribeAutoScalingInstances", token: in.NextToken, asked: in.MaxRecords,
		fallback: 50, most: 50, badToken: badAutoScalingToken(),
	})
	if err != nil {
		return nil, err
	}
	return &autoscaling.DescribeAutoScalingInstancesOutput{AutoScalingInstances: part, NextToken: next}, nil
}

// activityAgeMax is how long AWS keeps scaling activities: six weeks.
// Source: SDK doc comment of DescribeScalingActivities.
const activityAgeMax = 6 * 7 * 24 * time.Hour

func (a *autoScaling) describeActivities(in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	keep, err := activityFilter(in.Filters)
	if err != nil {
		return nil, err
	}
	var found []types.Activity
	a.server.Do(func(c *sim.Cloud) {
		var names []string
		if in.AutoScalingGroupName != nil {
			names = []string{*in.AutoScalingGroupName}
		}
		for _, g := range named(c, names) {
			if !managed(in.IncludeManagedResources, g.Operator) {
				continue
			}
			for _, act := range c.Activities(g.Name) {
				fresh := c.Now().Sub(act.Start) <= activityAgeMax
				if fresh && one(in.ActivityIds, act.ID) && keep(act) {
					found = append(found, activityOf(act))
				}
			}
		}
	})
	part, next, err := page(a.server, found, pageAsk{
		operation: "autoscaling:DescribeScalingActivities", token: in.NextToken, asked: in.MaxRecords,
		fallback: 100, most: 100, badToken: badAutoScalingToken(),
	})
	if err != nil {
		return nil, err
	}
	if part == nil {
		part = []types.Activity{}
	}
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: part, NextToken: next}, nil
}

// activityFilter reads the three filters DescribeScalingActivities has.
func activityFilter(filters []types.Filter) (func(sim.Activity) bool, error) {
	var after, before time.Time
	var status []string
	for _, f := range filters {
		var err error
		value := ""
		if len(f.Values) > 0 {
			value = f.Values[0]
		}
		switch name := aws.ToString(f.Name); name {
		case "StartTimeLowerBound":
			after, err = time.Parse(time.RFC3339, value)
		case "StartTimeUpperBound":
			before, err = time.Parse(time.RFC3339, value)
		case "Status":
			status = f.Values
		default:
			return nil, validation("Filter %s is not supported", name)
		}
		if err != nil {
			return nil, validation("Filter value %q is not a time", value)
		}
	}
	return func(act sim.Activity) bool {
		return !act.Start.Before(after) && (before.IsZero() || !act.Start.After(before)) && one(status, act.Status)
	}, nil
}

func (a *autoScaling) describeRefreshes(in *autoscaling.DescribeInstanceRefreshesInput) (*autoscaling.DescribeInstanceRefreshesOutput, error) {
	name := aws.ToString(in.AutoScalingGroupName)
	var group sim.Group
	var ok bool
	a.server.Do(func(c *sim.Cloud) { group, ok = c.Group(name) })
	if !ok {
		return nil, groupNotFound(name)
	}
	var found []types.InstanceRefresh
	for _, r := range group.Refreshes {
		if one(in.InstanceRefreshIds, r.ID) {
			found = append(found, types.InstanceRefresh{
				AutoScalingGroupName: aws.String(name), InstanceRefreshId: aws.String(r.ID),
				Status: types.InstanceRefreshStatus(r.Status), StartTime: instant(r.Started), EndTime: instant(r.Ended),
			})
		}
	}
	part, next, err := page(a.server, found, pageAsk{
		operation: "autoscaling:DescribeInstanceRefreshes", token: in.NextToken, asked: in.MaxRecords,
		fallback: 50, most: 100, badToken: badAutoScalingToken(),
	})
	if err != nil {
		return nil, err
	}
	return &autoscaling.DescribeInstanceRefreshesOutput{InstanceRefreshes: part, NextToken: next}, nil
}
