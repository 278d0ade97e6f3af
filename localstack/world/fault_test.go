package world_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmschemas "github.com/aws/aws-sdk-go-v2/service/ssm/schemas"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

const describeGroups = "autoscaling:DescribeAutoScalingGroups"

func (l *lab) read() error {
	_, err := l.autoscaling.DescribeAutoScalingGroups(context.Background(), &autoscaling.DescribeAutoScalingGroupsInput{})
	return err
}

func TestThrottlingComesWithItsProbability(t *testing.T) {
	run := func() int {
		l := newLab(t)
		must(t, l.SetFaults(world.Fault{Operation: describeGroups, Throttle: 0.5}))
		throttled := 0
		for range 100 {
			if err := l.read(); err != nil {
				refused(t, err, "Throttling", "Rate exceeded")
				throttled++
			}
		}
		return throttled
	}
	first := run()
	if first < 30 || first > 70 {
		t.Errorf("%d of 100 calls throttled at one half (seed %d)", first, seed)
	}
	if second := run(); second != first {
		t.Errorf("the same seed %d throttled %d, then %d calls", seed, first, second)
	}
}

func TestCertainThrottlingHitsEveryCallOfTheServiceAndNoOther(t *testing.T) {
	l := newLab(t)
	must(t, l.SetFaults(world.Fault{Operation: "autoscaling:*", Throttle: 1}))
	refused(t, l.read(), "Throttling", "Rate exceeded")
	refused(t, l.mark(l.member(t, "web", 0), "Unhealthy", nil), "Throttling", "Rate exceeded")
	l.targetGroup(t)
}

func TestFirstCallsFailAndTheRetryerGetsThrough(t *testing.T) {
	l := newLab(t)
	must(t, l.SetFaults(world.Fault{Operation: describeGroups, FailFirst: 2,
		Error: wire.Error{Code: "ServiceUnavailable", Status: http.StatusServiceUnavailable}}))
	_, err := l.autoscaling.DescribeAutoScalingGroups(context.Background(), &autoscaling.DescribeAutoScalingGroupsInput{},
		func(o *autoscaling.Options) {
			o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
				so.MaxAttempts = 3
				so.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		})
	must(t, err)
	var statuses []int
	for _, e := range l.Log() {
		statuses = append(statuses, e.Status)
	}
	if !slices.Equal(statuses, []int{503, 503, 200}) {
		t.Errorf("statuses %v", statuses)
	}
}

func TestContentionIsTheModeledError(t *testing.T) {
	l := newLab(t)
	must(t, l.SetFaults(world.Fault{Operation: "autoscaling:SetInstanceHealth", FailFirst: -1, Error: wire.Error{
		Code: "ResourceContention", Message: "pending update", Status: http.StatusInternalServerError}}))
	err := l.mark(l.member(t, "web", 0), "Unhealthy", nil)
	refused(t, err, "ResourceContention", "pending update")
	var contention *types.ResourceContentionFault
	if !errors.As(err, &contention) {
		t.Errorf("got %T, want the modeled error", err)
	}
	if h := aws.ToString(l.group(t, "web").Instances[0].HealthStatus); h != "Healthy" {
		t.Errorf("the refused mark arrived: %s", h)
	}
}

func TestLostAnswerLeavesTheActDone(t *testing.T) {
	l := newLab(t)
	must(t, l.SetFaults(world.Fault{Operation: "autoscaling:SetInstanceHealth", LoseFirst: 1}))
	refused(t, l.mark(l.member(t, "web", 0), "Unhealthy", nil), "InternalFailure", "")
	if h := aws.ToString(l.group(t, "web").Instances[0].HealthStatus); h != "Unhealthy" {
		t.Errorf("the act was not done: %s", h)
	}
	must(t, l.mark(l.member(t, "web", 1), "Unhealthy", nil))
}

func TestSlowAnswersPassTime(t *testing.T) {
	l := newLab(t)
	must(t, l.SetFaults(world.Fault{Operation: "*", Slow: 4 * time.Second}))
	before := l.clock.Now()
	must(t, l.read())
	if took := l.clock.Now().Sub(before); took != 4*time.Second {
		t.Errorf("took %v, want 4s", took)
	}
}

