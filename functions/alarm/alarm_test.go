package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/alarmevent"
	"github.com/holdfast-aws/holdfast/functions/internal/sampletest"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

func TestEverySampleEventLeadsToItsGroupsOrIsStatedNotToBeForUs(t *testing.T) {
	for _, row := range sampletest.Rows() {
		t.Run(row.File, func(t *testing.T) {
			raw, err := row.Read()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(row.Owners, sampletest.Alarm) {
				f := newFixture(moment())
				sum, err := f.Handle(context.Background(), raw)
				if err == nil || !strings.HasPrefix(err.Error(), "decode event: ") || sum.Looked != 0 || f.runs != 0 {
					t.Errorf("looked at %d groups in %d runs, %v; want a refusal", sum.Looked, f.runs, err)
				}
				return
			}
			f := newFixture(dated(t, raw).Add(2 * time.Second))
			if have := f.handle(t, raw); !slices.Equal(have, append([]string{}, row.Groups...)) {
				t.Errorf("looked at %q, want %q", have, row.Groups)
			}
			ignored := f.lines(t, "event ignored")
			if row.Why == "" {
				verdicts := f.lines(t, "verdict")
				if len(verdicts) != len(row.Groups) || verdicts[0]["trigger"] != "alarm" || verdicts[0]["request_id"] != "req-1" || len(ignored) != 0 {
					t.Errorf("verdicts %v, ignored %v", verdicts, ignored)
				}
			} else if len(ignored) != 1 || !strings.Contains(fmt.Sprint(ignored[0]["reason"]), row.Why) || f.runs != 0 {
				t.Errorf("%d runs, and the log says %v", f.runs, ignored)
			}
			if strings.Contains(f.out.String(), "sweep_completed") {
				t.Error("an alarm's look counts as a completed sweep")
			}
			if len(f.world.Done) != 0 {
				t.Errorf("calls %+v, although everything is well", f.world.Done)
			}
		})
	}
}

func TestAContributorsEventIsIgnored(t *testing.T) {
	raw := replaced(t, sample(t, "alarm-state-change-single-metric.json"), alarmevent.StateDetailType, alarmevent.ContributorDetailType)
	f := newFixture(moment())
	if have := f.handle(t, raw); len(have) != 0 || f.runs != 0 || len(f.lines(t, "event ignored")) != 1 {
		t.Errorf("looked at %q in %d runs, log\n%s", have, f.runs, f.out.String())
	}
}

func TestTheStateInTheEventIsNeverBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		event, read string
		holds       int
	}{
		"it says ALARM and the alarm is OK":           {"alarm-state-change-single-metric.json", guard.AlarmOK, 0},
		"it says ALARM and so does the alarm":         {"alarm-state-change-single-metric.json", guard.AlarmRed, 1},
		"it says OK and the alarm is red":             {"alarm-state-change-recovered.json", guard.AlarmRed, 1},
		"it says it has no data and the alarm is red": {"alarm-state-change-insufficient-data.json", guard.AlarmRed, 1},
		"it says ALARM, muted, and the alarm is red":  {"alarm-state-change-muted-and-tagged.json", guard.AlarmRed, 1},
		"the direct payload says ALARM, it is OK":     {"alarm-direct-lambda-action.json", guard.AlarmOK, 0},
		"the direct payload says ALARM, and it is":    {"alarm-direct-lambda-action.json", guard.AlarmRed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			raw := sample(t, c.event)
			f := newFixture(dated(t, raw))
			f.alarm("dep-orders-db-connections", c.read)
			f.handle(t, raw)
			if f.suspends() != c.holds || f.notices(guard.PageHeld) != c.holds {
				t.Errorf("%d suspensions, notices %q; want %d of each", f.suspends(), f.bus.keys, c.holds)
			}
		})
	}
}

func TestSuppressionOfActionsSuppressesNoHold(t *testing.T) {
	f := newFixture(moment())
	f.alarm("dep-any-orders", guard.AlarmRed)
	f.handle(t, sample(t, "alarm-state-change-composite-suppressed.json"))
	if f.suspends() != 1 {
		t.Errorf("%d suspensions, want the hold", f.suspends())
	}
}

func TestARepeatedEventChangesNothing(t *testing.T) {
	raw := sample(t, "alarm-state-change-single-metric.json")
	f := newFixture(moment())
	f.alarm("dep-orders-db-connections", guard.AlarmRed)
	for i := range 5 {
		if have := f.handle(t, raw); !slices.Equal(have, []string{orders}) {
			t.Fatalf("event %d: looked at %q", i, have)
		}
		f.world.Now = f.world.Now.Add(10 * time.Second)
	}
	if f.suspends() != 1 || f.notices(guard.PageHeld) != 1 || len(f.world.Marks()) != 0 {
		t.Errorf("%d suspensions, %d marks, notices %q", f.suspends(), len(f.world.Marks()), f.bus.keys)
	}
}

