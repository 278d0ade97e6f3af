package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/lambdart"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// sampleEvery is the period of the story's samples; functionTimeout bounds one invocation, in real time.
const (
	sampleEvery     = 10 * time.Second
	functionTimeout = time.Minute
	functionMemory  = 128
	headerTimeout   = 10 * time.Second
)

// Function puts a function into a Region that is reached at a URL.
type Function func(ctx context.Context, r *world.Region, url string) error

// Options say how to play an incident. The zero value plays it with nobody on watch.
type Options struct {
	// Sweep is the function that looks each minute; nil puts nobody on watch.
	Sweep Function
	// Alarm is the function that looks when an alarm changes; nil lets the sweep do it, for the watched group.
	Alarm Function
	// Seed drives every random draw.
	Seed uint64
	// HealthChecks replaces the health check types of the watched group; nil keeps the incident's own.
	HealthChecks []string
	// Mode is /holdfast/mode; "" means act.
	Mode string
	// Prepare, when set, changes the Region after the fleet was set up and before time passes.
	Prepare func(*world.Region) error
}

// Played is an incident that was played to its end.
type Played struct {
	drive.Story
	// Calls counts the API calls by "service:Operation".
	Calls map[string]int
	// Invocations are those of the functions on watch.
	Invocations []world.Invocation
}

// Play plays an incident. An error says that it could not be played, or that the function failed, not that the incident ended badly.
func Play(ctx context.Context, in sim.Incident, o Options) (Played, error) {
	r, err := world.NewRegion(sim.Config{Seed: o.Seed, SampleEvery: sampleEvery})
	if err != nil {
		return Played{}, err
	}
	defer r.Close()
	if err := setUp(r, in, o); err != nil {
		return Played{}, fmt.Errorf("set up %s: %w", in.Name, err)
	}
	start := r.Clock.Now()
	url, stop, err := Listen(r)
	if err != nil {
		return Played{}, err
	}
	defer stop()
	if o.Sweep != nil {
		if err := watch(ctx, r, watchOptions{o, in.Group, url}); err != nil {
			return Played{}, fmt.Errorf("put functions on watch: %w", err)
		}
	}
	if err := r.Advance(ctx, in.Duration); err != nil {
		return Played{}, fmt.Errorf("play %s: %w", in.Name, err)
	}
	return tell(r, in, drive.Teller{Guarded: o.Sweep != nil, Seed: o.Seed, Start: start})
}

type watchOptions struct {
	Options
	group, url string
}

// watch puts the functions into the Region and the rules on its bus.
func watch(ctx context.Context, r *world.Region, o watchOptions) error {
	if err := o.Sweep(ctx, r, o.url); err != nil {
		return err
	}
	if err := r.Schedule(); err != nil {
		return err
	}
	if o.Alarm == nil {
		return r.SweepOnAlarms(o.group)
	}
	if err := o.Alarm(ctx, r, o.url); err != nil {
		return err
	}
	return r.OnAlarms()
}

func setUp(r *world.Region, in sim.Incident, o Options) error {
	var err error
	var policy string
	r.Do(func(c *sim.Cloud) {
		if err = in.Start(c); err != nil {
			return
		}
		if err = drive.SetChecks(c, in.Group, o.HealthChecks); err != nil {
			return
		}
		policy, err = drive.DeclaredPolicy(c)
	})
	if err != nil {
		return err
	}
	mode := o.Mode
	if mode == "" {
		mode = guard.ModeAct
	}
	if err := r.CreateSwitch(mode); err != nil {
		return err
	}
	if err := r.Declare(in.Group, policy); err != nil {
		return err
	}
	if o.Prepare != nil {
		return o.Prepare(r)
	}
	return nil
}

// Listen serves a Region on a free port of loopback and returns its URL and what ends it.
func Listen(r *world.Region) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: headerTimeout}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // always ends with ErrServerClosed, by stop
	}()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close() // its clients are gone
		<-done
	}, nil
}

// Built is a function by its name as a binary that was built with the tag holdfast_world, run over the Lambda Runtime API.
func Built(name, binary string) Function {
	return func(ctx context.Context, r *world.Region, url string) error {
		_, err := r.Start(ctx, lambdart.FunctionSpec{
			Name: name, Binary: binary, Env: r.FunctionEnv(url), Timeout: functionTimeout, MemoryMB: functionMemory,
		})
		return err
	}
}

func tell(r *world.Region, in sim.Incident, t drive.Teller) (Played, error) {
	var out Played
	var err error
	r.Do(func(c *sim.Cloud) { out.Story, err = drive.Tell(c, in, t) })
	if err != nil {
		return out, err
	}
	out.Calls, out.Invocations = r.Calls(), r.Invocations()
	out.Looks = len(out.Invocations)
	for _, e := range r.Notices() {
		var d report.Detail
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return out, fmt.Errorf("decode notice: %w", err)
		}
		out.Notices = append(out.Notices, drive.Notice{
			At: d.At, Group: d.Group, Key: d.Key, Subject: d.Subject, Urgent: d.Urgent, Reminder: d.Reminder, Text: d.Text,
		})
	}
	for _, inv := range out.Invocations {
		if inv.Error != "" {
			return out, fmt.Errorf("%s failed at %s: %s", inv.Function, inv.At.Format(time.RFC3339), inv.Error)
		}
	}
	return out, nil
}
