package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

const (
	// SendTimeout bounds one channel's sending, all its requests together.
	SendTimeout = 8 * time.Second
	// BusyMax is how long a delivery keeps others of the same condition back. It is longer than the function's timeout should
	// be, and shorter than the minute after which Lambda tries a failed invocation again.
	// Source: Lambda developer guide, asynchronous invocation, error handling.
	BusyMax = 50 * time.Second
	// saveTimeout bounds the last read and the last write, which are made even when the caller has given up.
	saveTimeout = 5 * time.Second
)

// Channel is one way to people.
type Channel interface {
	// Name is the channel's name in records, results and logs.
	Name() string
	// Wants says whether a notice is for this channel at all.
	Wants(n Notice) bool
	// Send delivers a message once. An error never holds a secret.
	Send(ctx context.Context, m Message) error
}

// Closer is a Channel in which a condition stays open until somebody closes it.
type Closer interface {
	Channel
	// Close closes what the condition of a notice has open. Closing what is not open is no error.
	Close(ctx context.Context, n Notice) error
}

// Options configure a Desk; Channels, Memory and Now are required.
type Options struct {
	Channels []Channel
	Memory   Memory
	Now      func() time.Time
	// StateTable is what the commands in messages name as the state table; with "" they name none.
	StateTable string
}

// Desk delivers notices. It is safe for concurrent use.
type Desk struct {
	channels []Channel
	memory   Memory
	now      func() time.Time
	table    string
}

// New returns a desk over channels whose names differ. It makes no call.
func New(o Options) (*Desk, error) {
	if o.Memory == nil || o.Now == nil || len(o.Channels) == 0 {
		return nil, errors.New("notify: want channels, a memory and a clock")
	}
	seen := map[string]bool{}
	for _, c := range o.Channels {
		if seen[c.Name()] {
			return nil, fmt.Errorf("notify: two channels are called %s", c.Name())
		}
		seen[c.Name()] = true
	}
	return &Desk{channels: slices.Clone(o.Channels), memory: o.Memory, now: o.Now, table: o.StateTable}, nil
}

// Result is what became of a notice, by names of channels in the order in which the desk has them.
type Result struct {
	Delivered, Failed []string
	// Skipped says why a channel was not sent the notice.
	Skipped map[string]string
	// Unremembered says why it could not be read or written what was told, "" if it could.
	Unremembered string
}

// Deliver sends a notice to each channel that is owed it, all at once. One that fails stops no other; the error names each, and a
// call with the same notice later goes only to those. While another delivery of the same condition is under way it sends nothing
// and returns an error of kind fault.Conflict. What a notice of a hold opened at a Closer although the hold is over is closed again.
func (d *Desk) Deliver(ctx context.Context, n Notice) (Result, error) {
	res := Result{Skipped: map[string]string{}}
	n = n.dated(d.now())
	n.StateTable = d.table
	guide := GuideOf(n)
	rec, err := d.claim(ctx, n, guide, res.Skipped)
	if errors.Is(err, fault.Conflict) {
		return res, fmt.Errorf("deliver notice: %w", err)
	}
	if err != nil {
		res.Unremembered = err.Error() // telling people twice is better than not at all
	}
	due := d.due(n, rec, res.Skipped)
	var open []Closer
	if err == nil { // without a claim the alert may be one of the next hold
		open = d.leftOpen(n, rec, res.Skipped)
	}
	if len(due)+len(open) == 0 {
		return res, nil
	}
	msg, err := Render(n, guide)
	if err != nil {
		return res, err
	}
	errs := atOnce(ctx, due, "send to", func(ctx context.Context, c Channel) error { return c.Send(ctx, msg) })
	unread := ""
	if res.Unremembered == "" && guide.OfHold {
		var late []Closer
		late, unread = d.endedMeanwhile(ctx, n, guide, took(due, errs))
		open = append(open, late...)
	}
	for name, err := range atOnce(ctx, open, "close at", func(ctx context.Context, c Closer) error { return c.Close(ctx, n) }) {
		errs[name] = errors.Join(errs[name], err)
	}
	told, err := d.conclude(n, &res, errs)
	if res.Unremembered == "" {
		res.Unremembered = d.remember(ctx, n.Condition(), rec, told)
	}
	res.Unremembered = cmp.Or(res.Unremembered, unread)
	return res, err
}

// took lists the channels that took what they were sent.
func took(sent []Channel, errs map[string]error) []Channel {
	return slices.DeleteFunc(slices.Clone(sent), func(c Channel) bool { return errs[c.Name()] != nil })
}

