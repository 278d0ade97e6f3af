package drive_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

func told(s drive.Story) string {
	var b strings.Builder
	for _, l := range s.Lines() {
		b.WriteString(l.Clock + " " + l.Who + " " + l.Text + "\n")
	}
	return b.String()
}

func TestAStoryIsToldInOrderAndWithoutRepetition(t *testing.T) {
	brownout := told(run(t, "brownout", drive.Options{Guarded: true, Seed: 1}).Story)
	for _, want := range []string{
		"5:00 world the authorization service becomes slow\n",
		"5:20 CloudWatch authorization-slow is ALARM\n",
		"5:22 Holdfast suspends AZRebalance, HealthCheck, ReplaceUnhealthy\n",
		"5:22 Holdfast page held: ",
		"load balancer 8 targets are unhealthy (Target.Timeout), the last at ",
		"load balancer 8 targets are healthy, the last at ",
		"Holdfast resumes AZRebalance, ReplaceUnhealthy\n",
		"Holdfast notice released: ",
	} {
		if strings.Count(brownout, want) != 1 {
			t.Errorf("%q is not told once in\n%s", want, brownout)
		}
	}
	single := told(run(t, "single-broken", drive.Options{Guarded: true, Seed: 1}).Story)
	for _, want := range []string{
		"5:00 world i-05916b5073879556b is broken: full-disk\n",
		"Holdfast marks i-05916b5073879556b Unhealthy\n",
		"Auto Scaling terminates i-05916b5073879556b (user health-check)\n",
		"Auto Scaling launches ",
	} {
		if strings.Count(single, want) != 1 {
			t.Errorf("%q is not told once in\n%s", want, single)
		}
	}
}

func TestAHeadlineSaysWhatWasLostAndWhatWasDone(t *testing.T) {
	for _, tc := range []struct {
		incident string
		o        drive.Options
		want     []string
	}{
		{"brownout", drive.Options{Guarded: true, Seed: 1}, []string{"0 healthy members of 8 lost", "held from 5:22 to "}},
		{"brownout", drive.Options{Seed: 1}, []string{"8 healthy members of 8 lost"}},
		{"single-broken", drive.Options{Guarded: true, Seed: 1}, []string{"0 healthy members of 6 lost", "replaced at 7:01, its replacement serves at 9:"}},
		{"single-broken", drive.Options{Seed: 1}, []string{"0 healthy members of 6 lost", "never replaced"}},
	} {
		have := run(t, tc.incident, tc.o).Headline()
		for _, want := range tc.want {
			if !strings.Contains(have, want) {
				t.Errorf("%s: %q, want %q in it", tc.incident, have, want)
			}
		}
		if !tc.o.Guarded && strings.Contains(have, "held") {
			t.Errorf("%s: %q speaks of a hold", tc.incident, have)
		}
	}
}

func TestAStoryTellsWhatConcernsMoreThanOneInstanceAndWhatIsSaidAgain(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	have := told(drive.Story{
		Start: start,
		Timeline: []sim.Event{
			{At: at(1), Kind: sim.EventBreak, Text: "zone us-east-1a"}, {At: at(2), Kind: sim.EventBreak, Instance: "i-1", Text: "hang"},
			{At: at(3), Kind: sim.EventRepair, Instance: "i-1", Text: "hang"}, {At: at(4), Kind: sim.EventRepair, Text: "zone us-east-1a"},
			{At: at(4), Kind: sim.EventNote, Instance: "i-2", Text: "spot interruption notice"}, {At: at(4), Kind: sim.EventNote, Text: "a note"},
		},
		Notices: []drive.Notice{
			{At: at(5), Key: "held", Urgent: true, Text: "a"}, {At: at(35), Key: "held", Urgent: true, Reminder: true, Text: "a"},
			{At: at(36), Key: "config", Reminder: true, Text: "b"},
		},
	})
	want := `1:00 world broken: zone us-east-1a
2:00 world i-1 is broken: hang
3:00 world i-1 is repaired: hang
4:00 world repaired: zone us-east-1a
4:00 world i-2: spot interruption notice
4:00 world a note
5:00 Holdfast page held: a
35:00 Holdfast reminder of page held: a
36:00 Holdfast reminder of notice config: b
`
	if have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}
