package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/holdfast-aws/holdfast/functions/internal/sampletest"
	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// due is the time of the sample events.
func due() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// beginning is how long the Region has run by then.
const beginning = 5 * time.Minute

// fixture is the assembled handler against a simulated Region, over HTTP.
type fixture struct {
	*handler
	region *world.Region
	out    bytes.Buffer
}

// newFixture has a Region with one guarded group that believes the load balancer, and no grace.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	region, err := world.NewRegion(sim.Config{Start: due().Add(-beginning), Seed: 1})
	must(t, err)
	t.Cleanup(region.Close)
	region.Do(func(c *sim.Cloud) {
		_, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: "web", HTTPPath: "/health/db"})
		must(t, err)
		must(t, c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: 4, Min: 2, Max: 8, HealthCheckTypes: []string{"ELB"}, TargetGroups: []string{"web"}, SteadyFor: time.Hour,
			Tags: map[string]string{"holdfast:guard": "true"},
		}))
	})
	must(t, region.PutParameter(guard.ModeParameter, guard.ModeAct))
	must(t, region.Advance(t.Context(), beginning)) // every member has reported by now
	server := httptest.NewServer(region)
	t.Cleanup(server.Close)
	f := &fixture{region: region}
	sdk := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}
	f.handler, err = assemble(config.Config{StateTable: world.StateTable, HeartbeatTable: world.HeartbeatTable, EventBus: "default"}, sdk, region.Clock.Now)
	must(t, err)
	f.log, f.metrics = telemetry.NewLogger(&f.out, function), telemetry.NewEmitter(&f.out, region.Clock.Now)
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) handle(t *testing.T, raw string) (daily.Outcome, error) {
	t.Helper()
	f.out.Reset()
	return f.Handle(lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"}), []byte(raw))
}

func (f *fixture) said(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(f.out.String(), text) {
			t.Errorf("%s is not in\n%s", text, f.out.String())
		}
	}
}

// events counts what is on the bus, by detail type.
func (f *fixture) events(t *testing.T) (digests, findings int) {
	t.Helper()
	must(t, f.region.Advance(t.Context(), time.Minute))
	for _, e := range f.region.Notices() {
		switch e.DetailType {
		case report.DetailType:
			digests++
		case daily.DetailType:
			findings++
		}
	}
	return digests, findings
}

func TestTheAssembledFunctionAuditsTheAccount(t *testing.T) {
	f := newFixture(t)
	first, err := f.handle(t, "{}")
	must(t, err)
	if first.Run != "req-1" || first.Groups != 1 || first.TargetGroups != 1 || first.Open[audit.Critical] == 0 || first.New == 0 || !first.Told || first.Unread != 0 {
		t.Errorf("%+v", first)
	}
	f.said(t, `"message":"digest"`, `"audit_completed":1`, `"severity":"critical"`, `"cold_start":true`, `"request_id":"req-1"`, `"message":"audit"`, `"told":true`)
	if digests, findings := f.events(t); digests != 1 || findings != first.New {
		t.Errorf("%d digests and %d findings on the bus, want one and %d", digests, findings, first.New)
	}
	second, err := f.handle(t, "{}")
	must(t, err)
	if second.New != 0 || second.Told {
		t.Errorf("the same account a second time: %+v", second)
	}
	f.said(t, `"audit_findings_new":0`, `"cold_start":false`, `"told":false`)
	if digests, _ := f.events(t); digests != 1 {
		t.Errorf("%d digests", digests)
	}
	for call := range f.region.Calls() {
		_, operation, _ := strings.Cut(call, ":")
		read := strings.HasPrefix(operation, "Describe") || strings.HasPrefix(operation, "Get") || operation == "Query" || operation == "BatchGetItem"
		if !read && call != "dynamodb:PutItem" && call != "events:PutEvents" {
			t.Errorf("it calls %s", call)
		}
	}
}

