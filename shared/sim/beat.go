package sim

import (
	"slices"
	"time"
)

// startAgent starts the heartbeat of an instance, once. The agent itself decides at each beat whether it can speak.
func (c *Cloud) startAgent(i *instance) {
	if i.agentStarted {
		return
	}
	i.agentStarted = true
	c.nextBeat(i, c.now.Add(c.drawDuration("beat phase", i.serial, c.cfg.BeatEvery)), 0)
}

// nextBeat plans beat n at its nominal time plus a jitter of its own.
func (c *Cloud) nextBeat(i *instance, nominal time.Time, n uint64) {
	jitter := c.drawDuration("beat jitter", i.serial<<32+n, min(c.cfg.BeatJitter, c.cfg.BeatEvery))
	c.push(nominal.Add(jitter), orderNormal, func() {
		if i.gone {
			return
		}
		c.beat(i)
		c.nextBeat(i, nominal.Add(c.cfg.BeatEvery), n+1)
	})
}

// beat writes one heartbeat, unless the agent cannot.
func (c *Cloud) beat(i *instance) {
	kind, _ := c.brokenness(i)
	if !i.up || i.noAgent || i.ec2State != "running" {
		return
	}
	b := Beat{
		InstanceID: i.id, InstanceARN: i.arn, Group: i.group.spec.Name, At: c.now, Stamp: c.now.Add(i.skew),
		Boot: i.boot, Status: "ok", Agent: i.agentVersion,
	}
	switch kind {
	case Freeze, Crash, Stopped, Impaired, BrokenAgent:
		return
	case FullDisk, FalseAlarm:
		b.Failing = append(b.Failing, "disk")
	case BadPool, Hang:
		b.Failing = append(b.Failing, "app")
	}
	if i.group.badVersions[i.version] && !slices.Contains(b.Failing, "app") {
		b.Failing = append(b.Failing, "app")
	}
	for _, name := range i.group.spec.AgentReports {
		if c.feels(i, name) {
			b.Failing = append(b.Failing, "dep:"+name)
		}
	}
	slices.Sort(b.Failing)
	if len(b.Failing) > 0 {
		b.Status = "failing"
	}
	if i.lifecycle != InService {
		b.Status = "draining"
	}
	i.beat++
	b.Seq = i.beat
	if c.beatsLost {
		return
	}
	c.beats[i.id] = b
	if c.OnBeat != nil {
		b.Failing = slices.Clone(b.Failing)
		c.OnBeat(b)
	}
}

// Heartbeats returns the newest beat of each instance that ever wrote one, gone instances included, sorted by instance ID.
func (c *Cloud) Heartbeats() []Beat {
	out := make([]Beat, 0, len(c.beats))
	for _, b := range c.beats {
		b.Failing = slices.Clone(b.Failing)
		out = append(out, b)
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

// Heartbeat returns the newest beat of one instance, and false if it never wrote one.
func (c *Cloud) Heartbeat(id string) (Beat, bool) {
	b, ok := c.beats[id]
	b.Failing = slices.Clone(b.Failing)
	return b, ok
}

// SetBeatsLost loses every heartbeat on its way to the table, or ends that. The agents go on counting.
func (c *Cloud) SetBeatsLost(lost bool) {
	if c.beatsLost == lost {
		return
	}
	c.beatsLost = lost
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
	return nil
}
