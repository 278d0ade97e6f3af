package topics_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/holdfast-aws/holdfast/localstack/world/queue"
	"github.com/holdfast-aws/holdfast/localstack/world/topics"
)

type lab struct {
	*topics.Topics
	queues *queue.Queues
	arn    *string
}

func newLab(t *testing.T) lab {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	queues := queue.New(queue.Options{Now: now})
	l := lab{Topics: topics.New(topics.Options{Now: now, Region: "us-east-1", Account: "111122223333", Queues: queues}), queues: queues}
	out, err := l.CreateTopic(&sns.CreateTopicInput{Name: aws.String("notices")})
	if err != nil {
		t.Fatal(err)
	}
	l.arn = out.TopicArn
	return l
}

func (l lab) counts(t *testing.T) string {
	t.Helper()
	out, err := l.GetTopicAttributes(&sns.GetTopicAttributesInput{TopicArn: l.arn})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes["SubscriptionsConfirmed"] + " confirmed, " + out.Attributes["SubscriptionsPending"] + " pending"
}

func (l lab) subscribe(t *testing.T, protocol, endpoint string) {
	t.Helper()
	_, err := l.Subscribe(&sns.SubscribeInput{TopicArn: l.arn, Protocol: aws.String(protocol), Endpoint: aws.String(endpoint)})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAMailAddressMustConfirmAndAQueueNeedNot(t *testing.T) {
	l := newLab(t)
	if have := l.counts(t); have != "0 confirmed, 0 pending" {
		t.Error(have)
	}
	l.subscribe(t, "email", "oncall@example.com")
	l.subscribe(t, "sqs", l.queues.ARN("pages"))
	if have := l.counts(t); have != "1 confirmed, 1 pending" {
		t.Error(have)
	}
	if err := l.Confirm(*l.arn); err != nil {
		t.Fatal(err)
	}
	if have := l.counts(t); have != "2 confirmed, 0 pending" {
		t.Error(have)
	}
}

func TestAMessageReachesTheQueuesThatAreSubscribed(t *testing.T) {
	l := newLab(t)
	l.queues.Create("pages")
	l.subscribe(t, "sqs", l.queues.ARN("pages"))
	l.subscribe(t, "sqs", l.queues.ARN("gone"))
	if _, err := l.Publish(&sns.PublishInput{TopicArn: l.arn, Subject: aws.String("a subject"), Message: aws.String("a text")}); err != nil {
		t.Fatal(err)
	}
	bodies := l.queues.Bodies("pages")
	if len(bodies) != 1 || !strings.Contains(bodies[0], `"Message":"a text"`) || !strings.Contains(bodies[0], `"Timestamp":"2026-11-30T12:00:00.000Z"`) {
		t.Errorf("the queue has %q", bodies)
	}
}

func TestATopicThatIsNotThereIsNotFound(t *testing.T) {
	l := newLab(t)
	arn := aws.String("arn:aws:sns:us-east-1:111122223333:nothing")
	_, attributes := l.GetTopicAttributes(&sns.GetTopicAttributesInput{TopicArn: arn})
	_, subscribe := l.Subscribe(&sns.SubscribeInput{TopicArn: arn, Protocol: aws.String("sqs"), Endpoint: aws.String("x")})
	_, publish := l.Publish(&sns.PublishInput{TopicArn: arn, Message: aws.String("a text")})
	for name, err := range map[string]error{"attributes": attributes, "subscribe": subscribe, "publish": publish, "confirm": l.Confirm(*arn)} {
		if _, ok := errors.AsType[*types.NotFoundException](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, err := l.CreateTopic(&sns.CreateTopicInput{Name: aws.String("notices")})
	if err != nil || *again.TopicArn != *l.arn {
		t.Errorf("a second topic of the same name: %v", err)
	}
}
