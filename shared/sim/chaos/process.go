package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// process is one invocation: the runner's ports with faults at every call, and a memory of what this invocation has read.
type process struct {
	*stage
	name string
	req  runner.Request
	// at is when its next call is due; started is zero before its first.
	at, started time.Time
	skew        time.Duration
	// events tells the stage that the process waits for its next call (true) or has ended (false); grant lets it go on.
	events chan bool
	grant  chan struct{}

	crashed, ended, raced bool
	// hot is how many of the next calls are those that matter.
	hot int
	// done is when its last call took effect.
	done time.Time

	// What it has read so far.
	pictures  map[string]*picture
	policies  runner.PolicySet
	alarms    map[string]guard.AlarmReading
	region    runner.RegionRecord
	regionErr error
}

// picture is what a process has read of one group.
type picture struct {
	// group has everything of the newest Details and Beats. began is the true moment by which the runner judges it, which is when it
	// asked for the details; looks counts them.
	group    guard.Group
	reads    guard.Reads
	beatsErr error
	began    time.Time
	looks    int
	// suspended are the suspensions as last read, also after a suspension of its own.
	suspended []guard.Suspension
	// rec is the group's item as last loaded or written, prior the one before its own first write.
	rec, prior runner.Record
	loadErr    error
	// unwritten says that a write of the item failed.
	unwritten bool
	// claimedAt is when its first write took effect, actFrom when the last call before its first mark or resume did.
	claimedAt, actFrom time.Time
	// reserved are the members that it has reserved, by the number of looks before.
	reserved map[string]int
	// policy is what policy has found, nil before it was asked.
	policy *guard.Policy
}

func (p *process) picture(name string) *picture {
	if p.pictures[name] == nil {
		p.pictures[name] = &picture{reserved: map[string]int{}}
	}
	return p.pictures[name]
}

// Now is the process's clock.
func (p *process) Now() time.Time { return p.cloud.Now().Add(p.skew) }

// live is the whole life of the process, on a goroutine of its own that only runs between a grant and an event.
func (p *process) live() {
	defer func() { p.events <- false }()
	p.log("%s begins: %s %v, clock off by %s", p.name, p.req.Trigger, p.req.Alarms, p.skew.Round(time.Millisecond))
	ports := runner.Ports{Fleet: p, Beats: p, Alarms: p, Policies: p, Ledger: p, Actor: p, Reporter: p}
	if p.o.Spoil != nil {
		ports = p.o.Spoil(ports)
	}
	o := runner.Options{Now: p.Now, SweepInterval: interval, Concurrency: 1}
	if !p.o.Plain {
		o.Resolve = p.book.resolve
	}
	r, err := runner.New(ports, o)
	if err != nil {
		p.fail(err)
		return
	}
	sum, err := r.Run(p.ctx, p.req)
	p.log("%s ends: %v, failed %d, lost races %d", p.name, err, sum.Failed, sum.LostRaces)
	for _, g := range sum.Groups {
		if g.Failure != "" {
			p.log("%s %s failed: %s", p.name, g.Group, g.Failure)
		}
	}
}

func (s *stage) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (p *process) crash() {
	if !p.crashed {
		p.crashed = true
		p.counts.Crashes++
	}
}

// call passes one call through the faults. The effect runs while every other process waits.
func (p *process) call(op, about string, effect func(mishap) error) error {
	if p.crashed {
		return errCrashed
	}
	p.events <- true
	<-p.grant
	if p.crashed {
		return errCrashed
	}
	p.counts.Calls++
	m := p.mishap(op)
	switch {
	case m.crashBefore:
		p.log("%s %s %s: %s", p.name, op, about, m)
		p.crash()
		return errCrashed
	case m.before != nil:
		p.raced = p.raced || errors.Is(m.before, fault.Conflict) // a conflict says that there is a rival
		p.log("%s %s %s: %s", p.name, op, about, m)
		return m.before
	}
	defer func(at time.Time) { p.done = at }(p.cloud.Now())
	err := effect(m)
	if m.twice && err == nil {
		err = effect(m)
	}
	p.log("%s %s %s: %s, %v", p.name, op, about, m, err)
	if m.crashAfter {
		p.crash()
		return errCrashed
	}
	return errors.Join(err, m.after)
}

