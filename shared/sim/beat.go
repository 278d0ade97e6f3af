package sim

import (
	"slices"
	"time"
)

// agent is the heartbeat agent of an instance. Between two changes of its group all its beats say the same, so they are no events: they are
// written down when somebody reads them or something changes. Only for OnBeat each is an event.
type agent struct {
	started bool
	first   time.Time // nominal time of its first beat
	next    uint64    // number of the next beat, silent ones included
	says    Beat      // what a beat says in the present state, time and number apart
	news    bool      // which is not what the last one said
	silent  bool      // it cannot speak in the present state
	skew    time.Duration
	lost    bool // its beats are lost on the way
	last    Beat // the newest beat that arrived, if wrote
	wrote   bool
}

// startAgent starts the heartbeat of an instance, once. What it says, and whether it can speak, is decided beat by beat.
func (c *Cloud) startAgent(i *instance) {
	a := &i.agent
	if a.started {
		return
	}
	a.started = true
	a.first = c.now.Add(c.drawDuration("beat phase", i.serial, c.cfg.BeatEvery))
	i.group.beatsStale = true
	if c.eachBeat {
		c.planBeat(i)
	}
}

// beatAfter is the time of beat n after the nominal time of the first: its own nominal time plus a jitter of its own.
func (c *Cloud) beatAfter(i *instance, n uint64) time.Duration {
	return time.Duration(n)*c.cfg.BeatEvery + c.jitter.duration(i.serial<<32+n, min(c.cfg.BeatJitter, c.cfg.BeatEvery))
}

// planBeat makes the next beat an event.
func (c *Cloud) planBeat(i *instance) {
	c.push(i.agent.first.Add(c.beatAfter(i, i.agent.next)), orderNormal, func() {
		if i.gone {
			return
		}
		c.say(i)
		c.write(i, 1, c.now)
		if a := &i.agent; !a.silent && !a.lost && c.OnBeat != nil {
			b := a.last
			b.Failing = slices.Clone(b.Failing)
			c.OnBeat(b)
		}
		c.planBeat(i)
	})
}

// tellEachBeat makes every further beat an event, for OnBeat.
func (c *Cloud) tellEachBeat() {
	for _, g := range c.groups {
		c.refreshBeats(g)
		for _, i := range g.members {
			if i.agent.started {
				c.planBeat(i)
			}
		}
	}
	c.eachBeat = true
}

// refreshBeats writes down the beats from before the present instant, and sets what further ones say.
func (c *Cloud) refreshBeats(g *group) {
	if !g.beatsStale {
		return
	}
	g.beatsStale = false
	for _, i := range g.members {
		if i.agent.started {
			c.catchUp(i, false)
			c.say(i)
		}
	}
}

// catchUp writes down the beats up to the present instant, in the words of the state that was; those of the instant itself if they are to
// be included.
func (c *Cloud) catchUp(i *instance, included bool) {
	a := &i.agent
	since := c.now.Sub(a.first)
	if c.eachBeat || !a.started || since < 0 {
		return
	}
	count := uint64(since/c.cfg.BeatEvery) + 1 // beats whose nominal time has come
	for ; count > a.next; count-- {
		// A jitter is shorter than the interval, so at most the last two need a look.
		after := c.beatAfter(i, count-1)
		if after < since || included && after == since {
			c.write(i, count-a.next, a.first.Add(after))
			return
		}
	}
}

// write writes so many beats, the last of them at the given time.
func (c *Cloud) write(i *instance, n uint64, at time.Time) {
	a := &i.agent
	a.next += n
	if a.silent {
		return
	}
	i.beat += n
	if a.lost {
		return
	}
	if a.news {
		a.last, a.news = a.says, false
	}
	a.wrote = true
	a.last.At, a.last.Stamp, a.last.Seq = at, at.Add(a.skew), i.beat
}

