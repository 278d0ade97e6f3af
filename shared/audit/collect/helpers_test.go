package collect_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wholeclient"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

const seed = 11

// lab is a Region with the real clients on it.
type lab struct {
	*world.Region
	sdk aws.Config
	api collect.API

	mu    sync.Mutex
	slept []time.Duration
}

func start() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func newLab(t *testing.T) *lab {
	t.Helper()
	region, err := world.NewRegion(sim.Config{Start: start(), Seed: seed})
	must(t, err)
	t.Cleanup(region.Close)
	ts := httptest.NewServer(region)
	t.Cleanup(ts.Close)
	l := &lab{Region: region, sdk: aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(ts.URL), HTTPClient: wholeclient.Client{Inner: ts.Client()},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}}
	l.api, err = collect.FromSDK(l.sdk, collect.Sources{
		StateTable: world.StateTable, HeartbeatTable: world.HeartbeatTable, Now: region.Clock.Now, BackoffMax: time.Nanosecond,
	})
	must(t, err)
	return l
}

// options have no real wait; what would have been slept is kept.
func (l *lab) options() collect.Options {
	return collect.Options{Now: l.Clock.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.slept = append(l.slept, d)
		return ctx.Err()
	}}
}

func (l *lab) read(t *testing.T, o collect.Options) audit.Account {
	t.Helper()
	account, err := collect.Read(context.Background(), l.api, o)
	must(t, err)
	return account
}

// fleet makes the opted-in group web with the target group web, and the group batch without.
func (l *lab) fleet(t *testing.T) {
	t.Helper()
	l.Do(func(c *sim.Cloud) {
		must(t, c.SetDependency("db", sim.DependencyOK, 0))
		_, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: "web", Ports: []int{8080, 8081}, DeregistrationDelay: 30 * time.Second})
		must(t, err)
		_, err = c.CreateTargetGroup(sim.TargetGroupSpec{Name: "idle", NotInUse: true})
		must(t, err)
		must(t, c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: 4, Min: 2, Max: 8, Zones: []string{"us-east-1b", "us-east-1a"}, HealthCheckTypes: []string{"ELB", "EC2"},
			Grace: 300 * time.Second, InstanceWarmup: 60 * time.Second, TargetGroups: []string{"web"}, SteadyFor: time.Hour,
			Tags: map[string]string{"holdfast:guard": "true", "team": "shop"},
		}))
		must(t, c.CreateGroup(sim.GroupSpec{Name: "batch", Desired: 2, SteadyFor: time.Hour, Operator: "ecs.amazonaws.com", NoAgent: true}))
		must(t, c.PutAlarm(sim.AlarmSpec{Name: "db-down", Dependency: "db"}))
		must(t, c.PutAlarm(sim.AlarmSpec{Name: "any-down", AnyOf: []string{"db-down"}}))
	})
	must(t, l.PutParameter("/holdfast/mode", "act"))
	must(t, l.Declare("web", `{"action":"hold-only","dependencies":[{"alarm":"any-down","kind":"hard"},{"alarm":"gone","kind":"soft"},{"alarm":"db-down","kind":"hard"}]}`))
}

// notices makes Holdfast's own alarm, and the topic that it tells; it returns the topic's ARN.
func (l *lab) notices(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	topic, err := sns.NewFromConfig(l.sdk).CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("notices")})
	must(t, err)
	function := func(name string) cwtypes.Dimension {
		return cwtypes.Dimension{Name: aws.String("function"), Value: aws.String(name)}
	}
	tells := []string{aws.ToString(topic.TopicArn)}
	put := func(name, description, metric string, dims ...cwtypes.Dimension) {
		_, err := cloudwatch.NewFromConfig(l.sdk).PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
			AlarmName: aws.String(name), AlarmDescription: aws.String(description), Namespace: aws.String("Holdfast"), MetricName: aws.String(metric),
			Dimensions: dims, Statistic: cwtypes.StatisticSum, Period: aws.Int32(60), EvaluationPeriods: aws.Int32(3), Threshold: aws.Float64(1),
			ComparisonOperator: cwtypes.ComparisonOperatorLessThanThreshold, TreatMissingData: aws.String("breaching"),
			AlarmActions: tells,
		})
		must(t, err)
	}
	put("a-NoSweep-1", "Holdfast: no sweep", "sweep_completed",
		function("sweep"), cwtypes.Dimension{Name: aws.String("shard"), Value: aws.String("0")})
	put("a-Blind-2", "Holdfast: blind", "groups_blind", function("sweep"))
	put("a-Errors-5", "Holdfast: sweep failed", "Errors")
	put("a-queue-3", "somebody else's, on the same topic", "depth")
	tells = nil
	put("a-HoldOpen-4", "Holdfast: a group is held", "groups_held", function("sweep"))
	return aws.ToString(topic.TopicArn)
}

func (l *lab) ledger(t *testing.T) *ledger.Ledger {
	t.Helper()
	memory, err := ledger.New(dynamodb.NewFromConfig(l.sdk), ledger.Options{Table: world.StateTable, Now: l.Clock.Now})
	must(t, err)
	return memory
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func groupNamed(t *testing.T, a audit.Account, name string) audit.Group {
	t.Helper()
	i := slices.IndexFunc(a.Groups, func(g audit.Group) bool { return g.Name == name })
	if i < 0 {
		t.Fatalf("no group %s", name)
	}
	return a.Groups[i]
}