// Load reads a group's item.
func (p *process) Load(ctx context.Context, arn string) (rec runner.Record, err error) {
	name := p.fleet.name(arn)
	pic := p.picture(name)
	err = p.call("load", name, func(mishap) (err error) { rec, err = p.ledger.Load(ctx, arn); return err })
	pic.rec, pic.loadErr = rec, err
	if pic.claimedAt.IsZero() {
		pic.prior = rec
	}
	p.policy(name) // the runner lays the policy at its first load, and so do we
	return rec, err
}

// Save writes a group's item.
func (p *process) Save(ctx context.Context, arn string, rec runner.Record) (version int64, err error) {
	name := p.fleet.name(arn)
	if moves(p.picture(name).prior.State.Hold, rec.State.Hold) {
		p.heat(name)
	}
	err = p.call("save", name, func(mishap) (err error) {
		own := rec.Version
		rec.Version = p.fence(arn, own)
		if version, err = p.ledger.Save(ctx, arn, rec); err == nil {
			p.checkLost(name, own, version-1)
			p.wrote(name, rec)
		}
		return err
	})
	p.picture(name).unwritten = err != nil
	return version, err
}

// fence is the version on which a write of a group's item is conditional: the writer's own, or without a fence whatever is there.
func (s *stage) fence(arn string, own int64) int64 {
	if !s.o.Unfenced {
		return own
	}
	rec, err := s.ledger.Load(s.ctx, arn)
	if err != nil {
		s.fail(err)
	}
	return rec.Version
}

func (s *stage) fenceRegion(own int64) int64 {
	if !s.o.UnfencedRegion {
		return own
	}
	rec, err := s.ledger.LoadRegion(s.ctx)
	if err != nil {
		s.fail(err)
	}
	return rec.Version
}

// moves says that a hold begins, ends, or goes on to another stage.
func moves(was, now *guard.Hold) bool {
	return (was == nil) != (now == nil) || now != nil && now.Stage != was.Stage
}

func (p *process) wrote(name string, rec runner.Record) {
	rec.Version++
	p.count(name, rec.State.Hold)
	p.noteHold(name, rec.State.Hold)
	pic := p.picture(name)
	if pic.claimedAt.IsZero() {
		pic.claimedAt = p.cloud.Now()
	}
	pic.rec = rec
	p.book.intents(name, rec.State)
	for _, m := range rec.State.Marks {
		if d := p.book.markOf(m.Member); d != nil && m.Outcome == guard.OutcomeDone {
			d.sure = true
		}
	}
}

// count counts holds that begin and end.
func (p *process) count(name string, now *guard.Hold) {
	id := ""
	if now != nil {
		id = now.ID
	}
	switch was := p.book.holds[name]; {
	case was == id:
		return
	case id != "":
		p.counts.Holds++
	default:
		p.counts.Releases++
	}
	p.book.holds[name] = id
}

// LoadRegion reads the Region's item.
func (p *process) LoadRegion(ctx context.Context) (rec runner.RegionRecord, err error) {
	err = p.call("load region", "", func(mishap) (err error) { rec, err = p.ledger.LoadRegion(ctx); return err })
	p.region, p.regionErr = rec, err
	return rec, err
}

// SaveRegion writes the Region's item.
func (p *process) SaveRegion(ctx context.Context, rec runner.RegionRecord) (version int64, err error) {
	err = p.call("save region", "", func(mishap) (err error) {
		rec.Version = p.fenceRegion(rec.Version)
		version, err = p.ledger.SaveRegion(ctx, rec)
		return err
	})
	return version, err
}