func TestRepeatedEventsDoNotHurryAMark(t *testing.T) {
	raw := sample(t, "alarm-state-change-recovered.json")
	f := newFixture(dated(t, raw).Add(-10 * time.Minute))
	f.handle(t, replaced(t, raw, "12:07:12Z", "11:57:12Z")) // the first look, while all are well
	f.world.Break(f.world.Find(orders), 0)
	f.world.Now = f.world.Now.Add(10 * time.Minute)
	for range 20 {
		f.handle(t, raw)
		f.world.Now = f.world.Now.Add(time.Second)
	}
	if marks := f.world.Marks(); len(marks) != 0 {
		t.Errorf("marks %+v within 20 s; a verdict is confirmed half a sweep later at the earliest", marks)
	}
	f.world.Now = f.world.Now.Add(time.Minute)
	f.handle(t, raw)
	if marks := f.world.Marks(); len(marks) != 1 {
		t.Errorf("marks %+v a minute later; an event's look acts like a sweep's, and this test would otherwise prove nothing", marks)
	}
}

func TestAnOldEventIsDroppedAndCountedAndIsNoError(t *testing.T) {
	for name, c := range map[string]struct {
		age  time.Duration
		runs int
	}{
		"at fifteen minutes it is looked at": {15 * time.Minute, 1}, "a second later it is dropped": {15*time.Minute + time.Second, 0},
		"a day later it is dropped": {24 * time.Hour, 0}, "from the future it is looked at": {-time.Minute, 1},
	} {
		for _, file := range []string{"alarm-state-change-single-metric.json", "alarm-direct-lambda-action.json"} {
			raw := sample(t, file)
			f := newFixture(dated(t, raw).Add(c.age))
			f.alarm("dep-orders-db-connections", guard.AlarmRed)
			have := f.handle(t, raw)
			if f.runs != c.runs || len(have) != c.runs || f.suspends() != c.runs {
				t.Errorf("%s: %s: %d runs, looked at %q, %d suspensions", name, file, f.runs, have, f.suspends())
			}
			dropped := strings.Contains(f.out.String(), `"events_dropped":1`) && len(f.lines(t, "event dropped")) == 1
			if dropped != (c.runs == 0) {
				t.Errorf("%s: %s: dropped %v", name, file, dropped)
			}
		}
	}
}

func TestTheTagOfAnAlarmNamesGroupsBesideThePolicies(t *testing.T) {
	const file, foreign = "alarm-state-change-muted-and-tagged.json", `"guardian:group": "orders-web-asg"`
	for name, c := range map[string]struct {
		tag     string
		want    []string
		trouble int
	}{
		"a tag of another key names nothing":       {foreign, []string{orders}, 0},
		"one name":                                 {`"holdfast:group": "batch-asg"`, []string{batch, orders}, 0},
		"names with spaces between":                {`"holdfast:group": " batch-asg  upstream-web-asg "`, []string{batch, orders, upstream}, 0},
		"a group that depends on it anyway":        {`"holdfast:group": "orders-web-asg"`, []string{orders}, 0},
		"a comma is part of a name":                {`"holdfast:group": "batch-asg,upstream-web-asg"`, []string{"batch-asg,upstream-web-asg!", orders}, 0},
		"an empty value":                           {`"holdfast:group": ""`, []string{orders}, 0},
		"a value that is no text is told":          {`"holdfast:group": 7`, []string{orders}, 1},
		"a group that is not guarded is told":      {`"holdfast:group": "gone"`, []string{"gone!", orders}, 0},
		"keys differ by case, as they do for tags": {`"Holdfast:Group": "batch-asg"`, []string{orders}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			raw := replaced(t, sample(t, file), foreign, c.tag)
			f := newFixture(dated(t, raw))
			if have := f.handle(t, raw); !slices.Equal(have, c.want) {
				t.Errorf("looked at %q, want %q", have, c.want)
			}
			if lines := f.lines(t, "alarm tags"); len(lines) != c.trouble {
				t.Errorf("the log says %v", lines)
			}
		})
	}
}

func TestTagsThatCloudWatchCouldNotReadAreToldAndHinderNothing(t *testing.T) {
	raw := replaced(t, sample(t, "alarm-state-change-muted-and-tagged.json"), `"SUCCESS"`, `"FAILED"`)
	raw = replaced(t, raw, "guardian:group", alarmevent.GroupTag)
	f := newFixture(dated(t, raw))
	if have := f.handle(t, raw); !slices.Equal(have, []string{orders}) {
		t.Errorf("looked at %q", have)
	}
	if lines := f.lines(t, "alarm tags"); len(lines) != 1 || !strings.Contains(fmt.Sprint(lines[0]["trouble"]), "FAILED") {
		t.Errorf("the log says %v", lines)
	}
}

func TestADirectPayloadsTagsAreFoundBesideTheDataAndInIt(t *testing.T) {
	direct := sample(t, "alarm-direct-lambda-action.json")
	tags := `"alarmTags": {"holdfast:group": "batch-asg"}, "alarmTagsStatus": "SUCCESS",`
	for name, raw := range map[string][]byte{
		"beside the data": replaced(t, direct, `"alarmData": {`, tags+`"alarmData": {`),
		"in the data":     replaced(t, direct, `"alarmData": {`, `"alarmData": {`+tags),
		"in both places":  replaced(t, direct, `"alarmData": {`, tags+`"alarmData": {`+tags),
	} {
		f := newFixture(dated(t, raw))
		if have := f.handle(t, raw); !slices.Equal(have, []string{batch, orders}) {
			t.Errorf("%s: looked at %q", name, have)
		}
	}
}

