package drive_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// twoGroups is a cloud with two guarded groups and one that is not, each of six behind a local health check.
func twoGroups(t *testing.T, seed uint64) *sim.Cloud {
	t.Helper()
	c := sim.NewCloud(sim.Config{Seed: seed})
	guarded := map[string]string{"api": "true", "web": "true", "wild": "no"}
	for _, name := range []string{"api", "web", "wild"} {
		if _, err := c.CreateTargetGroup(sim.TargetGroupSpec{
			Name: name, Interval: 10 * time.Second, Timeout: 5 * time.Second, HealthyCount: 3, UnhealthyCount: 3,
		}); err != nil {
			t.Fatal(err)
		}
		if err := c.CreateGroup(sim.GroupSpec{
			Name: name, Tags: map[string]string{"holdfast:guard": guarded[name]}, Desired: 6, TargetGroups: []string{name}, SteadyFor: time.Hour,
		}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func guardAll(t *testing.T, c *sim.Cloud, d drive.Duty) *drive.Watch {
	t.Helper()
	w, err := drive.Guard(t.Context(), c, d)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// breakFirst crashes the first member of a group.
func breakFirst(t *testing.T, c *sim.Cloud, group string) {
	t.Helper()
	g, _ := c.Group(group)
	if err := c.Break(g.Members[0].ID, sim.Crash); err != nil {
		t.Fatal(err)
	}
}

// marked counts the guardian's marks by group.
func marked(c *sim.Cloud) map[string]int {
	out := map[string]int{}
	for _, e := range c.Timeline() {
		if drive.IsGuardMark(e) {
			out[e.Group]++
		}
	}
	return out
}

func TestHoldfastWatchesEveryGuardedGroupAndNoOther(t *testing.T) {
	c := twoGroups(t, 1)
	w := guardAll(t, c, drive.Duty{Records: true})
	c.Advance(c.Now().Add(10 * time.Minute))
	for _, group := range []string{"api", "wild", "web"} {
		breakFirst(t, c, group)
		c.Advance(c.Now().Add(20 * time.Minute)) // apart, so that they have no cause in common
	}
	if got, want := marked(c), (map[string]int{"api": 1, "web": 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("marks by group are %v, want %v", got, want)
	}
	if w.Err() != nil || w.Looks() < 65 || len(w.Reports()) < 2*w.Looks() {
		t.Errorf("error %v after %d looks with %d records", w.Err(), w.Looks(), len(w.Reports()))
	}
}

func TestWhileTheTablesAreThrottledNothingIsMarkedAndPeopleHearOfIt(t *testing.T) {
	c := twoGroups(t, 2)
	w := guardAll(t, c, drive.Duty{})
	c.Advance(c.Now().Add(10 * time.Minute))
	if err := c.SetTableThrottle(1); err != nil {
		t.Fatal(err)
	}
	breakFirst(t, c, "web")
	c.Advance(c.Now().Add(20 * time.Minute))
	if got := marked(c); len(got) > 0 || w.Err() != nil || len(w.Notices()) == 0 {
		t.Errorf("with no table: marks %v, error %v, %d notices", got, w.Err(), len(w.Notices()))
	}
	if err := c.SetTableThrottle(0); err != nil {
		t.Fatal(err)
	}
	c.Advance(c.Now().Add(20 * time.Minute))
	if got := marked(c); got["web"] != 1 || w.Err() != nil {
		t.Errorf("with the tables back: marks %v, error %v", got, w.Err())
	}
}

func TestAFastWatchTellsTheSame(t *testing.T) {
	for seed := range uint64(10) {
		var stories [2][]sim.Event
		var notices [2]any
		for i, fast := range []bool{false, true} {
			c := twoGroups(t, seed)
			w := guardAll(t, c, drive.Duty{Fast: fast})
			c.Advance(c.Now().Add(10 * time.Minute))
			breakFirst(t, c, "api")
			c.Advance(c.Now().Add(15 * time.Minute))
			c.SetZoneDown("us-east-1a", true)
			c.Advance(c.Now().Add(30 * time.Minute))
			c.SetZoneDown("us-east-1a", false)
			c.Advance(c.Now().Add(30 * time.Minute))
			stories[i], notices[i] = c.Timeline(), w.Notices()
		}
		if !reflect.DeepEqual(stories[0], stories[1]) || !reflect.DeepEqual(notices[0], notices[1]) {
			t.Errorf("seed %d: the fast watch tells another story", seed)
		}
	}
}

func TestAPersonsReleaseEndsAHoldThatWaitsForOne(t *testing.T) {
	c := twoGroups(t, 3)
	w := guardAll(t, c, drive.Duty{})
	if err := c.SetLaunchTemplate("web", 2, true); err != nil {
		t.Fatal(err)
	}
	c.Advance(c.Now().Add(10 * time.Minute))
	breakFirst(t, c, "web")
	held := func() bool { g, _ := c.Group("web"); return len(g.Suspended) > 0 }
	c.Advance(c.Now().Add(90 * time.Minute))
	if !held() {
		t.Fatal("replacements that never serve do not hold the group, so this shows nothing")
	}
	if err := c.SetLaunchTemplate("web", 3, false); err != nil {
		t.Fatal(err)
	}
	c.Advance(c.Now().Add(time.Hour))
	if !held() {
		t.Error("the hold ended without a person")
	}
	if err := w.Release("web", "the template is mended"); err != nil {
		t.Fatal(err)
	}
	c.Advance(c.Now().Add(time.Hour))
	if held() {
		t.Error("a person's release did not end the hold")
	}
	if err := w.Release("none", "x"); err == nil {
		t.Error("a release of a group that does not exist is no error")
	}
}
