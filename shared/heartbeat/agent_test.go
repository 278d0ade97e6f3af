package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

func TestAnAgentTellsWhatItsChecksSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		disk, db, cache := &switchable{}, &switchable{}, &switchable{}
		dep, soft := check("db", db.run), check("cache", cache.run)
		dep.Dependency, soft.Soft = true, true
		agent, stop := start(t, heartbeat.Options{
			Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{check("disk", disk.run), dep, soft}, StartWithin: time.Minute,
		})
		steps := []struct {
			name           string
			disk, db, soft error
			row            string
			health         int
		}{
			{"all is well", nil, nil, nil, "ok[]", 200},
			{"a soft check fails", nil, nil, errors.New("cold"), "ok[]", 200},
			{"a dependency fails", nil, errors.New("gone"), nil, "failing[dep:db]", 200},
			{"the host fails too", errors.New("full"), errors.New("gone"), nil, "failing[dep:db disk]", 503},
			{"the host alone fails", errors.New("full"), nil, nil, "failing[disk]", 503},
			{"all is well again", nil, nil, nil, "ok[]", 200},
		}
		for _, step := range steps {
			disk.set(step.disk)
			db.set(step.db)
			cache.set(step.soft)
			time.Sleep(30 * time.Second)
			if row, status := s.says(t, "i-0a"), health(agent); row != step.row || status != step.health {
				t.Errorf("%s: row %s, /health %d; want %s, %d", step.name, row, status, step.row, step.health)
			}
		}
		must(t, stop())
		if row := s.says(t, "i-0a"); row != "draining[]" || health(agent) != 503 {
			t.Errorf("after its end the row says %s, /health %d", row, health(agent))
		}
		if s.most != 1 {
			t.Errorf("%d calls at once", s.most)
		}
	})
}

func TestFailuresInARowAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		looks := 0
		c := check("app", func(context.Context) error {
			looks++
			if looks%3 != 1 { // two failures, then a good look
				return errors.New("no")
			}
			return nil
		})
		c.Failures = 3
		s.keep = true
		_, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{c}, StartWithin: time.Minute})
		time.Sleep(10 * time.Minute)
		s.mu.Lock()
		inputs := slices.Clone(s.inputs)
		s.mu.Unlock()
		if len(inputs) < 50 {
			t.Errorf("%d beats in ten minutes", len(inputs))
		}
		for _, in := range inputs {
			if r := said(in); r != "ok" {
				t.Fatalf("a beat says %s after two failures, want three", r)
			}
		}
		must(t, stop())
	})
}

func TestNotStartedIsNotFailing(t *testing.T) {
	cases := []struct {
		name    string
		within  time.Duration
		startAt time.Duration // when the application starts to answer; 0 is never
		at      time.Duration
		row     string
		health  int
	}{
		{"in the start-up phase there is no beat", 5 * time.Minute, 0, 4*time.Minute + 59*time.Second, "nothing", 503},
		{"past it, what never started is failing", 5 * time.Minute, 0, 5*time.Minute + 15*time.Second, "failing[app]", 503},
		{"what started in time is fine at once", 5 * time.Minute, 2 * time.Minute, 2*time.Minute + 10*time.Second, "ok[]", 200},
		{"what started too late is fine in the end", time.Minute, 3 * time.Minute, 4 * time.Minute, "ok[]", 200},
		{"without a phase nothing is said before it is known", 0, 0, 2 * time.Second, "nothing", 503},
		{"without a phase a broken application is told soon", 0, 0, 15 * time.Second, "failing[app]", 503},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(t)
				began := time.Now()
				app := check("app", func(context.Context) error {
					if c.startAt == 0 || time.Since(began) < c.startAt {
						return errors.New("connection refused")
					}
					return nil
				})
				agent, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{app}, StartWithin: c.within})
				time.Sleep(c.at)
				if row, status := s.says(t, "i-0a"), health(agent); row != c.row || status != c.health {
					t.Errorf("row %s, /health %d; want %s, %d", row, status, c.row, c.health)
				}
				must(t, stop())
			})
		})
	}
}

func TestLeavingIsToldAndTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		var leaving atomic.Bool
		gone := &switchable{}
		agent, stop := start(t, heartbeat.Options{
			Connect: connect(s.writer(t, "i-0a", nil)),
			Leaving: func(ctx context.Context) (bool, error) { return leaving.Load(), gone.run(ctx) },
		})
		for _, step := range []struct {
			name    string
			leaving bool
			err     error
			row     string
			health  int
		}{
			{"it stays", false, nil, "ok[]", 200},
			{"it goes to standby", true, nil, "draining[]", 503},
			{"the metadata service is gone meanwhile", false, errors.New("no route to host"), "draining[]", 503},
			{"it is back in service", false, nil, "ok[]", 200},
			{"the metadata service is gone", true, errors.New("no route to host"), "ok[]", 200},
		} {
			leaving.Store(step.leaving)
			gone.set(step.err)
			time.Sleep(20 * time.Second)
			if row, status := s.says(t, "i-0a"), health(agent); row != step.row || status != step.health {
				t.Errorf("%s: row %s, /health %d; want %s, %d", step.name, row, status, step.row, step.health)
			}
			if told := agent.Stats().LeavingError != ""; told != (step.err != nil) {
				t.Errorf("%s: the error is told: %v", step.name, told)
			}
		}
		must(t, stop())
	})
}

func TestAMemberThatLeavesDuringItsStartSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		never := check("app", func(context.Context) error { return errors.New("no") })
		_, stop := start(t, heartbeat.Options{
			Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{never}, StartWithin: 10 * time.Minute,
			Leaving: func(context.Context) (bool, error) { return true, nil },
		})
		time.Sleep(20 * time.Second)
		if row := s.says(t, "i-0a"); !strings.HasPrefix(row, "draining") {
			t.Errorf("row %s", row)
		}
		must(t, stop())
	})
}

func TestALookThatNeverEndsIsAFailedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		release := make(chan struct{})
		var looks atomic.Int64
		hung := check("nfs", func(context.Context) error {
			if looks.Add(1) == 3 {
				<-release // a dead mount heeds no context
			}
			return nil
		})
		agent, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{hung}, StartWithin: time.Minute})
		time.Sleep(time.Minute)
		if row := s.says(t, "i-0a"); row != "failing[nfs]" || looks.Load() != 3 {
			t.Errorf("row %s, %d looks begun, want failing and no more looks piled up", row, looks.Load())
		}
		close(release)
		time.Sleep(20 * time.Second)
		if row := s.says(t, "i-0a"); row != "ok[]" || health(agent) != 200 {
			t.Errorf("after it ended: row %s", row)
		}
		must(t, stop())
	})
}

func TestACheckThatPanicsHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		_, stop := start(t, heartbeat.Options{
			Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{check("pool", func(context.Context) error { panic("nil map") })},
		})
		time.Sleep(time.Minute)
		if row := s.says(t, "i-0a"); row != "failing[pool]" {
			t.Errorf("row %s", row)
		}
		must(t, stop())
	})
}

func TestAChangeIsToldSoonAndAFlappingCheckFloodsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		disk := &switchable{}
		c := check("disk", disk.run)
		c.Every, c.Timeout, c.Failures = 2*time.Second, time.Second, 1
		_, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{c}, Every: 20 * time.Second})
		time.Sleep(10 * time.Second) // past the five seconds after the first beat in which no other may follow
		disk.set(errors.New("full"))
		time.Sleep(2*time.Second + time.Millisecond)
		if row := s.says(t, "i-0a"); row != "failing[disk]" {
			t.Errorf("row %s two seconds after the failure, long before the next beat is due", row)
		}
		before := s.calls.Load()
		for i := range 60 {
			disk.set([]error{nil, errors.New("full")}[i%2])
			time.Sleep(2 * time.Second)
		}
		if n := s.calls.Load() - before; n > 120/5+1 {
			t.Errorf("%d writes in 120 s of flapping, want at most one in 5 s", n)
		}
		must(t, stop())
	})
}

func TestTheRowIsFoundOutUntilItIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		w := s.writer(t, "i-0a", nil)
		began := time.Now()
		var tries atomic.Int64
		agent, stop := start(t, heartbeat.Options{Connect: func(context.Context) (*heartbeat.Writer, error) {
			tries.Add(1)
			if time.Since(began) < 5*time.Minute {
				return nil, errors.New("read instance identity: no route to host")
			}
			return w, nil
		}})
		time.Sleep(4 * time.Minute)
		if st := agent.Stats(); st.Connected || !strings.Contains(st.LastError, "instance identity") || health(agent) != 200 {
			t.Errorf("without metadata: %+v, /health %d; want it to answer and to say why it cannot write", st, health(agent))
		}
		if n := tries.Load(); n < 40 || n > 24+240/7 {
			t.Errorf("%d tries in four minutes, want 24 fast ones and then about one in each interval", n)
		}
		time.Sleep(2 * time.Minute)
		if row := s.says(t, "i-0a"); row != "ok[]" || !agent.Stats().Connected {
			t.Errorf("row %s after the metadata came back", row)
		}
		must(t, stop())
	})
	t.Run("an agent that ends before has nobody to tell", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, stop := start(t, heartbeat.Options{Connect: func(context.Context) (*heartbeat.Writer, error) { return nil, errors.New("no") }})
			time.Sleep(time.Second)
			if err := stop(); err == nil || !strings.Contains(err.Error(), "whose row") {
				t.Errorf("error %v", err)
			}
		})
	})
}

func TestTheTableIsGoneForAWhile(t *testing.T) {
	for name, failure := range map[string]error{
		"a throttled table": &smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException"},
		"no network":        errors.New("dial tcp: lookup dynamodb.us-east-1.amazonaws.com: no such host"),
		"a refused write":   &smithy.GenericAPIError{Code: "AccessDeniedException"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(t)
				var down atomic.Bool
				s.refuse = func(int64) error {
					if down.Load() {
						return failure
					}
					return nil
				}
				agent, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil))})
				time.Sleep(time.Minute)
				before := s.beat(t, "i-0a").Seq
				down.Store(true)
				calls := s.calls.Load()
				time.Sleep(10 * time.Minute)
				if n := s.calls.Load() - calls; n < 60 || n > 24+80 {
					t.Errorf("%d tries in ten minutes, want 24 fast ones and then about one in each interval", n)
				}
				if st := agent.Stats(); !strings.Contains(st.LastError, "write heartbeat") || health(agent) != 200 {
					t.Errorf("stats %+v, /health %d: a table that is gone says nothing about the host", st, health(agent))
				}
				down.Store(false)
				time.Sleep(10 * time.Second)
				if b := s.beat(t, "i-0a"); b.Seq <= before || time.Since(b.At) > 10*time.Second {
					t.Errorf("seq %d after %d, %s old: want a new beat with a new stamp", b.Seq, before, time.Since(b.At))
				}
				must(t, stop())
				if s.most != 1 {
					t.Errorf("%d calls at once", s.most)
				}
			})
		})
	}
}

func TestTheLastBeatIsTriedForAShortWhileOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.refuse = func(call int64) error {
			if call > 1 {
				return errors.New("no network")
			}
			return nil
		}
		_, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil))})
		time.Sleep(time.Second)
		began := time.Now()
		if err := stop(); err == nil || time.Since(began) > 5*time.Second {
			t.Errorf("error %v after %s, want one within five seconds", err, time.Since(began))
		}
	})
}

