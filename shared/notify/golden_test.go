package notify_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

const groupARN = "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0a:autoScalingGroupName/orders-web-asg"

func start() time.Time { return time.Date(2026, 11, 30, 11, 41, 0, 0, time.UTC) }

// noticeOf is an urgent first notice, two minutes after its condition began.
func noticeOf(key string) notify.Notice {
	return notify.Notice{
		EventID: "11111111-2222-3333-4444-555555555555", Account: "111122223333", Region: "us-east-1",
		Detail: report.Detail{
			Group: "orders-web-asg", ARN: groupARN, Key: key, Urgent: true, Mode: guard.ModeAct,
			Text:  "held since 2026-11-30 11:41:00Z: 6 of 8 members are bad, the limit is 2. the bad members share: target group admin, 6 of 6",
			Since: start(), At: start().Add(2 * time.Minute),
		},
	}
}

func render(t *testing.T, n notify.Notice) notify.Message {
	t.Helper()
	m, err := notify.Render(n, notify.GuideOf(n))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func golden(t *testing.T, path, have string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read golden file: %v (write it with -update)", err)
	}
	if have != string(want) {
		t.Errorf("%s differs; have:\n%s", path, have)
	}
}

func TestThePlainMessageOfEveryKey(t *testing.T) {
	for _, g := range notify.Guides(notify.Names{}) {
		t.Run(g.Key, func(t *testing.T) {
			n := noticeOf(g.Key)
			n.Urgent = strings.HasPrefix(g.Urgency, "urgent")
			n.Text = "the text of the notice, with 6 of 8 members"
			if g.Key == guard.PageStuckAlarm || g.Key == guard.PageForeignSuspension {
				n.Subject = "Launch or an alarm"
			}
			golden(t, filepath.Join("testdata", "plain", g.Key+".txt"), render(t, n).Plain)
		})
	}
}

func TestMessagesOfEveryForm(t *testing.T) {
	observed := noticeOf(guard.PageHeld)
	observed.Urgent, observed.Mode, observed.Text = false, guard.ModeObserve, "observe: "+observed.Text
	reminder := noticeOf(guard.PageHeld)
	reminder.Reminder, reminder.At = true, start().Add(32*time.Minute)
	off := noticeOf(guard.PageDeferredTooLong)
	off.Mode, off.Urgent = guard.ModeOff, false
	paused := noticeOf(guard.PagePausedWhileHeld)
	paused.Mode, paused.Urgent = guard.ModeOff, false
	asked := noticeOf(guard.PageHeld)
	asked.Text = "held since 2026-11-30 11:41:00Z: asked for by sam: moving the database. only a person ends this hold: holdfast release orders-web-asg"
	dependency := noticeOf(guard.PageHeld)
	dependency.Text = "held since 2026-11-30 11:41:00Z: hard dependency orders-db is in ALARM since 2026-11-30 11:40:10Z"
	newer := noticeOf("key-of-a-newer-sweep")
	newer.Group = "it's & <b> $(rm) |x"
	newer.Text = "first <!channel> & line\nsecond ``` line\x1b[31m"
	for name, n := range map[string]notify.Notice{
		"a first notice": noticeOf(guard.PageHeld), "what would have been done": observed, "a reminder": reminder,
		"while the mode is off": off, "paused while held": paused, "held for a person": asked, "held for a dependency": dependency, "a key that is not known and names that are odd": newer,
	} {
		t.Run(name, func(t *testing.T) {
			m := render(t, n)
			golden(t, filepath.Join("testdata", "forms", strings.ReplaceAll(name, " ", "-")+".txt"), m.Plain+"\n=== chat ===\n"+m.Chat)
		})
	}
}

func TestCharactersThatActInsteadOfBeingSeenAreReplaced(t *testing.T) {
	n := noticeOf(guard.PageHeld)
	n.Group, n.Text = "we\u202eb\u2029", "one\x1b[31m\rtwo\u2028three\u202efour\u2066five\u200bsix\u0085seven\ufeff"
	m := render(t, n)
	for _, text := range []string{m.Plain, m.Chat, m.Heading} {
		if strings.ContainsAny(text, "\x1b\r\u2028\u2029\u202e\u2066\u200b\u0085\ufeff") {
			t.Errorf("have %q", text)
		}
	}
	if !strings.Contains(m.Plain, `holdfast status $'we\xe2\x80\xaeb\xe2\x80\xa9'`) || !strings.Contains(m.Plain, "one?[31m?two?three?four?five?six?seven?") {
		t.Errorf("have %q", m.Plain)
	}
}