// conclude notes in the result what became of each channel and returns who was told what; errs has the outcome of every channel that
// was tried, nil for one that took it all. What failed in part counts as not told, so that a retry does it again.
func (d *Desk) conclude(n Notice, res *Result, errs map[string]error) (map[string]Told, error) {
	told := map[string]Told{}
	var all []error
	for _, c := range d.channels {
		name := c.Name()
		err, tried := errs[name]
		switch {
		case err != nil:
			res.Failed = append(res.Failed, name)
			all = append(all, err)
		case tried && res.Skipped[name] == "":
			res.Delivered = append(res.Delivered, name)
			told[name] = Told{Since: n.Since, At: n.At, Urgent: n.Urgent, Claimed: n.claimed}
		}
	}
	return told, errors.Join(all...)
}

// leftOpen lists the channels that are not sent a notice because its hold is over, and in which an earlier try may have left an alert
// open. One that was told a newer notice of the condition is not among them: its alert is of that notice.
func (d *Desk) leftOpen(n Notice, rec Record, skipped map[string]string) []Closer {
	var open []Closer
	for _, c := range d.channels {
		closer, ok := c.(Closer)
		if ok && skipped[c.Name()] == SkipEnded && skip(n, rec.Told[c.Name()]) != SkipRepeated {
			open = append(open, closer)
		}
	}
	return open
}

// endedMeanwhile lists the channels that took a notice of a hold while the notice of its release was sent: what the one closed the
// other may have opened again. It also returns why that could not be read, "" if it could.
func (d *Desk) endedMeanwhile(ctx context.Context, n Notice, guide Guide, took []Channel) ([]Closer, string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	released, err := d.memory.Load(ctx, Condition{GroupARN: n.ARN, Key: guard.PageReleased})
	if err != nil {
		return nil, err.Error()
	}
	var late []Closer
	for _, c := range took {
		if closer, ok := c.(Closer); ok && ending(n, guide, released, c.Name()) {
			late = append(late, closer)
		}
	}
	return late, ""
}

// due lists the channels that are owed a notice and notes why the others are not. Those of them that a hold's end has silenced are
// noted already.
func (d *Desk) due(n Notice, rec Record, skipped map[string]string) []Channel {
	var due []Channel
	for _, c := range d.channels {
		why := skipped[c.Name()]
		if !c.Wants(n) {
			why = SkipUnwanted
		}
		if why == "" {
			why = skip(n, rec.Told[c.Name()])
		}
		if why == "" {
			due = append(due, c)
			continue
		}
		skipped[c.Name()] = why
	}
	return due
}

// claim reads what was told and, if anything is due, keeps other deliveries of the condition back. Beside an error it returns what
// it could read; an error of kind fault.Conflict says that another delivery is under way.
func (d *Desk) claim(ctx context.Context, n Notice, guide Guide, skipped map[string]string) (Record, error) {
	if err := d.silence(ctx, n, guide, skipped); err != nil {
		return Record{}, err
	}
	rec, err := d.memory.Load(ctx, n.Condition())
	if err != nil || len(d.due(n, rec, skipped))+len(d.leftOpen(n, rec, skipped)) == 0 {
		return rec, err
	}
	now := d.now()
	if left := rec.Busy.Sub(now); left > 0 && left <= BusyMax { // more than that is of a clock that was fast
		return rec, fmt.Errorf("%w: another delivery of this condition is under way", fault.Conflict)
	}
	claimed := rec
	claimed.Busy, claimed.BusySince = now.Add(BusyMax), n.Since
	if claimed, err = d.memory.Save(ctx, n.Condition(), claimed); err != nil {
		return rec, err
	}
	return claimed, nil
}

// silence notes the channels that were told of the end of the hold that a notice is about.
func (d *Desk) silence(ctx context.Context, n Notice, guide Guide, skipped map[string]string) error {
	if !guide.OfHold {
		return nil
	}
	released, err := d.memory.Load(ctx, Condition{GroupARN: n.ARN, Key: guard.PageReleased})
	if err != nil {
		return err
	}
	for _, c := range d.channels {
		if ended(n, guide, released.Told[c.Name()]) {
			skipped[c.Name()] = SkipEnded
		}
	}
	return nil
}

// remember writes who was told and lets other deliveries go on; it returns why that failed.
func (d *Desk) remember(ctx context.Context, c Condition, rec Record, told map[string]Told) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	next := Record{Version: rec.Version, Told: told}
	for name, t := range rec.Told {
		if _, anew := told[name]; !anew {
			next.Told[name] = t
		}
	}
	if _, err := d.memory.Save(ctx, c, next); err != nil {
		return err.Error()
	}
	return ""
}

// atOnce does something with all channels at once, each within its own time, and returns by their names what became of it.
func atOnce[C Channel](ctx context.Context, with []C, what string, do func(context.Context, C) error) map[string]error {
	errs := make([]error, len(with))
	var wg sync.WaitGroup
	for i, c := range with {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, SendTimeout)
			defer cancel()
			errs[i] = do(ctx, c)
		})
	}
	wg.Wait()
	named := map[string]error{}
	for i, c := range with {
		named[c.Name()] = nil
		if errs[i] != nil {
			named[c.Name()] = fmt.Errorf("%s %s: %w", what, c.Name(), errs[i])
		}
	}
	return named
}
