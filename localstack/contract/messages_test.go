package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func messageRules() []rule {
	return []rule{
		{service: "sqs", name: "a message is received once and told by the queue's depth", check: queueOnce},
		{service: "sqs", name: "an unknown queue is an error", check: unknownQueue},
		{service: "sns", name: "a notice reaches a queue that subscribed", check: noticeReachesQueue},
		{service: "events", name: "an event reaches the targets of the rules that it matches, and no other", check: eventsMatched},
		{service: "events", name: "an invalid pattern is refused", check: badPattern},
		{service: "events", name: "a pattern can be tried on an event", check: patternTried},
		{service: "events", name: "an alarm's change of state is an event", check: alarmIsEvent},
	}
}

// queue makes a queue and returns its URL and ARN.
func (s *subject) queue(ctx context.Context, word string) (url, arn string, err error) {
	out, err := s.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(s.name(word))})
	if err != nil {
		return "", "", fmt.Errorf("create queue: %w", err)
	}
	got, err := s.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: out.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"QueueArn"}})
	if err != nil {
		return "", "", fmt.Errorf("get queue attributes: %w", err)
	}
	return aws.ToString(out.QueueUrl), got.Attributes["QueueArn"], nil
}

// receiveWait is how many seconds a peer may take to deliver a message. The embedded one gets as much of its own time.
const receiveWait = 3

// receive returns the bodies of the messages that are or come into a queue.
func (s *subject) receive(ctx context.Context, url string) ([]string, error) {
	if err := s.pass(ctx, receiveWait*time.Second); err != nil {
		return nil, err
	}
	out, err := s.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String(url), MaxNumberOfMessages: 10, WaitTimeSeconds: receiveWait})
	if err != nil {
		return nil, fmt.Errorf("receive message: %w", err)
	}
	bodies := []string{}
	for _, m := range out.Messages {
		bodies = append(bodies, aws.ToString(m.Body))
	}
	return bodies, nil
}

func queueOnce(ctx context.Context, s *subject) error {
	url, _, err := s.queue(ctx, "once")
	if err != nil {
		return err
	}
	if _, err := s.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(url), MessageBody: aws.String("hello")}); err != nil {
		return err
	}
	const visible, hidden = sqstypes.QueueAttributeNameApproximateNumberOfMessages, sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	depth := func() []string {
		out, err := s.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: aws.String(url), AttributeNames: []sqstypes.QueueAttributeName{visible, hidden}})
		if err != nil {
			return []string{err.Error()}
		}
		return []string{out.Attributes[string(visible)], out.Attributes[string(hidden)]}
	}
	before := depth()
	first, errA := s.receive(ctx, url)
	after := depth()
	second, errB := s.receive(ctx, url)
	return errors.Join(errA, errB, differ("depth before", before, []string{"1", "0"}), differ("depth after", after, []string{"0", "1"}),
		differ("first", first, []string{"hello"}), differ("second", second, []string{}))
}

func unknownQueue(ctx context.Context, s *subject) error {
	_, err := s.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(s.name("nothing"))})
	if _, ok := errors.AsType[*sqstypes.QueueDoesNotExist](err); !ok {
		return fmt.Errorf("not the error of an unknown queue: %s", text(err))
	}
	return nil
}

func noticeReachesQueue(ctx context.Context, s *subject) error {
	url, arn, err := s.queue(ctx, "notice")
	if err != nil {
		return err
	}
	topic, err := s.sns.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String(s.name("topic"))})
	if err != nil {
		return fmt.Errorf("create topic: %w", err)
	}
	_, err = s.sns.Subscribe(ctx, &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(arn)})
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	_, err = s.sns.Publish(ctx, &sns.PublishInput{TopicArn: topic.TopicArn, Subject: aws.String("a subject"), Message: aws.String("a text")})
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	bodies, err := s.receive(ctx, url)
	if err != nil || len(bodies) != 1 {
		return errors.Join(err, differ("messages", len(bodies), 1))
	}
	var note struct{ Type, TopicArn, Subject, Message string }
	if err := json.Unmarshal([]byte(bodies[0]), &note); err != nil {
		return fmt.Errorf("decode notice: %w", err)
	}
	return differ("notice", []string{note.Type, note.TopicArn, note.Subject, note.Message},
		[]string{"Notification", aws.ToString(topic.TopicArn), "a subject", "a text"})
}

// listen makes a rule with a pattern and a queue as its target, and returns the queue's URL.
func (s *subject) listen(ctx context.Context, word, pattern string) (string, error) {
	url, arn, err := s.queue(ctx, word)
	if err != nil {
		return "", err
	}
	if _, err := s.events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String(s.name(word)), EventPattern: aws.String(pattern)}); err != nil {
		return "", fmt.Errorf("put rule: %w", err)
	}
	out, err := s.events.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: aws.String(s.name(word)),
		Targets: []bustypes.Target{{Id: aws.String("queue"), Arn: aws.String(arn)}}})
	if err != nil {
		return "", fmt.Errorf("put targets: %w", err)
	}
	return url, differ("targets that were not taken", out.FailedEntryCount, int32(0))
}

