package guard_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// What may happen to a walk. Every one of them takes a member that it may use or not.

func (w *walk) fails(i int) {
	switch w.r.IntN(6) {
	case 0, 1:
		w.Break(i)
	case 2:
		for j := range w.r.IntN(len(w.In.Group.Members)) + 1 {
			w.Break(j)
		}
	case 3:
		w.Aim(i, "unhealthy", pick(w.r, "Target.Timeout", "Target.ResponseCodeMismatch", "Elb.InternalError"))
	case 4:
		w.Silence(i)
	case 5:
		w.Aim(i, "unhealthy", "Target.FailedHealthChecks")
		w.Silence(i)
	}
}

func (w *walk) recovers(i int) {
	if w.r.IntN(2) == 0 {
		w.Heal(i)
		return
	}
	for j := range w.In.Group.Members {
		w.Heal(j)
		w.M(j).Unhealthy = w.M(j).Unhealthy && w.r.IntN(2) == 0
		w.M(j).Lifecycle = "InService"
	}
	w.In.Reads = guard.Reads{}
}

func (w *walk) beats(i int) {
	b := &w.M(i).Beat
	switch w.r.IntN(9) {
	case 0:
		b.Status, b.Failing = "failing", pick(w.r, nil, []string{"dep:db"}, []string{"disk", "dep:db"})
	case 1:
		b.Status = "draining"
	case 2:
		b.Status = pick(w.r, "odd", "ok", "ok")
	case 3:
		b.Unreadable, b.Detail = !b.Unreadable, "status is odd"
	case 4:
		b.Found = !b.Found
	case 5:
		b.Boot, b.Agent = fmt.Sprint("boot-", w.r.IntN(3)), pick(w.r, "1.0.0", "1.1.0")
	case 6: // an odd clock, from here on
		w.Mute[w.ID(i)] = true
		b.At, b.Seq = w.In.Now.Add(pick(w.r, 2*time.Minute, -2*time.Minute, 10*time.Minute, -5*time.Minute, time.Minute)), b.Seq+1
	case 7:
		for j := range w.In.Group.Members {
			w.Silence(j)
		}
	case 8:
		clear(w.Mute)
	}
}

func (w *walk) targets(i int) {
	m := w.M(i)
	switch w.r.IntN(7) {
	case 0:
		w.Aim(i, pick(w.r, "initial", "draining", "unused", "unavailable", "unhealthy.draining"), pick(w.r, "", "Target.NotRegistered", "Target.InvalidState"))
	case 1:
		if len(m.Targets) < 4 {
			m.Targets = append(slices.Clone(m.Targets), guard.Target{Group: pick(w.r, "admin", guardtest.TargetGroup), Port: 8080, State: pick(w.r, "healthy", "unhealthy", "initial"), Reason: "Target.Timeout"})
		}
	case 2:
		m.Targets = slices.Clone(m.Targets)
		for t := range m.Targets {
			m.Targets[t].Anomalous = w.r.IntN(2) == 0
		}
	case 3:
		m.Targets = slices.Clone(m.Targets)
		for t := range m.Targets {
			m.Targets[t].Shifted = w.r.IntN(3) == 0
		}
	case 4:
		m.Targets = nil
	case 5:
		m.Targets = []guard.Target{{Group: guardtest.TargetGroup, Port: 80, State: "healthy"}}
	case 6:
		w.In.Group.ForeignTargets = pick(w.r, nil, []guard.ForeignTarget{{Group: guardtest.TargetGroup, Target: "i-other", State: "unhealthy", Reason: "Target.Timeout"}})
	}
}

func (w *walk) lifecycle(i int) {
	m := w.M(i)
	switch w.r.IntN(6) {
	case 5:
		m.Weight = w.r.IntN(4)
	case 0, 1:
		m.Lifecycle = pick(w.r, "Pending", "Pending:Wait", "InService", "InService", "Standby", "Terminating", "Terminating:Wait")
	case 2:
		m.Since = pick(w.r, time.Time{}, w.In.Now, w.In.Now.Add(-5*time.Minute))
	case 3:
		m.LaunchTemplate, m.InstanceType, m.Zone = pick(w.r, "1", "2"), pick(w.r, "m7g.large", "c7g.large"), pick(w.r, "eu-west-1a", "eu-west-1b")
	case 4:
		g := &w.In.Group
		slices.Reverse(g.Members) // readers give them in any order
		if len(g.Members) > 1 {
			g.Members = slices.Delete(slices.Clone(g.Members), i, i+1)
		}
	}
}

