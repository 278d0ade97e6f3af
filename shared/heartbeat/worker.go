package heartbeat

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Worker is the heartbeat of a queue consumer, which answers no probe. Call Beat after each batch that was acknowledged, and after
// each receive that found the queue empty: both are work done. A consumer that hangs calls it no more, its beats grow stale, and
// Holdfast pages worker-stalled if the queue is deep and does not fall at the same time. Either sign alone lies: an idle consumer may
// be silent, and a deep queue may be a busy hour.
//
// A Worker starts no goroutine and has no timer, since a heartbeat that beats by itself proves only that the process lives. Of
// several consumers in one process it proves that one of them works.
type Worker struct {
	writer *Writer
	every  time.Duration

	mu   sync.Mutex
	next time.Time // no write before; on the monotonic clock
	wait time.Duration
}

// NewWorker makes a Worker that writes at most once in the given time; 0 means 10 seconds. The policy's heartbeat_fresh_seconds must be
// longer than a batch or an empty receive plus this time.
func NewWorker(w *Writer, every time.Duration) (*Worker, error) {
	if w == nil || every < 0 {
		return nil, fmt.Errorf("make worker: writer %v, every %s, want a writer and 0 or more", w != nil, every)
	}
	if every == 0 {
		every = 10 * time.Second
	}
	return &Worker{writer: w, every: every}, nil
}

// Beat says that work was done. It writes at most one row in the worker's interval and returns nil at once otherwise, also while another
// goroutine's write is under way, so that it may be called after every batch. It takes at most the Writer's timeout twice. An error is
// for the log: the batch is done all the same. After errors it pauses for longer and longer, up to the interval.
func (w *Worker) Beat(ctx context.Context) error {
	w.mu.Lock()
	due := !time.Now().Before(w.next)
	w.mu.Unlock()
	if !due {
		return nil
	}
	return w.write(ctx, Report{Status: StatusOK})
}

// Leave says that the consumer ends on purpose. Call it last, after all consumers of the process stopped; it writes at once.
func (w *Worker) Leave(ctx context.Context) error {
	return w.writer.Write(ctx, Report{Status: StatusDraining})
}

func (w *Worker) write(ctx context.Context, r Report) error {
	busy, err := w.writer.tryWrite(ctx, r)
	if busy {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.wait = min(max(2*w.wait, w.every/16), w.every)
		w.next = time.Now().Add(w.wait)
		return err
	}
	w.wait, w.next = 0, time.Now().Add(w.every)
	return nil
}
