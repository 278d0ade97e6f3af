package collect_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

func number(n int) *int { return &n }

func TestAGroupIsReadWithAllItsSettings(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	must(t, l.Advance(t.Context(), time.Minute)) // the first heartbeats
	a := l.read(t, l.options())
	if a.Format != audit.Format || a.Source != "account" || a.ID == "" || a.Partition != "aws" || a.Region != "us-east-1" || !a.At.Equal(start().Add(time.Minute)) || a.Static {
		t.Errorf("account %+v", a)
	}
	if len(a.Groups) != 2 || len(a.Unread) != 0 {
		t.Fatalf("%d groups, unread %v", len(a.Groups), a.Unread)
	}
	g := groupNamed(t, a, "web")
	off := false
	want := audit.Group{
		Name: "web", ARN: g.ARN, Tags: map[string]string{"holdfast:guard": "true", "team": "shop"}, Min: number(2), Max: number(8), Desired: number(4),
		HealthCheckTypes: []string{"EC2", "ELB"}, GraceSeconds: number(300), WarmupSeconds: number(60),
		MinHealthyPercent: number(audit.NotSet), MaxHealthyPercent: number(audit.NotSet), Zones: []string{"us-east-1a", "us-east-1b"}, ZoneCount: number(2),
		CapacityRebalance: &off, ProtectedFromScale: &off, TargetGroups: []string{a.TargetGroups[1].ID}, RefreshMinHealthy: number(audit.NotSet),
		BootSeconds: number(audit.NotSet), Members: g.Members, Policy: g.Policy,
	}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("have %s\nwant %s", text(t, g), text(t, want))
	}
	if len(g.Members) != 4 || g.Members[0].Lifecycle != "InService" || g.Members[0].Targets[a.TargetGroups[1].ID] != "healthy" ||
		g.Members[0].BeatAgeSeconds == nil || *g.Members[0].BeatAgeSeconds > 60 || g.Members[0].Agent == "" {
		t.Errorf("members %s", text(t, g.Members))
	}
	if b := groupNamed(t, a, "batch"); b.Operator != "ecs.amazonaws.com" || b.Policy != nil || b.Members[0].BeatAgeSeconds != nil || b.TargetGroups == nil {
		t.Errorf("batch %s", text(t, b))
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", " ")
	must(t, err)
	return string(out)
}

func TestATargetGroupIsReadWithItsAttributesStatesAndBalancers(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	_, err := elb.NewFromConfig(l.sdk).AddTags(t.Context(), &elb.AddTagsInput{
		ResourceArns: []string{l.read(t, l.options()).TargetGroups[1].ID}, Tags: []elbtypes.Tag{{Key: aws.String("holdfast:service"), Value: aws.String("shop")}},
	})
	must(t, err)
	a := l.read(t, l.options())
	if len(a.TargetGroups) != 2 {
		t.Fatalf("%d target groups", len(a.TargetGroups))
	}
	idle, web := a.TargetGroups[0], a.TargetGroups[1]
	path, port, matcher := "/health", "traffic-port", "200"
	want := audit.TargetGroup{
		ID: web.ID, Name: "web", Tags: map[string]string{"holdfast:service": "shop"}, TargetType: "instance", Protocol: "HTTP", CheckProtocol: "HTTP", Path: &path, Port: &port, Matcher: &matcher,
		IntervalSeconds: number(30), TimeoutSeconds: number(5), HealthyCount: number(5), UnhealthyCount: number(2),
		DrainSeconds: number(30), SlowStartSeconds: number(0), FailOpenCount: number(1), FailOpenPercent: number(audit.NotSet),
		DNSCount: number(1), DNSPercent: number(audit.NotSet), LoadBalancers: web.LoadBalancers, States: map[string]int{"healthy": 8},
	}
	if !reflect.DeepEqual(web, want) {
		t.Errorf("have %s\nwant %s", text(t, web), text(t, want))
	}
	if len(web.LoadBalancers) != 1 || idle.LoadBalancers == nil || len(idle.LoadBalancers) != 0 || idle.States == nil {
		t.Errorf("balancers %q and %q", web.LoadBalancers, idle.LoadBalancers)
	}
}

