package heartbeat_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/heartbeat"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

// The programs of the page are run as a reader would run them, so these tests start processes and use the machine's clock.

// block is the one code block of the page in a language.
func block(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/heartbeat-rows.md")
	must(t, err)
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s in the page, want 1", len(found), language)
	}
	return found[0][1]
}

func TestThePageHasThePolicyThatIsRendered(t *testing.T) {
	rendered, err := heartbeat.Policy(tableARN)
	must(t, err)
	var have, want any
	must(t, json.Unmarshal([]byte(block(t, "json")), &have))
	must(t, json.Unmarshal([]byte(rendered), &want))
	if !reflect.DeepEqual(have, want) {
		t.Errorf("the page has\n%v\nwant\n%v", have, want)
	}
}

// ground is what a program of the page finds around it.
type ground struct {
	region *world.Region
	file   string
	env    []string
	reader *beats.Reader
}

func newGround(t *testing.T, name, text string) *ground {
	t.Helper()
	g := &ground{file: filepath.Join(t.TempDir(), name)}
	must(t, os.WriteFile(g.file, []byte(text), 0o600))
	var err error
	g.region, err = world.NewRegion(sim.Config{Start: time.Now(), Seed: 1})
	must(t, err)
	t.Cleanup(g.region.Close)
	url, stop, err := stage.Listen(g.region)
	must(t, err)
	t.Cleanup(stop)
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			_, _ = w.Write([]byte("token"))
			return
		}
		answer, ok := map[string]string{
			"dynamic/instance-identity/document": "{\n  \"accountId\" : \"111122223333\",\n  \"instanceId\" : \"i-0a\",\n  \"region\" : \"us-east-1\"\n}",
			"meta-data/services/partition":       "aws",
		}[strings.TrimPrefix(r.URL.Path, "/latest/")]
		if r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token" || !ok {
			w.WriteHeader(http.StatusNotFound) // among others the lifecycle state: this instance is in no group
			return
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(metadata.Close)
	g.env = append(os.Environ(), "AWS_ENDPOINT_URL="+url, "AWS_EC2_METADATA_SERVICE_ENDPOINT="+metadata.URL, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	g.reader = beats.New(dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}), beats.Options{Table: world.HeartbeatTable})
	return g
}

// beat is the row as Holdfast reads it.
func (g *ground) beat(t *testing.T) guard.Beat {
	t.Helper()
	found, err := g.reader.Beats(t.Context(), guard.Group{ARN: groupARN, Name: "web", Members: []guard.Member{{ID: "i-0a"}}})
	must(t, err)
	return found["i-0a"]
}

func (g *ground) check(t *testing.T, want string) {
	t.Helper()
	b := g.beat(t)
	if got := fmt.Sprint(b.Seq, " ", b.Status, b.Failing, " ", b.Agent); !b.Found || got != want {
		t.Errorf("the row says %q, want %q; %+v", got, want, b)
	}
	if age := time.Since(b.At); age < -time.Second || age > time.Minute || b.Boot == "" {
		t.Errorf("the stamp is %s old, boot %q", age, b.Boot)
	}
	for _, item := range g.region.Tables.Items(world.HeartbeatTable) {
		for name := range item {
			if !strings.Contains(strings.Join(heartbeat.Attributes(), " ")+" ", name+" ") {
				t.Errorf("it writes %s, which the policy refuses", name)
			}
		}
	}
}

func TestTheShellProgramBeats(t *testing.T) {
	for _, program := range []string{"sh", "curl", "aws"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the program of the page needs %s: %v", program, err)
		}
	}
	g := newGround(t, "beat.sh", block(t, "sh"))
	for i, step := range []struct {
		args []string
		want string
	}{
		{[]string{"ok"}, "1 ok[] beat.sh 1"},
		{[]string{"failing", "disk", "dep:db"}, "2 failing[dep:db disk] beat.sh 1"},
		{[]string{"draining"}, "3 draining[] beat.sh 1"},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{g.file, world.HeartbeatTable}, step.args...)...)
		cmd.Env = g.env
		if out, err := cmd.CombinedOutput(); err != nil {
			if i == 0 && bytes.Contains(out, []byte("command not found")) {
				t.Skipf("aws is there and cannot be run: %s", out)
			}
			t.Fatalf("%v\n%s", err, out)
		}
		g.check(t, step.want)
	}
}

func TestThePythonProgramBeats(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import boto3").CombinedOutput(); err != nil {
		t.Skipf("the program of the page needs python3 with boto3: %v: %s", err, out)
	}
	g := newGround(t, "heartbeat.py", block(t, "python"))
	cmd := exec.CommandContext(t.Context(), "python3", g.file, world.HeartbeatTable, "0.2")
	cmd.Env = g.env
	var out bytes.Buffer
	cmd.Stderr = &out
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline, ticker := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer ticker.Stop()
	for g.beat(t).Seq < 5 {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v\n%s", err, out.String())
		case <-deadline:
			_ = cmd.Process.Kill() // it failed already
			t.Fatalf("no five beats in 30 s")
		case <-ticker.C:
		}
	}
	if b := g.beat(t); b.Status != "ok" && !strings.Contains(fmt.Sprint(b.Failing), "disk") {
		t.Errorf("the row says %+v", b)
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v\n%s", err, out.String())
		}
	case <-deadline:
		_ = cmd.Process.Kill() // it failed already
		t.Fatal("it does not end")
	}
	g.check(t, fmt.Sprintf("%d draining[] heartbeat.py 1", g.beat(t).Seq))
}

func TestTheCostsOfThePageAreThoseOfTheArithmetic(t *testing.T) {
	text, err := os.ReadFile("../../docs/heartbeat-rows.md")
	must(t, err)
	rows := regexp.MustCompile(`(?m)^\| ([\d,]+) \| (\d+) s \|.*$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 8 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		var n, every int
		_, err := fmt.Sscan(strings.ReplaceAll(row[1], ",", "")+" "+row[2], &n, &every)
		must(t, err)
		b, p := timing.Beats{Instances: n, Every: time.Duration(every) * time.Second, Sweep: time.Minute, Fresh: time.Minute, Stale: 3 * time.Minute}, timing.ListPrices()
		want := fmt.Sprintf("| %s | %d s | %g | $%.2f | $%.2f | %d / %d |", row[1], every, b.WritesPerSecond(), b.WriteCost(p)+b.ReadCost(p), b.ProvisionedCost(p), b.MissedUntilLate(), b.MissedUntilStale())
		if row[0] != want {
			t.Errorf("the page has %s\nwant         %s", row[0], want)
		}
	}
}