func TestPagesMayBeEmptyOrShortWithoutLosingAnything(t *testing.T) {
	cases := []struct {
		name  string
		fault world.Fault
		most  int32
		pages int
	}{
		{"without a fault one page holds all", world.Fault{Operation: describeGroups}, 50, 1},
		{"the client asks for small pages", world.Fault{Operation: describeGroups}, 1, 2},
		{"empty pages come first", world.Fault{Operation: describeGroups, EmptyPages: 3}, 50, 4},
		{"pages are shorter than asked", world.Fault{Operation: describeGroups, PageMax: 1}, 50, 2},
		{"both at once", world.Fault{Operation: describeGroups, PageMax: 1, EmptyPages: 1}, 50, 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			must(t, l.SetFaults(c.fault))
			pages := autoscaling.NewDescribeAutoScalingGroupsPaginator(l.autoscaling,
				&autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: aws.Int32(c.most)},
				func(o *autoscaling.DescribeAutoScalingGroupsPaginatorOptions) { o.StopOnDuplicateToken = true })
			var names []string
			asked := 0
			for pages.HasMorePages() {
				out, err := pages.NextPage(context.Background())
				must(t, err)
				asked++
				for _, g := range out.AutoScalingGroups {
					names = append(names, aws.ToString(g.AutoScalingGroupName))
				}
			}
			if !slices.Equal(names, []string{"web", "batch"}) || asked != c.pages {
				t.Errorf("%v in %d pages, want both groups in %d", names, asked, c.pages)
			}
		})
	}
}

func TestTokensAndSizesThatCannotBeAreRefused(t *testing.T) {
	l := newLab(t)
	for _, token := range []string{"tomorrow", "page-99-0", "page--1-0", "page-0"} {
		_, err := l.autoscaling.DescribeAutoScalingGroups(context.Background(),
			&autoscaling.DescribeAutoScalingGroupsInput{NextToken: aws.String(token)})
		refused(t, err, "InvalidNextToken", "")
	}
	for _, size := range []int32{0, 101} {
		_, err := l.autoscaling.DescribeAutoScalingGroups(context.Background(),
			&autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: aws.Int32(size)})
		refused(t, err, "ValidationError", "")
	}
}

func TestStaleReadShowsThePast(t *testing.T) {
	l := newLab(t)
	id := l.member(t, "web", 0)
	health := func() string { return aws.ToString(l.group(t, "web").Instances[0].HealthStatus) }
	if h := health(); h != "Healthy" {
		t.Fatalf("at first %s", h)
	}
	l.clock.Add(10 * time.Second)
	must(t, l.mark(id, "Unhealthy", nil))
	if h := health(); h != "Unhealthy" { // an answer that is too new to be stale
		t.Fatalf("after the mark %s", h)
	}
	must(t, l.SetFaults(world.Fault{Operation: "autoscaling:*", Stale: 5 * time.Second}))
	if h := health(); h != "Healthy" {
		t.Errorf("a stale read shows %s", h)
	}
	must(t, l.SetFaults())
	if h := health(); h != "Unhealthy" {
		t.Errorf("a fresh read shows %s", h)
	}
}

func TestFaultsThatCannotBeAreRefusedAndChangeNothing(t *testing.T) {
	l := newLab(t)
	must(t, l.SetFaults(world.Fault{Operation: describeGroups, Throttle: 1}))
	bad := []world.Fault{
		{Operation: "DescribeAutoScalingGroups"}, {Operation: "*", Throttle: 1.1}, {Operation: "*", FailFirst: -2},
		{Operation: "*", EmptyPages: -1}, {Operation: "*", Slow: -1}, {Operation: "*", Error: wire.Error{Status: 200}},
	}
	for _, f := range bad {
		if err := l.SetFaults(f); err == nil {
			t.Errorf("accepted %+v", f)
		}
	}
	if got := l.Faults(); len(got) != 1 || got[0].Throttle != 1 {
		t.Errorf("faults are now %+v", got)
	}
}