// TestEveryFieldOfAnEventIsEscapedInAChat has an event that is made to call people or to add lines.
func TestEveryFieldOfAnEventIsEscapedInAChat(t *testing.T) {
	const mention = "<!channel>\nWHAT HAPPENED\x1b"
	for _, key := range []string{mention, guard.PageHeld, guard.PageStuckAlarm, report.KeyAudit} {
		raw, err := json.Marshal(map[string]any{
			"id": mention, "source": report.Source, "detail-type": report.DetailType, "account": mention, "region": mention, "time": start(),
			"detail": map[string]any{"group": mention, "arn": mention, "key": key, "subject": mention, "text": "<!here>", "mode": mention, "at": start()},
		})
		if err != nil {
			t.Fatal(err)
		}
		n, err := notify.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		n.StateTable = mention
		m := render(t, n)
		if strings.Contains(m.Chat, "<!") || strings.ContainsAny(m.Chat+m.Plain, "\x1b") {
			t.Errorf("%.20q: have\n%s", key, m.Chat)
		}
		for name, text := range map[string]string{"chat": m.Chat, "plain": strings.Replace(m.Plain, "\nWHAT HAPPENED\n", "", 1)} {
			if strings.Contains(text, "\nWHAT HAPPENED") {
				t.Errorf("%.20q: %s has a line of the event's own:\n%s", key, name, text)
			}
		}
	}
}

func TestTheHandbookIsMadeFromTheTable(t *testing.T) {
	have, err := notify.Handbook()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("..", "..", "docs", "notices.md"), have)
}

func TestALongTextIsCutAndSaysSo(t *testing.T) {
	n := noticeOf(guard.PageHeld)
	n.Text = strings.Repeat("é", 200<<10)
	m := render(t, n)
	if len(m.Plain) > 80<<10 || len(m.Chat) > 10<<10 {
		t.Errorf("%d bytes of plain text, %d of chat", len(m.Plain), len(m.Chat))
	}
	for _, text := range []string{m.Plain, m.Chat} {
		if !strings.Contains(text, "é [cut; ") || !strings.Contains(text, "holdfast release orders-web-asg") {
			t.Errorf("a message does not say that it was cut, or lost its commands")
		}
	}
}

// TestTheLongestMessagesFitTheirChannels takes the longest names that AWS allows to groups, alarms and tables, of characters that take
// most room in a shell, in JSON or in a chat. Sources: SNS API reference, Publish: 256 KB; PagerDuty, Events API v2: 512 KB; Slack API, chat text: 40,000
// characters.
func TestTheLongestMessagesFitTheirChannels(t *testing.T) {
	for _, character := range []string{"&", "'", "\u202e", "\x01"} {
		for _, g := range notify.Guides(notify.Names{}) {
			n := noticeOf(g.Key)
			n.Group, n.Subject, n.Text = strings.Repeat(character, 255), strings.Repeat(character, 300), strings.Repeat(character, 80<<10)
			n.StateTable = "arn:aws:dynamodb:us-east-1:111122223333:table/" + strings.Repeat("t", 255)
			m := render(t, n)
			if characters := utf8.RuneCountInString(m.Chat); characters > 40_000 {
				t.Errorf("%q %s: a chat of %d characters", character, g.Key, characters)
			}
			f := &topics{}
			for _, c := range []notify.Channel{notify.NewTopic(f, topicARN), notify.NewChatTopic(f, topicARN)} {
				if err := c.Send(context.Background(), m); err != nil {
					t.Fatal(err)
				}
			}
			for _, in := range f.published {
				if bytes := len(*in.Message); bytes > 255<<10 {
					t.Errorf("%q %s: %d bytes to a topic", character, g.Key, bytes)
				}
			}
			plain, err := json.Marshal(m.Plain)
			if err != nil {
				t.Fatal(err)
			}
			if len(plain) > 500<<10 {
				t.Errorf("%q %s: %d bytes to PagerDuty", character, g.Key, len(plain))
			}
		}
	}
}
