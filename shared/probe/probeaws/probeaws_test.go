package probeaws_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/probe/probeaws"
)

var (
	_ probe.Memory    = (*probeaws.Memory)(nil)
	_ probe.Documents = (*probeaws.Documents)(nil)
	_ probe.Members   = (*probeaws.Members)(nil)
)

// table is the embedded DynamoDB behind the real client, without a network.
type table struct{ *dynamo.Tables }

func (tb table) Do(req *http.Request) (*http.Response, error) {
	body, err := wire.ReadBody(req)
	if err != nil {
		return nil, err
	}
	target, err := wire.TargetOf(req, body)
	if err != nil {
		return nil, err
	}
	codec := tb.Mount().Codec
	var res wire.Response
	if out, err := tb.Handle(req.Context(), wire.NewCall(codec, target.Operation, body)); err != nil {
		res = codec.EncodeError("req", err)
	} else if res, err = codec.Encode(wire.Reply{Operation: target.Operation, RequestID: "req", Output: out}); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: res.Status, Header: res.Header, Body: io.NopCloser(bytes.NewReader(res.Body)), Request: req}, nil
}

func newTable(t *testing.T) *dynamodb.Client {
	t.Helper()
	tb := table{dynamo.New(dynamo.Options{Now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }})}
	_, err := tb.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("state"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatalf("create table: %v", err)
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://table.invalid"), HTTPClient: tb, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
}

func TestWhatIsSavedIsLoadedAndAnOldVersionIsAConflict(t *testing.T) {
	m := probeaws.NewMemory(newTable(t), "state")
	empty, err := m.Load(t.Context())
	if err != nil || !reflect.DeepEqual(empty, probe.Remembered{}) {
		t.Fatalf("an empty table: %+v, %v", empty, err)
	}
	want := probe.Remembered{LastGood: `{"sources":[]}`, Records: map[string]probe.Record{
		"db":   {Source: "f00", At: 5, Outcome: probe.Failed, Cause: probe.CauseTimeout, Detail: "slow", InRow: 3, Since: 2},
		"auth": {Source: "f01", At: 5},
	}}
	if err := m.Save(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(t.Context(), want); !errors.Is(err, fault.Conflict) {
		t.Errorf("a second first save: %v", err)
	}
	want.Version = 1
	have, err := m.Load(t.Context())
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v, %v\nwant %+v", have, err, want)
	}
	if err := m.Save(t.Context(), have); err != nil {
		t.Error(err)
	}
	if err := m.Save(t.Context(), have); !errors.Is(err, fault.Conflict) {
		t.Errorf("a save on an old version: %v", err)
	}
}

func TestAMemoryThatCannotBeUnderstoodIsAnError(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	for name, c := range map[string]map[string]types.AttributeValue{
		"no data":              {"version": number("1")},
		"no version":           {"data": text("{}")},
		"a version as text":    {"version": text("1"), "data": text("{}")},
		"a version of zero":    {"version": number("0"), "data": text("{}")},
		"a version with half":  {"version": number("1.5"), "data": text("{}")},
		"data that is no JSON": {"version": number("1"), "data": text("{")},
	} {
		client := newTable(t)
		c["pk"], c["sk"] = text("probe"), text("results")
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("state"), Item: c}); err != nil {
			t.Fatal(err)
		}
		if r, err := probeaws.NewMemory(client, "state").Load(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "decode item: ") || !reflect.DeepEqual(r, probe.Remembered{}) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	m := probeaws.NewMemory(newTable(t), "none")
	if _, err := m.Load(t.Context()); !errors.Is(err, fault.Gone) {
		t.Errorf("no table: %v", err)
	}
	if err := m.Save(t.Context(), probe.Remembered{}); !errors.Is(err, fault.Gone) {
		t.Errorf("no table: %v", err)
	}
}

type parameter struct {
	out *ssm.GetParameterOutput
	err error
}

func (p parameter) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	if aws.ToString(in.Name) != "/holdfast/probes" || !aws.ToBool(in.WithDecryption) {
		return nil, errors.New("unexpected request")
	}
	return p.out, p.err
}

func TestTheParameterIsReadAbsentOrAnError(t *testing.T) {
	value := &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{Value: aws.String("{}")}}
	for name, c := range map[string]struct {
		api   parameter
		raw   string
		found bool
		kind  error
	}{
		"there":             {parameter{out: value}, "{}", true, nil},
		"not there":         {parameter{err: &ssmtypes.ParameterNotFound{}}, "", false, nil},
		"denied":            {parameter{err: &smithy.GenericAPIError{Code: "AccessDeniedException"}}, "", false, fault.Refused},
		"throttled":         {parameter{err: &smithy.GenericAPIError{Code: "ThrottlingException"}}, "", false, fault.Throttled},
		"without a value":   {parameter{out: &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{}}}, "", false, fault.Partial},
		"without an answer": {parameter{out: &ssm.GetParameterOutput{}}, "", false, fault.Partial},
	} {
		raw, found, err := probeaws.NewDocuments(c.api).Read(t.Context())
		if raw != c.raw || found != c.found || (err == nil) != (c.kind == nil) || !errors.Is(err, c.kind) {
			t.Errorf("%s: %q %v %v", name, raw, found, err)
		}
	}
}

// account answers for one group and its instances in pages of one, an empty page first.
type account struct {
	groups    []astypes.AutoScalingGroup
	pages     []*ec2.DescribeInstancesOutput
	groupsErr error
	ec2Err    error
	filter    []string
	calls     int
}

func (a *account) DescribeAutoScalingGroups(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	return &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: a.groups}, a.groupsErr
}

