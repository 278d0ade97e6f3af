package daily_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/bus"
	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/wholeclient"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/fault"
	notices "github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// lab is an audit over the real clients, of an account that the test sets.
type lab struct {
	*world.Region
	*daily.Audit
	account audit.Account
	readErr error
	memory  *daily.Memory
	events  []daily.Detail
	raw     []bus.Event
}

func newLab(t *testing.T) *lab {
	t.Helper()
	region, err := world.NewRegion(sim.Config{Start: at(), Seed: 5})
	must(t, err)
	t.Cleanup(region.Close)
	server := httptest.NewServer(region)
	t.Cleanup(server.Close)
	sdk := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), HTTPClient: wholeclient.Client{Inner: &http.Client{}}, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}
	l := &lab{Region: region, memory: daily.NewMemory(dynamodb.NewFromConfig(sdk), world.StateTable)}
	client := eventbridge.NewFromConfig(sdk)
	l.Audit = daily.New(daily.Ports{
		Read:     func(context.Context) (audit.Account, error) { return l.account, l.readErr },
		Settings: daily.NewSettings(ssm.NewFromConfig(sdk)), Memory: l.memory, Bus: daily.NewBus(client, "default"),
		Pager: notices.New(client, notices.Options{Bus: "default", Log: telemetry.NewLogger(&bytes.Buffer{}, "audit")}),
	})
	_, err = region.Bus.Subscribe(`{"source":["holdfast"],"detail-type":["Holdfast Finding"]}`, func(_ context.Context, e bus.Event) error {
		var d daily.Detail
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return err
		}
		l.events, l.raw = append(l.events, d), append(l.raw, e)
		return nil
	})
	must(t, err)
	l.risky("web")
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// risky sets an account of groups that believe a deep check.
func (l *lab) risky(names ...string) {
	number := func(n int) *int { return &n }
	path := "/health/db"
	l.account = audit.Account{Format: audit.Format, Source: "account", ID: "111122223333", Partition: "aws", Region: "us-east-1", At: l.Clock.Now()}
	for _, name := range names {
		id := "arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/" + name + "/0123456789abcdef"
		l.account.Groups = append(l.account.Groups, audit.Group{
			Name: name, ARN: "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0:autoScalingGroupName/" + name,
			HealthCheckTypes: []string{"EC2", "ELB"}, TargetGroups: []string{id}, GraceSeconds: number(300), Min: number(2), Max: number(8), Desired: number(4),
		})
		l.account.TargetGroups = append(l.account.TargetGroups, audit.TargetGroup{
			ID: id, Name: name, TargetType: "instance", Protocol: "HTTP", CheckProtocol: "HTTP", Path: &path, LoadBalancers: []string{"x"},
			IntervalSeconds: number(30), TimeoutSeconds: number(5), HealthyCount: number(3), UnhealthyCount: number(3),
		})
	}
}

// run makes one audit and lets the bus deliver.
func (l *lab) run(t *testing.T) (daily.Outcome, error) {
	t.Helper()
	l.events, l.raw = nil, nil
	out, err := l.Run(t.Context(), "run-1")
	must(t, l.Advance(t.Context(), time.Hour))
	return out, err
}

// digests are the notices so far.
func (l *lab) digests(t *testing.T) []notices.Detail {
	t.Helper()
	var out []notices.Detail
	for _, e := range l.Notices() {
		if e.DetailType != notices.DetailType {
			continue
		}
		var d notices.Detail
		must(t, json.Unmarshal(e.Detail, &d))
		out = append(out, d)
	}
	return out
}

func states(events []daily.Detail) map[string]int {
	out := map[string]int{}
	for _, e := range events {
		out[e.State]++
	}
	return out
}

