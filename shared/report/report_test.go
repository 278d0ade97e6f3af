package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

var _ runner.Reporter = (*report.Reporter)(nil)

const groupARN = "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0a:autoScalingGroupName/web"

func now() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// bus keeps what it was given; with err or code set it takes nothing.
type bus struct {
	entries []types.PutEventsRequestEntry
	err     error
	code    string
}

func (b *bus) PutEvents(_ context.Context, in *eventbridge.PutEventsInput, _ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.code != "" {
		return &eventbridge.PutEventsOutput{FailedEntryCount: 1, Entries: []types.PutEventsResultEntry{{ErrorCode: aws.String(b.code), ErrorMessage: aws.String("no")}}}, nil
	}
	b.entries = append(b.entries, in.Entries...)
	return &eventbridge.PutEventsOutput{Entries: []types.PutEventsResultEntry{{EventId: aws.String("e")}}}, nil
}

func reporterOver(b *bus, out io.Writer) *report.Reporter {
	return report.New(b, report.Options{Bus: "holdfast", Log: slog.New(slog.NewJSONHandler(out, nil))})
}

func notice(text string) runner.Notice {
	return runner.Notice{
		GroupARN: groupARN, Group: "web", At: now(), Mode: guard.ModeAct,
		Page: guard.Page{Key: guard.PageHeld, Subject: "zone a", Urgent: true, Text: text, Since: guard.At(now().Add(-time.Minute)), Reminder: true},
	}
}

func TestANoticeIsOneEventOnTheBus(t *testing.T) {
	b := &bus{}
	if err := reporterOver(b, io.Discard).Page(context.Background(), notice("6 of 8 are bad")); err != nil {
		t.Fatal(err)
	}
	want := types.PutEventsRequestEntry{
		EventBusName: aws.String("holdfast"), Source: aws.String("holdfast"), DetailType: aws.String("Holdfast Notice"),
		Resources: []string{groupARN}, Time: aws.Time(now()),
		Detail: aws.String(`{"group":"web","arn":"` + groupARN + `","key":"held","subject":"zone a","urgent":true,"text":"6 of 8 are bad",` +
			`"since":"2026-11-30T11:59:00Z","reminder":true,"mode":"act","at":"2026-11-30T12:00:00Z"}`),
	}
	if len(b.entries) != 1 || !reflect.DeepEqual(b.entries[0], want) {
		t.Errorf("have %+v", b.entries)
		t.Logf("detail %s", aws.ToString(b.entries[0].Detail))
	}
}

func TestANoticeOfObservingIsNeverUrgent(t *testing.T) {
	b, n := &bus{}, notice("would be held")
	n.Mode = guard.ModeObserve
	if err := reporterOver(b, io.Discard).Page(context.Background(), n); err != nil {
		t.Fatal(err)
	}
	if detail := aws.ToString(b.entries[0].Detail); !strings.Contains(detail, `"urgent":false`) {
		t.Errorf("the detail %s, want it not urgent", detail)
	}
}

func TestANoticeThatTheBusDidNotTakeIsAnError(t *testing.T) {
	cases := map[string]struct {
		bus  *bus
		kind error
	}{
		"a failed call":             {&bus{err: io.ErrUnexpectedEOF}, fault.Unknown},
		"a throttled entry":         {&bus{code: "ThrottlingException"}, fault.Throttled},
		"an entry lost inside":      {&bus{code: "InternalFailure"}, fault.Unknown},
		"a call without permission": {&bus{err: &smithy.GenericAPIError{Code: "AccessDeniedException"}}, fault.Refused},
	}
	for name, c := range cases {
		r := reporterOver(c.bus, io.Discard)
		err := r.Page(context.Background(), notice("text"))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "put notice held of web") {
			t.Errorf("%s: have %v, want %v", name, err, c.kind)
		}
		if have := r.Totals(); have.Pages != 0 || have.PageFailures != 1 {
			t.Errorf("%s: totals %+v", name, have)
		}
	}
}

