package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/user"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wholeclient"
	"github.com/holdfast-aws/holdfast/shared/alarms"
	"github.com/holdfast-aws/holdfast/shared/awsact"
	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/policystore"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// region is an embedded AWS with one guarded group, shop/web, and what a sweep needs to look at it.
type region struct {
	*world.Region
	sdk    aws.Config
	sweeps int
}

const groupName = "shop/web"

// newRegion also points the environment at it, so that commands run exactly as they do for a person.
func newRegion(t *testing.T) *region {
	t.Helper()
	w, err := world.NewRegion(sim.Config{Start: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	w.Do(func(c *sim.Cloud) {
		if _, err = c.CreateTargetGroup(sim.TargetGroupSpec{Name: "web", Ports: []int{8080}}); err != nil {
			return
		}
		err = c.CreateGroup(sim.GroupSpec{
			Name: groupName, Desired: 4, Min: 1, Max: 8, Zones: []string{"us-east-1a", "us-east-1b"}, HealthCheckTypes: []string{"EC2"},
			Tags: map[string]string{"holdfast:guard": "true"}, TargetGroups: []string{"web"}, SteadyFor: time.Hour,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.PutParameter(guard.ModeParameter, guard.ModeAct); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_PROFILE": "", "AWS_SESSION_TOKEN": "",
		"AWS_MAX_ATTEMPTS": "1", "HOLDFAST_STATE_TABLE": world.StateTable, "HOLDFAST_OPERATOR": "sam", "HOLDFAST_SWEEP_INTERVAL": "",
	} {
		t.Setenv(name, value)
	}
	return &region{Region: w, sdk: aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), HTTPClient: wholeclient.Client{Inner: &http.Client{}}, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	}}
}

// silent is a reporter that keeps nothing: what a sweep did is seen in the world.
type silent struct{}

func (silent) Page(context.Context, runner.Notice) error { return nil }
func (silent) Report(context.Context, runner.Report)     {}

// sweep lets n minutes pass, with a look of the real runner over the real adapters after each.
func (r *region) sweep(t *testing.T, n int) {
	t.Helper()
	memory, err := ledger.New(dynamodb.NewFromConfig(r.sdk), ledger.Options{Table: world.StateTable, Now: r.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	fleet := awsfleet.New(awsfleet.API{
		AutoScaling: autoscaling.NewFromConfig(r.sdk), LoadBalancing: elasticloadbalancingv2.NewFromConfig(r.sdk), EC2: ec2.NewFromConfig(r.sdk),
	}, awsfleet.Options{Now: r.Clock.Now})
	for range n {
		if err := r.Advance(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		run, err := runner.New(runner.Ports{
			Fleet: fleet.NewRun(), Beats: beats.New(dynamodb.NewFromConfig(r.sdk), beats.Options{Table: world.HeartbeatTable}),
			Alarms: alarms.New(cloudwatch.NewFromConfig(r.sdk)), Policies: policystore.New(ssm.NewFromConfig(r.sdk)),
			Ledger: memory, Actor: awsact.New(autoscaling.NewFromConfig(r.sdk), awsact.Options{}), Reporter: silent{},
		}, runner.Options{Now: r.Clock.Now, SweepInterval: time.Minute, Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		r.sweeps++
		sum, err := run.Run(t.Context(), runner.Request{Run: fmt.Sprint("run-", r.sweeps), Trigger: runner.TriggerSweep})
		if err != nil || sum.Failed > 0 || sum.Looked != 1 {
			t.Fatalf("sweep %d: %+v, %v", r.sweeps, sum, err)
		}
	}
}

func (r *region) suspended(t *testing.T) []string {
	t.Helper()
	out, err := autoscaling.NewFromConfig(r.sdk).DescribeAutoScalingGroups(t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{groupName}})
	if err != nil || len(out.AutoScalingGroups) != 1 {
		t.Fatalf("describe: %v", err)
	}
	var names []string
	for _, s := range out.AutoScalingGroups[0].SuspendedProcesses {
		names = append(names, aws.ToString(s.ProcessName))
	}
	slices.Sort(names)
	return names
}

// does runs a command and wants its exit code and texts on standard output.
func does(t *testing.T, want int, args []string, says ...string) {
	t.Helper()
	code, out, errOut := holdfast(t, args...)
	if code != want {
		t.Errorf("%v: exit %d, want %d; %s", args, code, want, errOut)
	}
	for _, text := range says {
		if !strings.Contains(out+errOut, text) {
			t.Errorf("%v does not say %q:\n%s%s", args, text, out, errOut)
		}
	}
}

func (r *region) mode(t *testing.T) string {
	t.Helper()
	code, out, errOut := holdfast(t, "status", "--json")
	var s struct {
		Groups []struct {
			Mode string `json:"mode"`
		} `json:"groups"`
	}
	if err := json.Unmarshal([]byte(out), &s); code != exitOK || err != nil || len(s.Groups) != 1 {
		t.Fatalf("exit %d, %v, %s%s", code, err, out, errOut)
	}
	return s.Groups[0].Mode
}

func TestASweepObeysWhatAPersonAskedFor(t *testing.T) {
	r := newRegion(t)
	does(t, exitOK, []string{"status"}, "/holdfast/mode: act", "shop/web  not seen yet")
	r.sweep(t, 3)
	if got := r.mode(t); got != guard.Watching {
		t.Fatalf("mode %s", got)
	}
	does(t, exitOK, []string{"tune", groupName, "quiet_seconds=120", "mode=act"}, "/holdfast/groups/shop_2Fweb: written as version 1", "quiet_seconds: 600 (built-in) -> 120")
	does(t, exitNo, []string{"tune", groupName, "quiet_seconds=6O"}, `quiet_seconds: "6O" is not a number`)
	does(t, exitOK, []string{"hold", groupName, "--reason", "bad deploy"}, "shop/web: asked for a hold as sam: bad deploy")
	does(t, exitOK, []string{"hold", "--reason", "bad deploy", groupName}, "sam has asked for this hold already", "nothing was changed")
	does(t, exitOK, []string{"status", groupName}, "hold asked for by sam", "not obeyed yet: bad deploy")
	if got := r.suspended(t); len(got) != 0 {
		t.Errorf("the command itself suspended %v", got)
	}

	r.sweep(t, 1)
	if got := strings.Join(r.suspended(t), " "); got != "AZRebalance HealthCheck ReplaceUnhealthy" || r.mode(t) != guard.Held {
		t.Errorf("after the sweep %s is suspended", got)
	}
	does(t, exitOK, []string{"status"}, "shop/web  held  2026-11-30", "operator", "asked for by sam: bad deploy", "only a person ends this hold")
	does(t, exitOK, []string{"pause"}, "/holdfast/mode: act -> observe (version 2)", "shop/web is held since", "nothing releases them until the mode is act")
	does(t, exitNo, []string{"release", groupName, "--reason", "mended"}, "the mode of shop/web is observe (/holdfast/mode)")
	r.sweep(t, 5)
	if got := r.suspended(t); len(got) != 3 {
		t.Errorf("a paused Holdfast left only %v suspended", got)
	}
	does(t, exitOK, []string{"unpause"}, "/holdfast/mode: observe -> act (version 3)", "the next sweep takes it up again")
	does(t, exitOK, []string{"unpause"}, "is act already; nothing was changed")
	does(t, exitOK, []string{"release", groupName, "--reason", "mended"}, "shop/web: asked for a release as sam: mended")
	r.sweep(t, 8)
	if got := r.suspended(t); len(got) != 0 || r.mode(t) != guard.Watching {
		_, out, _ := holdfast(t, "status")
		t.Errorf("%v is still suspended:\n%s", got, out)
	}
	does(t, exitOK, []string{"release", groupName, "--reason", "mended"}, "is not held: there is nothing to release")
	does(t, exitOK, []string{"tune", groupName}, "quiet_seconds", "120", "/holdfast/groups/shop_2Fweb")
}

func TestErrorsOfAWSAreToldWithWhatToDo(t *testing.T) {
	newRegion(t)
	does(t, exitNo, []string{"status", "--state-table", "elsewhere"}, "what the groups share could not be read: ", `shop/web: could not be read: state table "elsewhere" does not exist in us-east-1 (--state-table)`)
	does(t, exitUsage, []string{"hold", groupName, "--reason", "why", "--state-table", "elsewhere"}, `holdfast hold: state table "elsewhere" does not exist in us-east-1 (--state-table)`)
	t.Setenv("HOLDFAST_STATE_TABLE", "nowhere")
	does(t, exitUsage, []string{"hold", groupName, "--reason", "why"}, `state table "nowhere" does not exist in us-east-1 (HOLDFAST_STATE_TABLE)`)
	does(t, exitUsage, []string{"hold", groupName, "--reason", "why", "--state-table", ""}, "set HOLDFAST_STATE_TABLE or --state-table")
	does(t, exitNo, []string{"hold", "shop/wbe", "--reason", "why"}, `no Auto Scaling group "shop/wbe"`)
	does(t, exitNo, []string{"status", "shop/wbe"}, "shop/wbe: no Auto Scaling group of this name")
	does(t, exitOK, []string{"pause", "off", "--state-table", ""}, "/holdfast/mode: act -> off", "holdfast pause: warning: whether holds are in force could not be read")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	does(t, exitUsage, []string{"pause"}, "get parameter /holdfast/mode: outcome unknown", "nothing listens at http://127.0.0.1:1: look at AWS_ENDPOINT_URL")
	if _, _, errOut := holdfast(t, "pause"); strings.Contains(errOut, "cannot be told") {
		t.Errorf("a read that failed leaves something in doubt: %s", errOut)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	does(t, exitUsage, []string{"pause"}, "holdfast pause: no AWS credentials: set a profile or AWS_ACCESS_KEY_ID\n")
	t.Setenv("AWS_ACCESS_KEY_ID", "local")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "local")
	t.Setenv("AWS_REGION", "")
	does(t, exitUsage, []string{"pause"}, "no AWS Region")
	t.Setenv("HOLDFAST_SWEEP_INTERVAL", "60")
	does(t, exitUsage, []string{"pause"}, `HOLDFAST_SWEEP_INTERVAL: "60", want a duration`)
}

// Only a write whose answer was lost leaves a doubt; a read that fails leaves none.
func TestALostAnswerToAWriteIsToldAsADoubt(t *testing.T) {
	const doubt = "whether it was done cannot be told"
	for operation, want := range map[string]bool{"dynamodb:PutItem": true, "dynamodb:Query": false} {
		r := newRegion(t)
		if err := r.SetFaults(world.Fault{Operation: operation, LoseFirst: -1}); err != nil {
			t.Fatal(err)
		}
		code, out, errOut := holdfast(t, "hold", groupName, "--reason", "why")
		if code != exitUsage || out != "" || strings.Contains(errOut, "\nholdfast hold: "+doubt) != want {
			t.Errorf("%s: exit %d, %q, %q", operation, code, out, errOut)
		}
	}
}

func TestACommandThatIsMisusedAsksAWSNothing(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"hold"}, "want one group"},
		{[]string{"hold", "a", "b", "--reason", "x"}, `unexpected argument "b"`},
		{[]string{"release", "web"}, "want --reason TEXT"},
		{[]string{"hold", "web", "--force"}, "holdfast hold: unknown flag --force\n"},
		{[]string{"tune"}, "want a group"},
		{[]string{"tune", "web", "quiet_seconds"}, `"quiet_seconds" is not KEY=VALUE`},
		{[]string{"pause", "act"}, `unexpected argument "act"`},
		{[]string{"pause", "act"}, "want observe or off, or neither"},
		{[]string{"unpause", "off"}, "want act or observe, or neither"},
		{[]string{"pause", "off", "now"}, `unexpected argument "now"`},
		{[]string{"status", "--by", "kim"}, "unknown flag --by"},
		{[]string{"status", "--yaml"}, "usage: holdfast status [--json] [FLAG...] [GROUP...]"},
	} {
		code, out, errOut := holdfast(t, c.args...)
		if code != exitUsage || out != "" || !strings.Contains(errOut, c.says) || !strings.Contains(errOut, "usage: holdfast "+c.args[0]) {
			t.Errorf("%v: exit %d, %q, %q", c.args, code, out, errOut)
		}
	}
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	newRegion(t)
	does(t, exitOK, []string{"tune", groupName, "--dry-run", "quiet_seconds=900", "--by", "kim"}, "a dry run writes nothing")
	does(t, exitNo, []string{"status", "--", "--json"}, "--json: no Auto Scaling group")
}

func TestWhoAsksIsTheUserOfTheMachineWhenNothingElseSaysSo(t *testing.T) {
	newRegion(t)
	for _, name := range []string{"HOLDFAST_OPERATOR", "USER", "LOGNAME", "USERNAME"} {
		t.Setenv(name, "")
	}
	who, err := user.Current()
	if err != nil {
		t.Skipf("this machine does not tell who runs the test: %v", err)
	}
	does(t, exitOK, []string{"hold", groupName, "--reason", "why"}, "asked for a hold as "+who.Username+": why")
}

// holdfast release shop/web --reason mended --by "$WHO", with WHO not set.
func TestARequestNeedsANameOfWhoAsks(t *testing.T) {
	r := newRegion(t)
	r.sweep(t, 2)
	does(t, exitOK, []string{"hold", groupName, "--reason", "bad deploy", "--by", "kim"})
	r.sweep(t, 1)
	for _, by := range []string{"", "  "} {
		for _, args := range [][]string{{"hold", groupName}, {"release", groupName}, {"release", groupName, "--force"}} {
			does(t, exitUsage, append(args, "--reason", "mended", "--by", by), fmt.Sprintf("holdfast %s: --by: %q, want who asks", args[0], by))
		}
	}
	t.Setenv("HOLDFAST_OPERATOR", "  ")
	t.Setenv("USER", "pat")
	does(t, exitOK, []string{"release", groupName, "--reason", "mended"}, "asked for a release as pat: mended")
}

func TestTuneLooksWhetherTheAlarmsOfDependenciesExist(t *testing.T) {
	r := newRegion(t)
	const args = `dependencies=[{"alarm":"db-down","kind":"hard"},{"alarm":"any-down","kind":"hard"},{"alarm":"db-dwon","kind":"hard"}]`
	var err error
	r.Do(func(c *sim.Cloud) {
		err = errors.Join(c.SetDependency("db", sim.DependencyOK, 0), c.PutAlarm(sim.AlarmSpec{Name: "db-down", Dependency: "db", State: sim.AlarmOK}),
			c.PutAlarm(sim.AlarmSpec{Name: "any-down", AnyOf: []string{"db-down"}, State: sim.AlarmOK}))
	})
	if err != nil {
		t.Fatal(err)
	}
	does(t, exitOK, []string{"tune", groupName, args, "--dry-run"}, `warning: dependencies: alarm "db-dwon" does not exist`)
	code, _, errOut := holdfast(t, "tune", groupName, args)
	if code != exitOK || strings.Count(errOut, "does not exist") != 1 || strings.Contains(errOut, "could not be checked") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	if err := r.SetFaults(world.Fault{Operation: "cloudwatch:DescribeAlarms", FailFirst: 1}); err != nil {
		t.Fatal(err)
	}
	does(t, exitOK, []string{"tune", groupName, `dependencies=[{"alarm":"db-down","kind":"hard"}]`}, "written as version 2", "could not be checked: db-down: ")
}