func TestOnlyChangesAreToldAndEveryFindingIsAnEvent(t *testing.T) {
	l := newLab(t)
	first, err := l.run(t)
	must(t, err)
	n := first.New
	if n == 0 || !first.Told || first.Open[audit.Critical] != 1 || states(l.events)[daily.StateNew] != n || len(l.digests(t)) != 1 {
		t.Fatalf("first: %+v, events %v, %d digests", first, states(l.events), len(l.digests(t)))
	}
	d := l.digests(t)[0]
	if d.Key != notices.KeyAudit || d.Group != "account 111122223333" || d.ARN != "arn:aws:iam::111122223333:root" || d.Urgent || d.Mode != "" ||
		!strings.Contains(d.Text, "This is the first audit") || !strings.Contains(d.Text, "With Holdfast") {
		t.Errorf("digest %+v", d)
	}
	second, err := l.run(t)
	must(t, err)
	if second.New != 0 || second.Told || states(l.events)[daily.StateLasting] != n || len(l.digests(t)) != 1 {
		t.Errorf("second: %+v, events %v, %d digests", second, states(l.events), len(l.digests(t)))
	}
	l.risky("web", "api")
	third, err := l.run(t)
	must(t, err)
	if third.New != n || !third.Told || third.Gone != 0 || states(l.events)[daily.StateNew] != n || len(l.digests(t)) != 2 || !strings.Contains(l.digests(t)[1].Text, "group api") {
		t.Errorf("third: %+v, events %v", third, states(l.events))
	}
	l.risky("api")
	fourth, err := l.run(t)
	must(t, err)
	if fourth.Gone != n || fourth.New != 0 || !fourth.Told || states(l.events)[daily.StateGone] != n || l.events[0].Finding.Name != "web" {
		t.Errorf("fourth: %+v, events %v", fourth, states(l.events))
	}
}

// TestTheSampleEventIsAFindingAsItIsSent compares all but the sentences, which are the rule's.
func TestTheSampleEventIsAFindingAsItIsSent(t *testing.T) {
	l := newLab(t)
	l.risky("orders-web-asg")
	_, err := l.run(t)
	must(t, err)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "events", "holdfast-finding-new.json"))
	must(t, err)
	var sample bus.Event
	must(t, json.Unmarshal(text, &sample))
	var want daily.Detail
	must(t, json.Unmarshal(sample.Detail, &want))
	for i, have := range l.events {
		if have.Finding.Rule != want.Finding.Rule {
			continue
		}
		sent := l.raw[i]
		if shape(t, sent.Detail) != shape(t, sample.Detail) {
			t.Errorf("the sample has the keys %s, what is sent has %s", shape(t, sample.Detail), shape(t, sent.Detail))
		}
		for _, d := range []*daily.Detail{&have, &want} {
			d.Finding.Saw, d.Finding.Sum, d.Finding.Fix = "", "", audit.Fix{}
		}
		sent.Detail, sample.Detail, sent.ID = nil, nil, sample.ID
		if !reflect.DeepEqual(have, want) || !reflect.DeepEqual(sent, sample) {
			t.Errorf("sent is %+v in %+v", have, sent)
		}
		return
	}
	t.Errorf("no finding of %s is sent", want.Finding.Rule)
}

// shape is a JSON text without its values.
func shape(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	must(t, json.Unmarshal(text, &v))
	var bare func(any) any
	bare = func(v any) any {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		for key, value := range object {
			object[key] = bare(value)
		}
		return object
	}
	out, err := json.Marshal(bare(v))
	must(t, err)
	return string(out)
}

func TestWhatPeopleAcceptIsNoFinding(t *testing.T) {
	l := newLab(t)
	first, err := l.run(t)
	must(t, err)
	must(t, l.PutParameter(daily.ParameterAccepted, `{"acknowledgements":[{"rule":"HF001","name":"web","reason":"known","by":"the web team","until":"2027-01-31"}]}`))
	second, err := l.run(t)
	must(t, err)
	if second.Accepted != 1 || second.Gone != 1 || second.Open[audit.Critical] != first.Open[audit.Critical]-1 || !second.Told {
		t.Errorf("%+v", second)
	}
}

func TestBrokenSettingsAreToldOnceAndLeaveEverythingElse(t *testing.T) {
	l := newLab(t)
	_, err := l.run(t)
	must(t, err)
	must(t, l.PutParameter(daily.ParameterAccepted, `{"acknowledgements":[{"rule":"HF999"}]}`))
	must(t, l.PutParameter(daily.ParameterThresholds, `[]`))
	broken, err := l.run(t)
	must(t, err)
	if len(broken.Notes) != 2 || !broken.Told || !strings.Contains(l.digests(t)[1].Text, "The parameter /holdfast/audit/accepted is refused as a whole") {
		t.Errorf("%+v\n%s", broken, l.digests(t)[1].Text)
	}
	if again, err := l.run(t); err != nil || again.Told || len(again.Notes) != 2 {
		t.Errorf("again: %+v, %v", again, err)
	}
	must(t, l.SetFaults(world.Fault{Operation: "ssm:GetParameters", FailFirst: -1, Error: wire.Error{Code: "AccessDeniedException", Message: "no", Status: 400}}))
	denied, err := l.run(t)
	must(t, err)
	if len(denied.Notes) != 1 || !strings.Contains(denied.Notes[0], "AccessDeniedException: no") || !denied.Told {
		t.Errorf("denied: %+v", denied)
	}
	if again, err := l.run(t); err != nil || again.Told {
		t.Errorf("denied again: %+v, %v", again, err)
	}
}

