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

// odd lays a state that no version of the guard need have written: any stage, any flag, records that match nothing.
func odd(f *guardtest.Fleet, r *rand.Rand) {
	some := func() bool { return r.IntN(2) == 0 }
	at := func() guard.Instant {
		if r.IntN(4) == 0 {
			return 0
		}
		return guard.At(f.In.Now.Add(time.Duration(r.IntN(200)-150) * time.Minute))
	}
	process := func() string {
		return []string{"HealthCheck", "ReplaceUnhealthy", "AZRebalance", "Launch"}[r.IntN(4)]
	}
	for range r.IntN(4) {
		f.Suspend(f.In.Now.Add(-time.Duration(r.IntN(120))*time.Minute), process())
	}
	held := func() guard.HeldProcess {
		p := guard.HeldProcess{Process: process(), IntentAt: at(), Resumed: []guard.Instant{0, at()}[r.IntN(2)]}
		if i := slices.IndexFunc(f.In.Group.Suspended, func(s guard.Suspension) bool { return s.Process == p.Process }); i >= 0 && some() {
			p.Reason = f.In.Group.Suspended[i].Reason
		} else if some() {
			p.Reason = "User suspended at 2026-03-01T00:00:00Z"
		}
		return p
	}
	s := &f.In.State
	if some() {
		s.Hold = &guard.Hold{
			ID: "h", Since: at(), Cause: []string{guard.CauseOnset, guard.CauseNotConverging, "", "elsewhere"}[r.IntN(4)], Sticky: some(), Observed: r.IntN(5) == 0, Stage: r.IntN(9) - 1,
			StageAt: at(), QuietSince: at(), Removed: r.IntN(3), Conflict: r.IntN(4) == 0, Forced: some(), Paced: some(), ReleaseBy: []string{"", "kim"}[r.IntN(2)],
		}
		for range r.IntN(5) {
			s.Hold.Ours = append(s.Hold.Ours, held())
		}
	}
	if some() {
		s.Paced = &guard.Paced{Since: at()}
		for range r.IntN(5) {
			s.Paced.Members = append(s.Paced.Members, f.ID(r.IntN(8))) // in no order, and twice
		}
		if p := held(); some() {
			s.Paced.Process = &p
		}
	}
	for i := range s.Members {
		m := &s.Members[i]
		m.BadAllHold, m.Bad, m.BadSince, m.RestoreTries = some(), some(), at(), r.IntN(7)
	}
	for i := range 8 {
		if f.M(i).Unhealthy = r.IntN(3) == 0; some() {
			f.Break(i)
		}
	}
}

func TestOddStatesResumeNothingOfOthersAndMarkNobodyWhileHeld(t *testing.T) {
	const first, states = 5000, 500
	t.Logf("seeds %d to %d", first, first+states-1)
	resumed := 0
	for seed := uint64(first); seed < first+states; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		f := guardtest.New(8)
		odd(f, r)
		for n := range 12 {
			if n == 2 && r.IntN(2) == 0 {
				force(f, "1")
			}
			f.In.State = guard.Prepare(f.In.State, f.In.Policy)
			mine := recordsOf(f)
			before, had := slices.Clone(f.In.Group.Suspended), f.In.State.Hold
			v := f.Sweep()
			for _, a := range v.Actions {
				if a.Kind == guard.ActMark && (had != nil || f.In.State.Hold != nil) {
					t.Fatalf("seed %d, look %d: %s is marked while held", seed, n, a.Member)
				}
				for _, s := range before {
					if a.Kind == guard.ActResume && a.Withheld == "" && slices.Contains(a.Processes, s.Process) {
						if resumed++; !mine(s) {
							t.Fatalf("seed %d, look %d: %+v is resumed, and is not in the records", seed, n, s)
						}
					}
				}
			}
		}
	}
	if resumed == 0 {
		t.Error("nothing was ever resumed")
	}
}

