package notify_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

// memory is a Memory with the rule of versions; loadErr and saveErr make it fail, saveErr from the save after saves on.
type memory struct {
	mu               sync.Mutex
	records          map[notify.Condition]notify.Record
	loadErr, saveErr error
	saves            int
}

func (m *memory) Load(ctx context.Context, c notify.Condition) (notify.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return notify.Record{}, err
	}
	return m.records[c], m.loadErr
}

func (m *memory) Save(ctx context.Context, c notify.Condition, r notify.Record) (notify.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return r, err
	}
	if m.saveErr != nil && m.saves == 0 {
		return r, m.saveErr
	}
	m.saves--
	if m.records[c].Version != r.Version {
		return r, fault.Conflict
	}
	r.Version++
	m.records[c] = r
	return r, nil
}

// channel keeps the headings of what it was sent, with ":reminder" for reminders; while err is set it takes nothing.
type channel struct {
	name   string
	urgent bool
	mu     sync.Mutex
	sent   []string
	err    error
	// during is run in the middle of a sending.
	during func()
}

func (c *channel) Name() string { return c.name }

func (c *channel) Wants(n notify.Notice) bool { return n.Urgent || !c.urgent }

func (c *channel) Send(ctx context.Context, m notify.Message) error {
	if c.during != nil {
		c.during()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, bounded := ctx.Deadline(); !bounded {
		return errors.New("a sending without a deadline")
	}
	if c.err != nil {
		return c.err
	}
	what := m.Key
	if m.Reminder {
		what += ":reminder"
	}
	c.sent = append(c.sent, what)
	return nil
}

func (c *channel) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.sent, want) {
		t.Errorf("%s was sent %v, want %v", c.name, c.sent, want)
	}
}

// desk is a Desk with two channels and a clock that a test moves.
type desk struct {
	*notify.Desk
	memory      *memory
	mail, pager *channel
	now         time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{
		memory: &memory{records: map[notify.Condition]notify.Record{}},
		mail:   &channel{name: "mail"}, pager: &channel{name: "pager", urgent: true}, now: start().Add(2 * time.Minute),
	}
	made, err := notify.New(notify.Options{Channels: []notify.Channel{d.mail, d.pager}, Memory: d.memory, Now: func() time.Time { return d.now }})
	if err != nil {
		t.Fatal(err)
	}
	d.Desk = made
	return d
}

func (d *desk) deliver(t *testing.T, n notify.Notice) notify.Result {
	t.Helper()
	if n.At.After(d.now) {
		d.now = n.At
	}
	res, err := d.Deliver(context.Background(), n)
	if err != nil {
		t.Fatalf("deliver %s: %v", n.Key, err)
	}
	return res
}

// at is a notice of a key, decided some minutes after its condition began.
func at(key string, minutes int) notify.Notice {
	n := noticeOf(key)
	n.At = start().Add(time.Duration(minutes) * time.Minute)
	return n
}

func reminder(key string, minutes int) notify.Notice {
	n := at(key, minutes)
	n.Reminder = true
	return n
}

func TestAnEventThatArrivesTwiceIsToldOnce(t *testing.T) {
	d := newDesk(t)
	first := d.deliver(t, at(guard.PageHeld, 2))
	if !slices.Equal(first.Delivered, []string{"mail", "pager"}) {
		t.Errorf("delivered %v", first.Delivered)
	}
	again := d.deliver(t, at(guard.PageHeld, 2))
	if len(again.Delivered) != 0 || again.Skipped["mail"] != notify.SkipRepeated {
		t.Errorf("the second time: %+v", again)
	}
	d.mail.want(t, "held")
	d.pager.want(t, "held")
}

