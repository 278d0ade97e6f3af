package stage_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/lambdart"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// build builds a function as it is deployed, but for this machine, with the given tags.
func build(t *testing.T, function, tags string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("the go command cannot be run: %v", err)
	}
	binary := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.Command("go", "build", "-tags", tags, "-trimpath", "-ldflags", "-s -w", "-o", binary, "../../../functions/"+function)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the function: %v\n%s", err, out)
	}
	return binary
}

func incident(t *testing.T, name string) sim.Incident {
	t.Helper()
	in, ok := sim.Find(name)
	if !ok {
		t.Fatalf("no incident %s", name)
	}
	return in
}

// TestTheBuiltFunctionsKeepThePromise plays both incidents through processes that talk to nothing but the Runtime API and the
// embedded AWS.
func TestTheBuiltFunctionsKeepThePromise(t *testing.T) {
	const tags = "lambda.norpc,holdfast_world"
	sweep, alarm := build(t, "sweep", tags), build(t, "alarm", tags)
	for _, in := range sim.Incidents() {
		t.Run(in.Name, func(t *testing.T) {
			played, err := stage.Play(t.Context(), in, stage.Options{
				Sweep: stage.Built(world.SweepFunction, sweep), Alarm: stage.Built(world.AlarmFunction, alarm), Seed: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, unmet := range played.Unmet() {
				t.Error(unmet)
			}
			if want := int(in.Duration / time.Minute); played.Looks < want {
				t.Errorf("%d invocations, want at least the %d of the schedule", played.Looks, want)
			}
		})
	}
}

// TestNoticesBecomePages runs the notify function beside the sweep: what the topic gets is the page that a person reads.
func TestNoticesBecomePages(t *testing.T) {
	const tags = "lambda.norpc,holdfast_world"
	in := incident(t, "brownout")
	r, err := world.NewRegion(sim.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Do(func(c *sim.Cloud) { err = in.Start(c) })
	url, stop, listening := stage.Listen(r)
	if err := errors.Join(err, listening, r.CreateSwitch(guard.ModeAct)); err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := errors.Join(
		stage.Built(world.SweepFunction, build(t, "sweep", tags))(t.Context(), r, url), r.Schedule(),
		stage.Built(world.NotifyFunction, build(t, "notify", tags))(t.Context(), r, url), r.OnNotices(),
		r.Advance(t.Context(), 10*time.Minute),
	); err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, m := range r.Topics.Sent() {
		if strings.Contains(m.Subject, in.Group) && strings.Contains(m.Text, "held since ") && strings.Contains(m.Text, "holdfast release "+in.Group) {
			held++
		}
	}
	if held != 1 {
		t.Errorf("%d pages of the hold, want 1: %+v; invocations %+v", held, r.Topics.Sent(), r.Invocations())
	}
}

// TestTheDeployedBuildHolds runs the very build that is deployed, with the machine's clock, against a Region whose time is the
// machine's: one invocation in a brownout is enough for a hold.
func TestTheDeployedBuildHolds(t *testing.T) {
	binary := build(t, "sweep", "lambda.norpc")
	const into = 6 * time.Minute
	r, err := world.NewRegion(sim.Config{Seed: 1, Start: time.Now().Add(-into)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Do(func(c *sim.Cloud) { err = incident(t, "brownout").Start(c) })
	if err != nil {
		t.Fatal(err)
	}
	// EC2 checks, so that Auto Scaling itself does nothing before the one look.
	r.Do(func(c *sim.Cloud) { err = drive.SetChecks(c, "web", []string{"EC2"}) })
	for _, err := range []error{
		err, r.PutParameter(guard.ModeParameter, guard.ModeAct),
		r.Declare("web", `{"dependencies":[{"alarm":"authorization-slow","kind":"hard"}]}`), r.Advance(t.Context(), into),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	url, stop, err := stage.Listen(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	f, err := r.Start(t.Context(), lambdart.FunctionSpec{Name: world.SweepFunction, Binary: binary, Env: r.FunctionEnv(url), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.Invoke(t.Context(), []byte(`{}`))
	if err != nil || res.FunctionError != "" {
		t.Fatalf("%v %s %s\n%s", err, res.FunctionError, res.Payload, f.Output())
	}
	r.Do(func(c *sim.Cloud) {
		g, _ := c.Group("web")
		var held []string
		for _, s := range g.Suspended {
			held = append(held, s.Process)
		}
		if strings.Join(held, " ") != "AZRebalance HealthCheck ReplaceUnhealthy" {
			t.Errorf("suspended %q after one look: %s\n%s", held, res.Payload, f.Output())
		}
	})
	r.Bus.Deliver(t.Context())
	if n := r.Notices(); len(n) == 0 || !strings.Contains(string(n[0].Detail), `"key":"held"`) {
		t.Errorf("notices %v, want that the group is held", n)
	}
	t.Logf("from start to the first request for an event %s, first invocation %s", f.InitTimes(), res.Took)
}

func TestWithNobodyOnWatchTheSimulatorAloneDecides(t *testing.T) {
	for _, in := range sim.Incidents() {
		played, err := stage.Play(t.Context(), in, stage.Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := drive.Run(t.Context(), in, drive.Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if played.Stats != alone.Stats || played.Looks != 0 || len(played.Calls) != 0 {
			t.Errorf("%s: %+v with %d looks, in memory %+v", in.Name, played.Stats, played.Looks, alone.Stats)
		}
	}
}

func TestAFunctionThatFailsEndsThePlay(t *testing.T) {
	broken := func(_ context.Context, r *world.Region, _ string) error {
		r.Serve(world.SweepFunction, func(context.Context, []byte) ([]byte, error) { return nil, errors.New("no table") })
		return nil
	}
	if _, err := stage.Play(t.Context(), incident(t, "brownout"), stage.Options{Sweep: broken}); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Errorf("have %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := stage.Play(ctx, incident(t, "brownout"), stage.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("have %v, want that it was cancelled", err)
	}
	none := func(context.Context, *world.Region, string) error { return errors.New("no binary") }
	if _, err := stage.Play(t.Context(), incident(t, "brownout"), stage.Options{Sweep: none}); err == nil || !strings.Contains(err.Error(), "no binary") {
		t.Errorf("have %v", err)
	}
}
