package guardtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// TargetGroup is the target group that every member of a new fleet is registered in.
const TargetGroup = "web"

// Interval is the time between two sweeps of a fleet.
const Interval = time.Minute

// Start is the moment of a new fleet; it is a whole second in UTC.
func Start() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// Fleet is one group with what earlier looks left. Tests change In between two looks as they like.
type Fleet struct {
	// In is the input of the next look.
	In guard.Input
	// Verdict is that of the last look.
	Verdict guard.Verdict
	// Mute are the members whose beats stand still.
	Mute map[string]bool
	// Failing says that AWS refuses every call: verdicts are recorded and nothing is carried out.
	Failing bool

	seq      int64
	launched int
}

// New gives a group of n members that serve and beat, in three zones, looked at for an hour, with the built-in policy.
func New(n int) *Fleet {
	f := &Fleet{Mute: map[string]bool{}, seq: 1}
	f.In = guard.Input{
		Now: Start().Add(-time.Hour), SweepInterval: Interval, Policy: guard.Defaults(),
		Group: guard.Group{
			ARN: "arn:aws:autoscaling:eu-west-1:111122223333:autoScalingGroup:0:autoScalingGroupName/shop", Name: "shop", OptedIn: true,
			Desired: n, Min: n, Max: 2 * n, HealthCheckTypes: []string{"EC2"}, TargetGroups: []guard.TargetGroup{{Name: TargetGroup, InUse: true}},
		},
	}
	for i := range n {
		f.In.Group.Members = append(f.In.Group.Members, f.member(fmt.Sprintf("i-%05d", i), string(rune('a'+i%3))))
	}
	f.Verdict = guard.Decide(f.In)
	f.In.State = f.Verdict.State
	f.In.Now = Start()
	f.In.State.LastSweep = guard.At(Start().Add(-Interval))
	return f
}

func (f *Fleet) member(id, zone string) guard.Member {
	return guard.Member{
		ID: id, Lifecycle: "InService", Zone: "eu-west-1" + zone, LaunchTemplate: "1", InstanceType: "m7g.large", Weight: 1,
		Targets: []guard.Target{{Group: TargetGroup, Port: 80, State: "healthy"}},
		Beat:    guard.Beat{Found: true, At: f.In.Now, Seq: f.seq, Boot: "boot-1", Status: "ok", Agent: "1.0.0"},
	}
}

// M is the i-th member, counted from 0.
func (f *Fleet) M(i int) *guard.Member { return &f.In.Group.Members[i] }

// ID is the name of the i-th member.
func (f *Fleet) ID(i int) string { return f.M(i).ID }

// Break makes members fail for both witnesses: the next look finds them broken.
func (f *Fleet) Break(members ...int) {
	for _, i := range members {
		f.Aim(i, "unhealthy", "Target.Timeout")
		f.M(i).Beat.Status, f.M(i).Beat.Failing = "failing", []string{"disk"}
	}
}

// Heal makes members well for both witnesses; what AWS calls them stays.
func (f *Fleet) Heal(members ...int) {
	for _, i := range members {
		f.Aim(i, "healthy", "")
		f.M(i).Beat.Status, f.M(i).Beat.Failing = "ok", nil
		delete(f.Mute, f.ID(i))
	}
}

// Aim sets the state and reason of every target of a member.
func (f *Fleet) Aim(i int, state, reason string) {
	for t := range f.M(i).Targets {
		f.M(i).Targets[t].State, f.M(i).Targets[t].Reason = state, reason
	}
}

// Silence stops the beats of members: their rows stay as they are.
func (f *Fleet) Silence(members ...int) {
	for _, i := range members {
		f.Mute[f.ID(i)] = true
	}
}

// Remember gives what the state holds of the i-th member; it panics if the state does not know the member.
func (f *Fleet) Remember(i int) *guard.MemberState {
	at := slices.IndexFunc(f.In.State.Members, func(m guard.MemberState) bool { return m.ID == f.ID(i) })
	return &f.In.State.Members[at]
}