// TestWhateverFailsIsToldByTheNextRun fails each call once: an audit that failed is made again by whoever invoked it.
func TestWhateverFailsIsToldByTheNextRun(t *testing.T) {
	for _, operation := range []string{"dynamodb:GetItem", "events:PutEvents", "dynamodb:PutItem"} {
		t.Run(operation, func(t *testing.T) {
			l := newLab(t)
			must(t, l.SetFaults(world.Fault{Operation: operation, FailFirst: 1}))
			if out, err := l.run(t); err == nil {
				t.Fatalf("no error: %+v", out)
			}
			out, err := l.run(t)
			must(t, err)
			if out.New == 0 || !out.Told || len(l.digests(t)) == 0 {
				t.Errorf("%+v, %d digests", out, len(l.digests(t)))
			}
		})
	}
	l := newLab(t)
	l.readErr = errors.New("read account: nothing could be read")
	if _, err := l.run(t); !errors.Is(err, l.readErr) {
		t.Errorf("have %v", err)
	}
	if known, err := l.memory.Load(t.Context()); err != nil || known.Version != 0 {
		t.Errorf("an audit that read nothing is remembered: %+v, %v", known, err)
	}
}

func TestOfTwoAuditsAtOnceOneIsRemembered(t *testing.T) {
	l := newLab(t)
	must(t, l.memory.Save(t.Context(), daily.Known{At: at()}))
	if err := l.memory.Save(t.Context(), daily.Known{At: at()}); !errors.Is(err, fault.Conflict) {
		t.Errorf("a second first one: %v", err)
	}
	must(t, l.memory.Save(t.Context(), daily.Known{Version: 1, At: at()}))
	if err := l.memory.Save(t.Context(), daily.Known{Version: 1, At: at()}); !errors.Is(err, fault.Conflict) {
		t.Errorf("overtaken: %v", err)
	}
}

func TestAMemoryThatMakesNoSenseIsAnErrorAndALargeOneFits(t *testing.T) {
	l := newLab(t)
	var many daily.Known
	for i := range 5000 {
		many.Findings = append(many.Findings, daily.Brief{Rule: fmt.Sprintf("HF%03d", i%30), Kind: "group", Name: fmt.Sprintf("a-group-of-an-ordinary-name-%d", i), Severity: audit.Medium})
	}
	must(t, l.memory.Save(t.Context(), many))
	back, err := l.memory.Load(t.Context())
	must(t, err)
	if many.Version = 1; !reflect.DeepEqual(back, many) {
		t.Error("five thousand findings do not come back as they were")
	}
	for name, data := range map[string]types.AttributeValue{
		"no bytes": &types.AttributeValueMemberS{Value: "{}"}, "not packed": &types.AttributeValueMemberB{Value: []byte("{}")}, "empty": &types.AttributeValueMemberB{Value: nil},
	} {
		must(t, l.Tables.Put(world.StateTable, dynamo.Item{
			"pk": &types.AttributeValueMemberS{Value: daily.PartitionKey}, "sk": &types.AttributeValueMemberS{Value: "findings"},
			"version": &types.AttributeValueMemberN{Value: "1"}, "data": data,
		}))
		if _, err := l.memory.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "load findings") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMetricsCountByErrandBySeverity(t *testing.T) {
	o := daily.Outcome{Run: "r", Open: map[audit.Severity]int{audit.Critical: 2, audit.High: 0, audit.Medium: 1, audit.Low: 0}, New: 1, Gone: 3, Accepted: 4, Unread: 5}
	var b bytes.Buffer
	emitter := telemetry.NewEmitter(&b, at)
	for _, set := range o.Metrics(daily.Facts{Function: "audit", Completed: true, Duration: time.Second, Margin: time.Minute}) {
		must(t, emitter.Emit(set))
	}
	for _, want := range []string{
		`"audit_completed":1`, `"audit_duration_ms":1000`, `"deadline_margin_ms":60000`, `"audit_findings_new":1`, `"audit_findings_gone":3`, `"audit_findings_accepted":4`,
		`"audit_unread":5`, `"audit_findings":2,"function":"audit","severity":"critical"`, `"audit_findings":0,"function":"audit","severity":"low"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in\n%s", want, b.String())
		}
	}
	failed := o.Metrics(daily.Facts{Function: "audit"})
	if len(failed) != 1 || failed[0].Values[telemetry.AuditCompleted] != 0 || len(failed[0].Values) != 2 {
		t.Errorf("an audit that failed tells %+v", failed)
	}
}
