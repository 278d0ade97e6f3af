package drive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Duty says how Holdfast keeps watch. The zero value sweeps once a minute in mode act, under the built-in policy alone.
type Duty struct {
	// SweepInterval is the time between scheduled looks; 0 means one minute.
	SweepInterval time.Duration
	// AlarmDelay is the time from a change of an alarm to the look that it asks for; 0 means two seconds.
	AlarmDelay time.Duration
	// NoAlarmLooks leaves only the scheduled looks: every alarm event is lost.
	NoAlarmLooks bool
	// Mode is the big switch; "" means act.
	Mode string
	// Policies are the declared policies by group name, as JSON.
	Policies map[string]string
	// Records keeps the record of every look for [Watch.Reports].
	Records bool
	// Fast keeps the memory of the looks as values instead of writing it as JSON, and remembers what policies come to and what the simulator
	// said of groups to which nothing has happened. It changes no look and costs less.
	Fast bool
}

// Watch is Holdfast on duty in the simulator: its looks are events of the simulator's own queue.
type Watch struct {
	ctx    context.Context
	runner *runner.Runner
	ports  *ports
	ledger *memledger.Ledger
	runs   int
	err    error // the first run that failed
}

// Guard puts Holdfast on watch over every group of a cloud that carries the opt-in tag. The first look is one interval from now. It
// takes the cloud's OnAlarm unless alarm looks are off.
func Guard(ctx context.Context, cloud *sim.Cloud, d Duty) (*Watch, error) {
	if d.SweepInterval <= 0 {
		d.SweepInterval = defaultInterval
	}
	if d.AlarmDelay <= 0 {
		d.AlarmDelay = defaultAlarmDelay
	}
	if d.Mode == "" {
		d.Mode = guard.ModeAct
	}
	p := &ports{cloud: cloud, declared: d.Policies, mode: d.Mode, records: d.Records}
	ledger, options := memledger.New(), runner.Options{Now: cloud.Now, SweepInterval: d.SweepInterval, Concurrency: 1}
	if d.Fast {
		ledger, options.Resolve = memledger.NewOfValues(), new(policies).resolve
		p.kept = new(answers)
	}
	r, err := runner.New(runner.Ports{
		Fleet: p, Beats: p, Alarms: p, Policies: p, Ledger: tables{ledger, cloud}, Actor: p, Reporter: p,
	}, options)
	if err != nil {
		return nil, fmt.Errorf("make runner: %w", err)
	}
	w := &Watch{ctx: ctx, runner: r, ports: p, ledger: ledger}
	w.schedule(cloud, d.SweepInterval)
	if !d.NoAlarmLooks {
		cloud.OnAlarm = func(change sim.AlarmChange) {
			cloud.At(change.At.Add(d.AlarmDelay), func(*sim.Cloud) {
				w.look(runner.Request{Trigger: runner.TriggerAlarm, Alarms: []string{change.Alarm.Name}})
			})
		}
	}
	return w, nil
}

// Notices are what people were told so far, in order.
func (w *Watch) Notices() []runner.Notice { return w.NoticesAfter(0) }

// NoticesAfter are those after the first so many, of which there must have been as many.
func (w *Watch) NoticesAfter(first int) []runner.Notice { return slices.Clone(w.ports.notices[first:]) }

// Reports are the records of all looks so far, in order; none without [Duty.Records].
func (w *Watch) Reports() []runner.Report { return slices.Clone(w.ports.reports) }

// Looks is how often Holdfast ran.
func (w *Watch) Looks() int { return w.runs }

// Release is what an operator's holdfast release --force asks of the next look at a group. It returns NotFoundError for an unknown group.
func (w *Watch) Release(group, reason string) error {
	g, ok := w.ports.cloud.Group(group)
	if !ok {
		return fmt.Errorf("release: %w", &sim.NotFoundError{Kind: "group", Name: group})
	}
	now := w.ports.cloud.Now()
	q := guard.Request{ID: "release-" + now.Format(time.RFC3339), Kind: guard.RequestRelease, Reason: reason, By: "on call", At: now, Force: true}
	if err := w.ledger.PutRequest(w.ctx, g.ARN, q); err != nil {
		return fmt.Errorf("release %s: %w", group, err)
	}
	return nil
}

// Err is the first failure of a run, nil when all went through. A look that fails while the tables are throttled is no failure of a run.
func (w *Watch) Err() error { return w.err }

// schedule plans a look one interval from now, and from there the next.
func (w *Watch) schedule(cloud *sim.Cloud, interval time.Duration) {
	var turn func(*sim.Cloud)
	turn = func(c *sim.Cloud) {
		w.look(runner.Request{Trigger: runner.TriggerSweep})
		c.At(c.Now().Add(interval), turn)
	}
	cloud.At(cloud.Now().Add(interval), turn)
}

func (w *Watch) look(req runner.Request) {
	w.runs++
	req.Run = fmt.Sprintf("run-%04d", w.runs)
	sum, err := w.runner.Run(w.ctx, req)
	if err == nil && sum.Failed > 0 {
		var failed []string
		for _, g := range sum.Groups {
			if g.Failure != "" {
				failed = append(failed, g.Group+": "+g.Failure)
			}
		}
		err = fmt.Errorf("groups failed: %s", strings.Join(failed, "; "))
	}
	if err != nil && w.err == nil && w.ports.cloud.TableThrottle() == 0 {
		w.err = fmt.Errorf("look %d at %s: %w", w.runs, w.ports.cloud.Now().Format(time.RFC3339), err)
	}
}
