package awsfleet

import (
	"context"
	"net/netip"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// instancesPageMax is the largest page. Source: SDK doc comment of DescribeInstancesInput.MaxResults.
const instancesPageMax = 1000

// groupNameTag is the tag that Auto Scaling puts on its instances, and that nobody else can write.
// Source: Auto Scaling user guide, "Tag Auto Scaling groups and instances".
const groupNameTag = "aws:autoscaling:groupName"

// addOptOuts finds the members that carry holdfast:guard = false, by one paged question over the Region.
func (r *Run) addOptOuts(ctx context.Context, g *guard.Group, fresh bool) error {
	var out map[string]bool
	var err error
	if fresh {
		out, err = r.readOptOuts(ctx, "")
	} else {
		out, err = r.optOut.get(ctx, "", r.readOptOuts)
	}
	for i := range g.Members {
		g.Members[i].OptedOut = out[g.Members[i].ID]
	}
	return err
}

// readOptOuts also takes the two other common spellings of false: who wrote one of them meant to be left alone.
func (r *Run) readOptOuts(ctx context.Context, _ string) (map[string]bool, error) {
	ids := map[string]bool{}
	filter := types.Filter{Name: aws.String("tag:" + tagKey), Values: []string{"false", "False", "FALSE"}}
	err := r.eachInstance(ctx, "describe opted-out instances", filter, func(i types.Instance) {
		ids[aws.ToString(i.InstanceId)] = true
	})
	return ids, err
}

// memberAddresses has the private addresses of a group's instances, IPv4 and IPv6, with the instance's id.
func (r *Run) memberAddresses(ctx context.Context, group string) (map[netip.Addr]string, error) {
	owners := map[netip.Addr]string{}
	filter := types.Filter{Name: aws.String("tag:" + groupNameTag), Values: []string{literal(group)}}
	err := r.eachInstance(ctx, "describe instances of "+group, filter, func(i types.Instance) {
		for _, text := range addressesOf(i) {
			if address, err := netip.ParseAddr(text); err == nil {
				owners[address.Unmap()] = aws.ToString(i.InstanceId)
			}
		}
	})
	return owners, err
}

func addressesOf(i types.Instance) []string {
	out := []string{aws.ToString(i.PrivateIpAddress), aws.ToString(i.Ipv6Address)}
	for _, n := range i.NetworkInterfaces {
		for _, a := range n.PrivateIpAddresses {
			out = append(out, aws.ToString(a.PrivateIpAddress))
		}
		for _, a := range n.Ipv6Addresses {
			out = append(out, aws.ToString(a.Ipv6Address))
		}
	}
	return out
}

func (r *Run) eachInstance(ctx context.Context, what string, filter types.Filter, each func(types.Instance)) error {
	in := &ec2.DescribeInstancesInput{Filters: []types.Filter{filter}, MaxResults: aws.Int32(instancesPageMax)}
	return everyPage(what, func(token *string) (*string, error) {
		in.NextToken = token
		out, err := r.api.EC2.DescribeInstances(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, reservation := range out.Reservations {
			for _, i := range reservation.Instances {
				each(i)
			}
		}
		return out.NextToken, nil
	})
}

// literal writes a filter value that stands for itself: EC2 reads * and ? as wildcards unless a backslash precedes them.
// Source: EC2 user guide, "List and filter using the CLI and API".
func literal(value string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(value)
}
