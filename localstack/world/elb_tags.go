package world

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// taggedMax is how many resources one call of DescribeTags may name. Source: SDK doc comment of DescribeTagsInput.ResourceArns.
const taggedMax = 20

// known refuses ARNs of which one is no target group's.
func (l *loadBalancing) known(arns []string) error {
	if len(arns) < 1 || len(arns) > taggedMax {
		return validation("Between 1 and %d resources can be named in one call", taggedMax)
	}
	there := map[string]bool{}
	l.server.Do(func(c *sim.Cloud) {
		for _, g := range c.TargetGroups() {
			there[g.ARN] = true
		}
	})
	if slices.ContainsFunc(arns, func(arn string) bool { return !there[arn] }) {
		return noTargetGroup()
	}
	return nil
}

func (l *loadBalancing) addTags(in *elb.AddTagsInput) (*elb.AddTagsOutput, error) {
	if err := l.known(in.ResourceArns); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tags == nil {
		l.tags = map[string]map[string]string{}
	}
	for _, arn := range in.ResourceArns {
		if l.tags[arn] == nil {
			l.tags[arn] = map[string]string{}
		}
		for _, tag := range in.Tags {
			l.tags[arn][aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
	}
	return &elb.AddTagsOutput{}, nil
}

func (l *loadBalancing) describeTags(in *elb.DescribeTagsInput) (*elb.DescribeTagsOutput, error) {
	if err := l.known(in.ResourceArns); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := &elb.DescribeTagsOutput{}
	for _, arn := range in.ResourceArns {
		d := types.TagDescription{ResourceArn: aws.String(arn), Tags: []types.Tag{}}
		for _, key := range slices.Sorted(maps.Keys(l.tags[arn])) {
			d.Tags = append(d.Tags, types.Tag{Key: aws.String(key), Value: aws.String(l.tags[arn][key])})
		}
		out.TagDescriptions = append(out.TagDescriptions, d)
	}
	return out, nil
}