// aws does what AWS does: it calls members Unhealthy, and replaces them unless that is suspended.
func (w *walk) aws(i int) {
	if w.r.IntN(3) == 0 && !slices.Contains(w.Suspended(), "HealthCheck") {
		w.M(i).Unhealthy = true
	}
	if slices.Contains(w.Suspended(), "ReplaceUnhealthy") {
		return
	}
	for i := range w.In.Group.Members {
		if w.M(i).Unhealthy {
			w.Replace(i)
			if w.r.IntN(3) == 0 { // the new one does not come to serve
				w.Break(len(w.In.Group.Members) - 1)
			}
			return
		}
	}
}

func (w *walk) activities(i int) {
	g := &w.In.Group
	a := guard.Activity{ID: fmt.Sprint("activity-", len(g.Activities), w.r.IntN(2)), At: w.In.Now.Add(-pick(w.r, 0, time.Minute, 10*time.Minute, 30*time.Minute, 25*time.Hour))}
	a.Kind, a.Status = pick(w.r, "launch", "launch", "terminate"), pick(w.r, "Failed", "Failed", "Successful", "InProgress", "Cancelled")
	a.Member = pick(w.r, "", w.ID(i), "i-gone", "i-new-0001")
	a.Cause = pick(w.r, "", "an instance was taken out of service in response to an ELB system health check failure.", "a user health-check", "a scale-in", "EC2 instance status check failure",
		"EBS volume health check failure", "application status check")
	g.Activities = append(slices.Clone(g.Activities), a)
	if w.r.IntN(4) == 0 {
		g.Activities = nil
	}
}

func (w *walk) owners(i int) {
	m, g := w.M(i), &w.In.Group
	switch w.r.IntN(7) {
	case 0:
		m.OptedOut = !m.OptedOut
	case 1:
		m.Protected = !m.Protected
	case 2:
		g.Desired = pick(w.r, len(g.Members), len(g.Members)+1, max(0, len(g.Members)-1))
	case 3:
		g.Refresh = pick(w.r, "", "", "InProgress", "Baking", "Successful", "Pending", "RollbackInProgress", "Cancelling")
	case 4:
		g.Grace = pick(w.r, 0, 2*time.Minute, 10*time.Minute)
	case 5:
		g.OptedIn, g.Operator = w.r.IntN(3) > 0, pick(w.r, "", "", "", "ecs.amazonaws.com")
	case 6:
		g.OptedIn, g.Operator = true, ""
	}
}

func (w *walk) alarms(int) {
	g := &w.In.Group
	g.Queue = pick(w.r, nil, &guard.QueueReading{Depth: int64(pick(w.r, 99, 100, 5000)), Trend: pick(w.r, "rising", "flat", "falling")})
	g.Dependencies = nil
	for _, name := range []string{"db", "auth"} {
		if w.r.IntN(2) == 0 {
			continue
		}
		g.Dependencies = append(g.Dependencies, guard.DependencyReading{
			Dependency: guard.Dependency{Alarm: name, Kind: pick(w.r, guard.DependencyHard, guard.DependencyHard, guard.DependencySoft), Missing: pick(w.r, guard.MissingUnknown, guard.MissingOK)},
			AlarmReading: guard.AlarmReading{
				State: pick(w.r, guard.AlarmOK, guard.AlarmOK, guard.AlarmOK, guard.AlarmRed, guard.AlarmNoData, guard.AlarmMissing, guard.AlarmUnread),
				Since: pick(w.r, time.Time{}, w.In.Now.Add(-24*time.Hour), w.In.Now.Add(-time.Minute)), Detail: pick(w.r, "", "throttled"),
			},
		})
	}
}

