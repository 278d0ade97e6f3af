package world_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wholeclient"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// clock is a hand-driven clock; sleeping moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// lab is a server with a fleet of two groups and the real clients on it.
type lab struct {
	*world.Server
	clock       *clock
	url         string
	autoscaling *autoscaling.Client
	elb         *elb.Client
	cloudwatch  *cloudwatch.Client
	ec2         *ec2.Client
}

const seed = 7

func newLab(t *testing.T) *lab {
	t.Helper()
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	cloud := sim.NewCloud(sim.Config{Start: start, Seed: seed})
	must(t, cloud.SetDependency("db", sim.DependencyOK, 0))
	_, err := cloud.CreateTargetGroup(sim.TargetGroupSpec{Name: "web", Ports: []int{8080, 8081}})
	must(t, err)
	must(t, cloud.CreateGroup(sim.GroupSpec{
		Name: "web", Desired: 4, Min: 2, Max: 8, Zones: []string{"us-east-1a", "us-east-1b"},
		Tags:             map[string]string{"holdfast:managed": "true", "team": "shop"},
		HealthCheckTypes: []string{"EC2", "ELB"}, Grace: 300 * time.Second,
		TargetGroups: []string{"web"}, SteadyFor: time.Hour,
	}))
	must(t, cloud.CreateGroup(sim.GroupSpec{
		Name: "batch", Desired: 2, Tags: map[string]string{"team": "data"}, SteadyFor: time.Hour,
		Operator: "ecs.amazonaws.com",
	}))
	must(t, cloud.PutAlarm(sim.AlarmSpec{Name: "db-down", Dependency: "db"}))
	must(t, cloud.PutAlarm(sim.AlarmSpec{Name: "any-down", AnyOf: []string{"db-down"}}))

	l := &lab{clock: &clock{now: start}}
	l.Server = world.New(world.Options{
		Cloud: cloud, Now: l.clock.Now, Seed: seed,
		Sleep: func(_ context.Context, d time.Duration) { l.clock.Add(d) },
	})
	ts := httptest.NewServer(l)
	t.Cleanup(ts.Close)
	l.url = ts.URL
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(ts.URL), HTTPClient: wholeclient.Client{Inner: ts.Client()},
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		}),
	}
	l.autoscaling = autoscaling.NewFromConfig(cfg)
	l.elb = elb.NewFromConfig(cfg)
	l.cloudwatch = cloudwatch.NewFromConfig(cfg)
	l.ec2 = ec2.NewFromConfig(cfg)
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// member returns the ID of the n-th member of a group.
func (l *lab) member(t *testing.T, group string, n int) string {
	t.Helper()
	var id string
	l.Do(func(c *sim.Cloud) {
		g, ok := c.Group(group)
		if !ok || len(g.Members) <= n {
			t.Fatalf("group %s has no member %d", group, n)
		}
		id = g.Members[n].ID
	})
	return id
}

// refused checks the code of an error and, when given, its text.
func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		t.Fatalf("got %v, want an API error %s", err, code)
	}
	if api.ErrorCode() != code {
		t.Errorf("code %s (%s), want %s", api.ErrorCode(), api.ErrorMessage(), code)
	}
	if message != "" && api.ErrorMessage() != message {
		t.Errorf("message %q, want %q", api.ErrorMessage(), message)
	}
}
