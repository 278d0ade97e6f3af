package bus_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/holdfast-aws/holdfast/localstack/world/bus"
)

func TestAnEventReachesEveryTargetOfItsRulesInTheEnvelopeOfAWS(t *testing.T) {
	r := newRig(t)
	r.rule(t, onPattern("pages", `{"source":["holdfast"],"detail":{"severity":["urgent"]}}`),
		target("notify", functionARN("notify")+":live"), target("copy", r.queues.ARN("work")))
	r.rule(t, onPattern("others", `{"source":["elsewhere"]}`), target("notify", functionARN("other")))
	e := entry(`{"severity":"urgent","group":"web"}`)
	e.Resources = []string{"arn:x"}
	out := r.putEvents(t, e, entry(`{"severity":"notice"}`))
	if out.FailedEntryCount != 0 || len(r.functions.calls) != 0 || r.bus.Pending() != 2 {
		t.Fatalf("after publishing: %+v, %d calls, %d pending", out, len(r.functions.calls), r.bus.Pending())
	}
	if n := r.deliver(); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
	if len(r.functions.calls) != 1 || r.functions.calls[0].function != "notify" {
		t.Fatalf("calls are %v", r.functions.calls)
	}
	want := `{"version":"0","id":"` + *out.Entries[0].EventId + `","detail-type":"Holdfast Page","source":"holdfast",` +
		`"account":"111122223333","time":"2026-11-30T12:00:00Z","region":"us-east-1","resources":["arn:x"],` +
		`"detail":{"severity":"urgent","group":"web"}}`
	if got := r.functions.calls[0].payload; got != want {
		t.Errorf("payload is\n%s, want\n%s", got, want)
	}
	if got := r.queues.Bodies("work"); len(got) != 1 || got[0] != want {
		t.Errorf("queue holds %v", got)
	}
}

