// Package deploy_test deploys the Guardian with CDK's own command line into ministack, an emulator of AWS, and watches the deployed
// functions do their work. It runs in real time, because nobody can move that emulator's clock. Auto Scaling, load balancing, EC2 and
// alarms come from the embedded AWS, because ministack has no SetInstanceHealth; everything else is ministack's.
package deploy_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/infra/stack"
	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// peerVariable has the address of a ministack that is started anew; .ci/run starts one.
const peerVariable = "HOLDFAST_DEPLOY_MINISTACK"

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
	world  *world.Region
	url    string
	tables *dynamodb.Client
	params *ssm.Client
}

func newBench(t *testing.T) *bench {
	t.Helper()
	peer := os.Getenv(peerVariable)
	if peer == "" {
		t.Skipf("%s is not set: start `ministack` from PyPI and give its address, such as http://127.0.0.1:4566", peerVariable)
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules", "aws-cdk")); err != nil {
		t.Skipf("CDK's command line is not installed: run `npm ci --ignore-scripts` first")
	}
	c := aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(peer), Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
	})}
	b := &bench{t: t, peer: peer, dir: t.TempDir(), tables: dynamodb.NewFromConfig(c), params: ssm.NewFromConfig(c)}
	b.build()
	b.newWorld()
	return b
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

// newWorld has a group of eight behind a load balancer, one of which froze some minutes ago.
func (b *bench) newWorld() {
	b.t.Helper()
	r, err := world.NewRegion(sim.Config{Start: time.Now().Add(-past), Seed: 1})
	must(b.t, err)
	b.world = r
	r.Do(func(c *sim.Cloud) {
		_, err := c.CreateTargetGroup(sim.TargetGroupSpec{Name: "web", Ports: []int{8080}})
		must(b.t, err)
		must(b.t, c.CreateGroup(sim.GroupSpec{
			Name: "web", Desired: size, Min: size, Max: 2 * size, Tags: map[string]string{"holdfast:guard": "true"}, HealthCheckTypes: []string{"EC2"},
			Grace: time.Minute, TargetGroups: []string{"web"}, SteadyFor: time.Hour,
		}))
	})
	must(b.t, r.Advance(b.t.Context(), past-brokenFor))
	r.Do(func(c *sim.Cloud) { must(b.t, c.Break(members(c)[0], sim.Crash)) })
	url, stop, err := stage.Listen(r)
	must(b.t, err)
	b.t.Cleanup(stop)
	b.url = url
	b.follow()
}

// members are the instances of the group, oldest first.
func members(c *sim.Cloud) []string {
	g, _ := c.Group("web")
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

// until lets time pass until the world has got a call, and says how often.
func (b *bench) until(call string) int {
	b.t.Helper()
	began := time.Now()
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	for {
		if n := b.world.Calls()[call]; n > 0 {
			b.t.Logf("%s after %s", call, time.Since(began).Round(time.Second))
			return n
		}
		if time.Since(began) > actTimeout {
			b.t.Fatalf("no %s in %s; calls %v", call, actTimeout, b.world.Calls())
		}
		<-ticks.C
		b.follow()
		b.beat()
	}
}

// settings writes a cdk.json whose functions find the world for what ministack cannot do.
func (b *bench) settings(g app.Guardian) string {
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
	path := filepath.Join(b.dir, "cdk.json")
	must(b.t, os.WriteFile(path, raw, 0o600))
	return path
}

// cdk runs CDK's command line against ministack.
func (b *bench) cdk(settings string, args ...string) {
	b.t.Helper()
	program := strings.Join([]string{filepath.Join(b.dir, "infra"), "-cdk", settings, "-code", filepath.Join(b.dir, "code")}, " ")
	args = append([]string{"--no-install", "cdk"}, append(args, "--app", program, "--output", filepath.Join(b.dir, "cdk.out"), "--build", "true")...)
	b.run([]string{
		"AWS_ENDPOINT_URL=" + b.peer, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=" + filepath.Join(b.dir, "none"), "AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(b.dir, "none"), "CDK_DISABLE_CLI_TELEMETRY=true", "CI=true",
	}, "npx", args...)
}

func (b *bench) run(env []string, name string, args ...string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), deployTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
	}
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

func TestTheDeployedGuardianMarksOneHoldsManyAndKeepsWhatTheOperatorSet(t *testing.T) {
	const tuning = `{"confirm_sweeps":1,"boot_grace_seconds":0}`
	b := newBench(t)
	first := b.settings(app.Guardian{})
	b.cdk(first, "bootstrap", "aws://000000000000/us-east-1")
	b.cdk(first, "deploy", app.GuardianStack, "--require-approval", "never")
	if _, err := b.params.GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String(guard.ModeParameter)}); err == nil {
		t.Fatalf("the stack has created %s, and would write it again", guard.ModeParameter)
	}

	// What the operator set outlives a deploy with another tag, another memory size and other declared values.
	b.set(guard.ModeParameter, guard.ModeAct)
	b.set(guard.LayerGroups+"web", tuning)
	b.cdk(b.settings(app.Guardian{MemoryMB: 512, Defaults: json.RawMessage(`{"marks_per_hour":2}`)}), "deploy", app.GuardianStack, "--require-approval", "never", "--tags", "team=orders")
	if defaults := b.value(guard.LayerDefaults); defaults != `{"marks_per_hour":2}` {
		t.Errorf("the second deploy did not reach the declared defaults: %s", defaults)
	}
	if mode, own := b.value(guard.ModeParameter), b.value(guard.LayerGroups+"web"); mode != guard.ModeAct || own != tuning {
		t.Errorf("after the second deploy the switch is %q and the operator's layer %s", mode, own)
	}

	// One of eight is broken: the scheduled sweeps mark it.
	b.follow()
	b.beat()
	var broken string
	b.world.Do(func(c *sim.Cloud) { broken = members(c)[0] })
	if n := b.until("autoscaling:SetInstanceHealth"); n != 1 {
		t.Errorf("%d marks for one broken member", n)
	}
	b.world.Do(func(c *sim.Cloud) {
		if m, ok := c.Instance(broken); ok && m.Lifecycle == sim.InService && m.Health != sim.Unhealthy {
			t.Errorf("%s was broken and is %s and %s", broken, m.Lifecycle, m.Health)
		}
	})
	if n := b.world.Calls()["autoscaling:SuspendProcesses"]; n != 0 {
		t.Errorf("one broken member was held %d times", n)
	}

	// Half of them fail together: the group is held, and nothing more is marked.
	b.world.Do(func(c *sim.Cloud) {
		for _, id := range members(c)[:size/2] {
			must(t, c.Break(id, sim.Hang))
		}
	})
	b.until("autoscaling:SuspendProcesses")
	if n := b.world.Calls()["autoscaling:SetInstanceHealth"]; n != 1 {
		t.Errorf("%d marks in all, want the one from before", n)
	}
	b.rowsOfState()
}

// rowsOfState wants the hold to be remembered in the deployed table.
func (b *bench) rowsOfState() {
	b.t.Helper()
	out, err := b.tables.Scan(b.t.Context(), &dynamodb.ScanInput{TableName: aws.String(stack.DefaultStateTable)})
	must(b.t, err)
	if len(out.Items) == 0 {
		b.t.Error("the deployed state table is empty")
	}
}
