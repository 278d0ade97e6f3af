package gameday_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// plain is a day of an hour with one group of four behind a local health check. A mark takes effect after a second, a launch two minutes,
// a warm-up one, and a new target needs a single probe, within ten seconds.
func plain(script ...sim.Step) gameday.Day {
	return gameday.Day{
		Name: "plain", About: "A plain day.", Groups: []string{"web"}, Duration: time.Hour,
		Draw: func(*gameday.Dice) gameday.Course {
			return gameday.Course{Script: slices.Clone(script), Setup: func(c *sim.Cloud) error {
				if _, err := c.CreateTargetGroup(sim.TargetGroupSpec{
					Name: "web", Interval: 10 * time.Second, Timeout: 5 * time.Second, HealthyCount: 3, UnhealthyCount: 3, DeregistrationDelay: -1,
				}); err != nil {
					return err
				}
				return c.CreateGroup(sim.GroupSpec{
					Name: "web", Desired: 4, TargetGroups: []string{"web"}, LaunchTime: 2 * time.Minute, WarmUp: time.Minute, SteadyFor: time.Hour,
				})
			}}
		},
	}
}

// at is a step of a script.
func at(minute int, do func(*sim.Cloud) error) sim.Step {
	return sim.Step{At: time.Duration(minute) * time.Minute, About: "something", Do: do}
}

// nth does something to the nth member.
func nth(n int, do func(*sim.Cloud, string) error) func(*sim.Cloud) error {
	return func(c *sim.Cloud) error {
		g, _ := c.Group("web")
		return do(c, g.Members[n].ID)
	}
}

func crash(c *sim.Cloud, id string) error { return c.Break(id, sim.Crash) }

// hand is a guardian that does what a table says, at whole minutes, and tells pages.
type hand struct {
	acts  map[int]func(*sim.Cloud) error
	pages []gameday.Page
	err   error
}

func (*hand) Name() string            { return "hand" }
func (h *hand) Err() error            { return h.err }
func (h *hand) Pages() []gameday.Page { return h.pages }

func (h *hand) Start(w *gameday.World) error {
	for i := range h.pages {
		h.pages[i].At = w.Start.Add(h.pages[i].At.Sub(time.Time{}))
	}
	for minute, do := range h.acts {
		w.Cloud.At(w.Start.Add(time.Duration(minute)*time.Minute+time.Second), func(c *sim.Cloud) {
			if err := do(c); err != nil {
				h.err = err
			}
		})
	}
	return nil
}