func TestAnAgentIsRefusedWithTheArithmetic(t *testing.T) {
	run := func(context.Context) error { return nil }
	conn := func(context.Context) (*heartbeat.Writer, error) { return nil, nil }
	cases := []struct {
		name  string
		spoil func(*heartbeat.Options, *heartbeat.Check)
		want  string
	}{
		{"a check's timeout at the handler's", func(_ *heartbeat.Options, c *heartbeat.Check) { c.Timeout = 2 * time.Second },
			"timeout 2s is not below handler timeout 2s: want check < handler 2s < probe 5s < interval 10s"},
		{"a check's timeout at its interval", func(_ *heartbeat.Options, c *heartbeat.Check) { c.Timeout, c.Every = time.Second, time.Second },
			"timeout 1s is not below every 1s"},
		{"a handler's timeout at the probe's", func(o *heartbeat.Options, _ *heartbeat.Check) {
			o.Nesting = heartbeat.Nesting{Handler: 5 * time.Second, Probe: 5 * time.Second, Interval: 10 * time.Second}
		}, "handler timeout 5s is not below probe timeout 5s"},
		{"a probe's timeout at its interval", func(o *heartbeat.Options, _ *heartbeat.Check) {
			o.Nesting = heartbeat.Nesting{Handler: 2 * time.Second, Probe: 5 * time.Second, Interval: 5 * time.Second}
		}, "probe timeout 5s is not below probe interval 5s"},
		{"a name with a colon, which would look like a dependency", func(_ *heartbeat.Options, c *heartbeat.Check) { c.Name = "dep:db" }, `name "dep:db"`},
		{"a name that stands twice", func(o *heartbeat.Options, _ *heartbeat.Check) { o.Checks = append(o.Checks, check("disk", run)) }, "stands twice"},
		{"no failures in a row", func(_ *heartbeat.Options, c *heartbeat.Check) { c.Failures = 0 }, "failures 0, want 1 to 100"},
		{"nothing to run", func(_ *heartbeat.Options, c *heartbeat.Check) { c.Run = nil }, "nothing to run"},
		{"a start that is longer than Holdfast waits", func(o *heartbeat.Options, _ *heartbeat.Check) { o.StartWithin = 15 * time.Minute }, "first_heartbeat_seconds"},
		{"beats too often", func(o *heartbeat.Options, _ *heartbeat.Check) { o.Every = time.Millisecond }, "every 1ms, want 1s to 5m"},
		{"nobody to connect", func(o *heartbeat.Options, _ *heartbeat.Check) { o.Connect = nil }, "connect is missing"},
		{"too many checks", func(o *heartbeat.Options, _ *heartbeat.Check) {
			for i := range 51 {
				o.Checks = append(o.Checks, check(fmt.Sprint("c", i), run))
			}
		}, "52 checks, want at most 50"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := heartbeat.Options{Connect: conn, Checks: []heartbeat.Check{check("disk", run)}}
			if _, err := heartbeat.New(o); err != nil {
				t.Fatal(err)
			}
			o.Checks = slices.Clone(o.Checks)
			c.spoil(&o, &o.Checks[0])
			if _, err := heartbeat.New(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestAClockThatStepsChangesNoRhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.keep = true
		var off atomic.Int64
		_, stop := start(t, heartbeat.Options{
			Connect: connect(s.writer(t, "i-0a", func() time.Time { return time.Now().Add(time.Duration(off.Load())) })),
		})
		time.Sleep(5 * time.Second)
		for _, step := range []time.Duration{0, -time.Hour, 48 * time.Hour} {
			off.Store(int64(step))
			before, seq := s.calls.Load(), s.beat(t, "i-0a").Seq
			time.Sleep(100 * time.Second)
			b := s.beat(t, "i-0a")
			if n := s.calls.Load() - before; n != 10 || b.Seq != seq+10 || b.Status != "ok" {
				t.Errorf("clock off by %s: %d writes, seq %d after %d, %s; want ten of each, and ok", step, n, b.Seq, seq, b.Status)
			}
			if more := time.Until(b.At) - step; more > 0 || more < -20*time.Second {
				t.Errorf("clock off by %s: the stamp is off by %s more", step, more)
			}
		}
		must(t, stop())
	})
}
