package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// errVanished is a group that was there when the run listed the groups and is not any more.
var errVanished = errors.New("the group vanished during the run")

// look gathers all that Decide needs, from a group that was just read.
func (j *job) look(ctx context.Context, base guard.Group) guard.Input {
	in := guard.Input{Now: j.o.Now(), SweepInterval: j.o.SweepInterval, Group: base, Policy: j.policy, Problems: j.res.Problems, Request: j.rec.Request}
	if base.OptedIn && base.Operator == "" {
		in.Group, in.Reads = j.p.Fleet.Details(ctx, base)
		j.beats(ctx, &in)
		j.queue(ctx, &in)
	}
	for _, d := range j.policy.Dependencies {
		reading, ok := j.alarms[d.Alarm]
		if !ok {
			reading = guard.AlarmReading{State: guard.AlarmUnread, Detail: "not asked for"}
		}
		in.Group.Dependencies = append(in.Group.Dependencies, guard.DependencyReading{Dependency: d, AlarmReading: reading})
	}
	return in
}

func (j *job) beats(ctx context.Context, in *guard.Input) {
	beats, err := j.p.Beats.Beats(ctx, in.Group)
	if err != nil {
		in.Reads.Heartbeats = err.Error()
	}
	read := in.Group.Members // what a port gave is the port's
	members := make([]guard.Member, len(read))
	copy(members, read)
	for i := range members {
		m := &members[i]
		b, ok := beats[m.ID]
		m.Beat, m.Beat.Unreadable = b, b.Unreadable || !ok
	}
	in.Group.Members = members
}

func (j *job) queue(ctx context.Context, in *guard.Input) {
	if j.policy.Kind != guard.KindWorker || j.policy.Queue == nil {
		return
	}
	if j.p.Queues == nil {
		in.Reads.Queue = "no reader of queues"
		return
	}
	q, err := j.p.Queues.Queue(ctx, *j.policy.Queue)
	if err != nil {
		in.Reads.Queue = err.Error()
		return
	}
	in.Group.Queue = &q
}

// remember adds what the ledger knows: the prior state, prepared for the present mode, and the Region's.
func (j *job) remember(in *guard.Input) {
	in.Reads.State, in.State = j.readErr, guard.State{}
	if j.readErr == "" {
		in.State = guard.Prepare(j.rec.State, j.policy)
	}
	in.Region, in.Reads.Region = j.regionView()
}

// decide judges an input; in mode observe the verdict is what observe records.
func (j *job) decide(in *guard.Input) guard.Verdict {
	v := guard.Decide(*in)
	if j.policy.Mode == guard.ModeObserve && in.Group.OptedIn {
		v = guard.Withhold(*in, v)
	}
	return v
}

// second reads the group afresh, with its targets, heartbeats and alarms, and decides again from the same prior state.
func (j *job) second(prior *guard.Input) (guard.Verdict, error) {
	base, err := j.p.Fleet.Group(j.work, j.base.Name)
	if errors.Is(err, fault.Gone) {
		return guard.Verdict{}, errVanished
	}
	if err != nil {
		return guard.Verdict{}, fmt.Errorf("second look: read the group: %w", err)
	}
	if names := alarmNames(j.policy); len(names) > 0 {
		j.alarms = j.p.Alarms.Alarms(j.work, names)
	}
	in := j.look(j.work, base)
	in.State, in.Region = prior.State, prior.Region
	in.Reads.State, in.Reads.Region = prior.Reads.State, prior.Reads.Region
	return j.decide(&in), nil
}