func TestAnAlarmThatNobodyDependsOnIsLoggedAndLeft(t *testing.T) {
	for _, name := range []string{"billing", "holdfast-no-sweep", "Holdfast-blind"} {
		raw := replaced(t, sample(t, "alarm-state-change-single-metric.json"), "dep-orders-db-connections", name)
		f := newFixture(moment())
		f.alarm(name, guard.AlarmRed)
		if have := f.handle(t, raw); len(have) != 0 || len(f.world.Done) != 0 {
			t.Errorf("%s: looked at %q, calls %+v", name, have, f.world.Done)
		}
		if lines := f.lines(t, "no group depends on the alarm"); len(lines) != 1 || lines[0]["alarm"] != name {
			t.Errorf("%s: the log says %v", name, lines)
		}
	}
}

func TestAnAlarmOfHoldfastItselfCountsLikeAnyOtherForAGroupThatDependsOnIt(t *testing.T) {
	raw := replaced(t, sample(t, "alarm-state-change-single-metric.json"), "dep-orders-db-connections", "holdfast-no-sweep")
	f := newFixture(moment())
	f.world.Find(batch).Policy = `{"dependencies":[{"alarm":"holdfast-no-sweep","kind":"soft"}]}`
	if have := f.handle(t, raw); !slices.Equal(have, []string{batch}) {
		t.Errorf("looked at %q", have)
	}
}

func TestWhatIsNoAlarmsEventIsRefusedByName(t *testing.T) {
	envelope := func(fields string) string {
		return `{"source":"aws.cloudwatch","detail-type":"CloudWatch Alarm State Change","time":"2026-11-30T11:41:12Z",` + fields + `}`
	}
	for raw, says := range map[string]string{
		string(sample(t, "scheduled-event-rule.json")):          `source "aws.events" with detail-type "Scheduled Event"`,
		string(sample(t, "asg-launch-successful.json")):         `source "aws.autoscaling"`,
		string(sample(t, "parameter-store-change-update.json")): `source "aws.ssm"`,
		`{"source":"aws.cloudwatch","detail-type":"Other"}`:     `detail-type "Other"`,
		`{"alarms":["db"]}`:                  `source ""`,
		``:                                   "JSON object",
		`null`:                               `source ""`,
		`[]`:                                 "JSON object",
		`"{}"`:                               "JSON object",
		envelope(`"detail":{}`):              "no name",
		envelope(`"detail":"{}"`):            "detail",
		envelope(`"other":1`):                "detail",
		envelope(`"detail":{"alarmName":7}`): "alarmName",
		`{"alarmData":{"alarmName":"db"}}`:   `time "" is neither`,
		`{"alarmData":{"alarmName":"db"},"time":"30 November"}`:                           `time "30 November" is neither`,
		`{"alarmData":{},"time":"2026-11-30T11:41:12.331+0000"}`:                          "no name",
		`{"alarmData":[],"time":"2026-11-30T11:41:12.331+0000"}`:                          "alarmData",
		`{"alarmData":{"alarmName":"db"},"time":1796040072}`:                              "time",
		strings.Replace(envelope(`"detail":{"alarmName":"db"}`), "2026-11-30T", "30T", 1): "time",
	} {
		f := newFixture(moment())
		sum, err := f.Handle(context.Background(), []byte(raw))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "decode event: ") {
			t.Errorf("%.80s: error %v, want it to say %s", raw, err, says)
		}
		if f.runs != 0 || sum.Looked != 0 {
			t.Errorf("%.80s: it was looked at", raw)
		}
	}
}

func TestARunThatCouldNotListTheGroupsFailsSoThatLambdaTriesAgain(t *testing.T) {
	f := newFixture(moment())
	f.hook = func(c runnertest.Call) runnertest.Effect {
		if c.Op == runnertest.OpGuarded {
			return runnertest.Effect{Before: errors.New("no answer")}
		}
		return runnertest.Effect{}
	}
	if _, err := f.Handle(context.Background(), sample(t, "alarm-state-change-single-metric.json")); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("have %v", err)
	}
	if lines := f.lines(t, "run"); len(lines) != 1 || lines[0]["level"] != "ERROR" {
		t.Errorf("the log says %v", lines)
	}
	if lines := f.lines(t, "no group depends on the alarm"); len(lines) != 0 {
		t.Error("groups that could not be listed were taken for groups that do not depend")
	}
}

func TestARunThatCannotBeMadeIsAnError(t *testing.T) {
	f := newFixture(moment())
	f.newRun = func(*slog.Logger) (*runner.Runner, *report.Reporter, error) { return nil, nil, fmt.Errorf("no table") }
	if _, err := f.Handle(context.Background(), sample(t, "alarm-state-change-single-metric.json")); err == nil || !strings.Contains(err.Error(), "make run: no table") {
		t.Errorf("have %v", err)
	}
}
