package notify_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

// heldNotice is the notice of a hold with the text that guard made of it in its latest look.
func heldNotice(t *testing.T, f *guardtest.Fleet) notify.Notice {
	t.Helper()
	i := slices.IndexFunc(f.Verdict.Pages, func(p guard.Page) bool { return p.Key == guard.PageHeld })
	if i < 0 {
		t.Fatalf("no page that the group is held: %+v", f.Verdict.Pages)
	}
	n := noticeOf(guard.PageHeld)
	n.Text = f.Verdict.Pages[i].Text
	return n
}

// untilReminded looks until the next reminder of the hold.
func untilReminded(t *testing.T, f *guardtest.Fleet) notify.Notice {
	t.Helper()
	for range 120 {
		if slices.ContainsFunc(f.Sweep().Pages, func(p guard.Page) bool { return p.Key == guard.PageHeld && p.Reminder }) {
			return heldNotice(t, f)
		}
	}
	t.Fatal("no reminder in two hours")
	return notify.Notice{}
}

func asked(f *guardtest.Fleet) { f.Ask("1", guard.RequestHold) }

func red(f *guardtest.Fleet) {
	f.In.Group.Dependencies = []guard.DependencyReading{{
		Dependency:   guard.Dependency{Alarm: "db", Kind: guard.DependencyHard, Missing: guard.MissingUnknown},
		AlarmReading: guard.AlarmReading{State: guard.AlarmRed, Since: f.In.Now},
	}}
}

func watched(f *guardtest.Fleet) { f.In.Policy.Mode = guard.ModeObserve }

// TestThePageOfAHoldIsAboutItsCause takes the texts from guard itself, so that another wording there cannot go unseen.
func TestThePageOfAHoldIsAboutItsCause(t *testing.T) {
	const (
		shared     = "Many members look bad at once"
		person     = "A person asked for it with holdfast hold"
		dependency = "Something that all members depend on is in ALARM"
		byItself   = "quiet_seconds"
		onlyPerson = "only a person ends this hold, with holdfast release"
		unknown    = "No stage of the release ends while the alarm of a hard dependency has no data"
		share      = "correlated_percent"
	)
	for name, c := range map[string]struct {
		begin    []func(*guardtest.Fleet)
		has, not []string
	}{
		"a person":               {[]func(*guardtest.Fleet){asked}, []string{person, onlyPerson, unknown}, []string{shared, byItself, share, dependency}},
		"a person, only watched": {[]func(*guardtest.Fleet){watched, asked}, []string{person}, []string{shared, byItself, share}},
		"a dependency":           {[]func(*guardtest.Fleet){red}, []string{dependency, byItself, unknown}, []string{shared, share, person}},
		"many members":           {[]func(*guardtest.Fleet){func(f *guardtest.Fleet) { f.Break(0, 1, 2, 3) }}, []string{shared, byItself, unknown, share}, []string{person, dependency}},
	} {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			f.Sweeps(3)
			for _, begin := range c.begin {
				begin(f)
			}
			f.Sweep()
			first := heldNotice(t, f)
			for which, n := range map[string]notify.Notice{"first": first, "reminder": untilReminded(t, f)} {
				text := render(t, n).Plain
				for _, part := range c.has {
					if !strings.Contains(text, part) {
						t.Errorf("%s: no %q in\n%s", which, part, text)
					}
				}
				for _, part := range c.not {
					if strings.Contains(text, part) {
						t.Errorf("%s: %q in\n%s", which, part, text)
					}
				}
				if !strings.Contains(text, "holdfast release orders-web-asg") {
					t.Errorf("%s: no command that releases", which)
				}
			}
		})
	}
}

// A text in another form, or one in which the words stand elsewhere, has the guide of every cause.
func TestAHoldWhoseCauseIsNotUnderstoodHasTheGuideOfEveryCause(t *testing.T) {
	for _, text := range []string{"", "held", "asked for by sam: why", "held since yesterday", "held since 1: 6 of 8 are bad. asked for by sam", "released: asked for by sam"} {
		n := noticeOf(guard.PageHeld)
		n.Text, n.At = text, n.At.Add(time.Minute)
		if have := notify.GuideOf(n).Means; !strings.HasPrefix(have, "Many members look bad at once, or ") || !strings.Contains(have, "Or a person asked for the hold") {
			t.Errorf("%q: %s", text, have)
		}
	}
}
