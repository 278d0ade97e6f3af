package drive

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Defaults of Options.
const (
	defaultInterval   = time.Minute
	defaultAlarmDelay = 2 * time.Second
	defaultSample     = 10 * time.Second
)

// Options say how to run an incident. The zero value runs it with nobody on watch, seed 0.
type Options struct {
	// Guarded puts Holdfast on watch.
	Guarded bool
	// Seed drives every random draw of the simulator.
	Seed uint64
	// SweepInterval is the time between scheduled looks; 0 means one minute.
	SweepInterval time.Duration
	// AlarmDelay is the time from a change of an alarm to the look that it asks for; 0 means two seconds.
	AlarmDelay time.Duration
	// NoAlarmLooks leaves only the scheduled looks: every alarm event is lost.
	NoAlarmLooks bool
	// HealthChecks replaces the health check types of every group; nil keeps the incident's own.
	HealthChecks []string
	// Mode is the big switch; "" means act.
	Mode string
	// Policy is the declared policy of the watched group as JSON; "" means DeclaredPolicy.
	Policy string
	// SampleEvery is the period of the story's samples; 0 means ten seconds.
	SampleEvery time.Duration
}

func (o Options) withDefaults() Options {
	if o.SweepInterval <= 0 {
		o.SweepInterval = defaultInterval
	}
	if o.AlarmDelay <= 0 {
		o.AlarmDelay = defaultAlarmDelay
	}
	if o.SampleEvery <= 0 {
		o.SampleEvery = defaultSample
	}
	if o.Mode == "" {
		o.Mode = guard.ModeAct
	}
	return o
}

// Result is what came of a run.
type Result struct {
	Story
	// Sweeps are the records of all looks, in order; none without Holdfast.
	Sweeps []runner.Report
}

// Run runs an incident to its end. An error says that the incident or a run of the guardian could not be carried out, not that it
// ended badly.
func Run(ctx context.Context, in sim.Incident, o Options) (Result, error) {
	o = o.withDefaults()
	cloud := sim.NewCloud(sim.Config{Seed: o.Seed, SampleEvery: o.SampleEvery})
	start := cloud.Now()
	if err := in.Start(cloud); err != nil {
		return Result{}, fmt.Errorf("start incident %s: %w", in.Name, err)
	}
	for _, group := range cloud.GroupNames() {
		if err := SetChecks(cloud, group, o.HealthChecks); err != nil {
			return Result{}, err
		}
	}
	var w *Watch
	if o.Guarded {
		var err error
		if w, err = o.watch(ctx, cloud, in.Group); err != nil {
			return Result{}, err
		}
	}
	cloud.Advance(start.Add(in.Duration))
	story, err := Tell(cloud, in, Teller{Guarded: o.Guarded, Seed: o.Seed, Start: start})
	if err != nil {
		return Result{}, err
	}
	out := Result{Story: story}
	if w == nil {
		return out, nil
	}
	for _, n := range w.Notices() {
		if n.Group != "" && n.Group != in.Group {
			continue // it stands in the story of its own group
		}
		out.Notices = append(out.Notices, Notice{At: n.At, Group: n.Group, Key: n.Key, Subject: n.Subject, Urgent: n.Urgent, Reminder: n.Reminder, Text: n.Text})
	}
	out.Sweeps, out.Looks = w.Reports(), w.Looks()
	return out, w.Err()
}

// watch puts Holdfast on all guarded groups, under the policy that their owners would declare, or the watched one under that of the options.
func (o Options) watch(ctx context.Context, cloud *sim.Cloud, group string) (*Watch, error) {
	declared, err := DeclaredPolicy(cloud)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, name := range cloud.GroupNames() {
		all[name] = declared
	}
	if o.Policy != "" {
		all[group] = o.Policy
	}
	return Guard(ctx, cloud, Duty{
		SweepInterval: o.SweepInterval, AlarmDelay: o.AlarmDelay, NoAlarmLooks: o.NoAlarmLooks, Mode: o.Mode,
		Policies: all, Records: true,
	})
}

// SetChecks replaces the health check types of a group and keeps its grace; no types change nothing.
func SetChecks(cloud *sim.Cloud, group string, types []string) error {
	if len(types) == 0 {
		return nil
	}
	g, ok := cloud.Group(group)
	if !ok {
		return fmt.Errorf("set health checks: %w", &sim.NotFoundError{Kind: "group", Name: group})
	}
	if err := cloud.SetGroupChecks(group, types, g.Grace); err != nil {
		return fmt.Errorf("set health checks: %w", err)
	}
	return nil
}

// DeclaredPolicy is the policy that the watched group's owner would declare: every alarm of the incident is a hard dependency.
func DeclaredPolicy(cloud *sim.Cloud) (string, error) {
	type dependency struct {
		Alarm string `json:"alarm"`
		Kind  string `json:"kind"`
	}
	list := []dependency{}
	for _, a := range cloud.Alarms() {
		list = append(list, dependency{a.Name, guard.DependencyHard})
	}
	text, err := json.Marshal(map[string]any{"dependencies": list})
	if err != nil {
		return "", fmt.Errorf("encode policy: %w", err)
	}
	return string(text), nil
}
