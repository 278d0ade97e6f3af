package awsact_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/holdfast-aws/holdfast/shared/awsact"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Actor = (*awsact.Actor)(nil)

// reply is one answer of the service; err breaks the connection after the request was sent.
type reply struct {
	status    int
	code, msg string
	err       error
}

// service answers the real client's requests from a script, its last reply for ever, and keeps the forms it got.
type service struct {
	mu     sync.Mutex
	script []reply
	forms  []url.Values
}

func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forms = append(s.forms, form)
	next := reply{status: http.StatusOK}
	if len(s.script) > 0 {
		next = s.script[min(len(s.forms), len(s.script))-1]
	}
	if next.err != nil {
		return nil, next.err
	}
	action := form.Get("Action")
	text := fmt.Sprintf("<%sResponse><%sResult/><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></%sResponse>", action, action, action)
	if next.code != "" {
		text = fmt.Sprintf("<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>", next.code, next.msg)
	}
	return &http.Response{
		StatusCode: next.status, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}, nil
}

func actorOver(s *service) *awsact.Actor {
	client := autoscaling.New(autoscaling.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://autoscaling.invalid"), HTTPClient: s,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
	return awsact.New(client, awsact.Options{
		Backoff: retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil }),
	})
}

func replacement() []string { return []string{guard.ProcessReplaceUnhealthy, guard.ProcessHealthCheck} }

func TestEachCallSaysExactlyWhatWasAskedFor(t *testing.T) {
	ctx := context.Background()
	health := func(status string) url.Values {
		return url.Values{"Action": {"SetInstanceHealth"}, "HealthStatus": {status}, "InstanceId": {"i-0a"}, "ShouldRespectGracePeriod": {"true"}}
	}
	processes := func(action string) url.Values {
		return url.Values{"Action": {action}, "AutoScalingGroupName": {"web"}, "ScalingProcesses.member.1": {"ReplaceUnhealthy"}, "ScalingProcesses.member.2": {"HealthCheck"}}
	}
	cases := map[string]struct {
		call func(*awsact.Actor) error
		want url.Values
	}{
		"a mark states the grace flag":       {func(a *awsact.Actor) error { return a.Mark(ctx, "i-0a") }, health("Unhealthy")},
		"a restore states the grace flag":    {func(a *awsact.Actor) error { return a.Restore(ctx, "i-0a") }, health("Healthy")},
		"suspend names two processes":        {func(a *awsact.Actor) error { return a.Suspend(ctx, "web", replacement()) }, processes("SuspendProcesses")},
		"resume names the same two and only": {func(a *awsact.Actor) error { return a.Resume(ctx, "web", replacement()) }, processes("ResumeProcesses")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &service{}
			if err := c.call(actorOver(s)); err != nil {
				t.Fatal(err)
			}
			c.want.Set("Version", "2011-01-01")
			if len(s.forms) != 1 || !reflect.DeepEqual(s.forms[0], c.want) {
				t.Errorf("requests %v\nwant %v", s.forms, c.want)
			}
		})
	}
}

func TestWhatWouldBeTooMuchIsRefusedWithoutACall(t *testing.T) {
	ctx := context.Background()
	lists := map[string][]string{
		"nil": nil, "empty": {}, "Launch": {"ReplaceUnhealthy", "Launch"}, "Terminate": {"Terminate"}, "unknown": {"ReplaceUnhealty"},
		"blank": {""}, "scheduled actions": {"ScheduledActions"},
	}
	for name, list := range lists {
		s := &service{}
		a := actorOver(s)
		for op, err := range map[string]error{"suspend": a.Suspend(ctx, "web", list), "resume": a.Resume(ctx, "web", list)} {
			if !errors.Is(err, fault.Refused) {
				t.Errorf("%s %s: %v, want refused", op, name, err)
			}
		}
		if len(s.forms) != 0 {
			t.Errorf("%s: %d calls were made", name, len(s.forms))
		}
	}
	s := &service{}
	a := actorOver(s)
	for what, err := range map[string]error{
		"mark of nobody": a.Mark(ctx, ""), "mark of a group": a.Mark(ctx, "web"), "restore of nobody": a.Restore(ctx, ""), "suspend of no group": a.Suspend(ctx, "", replacement()),
	} {
		if !errors.Is(err, fault.Refused) {
			t.Errorf("%s: %v, want refused", what, err)
		}
	}
	if len(s.forms) != 0 {
		t.Errorf("%d calls were made", len(s.forms))
	}
}

func tooYoung() reply {
	return reply{status: 400, code: "ValidationError", msg: "The age of the instance (986 seconds) is less than the configured grace period of 1500 seconds"}
}

