package queue_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/queue"
)

// rig is a queue "dead" with a real SDK client in front of it and a clock that moves only when a test says so.
type rig struct {
	queues *queue.Queues
	client *sqs.Client
	url    *string
	at     time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return r.at }
	server := world.New(world.Options{Now: now})
	r.queues = queue.New(queue.Options{Now: now})
	server.Mount(r.queues.Mount())
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	r.client = sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(listener.URL), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	out, err := r.client.CreateQueue(context.Background(), &sqs.CreateQueueInput{QueueName: aws.String("dead")})
	if err != nil {
		t.Fatalf("create queue: %v", err)
	}
	r.url = out.QueueUrl
	return r
}

func (r *rig) send(t *testing.T, body string, delay int32) {
	t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: r.url, MessageBody: &body, DelaySeconds: delay}
	if _, err := r.client.SendMessage(context.Background(), in); err != nil {
		t.Fatalf("send message: %v", err)
	}
}

func (r *rig) receive(t *testing.T, limit int32) []types.Message {
	t.Helper()
	out, err := r.client.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{
		QueueUrl: r.url, MaxNumberOfMessages: limit, WaitTimeSeconds: 20, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		t.Fatalf("receive message: %v", err)
	}
	return out.Messages
}

func bodies(messages []types.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, aws.ToString(m.Body))
	}
	return strings.Join(out, " ")
}

func (r *rig) attribute(t *testing.T, name types.QueueAttributeName) string {
	t.Helper()
	out, err := r.client.GetQueueAttributes(context.Background(), &sqs.GetQueueAttributesInput{
		QueueUrl: r.url, AttributeNames: []types.QueueAttributeName{name},
	})
	if err != nil {
		t.Fatalf("get queue attributes: %v", err)
	}
	return out.Attributes[string(name)]
}

func TestAMessageThatIsNotDeletedComesBack(t *testing.T) {
	r := newRig(t)
	r.send(t, "one", 0)
	r.send(t, "two", 0)
	first := r.receive(t, 1)
	if bodies(first) != "one" || bodies(r.receive(t, 10)) != "two" || len(r.receive(t, 10)) != 0 {
		t.Fatalf("first receive got %q", bodies(first))
	}
	if got := r.attribute(t, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible); got != "2" {
		t.Errorf("%s messages are hidden, want 2", got)
	}
	in := &sqs.DeleteMessageInput{QueueUrl: r.url, ReceiptHandle: first[0].ReceiptHandle}
	if _, err := r.client.DeleteMessage(context.Background(), in); err != nil {
		t.Fatalf("delete message: %v", err)
	}
	r.at = r.at.Add(30 * time.Second)
	again := r.receive(t, 10)
	if bodies(again) != "two" || again[0].Attributes["ApproximateReceiveCount"] != "2" {
		t.Errorf("after the timeout got %q, %v", bodies(again), again)
	}
}

func TestAnOldReceiptHandleDeletesNothing(t *testing.T) {
	r := newRig(t)
	r.send(t, "one", 0)
	old := r.receive(t, 1)[0].ReceiptHandle
	r.at = r.at.Add(time.Minute)
	r.receive(t, 1)
	if _, err := r.client.DeleteMessage(context.Background(), &sqs.DeleteMessageInput{QueueUrl: r.url, ReceiptHandle: old}); err != nil {
		t.Fatalf("delete message: %v", err)
	}
	if got := r.queues.Bodies("dead"); len(got) != 1 {
		t.Errorf("queue holds %v, want the message", got)
	}
}

