package heartbeat

import (
	"context"
	"time"
)

// The waits between two tries of one beat. A table that throttles some writes is tried soon again, since nothing else makes the beat
// arrive; a table that takes none for triesFast tries is down or forbidden, and then each agent tries once an interval.
const (
	waitFirst = 50 * time.Millisecond
	// waitParts is the longest early wait as a part of the interval.
	waitParts = 20
	triesFast = 24
)

// soonestParts is how soon after a beat a change may cause another, as a part of the interval: a flapping check must not flood the table.
const soonestParts = 4

// beatUntil beats until the context ends; the Writer is nil if there never was one.
func (a *Agent) beatUntil(ctx context.Context) *Writer {
	w := a.connect(ctx)
	if w == nil {
		return nil
	}
	// The first beat goes out as soon as there is something to say: a member that serves should not wait to be seen.
	next := time.Now()
	soonest := next // news may bring the next beat forward to this time
	for a.sleepUntil(ctx, next, soonest) {
		if !a.speaks() {
			next = time.Now().Add(a.o.Every)
			continue
		}
		due := time.Now()
		if a.deliver(ctx, w) != nil {
			return w // only the end of the context ends the tries
		}
		next, soonest = due.Add(a.spread()), due.Add(a.o.Every/soonestParts)
		if now := time.Now(); now.After(next) {
			a.note(func(n *notes) { n.overdue++ })
			next = now
		}
	}
	return w
}

func (a *Agent) connect(ctx context.Context) *Writer {
	for try := 0; ; try++ {
		w, err := a.o.Connect(ctx)
		if err == nil {
			a.note(func(n *notes) { n.connected = true })
			a.o.Log.InfoContext(ctx, "row is known", "tries", try+1)
			return w
		}
		if try == 0 {
			a.o.Log.WarnContext(ctx, "row is not known yet", "error", err.Error())
		}
		a.noteError(err)
		if !pause(ctx, a.wait(try)) {
			return nil
		}
	}
}

// sleepUntil waits for the time of the next beat, or for news; it says whether to go on.
func (a *Agent) sleepUntil(ctx context.Context, next, soonest time.Time) bool {
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-a.wake:
			if soonest.Before(next) {
				timer.Reset(max(0, time.Until(soonest)))
			}
		}
	}
}

// speaks says that there is something to write: the start-up phase is over and it is known how the host is, or the instance leaves.
// An agent that was started anew beside a broken application must not say ok while it still counts failures.
func (a *Agent) speaks() bool {
	known := a.board.known()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.started || a.timeUp && known || a.leaving
}

// deliver tries until the table took a beat, each time with what is so by then. It returns an error only when the context ended.
func (a *Agent) deliver(ctx context.Context, w *Writer) error {
	for try := 0; ; try++ {
		select {
		case <-a.wake: // this beat tells the news
		default:
		}
		report := a.report()
		a.note(func(n *notes) { n.tries++ })
		err := w.Write(ctx, report)
		if err == nil {
			a.note(func(n *notes) { n.beats, n.lastBeat, a.told = n.beats+1, time.Now(), report })
			if try > 0 {
				a.o.Log.InfoContext(ctx, "heartbeat is written again", "tries", try+1)
			}
			a.changed() // while the call was under way something may have changed
			return nil
		}
		if try == 0 {
			a.o.Log.WarnContext(ctx, "heartbeat was not written", "error", err.Error())
		}
		a.noteError(err)
		if !pause(ctx, a.wait(try)) {
			return err
		}
	}
}

// spread is the time until the next beat: the interval, a tenth more or less.
func (a *Agent) spread() time.Duration {
	return time.Duration(float64(a.o.Every) * (0.9 + 0.2*a.o.Random()))
}

// wait is the pause after a failed try: doubling to a small part of the interval, then to all of it; half of it is random.
func (a *Agent) wait(try int) time.Duration {
	limit := a.o.Every / waitParts
	if try >= triesFast {
		limit = a.o.Every
	}
	d := limit
	if try < 16 {
		d = min(waitFirst<<try, limit)
	}
	return d/2 + time.Duration(float64(d/2)*a.o.Random())
}

func (a *Agent) note(do func(*notes)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do(&a.notes)
}

func (a *Agent) noteError(err error) {
	a.note(func(n *notes) { n.writeErr, n.writeErrAt = err.Error(), time.Now() })
}

// Stats are what an agent did so far.
type Stats struct {
	// Connected says that it is known whose row to write.
	Connected bool
	// Beats is how many beats the table took, Tries how many writes were tried, Overdue how often a beat took longer than until the
	// next one was due.
	Beats, Tries, Overdue int64
	// LastBeat is the age of the last beat that the table took; 0 when there was none.
	LastBeat time.Duration
	// LastError is why the last failed write failed, LastErrorAge how long ago; empty and 0 when none did.
	LastError    string
	LastErrorAge time.Duration
	// LeavingError is why it is not known whether the instance leaves; empty when it is known.
	LeavingError string
}

// Stats returns what the agent did so far.
func (a *Agent) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.notes
	s := Stats{
		Connected: n.connected, Beats: n.beats, Tries: n.tries, Overdue: n.overdue, LastError: n.writeErr, LeavingError: n.leaveErr,
	}
	if !n.lastBeat.IsZero() {
		s.LastBeat = time.Since(n.lastBeat)
	}
	if !n.writeErrAt.IsZero() {
		s.LastErrorAge = time.Since(n.writeErrAt)
	}
	return s
}