func TestWrongEntriesFailAloneAndAreCounted(t *testing.T) {
	r := newRig(t)
	other := entry(`{}`)
	other.EventBusName = aws.String("elsewhere")
	own := entry(`{}`)
	own.Source = aws.String("aws.autoscaling")
	blank := entry(`{}`)
	blank.DetailType = nil
	out := r.putEvents(t, entry(`{"ok":1}`), entry(`[1]`), entry(`{`), own, other, blank)
	want := []string{"", "MalformedDetail", "MalformedDetail", "NotAuthorizedForSourceException", "ResourceNotFoundException", "InvalidArgument"}
	for i, e := range out.Entries {
		if aws.ToString(e.ErrorCode) != want[i] || (e.EventId != nil) != (want[i] == "") {
			t.Errorf("entry %d: code %q, ID %q, want %q", i, aws.ToString(e.ErrorCode), aws.ToString(e.EventId), want[i])
		}
	}
	if out.FailedEntryCount != 5 {
		t.Errorf("failed entries: %d, want 5", out.FailedEntryCount)
	}
	many := make([]types.PutEventsRequestEntry, 11)
	for i := range many {
		many[i] = entry(`{}`)
	}
	half := entry(`{"x":"` + strings.Repeat("y", 1<<19) + `"}`)
	for name, entries := range map[string][]types.PutEventsRequestEntry{"eleven entries": many, "more than 1 MB": {half, half}} {
		_, err := r.client.PutEvents(context.Background(), &eventbridge.PutEventsInput{Entries: entries})
		if code(err) != "ValidationException" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARateFiresOncePerPeriodOfTheGivenClock(t *testing.T) {
	r := newRig(t)
	r.rule(t, onSchedule("sweep", "rate(1 minute)"), target("f", functionARN("sweep")))
	r.rule(t, onSchedule("audit", "rate(2 hours)"), target("f", functionARN("audit")))
	steps := []struct {
		name  string
		after time.Duration
		fired int
	}{
		{"at once", 0, 0},
		{"just before the minute", 59 * time.Second, 0},
		{"at the minute", time.Second, 1},
		{"again at the same time", 0, 0},
		{"three minutes at once", 3 * time.Minute, 3},
		{"the clock goes back", -2 * time.Minute, 0},
		{"and comes forward", 2 * time.Minute, 0},
		{"up to two hours", 116 * time.Minute, 117},
	}
	for _, s := range steps {
		r.at = r.at.Add(s.after)
		if n, err := r.bus.Tick(r.at); err != nil || n != s.fired {
			t.Errorf("%s: fired %d, %v, want %d", s.name, n, err, s.fired)
		}
	}
	r.deliver()
	first := decode(t, r.functions.calls[0].payload)
	if first.Time != "2026-11-30T12:01:00Z" || first.Source != "aws.events" || first.DetailType != "Scheduled Event" ||
		string(first.Detail) != "{}" || first.Resources[0] != "arn:aws:events:us-east-1:111122223333:rule/sweep" {
		t.Errorf("first event is %+v", first)
	}
}

func TestADisabledRuleIsSilentAndStartsAfreshWhenEnabled(t *testing.T) {
	r := newRig(t)
	ctx, name := context.Background(), aws.String("sweep")
	r.rule(t, onSchedule("sweep", "rate(5 minutes)"), target("f", functionARN("sweep")))
	tick := func(after time.Duration, want int) {
		t.Helper()
		r.at = r.at.Add(after)
		if n, err := r.bus.Tick(r.at); err != nil || n != want {
			t.Errorf("at %s: fired %d, %v, want %d", r.at.Format(time.TimeOnly), n, err, want)
		}
	}
	if _, err := r.client.DisableRule(ctx, &eventbridge.DisableRuleInput{Name: name}); err != nil {
		t.Fatalf("disable rule: %v", err)
	}
	tick(time.Hour, 0)
	if _, err := r.client.EnableRule(ctx, &eventbridge.EnableRuleInput{Name: name}); err != nil {
		t.Fatalf("enable rule: %v", err)
	}
	tick(4*time.Minute, 0)
	// The same rule once more, as a deployment does: its rate keeps its beat and its targets stay.
	r.rule(t, onSchedule("sweep", "rate(5 minutes)"))
	tick(time.Minute, 1)
	if n := r.deliver(); n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
}

func TestAFailingTargetIsRetriedLaterAndThenDeadLettered(t *testing.T) {
	r := newRig(t)
	lambda := target("f", functionARN("notify"))
	lambda.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(2), MaximumEventAgeInSeconds: aws.Int32(60)}
	lambda.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(r.queues.ARN("dead"))}
	r.rule(t, onPattern("pages", `{"source":["holdfast"]}`), lambda)

	r.functions.fail = 1
	r.putEvents(t, entry(`{"n":1}`))
	if n := r.deliver(); n != 1 || r.bus.Pending() != 1 {
		t.Errorf("%d attempts and %d pending, want 1 and 1", n, r.bus.Pending())
	}
	r.at = r.at.Add(time.Second)
	if n := r.deliver(); n != 1 || r.bus.Pending() != 0 || len(r.queues.Bodies("dead")) != 0 {
		t.Errorf("%d attempts and %d pending, want a success", n, r.bus.Pending())
	}

	r.functions.fail = 99
	r.putEvents(t, entry(`{"n":2}`))
	attempts := 0
	for range 20 {
		attempts += r.deliver()
		r.at = r.at.Add(time.Second)
	}
	dropped := r.bus.Dropped()
	if attempts != 3 || len(dropped) != 1 || !dropped[0].DeadLetter || dropped[0].Attempts != 3 {
		t.Fatalf("%d attempts, dropped %+v, want 3 and one dead letter", attempts, dropped)
	}
	if got := decode(t, r.queues.Bodies("dead")[0]); string(got.Detail) != `{"n":2}` {
		t.Errorf("dead letter is %+v", got)
	}
}

func TestAnEventThatGrewTooOldIsGivenUp(t *testing.T) {
	r := newRig(t)
	lambda := target("f", functionARN("notify"))
	lambda.RetryPolicy = &types.RetryPolicy{MaximumEventAgeInSeconds: aws.Int32(60)}
	lambda.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(r.queues.ARN("dead"))}
	r.rule(t, onPattern("pages", `{"source":["holdfast"]}`), lambda)
	r.functions.fail = 99
	r.putEvents(t, entry(`{}`))
	for range 59 {
		r.deliver()
		r.at = r.at.Add(time.Second)
	}
	if r.bus.Pending() != 1 || len(r.bus.Dropped()) != 0 {
		t.Errorf("after 59 s: %d pending and dropped %v, want it still to be tried", r.bus.Pending(), r.bus.Dropped())
	}
	for range 10 {
		r.at = r.at.Add(time.Second)
		r.deliver()
	}
	// Tries at 0, 1, 3, 7, 15 and 31 s, and the last at 63 s.
	if d := r.bus.Dropped(); r.bus.Pending() != 0 || len(d) != 1 || d[0].Attempts != 7 || !d[0].DeadLetter {
		t.Errorf("after 69 s: %d pending and dropped %+v", r.bus.Pending(), d)
	}
}

