package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

const topicARN = "arn:aws:sns:us-east-1:111122223333:holdfast"

// topics is SNS; with err set it takes nothing.
type topics struct {
	published []*sns.PublishInput
	err       error
}

func (f *topics) Publish(_ context.Context, in *sns.PublishInput, _ ...func(*sns.Options)) (*sns.PublishOutput, error) {
	if f.err != nil {
		return nil, f.err
	}
	f.published = append(f.published, in)
	return &sns.PublishOutput{}, nil
}

func TestATopicGetsPlainTextWithASubjectThatSNSTakes(t *testing.T) {
	f := &topics{}
	n := noticeOf(guard.PageHeld)
	n.Group = strings.Repeat("long-", 40) + "é\nname"
	m := render(t, n)
	if err := notify.NewTopic(f, topicARN).Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	in := f.published[0]
	subject := aws.ToString(in.Subject)
	if len(subject) >= 100 || strings.ContainsFunc(subject, func(r rune) bool { return r < ' ' || r > '~' }) || !strings.HasPrefix(subject, "Holdfast urgent: held: long-") {
		t.Errorf("subject %q", subject)
	}
	if aws.ToString(in.TopicArn) != topicARN || aws.ToString(in.Message) != m.Plain {
		t.Errorf("published %+v", in)
	}
	for name, want := range map[string]string{"key": "held", "urgent": "true", "reminder": "false", "mode": "act"} {
		if have := aws.ToString(in.MessageAttributes[name].StringValue); have != want {
			t.Errorf("attribute %s is %q, want %q", name, have, want)
		}
	}
	n.Mode, n.Group = "", "web"
	if err := notify.NewTopic(f, topicARN).Send(context.Background(), render(t, n)); err != nil {
		t.Fatal(err)
	}
	if _, there := f.published[1].MessageAttributes["mode"]; there {
		t.Error("an empty attribute, which SNS refuses")
	}
	if have := aws.ToString(f.published[1].Subject); have != "Holdfast urgent: held: web" {
		t.Errorf("subject %q", have)
	}
}

func TestAChatTopicGetsACustomNotificationOfItsThread(t *testing.T) {
	f := &topics{}
	send := func(n notify.Notice) map[string]any {
		if err := notify.NewChatTopic(f, topicARN).Send(context.Background(), render(t, n)); err != nil {
			t.Fatal(err)
		}
		var body map[string]any
		if err := json.Unmarshal([]byte(aws.ToString(f.published[len(f.published)-1].Message)), &body); err != nil {
			t.Fatal(err)
		}
		return body
	}
	first := send(noticeOf(guard.PageHeld))
	if first["version"] != "1.0" || first["source"] != "custom" {
		t.Errorf("body %v", first)
	}
	content := first["content"].(map[string]any)
	if content["textType"] != "client-markdown" || !strings.Contains(content["description"].(string), "6 of 8 members are bad") || content["title"] == "" {
		t.Errorf("content %v", content)
	}
	thread := func(body map[string]any) any { return body["metadata"].(map[string]any)["threadId"] }
	again := noticeOf(guard.PageHeld)
	again.Reminder, again.At, again.EventID = true, again.At.Add(time.Hour), "other"
	if thread(send(again)) != thread(first) {
		t.Error("a reminder is in another thread")
	}
	anew := noticeOf(guard.PageHeld)
	anew.Since = anew.Since.Add(time.Hour)
	if thread(send(anew)) == thread(first) {
		t.Error("another hold is in the same thread")
	}
}

func TestATopicThatTakesNothingIsAnErrorOfItsKind(t *testing.T) {
	f := &topics{err: &smithy.GenericAPIError{Code: "Throttled", Message: "Rate exceeded"}}
	if err := notify.NewTopic(f, topicARN).Send(context.Background(), render(t, noticeOf("held"))); !errors.Is(err, fault.Throttled) {
		t.Errorf("have %v", err)
	}
}
