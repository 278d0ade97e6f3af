package notify_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

func lookup(over map[string]string) func(string) string {
	env := map[string]string{config.EnvStateTable: "state", notify.EnvTopic: topicARN}
	maps.Copy(env, over)
	return func(name string) string { return env[name] }
}

func TestAConfigurationWithOneChannelIsEnough(t *testing.T) {
	c, err := notify.ConfigFromEnv(lookup(nil))
	if err != nil || c != (notify.Config{StateTable: "state", Topic: topicARN, PagerDutyURL: notify.PagerDutyURL}) {
		t.Errorf("have %+v, %v", c, err)
	}
	c, err = notify.ConfigFromEnv(lookup(map[string]string{
		notify.EnvTopic: "", notify.EnvSlackSecret: "/aws/reference/secretsmanager/chat/slack", notify.EnvPagerDutySecret: "/pager", notify.EnvPagerDutyURL: "https://events.eu.pagerduty.com/v2/enqueue",
	}))
	if err != nil || c.SlackSecret != "/aws/reference/secretsmanager/chat/slack" || c.PagerDutyURL != "https://events.eu.pagerduty.com/v2/enqueue" {
		t.Errorf("have %+v, %v", c, err)
	}
}

func TestAWrongConfigurationIsRefusedByTheNameOfItsVariable(t *testing.T) {
	cases := map[string]map[string]string{
		config.EnvStateTable + ": not set":                       {config.EnvStateTable: ""},
		"nobody would be told":                                   {notify.EnvTopic: ""},
		notify.EnvTopic + `: "holdfast"`:                         {notify.EnvTopic: "holdfast"},
		notify.EnvChatTopic + `: "` + topicARN + `.fifo"`:        {notify.EnvChatTopic: topicARN + ".fifo"},
		notify.EnvSlackSecret + ": no secret below /holdfast/":   {notify.EnvSlackSecret: "/holdfast/slack"},
		notify.EnvSlackSecret + ": want the name of a parameter": {notify.EnvSlackSecret: "https://hooks.example.test/" + slackToken},
		notify.EnvPagerDutySecret + ": want the name":            {notify.EnvPagerDutySecret: pagerKey},
		notify.EnvPagerDutyURL + ": address":                     {notify.EnvPagerDutyURL: "http://events.pagerduty.com"},
	}
	for want, env := range cases {
		c, err := notify.ConfigFromEnv(lookup(env))
		if err == nil || !strings.Contains(err.Error(), want) || c != (notify.Config{}) {
			t.Errorf("have %+v, %v; want %s", c, err, want)
			continue
		}
		if strings.Contains(err.Error(), slackToken) || strings.Contains(err.Error(), pagerKey) {
			t.Errorf("a secret is shown: %v", err)
		}
	}
}

func envelope(over map[string]any) json.RawMessage {
	e := map[string]any{
		"id": "e1", "source": "holdfast", "detail-type": "Holdfast Notice", "account": "111122223333", "region": "us-east-1", "time": "2026-11-30T11:43:00Z",
		"detail": map[string]any{"group": "web", "arn": groupARN, "key": "held", "urgent": true, "text": "t", "since": "2026-11-30T11:41:00Z", "at": "2026-11-30T11:43:01Z", "mode": "act", "new": 1},
	}
	maps.Copy(e, over)
	raw, err := json.Marshal(e)
	if err != nil {
		panic(err) // a map of texts can be encoded
	}
	return raw
}

func TestANoticeIsReadFromItsEvent(t *testing.T) {
	n, err := notify.Decode(envelope(nil))
	if err != nil || n.EventID != "e1" || n.Region != "us-east-1" || n.Account != "111122223333" || n.Group != "web" || !n.Urgent {
		t.Errorf("have %+v, %v", n, err)
	}
	if !n.At.Equal(start().Add(2*time.Minute+time.Second)) || !n.Since.Equal(start()) {
		t.Errorf("at %v, since %v", n.At, n.Since)
	}
	n, err = notify.Decode(envelope(map[string]any{"detail": map[string]any{"group": "web", "arn": groupARN, "key": "held"}}))
	if err != nil || !n.At.Equal(start().Add(2*time.Minute)) || !n.Since.Equal(n.At) {
		t.Errorf("without times of its own: %+v, %v", n, err)
	}
}

func TestWhatIsNoNoticeIsRefused(t *testing.T) {
	for name, raw := range map[string]json.RawMessage{
		"not JSON":                   json.RawMessage("{"),
		"another source":             envelope(map[string]any{"source": "aws.cloudwatch"}),
		"another kind":               envelope(map[string]any{"detail-type": "Scheduled Event"}),
		"a detail without a group":   envelope(map[string]any{"detail": map[string]any{"key": "held"}}),
		"a detail that is a text":    envelope(map[string]any{"detail": "{}"}),
		"a notice without any times": envelope(map[string]any{"time": "0001-01-01T00:00:00Z", "detail": map[string]any{"group": "web", "arn": groupARN, "key": "held"}}),
	} {
		if n, err := notify.Decode(raw); err == nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
}