func TestAMissingTargetIsNotRetried(t *testing.T) {
	r := newRig(t)
	lambda := target("f", functionARN("missing"))
	lambda.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(r.queues.ARN("dead"))}
	r.rule(t, onPattern("pages", `{"source":["holdfast"]}`), lambda, target("q", r.queues.ARN("nowhere")))
	r.putEvents(t, entry(`{}`))
	if n := r.deliver(); n != 2 || r.bus.Pending() != 0 {
		t.Errorf("%d attempts and %d pending, want 2 and none", n, r.bus.Pending())
	}
	if d := r.bus.Dropped(); len(d) != 2 || !errors.Is(d[0].Cause, bus.ErrNoTarget) || !d[0].DeadLetter || d[1].DeadLetter {
		t.Errorf("dropped %+v", d)
	}
}

func TestDuplicatesDelaysAndLossesAreInjected(t *testing.T) {
	r := newRig(t)
	r.rule(t, onPattern("pages", `{"source":["holdfast"]}`), target("f", functionARN("notify")))
	r.bus.SetHooks(bus.Hooks{
		Duplicates: func(_ bus.Event, id string) int { return map[string]int{"f": 2}[id] },
		Delay:      func(bus.Event, string) time.Duration { return time.Minute },
		Lose:       func(e bus.Event) bool { return strings.Contains(string(e.Detail), "lost") },
	})
	r.putEvents(t, entry(`{"n":1}`), entry(`{"lost":1}`))
	if n := r.deliver(); n != 0 {
		t.Errorf("%d attempts before the delay", n)
	}
	r.at = r.at.Add(time.Minute)
	if n := r.deliver(); n != 3 {
		t.Errorf("%d attempts, want one event three times", n)
	}
	if c := r.functions.calls; c[0] != c[1] || c[1] != c[2] {
		t.Errorf("the copies differ: %v", c)
	}
}

func TestSubscribersGetServiceEventsAndWhatTheyPublishMeanwhile(t *testing.T) {
	r := newRig(t)
	var got []string
	cancel, err := r.bus.Subscribe(`{"source":[{"prefix":"aws."}]}`, func(_ context.Context, e bus.Event) error {
		got = append(got, e.Source)
		if e.Source == "aws.ssm" {
			_, err := r.bus.Publish(bus.Entry{Source: "aws.autoscaling", DetailType: "x", Detail: map[string]string{}})
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	publish := func() {
		if _, err := r.bus.Publish(bus.Entry{Source: "aws.ssm", DetailType: "Parameter Store Change", Detail: struct{ A int }{1}}); err != nil {
			t.Fatalf("publish: %v", err)
		}
	}
	publish()
	if n := r.deliver(); n != 2 || strings.Join(got, " ") != "aws.ssm aws.autoscaling" {
		t.Errorf("%d attempts, got %v", n, got)
	}
	cancel()
	publish()
	if n := r.deliver(); n != 0 {
		t.Errorf("%d attempts after cancel", n)
	}
	if _, err := r.bus.Publish(bus.Entry{Source: "aws.ssm", DetailType: "x", Detail: []int{1}}); err == nil {
		t.Error("a detail that is no object was accepted")
	}
}

func TestTargetsMayGetAPartOfTheEventOrAConstant(t *testing.T) {
	r := newRig(t)
	part, constant := target("part", functionARN("part")), target("constant", functionARN("constant"))
	part.InputPath, constant.Input = aws.String("$.detail.who"), aws.String(`{"shard":3}`)
	r.rule(t, onPattern("pages", `{"source":["holdfast"]}`), part, constant)
	r.putEvents(t, entry(`{"who":{"id":"i-1"}}`))
	r.deliver()
	want := []call{{"part", `{"id":"i-1"}`}, {"constant", `{"shard":3}`}}
	if len(r.functions.calls) != 2 || r.functions.calls[0] != want[0] || r.functions.calls[1] != want[1] {
		t.Errorf("calls are %v, want %v", r.functions.calls, want)
	}
}

func TestRunDeliversAsEventsCome(t *testing.T) {
	r := newRig(t)
	var n atomic.Int32
	done := make(chan struct{})
	if _, err := r.bus.Subscribe(`{"source":["holdfast"]}`, func(context.Context, bus.Event) error {
		if n.Add(1) == 10 {
			close(done)
		}
		return nil
	}); err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		r.bus.Run(ctx)
		close(stopped)
	}()
	for range 10 {
		r.putEvents(t, entry(`{}`))
	}
	<-done
	cancel()
	<-stopped
	if r.bus.Pending() != 0 || n.Load() != 10 {
		t.Errorf("%d delivered and %d pending", n.Load(), r.bus.Pending())
	}
}

func TestWrongRulesAndTargetsAreRefused(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	r.rule(t, onPattern("good", `{"source":["a"]}`), target("f", functionARN("f")))
	put := func(in *eventbridge.PutRuleInput) error {
		_, err := r.client.PutRule(ctx, in)
		return err
	}
	targets := func(rule string, list ...types.Target) error {
		_, err := r.client.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &rule, Targets: list})
		return err
	}
	six := []types.Target{}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		six = append(six, target(id, functionARN("f")))
	}
	age := target("f", functionARN("f"))
	age.RetryPolicy = &types.RetryPolicy{MaximumEventAgeInSeconds: aws.Int32(30)}
	noJSON := target("f", functionARN("f"))
	noJSON.Input = aws.String("{")
	otherBus := onPattern("x", `{"source":["a"]}`)
	otherBus.EventBusName = aws.String("elsewhere")
	cases := []struct {
		name string
		err  error
		code string
	}{
		{"an invalid pattern", put(onPattern("x", `{"source":"a"}`)), "InvalidEventPatternException"},
		{"neither pattern nor schedule", put(&eventbridge.PutRuleInput{Name: aws.String("x")}), "ValidationException"},
		{"a name with a space", put(onPattern("a b", `{"source":["a"]}`)), "ValidationException"},
		{"another bus", put(otherBus), "ResourceNotFoundException"},
		{"one minutes", put(onSchedule("x", "rate(1 minutes)")), "ValidationException"},
		{"two minute", put(onSchedule("x", "rate(2 minute)")), "ValidationException"},
		{"zero minutes", put(onSchedule("x", "rate(0 minutes)")), "ValidationException"},
		{"seconds", put(onSchedule("x", "rate(30 seconds)")), "ValidationException"},
		{"cron", put(onSchedule("x", "cron(0 12 * * ? *)")), "ValidationException"},
		{"targets of no rule", targets("nowhere", target("f", functionARN("f"))), "ResourceNotFoundException"},
		{"six targets", targets("good", six...), "LimitExceededException"},
		{"a target of an unknown kind", targets("good", target("s", "arn:aws:sns:us-east-1:111122223333:topic")), "ValidationException"},
		{"an event age of 30 seconds", targets("good", age), "ValidationException"},
		{"an input that is no JSON", targets("good", noJSON), "ValidationException"},
		{"deleting a rule with targets", func() error {
			_, err := r.client.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: aws.String("good")})
			return err
		}(), "ValidationException"},
	}
	for _, tc := range cases {
		if code(tc.err) != tc.code {
			t.Errorf("%s: got %v, want %s", tc.name, tc.err, tc.code)
		}
	}
	list, err := r.client.ListRules(ctx, &eventbridge.ListRulesInput{})
	if err != nil || len(list.Rules) != 1 {
		t.Errorf("rules are %v, %v, want the good one", list, err)
	}
}