// mark sets every broken member Unhealthy.
func mark(c *sim.Cloud) error {
	g, _ := c.Group("web")
	for _, m := range g.Members {
		if truth, _ := c.Truth(m.ID); !truth.Sound && m.Lifecycle == sim.InService {
			if err := c.SetInstanceHealth(m.ID, sim.Unhealthy, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func markFirst(c *sim.Cloud) error {
	return nth(0, func(c *sim.Cloud, id string) error { return c.SetInstanceHealth(id, sim.Unhealthy, false) })(c)
}

// about says whether a time to repair is as long as expected, or longer by the second of a mark and three probes that are ten seconds apart.
func about(got int32, want time.Duration) bool {
	return time.Duration(got)*time.Second >= want && time.Duration(got)*time.Second <= want+35*time.Second
}

func TestTimeToRepair(t *testing.T) {
	bad := func(version int, is bool) func(*sim.Cloud) error {
		return func(c *sim.Cloud) error { return c.SetLaunchTemplate("web", version, is) }
	}
	const replace = 3 * time.Minute // launch and warm-up
	for name, c := range map[string]struct {
		script     []sim.Step
		acts       map[int]func(*sim.Cloud) error
		want       []time.Duration
		unrepaired int32
	}{
		"nothing breaks": {},
		"it runs from the break until the replacement serves": {
			[]sim.Step{at(5, nth(1, crash))}, map[int]func(*sim.Cloud) error{9: mark}, []time.Duration{4*time.Minute + replace}, 0,
		},
		"one that nobody replaces counts to the end of the day": {[]sim.Step{at(5, nth(1, crash))}, nil, []time.Duration{55 * time.Minute}, 1},
		"one that heals by itself is repaired": {
			[]sim.Step{at(5, nth(1, crash)), at(15, nth(1, (*sim.Cloud).Repair))}, nil, []time.Duration{10 * time.Minute}, 0,
		},
		"a healthy member that is replaced at the same time does not repair it": {
			[]sim.Step{at(5, nth(1, crash))}, map[int]func(*sim.Cloud) error{6: markFirst, 20: mark}, []time.Duration{15*time.Minute + replace}, 0,
		},
		"it begins when a replacement would first have served": {
			[]sim.Step{at(2, bad(2, true)), at(5, nth(1, crash)), at(25, bad(3, false))}, map[int]func(*sim.Cloud) error{30: mark},
			[]time.Duration{5*time.Minute + replace}, 0,
		},
		"a bad replacement belongs to the member that it stands for": {
			[]sim.Step{at(2, bad(2, true)), at(5, nth(1, crash)), at(25, bad(3, false))}, map[int]func(*sim.Cloud) error{6: mark, 30: mark},
			[]time.Duration{5*time.Minute + replace}, 0,
		},
		"for one that no replacement could ever have stood for there is none": {
			[]sim.Step{at(2, bad(2, true)), at(5, nth(1, crash))}, map[int]func(*sim.Cloud) error{6: mark}, nil, 0,
		},
		"one that scale-in takes is none": {
			[]sim.Step{at(5, nth(0, crash)), at(7, func(c *sim.Cloud) error { return c.SetDesired("web", 3) })}, nil, nil, 0,
		},
		"nor is one for which nobody is launched, because fewer are desired by then": {
			[]sim.Step{
				at(5, nth(0, crash)), at(6, func(c *sim.Cloud) error { return c.SuspendProcesses("web", []string{"Launch"}) }),
				at(9, func(c *sim.Cloud) error { return c.SetDesired("web", 3) }), at(10, func(c *sim.Cloud) error { return c.ResumeProcesses("web", nil) }),
			},
			map[int]func(*sim.Cloud) error{7: mark}, nil, 0,
		},
		"a check that is wrong makes nothing broken": {
			[]sim.Step{at(5, nth(0, func(c *sim.Cloud, id string) error { return c.Break(id, sim.FalseAlarm) }))},
			map[int]func(*sim.Cloud) error{9: markFirst}, nil, 0,
		},
		"two are sorted": {
			[]sim.Step{at(5, nth(0, crash)), at(20, nth(1, crash))}, map[int]func(*sim.Cloud) error{22: mark},
			[]time.Duration{2*time.Minute + replace, 17*time.Minute + replace}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustPlay(t, plain(c.script...), &hand{acts: c.acts}, 3)
			if int(m.Broken) != len(c.want) || m.Unrepaired != c.unrepaired {
				t.Fatalf("%d broken and %d not repaired: %+v", m.Broken, m.Unrepaired, m)
			}
			for i, want := range c.want {
				if !about(m.Repairs[i], want) {
					t.Errorf("repair %d took %d s, want about %s", i, m.Repairs[i], want)
				}
			}
		})
	}
}

func TestAHealthyMemberThatIsReplacedIsLost(t *testing.T) {
	m := mustPlay(t, plain(), &hand{acts: map[int]func(*sim.Cloud) error{5: markFirst}}, 1)
	if m.HealthyLost != 1 || m.Calls != 1 || m.CapacityMinutes < 3 || m.CapacityMinutes > 3.5 || m.BrokenReplaced != 0 {
		t.Errorf("measure is %+v, want one healthy member lost for three minutes by one call", m)
	}
}

func TestCallsOfTheScriptAreNotCounted(t *testing.T) {
	m := mustPlay(t, plain(at(5, func(c *sim.Cloud) error { return c.SuspendProcesses("web", []string{"ReplaceUnhealthy"}) })), &hand{}, 1)
	if m.Calls != 0 {
		t.Errorf("%d calls", m.Calls)
	}
}

func TestAScriptThatFailsAndAGuardianThatFailsAreErrors(t *testing.T) {
	missing := func(c *sim.Cloud) error { return c.SetDesired("none", 1) }
	if _, err := gameday.Play(plain(at(5, missing)), &hand{}, 1); err == nil {
		t.Error("no error of the script")
	}
	if _, err := gameday.Play(plain(), &hand{acts: map[int]func(*sim.Cloud) error{5: missing}}, 1); err == nil {
		t.Error("no error of the guardian")
	}
}

func TestPagesWithNothingBehindThemAreFalse(t *testing.T) {
	page := func(minute int, urgent bool) gameday.Page {
		return gameday.Page{At: time.Time{}.Add(time.Duration(minute) * time.Minute), Group: "web", Key: "held", Urgent: urgent}
	}
	lost := func(lost bool) func(*sim.Cloud) error {
		return func(c *sim.Cloud) error { c.SetBeatsLost(lost); return nil }
	}
	for name, c := range map[string]struct {
		script []sim.Step
		page   gameday.Page
		want   [3]int32 // pages, false ones, notices
	}{
		"nothing is the matter":             {nil, page(10, true), [3]int32{1, 1, 0}},
		"a notice is no page":               {nil, page(10, false), [3]int32{0, 0, 1}},
		"a member is broken":                {[]sim.Step{at(9, nth(0, crash))}, page(10, true), [3]int32{1, 0, 0}},
		"a member breaks later":             {[]sim.Step{at(11, nth(0, crash))}, page(10, true), [3]int32{1, 1, 0}},
		"heartbeats are lost":               {[]sim.Step{at(9, lost(true))}, page(10, true), [3]int32{1, 0, 0}},
		"heartbeats were lost a moment ago": {[]sim.Step{at(9, lost(true)), at(12, lost(false))}, page(20, true), [3]int32{1, 0, 0}},
		"heartbeats were lost long ago":     {[]sim.Step{at(9, lost(true)), at(12, lost(false))}, page(28, true), [3]int32{1, 1, 0}},
		"only a check is wrong": {
			[]sim.Step{at(9, nth(0, func(c *sim.Cloud, id string) error { return c.Break(id, sim.FalseCheck) }))}, page(15, true), [3]int32{1, 1, 0},
		},
		"launches would not serve": {
			[]sim.Step{at(9, func(c *sim.Cloud) error { return c.SetLaunchTemplate("web", 2, true) })}, page(15, true), [3]int32{1, 0, 0},
		},
		"the tables are throttled": {
			[]sim.Step{at(9, func(c *sim.Cloud) error { return c.SetTableThrottle(0.5) })}, page(15, true), [3]int32{1, 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustPlay(t, plain(c.script...), &hand{pages: []gameday.Page{c.page}}, 1)
			if got := [3]int32{m.Pages, m.FalsePages, m.Notices}; got != c.want {
				t.Errorf("pages, false pages and notices are %v, want %v", got, c.want)
			}
		})
	}
}