func TestALongTextIsCutToTheSizeOfAnEntry(t *testing.T) {
	texts := map[string]string{
		"plain":              strings.Repeat("a", 300<<10),
		"of quotes":          strings.Repeat(`"`, 200<<10),
		"of wide characters": strings.Repeat("é€", 100<<10),
		"of escapes":         strings.Repeat("\x01", 100<<10),
	}
	for name, text := range texts {
		b := &bus{}
		if err := reporterOver(b, io.Discard).Page(context.Background(), notice(text)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e := b.entries[0]
		size := len(*e.Source) + len(*e.DetailType) + len(*e.Detail) + len(groupARN) + 14
		if size > report.EntryBytesMax || size < report.EntryBytesMax/2 {
			t.Errorf("%s: an entry of %d bytes", name, size)
		}
		var d report.Detail
		if err := json.Unmarshal([]byte(*e.Detail), &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kept := strings.TrimSuffix(d.Text, " [cut]")
		if kept == d.Text || !strings.HasPrefix(text, kept) || !utf8.ValidString(kept) {
			t.Errorf("%s: the text ends with %q", name, d.Text[max(0, len(d.Text)-20):])
		}
	}
}

func look() runner.Report {
	return runner.Report{
		Run: "run-1", Trigger: "sweep", At: now(), Group: "web", ARN: groupARN,
		Verdict: guard.Verdict{
			Group: "web", Mode: guard.Held, Cause: "correlated",
			Actions:  []guard.Action{{Kind: guard.ActSuspend, Processes: []string{"ReplaceUnhealthy"}, ID: "a1"}, {Kind: guard.ActMark, Member: "i-2", ID: "a2"}},
			Deferred: []guard.Deferral{{Member: "i-1", Reason: guard.ReasonHeld, Have: 6, Limit: 2, Broken: true}, {Member: "i-3", Reason: guard.ReasonGrace}},
			Members:  guard.Counts{Eligible: 8, Healthy: 2, Bad: 6, Broken: 5},
			Limits:   guard.Limits{HourMax: 3},
		},
		Calls: []runner.Call{
			{Action: guard.Action{Kind: guard.ActSuspend, ID: "a1"}, Outcome: guard.OutcomeDone},
			{Action: guard.Action{Kind: guard.ActMark, Member: "i-2", ID: "a2"}, Outcome: guard.OutcomeDone},
			{Action: guard.Action{Kind: guard.ActMark, Member: "i-4", ID: "a3"}, Outcome: "refused", Error: "too young"},
			{Action: guard.Action{Kind: guard.ActResume, ID: "a4"}, Outcome: guard.OutcomeUnknown},
			{Action: guard.Action{Kind: guard.ActRestore, ID: "a5"}, Outcome: guard.OutcomeDone},
		},
	}
}

func decodeLine(t *testing.T, out *bytes.Buffer) map[string]any {
	t.Helper()
	if strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("%d lines, want one", strings.Count(out.String(), "\n"))
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	return line
}

func TestALookIsOneVerdictLineWithEveryDeferral(t *testing.T) {
	var out bytes.Buffer
	reporterOver(&bus{}, &out).Report(context.Background(), look())
	line := decodeLine(t, &out)
	for key, want := range map[string]any{
		"msg": "verdict", "level": "INFO", "run": "run-1", "trigger": "sweep", "at": "2026-11-30T12:00:00Z", "group": "web", "arn": groupARN,
		"mode": "held", "cause": "correlated", "notes": []any{}, "pages": []any{}, "triggers": []any{},
		"deferred": []any{
			map[string]any{"member": "i-1", "reason": "held", "have": 6.0, "limit": 2.0, "broken": true},
			map[string]any{"member": "i-3", "reason": "grace", "have": 0.0, "limit": 0.0},
		},
		"members": map[string]any{"eligible": 8.0, "healthy": 2.0, "bad": 6.0, "broken": 5.0, "outside": 0.0},
	} {
		if !reflect.DeepEqual(line[key], want) {
			t.Errorf("%s: have %v, want %v", key, line[key], want)
		}
	}
	if calls, ok := line["calls"].([]any); !ok || len(calls) != 5 {
		t.Errorf("calls: %v", line["calls"])
	}
	for _, key := range []string{"left_out", "failure"} {
		if _, ok := line[key]; ok {
			t.Errorf("an ordinary line has %s", key)
		}
	}
}

func TestALineOfAHugeGroupIsCutAndSaysHowMuch(t *testing.T) {
	rep := look()
	rep.Failure = strings.Repeat("x", 100<<10)
	rep.Verdict.Cause = strings.Repeat("y", 100<<10)
	rep.Verdict.Notes = []string{strings.Repeat("z", 100<<10)}
	rep.Verdict.Deferred = nil
	for i := range 10_000 {
		rep.Verdict.Deferred = append(rep.Verdict.Deferred, guard.Deferral{Member: fmt.Sprintf("i-%017d", i), Reason: guard.ReasonHeld, Have: 10_000, Limit: 2_500})
	}
	for range 3_000 {
		rep.Calls = append(rep.Calls, rep.Calls[0])
		rep.Verdict.Actions = append(rep.Verdict.Actions, rep.Verdict.Actions[0])
		rep.Verdict.Pages = append(rep.Verdict.Pages, guard.Page{Key: guard.PageHeld, Text: `"quoted"`})
		rep.Verdict.Triggers = append(rep.Verdict.Triggers, guard.Trigger{Cause: guard.CauseZone, Text: "half of a zone is bad"})
	}
	var out bytes.Buffer
	r := reporterOver(&bus{}, &out)
	r.Report(context.Background(), rep)
	if out.Len() >= 256<<10 {
		t.Errorf("a line of %d bytes", out.Len())
	}
	line := decodeLine(t, &out)
	kept := line["deferred"].([]any)
	left := line["left_out"].(map[string]any)
	if len(kept) < 1_000 || float64(len(kept))+left["deferred"].(float64) != 10_000 {
		t.Errorf("%d deferrals kept, %v left out", len(kept), left["deferred"])
	}
	if left["notes"] != 1.0 || len(left) != 6 {
		t.Errorf("left out %v, want all six lists", left)
	}
	if line["level"] != "WARN" || !strings.HasSuffix(line["failure"].(string), "x [cut]") {
		t.Error("a failed look is not a warning with its failure")
	}
	if have := r.Totals().Deferred[guard.ReasonHeld]; have != 10_000 {
		t.Errorf("the metrics count %d deferrals, want all", have)
	}
}

func TestTheLooksOfARunAddUp(t *testing.T) {
	ctx, r := context.Background(), reporterOver(&bus{}, io.Discard)
	r.Report(ctx, look())
	r.Report(ctx, runner.Report{Verdict: guard.Verdict{Mode: guard.Blind}, Failure: "load state: throttled"})
	r.Report(ctx, runner.Report{Verdict: guard.Verdict{Mode: guard.Releasing, Deferred: []guard.Deferral{{Reason: guard.ReasonHeld}}}})
	r.Report(ctx, runner.Report{Verdict: guard.Verdict{Mode: guard.Watching, Actions: []guard.Action{{Kind: guard.ActMark, Withheld: "mode"}}}})
	if err := r.Page(ctx, notice("text")); err != nil {
		t.Fatal(err)
	}
	want := report.Totals{
		Groups: 4, Held: 2, Blind: 1, Failures: 1, Bad: 6, Broken: 5, MarksDetected: 3, MarksEnforced: 1,
		Suspends: 1, Restores: 1, Pages: 1, Deferred: map[guard.Reason]int{guard.ReasonHeld: 2, guard.ReasonGrace: 1},
	}
	if have := r.Totals(); !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v\nwant %+v", have, want)
	}
}

func TestTheMetricsOfARunAreFlushedOnce(t *testing.T) {
	r := reporterOver(&bus{}, io.Discard)
	r.Report(context.Background(), look())
	flush := func(f report.RunFacts) []string {
		var out bytes.Buffer
		if err := r.Flush(telemetry.NewEmitter(&out, now), f); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	facts := report.RunFacts{
		Function: "sweep", Run: "run-1", Trigger: "sweep", Shard: 2, Completed: true, Failed: 1, LostRaces: 3,
		Duration: 1500 * time.Millisecond, Margin: 40 * time.Second,
	}
	lines := flush(facts)
	if len(lines) != 4 { // totals, completed, two reasons
		t.Fatalf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	var totals map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &totals); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"groups_seen": 1, "groups_held": 1, "group_failures": 1, "lost_races": 3, "marks_detected": 2, "marks_enforced": 1,
		"members_bad": 6, "sweep_duration_ms": 1500, "deadline_margin_ms": 40_000, "pages": 0,
	} {
		if totals[name] != want {
			t.Errorf("%s is %v, want %v", name, totals[name], want)
		}
	}
	if !strings.Contains(lines[1], `"sweep_completed":1`) || !strings.Contains(lines[1], `"shard":"2"`) {
		t.Errorf("completed: %s", lines[1])
	}
	if !strings.Contains(lines[2], `"reason":"grace"`) || !strings.Contains(lines[3], `"reason":"held"`) {
		t.Errorf("reasons: %s\n%s", lines[2], lines[3])
	}
	facts.Completed = false
	if lines = flush(facts); strings.Contains(strings.Join(lines, ""), "sweep_completed") {
		t.Error("a run that did not complete says that it did")
	}
}