// Reserve writes a reservation.
func (p *process) Reserve(ctx context.Context, r runner.Reservation) error {
	name := p.fleet.name(r.Group)
	pic := p.picture(name)
	p.heat(name)
	err := p.call("reserve", name, func(mishap) error {
		own := r.Record.Version
		r.Record.Version, r.Region.Version = p.fence(r.Group, own), p.fenceRegion(r.Region.Version)
		if err := p.ledger.Reserve(ctx, r); err != nil {
			return err
		}
		p.checkLost(name, own, r.Record.Version)
		p.wrote(name, r.Record)
		for _, a := range r.Actions {
			pic.reserved[a.Member] = pic.looks
		}
		return nil
	})
	pic.unwritten = err != nil
	return err
}

// PutAction writes an action item.
func (p *process) PutAction(ctx context.Context, a runner.ActionRecord) error {
	return p.call("put action", a.ID, func(mishap) error { return p.ledger.PutAction(ctx, a) })
}

// Mark sets a member Unhealthy.
func (p *process) Mark(ctx context.Context, member string) error {
	again := false
	return p.call(opMark, member, func(mishap) error {
		g := p.groupOf(member)
		if again { // the network repeats what was judged already
			return p.world.Mark(ctx, member)
		}
		again = true
		p.acts(g)
		p.checkMark(g, member)
		err := p.world.Mark(ctx, member)
		if err == nil {
			p.counts.Marks++
			p.book.marked(p, g, member)
		}
		return err
	})
}

// acts notes the last moment at which this process could still be told otherwise.
func (p *process) acts(group string) {
	if pic := p.picture(group); pic.actFrom.IsZero() {
		pic.actFrom = p.done
	}
}

// groupOf is the group of a member as this process has read it.
func (p *process) groupOf(member string) string {
	for name, pic := range p.pictures {
		for _, m := range pic.group.Members {
			if m.ID == member {
				return name
			}
		}
	}
	if m, ok := p.cloud.Instance(member); ok {
		return m.Group
	}
	return ""
}

// Restore sets a member Healthy.
func (p *process) Restore(ctx context.Context, member string) error {
	return p.call(opRestore, member, func(mishap) error {
		p.checkRestore(p.groupOf(member), member)
		p.counts.Restores++
		err := p.world.Restore(ctx, member)
		if err == nil {
			delete(p.book.unhealthyByUs, member)
		}
		return err
	})
}

// Suspend suspends processes.
func (p *process) Suspend(ctx context.Context, group string, processes []string) error {
	return p.call(opSuspend, fmt.Sprint(group, processes), func(mishap) error {
		p.checkSuspend(group, processes)
		p.counts.Suspends++
		before := p.suspendedNow(group)
		err := p.world.Suspend(ctx, group, processes)
		for name, reason := range p.suspendedNow(group) {
			if _, there := before[name]; !there {
				p.book.owned(group, name, reason)
			}
		}
		return err
	})
}

// Resume resumes processes.
func (p *process) Resume(ctx context.Context, group string, processes []string) error {
	return p.call(opResume, fmt.Sprint(group, processes), func(mishap) error {
		p.acts(group)
		p.checkResume(group, processes)
		p.counts.Resumes++
		return p.world.Resume(ctx, group, processes)
	})
}

// suspendedNow is what is suspended in truth, with the reason texts.
func (s *stage) suspendedNow(group string) map[string]string {
	out := map[string]string{}
	if g, ok := s.cloud.Group(group); ok {
		for _, sus := range g.Suspended {
			out[sus.Process] = sus.Reason
		}
	}
	return out
}

// Page delivers a notice.
func (p *process) Page(_ context.Context, n runner.Notice) error {
	arrived := false
	err := p.call(opPage, n.Group+" "+n.Key+" "+n.Subject, func(mishap) error {
		if !arrived {
			p.log("%s to people: %s: %s", p.name, n.Key, n.Text)
			p.delivered(n)
		}
		arrived = true
		return nil
	})
	p.book.paged(p, n, arrived, err)
	return err
}

// Report takes the record of a look into the log; records are not judged, calls are.
func (p *process) Report(_ context.Context, r runner.Report) {
	for _, d := range r.Verdict.Deferred {
		p.log("%s defers %s of %s: %s %d/%d, broken %v", p.name, d.Member, r.Group, d.Reason, d.Have, d.Limit, d.Broken)
	}
}
