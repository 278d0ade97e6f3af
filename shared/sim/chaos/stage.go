package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// Interval is the time between two scheduled sweeps. lifetime is how long a process may live: the Lambda's timeout.
const (
	interval = time.Minute
	lifetime = 55 * time.Second
	keptMost = 20
)

// stage is one seed under way: the Region, the ledger, the processes and the book.
type stage struct {
	o     Options
	ctx   context.Context
	cloud *sim.Cloud
	world drive.World
	// ledger is the true one; processes reach it through their faults.
	ledger *memledger.Ledger
	fleet  *fleet
	book   *book

	order, faults, weather dice
	// chaotic says that the first phase lasts; level is the share of calls that go wrong at present, climate how stormy the seed is.
	chaotic bool
	// began is the first moment of all.
	began   time.Time
	level   float64
	climate climate
	// silent says that no scheduled look comes, single that each group has a run of its own.
	silent, single bool
	// skew is how far the guard's clock is off.
	skew time.Duration
	// stepped and leapt say that the guard's clock was ever off by more than a few seconds, or minutes; zonesDown are the zones that are lost.
	stepped   bool
	leapt     bool
	zonesDown map[string]bool

	processes []*process
	runs      int
	// clocks are what the clocks of the processes said when they began, in the order of their beginnings.
	clocks   []time.Time
	ends     []ending
	requests int

	violations  []Violation
	unhealed    []string
	healedAfter time.Duration
	counts      Counts
	err         error
}

// ending is an incident that ends by itself.
type ending struct {
	at   time.Time
	what string
	do   func()
}

func newStage(ctx context.Context, o Options) (*stage, error) {
	s := &stage{
		o: o, ctx: ctx, ledger: memledger.NewOfValues(), book: newBook(), chaotic: true, zonesDown: map[string]bool{},
		order: newDice(o.Seed, "order"), faults: newDice(o.Seed, "faults"), weather: newDice(o.Seed, "weather"),
	}
	if o.Plain {
		s.ledger = memledger.New()
	}
	d := newDice(o.Seed, "fleet")
	s.cloud = sim.NewCloud(sim.Config{
		Seed: o.Seed, SampleEvery: 24 * time.Hour, MarksRecover: d.chance(0.5), ResumeBurst: pick(d, sim.BurstAll, sim.BurstPaced),
		ReactAfter: pick(d, time.Second, time.Second, time.Second, 100*time.Second, 4*time.Minute),
	})
	s.world, s.began = drive.Open(s.cloud), s.cloud.Now()
	var err error
	if s.fleet, err = newFleet(s.cloud, d); err != nil {
		return nil, err
	}
	s.cloud.OnAlarm = s.alarmed
	return s, nil
}

func (s *stage) log(format string, args ...any) {
	if s.o.Log != nil {
		s.o.Log(s.cloud.Now().Format("15:04:05.000 ") + fmt.Sprintf(format, args...))
	}
}

func (s *stage) violate(p *process, rule, format string, args ...any) {
	v := Violation{Rule: rule, Text: fmt.Sprintf(format, args...), At: s.cloud.Now()}
	if p != nil {
		v.Run = p.name
	}
	s.log("VIOLATION %s", v)
	if len(s.violations) < keptMost {
		s.violations = append(s.violations, v)
	}
}

// plan starts a process at a moment. No two have the same time to the nanosecond: doubles of one event that had would be one run to the
// ledger, with one token, and no two machines do.
func (s *stage) plan(at time.Time, req runner.Request) {
	p := &process{
		stage: s, name: req.Run, req: req, at: at, skew: s.skew + time.Duration(s.counts.Runs), events: make(chan bool), grant: make(chan struct{}), pictures: map[string]*picture{},
	}
	if s.chaotic && !s.o.Calm && s.order.chance(0.3) {
		p.skew += s.order.span(-2*time.Second, 2*time.Second)
	}
	s.processes = append(s.processes, p)
	s.counts.Runs++
}

// nextRun names a run.
func (s *stage) nextRun() string {
	s.runs++
	return fmt.Sprintf("run-%04d", s.runs)
}

// alarmed asks for a look at once, as the rule on alarm state changes does. In the chaos phase events are lost, doubled and late.
func (s *stage) alarmed(change sim.AlarmChange) {
	req := runner.Request{Run: s.nextRun(), Trigger: runner.TriggerAlarm, Alarms: []string{change.Alarm.Name}}
	at := s.cloud.Now().Add(2 * time.Second)
	if !s.chaotic || s.o.Calm {
		s.plan(at, req)
		return
	}
	for range pick(s.order, 0, 1, 1, 1, 2) {
		s.plan(at.Add(pick(s.order, 0, 0, s.order.span(0, 3*time.Minute))), req)
	}
}