func TestAHoldIsOneThread(t *testing.T) {
	d := newDesk(t)
	d.deliver(t, at(guard.PageHeld, 2))
	if res := d.deliver(t, at(guard.PageHeld, 4)); res.Skipped["mail"] != notify.SkipSame {
		t.Errorf("a first notice that the sweep sent again: %+v", res)
	}
	d.deliver(t, reminder(guard.PageHeld, 32))
	d.deliver(t, reminder(guard.PageHeld, 62))
	if res := d.deliver(t, reminder(guard.PageHeld, 32)); res.Skipped["mail"] != notify.SkipRepeated {
		t.Errorf("a reminder that came late: %+v", res)
	}
	released := at(guard.PageReleased, 70)
	released.Since, released.Urgent = released.At, false
	d.deliver(t, released)
	resent := released
	resent.At = released.At.Add(time.Minute)
	if res := d.deliver(t, resent); res.Skipped["mail"] != notify.SkipSame {
		t.Errorf("a clear that the sweep sent again: %+v", res)
	}
	late := reminder(guard.PageHeld, 75)
	if res := d.deliver(t, late); res.Skipped["mail"] != notify.SkipEnded {
		t.Errorf("a reminder after the clear: %+v", res)
	}
	anew := at(guard.PageHeld, 76)
	anew.Since = anew.At
	d.deliver(t, anew)
	d.mail.want(t, "held", "held:reminder", "held:reminder", "released", "held")
}

func TestWhatIsOwedToAChannel(t *testing.T) {
	begun := func(n notify.Notice) notify.Notice { n.Since = n.At; return n }
	calm := func(n notify.Notice) notify.Notice { n.Urgent = false; return n }
	cases := map[string]struct {
		first, second notify.Notice
		want          string
	}{
		"another subject is another condition":                      {at("config", 1), func() notify.Notice { n := at("config", 1); n.Subject = "mode"; return n }(), ""},
		"a notice that becomes urgent is told at once":              {calm(at("blind", 1)), at("blind", 3), ""},
		"one that becomes less urgent is not":                       {at("blind", 1), calm(at("blind", 3)), notify.SkipSame},
		"a condition that comes back within minutes is one":         {at("blind", 1), begun(at("blind", 10)), notify.SkipFlapping},
		"a condition that comes back after ten minutes is new":      {at("blind", 1), begun(at("blind", 11)), ""},
		"a reminder is told although the beginning is another":      {at("blind", 1), begun(reminder("blind", 5)), ""},
		"a new hold is told however soon it comes":                  {at("held", 1), begun(at("held", 2)), ""},
		"a suspension removed is an event and told each time":       {begun(at("suspension-removed", 1)), begun(at("suspension-removed", 2)), ""},
		"the same suspension removed is told once":                  {begun(at("suspension-removed", 1)), func() notify.Notice { n := at("suspension-removed", 2); n.Since = start().Add(time.Minute); return n }(), notify.SkipSame},
		"an older notice after a newer one is overtaken":            {reminder("blind", 31), at("blind", 1), notify.SkipRepeated},
		"the same key of another group is another condition":        {at("blind", 1), func() notify.Notice { n := at("blind", 1); n.ARN += "2"; return n }(), ""},
		"the same second of the same condition is the same notice":  {at("blind", 1), reminder("blind", 1), notify.SkipRepeated},
		"a release ends nothing that is of no hold":                 {begun(at("released", 5)), at("blind", 4), ""},
		"a hold that was over before it was told is not told":       {begun(at("released", 5)), at("held", 5), notify.SkipEnded},
		"what blocked a release is over with it":                    {begun(at("released", 5)), at("resume-blocked", 6), notify.SkipEnded},
		"a hold that began as the former was released is a new one": {begun(at("released", 5)), begun(at("held", 5)), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.deliver(t, c.first)
			if have := d.deliver(t, c.second).Skipped["mail"]; have != c.want {
				t.Errorf("skipped because %q, want %q", have, c.want)
			}
		})
	}
}

