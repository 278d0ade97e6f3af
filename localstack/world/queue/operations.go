package queue

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Limits of SQS. Source: SDK doc comments of SendMessage, ReceiveMessage and ChangeMessageVisibility.
const (
	maxBodyBytes  = 1 << 20
	maxReceive    = 10
	maxDelay      = 900   // seconds
	maxVisibility = 43200 // seconds
)

func defaults() map[string]string {
	return map[string]string{
		"VisibilityTimeout": "30", "DelaySeconds": "0", "MaximumMessageSize": strconv.Itoa(maxBodyBytes),
		"MessageRetentionPeriod": "345600", "ReceiveMessageWaitTimeSeconds": "0",
	}
}

// CreateQueue makes a standard queue. An existing one with the same attributes is no error; with others it is
// QueueNameExists. FIFO queues are refused.
func (q *Queues) CreateQueue(in *sqs.CreateQueueInput) (*sqs.CreateQueueOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	name := aws.ToString(in.QueueName)
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`).MatchString(name) {
		return nil, invalid("InvalidParameterValue", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	old, exists := q.queues[name]
	attributes := defaults()
	if exists {
		attributes = old.attributes
	}
	for k, v := range in.Attributes {
		if exists && attributes[k] != v {
			return nil, &types.QueueNameExists{Message: aws.String("A queue already exists with the same name and a different value for attribute " + k)}
		}
		if k == string(types.QueueAttributeNameFifoQueue) {
			return nil, &types.InvalidAttributeName{Message: aws.String("FIFO queues are not part of the embedded SQS")}
		}
		attributes[k] = v
	}
	if !exists {
		q.queues[name] = &queue{name: name, attributes: attributes, created: q.opts.Now()}
	}
	return &sqs.CreateQueueOutput{QueueUrl: aws.String(q.url(name))}, nil
}

// GetQueueURL finds a queue by its name.
func (q *Queues) GetQueueURL(in *sqs.GetQueueUrlInput) (*sqs.GetQueueUrlOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	name := aws.ToString(in.QueueName)
	if _, ok := q.queues[name]; !ok {
		return nil, notExist()
	}
	return &sqs.GetQueueUrlOutput{QueueUrl: aws.String(q.url(name))}, nil
}

// SendMessage adds a message of at most 1 MB, hidden for its delay in seconds (0 means the queue's own).
func (q *Queues) SendMessage(in *sqs.SendMessageInput) (*sqs.SendMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	to, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	body := aws.ToString(in.MessageBody)
	if body == "" {
		return nil, invalid("MissingParameter", "The request must contain the parameter MessageBody.")
	}
	if len(body) > to.number("MaximumMessageSize") {
		return nil, invalid("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", to.number("MaximumMessageSize"))
	}
	delay := int(in.DelaySeconds)
	if delay == 0 {
		delay = to.number("DelaySeconds")
	}
	if delay < 0 || delay > maxDelay {
		return nil, invalid("InvalidParameterValue", "Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= %d.", delay, maxDelay)
	}
	m := q.add(to, body, in.MessageAttributes)
	m.visible = m.sent.Add(time.Duration(delay) * time.Second)
	return &sqs.SendMessageOutput{MessageId: aws.String(m.id), MD5OfMessageBody: sumOf(body)}, nil
}

func (of *queue) number(attribute string) int {
	n, err := strconv.Atoi(of.attributes[attribute])
	if err != nil {
		return 0
	}
	return n
}

// ReceiveMessage takes up to ten visible messages, oldest first, and hides them for the visibility timeout. It
// answers at once, whatever WaitTimeSeconds says: the clock may be a virtual one that nobody moves meanwhile.
func (q *Queues) ReceiveMessage(in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	limit := int(in.MaxNumberOfMessages)
	if limit == 0 {
		limit = 1
	}
	if limit < 0 || limit > maxReceive {
		return nil, invalid("InvalidParameterValue", "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and %d, if provided.", limit, maxReceive)
	}
	hidden := int(in.VisibilityTimeout)
	if hidden == 0 {
		hidden = from.number("VisibilityTimeout")
	}
	now := q.opts.Now()
	out := &sqs.ReceiveMessageOutput{}
	for _, m := range from.messages {
		if len(out.Messages) == limit {
			break
		}
		if m.visible.After(now) {
			continue
		}
		m.receives++
		if m.receives == 1 {
			m.first = now
		}
		m.visible = now.Add(time.Duration(hidden) * time.Second)
		m.receipt = fmt.Sprintf("%s#%d", m.id, m.receives)
		out.Messages = append(out.Messages, m.show(in))
	}
	return out, nil
}

func (m *message) show(in *sqs.ReceiveMessageInput) types.Message {
	shown := types.Message{
		MessageId: aws.String(m.id), Body: aws.String(m.body), MD5OfBody: sumOf(m.body), ReceiptHandle: aws.String(m.receipt),
		Attributes: make(map[string]string),
	}
	system := map[types.MessageSystemAttributeName]string{
		types.MessageSystemAttributeNameSentTimestamp:                    millis(m.sent),
		types.MessageSystemAttributeNameApproximateReceiveCount:          strconv.Itoa(m.receives),
		types.MessageSystemAttributeNameApproximateFirstReceiveTimestamp: millis(m.first),
	}
	for k, v := range system {
		if slices.Contains(in.MessageSystemAttributeNames, k) ||
			slices.Contains(in.MessageSystemAttributeNames, types.MessageSystemAttributeNameAll) {
			shown.Attributes[string(k)] = v
		}
	}
	for k, v := range m.values {
		if slices.Contains(in.MessageAttributeNames, k) || slices.Contains(in.MessageAttributeNames, "All") {
			if shown.MessageAttributes == nil {
				shown.MessageAttributes = make(map[string]types.MessageAttributeValue)
			}
			shown.MessageAttributes[k] = v
		}
	}
	return shown
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// DeleteMessage deletes the message of a receipt handle. An old handle of a message that was received again deletes
// nothing and is no error; a text that is no handle is ReceiptHandleIsInvalid.
func (q *Queues) DeleteMessage(in *sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if _, err := readHandle(in.ReceiptHandle); err != nil {
		return nil, err
	}
	from.messages = slices.DeleteFunc(from.messages, func(m *message) bool {
		return m.receipt != "" && m.receipt == *in.ReceiptHandle
	})
	return &sqs.DeleteMessageOutput{}, nil
}

func readHandle(handle *string) (string, error) {
	if !regexp.MustCompile(`^[0-9a-f-]{36}#[0-9]+$`).MatchString(aws.ToString(handle)) {
		return "", &types.ReceiptHandleIsInvalid{Message: aws.String("The input receipt handle is invalid.")}
	}
	return *handle, nil
}

