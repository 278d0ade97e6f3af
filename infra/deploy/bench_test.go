package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/infra/stack"
	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Names in the world: web is a group whose members break, orders a healthy one that depends on a database.
const (
	web      = "web"
	orders   = "orders"
	database = "database-is-down"
)

const (
	root          = "../.."
	size          = 8
	past          = 15 * time.Minute
	brokenFor     = 5 * time.Minute
	step          = 2 * time.Second
	deployTimeout = 10 * time.Minute
	// Two sweeps must come before a mark, and a rule's first minute may begin with the deploy.
	actTimeout = 5 * time.Minute
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bench is one deployment with the two emulators.
type bench struct {
	t    *testing.T
	peer string
	dir  string
	// world is moved to the machine's time by each step.
	world *world.Region
	url   string
	// last is the folder of the templates that were deployed last.
	last   string
	synths int
	tables *dynamodb.Client
	params *ssm.Client
	events *eventbridge.Client
}

// newBench has clients of the emulator whose address a variable holds, or skips.
func newBench(t *testing.T, variable, start string) *bench {
	t.Helper()
	peer := os.Getenv(variable)
	if peer == "" {
		t.Skipf("%s is not set: %s", variable, start)
	}
	c := aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(peer), Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
	})}
	return &bench{t: t, peer: peer, dir: t.TempDir(), tables: dynamodb.NewFromConfig(c), params: ssm.NewFromConfig(c), events: eventbridge.NewFromConfig(c)}
}

// build builds the app, and the functions for this machine, which is what ministack runs them on.
func (b *bench) build() {
	b.t.Helper()
	for _, name := range stack.Functions() {
		b.run(nil, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(b.dir, "code", name, "bootstrap"), "./functions/"+name)
	}
	b.run(nil, "go", "build", "-o", filepath.Join(b.dir, "code", app.AgentFile), "./cmd/heartbeat")
	b.run(nil, "go", "build", "-o", filepath.Join(b.dir, "infra"), "./infra")
}

// newWorld has two groups of eight behind load balancers; a member of web froze some minutes ago. It is served as given.
func (b *bench) newWorld(serve func(*world.Region) (url string, stop func(), err error)) {
	b.t.Helper()
	r, err := world.NewRegion(sim.Config{Start: time.Now().Add(-past), Seed: 1})
	must(b.t, err)
	b.world = r
	r.Do(func(c *sim.Cloud) {
		for _, name := range []string{web, orders} {
			_, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: name, Ports: []int{8080}})
			must(b.t, err)
			must(b.t, c.CreateGroup(sim.GroupSpec{
				Name: name, Desired: size, Min: size, Max: 2 * size, Tags: map[string]string{"holdfast:guard": "true"}, HealthCheckTypes: []string{"EC2"},
				Grace: time.Minute, TargetGroups: []string{name}, SteadyFor: time.Hour,
			}))
		}
		must(b.t, c.PutAlarm(sim.AlarmSpec{Name: database}))
	})
	must(b.t, r.Advance(b.t.Context(), past-brokenFor))
	r.Do(func(c *sim.Cloud) { must(b.t, c.Break(members(c)[0], sim.Crash)) })
	address, stop, err := serve(r)
	must(b.t, err)
	b.t.Cleanup(stop)
	b.url = address
	b.follow()
}

// takeOver puts the deployed rule for alarms, pattern and target as they stand, on the bus of the world, where the alarms are: ministack
// has no alarms of the world and refuses events in AWS's own name. The target is the deployed function, invoked where it was deployed.
func (b *bench) takeOver() {
	b.t.Helper()
	ctx := b.t.Context()
	rules, err := b.events.ListRules(ctx, &eventbridge.ListRulesInput{})
	must(b.t, err)
	taken := 0
	for _, r := range rules.Rules {
		if r.EventPattern == nil {
			continue
		}
		targets, err := b.events.ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{Rule: r.Name})
		must(b.t, err)
		_, err = b.world.Bus.PutRule(&eventbridge.PutRuleInput{Name: r.Name, EventPattern: r.EventPattern})
		must(b.t, err)
		for _, target := range targets.Targets {
			_, err = b.world.Bus.PutTargets(&eventbridge.PutTargetsInput{Rule: r.Name, Targets: []bustypes.Target{{Id: target.Id, Arn: target.Arn}}})
			must(b.t, err)
			arn := aws.ToString(target.Arn)
			function := arn[strings.LastIndex(arn, ":")+1:]
			b.world.Serve(function, func(ctx context.Context, event []byte) ([]byte, error) { return b.invoke(ctx, function, event) })
			taken++
		}
	}
	if taken != 1 {
		b.t.Fatalf("%d targets of rules on the account's own bus, want the alarm function", taken)
	}
}

// invoke hands an event to a deployed function and waits for what it returns.
func (b *bench) invoke(ctx context.Context, function string, event []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.peer+"/2015-03-31/functions/"+function+"/invocations", bytes.NewReader(event))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", emulated("lambda"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	answer, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || res.Header.Get("X-Amz-Function-Error") != "") {
		err = fmt.Errorf("invoke %s: %s: %.300s", function, res.Status, answer)
	}
	return answer, err
}

// emulated is a header of which an emulator reads only the service and the Region.
func emulated(service string) string {
	return "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/" + service + "/aws4_request, SignedHeaders=host, Signature=none"
}

// members are the instances of web, oldest first.
func members(c *sim.Cloud) []string {
	g, _ := c.Group(web)
	ids := make([]string, 0, len(g.Members))
	for _, m := range g.Members {
		ids = append(ids, m.ID)
	}
	return ids
}

