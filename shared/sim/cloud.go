package sim

import "time"

// Cloud is one simulated account and Region. Use [NewCloud]; the zero value does not work. It is not safe for
// concurrent use.
type Cloud struct {
	// OnBeat, when set, receives each heartbeat as it is written. It must not call Advance.
	OnBeat func(Beat)
	// OnAlarm, when set, receives each state change of an alarm. It must not call Advance.
	OnAlarm func(AlarmChange)
	// OnEvent, when set, receives each event of the timeline as it happens. It must not call Advance.
	OnEvent func(Event)

	cfg   Config
	now   time.Time
	queue queue
	seq   uint64 // number of events that were planned
	names uint64 // serial number of everything that gets a random name

	groups       []*group
	instances    map[string]*instance
	targetGroups []*targetGroup
	dependencies map[string]*dependency
	alarms       []*alarm
	oldBeats     map[string]Beat // newest beats of instances that are gone
	beatsLost    bool
	eachBeat     bool // every beat is an event
	scripting    bool // a script runs, before the periodic work of the same instant
	zonesDown    map[string]time.Time
	throttle     float64 // share of table calls refused
	tableCalls   uint64
	calls        int
	told         uint64 // see Told
	jitter       stream // of the heartbeats

	activities []*Activity
	events     []Event
	samples    []Sample
}

// NewCloud returns an empty Region whose clock stands at cfg.Start.
func NewCloud(cfg Config) *Cloud {
	cfg = cfg.withDefaults()
	c := &Cloud{
		cfg:          cfg,
		now:          cfg.Start,
		instances:    map[string]*instance{},
		dependencies: map[string]*dependency{},
		oldBeats:     map[string]Beat{},
		zonesDown:    map[string]time.Time{},
	}
	c.jitter = c.stream("beat jitter")
	if !cfg.Lean {
		c.every(cfg.SampleEvery, orderLast, c.sample)
	}
	return c
}

// Calls is how often SetInstanceHealth, SuspendProcesses and ResumeProcesses were called, refusals included.
func (c *Cloud) Calls() int { return c.calls }

// Now returns the current virtual time.
func (c *Cloud) Now() time.Time { return c.now }

// Config returns the configuration with its defaults filled in.
func (c *Cloud) Config() Config { return c.cfg }

// Advance runs everything that is due up to and including the given time, in time order, and sets the clock to it. A
// time that is not after Now changes nothing but still runs what is due at Now.
func (c *Cloud) Advance(to time.Time) {
	if to.Before(c.now) {
		return
	}
	if c.OnBeat != nil && !c.eachBeat {
		c.tellEachBeat()
	}
	for until := to.UnixNano(); len(c.queue) > 0 && c.queue[0].at <= until; {
		next := c.queue.take()
		if at := time.Unix(0, next.at).UTC(); at.After(c.now) {
			c.settle()
			c.now = at
		}
		c.scripting = next.order == orderScript
		next.do()
	}
	c.scripting = false
	if to.After(c.now) {
		c.settle()
		c.now = to.UTC()
	}
}

// Next returns the time of the next event, and false when nothing will ever happen.
func (c *Cloud) Next() (time.Time, bool) {
	if len(c.queue) == 0 {
		return time.Time{}, false
	}
	return time.Unix(0, c.queue[0].at).UTC(), true
}

// At runs a function when the clock reaches the given time, before the periodic work of the same instant. A time in
// the past means now, at the next Advance. Scripts use it.
func (c *Cloud) At(at time.Time, do func(*Cloud)) {
	c.push(at, orderScript, func() { do(c) })
}

// Note adds a line to the timeline on behalf of a script or a driver.
func (c *Cloud) Note(group, instance, text string) {
	c.record(Event{Group: group, Instance: instance, Kind: EventNote, Text: text})
}

func (c *Cloud) record(e Event) {
	e.At = c.now
	if !c.cfg.Lean {
		c.events = append(c.events, e)
	}
	if c.OnEvent != nil {
		c.OnEvent(e)
	}
}
