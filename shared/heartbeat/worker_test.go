package heartbeat_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

func TestAWorkerBeatsForWorkAndNotForTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		w, err := heartbeat.NewWorker(s.writer(t, "i-0a", nil), 10*time.Second)
		must(t, err)
		for range 600 { // a minute of ten batches a second
			must(t, w.Beat(t.Context()))
			time.Sleep(100 * time.Millisecond)
		}
		if n := s.calls.Load(); n != 6 {
			t.Errorf("%d writes in a minute of 600 batches, want one in ten seconds", n)
		}
		before := s.beat(t, "i-0a")
		time.Sleep(40 * time.Minute) // the consumer hangs
		if b := s.beat(t, "i-0a"); b.Seq != before.Seq {
			t.Errorf("seq went from %d to %d without any work", before.Seq, b.Seq)
		}
		must(t, w.Beat(t.Context()))
		if b := s.beat(t, "i-0a"); b.Seq != before.Seq+1 || time.Since(b.At) > time.Second {
			t.Errorf("the first batch after that is not told: %+v", b)
		}
		must(t, w.Leave(t.Context()))
		if row := s.says(t, "i-0a"); row != "draining[]" {
			t.Errorf("row %s after leaving", row)
		}
	})
}

func TestATableThatIsGoneNeverSlowsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.refuse = func(int64) error { return errors.New("no such host") }
		w, err := heartbeat.NewWorker(s.writer(t, "i-0a", nil), 16*time.Second)
		must(t, err)
		failed := 0
		for range 3600 {
			if w.Beat(t.Context()) != nil {
				failed++
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := s.calls.Load(); int64(failed) != n || n < 360/16 || n > 360/16+6 {
			t.Errorf("%d tries and %d errors in six minutes, want a few early ones and then one in 16 s", n, failed)
		}
	})
	t.Run("nor does one that hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStore(t)
			s.slow = time.Hour
			w, err := heartbeat.NewWorker(s.writer(t, "i-0a", nil), 0)
			must(t, err)
			began := time.Now()
			if err := w.Beat(t.Context()); err == nil || time.Since(began) != heartbeat.DefaultTimeout {
				t.Errorf("error %v after %s, want one after the writer's timeout", err, time.Since(began))
			}
		})
	})
}

func TestManyConsumersShareOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.slow = 500 * time.Millisecond
		w, err := heartbeat.NewWorker(s.writer(t, "i-0a", nil), 10*time.Second)
		must(t, err)
		var wait sync.WaitGroup
		waited := make([]time.Duration, 50)
		for i := range waited {
			wait.Go(func() {
				for range 300 {
					began := time.Now()
					if err := w.Beat(t.Context()); err != nil {
						t.Error(err)
					}
					waited[i] += time.Since(began)
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		wait.Wait()
		var sum time.Duration
		for _, d := range waited {
			sum += d
		}
		if s.most != 1 || s.calls.Load() > 4 || sum > 4*500*time.Millisecond {
			t.Errorf("%d at once, %d calls, %s waited in all: want one call in ten seconds, and nobody waits behind it", s.most, s.calls.Load(), sum)
		}
	})
}

func TestAWorkerIsRefused(t *testing.T) {
	if _, err := heartbeat.NewWorker(nil, 0); err == nil {
		t.Error("no writer is accepted")
	}
	if _, err := heartbeat.NewWorker(newStore(t).writer(t, "i-0a", nil), -1); err == nil {
		t.Error("a negative interval is accepted")
	}
}
