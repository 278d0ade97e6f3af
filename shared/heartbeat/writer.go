package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Preset values of WriterOptions.
const (
	DefaultLife    = 24 * time.Hour
	DefaultTimeout = 2 * time.Second
)

// leapFirst is how far the sequence number leaps when a row is ahead and the table did not say how far; it doubles.
const leapFirst = 60_000

// API is the one call that is made. A client without retries of its own is best: the caller tries again with a newer beat.
type API interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// WriterOptions say whose row is written.
type WriterOptions struct {
	// Table is the name or the ARN of the heartbeat table. Required.
	Table string
	// Key is the ARN of this instance; see Key. Required.
	Key string
	// Boot identifies this boot of the machine, at most 256 bytes; see metadata.Boot. Required.
	Boot string
	// Agent is the version of the writer, at most 256 bytes. Required: it is what tells a broken release from a broken host.
	Agent string
	// Life is how long a row outlives its last beat; 0 means DefaultLife. DynamoDB removes rows within a few days after that.
	Life time.Duration
	// Timeout bounds one call; 0 means DefaultTimeout.
	Timeout time.Duration
	// Now is the clock of the stamps; nil is the machine's.
	Now func() time.Time
}

// Writer writes one row. It is safe for concurrent use, and has at most one call under way. One instance has one Writer: two of them
// would overtake each other.
type Writer struct {
	api API
	o   WriterOptions

	busy chan struct{} // holds one token while a call is under way
	seq  int64         // guarded by busy
	leap int64         // guarded by busy
	sent atomic.Int64
}

// NewWriter makes a Writer; it makes no call. The error joins everything that is wrong.
func NewWriter(api API, o WriterOptions) (*Writer, error) {
	var errs []error
	if api == nil {
		errs = append(errs, errors.New("no client"))
	}
	if o.Table == "" {
		errs = append(errs, errors.New("no table"))
	}
	if !isKey(o.Key) {
		errs = append(errs, fmt.Errorf("key %q, want the ARN of an instance", o.Key))
	}
	for _, w := range []struct{ name, value string }{{"boot", o.Boot}, {"agent", o.Agent}} {
		if w.value == "" || len(w.value) > wordMax {
			errs = append(errs, fmt.Errorf("%s has %d bytes, want 1 to %d", w.name, len(w.value), wordMax))
		}
	}
	if o.Life < 0 || o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("life %s and timeout %s, want 0 or more", o.Life, o.Timeout))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("make writer: %w", err)
	}
	if o.Life == 0 {
		o.Life = DefaultLife
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Writer{api: api, o: o, busy: make(chan struct{}, 1), leap: leapFirst}, nil
}

// A reader takes no more names, and no longer words; see package beats.
const (
	failingMax = 100
	wordMax    = 256
)

// Write writes one beat. It waits for a call that is under way, tries twice at most (the second time when the row turned out to be
// ahead), and never goes on after the context's end. After an error the row may or may not have been written.
func (w *Writer) Write(ctx context.Context, r Report) error {
	select {
	case w.busy <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait for the call under way: %w", ctx.Err())
	}
	defer func() { <-w.busy }()
	return w.write(ctx, r)
}

// tryWrite is Write, but it does nothing and says so when a call is under way.
func (w *Writer) tryWrite(ctx context.Context, r Report) (busy bool, err error) {
	select {
	case w.busy <- struct{}{}:
	default:
		return true, nil
	}
	defer func() { <-w.busy }()
	return false, w.write(ctx, r)
}

// Sent is how many beats the table took.
func (w *Writer) Sent() int64 { return w.sent.Load() }

func (w *Writer) write(ctx context.Context, r Report) error {
	if len(r.Failing) > failingMax {
		r.Failing = r.Failing[:failingMax]
	}
	err := w.call(ctx, r)
	var ahead *types.ConditionalCheckFailedException
	if !errors.As(err, &ahead) {
		return err
	}
	// The row has a higher number: an earlier process wrote while the clock was ahead of what it is now.
	seq, known := storedSeq(ahead.Item)
	if !known {
		// AWS hands the row back; not every emulator does.
		w.seq += w.leap
		w.leap *= 2
		return err
	}
	w.seq = max(w.seq, seq)
	return w.call(ctx, r)
}

// call makes one call with the next number. A number is never used twice, so that of two calls whose fate is unknown the newer wins.
func (w *Writer) call(ctx context.Context, r Report) error {
	at := w.o.Now()
	if w.seq == 0 {
		// Milliseconds grow faster than beats are written, so this is above what an earlier process left.
		w.seq = max(0, at.UnixMilli())
	}
	w.seq++
	bounded, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	_, err := w.api.UpdateItem(bounded, row{
		table: w.o.Table, key: w.o.Key, boot: w.o.Boot, agent: w.o.Agent, report: r, at: at, seq: w.seq, life: w.o.Life,
	}.update())
	if err != nil {
		return fmt.Errorf("write heartbeat: %w", err)
	}
	w.sent.Add(1)
	return nil
}