func TestAdminEndpointSetsAndShowsFaults(t *testing.T) {
	l := newLab(t)
	do := func(method, path, body string) (int, string) {
		req, err := http.NewRequest(method, l.url+path, strings.NewReader(body))
		must(t, err)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp.StatusCode, strings.TrimSpace(string(text))
	}
	list := `[{"operation":"autoscaling:*","throttle":1,"slow":"2s"}]`
	if status, text := do("PUT", "/_world/faults", list); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, text)
	}
	if _, text := do("GET", "/_world/faults", ""); text != list {
		t.Errorf("faults %s, want %s", text, list)
	}
	refused(t, l.read(), "Throttling", "")
	for _, body := range []string{`[{"operation":"*","speed":1}]`, `[{"operation":"*","slow":"soon"}]`, `{}`, `[{"operation":"x"}]`} {
		if status, _ := do("PUT", "/_world/faults", body); status != http.StatusBadRequest {
			t.Errorf("%s gave %d", body, status)
		}
	}
	if status, _ := do("DELETE", "/_world/faults", ""); status != http.StatusNoContent {
		t.Errorf("delete gave %d", status)
	}
	must(t, l.read())
	if _, text := do("GET", "/_world/calls", ""); text != `{"autoscaling:DescribeAutoScalingGroups":2}` {
		t.Errorf("calls %s", text)
	}
	if _, text := do("GET", "/_world/log", ""); strings.Count(text, `"seq"`) != 2 || !strings.Contains(text, `"code":"Throttling"`) {
		t.Errorf("log %s", text)
	}
	if status, _ := do("GET", "/_world/nothing", ""); status != http.StatusNotFound {
		t.Errorf("unknown page gave %d", status)
	}
}

func TestCallsAreLoggedInOrder(t *testing.T) {
	l := newLab(t)
	must(t, l.read())
	must(t, l.mark(l.member(t, "web", 0), "Unhealthy", nil))
	l.targetGroup(t)
	var got []string
	for _, e := range l.Log() {
		got = append(got, e.Name())
	}
	want := []string{describeGroups, "autoscaling:SetInstanceHealth", "elasticloadbalancing:DescribeTargetGroups"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := l.Calls()["autoscaling:SetInstanceHealth"]; n != 1 {
		t.Errorf("%d marks counted", n)
	}
}

// echo is a service of another package, mounted beside the simulated ones.
type echo struct{}

// Handle implements wire.Service.
func (echo) Handle(_ context.Context, call wire.Call) (any, error) {
	if call.Operation != "PutParameter" {
		return nil, wire.UnknownOperation(call.Operation)
	}
	return wire.Do(call, func(in *ssm.PutParameterInput) (*ssm.PutParameterOutput, error) {
		return &ssm.PutParameterOutput{Version: int64(len(aws.ToString(in.Value)))}, nil
	})
}

func TestOtherServicesAndPathsCanBeMounted(t *testing.T) {
	l := newLab(t)
	client := ssm.New(ssm.Options{Region: "us-east-1", BaseEndpoint: aws.String(l.url), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		})})
	put := func() (*ssm.PutParameterOutput, error) {
		return client.PutParameter(context.Background(), &ssm.PutParameterInput{Name: aws.String("/a"), Value: aws.String("four")})
	}
	if _, err := put(); err == nil {
		t.Error("a service that is not mounted answered")
	}
	l.Mount(wire.Mount{Name: "ssm", Key: "AmazonSSM", Codec: wire.JSON11(ssmschemas.AmazonSSM), Service: echo{}})
	out, err := put()
	must(t, err)
	if out.Version != 4 {
		t.Errorf("version %d, want 4", out.Version)
	}
	_, err = client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: aws.String("/a")})
	refused(t, err, "UnknownOperationException", "")

	l.HandlePath("/runtime/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	resp, err := http.Get(l.url + "/runtime/next")
	must(t, err)
	must(t, resp.Body.Close())
	if resp.StatusCode != http.StatusTeapot {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestReadsAdvanceTheSimulatorToThePresent(t *testing.T) {
	l := newLab(t)
	l.clock.Add(90 * time.Second)
	must(t, l.read())
	var now time.Time
	l.Do(func(c *sim.Cloud) { now = c.Now() })
	if !now.Equal(l.clock.Now()) {
		t.Errorf("simulator at %v, clock at %v", now, l.clock.Now())
	}
}
