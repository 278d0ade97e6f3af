package collect

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// tagsMax is how many resources one call may name. Source: SDK doc comment of DescribeTagsInput.ResourceArns.
const tagsMax = 20

// tagJobs read the tags of the target groups.
func (r *reading) tagJobs() []job {
	var jobs []job
	for chunk := range slices.Chunk(r.targetGroups, tagsMax) {
		byID := map[string]*audit.TargetGroup{}
		var ids, names []string
		for _, t := range chunk {
			byID[t.ID] = t
			ids, names = append(ids, t.ID), append(names, t.Name)
		}
		jobs = append(jobs, job{kind: audit.KindTargetGroup, what: "DescribeTags", names: names, do: func(ctx context.Context) error {
			err := r.readTags(ctx, ids, byID)
			if !errors.Is(err, fault.Gone) || len(ids) == 1 {
				return err
			}
			// One that was deleted meanwhile fails the call for all.
			for _, id := range ids {
				if err := r.readTags(ctx, []string{id}, byID); err != nil && !errors.Is(err, fault.Gone) {
					return err
				}
			}
			return nil
		}})
	}
	return jobs
}

func (r *reading) readTags(ctx context.Context, ids []string, byID map[string]*audit.TargetGroup) error {
	out, err := r.api.LoadBalancing.DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: ids})
	if err != nil {
		return awserr.Classify(err)
	}
	for _, d := range out.TagDescriptions {
		t, ok := byID[aws.ToString(d.ResourceArn)]
		if !ok {
			continue
		}
		t.Tags = map[string]string{}
		for _, tag := range d.Tags {
			t.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
	}
	return nil
}