// sweep plans the scheduled look of this minute, and in the chaos phase its doubles and rivals.
func (s *stage) sweep() {
	now := s.cloud.Now()
	req := runner.Request{Run: s.nextRun(), Trigger: runner.TriggerSweep}
	if !s.chaotic || s.o.Calm {
		s.plan(now, req)
		return
	}
	if s.silent || s.order.chance(0.02) {
		return // a schedule that did not fire
	}
	if s.single || s.order.chance(0.1) { // one run for each group, all at once
		for _, name := range s.fleet.names() {
			s.plan(now.Add(s.order.span(0, 300*time.Millisecond)), runner.Request{Run: s.nextRun(), Trigger: runner.TriggerManual, Groups: []string{name}})
		}
		return
	}
	s.plan(now, req)
	if s.order.chance(0.1) { // an event that is delivered twice
		s.plan(now.Add(s.order.span(0, 3*time.Second)), req)
	}
	if s.order.chance(0.1) {
		s.plan(now.Add(s.order.span(0, 5*time.Second)), runner.Request{Run: s.nextRun(), Trigger: runner.TriggerManual, Groups: s.fleet.names()})
	}
}

// until lets the processes and the Region run up to a moment: always the process whose next call is due first.
func (s *stage) until(end time.Time) {
	for {
		var next *process
		for _, p := range s.processes {
			if next == nil || p.at.Before(next.at) {
				next = p
			}
		}
		if next == nil || next.at.After(end) {
			s.cloud.Advance(end)
			return
		}
		s.cloud.Advance(next.at)
		s.step(next)
	}
}

// step lets one process make its next call and go on to the one after.
func (s *stage) step(p *process) {
	if p.started.IsZero() {
		p.started = s.cloud.Now()
		s.clocks = append(s.clocks, p.Now())
		s.book.clockSays(p.Now())
		for _, other := range s.processes {
			if other != p && !other.started.IsZero() {
				s.counts.Races++
				p.raced, other.raced = true, true
			}
		}
		go p.live()
	} else {
		if s.cloud.Now().Sub(p.started) > lifetime && !p.crashed {
			s.log("%s reaches its timeout", p.name)
			p.crash()
		}
		p.grant <- struct{}{}
	}
	if alive := <-p.events; alive {
		p.at = s.cloud.Now().Add(s.pace(p))
		return
	}
	p.ended = true
	for i, other := range s.processes {
		if other == p {
			s.processes = append(s.processes[:i], s.processes[i+1:]...)
			break
		}
	}
}

// pace is how long a call takes.
func (s *stage) pace(p *process) time.Duration {
	switch {
	case !s.chaotic || s.o.Calm:
		return 20 * time.Millisecond
	case p.hot > 0 && s.order.chance(s.climate.hot/2):
		return s.order.span(time.Second, 10*time.Second)
	case s.order.chance(0.01):
		return s.order.span(2*time.Second, 30*time.Second)
	}
	return s.order.span(5*time.Millisecond, 300*time.Millisecond)
}

// endAll ends what still runs, so that nothing outlives the seed.
func (s *stage) endAll() {
	for len(s.processes) > 0 {
		p := s.processes[0]
		p.crash()
		s.step(p)
	}
}

// chaos is the first phase.
func (s *stage) chaos() {
	end := s.cloud.Now().Add(s.o.Chaos)
	s.forecast()
	if s.weather.chance(0.3) { // what broke before the first look of all
		s.spring(pick(s.weather, s.fleet.groups...))
		s.until(s.cloud.Now().Add(s.order.span(interval, 6*interval)))
	}
	s.until(s.cloud.Now().Add(s.order.span(0, interval)))
	for s.cloud.Now().Before(end) && len(s.violations) == 0 && s.err == nil {
		s.blow()
		s.sweep()
		s.watchTruth()
		s.until(s.cloud.Now().Add(interval))
		s.watchTruth()
	}
}

func (s *stage) state(g string) guard.State {
	rec, err := s.ledger.Load(s.ctx, s.fleet.arn(g))
	if err != nil && s.err == nil {
		s.err = err
	}
	return rec.State
}
