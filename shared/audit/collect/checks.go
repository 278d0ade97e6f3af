package collect

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// checks are the EC2 application status checks with their associations.
type checks struct {
	mu           sync.Mutex
	found        map[string]audit.StatusCheck
	associations []types.ApplicationStatusCheckAssociationObject
	// suppressed are the instances that no check replaces for now.
	suppressed map[string]bool
}

func (c *checks) jobs(api EC2) []job { return []job{c.listJob(api), c.associationJob(api)} }

// listJob reads the checks. One that is excluded from aggregation never impairs an instance, so it replaces none and is left out.
// Source: SDK doc comment of ApplicationStatusCheckResponseObject.Aggregation.
func (c *checks) listJob(api EC2) job {
	var pages pager
	return job{kind: audit.KindStatusCheck, what: "DescribeApplicationStatusChecks", do: func(ctx context.Context) error {
		return pages.each(func(token *string) (*string, error) {
			out, err := api.DescribeApplicationStatusChecks(ctx, &ec2.DescribeApplicationStatusChecksInput{NextToken: token})
			if err != nil {
				return nil, err
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.found == nil {
				c.found = map[string]audit.StatusCheck{}
			}
			for _, raw := range out.ApplicationStatusChecks {
				if raw.Aggregation == types.AggregationStatusEnumExcluded {
					continue
				}
				s := audit.StatusCheck{
					ID: aws.ToString(raw.ApplicationStatusCheckId), Path: aws.ToString(raw.Path),
					Failures: number(raw.FailureThreshold), Seconds: number(raw.Interval),
				}
				c.found[s.ID] = s
			}
			return out.NextToken, nil
		})
	}}
}

func (c *checks) associationJob(api EC2) job {
	var pages pager
	return job{kind: audit.KindStatusCheck, what: "DescribeApplicationStatusCheckAssociations", do: func(ctx context.Context) error {
		return pages.each(func(token *string) (*string, error) {
			in := &ec2.DescribeApplicationStatusCheckAssociationsInput{NextToken: token}
			out, err := api.DescribeApplicationStatusCheckAssociations(ctx, in)
			if err != nil {
				return nil, err
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.associations = append(c.associations, out.Associations...)
			return out.NextToken, nil
		})
	}}
}

// suppressedJobs read which instances are suppressed, if there is any check.
func (c *checks) suppressedJobs(api EC2) []job {
	if len(c.found) == 0 {
		return nil
	}
	c.suppressed = map[string]bool{}
	filter := types.Filter{Name: aws.String("status"), Values: []string{string(types.ApplicationStatusEnumSuppressed)}}
	var pages pager
	return []job{{kind: audit.KindStatusCheck, what: "DescribeApplicationStatus", do: func(ctx context.Context) error {
		return pages.each(func(token *string) (*string, error) {
			out, err := api.DescribeApplicationStatus(ctx, &ec2.DescribeApplicationStatusInput{Filters: []types.Filter{filter}, NextToken: token})
			if err != nil {
				return nil, err
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if out.ApplicationStatuses != nil {
				for _, i := range out.ApplicationStatuses.Instances {
					c.suppressed[aws.ToString(i.InstanceId)] = true
				}
			}
			return out.NextToken, nil
		})
	}}}
}

// allSuppressed says that a check replaces none of the instances it is about, as far as they are known.
func (c *checks) allSuppressed(s audit.StatusCheck, groups []*group) bool {
	instances := s.Instances
	if s.TagKey == groupNameTag {
		for _, g := range groups {
			if g.Name == s.TagValue {
				for _, m := range g.Members {
					instances = append(instances, m.ID)
				}
			}
		}
	}
	return len(instances) > 0 && !slices.ContainsFunc(instances, func(id string) bool { return !c.suppressed[id] })
}

// groupNameTag is the tag that Auto Scaling puts on its instances.
// Source: Auto Scaling user guide, "Tag Auto Scaling groups and instances".
const groupNameTag = "aws:autoscaling:groupName"

// all are the checks with one association each; instances that are named one by one stand together. Associations of a check that is
// not known are left out.
func (c *checks) all(groups []*group) []audit.StatusCheck {
	var out []audit.StatusCheck
	named := map[string][]string{}
	for _, a := range c.associations {
		s, ok := c.found[aws.ToString(a.ApplicationStatusCheckId)]
		switch {
		case !ok:
		case a.AssociationType == types.AssociationTypeEnumTag:
			s.TagKey, s.TagValue = aws.ToString(a.Key), aws.ToString(a.Value)
			s.Suppressed = c.allSuppressed(s, groups)
			out = append(out, s)
		default:
			named[s.ID] = append(named[s.ID], aws.ToString(a.Value))
		}
	}
	for id, instances := range named {
		s := c.found[id]
		slices.Sort(instances)
		s.Instances = instances
		s.Suppressed = c.allSuppressed(s, nil)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b audit.StatusCheck) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.TagKey, b.TagKey), cmp.Compare(a.TagValue, b.TagValue))
	})
	return out
}