func TestAMemberHasTheWorstStateOfItsPorts(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	var id string
	l.Do(func(c *sim.Cloud) {
		must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy}))
		g, _ := c.Group("web")
		id = g.Members[0].ID
		must(t, c.Break(id, sim.Hang))
	})
	must(t, l.Advance(t.Context(), 3*time.Minute))
	g := groupNamed(t, l.read(t, l.options()), "web")
	for _, m := range g.Members {
		state := m.Targets[g.TargetGroups[0]]
		if (m.ID == id) != (state == "unhealthy Target.Timeout") || m.ID != id && state != "healthy" {
			t.Errorf("%s is %q", m.ID, state)
		}
	}
}

func TestThePolicyIsTheOneInForce(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	must(t, l.PutParameter("/holdfast/groups/web", `{"mode":"observe","no_such_key":1}`))
	a := l.read(t, l.options())
	p := groupNamed(t, a, "web").Policy
	if p == nil || p.Mode != "observe" || p.Action != "hold-only" || p.Kind != "web" || p.MaxAlarmAgeSeconds != 86400 || len(p.Dependencies) != 3 {
		t.Fatalf("policy %s", text(t, p))
	}
	if len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "no_such_key") {
		t.Errorf("problems %q", p.Problems)
	}
	if !a.Guardian.Installed || a.Guardian.Mode != "act" {
		t.Errorf("guardian %+v", a.Guardian)
	}
}

func TestAlarmsOfPoliciesAndOfHoldfastAreRead(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	topic := l.notices(t)
	a := l.read(t, l.options())
	var have []string
	for _, x := range a.Alarms {
		line := x.Name + " " + x.State
		for word, on := range map[string]bool{" own": x.Own, " missing": x.Missing, " composite": x.Composite, " never evaluated": x.NeverEvaluated} {
			if on {
				line += word
			}
		}
		have = append(have, line)
	}
	if len(have) != 7 {
		t.Fatalf("alarms %q", have)
	}
	for i, want := range []string{"a-Blind-2 INSUFFICIENT_DATA", "a-Errors-5 INSUFFICIENT_DATA", "a-HoldOpen-4 INSUFFICIENT_DATA", "a-NoSweep-1 INSUFFICIENT_DATA", "any-down OK composite", "db-down OK", "gone  missing"} {
		if !strings.HasPrefix(have[i], want) {
			t.Errorf("alarm %d: %q, want %q", i, have[i], want)
		}
	}
	own := a.Alarms[0]
	if !own.Own || !own.NeverEvaluated || own.TreatMissing != "breaching" || own.ActionsEnabled == nil || !*own.ActionsEnabled || !slices.Equal(own.Actions, []string{topic}) {
		t.Errorf("own alarm %s", text(t, own))
	}
	if silent := a.Alarms[2]; !silent.Own || len(silent.Actions) != 0 || !a.Alarms[1].Own {
		t.Errorf("alarms of Holdfast without an action and found by their topic: %s", text(t, a.Alarms[1:3]))
	}
	if len(a.Guardian.Topics) != 1 || a.Guardian.Topics[0].ARN != topic || a.Guardian.Topics[0].Subscriptions == nil || *a.Guardian.Topics[0].Subscriptions != 0 {
		t.Errorf("topics %s", text(t, a.Guardian.Topics))
	}
	_, err := sns.NewFromConfig(l.sdk).Subscribe(t.Context(), &sns.SubscribeInput{TopicArn: aws.String(topic), Protocol: aws.String("sqs"), Endpoint: aws.String(l.Queues.ARN("q"))})
	must(t, err)
	if again := l.read(t, l.options()); *again.Guardian.Topics[0].Subscriptions != 1 {
		t.Error("the subscription is not counted")
	}
}