func (w *walk) people(int) {
	process := pick(w.r, "ReplaceUnhealthy", "HealthCheck", "AZRebalance", "Launch", "Terminate", "AddToLoadBalancer")
	switch w.r.IntN(7) {
	case 0:
		w.Resume(process)
	case 1:
		w.Suspend(w.In.Now.Add(-pick(w.r, 0, 3*time.Second, time.Hour)), process)
	case 2, 3, 4:
		w.requests++
		w.Ask(fmt.Sprint("r-", w.requests), pick(w.r, guard.RequestHold, guard.RequestRelease, guard.RequestRelease))
		w.In.Request.Force = w.In.Request.Kind == guard.RequestRelease && w.requests%2 == 0
		w.In.Request.At = w.In.Now.Add(-pick(w.r, 0, 0, 5*time.Minute, time.Hour))
	case 5:
		w.Resume("ReplaceUnhealthy", "HealthCheck", "AZRebalance", "Launch", "Terminate", "AddToLoadBalancer")
	case 6:
		w.Failing = !w.Failing
	}
}

func (w *walk) reads(int) {
	r := &w.In.Reads
	*r = guard.Reads{}
	if w.r.IntN(3) > 0 {
		*pick(w.r, &r.Group, &r.Targets, &r.Heartbeats, &r.Activities, &r.OptOuts, &r.State, &r.Region, &r.Queue) = "throttled"
	}
}

func (w *walk) settings(int) {
	p := &w.In.Policy
	switch w.r.IntN(8) {
	case 0, 1:
		p.Mode = pick(w.r, guard.ModeAct, guard.ModeAct, guard.ModeAct, guard.ModeOff, guard.ModeObserve)
	case 2:
		p.Action = pick(w.r, guard.ActionReplace, guard.ActionReplace, guard.ActionHoldOnly, guard.ActionAlertOnly)
	case 3:
		p.HoldProcesses = pick(w.r, []string{"ReplaceUnhealthy"}, []string{"ReplaceUnhealthy", "HealthCheck", "AZRebalance"})
	case 4:
		p.CapacityLossPercentMax, p.MinHealthyPercent = pick(w.r, 10, 25, 50, 100), pick(w.r, 0, 50, 80, 100)
	case 5:
		p.RespectScaleInProtection = !p.RespectScaleInProtection
	case 6:
		w.In.Problems = pick(w.r, nil, []guard.Problem{{Layer: "/holdfast/defaults", Key: "mode", Rule: "want act, observe or off"}}, []guard.Problem{{Layer: "/holdfast/groups/shop", Rule: "no JSON"}})
	case 7:
		p.OnsetCount, p.RollingPercent, p.ZonePercent = pick(w.r, 2, 3, 100), pick(w.r, 25, 100), pick(w.r, 50, 100)
	}
}

// elsewhere is what other groups do, and states that are lost.
func (w *walk) elsewhere(int) {
	r := &w.In.Region
	switch w.r.IntN(5) {
	case 0:
		for i := range 1 + w.r.IntN(6) {
			r.Onsets = append(slices.Clone(r.Onsets), guard.RegionOnset{Group: pick(w.r, "a", "b"), Member: fmt.Sprint("x", i), At: guard.At(w.In.Now.Add(-pick(w.r, 0, time.Minute, 5*time.Minute)))})
		}
	case 1:
		for i := range 1 + w.r.IntN(6) {
			r.Marks = append(slices.Clone(r.Marks), guard.RegionMark{ID: fmt.Sprint("a/", i, "@", w.r.IntN(1000)), At: guard.At(w.In.Now.Add(-pick(w.r, 0, 30*time.Minute, time.Hour)))})
		}
	case 2:
		*r = guard.RegionState{Eligible: map[string]int{"a": pick(w.r, 3, 30, 300)}}
	case 3:
		if w.r.IntN(6) == 0 {
			w.In.State = guard.State{}
		}
	case 4:
		w.In.State = guard.Reserve(w.In.State, w.Verdict.Marks(), w.In.Now, w.r.IntN(2) == 0)
	}
}