// say sets what the agent says in the present state.
func (c *Cloud) say(i *instance) {
	a := &i.agent
	a.lost, a.skew, a.news = c.beatsLost, i.skew, true
	kind, _ := c.brokenness(i)
	a.silent = !i.up || i.noAgent || i.ec2State != "running"
	a.says = Beat{
		InstanceID: i.id, InstanceARN: i.arn, Group: i.group.spec.Name, Boot: i.boot, Status: "ok", Agent: i.agentVersion,
	}
	var failing []string
	switch kind {
	case Freeze, Crash, Stopped, Impaired, BrokenAgent:
		a.silent = true
	case FullDisk, FalseAlarm:
		failing = append(failing, "disk")
	case BadPool, Hang:
		failing = append(failing, "app")
	case FalseCheck, CutOff:
	}
	if c.badVersion(i) && !slices.Contains(failing, "app") {
		failing = append(failing, "app")
	}
	for _, name := range i.group.spec.AgentReports {
		if c.feels(i, name) {
			failing = append(failing, "dep:"+name)
		}
	}
	slices.Sort(failing)
	a.says.Failing = failing
	if len(failing) > 0 {
		a.says.Status = "failing"
	}
	if i.lifecycle != InService {
		a.says.Status = "draining"
	}
}

// newest is the newest beat of an instance, and false if it never wrote one.
func (c *Cloud) newest(i *instance) (*Beat, bool) {
	c.refreshBeats(i.group)
	c.catchUp(i, !c.scripting)
	return &i.agent.last, i.agent.wrote
}

// Heartbeats returns the newest beat of each instance that ever wrote one, gone instances included, sorted by instance ID.
func (c *Cloud) Heartbeats() []Beat {
	out := make([]Beat, 0, len(c.instances)+len(c.oldBeats))
	for _, b := range c.oldBeats {
		out = append(out, b)
	}
	for _, i := range c.instances {
		if b, ok := c.newest(i); ok {
			out = append(out, *b)
		}
	}
	for n := range out {
		out[n].Failing = slices.Clone(out[n].Failing)
	}
	slices.SortFunc(out, func(a, b Beat) int {
		switch {
		case a.InstanceID < b.InstanceID:
			return -1
		case a.InstanceID > b.InstanceID:
			return 1
		}
		return 0
	})
	return out
}

// NewestBeats shows the newest beat of each member of a group, in launch order and as [Cloud.NewestBeat] does; false says that there is
// none. An unknown group has no members.
func (c *Cloud) NewestBeats(group string, visit func(id string, b *Beat, wrote bool)) {
	g := c.findGroup(group)
	if g == nil {
		return
	}
	for _, i := range g.members {
		b, ok := c.newest(i)
		visit(i.id, b, ok)
	}
}

// NewestBeat is [Cloud.Heartbeat] without the copy: read only, and good until the clock moves.
func (c *Cloud) NewestBeat(id string) (*Beat, bool) {
	if i, there := c.instances[id]; there {
		return c.newest(i)
	}
	b, ok := c.oldBeats[id]
	return &b, ok
}

// Heartbeat returns the newest beat of one instance, and false if it never wrote one.
func (c *Cloud) Heartbeat(id string) (Beat, bool) {
	newest, ok := c.NewestBeat(id)
	b := *newest
	b.Failing = slices.Clone(b.Failing)
	return b, ok
}

// SetBeatsLost loses every heartbeat on its way to the table, or ends that. The agents go on counting.
func (c *Cloud) SetBeatsLost(lost bool) {
	if c.beatsLost == lost {
		return
	}
	c.beatsLost = lost
	for _, g := range c.groups {
		c.stirred(g)
	}
	kind := EventRepair
	if lost {
		kind = EventBreak
	}
	c.record(Event{Kind: kind, Text: "heartbeat table"})
}

// BeatsLost says whether heartbeats are being lost.
func (c *Cloud) BeatsLost() bool { return c.beatsLost }

// SetClockSkew makes the clock of an instance wrong by so much; it shows in [Beat.Stamp].
func (c *Cloud) SetClockSkew(id string, skew time.Duration) error {
	i, err := c.withInstance(id)
	if err != nil {
		return err
	}
	i.skew = skew
	c.stirred(i.group)
	return nil
}