// follow moves the world to the machine's time and brings its members' heartbeats into the deployed table.
func (b *bench) follow() {
	b.t.Helper()
	must(b.t, b.world.Advance(b.t.Context(), time.Since(b.world.Clock.Now())))
}

// beat writes what each agent wrote last, as the agents of real instances would do themselves.
func (b *bench) beat() {
	b.t.Helper()
	var rows []sim.Beat
	b.world.Do(func(c *sim.Cloud) { rows = c.Heartbeats() })
	number := func(n int64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	word := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for _, r := range rows {
		item := map[string]types.AttributeValue{
			"pk": word(r.InstanceARN), "beat": number(r.Stamp.UnixMilli()), "seq": number(int64(r.Seq)), "boot": word(r.Boot), "status": word(r.Status), "agent": word(r.Agent),
		}
		if len(r.Failing) > 0 {
			item["failing"] = &types.AttributeValueMemberSS{Value: r.Failing}
		}
		_, err := b.tables.PutItem(b.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stack.DefaultHeartbeatTable), Item: item})
		must(b.t, err)
	}
}

// until lets time pass until something is so.
func (b *bench) until(what string, so func() bool) {
	b.t.Helper()
	began := time.Now()
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	for !so() {
		if time.Since(began) > actTimeout {
			b.t.Fatalf("not within %s: %s; calls %v", actTimeout, what, b.world.Calls())
		}
		<-ticks.C
		b.follow()
		b.beat()
	}
	b.t.Logf("%s after %s", what, time.Since(began).Round(time.Second))
}

func (b *bench) calls(name string) int { return b.world.Calls()[name] }

// held says whether the replacement of unhealthy members of a group is suspended.
func (b *bench) held(group string) bool {
	held := false
	b.world.Do(func(c *sim.Cloud) {
		g, _ := c.Group(group)
		held = slices.ContainsFunc(g.Suspended, func(p sim.Suspension) bool { return p.Process == "ReplaceUnhealthy" })
	})
	return held
}

// synth makes the templates, in which the functions find the world for what ministack cannot do, and returns their folder: CDK's command
// line then need not make them for each of its commands.
func (b *bench) synth(g app.Guardian) string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "cdk.json"))
	must(b.t, err)
	var file map[string]any
	must(b.t, json.Unmarshal(raw, &file))
	g.Environment = map[string]string{
		"AWS_ENDPOINT_URL":              b.peer,
		"AWS_ENDPOINT_URL_AUTO_SCALING": b.url, "AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2": b.url, "AWS_ENDPOINT_URL_CLOUDWATCH": b.url, "AWS_ENDPOINT_URL_EC2": b.url,
	}
	context, ok := file["context"].(map[string]any)
	if !ok {
		b.t.Fatal("cdk.json has no context")
	}
	context["holdfast"] = app.Settings{Guardian: g}
	raw, err = json.Marshal(file)
	must(b.t, err)
	settings := filepath.Join(b.dir, "cdk.json")
	must(b.t, os.WriteFile(settings, raw, 0o600))
	b.synths++
	out := filepath.Join(b.dir, "cdk.out."+strconv.Itoa(b.synths))
	// The templates are validated in infra/stack.
	b.run([]string{"CDK_OUTDIR=" + out, "CDK_VALIDATION=false"}, filepath.Join(b.dir, "infra"), "-cdk", settings, "-code", filepath.Join(b.dir, "code"))
	return out
}

// cdk runs CDK's command line against ministack.
func (b *bench) cdk(templates string, args ...string) {
	b.t.Helper()
	if said, err := b.tryCDK(templates, args...); err != nil {
		b.t.Fatalf("cdk %s: %v\n%s", strings.Join(args, " "), err, said)
	}
}

func (b *bench) tryCDK(templates string, args ...string) (string, error) {
	b.t.Helper()
	began := time.Now()
	all := append([]string{"--no-install", "cdk"}, append(args, "--app", templates)...)
	said, err := b.try([]string{
		"AWS_ENDPOINT_URL=" + b.peer, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=" + filepath.Join(b.dir, "none"), "AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(b.dir, "none"), "CDK_DISABLE_CLI_TELEMETRY=true", "CI=true",
	}, "npx", all...)
	b.t.Logf("cdk %s took %s", strings.Join(args, " "), time.Since(began).Round(time.Second))
	return said, err
}

func (b *bench) run(env []string, name string, args ...string) {
	b.t.Helper()
	if said, err := b.try(env, name, args...); err != nil {
		b.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
	}
}

func (b *bench) try(env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), deployTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// set writes a parameter as an operator does.
func (b *bench) set(name, value string) {
	b.t.Helper()
	_, err := b.params.PutParameter(b.t.Context(), &ssm.PutParameterInput{Name: aws.String(name), Value: aws.String(value), Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true)})
	must(b.t, err)
}

func (b *bench) value(name string) string {
	b.t.Helper()
	out, err := b.params.GetParameter(b.t.Context(), &ssm.GetParameterInput{Name: aws.String(name)})
	must(b.t, err)
	return aws.ToString(out.Parameter.Value)
}

// rows are the keys of the deployed state table.
func (b *bench) rows() map[string]bool {
	b.t.Helper()
	out, err := b.tables.Scan(b.t.Context(), &dynamodb.ScanInput{TableName: aws.String(stack.DefaultStateTable)})
	must(b.t, err)
	rows := map[string]bool{}
	word := func(v types.AttributeValue) string {
		s, ok := v.(*types.AttributeValueMemberS)
		if !ok {
			b.t.Fatalf("a key of type %T", v)
		}
		return s.Value
	}
	for _, item := range out.Items {
		rows[word(item["pk"])+" "+word(item["sk"])] = true
	}
	return rows
}