func gone() reply {
	return reply{status: 400, code: "ValidationError", msg: "Instance Id not found - No managed instance found for instance ID: i-0a"}
}

func throttled() reply { return reply{status: 400, code: "Throttling", msg: "Rate exceeded"} }

func contended() reply {
	return reply{status: 500, code: "ResourceContention", msg: "pending update to an Auto Scaling resource"}
}

func broken() reply { return reply{err: io.ErrUnexpectedEOF} }

func overloaded() reply { return reply{status: 503, code: "ServiceUnavailable", msg: "try later"} }

func TestAMarkIsRepeatedOnlyWhenItDidNothing(t *testing.T) {
	cases := map[string]struct {
		script []reply
		kind   error
		calls  int
	}{
		"in grace it is refused for youth, once":       {[]reply{tooYoung()}, fault.TooYoung, 1},
		"a gone member is gone, once":                  {[]reply{gone()}, fault.Gone, 1},
		"a contended group is unknown, once":           {[]reply{contended()}, fault.Unknown, 1},
		"a server error is unknown, once":              {[]reply{overloaded()}, fault.Unknown, 1},
		"a broken connection is unknown, once":         {[]reply{broken()}, fault.Unknown, 1},
		"a throttle is tried again":                    {[]reply{throttled(), {status: 200}}, nil, 2},
		"throttles end after four attempts":            {[]reply{throttled()}, fault.Throttled, awsact.MarkAttemptsMax},
		"what follows a throttle is not tried again":   {[]reply{throttled(), contended()}, fault.Unknown, 2},
		"no permission is refused, once":               {[]reply{{status: 403, code: "AccessDenied", msg: "not authorized"}}, fault.Refused, 1},
		"a success is a success":                       {nil, nil, 1},
		"a throttle then a refusal for youth is young": {[]reply{throttled(), tooYoung()}, fault.TooYoung, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &service{script: c.script}
			err := actorOver(s).Mark(context.Background(), "i-0a")
			if !errors.Is(err, c.kind) || (c.kind == nil) != (err == nil) {
				t.Errorf("have %v, want %v", err, c.kind)
			}
			if len(s.forms) != c.calls {
				t.Errorf("%d calls, want %d", len(s.forms), c.calls)
			}
		})
	}
}

func TestAHoldIsTriedAgain(t *testing.T) {
	ctx := context.Background()
	for name, first := range map[string]reply{"contended": contended(), "a server error": overloaded(), "a broken connection": broken(), "throttled": throttled()} {
		s := &service{script: []reply{first, first, {status: 200}}}
		a := actorOver(s)
		if err := a.Suspend(ctx, "web", replacement()); err != nil || len(s.forms) != 3 {
			t.Errorf("%s: %v after %d calls, want success at the third", name, err, len(s.forms))
		}
	}
	s := &service{script: []reply{{status: 400, code: "ResourceInUse", msg: "cannot be completed at this time"}}}
	if err := actorOver(s).Suspend(ctx, "web", replacement()); !errors.Is(err, fault.Refused) || len(s.forms) != 1 {
		t.Errorf("in use: %v after %d calls, want refused at once", err, len(s.forms))
	}
}

func TestMarksAndRestoresCannotUseUpTheHoldsRetries(t *testing.T) {
	ctx := context.Background()
	s := &service{script: []reply{throttled()}}
	a := actorOver(s)
	for range 200 {
		if err := a.Mark(ctx, "i-0a"); !errors.Is(err, fault.Throttled) {
			t.Fatalf("mark: %v", err)
		}
		if err := a.Restore(ctx, "i-0a"); !errors.Is(err, fault.Throttled) {
			t.Fatalf("restore: %v", err)
		}
	}
	before := len(s.forms)
	if err := a.Mark(ctx, "i-0a"); err == nil || len(s.forms) != before+1 {
		t.Fatalf("the marks' quota is not empty: %d calls", len(s.forms)-before)
	}
	start := len(s.forms)
	s.script = make([]reply, start+2)
	for i := range s.script {
		s.script[i] = throttled()
	}
	s.script = append(s.script, reply{status: 200})
	if err := a.Suspend(ctx, "web", replacement()); err != nil {
		t.Errorf("the hold: %v after %d calls", err, len(s.forms)-start)
	}
}

func TestACallPastItsDeadlineIsUnknown(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := actorOver(&service{script: []reply{broken()}})
	for what, err := range map[string]error{"mark": a.Mark(ctx, "i-0a"), "suspend": a.Suspend(ctx, "web", replacement())} {
		if !errors.Is(err, fault.Unknown) {
			t.Errorf("%s: %v, want unknown", what, err)
		}
	}
}
