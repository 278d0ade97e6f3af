package baseline

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Naive is the loop that people write first: once a minute, every machine that is unwell is set Unhealthy.
//
// Auto Scaling replaces a member that was set Unhealthy at once and paces nothing. Source: the user guide page on health checks; that
// such loops are what is run: sample functions that answer an alarm with SetInstanceHealth. The grace period is respected, as
// it is by default (ShouldRespectGracePeriod, API reference). A minute, and a minute of silence, are chosen here.
type Naive struct{}

// Decide replaces everything that is unwell.
func (Naive) Decide(o Observation) Action {
	var a Action
	for _, m := range o.Machines {
		if m.Bad() && !m.Marked && !m.Leaving {
			a.Replace = append(a.Replace, m.ID)
		}
	}
	return a
}

// Guardian puts the rule on watch.
func (n Naive) Guardian() gameday.Guardian {
	return &watch{name: "naive", period: time.Minute, silence: time.Minute, respectGrace: true, decide: n.Decide}
}
