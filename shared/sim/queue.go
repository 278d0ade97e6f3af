package sim

import "time"

// Order of events that are due at the same instant.
const (
	orderScript = iota
	orderNormal
	orderLast
)

// due is one event of the queue. Its time is kept in nanoseconds since the Unix epoch, which compares faster.
type due struct {
	at    int64
	order int32
	seq   uint64 // orders events of the same instant by creation
	do    func()
}

func (d *due) before(other *due) bool {
	if d.at != other.at {
		return d.at < other.at
	}
	if d.order != other.order {
		return d.order < other.order
	}
	return d.seq < other.seq
}

// queue is a binary heap by time, then order, then creation.
type queue []due

func (q *queue) add(d due) {
	*q = append(*q, d)
	heap := *q
	n := len(heap) - 1
	for n > 0 {
		above := (n - 1) / 2
		if !heap[n].before(&heap[above]) {
			return
		}
		heap[n], heap[above] = heap[above], heap[n]
		n = above
	}
}

// take removes the first event; there must be one.
func (q *queue) take() due {
	heap := *q
	first, last := heap[0], len(heap)-1
	heap[0], heap[last] = heap[last], due{}
	heap = heap[:last]
	*q = heap
	for n := 0; ; {
		least := n
		for below := 2*n + 1; below <= 2*n+2 && below < last; below++ {
			if heap[below].before(&heap[least]) {
				least = below
			}
		}
		if least == n {
			return first
		}
		heap[n], heap[least] = heap[least], heap[n]
		n = least
	}
}

// push plans an event; a time in the past means now.
func (c *Cloud) push(at time.Time, order int32, do func()) {
	if at.Before(c.now) {
		at = c.now
	}
	c.seq++
	c.queue.add(due{at: at.UnixNano(), order: order, seq: c.seq, do: do})
}

func (c *Cloud) after(d time.Duration, do func()) { c.push(c.now.Add(d), orderNormal, do) }

// every runs do now-plus-period and then for ever.
func (c *Cloud) every(period time.Duration, order int32, do func()) {
	c.everyWhile(c.now.Add(period), period, order, func() bool { do(); return true })
}

// everyWhile runs do at first and then once a period until it returns false.
func (c *Cloud) everyWhile(first time.Time, period time.Duration, order int32, do func() bool) {
	next := first
	var round func()
	round = func() {
		if do() {
			next = next.Add(period)
			c.push(next, order, round)
		}
	}
	c.push(first, order, round)
}

// ticker is periodic work that rests while it would change nothing. Whoever changes what the work depends on must wake it.
type ticker struct {
	cloud       *Cloud
	first, next time.Time // next is the time of the next round
	period      time.Duration
	resting     bool
	do          func() rhythm
	fire        func()
}

// rhythm is what a round of a ticker wants to happen next.
type rhythm int

const (
	goOn rhythm = iota
	rest
	end
)

// tick runs do at first and then once a period.
func (c *Cloud) tick(first time.Time, period time.Duration, do func() rhythm) *ticker {
	t := &ticker{cloud: c, first: first, next: first, period: period, do: do}
	t.fire = func() {
		t.next = t.next.Add(t.period)
		switch t.do() {
		case goOn:
			c.push(t.next, orderNormal, t.fire)
		case rest:
			t.resting = true
		case end:
		}
	}
	c.push(first, orderNormal, t.fire)
	return t
}

// wake goes on with the first round that is not in the past.
func (t *ticker) wake() {
	if !t.resting {
		return
	}
	t.resting = false
	if late := t.cloud.now.Sub(t.next); late > 0 {
		t.next = t.next.Add((late + t.period - 1) / t.period * t.period)
	}
	t.cloud.push(t.next, orderNormal, t.fire)
}

// rounds is how many rounds there would have been so far without any rest.
func (t *ticker) rounds() uint64 { return uint64(t.next.Sub(t.first) / t.period) }