// Replace lets AWS replace a member that a health check condemned: a termination, a launch, and a new member in service.
// It returns the name of the new one, which is the last of the members then.
func (f *Fleet) Replace(i int) string {
	f.launched++
	old := *f.M(i)
	id := fmt.Sprintf("i-new-%04d", f.launched)
	f.In.Group.Activities = append(f.In.Group.Activities,
		guard.Activity{ID: "end-" + old.ID, At: f.In.Now, Kind: "terminate", Status: "Successful", Member: old.ID, Cause: "an instance was taken out of service in response to a user health-check."},
		guard.Activity{ID: "new-" + id, At: f.In.Now, Kind: "launch", Status: "Successful", Member: id})
	f.In.Group.Members = slices.Delete(f.In.Group.Members, i, i+1)
	f.In.Group.Members = append(f.In.Group.Members, f.member(id, "a"))
	return id
}

// Sweep is the next scheduled look.
func (f *Fleet) Sweep() guard.Verdict { return f.Step(Interval) }

// Sweeps looks n times and returns the last verdict.
func (f *Fleet) Sweeps(n int) guard.Verdict {
	for range n {
		f.Sweep()
	}
	return f.Verdict
}

// Step moves the clock, lets every member beat that is not mute, looks, and carries out the verdict.
func (f *Fleet) Step(d time.Duration) guard.Verdict {
	f.In.Now = f.In.Now.Add(d)
	f.seq++
	for i := range f.In.Group.Members {
		if b := &f.M(i).Beat; b.Found && !f.Mute[f.ID(i)] {
			b.At, b.Seq = f.In.Now, f.seq
		}
	}
	return f.Look()
}

// Look decides now, without moving the clock or any beat, and carries out the verdict.
func (f *Fleet) Look() guard.Verdict {
	v := guard.Decide(f.In)
	f.Verdict = v
	now, marks := f.In.Now, v.Marks()
	region, _ := guard.MergeRegion(f.In.Region, v.Region, now)
	f.In.Region = guard.ReserveRegion(region, f.In.Group.ARN, marks, now)
	f.In.State = guard.Delivered(guard.Reserve(v.State, marks, now, false), v.Pages)
	if !f.Failing {
		for _, a := range v.Actions {
			f.carryOut(a)
		}
		f.In.State = guard.RecordSuspended(f.In.State, f.In.Group.Suspended)
	}
	return v
}

func (f *Fleet) carryOut(a guard.Action) {
	if a.Withheld != "" {
		return
	}
	switch a.Kind {
	case guard.ActSuspend:
		f.Suspend(f.In.Now, a.Processes...)
	case guard.ActResume:
		f.Resume(a.Processes...)
	default:
		i := slices.IndexFunc(f.In.Group.Members, func(m guard.Member) bool { return m.ID == a.Member })
		f.M(i).Unhealthy = a.Kind == guard.ActMark
		if a.Kind == guard.ActMark {
			f.In.State = guard.Settle(f.In.State, a.ID, guard.OutcomeDone, f.In.Now)
		}
	}
}

// Suspend suspends processes as AWS does it: one that is suspended already keeps its reason.
func (f *Fleet) Suspend(at time.Time, processes ...string) {
	for _, p := range processes {
		if !slices.ContainsFunc(f.In.Group.Suspended, func(s guard.Suspension) bool { return s.Process == p }) {
			f.In.Group.Suspended = append(slices.Clone(f.In.Group.Suspended), guard.Suspension{Process: p, Reason: "User suspended at " + at.Format(time.RFC3339)})
		}
	}
}

// Resume resumes processes as AWS does it.
func (f *Fleet) Resume(processes ...string) {
	f.In.Group.Suspended = slices.DeleteFunc(slices.Clone(f.In.Group.Suspended), func(s guard.Suspension) bool { return slices.Contains(processes, s.Process) })
}

// Suspended names the suspended processes, sorted.
func (f *Fleet) Suspended() []string {
	var out []string
	for _, s := range f.In.Group.Suspended {
		out = append(out, s.Process)
	}
	slices.Sort(out)
	return out
}

// Ask puts an operator's request into the next look.
func (f *Fleet) Ask(id, kind string) {
	f.In.Request = guard.Request{ID: id, Kind: kind, By: "an operator", Reason: "a test", At: f.In.Now}
}