func TestDelayAndVisibility(t *testing.T) {
	r := newRig(t)
	r.send(t, "later", 60)
	if got := r.attribute(t, types.QueueAttributeNameApproximateNumberOfMessagesDelayed); got != "1" || len(r.receive(t, 1)) != 0 {
		t.Errorf("%s delayed messages, want 1 and nothing to receive", got)
	}
	r.at = r.at.Add(time.Minute)
	m := r.receive(t, 1)
	if bodies(m) != "later" {
		t.Fatalf("after the delay got %q", bodies(m))
	}
	in := &sqs.ChangeMessageVisibilityInput{QueueUrl: r.url, ReceiptHandle: m[0].ReceiptHandle, VisibilityTimeout: 600}
	if _, err := r.client.ChangeMessageVisibility(context.Background(), in); err != nil {
		t.Fatalf("change message visibility: %v", err)
	}
	r.at = r.at.Add(9 * time.Minute)
	if got := r.receive(t, 1); len(got) != 0 {
		t.Errorf("came back early: %q", bodies(got))
	}
	r.at = r.at.Add(time.Minute)
	if got := r.receive(t, 1); bodies(got) != "later" {
		t.Errorf("did not come back: %q", bodies(got))
	}
}

func TestServicesDeliverByARN(t *testing.T) {
	r := newRig(t)
	if err := r.queues.Deliver(r.queues.ARN("dead"), "{}", map[string]string{"ERROR_CODE": "X"}); err != nil {
		t.Fatalf("deliver: %v", err)
	}
	m := r.receive(t, 1)
	if len(m) != 1 || aws.ToString(m[0].MessageAttributes["ERROR_CODE"].StringValue) != "X" {
		t.Errorf("received %v", m)
	}
	var gone *types.QueueDoesNotExist
	for _, arn := range []string{r.queues.ARN("other"), "arn:aws:sqs:eu-west-1:111122223333:dead"} {
		if err := r.queues.Deliver(arn, "{}", nil); !errors.As(err, &gone) {
			t.Errorf("deliver to %s: %v", arn, err)
		}
	}
}

func TestASimulatedDepthIsReported(t *testing.T) {
	r := newRig(t)
	r.send(t, "one", 0)
	for depth, want := range map[int]string{5000: "5000", 0: "0", -1: "1"} {
		if err := r.queues.SetDepth("dead", depth); err != nil {
			t.Fatalf("set depth: %v", err)
		}
		if got := r.attribute(t, types.QueueAttributeNameApproximateNumberOfMessages); got != want {
			t.Errorf("depth %d: reported %s, want %s", depth, got, want)
		}
	}
}

func TestWrongInputIsRefused(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	elsewhere := aws.String(strings.Replace(*r.url, "dead", "gone", 1))
	cases := []struct {
		name string
		do   func() error
		code string
	}{
		{"a queue that does not exist", func() error {
			_, err := r.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: elsewhere, MessageBody: aws.String("x")})
			return err
		}, "AWS.SimpleQueueService.NonExistentQueue"},
		{"eleven messages at once", func() error {
			_, err := r.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: r.url, MaxNumberOfMessages: 11})
			return err
		}, "InvalidParameterValue"},
		{"a handle that is none", func() error {
			_, err := r.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: r.url, ReceiptHandle: aws.String("x")})
			return err
		}, "ReceiptHandleIsInvalid"},
		{"an unknown attribute", func() error {
			_, err := r.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: r.url, AttributeNames: []types.QueueAttributeName{"Depth"}})
			return err
		}, "InvalidAttributeName"},
		{"a delay over fifteen minutes", func() error {
			_, err := r.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: r.url, MessageBody: aws.String("x"), DelaySeconds: 901})
			return err
		}, "InvalidParameterValue"},
		{"a FIFO name", func() error {
			_, err := r.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("a.fifo")})
			return err
		}, "InvalidParameterValue"},
		{"the same name with another setting", func() error {
			_, err := r.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("dead"), Attributes: map[string]string{"VisibilityTimeout": "60"}})
			return err
		}, "QueueAlreadyExists"},
		{"a message over the limit", func() error {
			_, err := r.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: r.url, MessageBody: aws.String(strings.Repeat("x", 1<<20+1))})
			return err
		}, "InvalidParameterValue"},
	}
	for _, tc := range cases {
		var api smithy.APIError
		if err := tc.do(); !errors.As(err, &api) || api.ErrorCode() != tc.code {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.code)
		}
	}
}
