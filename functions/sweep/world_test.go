package main

import (
	"context"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/holdfast-aws/holdfast/functions/internal/assemble"
	embedded "github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// inWorld is the assembled handler over the real SDK clients against a Region at a URL; its log goes to out.
func inWorld(r *embedded.Region, url string, out io.Writer) *handler {
	return inWorldBy(r, sdkFor(url), out)
}

func inWorldBy(r *embedded.Region, sdk aws.Config, out io.Writer) *handler {
	h := newHandler(assemble.New(config.Config{
		StateTable: embedded.StateTable, HeartbeatTable: embedded.HeartbeatTable, EventBus: "default", Shards: 1, SweepInterval: time.Minute, Concurrency: 8,
	}, sdk, r.Clock.Now))
	h.log, h.metrics = telemetry.NewLogger(out, function), telemetry.NewEmitter(out, r.Clock.Now)
	return h
}

func sdkFor(url string) aws.Config {
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(url), Retryer: func() aws.Retryer { return assemble.ReadRetryer(20 * time.Millisecond) },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}
}

// inProcess puts the handler on watch without a process of its own.
func inProcess(out io.Writer) stage.Function {
	return func(_ context.Context, r *embedded.Region, url string) error {
		h := inWorld(r, url, out)
		r.Serve(embedded.SweepFunction, func(ctx context.Context, payload []byte) ([]byte, error) {
			sum, err := h.Handle(ctx, payload)
			if err != nil {
				return nil, err
			}
			return json.Marshal(sum)
		})
		return nil
	}
}

func incident(t *testing.T, name string) sim.Incident {
	t.Helper()
	in, ok := sim.Find(name)
	if !ok {
		t.Fatalf("no incident %s", name)
	}
	return in
}

// TestTheSweepDoesItsJob is the whole of it: the handler, the SDK's clients, the wire protocols, and a fleet that really fails.
func TestTheSweepDoesItsJob(t *testing.T) {
	for _, name := range []string{"single-broken", "brownout"} {
		t.Run(name, func(t *testing.T) {
			in := incident(t, name)
			played, err := stage.Play(t.Context(), in, stage.Options{Sweep: inProcess(io.Discard), Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, unmet := range played.Unmet() {
				t.Error(unmet)
			}
			t.Logf("%d looks, calls %v", played.Looks, played.Calls)
			// Over the wire and in memory, the same runner must come to the same story; only the alarm's look is a little earlier here.
			inMemory, err := drive.Run(t.Context(), in, drive.Options{Guarded: true, Seed: 1, AlarmDelay: time.Nanosecond})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := keys(played.Notices), keys(inMemory.Notices); !reflect.DeepEqual(got, want) {
				t.Errorf("notices %v, in memory %v", got, want)
			}
			if got, want := acts(played.Story), acts(inMemory.Story); !reflect.DeepEqual(got, want) {
				t.Errorf("acts %v,\nin memory %v", got, want)
			}
		})
	}
}

func keys(notices []drive.Notice) []string {
	var out []string
	for _, n := range notices {
		out = append(out, n.At.Truncate(time.Second).Format(time.TimeOnly)+" "+n.Key)
	}
	return out
}

// acts are the events that the guardian or Auto Scaling caused.
func acts(s drive.Story) []string {
	var out []string
	for _, e := range s.Timeline {
		if slices.Contains([]sim.EventKind{
			sim.EventMark, sim.EventRestore, sim.EventSuspend, sim.EventResume, sim.EventTerminate, sim.EventLaunch, sim.EventRefused,
		}, e.Kind) {
			out = append(out, e.At.Truncate(time.Second).Format(time.TimeOnly)+" "+string(e.Kind)+" "+e.Instance+" "+e.Text)
		}
	}
	return out
}

func TestObserveMakesNoCallThatChangesAnything(t *testing.T) {
	in := incident(t, "brownout")
	watched, err := stage.Play(t.Context(), in, stage.Options{Sweep: inProcess(io.Discard), Seed: 1, Mode: guard.ModeObserve})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"SetInstanceHealth", "SuspendProcesses", "ResumeProcesses"} {
		if n := watched.Calls["autoscaling:"+call]; n != 0 {
			t.Errorf("%d calls of %s", n, call)
		}
	}
	if len(watched.Notices) == 0 || watched.Stats.HealthyTerminated == 0 {
		t.Errorf("%d notices and %d members lost, want some of both: observing protects nobody and says what it saw",
			len(watched.Notices), watched.Stats.HealthyTerminated)
	}
}