func TestOneChannelThatFailsStopsNoOtherAndARetryGoesOnlyThere(t *testing.T) {
	d := newDesk(t)
	d.mail.err = fault.Throttled
	res, err := d.Deliver(context.Background(), at(guard.PageHeld, 2))
	if !errors.Is(err, fault.Throttled) || !strings.Contains(err.Error(), "send to mail") {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(res.Failed, []string{"mail"}) || !slices.Equal(res.Delivered, []string{"pager"}) {
		t.Errorf("result %+v", res)
	}
	d.mail.err = nil
	d.deliver(t, at(guard.PageHeld, 2))
	if again := d.deliver(t, at(guard.PageHeld, 2)); len(again.Delivered) != 0 {
		t.Errorf("after both had it: %+v", again)
	}
	d.mail.want(t, "held")
	d.pager.want(t, "held")
}

func TestAChannelIsSentOnlyWhatItWants(t *testing.T) {
	d := newDesk(t)
	n := at(guard.PageClockSkew, 2)
	n.Urgent = false
	if res := d.deliver(t, n); res.Skipped["pager"] != notify.SkipUnwanted {
		t.Errorf("result %+v", res)
	}
	d.pager.want(t)
	d.mail.want(t, "clock-skew")
}

func TestTwoDeliveriesAtOnceTellOnce(t *testing.T) {
	d := newDesk(t)
	var inner error
	d.mail.during = func() {
		d.mail.during = nil
		_, inner = d.Deliver(context.Background(), at(guard.PageHeld, 2))
	}
	d.deliver(t, at(guard.PageHeld, 2))
	if !errors.Is(inner, fault.Conflict) {
		t.Errorf("the delivery in the middle of another: %v, want a conflict", inner)
	}
	d.deliver(t, at(guard.PageHeld, 2))
	d.mail.want(t, "held")
	d.pager.want(t, "held")
}

func TestManyDeliveriesAtOnceTellOnce(t *testing.T) {
	d := newDesk(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := d.Deliver(context.Background(), at(guard.PageHeld, 2)); err != nil && !errors.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	d.mail.want(t, "held")
	d.pager.want(t, "held")
}

func TestADeliveryThatWasCutOffIsDoneAgainWhenItsTimeIsOver(t *testing.T) {
	d := newDesk(t)
	n := at(guard.PageHeld, 2)
	d.memory.records[n.Condition()] = notify.Record{Version: 4, Busy: d.now.Add(notify.BusyMax)}
	if _, err := d.Deliver(context.Background(), n); !errors.Is(err, fault.Conflict) {
		t.Errorf("while another may be sending: %v", err)
	}
	d.now = d.now.Add(notify.BusyMax)
	d.deliver(t, n)
	d.mail.want(t, "held")
}

func TestAMemoryThatFailsKeepsNoNoticeBack(t *testing.T) {
	down := fmt.Errorf("load: %w", fault.Unknown)
	cases := map[string]*memory{
		"that cannot be read":               {loadErr: down},
		"that cannot be written":            {saveErr: down},
		"that cannot be written at the end": {saveErr: down, saves: 1},
	}
	for name, m := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.memory.loadErr, d.memory.saveErr, d.memory.saves = m.loadErr, m.saveErr, m.saves
			if res := d.deliver(t, at(guard.PageHeld, 2)); res.Unremembered == "" || len(res.Delivered) != 2 {
				t.Errorf("result %+v", res)
			}
			d.mail.want(t, "held")
		})
	}
}

func TestWhatWasToldIsWrittenAlthoughTheCallerGaveUp(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(context.Background())
	d.mail.during = cancel
	if _, err := d.Deliver(ctx, at(guard.PageHeld, 2)); err != nil {
		t.Fatal(err)
	}
	if rec := d.memory.records[at(guard.PageHeld, 2).Condition()]; len(rec.Told) != 2 || !rec.Busy.IsZero() {
		t.Errorf("record %+v", rec)
	}
}

func TestADeskNeedsChannelsOfDifferentNames(t *testing.T) {
	now := func() time.Time { return start() }
	m := &memory{}
	for name, o := range map[string]notify.Options{
		"no channel": {Memory: m, Now: now},
		"no memory":  {Channels: []notify.Channel{&channel{name: "a"}}, Now: now},
		"no clock":   {Channels: []notify.Channel{&channel{name: "a"}}, Memory: m},
		"one name":   {Channels: []notify.Channel{&channel{name: "a"}, &channel{name: "a"}}, Memory: m, Now: now},
	} {
		if _, err := notify.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
