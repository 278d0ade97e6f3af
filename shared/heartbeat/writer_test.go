package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

func ok() heartbeat.Report { return heartbeat.Report{Status: heartbeat.StatusOK} }

func TestARowIsReadBackAsItWasWritten(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := newStore(t)
	w := s.writer(t, "i-0a", func() time.Time { return at })
	must(t, w.Write(t.Context(), heartbeat.Report{Status: heartbeat.StatusFailing, Failing: []string{"dep:db", "disk"}}))
	want := guard.Beat{Found: true, At: at, Seq: at.UnixMilli() + 1, Boot: "b-1", Status: "failing", Failing: []string{"dep:db", "disk"}, Agent: "1.4.0"}
	if got := s.beat(t, "i-0a"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
	row := s.tables.Items(tableName)[0]
	if n, ok := row["expires"].(*types.AttributeValueMemberN); !ok || n.Value != fmt.Sprint(at.Add(24*time.Hour).Unix()) {
		t.Errorf("expires %v, want a day later in seconds", row["expires"])
	}
	for name := range row {
		if !strings.Contains(strings.Join(heartbeat.Attributes(), " ")+" ", name+" ") {
			t.Errorf("attribute %s is not in Attributes, so the policy would refuse it", name)
		}
	}
	must(t, w.Write(t.Context(), ok()))
	if got := s.beat(t, "i-0a"); len(got.Failing) != 0 || got.Status != "ok" {
		t.Errorf("after a good beat %+v", got)
	}
}

func TestSeqNeverGoesBack(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		name      string
		restartAt time.Time
		forgetful bool
		// tries is how many writes the second process needs.
		tries int
	}{
		{"over a restart", at.Add(30 * time.Second), false, 1},
		{"over a restart with the clock back by an hour", at.Add(-time.Hour), false, 1},
		{"when the table does not say how far ahead the row is", at.Add(-time.Hour), true, 7},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			s.forgetful = c.forgetful
			now := at
			w := s.writer(t, "i-0a", func() time.Time { return now })
			last := int64(0)
			for range 3 {
				must(t, w.Write(t.Context(), ok()))
				if seq := s.beat(t, "i-0a").Seq; seq <= last {
					t.Fatalf("seq %d after %d", seq, last)
				}
				last = s.beat(t, "i-0a").Seq
				now = now.Add(10 * time.Second)
			}
			again := s.writer(t, "i-0a", func() time.Time { return c.restartAt })
			var err error
			tries := 0
			for {
				tries++
				if err = again.Write(t.Context(), ok()); err == nil || tries > 20 {
					break
				}
				if seq := s.beat(t, "i-0a").Seq; seq != last {
					t.Fatalf("a refused write changed seq from %d to %d", last, seq)
				}
			}
			must(t, err)
			if seq := s.beat(t, "i-0a").Seq; seq <= last || tries != c.tries {
				t.Errorf("seq %d after %d, %d writes, want %d", seq, last, tries, c.tries)
			}
		})
	}
}

func TestAClockThatStepsBackChangesStampsOnly(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := newStore(t)
	w := s.writer(t, "i-0a", func() time.Time { return now })
	must(t, w.Write(t.Context(), ok()))
	before := s.beat(t, "i-0a")
	now = now.Add(-time.Hour)
	must(t, w.Write(t.Context(), ok()))
	after := s.beat(t, "i-0a")
	if after.Seq != before.Seq+1 || !after.At.Equal(now) {
		t.Errorf("seq %d then %d, stamp %s, want the next number and the clock's stamp", before.Seq, after.Seq, after.At)
	}
}

// late holds back one call and carries it out when it is told to, after the caller has given up.
type late struct {
	*store
	held *dynamodb.UpdateItemInput
}

func (l *late) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if l.held == nil {
		l.held = in
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l.store.UpdateItem(ctx, in, o...)
}

func TestACallThatArrivesLateOverwritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &late{store: newStore(t)}
		w, err := heartbeat.NewWriter(l, heartbeat.WriterOptions{Table: tableName, Key: key("i-0a"), Boot: "b", Agent: "1"})
		must(t, err)
		if err := w.Write(t.Context(), ok()); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v, want the end of the call's time", err)
		}
		must(t, w.Write(t.Context(), heartbeat.Report{Status: heartbeat.StatusDraining}))
		var ahead *types.ConditionalCheckFailedException
		if _, err := l.tables.UpdateItem(l.held); !errors.As(err, &ahead) {
			t.Errorf("the late call: %v, want it refused", err)
		}
		if says := l.says(t, "i-0a"); says != "draining[]" {
			t.Errorf("the row says %s", says)
		}
	})
}

func TestThereIsOneCallUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.slow = 300 * time.Millisecond
		w := s.writer(t, "i-0a", nil)
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				if err := w.Write(t.Context(), ok()); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if s.calls.Load() != 20 || s.most != 1 || w.Sent() != 20 {
			t.Errorf("%d calls, %d at once, %d sent; want 20, 1, 20", s.calls.Load(), s.most, w.Sent())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		go func() { _ = w.Write(t.Context(), ok()) }()
		synctest.Wait()
		if err := w.Write(ctx, ok()); !errors.Is(err, context.DeadlineExceeded) || s.calls.Load() != 21 {
			t.Errorf("error %v, want the end of the context while waiting, without a call", err)
		}
		time.Sleep(time.Second)
	})
}

func TestAWriterIsRefusedWithAllReasons(t *testing.T) {
	_, err := heartbeat.NewWriter(nil, heartbeat.WriterOptions{Key: "i-0a", Boot: strings.Repeat("x", 257), Timeout: -1})
	for _, want := range []string{"no client", "no table", `key "i-0a"`, "boot has 257 bytes", "agent has 0 bytes", "timeout -1ns"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

func TestNoMoreNamesThanAReaderTakes(t *testing.T) {
	s := newStore(t)
	r := heartbeat.Report{Status: heartbeat.StatusFailing}
	for i := range 120 {
		r.Failing = append(r.Failing, fmt.Sprintf("c%03d", i))
	}
	must(t, s.writer(t, "i-0a", nil).Write(t.Context(), r))
	if b := s.beat(t, "i-0a"); !b.Found || len(b.Failing) != 100 {
		t.Errorf("%d names, found %v", len(b.Failing), b.Found)
	}
}