func TestRulesAndTargetsCanBeReadAndTakenAway(t *testing.T) {
	r := newRig(t)
	ctx, name := context.Background(), aws.String("good")
	r.rule(t, onPattern("good", `{"source":["a"]}`), target("f", functionARN("f")), target("q", r.queues.ARN("work")))
	rule, err := r.client.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: name})
	if err != nil || aws.ToString(rule.EventPattern) != `{"source":["a"]}` || rule.State != types.RuleStateEnabled || rule.ScheduleExpression != nil {
		t.Errorf("describe rule: %+v, %v", rule, err)
	}
	gone, err := r.client.RemoveTargets(ctx, &eventbridge.RemoveTargetsInput{Rule: name, Ids: []string{"f", "x"}})
	if err != nil || gone.FailedEntryCount != 1 || aws.ToString(gone.FailedEntries[0].TargetId) != "x" {
		t.Errorf("remove targets: %+v, %v", gone, err)
	}
	left, err := r.client.ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{Rule: name})
	if err != nil || len(left.Targets) != 1 || aws.ToString(left.Targets[0].Id) != "q" {
		t.Errorf("list targets: %+v, %v", left, err)
	}
	if _, err := r.client.RemoveTargets(ctx, &eventbridge.RemoveTargetsInput{Rule: name, Ids: []string{"q"}}); err != nil {
		t.Fatalf("remove targets: %v", err)
	}
	if _, err := r.client.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: name}); err != nil {
		t.Fatalf("delete rule: %v", err)
	}
	if _, err := r.client.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: name}); code(err) != "ResourceNotFoundException" {
		t.Errorf("describe a deleted rule: %v", err)
	}
	match, err := r.client.TestEventPattern(ctx, &eventbridge.TestEventPatternInput{EventPattern: aws.String(`{"source":["a"]}`), Event: aws.String(`{"source":"a"}`)})
	if err != nil || !match.Result {
		t.Errorf("test event pattern: %+v, %v", match, err)
	}
}
