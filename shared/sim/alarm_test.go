package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// watchAlarms collects the changes as "90s name OK>ALARM".
func watchAlarms(c *sim.Cloud) *[]string {
	var got []string
	c.OnAlarm = func(change sim.AlarmChange) {
		got = append(got, fmt.Sprintf("%s %s %s>%s", change.At.Sub(c.Config().Start), change.Alarm.Name, change.Previous, change.Alarm.State))
	}
	return &got
}

func TestAlarms(t *testing.T) {
	cases := []struct {
		name        string
		period      time.Duration
		evaluations int
		from, until time.Duration // the dependency is down
		want        []string
	}{
		{"it turns with the first bad sample and back with the first good one", time.Minute, 1, 70 * time.Second, 200 * time.Second,
			[]string{"2m0s a OK>ALARM", "4m0s a ALARM>OK"}},
		{"three evaluations need three bad samples", time.Minute, 3, 70 * time.Second, 250 * time.Second,
			[]string{"4m0s a OK>ALARM", "5m0s a ALARM>OK"}},
		{"two bad samples of three are not enough", time.Minute, 3, 70 * time.Second, 230 * time.Second, nil},
		{"what falls between two samples is not seen", time.Minute, 1, 70 * time.Second, 110 * time.Second, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := sim.NewCloud(sim.Config{})
			f := fleet{Cloud: c, t: t}
			f.must(c.PutAlarm(sim.AlarmSpec{Name: "a", Dependency: "db", Period: tc.period, Evaluations: tc.evaluations}))
			got := watchAlarms(c)
			f.pass(tc.from)
			f.must(c.SetDependency("db", sim.DependencyDown, 0))
			f.pass(tc.until - tc.from)
			f.must(c.SetDependency("db", sim.DependencyOK, 0))
			f.pass(10 * time.Minute)
			if !slices.Equal(*got, tc.want) {
				t.Fatalf("changes are %q, want %q", *got, tc.want)
			}
		})
	}
}

func TestBadSamplesMustBeInARow(t *testing.T) {
	f := fleet{Cloud: sim.NewCloud(sim.Config{}), t: t}
	f.must(f.PutAlarm(sim.AlarmSpec{Name: "a", Dependency: "db", Evaluations: 3}))
	got := watchAlarms(f.Cloud)
	f.pass(time.Second)
	for _, state := range []sim.DependencyState{sim.DependencyDown, sim.DependencySlow, sim.DependencyOK, sim.DependencyDown, sim.DependencyDown} {
		f.must(f.SetDependency("db", state, 0))
		f.pass(time.Minute)
	}
	if len(*got) != 0 {
		t.Fatalf("changes are %q, want none", *got)
	}
	f.pass(time.Minute)
	if len(*got) != 1 {
		t.Fatalf("after the third bad sample changes are %q, want one", *got)
	}
}

func TestAlarmsByHand(t *testing.T) {
	t.Run("a state set by hand lasts until the next evaluation", func(t *testing.T) {
		c := sim.NewCloud(sim.Config{})
		f := fleet{Cloud: c, t: t}
		f.must(c.PutAlarm(sim.AlarmSpec{Name: "a", Dependency: "db"}))
		f.must(c.PutAlarm(sim.AlarmSpec{Name: "free"}))
		f.pass(10 * time.Second)
		f.must(c.SetAlarmState("a", sim.AlarmRed, "test"))
		f.must(c.SetAlarmState("free", sim.AlarmInsufficient, "test"))
		a, _ := c.Alarm("a")
		if a.State != sim.AlarmRed || a.Reason != "test" || a.Transitioned.Sub(c.Config().Start) != 10*time.Second {
			t.Fatalf("alarm is %+v", a)
		}
		f.pass(time.Hour)
		a, _ = c.Alarm("a")
		free, _ := c.Alarm("free")
		if a.State != sim.AlarmOK || free.State != sim.AlarmInsufficient {
			t.Fatalf("states are %s and %s", a.State, free.State)
		}
	})
	t.Run("a composite follows its children at once", func(t *testing.T) {
		c := sim.NewCloud(sim.Config{})
		f := fleet{Cloud: c, t: t}
		f.must(c.PutAlarm(sim.AlarmSpec{Name: "a"}))
		f.must(c.PutAlarm(sim.AlarmSpec{Name: "b"}))
		f.must(c.PutAlarm(sim.AlarmSpec{Name: "any", AnyOf: []string{"a", "b"}}))
		for _, step := range []struct {
			alarm string
			state sim.AlarmState
			want  sim.AlarmState
		}{
			{"a", sim.AlarmRed, sim.AlarmRed},
			{"b", sim.AlarmInsufficient, sim.AlarmRed},
			{"a", sim.AlarmOK, sim.AlarmInsufficient},
			{"b", sim.AlarmOK, sim.AlarmOK},
		} {
			f.must(c.SetAlarmState(step.alarm, step.state, "test"))
			if above, _ := c.Alarm("any"); above.State != step.want || !above.Composite {
				t.Fatalf("after %s is %s the composite is %+v, want %s", step.alarm, step.state, above, step.want)
			}
		}
	})
	t.Run("an alarm that is put again keeps its state", func(t *testing.T) {
		c := sim.NewCloud(sim.Config{})
		f := fleet{Cloud: c, t: t}
		f.must(c.PutAlarm(sim.AlarmSpec{Name: "a"}))
		f.must(c.SetAlarmState("a", sim.AlarmRed, "test"))
		f.must(c.PutAlarm(sim.AlarmSpec{Name: "a", Description: "new"}))
		a, _ := c.Alarm("a")
		if len(c.Alarms()) != 1 || a.State != sim.AlarmRed || a.Description != "new" {
			t.Fatalf("alarms are %+v", c.Alarms())
		}
	})
	t.Run("what does not exist is not found, and what is no state is invalid", func(t *testing.T) {
		c := sim.NewCloud(sim.Config{})
		var missing *sim.NotFoundError
		if err := c.SetAlarmState("a", sim.AlarmOK, ""); !errors.As(err, &missing) {
			t.Errorf("set: %v", err)
		}
		if err := c.PutAlarm(sim.AlarmSpec{Name: "any", AnyOf: []string{"a"}}); !errors.As(err, &missing) {
			t.Errorf("composite of nothing: %v", err)
		}
		if err := c.PutAlarm(sim.AlarmSpec{Name: "a"}); err != nil {
			t.Fatal(err)
		}
		if err := c.SetAlarmState("a", "RED", ""); !errors.Is(err, sim.ErrInvalid) {
			t.Errorf("a foreign state: %v", err)
		}
		if err := c.DeleteAlarm("a"); err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteAlarm("a"); !errors.As(err, &missing) {
			t.Errorf("delete twice: %v", err)
		}
	})
}
