package baseline_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/baseline"
)

// cluster is a controller that looks every five seconds.
type cluster struct {
	t      *testing.T
	rule   baseline.Kubernetes
	memory baseline.KubernetesMemory
	now    time.Duration
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{t: t, rule: baseline.DefaultKubernetes()}
}

// look looks at machines once.
func (c *cluster) look(machines ...[]baseline.Machine) baseline.Action {
	return c.rule.Decide(at(c.now, machines...), &c.memory)
}

// watch looks for a while and says what was evicted when, in seconds after noon. What is evicted is gone at the next look.
func (c *cluster) watch(until time.Duration, machines ...[]baseline.Machine) string {
	story := ""
	gone := map[string]bool{}
	for ; c.now <= until; c.now += 5 * time.Second {
		o := at(c.now)
		for _, m := range at(0, machines...).Machines {
			if !gone[m.ID] {
				o.Machines = append(o.Machines, m)
			}
		}
		for _, id := range c.rule.Decide(o, &c.memory).Replace {
			gone[id] = true
			story += fmt.Sprintf("%s@%.0f ", id, c.now.Seconds())
		}
	}
	return story
}

func (c *cluster) want(name string, state baseline.ZoneState, rate float64) {
	c.t.Helper()
	if got := c.memory.State(c.rule, name); got != state {
		c.t.Errorf("zone %s is %s, want %s", name, got, state)
	}
	if got := c.memory.ZoneRate(name); got != rate {
		c.t.Errorf("zone %s goes at %v a second, want %v", name, got, rate)
	}
}

func TestKubernetesVectors(t *testing.T) {
	// In most examples of one zone, zone b keeps the cluster from being disrupted as a whole.
	elsewhere := well(5, zone("b"))
	state := func(good, bad int, want baseline.ZoneState, rate float64) func(*testing.T) {
		return func(t *testing.T) {
			c := newCluster(t)
			c.look(well(good), sick(bad), elsewhere)
			c.want("a", want, rate)
		}
	}
	run(t, []vector{
		{name: "K1 two of three down is normal, and both are evicted from at 0.1 a second", show: func(t *testing.T) {
			c := newCluster(t)
			if got := c.watch(10*time.Minute, well(1), sick(2), elsewhere); got != "s0@300 s1@310 " {
				t.Errorf("evicted %q, want s0@300 s1@310", got)
			}
			state(1, 2, baseline.ZoneNormal, 0.1)(t)
		}},
		{name: "K2 three of five down is partial, at rate 0", show: func(t *testing.T) {
			c := newCluster(t)
			if got := c.watch(time.Hour, well(2), sick(3), elsewhere); got != "" {
				t.Errorf("evicted %q, want nobody", got)
			}
			c.want("a", baseline.ZonePartial, 0)
		}},
		{name: "K3 three of six down is normal", show: state(3, 3, baseline.ZoneNormal, 0.1)},
		{name: "K4 eleven of twenty down is exactly 0.55 and partial", show: state(9, 11, baseline.ZonePartial, 0)},
		{name: "K5 a partial zone of 51 goes at 0.01 a second", show: func(t *testing.T) {
			state(22, 29, baseline.ZonePartial, 0.01)(t)
			c := newCluster(t)
			if got := c.watch(500*time.Second, well(22), sick(29), elsewhere); got != "s0@300 s1@400 s2@500 " {
				t.Errorf("evicted %q, want one in 100 s", got)
			}
		}},
		{name: "K5 a partial zone of 50 does not go", show: state(22, 28, baseline.ZonePartial, 0)},
		{name: "K6 one of two zones fully down goes at 0.1 a second", show: func(t *testing.T) {
			c := newCluster(t)
			if got := c.watch(320*time.Second, sick(5), elsewhere); got != "s0@300 s1@310 s2@320 " {
				t.Errorf("evicted %q, want one in 10 s", got)
			}
			c.want("a", baseline.ZoneFull, 0.1)
		}},
		{name: "K7 both zones down: no action, and marks withdrawn", show: func(t *testing.T) {
			c := newCluster(t)
			c.watch(time.Minute, sick(5), elsewhere)
			if len(c.memory.Tainted) != 5 {
				t.Errorf("%d taints before, want 5", len(c.memory.Tainted))
			}
			if got := c.watch(time.Hour, sick(5), sick(5, zone("b"))); got != "" || len(c.memory.Tainted) != 0 {
				t.Errorf("evicted %q with %d taints left, want nobody and none", got, len(c.memory.Tainted))
			}
			c.want("a", baseline.ZoneFull, 0)
		}},
		{name: "K8 one node of two dead zones returns: its zone is normal, the other full, and every timer starts anew", show: func(t *testing.T) {
			c := newCluster(t)
			c.watch(time.Hour, sick(2), sick(2, zone("b"), unknown))
			back := c.now
			c.look(well(1), sick(1), sick(2, zone("b"), unknown))
			c.want("a", baseline.ZoneNormal, 0.1)
			c.want("b", baseline.ZoneFull, 0.1)
			got := c.watch(back+400*time.Second, well(1), sick(1), sick(2, zone("b"), unknown))
			want := fmt.Sprintf("s0@%.0f bs0@%.0f bs1@%.0f ", (back + 300*time.Second).Seconds(), (back + 340*time.Second).Seconds(),
				(back + 350*time.Second).Seconds())
			if got != want {
				t.Errorf("evicted %q, want %q: 300 s after it, and the silent ones after 40 s of silence more", got, want)
			}
		}},
		{name: "K9 a first look without a word from anyone is full disruption, not failure", show: func(t *testing.T) {
			c := newCluster(t)
			if got := c.watch(time.Hour, some(3, "n", unseen), some(3, "n", unseen, zone("b"))); got != "" {
				t.Errorf("evicted %q, want nobody", got)
			}
			c.want("a", baseline.ZoneFull, 0)
		}},
		{name: "K10 the only ready node is excluded: full", show: func(t *testing.T) {
			c := newCluster(t)
			c.look(well(1, excluded), sick(3), elsewhere)
			c.want("a", baseline.ZoneFull, 0.1)
		}},
	})
}

func TestKubernetes(t *testing.T) {
	run(t, []vector{
		{name: "a node that is well again in time loses its taint", show: func(t *testing.T) {
			c := newCluster(t)
			c.watch(200*time.Second, well(4), sick(1))
			c.watch(205*time.Second, well(4), some(1, "s"))
			if got := c.watch(500*time.Second, well(4), sick(1)); got != "" {
				t.Errorf("evicted %q, want nobody before 300 s of the second taint", got)
			}
		}},
		{name: "taints of before a partial disruption still lead to evictions", show: func(t *testing.T) {
			c := newCluster(t)
			c.watch(10*time.Second, well(4), sick(1), well(5, zone("b")))
			if got := c.watch(400*time.Second, some(4, "w", notReady), sick(1), well(5, zone("b"))); got == "" {
				t.Error("evicted nobody, want the node that was tainted before")
			}
		}},
		{name: "a machine that never says a word is tainted a minute after it was created", show: func(t *testing.T) {
			c := newCluster(t)
			if got := c.watch(400*time.Second, well(4), some(1, "n", unseen, created(0))); got != "n0@360 " {
				t.Errorf("evicted %q, want n0@360", got)
			}
		}},
		{name: "a node that is already on its way out is left alone", show: func(t *testing.T) {
			c := newCluster(t)
			if got := c.watch(time.Hour, well(4), sick(1, leaving), some(1, "m", notReady, marked)); got != "" {
				t.Errorf("evicted %q, want nobody", got)
			}
		}},
	})
}
