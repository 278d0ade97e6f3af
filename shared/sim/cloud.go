package sim

import (
	"container/heap"
	"fmt"
	"time"
)

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
	seq   uint64 // orders events of the same instant by creation
	names uint64 // serial number of everything that gets a random name

	groups       []*group
	instances    map[string]*instance
	targetGroups []*targetGroup
	dependencies map[string]*dependency
	alarms       []*alarm
	beats        map[string]Beat
	beatsLost    bool
	zonesDown    map[string]time.Time
	throttle     float64 // share of table calls refused
	tableCalls   uint64
	calls        int

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
		beats:        map[string]Beat{},
		zonesDown:    map[string]time.Time{},
	}
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
	for len(c.queue) > 0 && !c.queue[0].at.After(to) {
		next, ok := heap.Pop(&c.queue).(*due)
		if !ok {
			panic("sim: foreign item in the queue")
		}
		if next.at.After(c.now) {
			c.settle()
			c.now = next.at
		}
		next.do()
	}
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
	return c.queue[0].at, true
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

// Order of events that are due at the same instant.
const (
	orderScript = iota
	orderNormal
	orderLast
)

type due struct {
	at    time.Time
	order int
	seq   uint64
	do    func()
}

// queue is a heap by time, then order, then creation.
type queue []*due

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	if !a.at.Equal(b.at) {
		return a.at.Before(b.at)
	}
	if a.order != b.order {
		return a.order < b.order
	}
	return a.seq < b.seq
}

// Push is part of heap.Interface.
func (q *queue) Push(x any) {
	item, ok := x.(*due)
	if !ok {
		panic(fmt.Sprintf("sim: push of a %T", x))
	}
	*q = append(*q, item)
}

// Pop is part of heap.Interface.
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}

func (c *Cloud) push(at time.Time, order int, do func()) {
	if at.Before(c.now) {
		at = c.now
	}
	c.seq++
	heap.Push(&c.queue, &due{at: at.UTC(), order: order, seq: c.seq, do: do})
}

func (c *Cloud) after(d time.Duration, do func()) { c.push(c.now.Add(d), orderNormal, do) }

// every runs do now-plus-period and then for ever.
func (c *Cloud) every(period time.Duration, order int, do func()) {
	c.everyWhile(c.now.Add(period), period, order, func() bool { do(); return true })
}

// everyWhile runs do at first and then once a period until it returns false.
func (c *Cloud) everyWhile(first time.Time, period time.Duration, order int, do func() bool) {
	c.push(first, order, func() {
		if do() {
			c.everyWhile(first.Add(period), period, order, do)
		}
	})
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
