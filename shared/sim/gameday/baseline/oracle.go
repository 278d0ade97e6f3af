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
	// protected are the members that scale-in does not take.
	protected map[string]bool
	err       error
}

// Oracle is the limit: nobody who acts by replacing members can do better.
//
// It is told what is really so. In every group of the day it suspends HealthCheck, and only that, so that Auto Scaling marks nobody of its
// own accord. A member that is truly broken it marks at the moment when it breaks, or when replacing it begins to help: when what is
// launched in its place would come to serve. Marks on members that are sound it takes back, and when somebody resumes HealthCheck it
// suspends it again. Members that serve are protected from scale-in unless more serve than desired, so that it waits for replacements that
// are under way. It holds no other process, launches nothing by itself and changes no size: scaling, refreshes and people have their way.
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
	o.world, o.calm.groups, o.protected = w, w.Day.Groups, map[string]bool{}
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
		var restore, replace, serve []string
		cloud.Look(group, func(v *sim.View) {
			truth, _ := cloud.Truth(v.ID)
			o.calm.is = o.calm.is && truth.Sound && v.Health == sim.Healthy
			if truth.Serves && v.Lifecycle == sim.InService {
				serve = append(serve, v.ID)
			}
			switch {
			case v.Lifecycle == sim.Terminating:
			case truth.Sound && v.Health == sim.Unhealthy:
				restore = append(restore, v.ID)
			case !truth.Sound && v.Health == sim.Healthy && v.Lifecycle == sim.InService && (!o.waits || shows(v, cloud.Now())):
				replace = append(replace, v.ID)
			}
		})
		o.protect(group, serve)
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

// protect leaves to scale-in as many of the members that serve as are more than desired, the oldest, and no other.
func (o *oracle) protect(group string, serve []string) {
	g, ok := o.world.Cloud.GroupBare(group)
	if !ok {
		o.check(&sim.NotFoundError{Kind: "group", Name: group})
		return
	}
	weight := 1
	if len(g.Members) > 0 {
		weight = max(1, g.Members[0].Weight)
	}
	surplus := len(serve) - g.Desired/weight
	for n, id := range serve {
		if want := n >= surplus; o.protected[id] != want {
			o.check(o.world.Cloud.SetProtection(id, want))
			o.protected[id] = want
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
