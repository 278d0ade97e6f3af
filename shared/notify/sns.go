package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
)

// TopicAPI is what the topics need of the SNS client.
type TopicAPI interface {
	Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error)
}

// subjectMax is how many characters a subject may have. Source: SNS API reference, Publish: ASCII, less than 100 characters, no
// line breaks, beginning with a letter, a number or punctuation.
const subjectMax = 99

// topic is a channel over an SNS topic.
type topic struct {
	name, arn string
	api       TopicAPI
	// body makes what is published of a message.
	body func(Message) (string, error)
}

// NewTopic returns the channel "sns": plain text to a standard topic, for mail and whatever else subscribes to it. Attributes for
// the filters of subscriptions are group, key, urgent, reminder and mode.
func NewTopic(api TopicAPI, arn string) Channel {
	return topic{name: "sns", arn: arn, api: api, body: func(m Message) (string, error) { return m.Plain, nil }}
}

// NewChatTopic returns the channel "chat": the form of Amazon Q Developer in chat applications (formerly AWS Chatbot) to a topic
// that such a channel subscribes to. Source: its administrator guide, "Custom notifications".
func NewChatTopic(api TopicAPI, arn string) Channel {
	return topic{name: "chat", arn: arn, api: api, body: customNotification}
}

func (t topic) Name() string { return t.name }

func (t topic) Wants(Notice) bool { return true }

func (t topic) Send(ctx context.Context, m Message) error {
	body, err := t.body(m)
	if err != nil {
		return err
	}
	_, err = t.api.Publish(ctx, &sns.PublishInput{
		TopicArn: aws.String(t.arn), Subject: aws.String(subject(m)), Message: aws.String(body), MessageAttributes: attributes(m.Notice),
	})
	if err != nil {
		return fmt.Errorf("publish: %w", awserr.Classify(err))
	}
	return nil
}

// subject has the severity first, then the condition, and last the group, which is cut if it is too long.
func subject(m Message) string {
	head := "Holdfast " + m.severity()
	if m.Observed() {
		head = "Holdfast observe"
	}
	return ascii(head + ": " + m.Key + ": " + oneLine(m.Group))
}

func ascii(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return cut(text, subjectMax, cutShort)
}

// attributes let subscriptions filter. SNS takes no empty value.
func attributes(n Notice) map[string]types.MessageAttributeValue {
	all := map[string]types.MessageAttributeValue{}
	for name, value := range map[string]string{
		"group": clean(n.Group), "key": clean(n.Key), "urgent": fmt.Sprint(n.Urgent), "reminder": fmt.Sprint(n.Reminder), "mode": clean(n.Mode),
	} {
		if value != "" {
			all[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
		}
	}
	return all
}

// custom is a custom notification. The thread keeps a condition's first notice and its reminders together.
type custom struct {
	Version  string         `json:"version"`
	Source   string         `json:"source"`
	ID       string         `json:"id,omitempty"`
	Content  customContent  `json:"content"`
	Metadata customMetadata `json:"metadata"`
}

type customContent struct {
	TextType    string   `json:"textType"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Keywords    []string `json:"keywords"`
}

type customMetadata struct {
	ThreadID         string   `json:"threadId"`
	Summary          string   `json:"summary"`
	EventType        string   `json:"eventType"`
	RelatedResources []string `json:"relatedResources"`
}

func customNotification(m Message) (string, error) {
	body, err := json.Marshal(custom{
		Version: "1.0", Source: "custom", ID: m.EventID,
		Content: customContent{
			TextType: "client-markdown", Title: subject(m), Description: m.Chat, Keywords: []string{"holdfast", m.Key, m.severity()},
		},
		Metadata: customMetadata{
			ThreadID: m.thread(), Summary: chat(m.Heading), EventType: "holdfast-" + m.Key, RelatedResources: []string{m.ARN},
		},
	})
	if err != nil {
		return "", fmt.Errorf("encode custom notification: %w", err)
	}
	return string(body), nil
}