func TestStatusChecksStandWithTheirAssociations(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	l.SetStatusChecks(
		world.StatusCheck{ID: "asc-1", Path: "/ready", Tags: [][2]string{{"aws:autoscaling:groupName", "web"}}, Instances: []string{"i-2", "i-1"}},
		world.StatusCheck{ID: "asc-2", Path: "/", Excluded: true, Tags: [][2]string{{"team", "shop"}}},
	)
	have := l.read(t, l.options()).StatusChecks
	want := []audit.StatusCheck{
		{ID: "asc-1", Path: "/ready", Instances: []string{"i-1", "i-2"}, Failures: number(2), Seconds: number(60)},
		{ID: "asc-1", Path: "/ready", TagKey: "aws:autoscaling:groupName", TagValue: "web", Failures: number(2), Seconds: number(60)},
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("have %s", text(t, have))
	}
	ids := []string{"i-1", "i-2"}
	for _, m := range groupNamed(t, l.read(t, l.options()), "web").Members {
		ids = append(ids, m.ID)
	}
	for suppressed, count := range map[int]int{len(ids): 1, len(ids) - 1: 0} { // the simulator has no i-1 and no i-2
		l.SuppressStatusChecks(ids[:suppressed]...)
		n := 0
		for _, c := range l.read(t, l.options()).StatusChecks {
			if c.Suppressed {
				n++
			}
		}
		if n != count {
			t.Errorf("%d checks are suppressed with %d instances, want %d", n, suppressed, count)
		}
	}
}

func TestASuspensionOfHoldfastIsToldFromOthers(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	var g sim.Group
	l.Do(func(c *sim.Cloud) {
		must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy, sim.ProcessHealthCheck}))
		must(t, c.SuspendProcesses("batch", []string{sim.ProcessLaunch}))
		g, _ = c.Group("web")
	})
	reason := g.Suspended[0].Reason
	memory := l.ledger(t)
	hold := &guard.Hold{ID: "h", Since: guard.At(start()), Ours: []guard.HeldProcess{
		{Process: sim.ProcessHealthCheck, IntentAt: guard.At(start()), Reason: reason},
		{Process: sim.ProcessReplaceUnhealthy, IntentAt: guard.At(start()), Reason: "User suspended at 2026-11-01T00:00:00Z"},
	}}
	version, err := memory.Save(t.Context(), g.ARN, runner.Record{State: guard.State{LastSweep: 1, Hold: hold}})
	must(t, err)
	check := func(name string, want ...bool) {
		t.Helper()
		a := l.read(t, l.options())
		s := groupNamed(t, a, "web").Suspended
		if len(s) != 2 || s[0].Held != want[0] || s[1].Held != want[1] || !s[0].Since.Equal(start()) {
			t.Errorf("%s: %s", name, text(t, s))
		}
		if b := groupNamed(t, a, "batch").Suspended; len(b) != 1 || b[0].Held {
			t.Errorf("%s: batch %s", name, text(t, b))
		}
	}
	check("by the reason's text", true, false)
	hold.Ours[1].Reason = ""
	version, err = memory.Save(t.Context(), g.ARN, runner.Record{Version: version, State: guard.State{LastSweep: 1, Hold: hold}})
	must(t, err)
	check("by the time of the intent", true, true)
	hold.Observed = true
	_, err = memory.Save(t.Context(), g.ARN, runner.Record{Version: version, State: guard.State{LastSweep: 1, Hold: hold}})
	must(t, err)
	check("an observed hold suspended nothing", false, false)
}

func TestWithoutATableNoSuspensionOfAnOptedInGroupIsJudged(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	l.Do(func(c *sim.Cloud) { must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy})) })
	l.api.Holds, l.api.Beats = nil, nil
	a := l.read(t, l.options())
	if s := groupNamed(t, a, "web").Suspended; len(s) != 0 {
		t.Errorf("suspended %v", s)
	}
	have := ""
	for _, u := range a.Unread {
		have += u.Kind + " " + u.Name + ": " + u.What + "\n"
	}
	if have != "group web: the group's suspended processes\nguardian : heartbeats\n" {
		t.Errorf("unread %s", have)
	}
}

