package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func (f fleet) beat(id string) (sim.Beat, bool) {
	for _, b := range f.Heartbeats() {
		if b.InstanceID == id {
			return b, true
		}
	}
	return sim.Beat{}, false
}

// heartStatus is the status of the newest beat, or silent if it is older than that.
func (f fleet) heartStatus(id string, old time.Duration) string {
	b, ok := f.beat(id)
	if !ok || f.Now().Sub(b.At) > old {
		return "silent"
	}
	return b.Status
}

func TestHeartbeats(t *testing.T) {
	t.Run("each beat is an interval and a jitter apart and counts one up", func(t *testing.T) {
		f := newFleet(t, size(3))
		beats := map[string][]sim.Beat{}
		f.OnBeat = func(b sim.Beat) { beats[b.InstanceID] = append(beats[b.InstanceID], b) }
		f.pass(10 * time.Minute)
		if len(beats) != 3 {
			t.Fatalf("%d instances beat, want 3", len(beats))
		}
		for id, list := range beats {
			if len(list) < 39 || len(list) > 40 {
				t.Errorf("%s: %d beats in ten minutes", id, len(list))
			}
			for n, b := range list[1:] {
				apart := b.At.Sub(list[n].At)
				if apart <= 13*time.Second || apart >= 17*time.Second || b.Seq != list[n].Seq+1 || b.Boot != list[n].Boot {
					t.Errorf("%s: beat %d is %+v after %+v", id, n+1, b, list[n])
				}
			}
			if newest, _ := f.beat(id); newest.Seq != list[len(list)-1].Seq {
				t.Errorf("%s: Heartbeats has %d, the hook %d", id, newest.Seq, list[len(list)-1].Seq)
			}
		}
	})
	t.Run("a booting instance is silent until its application is up", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.SteadyFor = 0 })
		f.pass(91 * time.Second) // launch after 1 s, InService at 61 s, up at 91 s
		if len(f.Heartbeats()) != 0 {
			t.Fatal("a booting instance spoke")
		}
		f.pass(17 * time.Second)
		if len(f.Heartbeats()) != 4 {
			t.Fatalf("%d instances spoke, want 4", len(f.Heartbeats()))
		}
	})
	t.Run("a reboot gives another boot and starts the count again", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SuspendProcesses("web", nil))
		f.pass(10 * time.Minute)
		before, _ := f.beat(f.id(0))
		f.must(f.Break(f.id(0), sim.Freeze))
		f.pass(time.Minute)
		f.must(f.Repair(f.id(0)))
		f.pass(48 * time.Second)
		after, _ := f.beat(f.id(0))
		if after.Boot == before.Boot || after.Seq > 2 {
			t.Fatalf("before %+v, after %+v", before, after)
		}
	})
	t.Run("a wrong clock shows in the stamp alone", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SetClockSkew(f.id(0), -time.Hour))
		f.pass(time.Minute)
		if b, _ := f.beat(f.id(0)); b.At.Sub(b.Stamp) != time.Hour {
			t.Fatalf("beat is %+v", b)
		}
	})
	t.Run("a terminating instance says that it is draining", func(t *testing.T) {
		f := newFleet(t)
		id := f.id(0)
		f.mark(id)
		f.pass(20 * time.Second)
		if got := f.heartStatus(id, time.Minute); got != "draining" {
			t.Fatalf("heartbeat is %s", got)
		}
	})
	t.Run("a lost table shows nothing, and the count has gone on", func(t *testing.T) {
		f := newFleet(t)
		f.pass(time.Minute)
		before, _ := f.beat(f.id(0))
		f.SetBeatsLost(true)
		f.pass(time.Minute)
		if during, _ := f.beat(f.id(0)); during.Seq != before.Seq {
			t.Fatalf("a beat came through: %+v", during)
		}
		f.SetBeatsLost(false)
		f.pass(17 * time.Second)
		if after, _ := f.beat(f.id(0)); after.Seq < before.Seq+4 {
			t.Fatalf("before %+v, after %+v", before, after)
		}
	})
	t.Run("a declared dependency check is named as such", func(t *testing.T) {
		f := newFleet(t, func(o *options) { o.group.AgentReports = []string{"db"} })
		f.must(f.SetDependency("db", sim.DependencyDown, 0))
		f.must(f.Break(f.id(0), sim.FullDisk))
		f.pass(17 * time.Second)
		b, _ := f.beat(f.id(0))
		if b.Status != "failing" || !slices.Equal(b.Failing, []string{"dep:db", "disk"}) {
			t.Fatalf("beat is %+v", b)
		}
		if b, _ := f.beat(f.id(1)); !slices.Equal(b.Failing, []string{"dep:db"}) {
			t.Fatalf("beat is %+v", b)
		}
	})
	t.Run("a broken agent release silences the fleet although it serves", func(t *testing.T) {
		f := newFleet(t)
		f.must(f.SetAgentVersion("web", "2", true, true))
		f.pass(2 * time.Minute)
		if got := f.heartStatus(f.id(0), 30*time.Second); got != "silent" || f.target(f.id(0)) != "healthy" {
			t.Fatalf("heartbeat is %s, target %s", got, f.target(f.id(0)))
		}
	})
}
