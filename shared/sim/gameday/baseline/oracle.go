package baseline

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// oracleLook is the time between two looks of the oracle, besides those right after each step of the script.
const oracleLook = 5 * time.Second

// missedBeats is after how long without a heartbeat, at one every 15 s and up to 2 s late, two of them are missing.
const missedBeats = 32 * time.Second

// oracle knows the ground truth.
type oracle struct {
	// waits says that it acts on what anybody could have seen by then only.
	waits bool
	world *gameday.World
	calm  calm
	err   error
}

// Oracle is the limit: nobody who acts by replacing members can do better.
//
// It is told what is really so. In every group of the day it suspends HealthCheck, and only that, so that Auto Scaling marks nobody of its
// own accord. A member that is truly broken it marks at the moment when it breaks, or when replacing it begins to help: when what is
// launched in its place would come to serve. Marks on members that are sound it takes back, and when somebody resumes HealthCheck it
// suspends it again. It holds no other process, launches nothing by itself and changes no size, so that scaling, refreshes and people have
// their way.
//
// What it does not know is the future: it would replace a member that is about to heal by itself. On the days of package gameday nothing
// that is broken heals sooner than a replacement serves.
func Oracle() gameday.Guardian { return &oracle{} }

// OracleWithEvidence is the limit for everybody who has to see what is wrong before acting: the [Oracle], but it marks a broken member no
// sooner than at the first sign of it, when its target is unhealthy or unused, or its agent says so, or two heartbeats are missing. It is
// never misled by such a sign.
func OracleWithEvidence() gameday.Guardian { return &oracle{waits: true} }

// Name implements gameday.Guardian.
func (o *oracle) Name() string {
	if o.waits {
		return "oracle-with-evidence"
	}
	return "oracle"
}

// Pages implements gameday.Guardian: it needs nobody.
func (*oracle) Pages() []gameday.Page { return nil }

// Err is the first act that could not be carried out.
func (o *oracle) Err() error { return o.err }

// Start implements gameday.Guardian.
func (o *oracle) Start(w *gameday.World) error {
	o.world, o.calm.groups = w, w.Day.Groups
	o.hold()
	if o.look(); o.err != nil {
		return fmt.Errorf("start oracle: %w", o.err)
	}
	for _, step := range w.Day.Incident(w.Cloud.Config().Seed).Script {
		w.Cloud.At(w.Start.Add(step.At), func(*sim.Cloud) {
			o.hold()
			o.look()
		})
	}
	o.plan(w.Start.Add(oracleLook))
	return nil
}

func (o *oracle) plan(at time.Time) {
	o.world.Cloud.At(at, func(c *sim.Cloud) {
		if !o.calm.still(c) {
			o.look()
		}
		o.plan(at.Add(oracleLook))
	})
}

// hold suspends HealthCheck, or leaves it suspended.
func (o *oracle) hold() {
	for _, group := range o.world.Day.Groups {
		o.check(o.world.Cloud.SuspendProcesses(group, []string{sim.ProcessHealthCheck}))
	}
}

func (o *oracle) look() {
	cloud := o.world.Cloud
	o.calm.is = true
	for _, group := range o.world.Day.Groups {
		var restore, replace []string
		cloud.Look(group, func(v *sim.View) {
			truth, _ := cloud.Truth(v.ID)
			o.calm.is = o.calm.is && truth.Sound && v.Health == sim.Healthy
			switch {
			case v.Lifecycle == sim.Terminating:
			case truth.Sound && v.Health == sim.Unhealthy:
				restore = append(restore, v.ID)
			case !truth.Sound && v.Health == sim.Healthy && v.Lifecycle == sim.InService && (!o.waits || shows(v, cloud.Now())):
				replace = append(replace, v.ID)
			}
		})
		for _, id := range restore {
			o.check(cloud.SetInstanceHealth(id, sim.Healthy, false))
		}
		if len(replace) == 0 || !cloud.LaunchWouldServe(group) {
			continue
		}
		for _, id := range replace {
			o.check(cloud.SetInstanceHealth(id, sim.Unhealthy, false))
		}
	}
}

// shows says whether a member shows any sign of being broken.
func shows(v *sim.View, now time.Time) bool {
	return v.Target == sim.TargetUnhealthy || v.Target == sim.TargetUnused || failsItself(v.Failing) ||
		!v.BeatAt.IsZero() && now.Sub(v.BeatAt) >= missedBeats
}

// check keeps an error.
func (o *oracle) check(err error) { o.err = errors.Join(o.err, err) }