func TestLaunchesAndRefreshesAreRead(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	l.Do(func(c *sim.Cloud) {
		must(t, c.SetRefresh("web", "InProgress"))
		must(t, c.SetDesired("web", 5))
	})
	must(t, l.Advance(t.Context(), 65*time.Second))
	l.Do(func(c *sim.Cloud) {
		must(t, c.SetLaunchFailure("web", "We currently do not have sufficient capacity"))
		must(t, c.SetDesired("web", 6))
	})
	must(t, l.Advance(t.Context(), 20*time.Second))
	g := groupNamed(t, l.read(t, l.options()), "web")
	if g.RefreshMinHealthy == nil || *g.RefreshMinHealthy != 90 {
		t.Errorf("refresh %s", text(t, g.RefreshMinHealthy))
	}
	if len(g.Launches) < 2 || !g.Launches[0].Failed || !strings.Contains(g.Launches[0].Message, "capacity") || g.Launches[len(g.Launches)-1].Failed {
		t.Errorf("launches %s", text(t, g.Launches))
	}
	if b := g.BootSeconds; b == nil || *b < 1 || *b > 60 {
		t.Errorf("boot %s, want the time since the new member went into service", text(t, b))
	}
}

func TestTheLongestRequestIsReadOnlyWhenAskedFor(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	web := l.read(t, l.options()).TargetGroups[1]
	if web.LongestRequestSeconds != nil || l.Calls()["cloudwatch:GetMetricData"] != 0 {
		t.Fatal("it was read although nobody asked")
	}
	_, balancer, _ := strings.Cut(web.LoadBalancers[0], "loadbalancer/")
	put := func(seconds float64, ago time.Duration) {
		_, err := cloudwatch.NewFromConfig(l.sdk).PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{
			Namespace: aws.String("AWS/ApplicationELB"), MetricData: []cwtypes.MetricDatum{{
				MetricName: aws.String("TargetResponseTime"), Value: aws.Float64(seconds), Timestamp: aws.Time(start().Add(-ago)),
				Dimensions: []cwtypes.Dimension{
					{Name: aws.String("LoadBalancer"), Value: aws.String(balancer)},
					{Name: aws.String("TargetGroup"), Value: aws.String(web.ID[strings.LastIndex(web.ID, ":")+1:])},
				},
			}}})
		must(t, err)
	}
	put(0.2, time.Minute)
	put(41.5, 20*time.Hour)
	put(90, 48*time.Hour)
	o := l.options()
	o.Metrics = true
	a := l.read(t, o)
	if have := a.TargetGroups[1].LongestRequestSeconds; have == nil || *have != 41.5 {
		t.Errorf("longest %s, want that of the last day", text(t, have))
	}
	if have := a.TargetGroups[0].LongestRequestSeconds; have != nil {
		t.Errorf("a target group without a load balancer has %v", *have)
	}
}

func TestOnlyTheGroupsThatWereAskedForAreRead(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	o := l.options()
	o.Groups = []string{"batch", "nothing"}
	a := l.read(t, o)
	if len(a.Groups) != 1 || len(a.TargetGroups) != 0 || len(a.Unread) != 1 || a.Unread[0].Name != "nothing" {
		t.Errorf("%d groups, %d target groups, unread %v", len(a.Groups), len(a.TargetGroups), a.Unread)
	}
	o.Groups = []string{"web"}
	if a := l.read(t, o); len(a.TargetGroups) != 1 || a.TargetGroups[0].Name != "web" {
		t.Errorf("target groups %s", text(t, a.TargetGroups))
	}
	o.Groups = []string{"nothing"}
	if _, err := collect.Read(t.Context(), l.api, o); !errors.Is(err, collect.ErrNoSuchGroup) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("have %v", err)
	}
	if _, err := collect.Read(context.Background(), l.api, collect.Options{Now: l.Clock.Now}); err != nil {
		t.Errorf("the options' zero value: %v", err)
	}
}

func TestADumpIsReadBackAsItWas(t *testing.T) {
	l := newLab(t)
	l.fleet(t)
	l.notices(t)
	l.SetStatusChecks(world.StatusCheck{ID: "asc-1", Path: "/ready", Tags: [][2]string{{"aws:autoscaling:groupName", "web"}}})
	must(t, l.Advance(t.Context(), time.Minute))
	a := l.read(t, l.options())
	back, err := audit.DecodeAccount([]byte(text(t, a)))
	must(t, err)
	if text(t, back) != text(t, a) || len(audit.Judge(back, audit.Options{}).Findings) == 0 {
		t.Errorf("read back %s", text(t, back))
	}
}
