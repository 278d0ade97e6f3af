// Command world serves the embedded AWS on loopback, for people who want to look around in it with the AWS command line or with their
// own code. It seeds the fleet of one incident, plays the incident in accelerated time, and tells which variables to export.
//
// It never listens on anything but loopback, keeps nothing when it ends, and checks no credentials. Start reading at run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// tick is how often the clock is moved, in real time; headerTimeout bounds how long a request may take to begin.
const (
	tick          = 100 * time.Millisecond
	headerTimeout = 10 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "world:", err) // there is nobody left to tell
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	listen, incident, mode, sweep, alarm, notify string
	speed                                        float64
	seed                                         uint64
}

func parse(args []string) (settings, error) {
	var s settings
	fs := flag.NewFlagSet("world", flag.ContinueOnError)
	fs.StringVar(&s.listen, "listen", "127.0.0.1:4599", "address on loopback; port 0 takes a free one")
	fs.StringVar(&s.incident, "incident", "single-broken", "whose fleet to seed and which incident to play; empty seeds nothing")
	fs.Float64Var(&s.speed, "speed", 60, "seconds of the world in a second; 0 leaves the clock to POST /_world/time")
	fs.StringVar(&s.mode, "mode", guard.ModeObserve, "act, observe or off: /holdfast/mode at the beginning")
	fs.StringVar(&s.sweep, "sweep", "", "sweep function to put on watch, built with the tags lambda.norpc,holdfast_world")
	fs.StringVar(&s.alarm, "alarm", "", "alarm function to put on watch, built the same way")
	fs.StringVar(&s.notify, "notify", "", "notify function to put on watch, built the same way; /_world/pages shows what it sends")
	fs.Uint64Var(&s.seed, "seed", 1, "seed of every random draw")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	if fs.NArg() > 0 {
		return s, fmt.Errorf("unexpected %q", fs.Arg(0))
	}
	if modes := []string{guard.ModeAct, guard.ModeObserve, guard.ModeOff}; !slices.Contains(modes, s.mode) {
		return s, fmt.Errorf("mode %q, want %s", s.mode, strings.Join(modes, ", "))
	}
	if math.IsNaN(s.speed) || s.speed < 0 || s.speed > 3600 {
		return s, fmt.Errorf("speed %v, want 0 to 3600", s.speed)
	}
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil {
		return s, fmt.Errorf("listen: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return s, fmt.Errorf("listen on %q, want an address of loopback such as 127.0.0.1", host)
	}
	return s, nil
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	r, err := world.NewRegion(sim.Config{Seed: s.seed})
	if err != nil {
		return err
	}
	defer r.Close()
	if err := seed(r, s); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: headerTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() { _ = server.Close() }() // nothing is kept, so nothing is lost
	url := "http://" + listener.Addr().String()
	if err := watch(ctx, r, s, url); err != nil {
		return err
	}
	if _, err := fmt.Fprint(out, greeting(url, s, r.Clock.Now())); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	return live(ctx, r, s.speed, served)
}

// seed creates the incident's fleet and plans its script.
func seed(r *world.Region, s settings) error {
	if err := r.CreateSwitch(s.mode); err != nil {
		return err
	}
	if s.incident == "" {
		return nil
	}
	in, ok := sim.Find(s.incident)
	if !ok {
		return fmt.Errorf("no incident %q; see holdfast simulate --list", s.incident)
	}
	var policy string
	var err error
	r.Do(func(c *sim.Cloud) {
		if err = in.Start(c); err == nil {
			policy, err = drive.DeclaredPolicy(c)
		}
	})
	if err != nil {
		return fmt.Errorf("seed %s: %w", s.incident, err)
	}
	return r.Declare(in.Group, policy)
}

// watch puts the given functions and their rules into the Region.
func watch(ctx context.Context, r *world.Region, s settings, url string) error {
	if s.sweep != "" {
		if err := stage.Built(world.SweepFunction, s.sweep)(ctx, r, url); err != nil {
			return err
		}
		if err := r.Schedule(); err != nil {
			return err
		}
	}
	if s.alarm != "" {
		if err := stage.Built(world.AlarmFunction, s.alarm)(ctx, r, url); err != nil {
			return err
		}
		if err := r.OnAlarms(); err != nil {
			return err
		}
	}
	if s.notify != "" {
		if err := r.OnNotices(); err != nil {
			return err
		}
		return stage.Built(world.NotifyFunction, s.notify)(ctx, r, url)
	}
	return nil
}

// words lists the words of a kind for the greeting.
func words[T ~string](all []T) string {
	var out []string
	for _, w := range all {
		out = append(out, string(w))
	}
	return strings.Join(out, ", ")
}

// greeting tells how to reach the world and what it does by itself.
func greeting(url string, s settings, start time.Time) string {
	pace := fmt.Sprintf("its time, %v times as fast as yours", s.speed)
	if s.speed == 0 {
		pace = "its time, which stands still until you move it (see /_world/time)"
	}
	watch := "its sweep function looks every minute of its time"
	if s.sweep == "" {
		watch = `nothing is swept without --sweep: build the function, inside the repository, and start again with --sweep build/world/sweep
  CGO_ENABLED=0 go build -tags lambda.norpc,holdfast_world -o build/world/sweep ./functions/sweep`
	}
	return fmt.Sprintf(`the embedded AWS listens on %[1]s; it ends with Ctrl-C and forgets everything
its clock starts at %[3]s, whatever yours says; a holdfast that is to go by it has to be built for it, and reads %[11]s:
  go build -tags holdfast_world -o build/world/holdfast ./cmd/holdfast
%[4]s

  export AWS_ENDPOINT_URL=%[1]s AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local %[5]s=%[6]s %[7]s=%[8]s %[11]s=%[1]s/_world/clock
  aws autoscaling describe-auto-scaling-groups
  curl -s %[1]s/_world/clock                                  # %[2]s
  curl -s %[1]s/_world/groups                                 # members, and what is really so about them
  curl -s %[1]s/_world/timeline                               # what happened
  curl -s %[1]s/_world/notices                                # what Holdfast has to tell people
  curl -s %[1]s/_world/pages                                  # the pages that --notify made of it
  curl -s -d '{"advance":"5m"}' %[1]s/_world/time
  curl -s -d '{"instance":"i-…","kind":"full-disk"}' %[1]s/_world/break
      # kinds: %[9]s
  curl -s -d '{"instance":"i-…"}' %[1]s/_world/repair
  curl -s -d '{"name":"authorization","state":"slow","fail_share":0.3}' %[1]s/_world/dependency
      # states: %[10]s
      # taken where members need it, as those of --incident brownout need authorization
  curl -s -X PUT -d '[{"operation":"autoscaling:*","throttle":0.3}]' %[1]s/_world/faults
`, url, pace, start.Format(time.RFC3339), watch, config.EnvStateTable, world.StateTable, config.EnvHeartbeatTable, world.HeartbeatTable,
		words(sim.Kinds()), words(sim.DependencyStates()), world.ClockVariable)
}

// live moves the clock until ctx ends.
func live(ctx context.Context, r *world.Region, speed float64, served <-chan error) error {
	pace := time.NewTicker(tick)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return fmt.Errorf("serve: %w", err)
		case <-pace.C:
			if err := r.Advance(ctx, time.Duration(speed*float64(tick))); err != nil && ctx.Err() == nil {
				return fmt.Errorf("advance: %w", err)
			}
		}
	}
}
