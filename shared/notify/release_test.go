package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

// alerts is a channel of which a condition stays open until it is closed; closeErr makes closing fail.
type alerts struct {
	channel
	closeErr error
}

// Close notes the condition that was closed among what was sent.
func (a *alerts) Close(ctx context.Context, n notify.Notice) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, bounded := ctx.Deadline(); !bounded {
		return errors.New("a closing without a deadline")
	}
	if a.closeErr != nil {
		return a.closeErr
	}
	a.sent = append(a.sent, "close "+n.Key)
	return nil
}

func newAlerts(t *testing.T) (*desk, *alerts) {
	t.Helper()
	d, a := newDesk(t), &alerts{channel: channel{name: "alerts"}}
	made, err := notify.New(notify.Options{Channels: []notify.Channel{a}, Memory: d.memory, Now: func() time.Time { return d.now }})
	if err != nil {
		t.Fatal(err)
	}
	d.Desk, d.now = made, start().Add(40*time.Minute)
	return d, a
}

// release is the notice that the hold of at and reminder has ended.
func release(minutes int) notify.Notice {
	n := at(guard.PageReleased, minutes)
	n.Since, n.Urgent = n.At, false
	return n
}

func TestWhatAReminderOpensDuringTheReleaseIsClosed(t *testing.T) {
	d, a := newAlerts(t)
	a.during = func() {
		a.during = nil
		d.deliver(t, release(31))
	}
	if res := d.deliver(t, reminder(guard.PageHeld, 30)); !slices.Equal(res.Delivered, []string{"alerts"}) || res.Unremembered != "" {
		t.Errorf("result %+v", res)
	}
	a.want(t, "released", "held:reminder", "close held")
	if res := d.deliver(t, reminder(guard.PageHeld, 30)); res.Skipped["alerts"] != notify.SkipEnded {
		t.Errorf("the reminder once more: %+v", res)
	}
	a.want(t, "released", "held:reminder", "close held")
}

// The release has closed the alert and has not written so yet: its claim says that it is under way.
func TestWhatAReminderOpensBeforeTheReleaseIsWrittenDownIsClosed(t *testing.T) {
	d, a := newAlerts(t)
	a.during = func() {
		a.during = func() {
			a.during = nil
			d.deliver(t, reminder(guard.PageHeld, 30))
		}
		d.deliver(t, release(31))
	}
	d.deliver(t, reminder(guard.PageResumeBlocked, 30))
	if i, j := slices.Index(a.sent, "held:reminder"), slices.Index(a.sent, "close held"); i < 0 || j < i {
		t.Errorf("sent %v, want the reminder and then its closing", a.sent)
	}
	if rec := d.memory.records[release(31).Condition()]; !rec.BusySince.IsZero() || len(rec.Told) != 1 {
		t.Errorf("the release is over and its record is %+v", rec)
	}
}

func TestAnAlertThatCouldNotBeClosedIsClosedByTheRetry(t *testing.T) {
	d, a := newAlerts(t)
	a.closeErr = fault.Throttled
	a.during = func() {
		a.during = nil
		d.deliver(t, release(31))
	}
	res, err := d.Deliver(context.Background(), reminder(guard.PageHeld, 30))
	if !errors.Is(err, fault.Throttled) || !slices.Equal(res.Failed, []string{"alerts"}) || len(res.Delivered) != 0 {
		t.Errorf("result %+v, error %v", res, err)
	}
	a.closeErr = nil
	if res := d.deliver(t, reminder(guard.PageHeld, 30)); len(res.Delivered) != 0 || res.Skipped["alerts"] != notify.SkipEnded {
		t.Errorf("the retry: %+v", res)
	}
	a.want(t, "released", "held:reminder", "close held")
}

// A late notice of a hold that is over must not close the alert of the next one.
func TestTheAlertOfTheNextHoldStaysOpen(t *testing.T) {
	d, a := newAlerts(t)
	d.deliver(t, release(31))
	next := at(guard.PageHeld, 32)
	next.Since = next.At
	d.deliver(t, next)
	if res := d.deliver(t, reminder(guard.PageHeld, 30)); res.Skipped["alerts"] != notify.SkipEnded {
		t.Errorf("a reminder of the hold before: %+v", res)
	}
	a.want(t, "released", "held")

	d.deliver(t, reminder(guard.PageResumeBlocked, 30))
	d.memory.saveErr, d.memory.saves = fault.Unknown, 0 // without a claim nobody knows whose alert it is
	d.deliver(t, reminder(guard.PageHoldTooLong, 30))
	a.want(t, "released", "held", "close resume-blocked")
}

func TestPagerDutyClosesTheAlertOfOneCondition(t *testing.T) {
	h := newHook(t)
	c, ok := h.pagerDuty().(notify.Closer)
	if !ok {
		t.Fatal("what it opens stays open")
	}
	if err := c.Close(context.Background(), reminder(guard.PageHeld, 30)); err != nil {
		t.Fatal(err)
	}
	if len(h.bodies) != 1 || h.bodies[0]["event_action"] != "resolve" || h.bodies[0]["dedup_key"] != groupARN+"#held" || h.bodies[0]["routing_key"] != pagerKey {
		t.Errorf("sent %v", h.bodies)
	}
}

// transport answers requests by a function instead of a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer reads the condition of an event's request and answers with a status.
func answer(t *testing.T, r *http.Request, status func(condition string) int) (*http.Response, error) {
	t.Helper()
	var e struct {
		Key string `json:"dedup_key"`
	}
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status(strings.TrimPrefix(e.Key, groupARN+"#")), Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

func pagerDutyOver(f transport) notify.Channel {
	return notify.NewPagerDuty(notify.NewHTTPClient(f), "https://events.example.test/v2/enqueue", notify.Secret{API: parameters{"/s": secure(pagerKey)}, Name: "/s"})
}

func TestAnAlertThatIsNotResolvedKeepsNoOtherOpen(t *testing.T) {
	for _, refused := range []string{"held", "not-converging", "suspension-conflict"} {
		var mu sync.Mutex
		resolved := map[string]bool{}
		c := pagerDutyOver(func(r *http.Request) (*http.Response, error) {
			return answer(t, r, func(condition string) int {
				if condition == refused {
					return http.StatusBadRequest
				}
				mu.Lock()
				defer mu.Unlock()
				resolved[condition] = true
				return http.StatusAccepted
			})
		})
		err := c.Send(context.Background(), render(t, release(31)))
		if !errors.Is(err, fault.Refused) || len(resolved) != 4 {
			t.Errorf("%s is refused: resolved %v, error %v", refused, resolved, err)
		}
	}
}

// Every request waits until all of them were made: one after another none would end before the caller gives up.
func TestTheAlertsOfAHoldAreResolvedAtOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var all sync.WaitGroup
	all.Add(5)
	made := make(chan struct{})
	go func() { all.Wait(); close(made) }()
	c := pagerDutyOver(func(r *http.Request) (*http.Response, error) {
		all.Done()
		select {
		case <-made:
			return answer(t, r, func(string) int { return http.StatusAccepted })
		case <-r.Context().Done():
			return nil, fmt.Errorf("the others were not made: %w", r.Context().Err())
		}
	})
	if err := c.Send(ctx, render(t, release(31))); err != nil {
		t.Error(err)
	}
}
