package stage_test

import (
	"maps"
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
