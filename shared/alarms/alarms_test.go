package alarms_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/alarms"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Alarms = (*alarms.Reader)(nil)

// alarm is one alarm of the fake, of type metric, composite or log.
type alarm struct {
	kind, name, state, reason, evaluation string
	moved, stored                         time.Time
}

// watch is a CloudWatch with alarms; it pages, and fails on call N.
type watch struct {
	alarms []alarm
	page   int // alarms a page, 0 is all
	empty  bool
	loop   bool
	fail   func(call int) error
	calls  int
	asked  []int
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (w *watch) DescribeAlarms(_ context.Context, in *cw.DescribeAlarmsInput, _ ...func(*cw.Options)) (*cw.DescribeAlarmsOutput, error) {
	w.calls++
	w.asked = append(w.asked, len(in.AlarmNames))
	if w.fail != nil {
		if err := w.fail(w.calls); err != nil {
			return nil, err
		}
	}
	if len(in.AlarmNames) == 0 || len(in.AlarmNames) > 100 || aws.ToInt32(in.MaxRecords) > 100 {
		return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "names"}
	}
	var found []alarm
	for _, a := range w.alarms {
		typed := slices.Contains(in.AlarmTypes, map[string]types.AlarmType{
			"metric": types.AlarmTypeMetricAlarm, "composite": types.AlarmTypeCompositeAlarm, "log": types.AlarmTypeLogAlarm,
		}[a.kind]) || len(in.AlarmTypes) == 0 && a.kind == "metric"
		if typed && slices.Contains(in.AlarmNames, a.name) {
			found = append(found, a)
		}
	}
	out := &cw.DescribeAlarmsOutput{}
	i, _ := strconv.Atoi(aws.ToString(in.NextToken))
	if w.empty {
		if i == 0 {
			out.NextToken = aws.String("1")
			return out, nil
		}
		i--
	}
	size := w.page
	if size == 0 {
		size = max(len(found), 1)
	}
	from := min(i*size, len(found))
	to := min(from+size, len(found))
	if to < len(found) {
		next := i + 1
		if w.empty {
			next++
		}
		out.NextToken = aws.String(strconv.Itoa(next))
	}
	if w.loop {
		out.NextToken = aws.String("0")
	}
	for _, a := range found[from:to] {
		w.add(out, a)
	}
	return out, nil
}

func (w *watch) add(out *cw.DescribeAlarmsOutput, a alarm) {
	moved, stored := timeOrNil(a.moved), timeOrNil(a.stored)
	switch a.kind {
	case "metric":
		out.MetricAlarms = append(out.MetricAlarms, types.MetricAlarm{
			AlarmName: aws.String(a.name), StateValue: types.StateValue(a.state), StateReason: aws.String(a.reason),
			EvaluationState: types.EvaluationState(a.evaluation), StateTransitionedTimestamp: moved, StateUpdatedTimestamp: stored,
		})
	case "composite":
		out.CompositeAlarms = append(out.CompositeAlarms, types.CompositeAlarm{
			AlarmName: aws.String(a.name), StateValue: types.StateValue(a.state), StateReason: aws.String(a.reason),
			StateTransitionedTimestamp: moved, StateUpdatedTimestamp: stored,
		})
	case "log":
		out.LogAlarms = append(out.LogAlarms, types.LogAlarm{
			AlarmName: aws.String(a.name), StateValue: types.StateValue(a.state), StateReason: aws.String(a.reason),
			EvaluationState: types.EvaluationState(a.evaluation), StateTransitionedTimestamp: moved, StateUpdatedTimestamp: stored,
		})
	}
}

func throttle() error { return &smithy.GenericAPIError{Code: "Throttling", Message: "Rate exceeded"} }

func failOn(calls ...int) func(int) error {
	return func(call int) error {
		if slices.Contains(calls, call) {
			return throttle()
		}
		return nil
	}
}

func at(minute int) time.Time { return time.Date(2026, 11, 30, 12, minute, 0, 0, time.UTC) }

func check(t *testing.T, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("got %s\nwant %s", g, w)
	}
}

