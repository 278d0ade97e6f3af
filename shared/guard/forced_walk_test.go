package guard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// forcedWorld is a group with ELB health checks whose hold a person forces to its end, while much goes wrong around it: AWS calls whoever
// fails Unhealthy as soon as HealthCheck runs, and replaces all of them as soon as ReplaceUnhealthy runs.
type forcedWorld struct {
	*guardtest.Fleet
	r        *rand.Rand
	requests int
	// taken is when AWS replaced a member.
	taken []time.Time
	log   []string
}

func newForcedWorld(seed uint64) *forcedWorld {
	r := rand.New(rand.NewPCG(seed, 18))
	w := &forcedWorld{Fleet: guardtest.New(8 + r.IntN(30)), r: r}
	w.In.Group.HealthCheckTypes = []string{"EC2", "ELB"}
	p := &w.In.Policy
	p.HoldExit = []string{guard.ExitOperator, guard.ExitPaced}[r.IntN(2)]
	p.HoldMaxSeconds, p.OnsetCount = 600+r.IntN(7200), 2+r.IntN(3)
	p.Action = []string{guard.ActionReplace, guard.ActionReplace, guard.ActionReplace, guard.ActionHoldOnly}[r.IntN(4)]
	bad := 4 + r.IntN(3)
	w.Break(upTo(bad)...)
	w.Sweep()
	for i := range bad {
		w.M(i).Unhealthy = r.IntN(2) == 0
	}
	w.Sweeps(r.IntN(15))
	return w
}

// aws does what Auto Scaling does between two looks.
func (w *forcedWorld) aws() {
	if !slices.Contains(w.Suspended(), "HealthCheck") {
		for i := range w.In.Group.Members {
			if m := w.M(i); m.Lifecycle == "InService" && m.Targets[0].State == "unhealthy" {
				m.Unhealthy = true
			}
		}
	}
	if slices.Contains(w.Suspended(), "ReplaceUnhealthy") {
		return
	}
	for i := 0; i < len(w.In.Group.Members); i++ {
		if m := w.M(i); m.Unhealthy && m.Lifecycle == "InService" {
			w.log = append(w.log, w.In.Now.Format("15:04")+" AWS takes "+m.ID)
			w.taken = append(w.taken, w.In.Now)
			w.Replace(i)
			i--
		}
	}
}

// around is what may happen between two looks beside AWS: people ask again, reads and calls fail, the switch is used, some recover.
func (w *forcedWorld) around() {
	switch w.r.IntN(25) {
	case 0, 1, 2:
		w.requests++
		w.Ask(fmt.Sprint(w.requests), guard.RequestRelease)
		w.In.Request.Force = w.r.IntN(4) > 0
	case 3:
		if w.r.IntN(4) == 0 {
			w.requests++
			w.Ask(fmt.Sprint(w.requests), guard.RequestHold)
		}
	case 4:
		w.In.Policy.Mode = []string{guard.ModeAct, guard.ModeObserve, guard.ModeOff}[w.r.IntN(3)]
	case 5, 6, 7, 8:
		w.In.Policy.Mode = guard.ModeAct
	case 9:
		w.In.Reads = []guard.Reads{{Targets: "throttled"}, {Heartbeats: "throttled"}, {Activities: "throttled"}, {OptOuts: "throttled"}, {Region: "throttled"}}[w.r.IntN(5)]
	case 10, 11, 12:
		w.In.Reads = guard.Reads{}
	case 13:
		w.Failing = true
	case 14, 15, 16:
		w.Failing = false
	case 17:
		w.Heal(w.r.IntN(3))
	case 18:
		depend(w.Fleet, []string{guard.AlarmOK, guard.AlarmRed, guard.AlarmUnread}[w.r.IntN(3)])
	case 19, 20:
		depend(w.Fleet, guard.AlarmOK)
	case 21:
		w.In.Now = w.In.Now.Add(time.Duration(w.r.IntN(15)) * time.Minute)
	case 22:
		w.person()
	}
}

// person resumes a process at times. Not while AWS replaces: who does that with HealthCheck hands the members over, and no look comes between.
func (w *forcedWorld) person() {
	if w.r.IntN(3) > 0 || !slices.Contains(w.Suspended(), "ReplaceUnhealthy") {
		return
	}
	w.log = append(w.log, "a person resumes")
	w.Resume([]string{"AZRebalance", "HealthCheck"}[w.r.IntN(2)])
}

func (w *forcedWorld) look() {
	v := look(w.Fleet)
	w.log = append(w.log, fmt.Sprintf("%s %s %s: %s, calls %s, mode %s, suspended %s", w.In.Now.Format("15:04"), v.Mode, causes(v), v.Cause, actions(v), w.In.Policy.Mode, w.Suspended()))
}

// most is how many were taken within ten minutes, at most.
func (w *forcedWorld) most() int {
	most := 0
	for i := range w.taken {
		n := 0
		for _, at := range w.taken[i:] {
			n += btoi(at.Sub(w.taken[i]) < 10*time.Minute)
		}
		most = max(most, n)
	}
	return most
}

func TestNoForcedReleaseHandsTheGroupToAWS(t *testing.T) {
	const first, worlds = 18_000, 100
	t.Logf("seeds %d to %d", first, first+worlds-1)
	taken, ended := 0, 0
	for seed := uint64(first); seed < first+worlds; seed++ {
		w := newForcedWorld(seed)
		for range 150 {
			w.around()
			if w.r.IntN(3) == 0 {
				w.aws()
			}
			w.look()
			w.aws()
		}
		if n := w.most(); n > 1 {
			t.Fatalf("seed %d: AWS took %d within ten minutes\n%s", seed, n, strings.Join(w.log, "\n"))
		}
		taken += len(w.taken)
		ended += btoi(w.In.State.Hold == nil && len(w.Suspended()) == 0)
	}
	t.Logf("%d taken, %d worlds ended with nothing suspended", taken, ended)
	if taken < worlds/4 || ended < worlds/20 {
		t.Errorf("%d taken in %d worlds, %d ended: the worlds do not reach what they are for", taken, worlds, ended)
	}
}
