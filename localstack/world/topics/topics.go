package topics

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
)

// Queues takes what is published to a queue's subscription.
type Queues interface {
	Deliver(arn, body string, attributes map[string]string) error
}

// Options configure a Topics; all are required.
type Options struct {
	// Now is the clock that dates what is published.
	Now func() time.Time
	// Region and Account appear in ARNs.
	Region, Account string
	Queues          Queues
}

// Topics is the whole of one account's SNS in one Region. It is safe for concurrent use; use New.
type Topics struct {
	opts Options

	mu     sync.Mutex
	topics map[string]*topic
	issued int
	// sent are the newest messages, oldest first.
	sent []Message
}

// sentMax bounds how many messages are kept for those who want to look at them.
const sentMax = 1000

// Message is what was published to a topic.
type Message struct {
	TopicARN, Subject, Text string
	At                      time.Time
}

// Sent are the newest messages that were published, at most 1,000, oldest first.
func (t *Topics) Sent() []Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.sent)
}

type topic struct{ subscriptions []subscription }

type subscription struct {
	arn, protocol, endpoint string
	// pending says that its owner has not confirmed it.
	pending bool
}

// New returns a Topics without a topic.
func New(o Options) *Topics { return &Topics{opts: o, topics: map[string]*topic{}} }

func notFound() error { return &types.NotFoundException{Message: aws.String("Topic does not exist")} }

func invalid(format string, args ...any) error {
	return &types.InvalidParameterException{Message: aws.String("Invalid parameter: " + fmt.Sprintf(format, args...))}
}

// CreateTopic makes a topic; one of that name that exists is left alone. Source: SNS API reference, CreateTopic.
func (t *Topics) CreateTopic(in *sns.CreateTopicInput) (*sns.CreateTopicOutput, error) {
	name := aws.ToString(in.Name)
	if name == "" || strings.HasSuffix(name, ".fifo") {
		return nil, invalid("Topic Name")
	}
	arn := fmt.Sprintf("arn:aws:sns:%s:%s:%s", t.opts.Region, t.opts.Account, name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.topics[arn] == nil {
		t.topics[arn] = &topic{}
	}
	return &sns.CreateTopicOutput{TopicArn: aws.String(arn)}, nil
}

// Subscribe adds a subscription. A queue of the same account is confirmed at once, everything else waits for its owner.
// Source: SNS API reference, Subscribe.
func (t *Topics) Subscribe(in *sns.SubscribeInput) (*sns.SubscribeOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	to := t.topics[aws.ToString(in.TopicArn)]
	if to == nil {
		return nil, notFound()
	}
	if in.Protocol == nil || in.Endpoint == nil {
		return nil, invalid("Endpoint")
	}
	t.issued++
	s := subscription{
		arn: fmt.Sprintf("%s:00000000-0000-4000-8000-%012x", *in.TopicArn, t.issued), protocol: *in.Protocol, endpoint: *in.Endpoint,
		pending: *in.Protocol != "sqs",
	}
	to.subscriptions = append(to.subscriptions, s)
	if s.pending && !in.ReturnSubscriptionArn {
		return &sns.SubscribeOutput{SubscriptionArn: aws.String("pending confirmation")}, nil
	}
	return &sns.SubscribeOutput{SubscriptionArn: aws.String(s.arn)}, nil
}

// Confirm does what the owner of every pending subscription of a topic does with the link that was sent.
func (t *Topics) Confirm(topicARN string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.topics[topicARN]
	if of == nil {
		return notFound()
	}
	for i := range of.subscriptions {
		of.subscriptions[i].pending = false
	}
	return nil
}

// GetTopicAttributes tells the counts of subscriptions.
func (t *Topics) GetTopicAttributes(in *sns.GetTopicAttributesInput) (*sns.GetTopicAttributesOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.topics[aws.ToString(in.TopicArn)]
	if of == nil {
		return nil, notFound()
	}
	pending := 0
	for _, s := range of.subscriptions {
		if s.pending {
			pending++
		}
	}
	return &sns.GetTopicAttributesOutput{Attributes: map[string]string{
		"TopicArn": *in.TopicArn, "Owner": t.opts.Account, "SubscriptionsConfirmed": strconv.Itoa(len(of.subscriptions) - pending),
		"SubscriptionsPending": strconv.Itoa(pending), "SubscriptionsDeleted": "0",
	}}, nil
}

// envelope is what a queue gets. Source: SNS developer guide, "Parsing Amazon SNS message formats".
type envelope struct {
	Type      string `json:"Type"`
	MessageID string `json:"MessageId"`
	TopicARN  string `json:"TopicArn"`
	Subject   string `json:"Subject,omitempty"`
	Message   string `json:"Message"`
	Timestamp string `json:"Timestamp"`
}

// Publish puts a message into each queue that is subscribed.
func (t *Topics) Publish(in *sns.PublishInput) (*sns.PublishOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	to := t.topics[aws.ToString(in.TopicArn)]
	if to == nil {
		return nil, notFound()
	}
	if aws.ToString(in.Message) == "" {
		return nil, invalid("Empty message")
	}
	t.issued++
	t.sent = append(t.sent[max(0, len(t.sent)+1-sentMax):], Message{TopicARN: *in.TopicArn, Subject: aws.ToString(in.Subject), Text: *in.Message, At: t.opts.Now().UTC()})
	id := fmt.Sprintf("00000000-0000-4000-8000-%012x", t.issued)
	body, err := json.Marshal(envelope{
		Type: "Notification", MessageID: id, TopicARN: *in.TopicArn, Subject: aws.ToString(in.Subject), Message: *in.Message,
		Timestamp: t.opts.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
	})
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	for _, s := range to.subscriptions {
		if s.protocol == "sqs" && !s.pending {
			// A queue that is gone loses the message, as in AWS.
			_ = t.opts.Queues.Deliver(s.endpoint, string(body), nil)
		}
	}
	return &sns.PublishOutput{MessageId: aws.String(id)}, nil
}