// envelope is what surrounds every event. Source: EventBridge user guide, "AWS service event metadata".
type envelope struct {
	Version    string
	ID         string
	DetailType string `json:"detail-type"`
	Source     string
	Account    string
	Time       time.Time
	Region     string
	Resources  []string
	Detail     json.RawMessage
}

func eventsMatched(ctx context.Context, s *subject) error {
	url, err := s.listen(ctx, "match", `{"source":["contract"],"detail":{"run":["`+s.run+`"],"group":[{"prefix":"web"}],"count":[{"numeric":[">",1]}]}}`)
	if err != nil {
		return err
	}
	in := &eventbridge.PutEventsInput{}
	for _, detail := range []string{`"group":"web-1","count":2`, `"group":"db-1","count":2`, `"group":"web-2","count":1`, `"group":"web-3"`} {
		in.Entries = append(in.Entries, bustypes.PutEventsRequestEntry{Source: aws.String("contract"), DetailType: aws.String("A Test"),
			Detail: aws.String(`{"run":"` + s.run + `",` + detail + `}`), Resources: []string{"arn:one"}})
	}
	out, err := s.events.PutEvents(ctx, in)
	if err != nil {
		return err
	}
	bodies, err := s.receive(ctx, url)
	if err = errors.Join(err, differ("refused entries", out.FailedEntryCount, int32(0)), differ("events", len(bodies), 1)); err != nil {
		return err
	}
	var e envelope
	if err := json.Unmarshal([]byte(bodies[0]), &e); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	return errors.Join(
		differ("event", []string{e.Version, e.DetailType, e.Source, e.Region, strings.Join(e.Resources, " ")}, []string{"0", "A Test", "contract", region, "arn:one"}),
		differ("digits of the account", len(e.Account), 12),
		differ("has a time", e.Time.IsZero(), false),
		differ("id", e.ID, aws.ToString(out.Entries[0].EventId)),
		differ("is the first", strings.Contains(string(e.Detail), "web-1"), true),
	)
}

func badPattern(ctx context.Context, s *subject) error {
	_, err := s.events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String(s.name("bad")), EventPattern: aws.String(`{"source":"not a list"}`)})
	return refused("a pattern without a list", err, "InvalidEventPatternException")
}

func patternTried(ctx context.Context, s *subject) error {
	event := `{"id":"1","account":"111122223333","source":"aws.cloudwatch","time":"2026-11-30T09:00:00Z","region":"us-east-1","resources":[],` +
		`"detail-type":"CloudWatch Alarm State Change","detail":{"alarmName":"db","state":{"value":"ALARM"}}}`
	var problems []error
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{`{"source":["aws.cloudwatch"],"detail":{"state":{"value":["ALARM"]}}}`, true},
		{`{"source":["aws.cloudwatch"],"detail":{"state":{"value":["OK"]}}}`, false},
		{`{"detail":{"alarmName":[{"anything-but":["db"]}]}}`, false},
		{`{"detail":{"reason":[{"exists":false}]}}`, true},
	} {
		out, err := s.events.TestEventPattern(ctx, &eventbridge.TestEventPatternInput{Event: aws.String(event), EventPattern: aws.String(c.pattern)})
		if err != nil {
			return err
		}
		problems = append(problems, differ(c.pattern, out.Result, c.want))
	}
	return errors.Join(problems...)
}

func alarmIsEvent(ctx context.Context, s *subject) error {
	name, err := s.alarm(ctx, "event")
	if err != nil {
		return err
	}
	url, err := s.listen(ctx, "alarm", `{"source":["aws.cloudwatch"],"detail-type":["CloudWatch Alarm State Change"],"detail":{"alarmName":["`+name+`"]}}`)
	if err != nil {
		return err
	}
	if err := s.setAlarm(ctx, name, cwtypes.StateValueAlarm); err != nil {
		return err
	}
	bodies, err := s.receive(ctx, url)
	if err = errors.Join(err, differ("events", len(bodies), 1)); err != nil {
		return err
	}
	var e envelope
	var detail struct{ State, PreviousState struct{ Value string } }
	if err := errors.Join(json.Unmarshal([]byte(bodies[0]), &e), json.Unmarshal(e.Detail, &detail)); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	return errors.Join(differ("states", []string{detail.State.Value, detail.PreviousState.Value}, []string{"ALARM", "INSUFFICIENT_DATA"}),
		differ("resources", len(e.Resources), 1))
}
