package collect

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// topicJobs count the subscriptions of the topics that Holdfast's alarms tell.
func (r *reading) topicJobs() []job {
	jobs := make([]job, 0, len(r.own.topics))
	r.account.Guardian.Topics = make([]audit.Topic, len(r.own.topics))
	for i, arn := range r.own.topics {
		topic := &r.account.Guardian.Topics[i]
		topic.ARN = arn
		jobs = append(jobs, job{kind: audit.KindGuardian, what: "GetTopicAttributes of " + arn, do: func(ctx context.Context) error {
			return (&pager{}).one(func(*string) (*string, error) {
				out, err := r.api.SNS.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: aws.String(arn)})
				if err != nil {
					return nil, err
				}
				confirmed := out.Attributes["SubscriptionsConfirmed"]
				n, err := strconv.Atoi(confirmed)
				if err != nil {
					return nil, fmt.Errorf("%w: SubscriptionsConfirmed is %q", fault.Partial, confirmed)
				}
				topic.Subscriptions = &n
				return nil, nil
			})
		}})
	}
	return jobs
}
