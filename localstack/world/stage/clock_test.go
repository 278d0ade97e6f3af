package stage_test

import (
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/lambdart"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// TestABuildForTheEmbeddedAWSTakesNoOtherClock starts it without an address of a clock, and with one that is not on this machine.
func TestABuildForTheEmbeddedAWSTakesNoOtherClock(t *testing.T) {
	binary := build(t, "sweep", "lambda.norpc,holdfast_world")
	r, err := world.NewRegion(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := stage.Listen(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, address := range []string{"", "http://192.0.2.1/clock", "http://localhost.example.com/clock"} {
		env := maps.Clone(r.FunctionEnv(url))
		env[world.ClockVariable] = address
		f, err := lambdart.Start(t.Context(), lambdart.FunctionSpec{Name: "sweep", Binary: binary, Env: env, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		res, err := f.Invoke(t.Context(), []byte(`{}`))
		if err != nil || res.FunctionError == "" {
			t.Errorf("%q: %v %s, want that it does not start", address, err, res.Payload)
		}
		f.Close()
		if !strings.Contains(f.Output(), world.ClockVariable) {
			t.Errorf("%q: output %q does not name the variable", address, f.Output())
		}
	}
}

// TestACommandThatIsBuiltForTheEmbeddedAWSGoesByItsClock lets a person look at a Region in which it is another year.
func TestACommandThatIsBuiltForTheEmbeddedAWSGoesByItsClock(t *testing.T) {
	binary := build(t, "../cmd/holdfast", "holdfast_world")
	start := time.Date(2031, 7, 1, 12, 0, 0, 0, time.UTC)
	r, err := world.NewRegion(sim.Config{Start: start})
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := stage.Listen(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	status := func(clock string) (string, error) {
		cmd := exec.Command(binary, "status", "--json")
		cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+url, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
			"HOLDFAST_STATE_TABLE="+world.StateTable, world.ClockVariable+"="+clock)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := status(url + "/_world/clock"); err != nil || !strings.Contains(out, `"at": "2031-07-01T12:00:00Z"`) {
		t.Errorf("%v, status\n%s", err, out)
	}
	for _, address := range []string{"", "http://192.0.2.1/clock"} {
		if out, err := status(address); err == nil || !strings.Contains(out, world.ClockVariable) {
			t.Errorf("%q: %v, want that it names the variable: %s", address, err, out)
		}
	}
}