// TestTheDigestReadsAsANoticeOfTheAccount takes the event as function notify does.
func TestTheDigestReadsAsANoticeOfTheAccount(t *testing.T) {
	f := newFixture(t)
	_, err := f.handle(t, "{}")
	must(t, err)
	must(t, f.region.Advance(t.Context(), time.Minute))
	for _, e := range f.region.Notices() {
		if e.DetailType != report.DetailType {
			continue
		}
		raw, err := json.Marshal(e)
		must(t, err)
		n, err := notify.Decode(raw)
		must(t, err)
		m, err := notify.Render(n, notify.GuideOf(n))
		must(t, err)
		for _, want := range []string{
			"account 111122223333: the audit's findings changed (notice)", "Account 111122223333 in us-east-1\n", "This is the first audit: ", "CRITICAL HF001, group web",
			"AWS_REGION=us-east-1 holdfast audit --html audit.html",
		} {
			if !strings.Contains(m.Plain, want) {
				t.Errorf("%q is not in\n%s", want, m.Plain)
			}
		}
		if strings.Contains(m.Plain+m.Chat, "Group account") || strings.Contains(m.Plain, "holdfast hold") {
			t.Errorf("it speaks of a group:\n%s\n%s", m.Plain, m.Chat)
		}
		return
	}
	t.Error("no notice")
}

func TestAnAuditThatCouldNotReadEverythingSaysWhat(t *testing.T) {
	f := newFixture(t)
	must(t, f.region.SetFaults(world.Fault{Operation: "elasticloadbalancing:DescribeTargetHealth", FailFirst: -1, Error: wire.Error{
		Code: "AccessDenied", Message: "not authorized", Status: 403}}))
	out, err := f.handle(t, "{}")
	must(t, err)
	if out.Unread != 1 || !out.Told {
		t.Errorf("%+v", out)
	}
	f.said(t, `"message":"not read"`, `"what":"DescribeTargetHealth"`, `"why":"AccessDenied: not authorized"`, `"audit_unread":1`)
}

func TestAnAuditThatReadNothingIsAnErrorAndCountsAsNone(t *testing.T) {
	f := newFixture(t)
	var faults []world.Fault
	for _, service := range []string{"autoscaling", "elasticloadbalancing", "ec2", "cloudwatch"} {
		faults = append(faults, world.Fault{Operation: service + ":*", FailFirst: -1, Error: wire.Error{Code: "ExpiredToken", Message: "expired", Status: 403}})
	}
	must(t, f.region.SetFaults(faults...))
	if _, err := f.handle(t, "{}"); err == nil || !strings.Contains(err.Error(), "nothing could be read") {
		t.Errorf("have %v", err)
	}
	f.said(t, `"audit_completed":0`, `"level":"ERROR"`)
	if digests, findings := f.events(t); digests+findings != 0 {
		t.Errorf("%d digests and %d findings of nothing", digests, findings)
	}
}

func TestALateTickIsDropped(t *testing.T) {
	f := newFixture(t)
	must(t, f.region.Advance(t.Context(), 13*time.Hour))
	out, err := f.handle(t, `{"kind":"tick","scheduledTime":"2026-11-30T12:00:00Z"}`)
	must(t, err)
	if out.Groups != 0 || f.region.Calls()["autoscaling:DescribeAutoScalingGroups"] != 0 {
		t.Errorf("%+v", out)
	}
	f.said(t, `"ticks_dropped":1`)
}

func TestTheReadsLeaveTimeForTheRest(t *testing.T) {
	whole, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	part, end := mostOf(whole)
	defer end()
	all, _ := whole.Deadline()
	most, ok := part.Deadline()
	if left := all.Sub(most); !ok || left < 19*time.Minute || left > 20*time.Minute {
		t.Errorf("%v are left", left)
	}
	if same, end := mostOf(t.Context()); same != t.Context() {
		end()
		t.Error("a context without a deadline got one")
	}
}

func TestEverySampleEventIsATickOrIsRefusedByName(t *testing.T) {
	for _, row := range sampletest.Rows() {
		t.Run(row.File, func(t *testing.T) {
			raw, err := row.Read()
			must(t, err)
			f := newFixture(t)
			out, err := f.handle(t, string(raw))
			if slices.Contains(row.Owners, sampletest.Audit) {
				if err != nil || out.Groups != 1 {
					t.Errorf("%d groups, %v; want the one there is", out.Groups, err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "decode event: ") || out.Groups != 0 {
				t.Errorf("%d groups, %v; want a refusal", out.Groups, err)
			}
		})
	}
}