// ChangeMessageVisibility hides a received message for so many seconds from now; 0 shows it at once.
func (q *Queues) ChangeMessageVisibility(in *sqs.ChangeMessageVisibilityInput) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if in.VisibilityTimeout < 0 || in.VisibilityTimeout > maxVisibility {
		return nil, invalid("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and %d.", in.VisibilityTimeout, maxVisibility)
	}
	handle, err := readHandle(in.ReceiptHandle)
	if err != nil {
		return nil, err
	}
	now := q.opts.Now()
	for _, m := range from.messages {
		if m.receipt != handle {
			continue
		}
		if !m.visible.After(now) {
			return nil, &types.MessageNotInflight{}
		}
		m.visible = now.Add(time.Duration(in.VisibilityTimeout) * time.Second)
	}
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}

// GetQueueAttributes reports settings and counts. The counts are exact here, approximate on AWS.
func (q *Queues) GetQueueAttributes(in *sqs.GetQueueAttributesInput) (*sqs.GetQueueAttributesOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	of, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	all := q.describe(of)
	out := &sqs.GetQueueAttributesOutput{Attributes: make(map[string]string)}
	for _, name := range in.AttributeNames {
		if name == types.QueueAttributeNameAll {
			out.Attributes = all
			return out, nil
		}
		if !slices.Contains(name.Values(), name) {
			return nil, &types.InvalidAttributeName{Message: aws.String("Unknown Attribute " + string(name) + ".")}
		}
		if v, ok := all[string(name)]; ok {
			out.Attributes[string(name)] = v
		}
	}
	return out, nil
}

func (q *Queues) describe(of *queue) map[string]string {
	now := q.opts.Now()
	visible, hidden, delayed := 0, 0, 0
	for _, m := range of.messages {
		switch {
		case !m.visible.After(now):
			visible++
		case m.receives == 0:
			delayed++
		default:
			hidden++
		}
	}
	if of.depth != nil {
		visible = *of.depth
	}
	all := map[string]string{
		"QueueArn":                              q.ARN(of.name),
		"CreatedTimestamp":                      strconv.FormatInt(of.created.Unix(), 10),
		"LastModifiedTimestamp":                 strconv.FormatInt(of.created.Unix(), 10),
		"ApproximateNumberOfMessages":           strconv.Itoa(visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(hidden),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(delayed),
	}
	for k, v := range of.attributes {
		all[k] = v
	}
	return all
}
