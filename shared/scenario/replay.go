package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Options change how a scenario is replayed.
type Options struct {
	// Mode is the value of the switch /holdfast/mode: act, observe or off; "" is act.
	Mode string
}

// Call is one call of the guard's to Auto Scaling, in the form of the JSON output.
type Call struct {
	Kind      string   `json:"kind"`
	Member    string   `json:"member,omitempty"`
	Processes []string `json:"processes,omitempty"`
	// Error is what a refused call answered.
	Error string `json:"error,omitempty"`
}

// PageSent is one notice that was handed over.
type PageSent struct {
	Key  string `json:"key"`
	Text string `json:"text"`
	// Error is set when it could not be delivered.
	Error string `json:"error,omitempty"`
}

// Deferred is one member that was not acted on.
type Deferred struct {
	Member string       `json:"member"`
	Reason guard.Reason `json:"reason"`
	Have   int          `json:"have"`
	Limit  int          `json:"limit"`
}

// Sweep is one look at one group, in the form and the key order of the JSON output.
type Sweep struct {
	Scenario string `json:"scenario"`
	Group    string `json:"group"`
	// Step counts the sweeps of the group from 0; At is the time since Start, in seconds.
	Step     int          `json:"step"`
	At       string       `json:"at"`
	Mode     string       `json:"mode"`
	Cause    string       `json:"cause"`
	Would    []Call       `json:"would"`
	Actions  []Call       `json:"actions"`
	Deferred []Deferred   `json:"deferred"`
	Pages    []PageSent   `json:"pages"`
	Members  guard.Counts `json:"members"`
	// Failures are the unmet expectations of a step, on its last sweep.
	Failures []string `json:"failures"`

	// Trigger, Verdict and Trouble are for the story.
	Trigger string        `json:"-"`
	Verdict guard.Verdict `json:"-"`
	// Trouble says why the look could not be completed, "" if it was.
	Trouble string `json:"-"`
}

// Result is a replayed scenario.
type Result struct {
	Scenario *Scenario
	// Sweeps are in the order of time, then of the file's groups.
	Sweeps []Sweep
}

// Failed says that an expectation was not met.
func (r Result) Failed() bool {
	return slices.ContainsFunc(r.Sweeps, func(s Sweep) bool { return len(s.Failures) > 0 })
}

// player replays one scenario.
type player struct {
	s      *Scenario
	w      *world
	r      *runner.Runner
	result Result
	// sweeps counts the looks at each group, in the order of the file.
	sweeps []int
	runs   int
}

// Replay drives the real runner over the world that the scenario states and judges every expectation. Its error is a fault of the
// replay itself; an unmet expectation stands in the result.
func Replay(ctx context.Context, s *Scenario, o Options) (Result, error) {
	w := &world{now: Start(), ledger: memledger.New(), mode: guard.ModeAct}
	if o.Mode != "" {
		w.mode = o.Mode
	}
	for i, g := range s.Groups {
		w.places = append(w.places, &place{stated: newStated(g, i)})
	}
	if err := w.seed(ctx, s); err != nil {
		return Result{}, err
	}
	r, err := runner.New(runner.Ports{Fleet: w, Beats: w, Alarms: w, Queues: w, Policies: w, Ledger: w.ledger, Actor: w, Reporter: w},
		runner.Options{Now: func() time.Time { return w.now }, SweepInterval: s.Interval, Concurrency: 1})
	if err != nil {
		return Result{}, fmt.Errorf("make runner: %w", err)
	}
	p := &player{s: s, w: w, r: r, result: Result{Scenario: s}, sweeps: make([]int, len(s.Groups))}
	for _, step := range s.Steps {
		if err := p.step(ctx, step); err != nil {
			return Result{}, err
		}
	}
	return p.result, nil
}

// step makes all sweeps of a step and judges them.
func (p *player) step(ctx context.Context, step Step) error {
	p.w.ledger.SetHooks(memledger.Hooks{})
	for i, c := range step.Changes {
		pl := p.w.places[i]
		p.w.now = Start().Add(step.Times[0])
		for _, m := range pl.members {
			m.fixed = false
		}
		pl.change = c
		pl.apply(c.Statement, p.w.now)
		if err := p.w.silence(ctx, pl); err != nil {
			return err
		}
	}
	p.w.ledger.SetHooks(memledger.Hooks{Before: p.w.ledgerFault})
	first := len(p.result.Sweeps)
	for _, at := range step.Times {
		p.w.now = Start().Add(at)
		p.sweep(ctx, at)
	}
	for i, c := range step.Changes {
		p.judge(i, c.Expect, first)
	}
	return nil
}