func TestAnAlarmIsReadAsItStands(t *testing.T) {
	cases := []struct {
		name string
		have alarm
		want guard.AlarmReading
	}{
		{"a metric alarm that is red", alarm{kind: "metric", state: "ALARM", moved: at(1), stored: at(5)}, guard.AlarmReading{State: guard.AlarmRed, Since: at(1)}},
		{"a composite alarm that is red", alarm{kind: "composite", state: "ALARM", moved: at(1), stored: at(5)}, guard.AlarmReading{State: guard.AlarmRed, Since: at(1)}},
		{"a log alarm that is OK", alarm{kind: "log", state: "OK", moved: at(1), stored: at(5)}, guard.AlarmReading{State: guard.AlarmOK, Since: at(1)}},
		{"an alarm without a transition", alarm{kind: "metric", state: "OK", stored: at(5)}, guard.AlarmReading{State: guard.AlarmOK, Since: at(5)}},
		{"an alarm without any time", alarm{kind: "metric", state: "OK"}, guard.AlarmReading{State: guard.AlarmOK}},
		{"an alarm without data", alarm{kind: "metric", state: "INSUFFICIENT_DATA", moved: at(2)}, guard.AlarmReading{State: guard.AlarmNoData, Since: at(2)}},
		{"a metric alarm whose evaluation failed", alarm{kind: "metric", state: "OK", evaluation: "EVALUATION_FAILURE", reason: "try again", moved: at(2)},
			guard.AlarmReading{State: guard.AlarmNoData, Since: at(2), Detail: "state OK with evaluation state EVALUATION_FAILURE: try again"}},
		{"a log alarm on partial data", alarm{kind: "log", state: "ALARM", evaluation: "PARTIAL_DATA", moved: at(2)},
			guard.AlarmReading{State: guard.AlarmNoData, Since: at(2), Detail: "state ALARM with evaluation state PARTIAL_DATA"}},
		{"an evaluation state that is new to us", alarm{kind: "metric", state: "OK", evaluation: "EVALUATION_PAUSED", moved: at(2)},
			guard.AlarmReading{State: guard.AlarmNoData, Since: at(2), Detail: "state OK with evaluation state EVALUATION_PAUSED"}},
		{"a state that is new to us", alarm{kind: "metric", state: "AMBER", moved: at(2)}, guard.AlarmReading{State: guard.AlarmUnread, Detail: `describe alarms: state "AMBER" is not known`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.have.name = "db"
			w := &watch{alarms: []alarm{{kind: "metric", name: "other", state: "ALARM"}, c.have}}
			check(t, alarms.New(w).Alarms(t.Context(), []string{"db"}), map[string]guard.AlarmReading{"db": c.want})
		})
	}
}

// many makes alarms a-000 and so on, every third of them composite.
func many(n int) (all []alarm, names []string) {
	for i := range n {
		kind := "metric"
		if i%3 == 0 {
			kind = "composite"
		}
		name := fmt.Sprintf("a-%03d", i)
		all = append(all, alarm{kind: kind, name: name, state: "OK", moved: at(1)})
		names = append(names, name)
	}
	return all, names
}

func TestMoreThanAHundredNamesAreAskedForInSeveralCalls(t *testing.T) {
	all, names := many(250)
	w := &watch{alarms: slices.Delete(slices.Clone(all), 120, 121)}
	found := alarms.New(w).Alarms(t.Context(), append(names, "a-000", "", strings.Repeat("x", 256)))
	check(t, w.asked, []int{100, 100, 50})
	check(t, len(found), 252)
	for name, r := range found {
		want := guard.AlarmOK
		if name == "a-120" || name == "" || len(name) == 256 {
			want = guard.AlarmMissing
		}
		if r.State != want {
			t.Errorf("%q is %s, want %s", name, r.State, want)
		}
	}
}

func TestNoNamesMakeNoCall(t *testing.T) {
	w := &watch{}
	check(t, len(alarms.New(w).Alarms(t.Context(), nil)), 0)
	check(t, w.calls, 0)
}

func TestEveryPageIsFollowed(t *testing.T) {
	for _, empty := range []bool{false, true} {
		for _, page := range []int{1, 7, 0} {
			all, names := many(20)
			found := alarms.New(&watch{alarms: all, page: page, empty: empty}).Alarms(t.Context(), names)
			for _, name := range names {
				if found[name].State != guard.AlarmOK {
					t.Errorf("pages of %d, an empty one first: %t: %s is %s", page, empty, name, found[name].State)
				}
			}
		}
	}
}

func TestAFailedCallLeavesItsUnansweredNamesUnread(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(*watch)
		// from and to bound the names that are UNREAD.
		from, to int
		detail   string
	}{
		{"the first of three calls is throttled", func(w *watch) { w.fail = failOn(1) }, 0, 100, "describe alarms: throttled"},
		{"the last of three calls is throttled", func(w *watch) { w.fail = failOn(3) }, 200, 250, "describe alarms: throttled"},
		{"the second page of the first call is throttled", func(w *watch) { w.page, w.fail = 60, failOn(2) }, 60, 100, "describe alarms: throttled"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			all, names := many(250)
			w := &watch{alarms: all}
			c.spoil(w)
			found := alarms.New(w).Alarms(t.Context(), names)
			for i, name := range names {
				want := guard.AlarmOK
				if i >= c.from && i < c.to {
					want = guard.AlarmUnread
				}
				if r := found[name]; r.State != want || want == guard.AlarmUnread && !strings.Contains(r.Detail, c.detail) {
					t.Fatalf("%s is %+v, want %s", name, r, want)
				}
			}
		})
	}
}

func TestATokenThatComesBackLeavesNamesUnreadAndNotMissing(t *testing.T) {
	all, _ := many(1)
	found := alarms.New(&watch{alarms: all, loop: true}).Alarms(t.Context(), []string{"a-000", "absent"})
	check(t, found["a-000"].State, guard.AlarmOK)
	if r := found["absent"]; r.State != guard.AlarmUnread || !strings.Contains(r.Detail, "partial") {
		t.Errorf("a name that no page had is %+v, want UNREAD", r)
	}
}