func (a *account) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	if a.ec2Err != nil {
		return nil, a.ec2Err
	}
	a.filter = in.Filters[0].Values
	a.calls++
	return a.pages[(a.calls-1)%len(a.pages)], nil
}

func TestMembersInServiceAreListed(t *testing.T) {
	member := func(id string, s astypes.LifecycleState) astypes.Instance {
		return astypes.Instance{InstanceId: aws.String(id), LifecycleState: s}
	}
	a := &account{groups: []astypes.AutoScalingGroup{
		{AutoScalingGroupName: aws.String("Web"), Instances: []astypes.Instance{member("i-9", astypes.LifecycleStateInService)}},
		{AutoScalingGroupName: aws.String("web"), Instances: []astypes.Instance{
			member("i-1", astypes.LifecycleStateInService), member("i-2", astypes.LifecycleStateStandby), member("i-3", astypes.LifecycleStateTerminating),
			member("i-4", astypes.LifecycleStatePendingWait), member("i-5", astypes.LifecycleStateInService), {LifecycleState: astypes.LifecycleStateInService},
		}},
	}}
	m := probeaws.NewMembers(a, a)
	if ids, err := m.InService(t.Context(), "web"); err != nil || !reflect.DeepEqual(ids, []string{"i-1", "i-5"}) {
		t.Errorf("have %v, %v", ids, err)
	}
	if _, err := m.InService(t.Context(), "gone"); !errors.Is(err, fault.Gone) {
		t.Errorf("a group that does not exist: %v", err)
	}
	a.groupsErr = &smithy.GenericAPIError{Code: "Throttling"}
	if _, err := m.InService(t.Context(), "web"); !errors.Is(err, fault.Throttled) {
		t.Errorf("throttled: %v", err)
	}
}

// pages answers page after page; each has the number of the next as its token.
type pages struct {
	*account
	all   []*autoscaling.DescribeAutoScalingGroupsOutput
	asked []string
}

func (p *pages) DescribeAutoScalingGroups(_ context.Context, in *autoscaling.DescribeAutoScalingGroupsInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	p.asked = append(p.asked, aws.ToString(in.NextToken))
	return p.all[(len(p.asked)-1)%len(p.all)], nil
}

func TestAGroupIsLookedForToTheLastPage(t *testing.T) {
	page := func(next string, names ...string) *autoscaling.DescribeAutoScalingGroupsOutput {
		out := &autoscaling.DescribeAutoScalingGroupsOutput{}
		if next != "" {
			out.NextToken = aws.String(next)
		}
		for _, name := range names {
			out.AutoScalingGroups = append(out.AutoScalingGroups, astypes.AutoScalingGroup{
				AutoScalingGroupName: aws.String(name), Instances: []astypes.Instance{{InstanceId: aws.String("i-1"), LifecycleState: astypes.LifecycleStateInService}},
			})
		}
		return out
	}
	type outputs = []*autoscaling.DescribeAutoScalingGroupsOutput
	for name, c := range map[string]struct {
		all   outputs
		kind  error
		asked []string
	}{
		"an empty page first":    {outputs{page("1"), page("2", "Web"), page("", "web")}, nil, []string{"", "1", "2"}},
		"the first page has it":  {outputs{page("1", "web")}, nil, []string{""}},
		"no page has it":         {outputs{page("1"), page("")}, fault.Gone, []string{"", "1"}},
		"a token that came back": {outputs{page("1"), page("1")}, fault.Partial, []string{"", "1"}},
	} {
		p := &pages{all: c.all}
		ids, err := probeaws.NewMembers(p, p.account).InService(t.Context(), "web")
		if !errors.Is(err, c.kind) || (err == nil) != (len(ids) == 1) || !reflect.DeepEqual(p.asked, c.asked) {
			t.Errorf("%s: %v, %v after asking %q", name, ids, err, p.asked)
		}
	}
}

func TestAddressesAreReadToTheLastPage(t *testing.T) {
	page := func(next string, instances ...ec2types.Instance) *ec2.DescribeInstancesOutput {
		out := &ec2.DescribeInstancesOutput{Reservations: []ec2types.Reservation{{Instances: instances}}}
		if next != "" {
			out.NextToken = aws.String(next)
		}
		return out
	}
	at := func(id, address string) ec2types.Instance {
		i := ec2types.Instance{InstanceId: aws.String(id)}
		if address != "" {
			i.PrivateIpAddress = aws.String(address)
		}
		return i
	}
	a := &account{pages: []*ec2.DescribeInstancesOutput{page("1"), page("2", at("i-1", "10.0.0.1"), at("i-2", "")), page("", at("i-3", "10.0.0.3"))}}
	m := probeaws.NewMembers(a, a)
	have, err := m.Addresses(t.Context(), []string{"i-1", "i-2", "i-3", "i-4"})
	if want := map[string]string{"i-1": "10.0.0.1", "i-3": "10.0.0.3"}; err != nil || !reflect.DeepEqual(have, want) || len(a.filter) != 4 {
		t.Errorf("have %v, %v, filter %v", have, err, a.filter)
	}
	a.pages = []*ec2.DescribeInstancesOutput{page("again")}
	if _, err := m.Addresses(t.Context(), []string{"i-1"}); !errors.Is(err, fault.Partial) {
		t.Errorf("a token that comes back: %v", err)
	}
	a.ec2Err = &smithy.GenericAPIError{Code: "UnauthorizedOperation", Fault: smithy.FaultClient}
	if _, err := m.Addresses(t.Context(), []string{"i-1"}); !errors.Is(err, fault.Refused) {
		t.Errorf("denied: %v", err)
	}
}