// ledgerFault makes the calls fail that a step says cannot reach the ledger; the Region's item fails with that of every group.
func (w *world) ledgerFault(c memledger.Call) error {
	if c.Group != "" {
		if p := w.place(c.Group); p != nil {
			return p.failing("ledger")
		}
		return nil
	}
	for _, p := range w.places {
		if p.failing("ledger") == nil {
			return nil
		}
	}
	return w.places[0].failing("ledger")
}

// sweep makes one run for each trigger that the step states, at one moment.
func (p *player) sweep(ctx context.Context, at time.Duration) {
	looked := make([]string, len(p.w.places))
	var failed []error
	for _, trigger := range []string{runner.TriggerSweep, runner.TriggerAlarm, runner.TriggerManual} {
		var chosen []*place
		for i, pl := range p.w.places {
			if pl.change.Trigger == trigger && (trigger != runner.TriggerAlarm || p.concerned(pl)) {
				chosen = append(chosen, pl)
				looked[i] = trigger
			}
		}
		for _, batch := range batches(chosen) {
			if err := p.run(ctx, trigger, batch); err != nil {
				failed = append(failed, err)
			}
		}
	}
	for i, pl := range p.w.places {
		if looked[i] != "" {
			p.collect(i, at, looked[i], errors.Join(failed...))
		}
		pl.log, pl.pages, pl.report = nil, nil, nil
	}
}

// batches puts all groups into one run, unless they are to read an alarm of the same name differently: a run reads each alarm
// once for all its groups, so each group then has a run of its own.
func batches(chosen []*place) [][]*place {
	read := map[string]guard.AlarmReading{}
	differ := false
	for _, pl := range chosen {
		for i, a := range pl.alarms {
			r := a.AlarmReading
			if pl.missing("alarms", i) {
				r = guard.AlarmReading{State: guard.AlarmUnread}
			}
			other, known := read[a.Alarm]
			differ = differ || known && other != r
			read[a.Alarm] = r
		}
	}
	if !differ {
		return [][]*place{chosen}
	}
	var out [][]*place
	for _, pl := range chosen {
		out = append(out, []*place{pl})
	}
	return out
}

// run makes one run over some groups.
func (p *player) run(ctx context.Context, trigger string, batch []*place) error {
	if len(batch) == 0 {
		return nil
	}
	p.runs++
	req := runner.Request{Run: fmt.Sprintf("%s-%d", p.s.Name, p.runs), Trigger: trigger, Shards: 1}
	if trigger != runner.TriggerSweep || len(batch) < len(p.w.places) {
		for _, pl := range batch {
			req.Groups = append(req.Groups, pl.group.Name)
		}
	}
	for _, pl := range p.w.places {
		pl.acted, pl.second = false, nil
	}
	p.w.current = nil
	if len(batch) == 1 {
		p.w.current = batch[0]
	}
	_, err := p.r.Run(ctx, req)
	return err
}

// concerned says whether an alarm event is about a group: the event is for the first dependency of the file.
func (p *player) concerned(pl *place) bool {
	names := p.s.alarmNames()
	return len(names) > 0 && slices.ContainsFunc(pl.alarms, func(a guard.DependencyReading) bool { return a.Alarm == names[0] })
}

// collect turns what one look left into a sweep.
func (p *player) collect(i int, at time.Duration, trigger string, runError error) {
	pl := p.w.places[i]
	s := Sweep{Scenario: p.s.Name, Group: pl.group.Name, Step: p.sweeps[i], At: spanText(at), Trigger: trigger,
		Would: []Call{}, Actions: append([]Call{}, pl.log...), Deferred: []Deferred{}, Pages: append([]PageSent{}, pl.pages...), Failures: []string{}}
	p.sweeps[i]++
	switch {
	case pl.report == nil && runError != nil:
		s.Trouble = runError.Error()
		s.Failures = append(s.Failures, "the run gave no record of the group: "+s.Trouble)
	case pl.report == nil:
		s.Trouble = "the run gave no record of the group"
		s.Failures = append(s.Failures, s.Trouble)
	default:
		v := pl.report.Verdict
		s.Verdict, s.Trouble = v, pl.report.Failure
		s.Mode, s.Cause, s.Members = v.Mode, v.Cause, v.Members
		for _, a := range v.Actions {
			if a.Withheld != "" {
				s.Would = append(s.Would, Call{Kind: a.Kind, Member: a.Member, Processes: slices.Sorted(slices.Values(a.Processes))})
			}
		}
		for _, d := range v.Deferred {
			s.Deferred = append(s.Deferred, Deferred{Member: d.Member, Reason: d.Reason, Have: d.Have, Limit: d.Limit})
		}
	}
	p.result.Sweeps = append(p.result.Sweeps, s)
}