func TestOddStatesComeToAnEnd(t *testing.T) {
	const first, states = 8400, 200
	t.Logf("seeds %d to %d", first, first+states-1)
	for seed := uint64(first); seed < first+states; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		f := guardtest.New(8)
		odd(f, r)
		f.In.State = guard.Prepare(f.In.State, f.In.Policy)
		f.Sweeps(r.IntN(5))
		f.Heal(upTo(8)...)
		for i := range 8 {
			f.M(i).Unhealthy = false
		}
		f.Ask("1", guard.RequestRelease)
		f.In.Request.Force = r.IntN(2) == 0
		f.Sweeps(60)
		f.Ask("2", guard.RequestRelease) // what somebody else did may have voided the first
		f.Sweeps(60)                     // the odd times lie up to 50 minutes ahead
		open := func(key string) bool {
			return slices.ContainsFunc(f.In.State.Pages, func(p guard.PageState) bool { return p.Key == key && p.Open })
		}
		if s := f.In.State; s.Paced != nil || s.Hold != nil && !open(guard.PageSuspensionConflict) && !open(guard.PageResumeBlocked) {
			t.Fatalf("seed %d: an hour and more after all are well: hold %+v, paced %+v, %v", seed, s.Hold, s.Paced, f.Verdict.Explain())
		}
		for _, s := range f.In.Group.Suspended {
			if f.In.State.Hold == nil && !open(guard.PageForeignSuspension+" "+s.Process) {
				t.Fatalf("seed %d: %+v stays, without a record or a page", seed, s)
			}
		}
	}
}

// recordsOf says what the state has as the guard's own: the recorded text, or none yet and a time that fits.
func recordsOf(f *guardtest.Fleet) func(guard.Suspension) bool {
	var all []guard.HeldProcess
	if h := f.In.State.Hold; h != nil && !h.Observed {
		all = append(all, h.Ours...)
	}
	if p := f.In.State.Paced; p != nil && p.Process != nil {
		all = append(all, *p.Process)
	}
	return func(s guard.Suspension) bool {
		return slices.ContainsFunc(all, func(p guard.HeldProcess) bool {
			at, err := time.Parse("User suspended at "+time.RFC3339, s.Reason)
			late := at.Sub(p.IntentAt.Time())
			fits := p.Reason == "" && err == nil && late >= -5*time.Second && late <= 2*time.Minute
			return p.Process == s.Process && (p.Reason == s.Reason || fits)
		})
	}
}

func TestAMemberThatIsBadSinceNoTimeIsNotBadForLong(t *testing.T) {
	f := ailing(t)
	f.In.State.Hold.Paced = true
	for i := range 3 {
		m := f.Remember(i)
		m.BadSince, m.BadAllHold = 0, false
	}
	want(t, "what holds", causes(f.Sweep()), "correlated=3/2 target-group:web=3/2 rolling=3/3")
}

func TestAMemberThatWasWellIsNotBadForLongByATimeOfBefore(t *testing.T) {
	f := ailing(t)
	f.In.State.Hold.Paced = true
	f.Heal(0, 1, 2)
	f.Sweep()
	for i := 3; i < 6; i++ {
		f.Remember(i).BadSince = guard.At(f.In.Now.Add(-48 * time.Hour))
	}
	f.Break(3, 4, 5)
	want(t, "what holds", causes(f.Sweep()), "correlated=3/2 target-group:web=3/2 onset=3/3 rolling=6/3")
}

func TestWhatIsNoTimeOfThisFailureMakesNobodyBroken(t *testing.T) {
	for name, lay := range map[string]func(*guardtest.Fleet){
		"a time left from an earlier failure": func(f *guardtest.Fleet) { f.Remember(0).BadSince = guard.At(f.In.Now.Add(-24 * time.Hour)) },
		"bad, and since no time":              func(f *guardtest.Fleet) { f.Remember(0).Bad = true },
	} {
		f := calm(guardtest.New(20))
		f.Sweep()
		lay(f)
		f.Aim(0, "unhealthy", "Target.Timeout")
		f.Sweeps(3)
		want(t, name+", two minutes after it began", fate(f.Verdict, f.ID(0)), "signals-disagree=120/900")
	}
}

func TestARecordWithoutANameStandsForNoSuspension(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	f.Sweeps(2)
	want(t, "the stage before the resume", fmt.Sprint(hold(t, f).Stage), "2")
	f.In.State.Hold.Ours = append(f.In.State.Hold.Ours, guard.HeldProcess{})
	f.Resume("HealthCheck")
	if v := f.Sweep(); strings.Contains(actions(v), "resume") {
		t.Errorf("resumed although HealthCheck runs: %s", actions(v))
	}
}
