package notify_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

func TestANoticeOfAFastClockSilencesNothingLater(t *testing.T) {
	d := newDesk(t)
	far := at(guard.PageHeld, 2)
	far.At, far.Since = far.At.AddDate(74, 0, 0), far.Since.AddDate(74, 0, 0)
	released := at(guard.PageReleased, 2)
	released.At, released.Since = far.At, far.At
	for _, n := range []notify.Notice{far, released} {
		if _, err := d.Deliver(context.Background(), n); err != nil {
			t.Fatal(err)
		}
	}
	anew := at(guard.PageHeld, 4)
	anew.Since = anew.At
	if res := d.deliver(t, anew); len(res.Delivered) != 2 {
		t.Errorf("a hold two minutes later: %+v", res)
	}
	if res := d.deliver(t, at(guard.PageHeld, 40)); len(res.Failed) != 0 {
		t.Errorf("%+v", res)
	}
	d.mail.want(t, "held", "released", "held")
}

func TestANoticeOfAFastClockThatArrivesTwiceIsToldOnce(t *testing.T) {
	for _, key := range []string{guard.PageReleased, guard.PageHeld, guard.PageBlind} {
		for _, again := range []bool{false, true} {
			d := newDesk(t)
			n := at(key, 2)
			n.At, n.Reminder = d.now.Add(time.Hour), again
			if key == guard.PageReleased {
				n.Since = n.At
			}
			next := n
			next.At, next.Reminder = n.At.Add(30*time.Minute), true
			for _, n := range []notify.Notice{n, n, next, next} {
				if _, err := d.Deliver(context.Background(), n); err != nil {
					t.Fatal(err)
				}
				d.now = d.now.Add(time.Second)
			}
			if len(d.mail.sent) != 2 {
				t.Errorf("%s, reminder %v: two notices arrived twice each and were told as %v", key, again, d.mail.sent)
			}
		}
	}
}

func TestAClockThatIsALittleFastChangesNoTime(t *testing.T) {
	d := newDesk(t)
	n := at(guard.PageHeld, 2)
	n.At = d.now.Add(5 * time.Minute)
	for range 2 {
		if _, err := d.Deliver(context.Background(), n); err != nil {
			t.Fatal(err)
		}
	}
	if told := d.memory.records[n.Condition()].Told["mail"]; !told.At.Equal(n.At) {
		t.Errorf("told at %s, want %s", told.At, n.At)
	}
	d.mail.want(t, "held")
}

func TestAClaimOfAFastClockKeepsNobodyBack(t *testing.T) {
	d := newDesk(t)
	n := at(guard.PageHeld, 2)
	d.memory.records[n.Condition()] = notify.Record{Version: 1, Busy: d.now.Add(notify.BusyMax + time.Second)}
	if res := d.deliver(t, n); len(res.Delivered) != 2 {
		t.Errorf("%+v", res)
	}
}
