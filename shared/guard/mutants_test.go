package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// The tests of this file were written for changes that no other test had noticed (make mutate).

func TestFiftyDependenciesAreTheMost(t *testing.T) {
	for n, good := range map[int]bool{1: true, 50: true, 51: false} {
		var deps []string
		for i := range n {
			deps = append(deps, fmt.Sprintf(`{"alarm":"a%d","kind":"hard"}`, i))
		}
		r := one(`{"dependencies":[` + strings.Join(deps, ",") + `]}`)
		if (len(r.Problems) == 0) != good || good && len(r.Policy.Dependencies) != n {
			t.Errorf("%d dependencies: %d taken, problems %v", n, len(r.Policy.Dependencies), r.Problems)
		}
	}
}

func TestNumbersOutOfAnIntegersReachAreRefused(t *testing.T) {
	for _, value := range []string{"1e15", "1e16", "-1e16", "1e400", "1e308", "0.5", "1e-400"} {
		r := one(`{"marks_per_hour":` + value + `}`)
		if value == "1e-400" { // it is 0 to every reader of numbers
			want(t, value, rule(r), "")
			continue
		}
		if len(r.Problems) != 1 || r.Policy.MarksPerHour != 3 {
			t.Errorf("%s: problems %v, %d in force", value, r.Problems, r.Policy.MarksPerHour)
		}
	}
	for _, list := range []string{`"ReplaceUnhealthy"`, `null`, `{}`, `[1]`, `["ReplaceUnhealthy",1]`} {
		if r := one(`{"hold_processes":` + list + `}`); len(r.Problems) != 1 || len(r.Policy.HoldProcesses) != 3 {
			t.Errorf("%s: problems %v, %v in force", list, r.Problems, r.Policy.HoldProcesses)
		}
	}
}

func TestReservingWritesIntoNoStateThatSomebodyElseHolds(t *testing.T) {
	before := guard.State{Marks: append(make([]guard.Mark, 0, 8), guard.Mark{ID: "a", Member: "i-1"})}
	one := guard.Reserve(before, []guard.Action{{Kind: guard.ActMark, ID: "b", Member: "i-2"}}, guardtest.Start(), false)
	two := guard.Reserve(before, []guard.Action{{Kind: guard.ActMark, ID: "c", Member: "i-3"}}, guardtest.Start(), false)
	if len(before.Marks) != 1 || one.Marks[1].ID != "b" || two.Marks[1].ID != "c" {
		t.Errorf("before %v, one %v, two %v", before.Marks, one.Marks, two.Marks)
	}
}

func TestAPageOfAnotherSubjectIsStillToBeSent(t *testing.T) {
	db, auth := guard.Page{Key: guard.PageConfig, Subject: "db"}, guard.Page{Key: guard.PageConfig, Subject: "auth"}
	have := guard.Delivered(guard.State{Unsent: []guard.Page{db, auth}}, []guard.Page{db})
	if len(have.Unsent) != 1 || have.Unsent[0].Subject != "auth" {
		t.Errorf("still to be sent: %v", have.Unsent)
	}
}

func TestWhatObserveTellsIsWhatIsStillToBeSent(t *testing.T) {
	f := guardtest.New(8)
	f.Break(0, 1)
	in := f.In
	v := guard.Withhold(in, f.Sweep())
	if len(v.State.Unsent) == 0 || !strings.HasPrefix(v.State.Unsent[0].Text, "observe: ") {
		t.Errorf("to be sent again: %v", v.State.Unsent)
	}
}

func TestAReplacementOfAMarkThatWasOnlyObservedIsNone(t *testing.T) {
	f := calm(guardtest.New(20))
	f.Break(0)
	f.Sweep()
	v := f.Sweep()
	want(t, "fate", fate(v, f.ID(0)), "mark")
	// The same mark, but nobody made the call: a launch for another reason is no replacement of it.
	f.In.State = guard.Reserve(f.In.State, nil, f.In.Now, true)
	for i := range f.In.State.Marks {
		f.In.State.Marks[i].Observed = true
	}
	f.M(0).Unhealthy = false
	f.In.Group.Activities = append(f.In.Group.Activities, guard.Activity{ID: "l", At: f.In.Now.Add(time.Second), Kind: "launch", Status: "Successful", Member: f.ID(5)})
	f.Sweep()
	if m := f.In.State.Marks[0]; m.Replacement != "" || m.Served || m.Failed {
		t.Errorf("mark %+v, want no replacement", m)
	}
}

func TestAMarkWithoutAWeightCountsAsOne(t *testing.T) {
	for _, test := range []struct {
		weight, percent int
		fate            string
	}{{0, 5, "mark"}, {0, 4, "capacity=2/1"}, {1, 5, "mark"}, {1, 4, "capacity=2/1"}, {2, 7, "mark"}, {2, 5, "capacity=3/2"}} {
		f := calm(guardtest.New(45))
		p := &f.In.Policy
		p.MaxInFlight, p.MarksPer10Minutes, p.CapacityLossPercentMax = 2, 2, test.percent // two of 45 in flight
		f.In.State.Marks = []guard.Mark{{ID: "x", Member: "gone", At: guard.At(f.In.Now.Add(-20 * time.Minute)), By: "guard", Outcome: guard.OutcomeDone, Weight: test.weight}}
		f.In.Group.Members = f.In.Group.Members[:44] // the place of the one that has gone is empty
		f.Break(0)
		f.Sweep()
		want(t, fmt.Sprintf("a second one beside a weight of %d, when %d percent may be lost", test.weight, test.percent), fate(f.Sweep(), f.ID(0)), test.fate)
	}
}

// TestHealthCheckComesThreeQuartersOfAnIntervalBeforeTheRest looks early after HealthCheck was resumed: just before that time nothing more is
// resumed, at it the rest is.
func TestHealthCheckComesThreeQuartersOfAnIntervalBeforeTheRest(t *testing.T) {
	for after, calls := range map[time.Duration]string{44 * time.Second: "", 45 * time.Second: "resume AZRebalance,ReplaceUnhealthy"} {
		f := quieted(t)
		f.Sweep()
		want(t, "the first call", actions(f.Sweep()), "resume HealthCheck")
		want(t, fmt.Sprint("after ", after), actions(f.Step(after)), calls)
	}
}

// TestAMarkIsThereForItsOwnMember releases a group whose one marked member has taken the last slot of a limit itself.
func TestAMarkIsThereForItsOwnMember(t *testing.T) {
	for name, limit := range map[string]func(*guard.Policy) *int{
		"in flight":  func(p *guard.Policy) *int { return &p.MaxInFlight },
		"10 minutes": func(p *guard.Policy) *int { return &p.MarksPer10Minutes },
		"an hour":    func(p *guard.Policy) *int { return &p.MarksPerHour },
		"a day":      func(p *guard.Policy) *int { return &p.MarksPerDay },
		"the Region": func(p *guard.Policy) *int { return &p.RegionMarksPerHour },
	} {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(8))
			*limit(&f.In.Policy) = 1
			f.Break(0)
			f.Sweep()
			want(t, "the mark", actions(f.Sweep()), "mark "+f.ID(0))
			f.Ask("1", guard.RequestHold)
			f.Sweep()
			want(t, "held", f.Verdict.Mode, guard.Held)
			f.Ask("2", guard.RequestRelease)
			for range 6 {
				f.Sweep()
			}
			want(t, "pages", pageText(f.Verdict, guard.PageResumeBlocked), "")
			if f.In.State.Hold != nil {
				t.Errorf("still held: %s", strings.Join(f.Verdict.Explain(), "\n"))
			}
		})
	}
}

func TestTerminationsWhoseMemberAWSDoesNotNameAreCountedOneByOne(t *testing.T) {
	f := guardtest.New(8)
	for i := range 3 {
		f.In.Group.Activities = append(f.In.Group.Activities, guard.Activity{ID: fmt.Sprint("t", i), At: f.In.Now, Kind: "terminate", Status: "Successful", Cause: "a user health-check"})
	}
	if v := f.Sweep(); v.Limits.Hour != 3 {
		t.Errorf("%d marks in an hour, want 3: %+v", v.Limits.Hour, v.State.Marks)
	}
	want(t, "triggers", causes(f.Verdict), "rolling=3/3")
}

func TestABlindLookCallsNoReplacementFailed(t *testing.T) {
	for name, c := range map[string]struct {
		reads  guard.Reads
		failed bool
	}{"all is read": {guard.Reads{}, true}, "the tags of the instances are not": {guard.Reads{OptOuts: "throttled"}, false}} {
		f := calm(guardtest.New(20))
		f.In.Policy.BootGraceSeconds = 0
		f.Break(0)
		f.Sweeps(2)
		f.Replace(0)
		f.Sweep()
		i := len(f.In.State.Marks) - 1
		want(t, name+", the replacement", f.In.State.Marks[i].Replacement, "i-new-0001")
		f.In.State.Marks[i].Served = false
		f.Break(len(f.In.Group.Members) - 1)
		f.In.Reads = c.reads
		f.Sweep()
		if have := f.In.State.Marks[i].Failed; have != c.failed {
			t.Errorf("%s: failed %t, want %t", name, have, c.failed)
		}
	}
}

func TestAMemberThatDoesNotServeHasNoPartInWhatCouldNotBeRead(t *testing.T) {
	f := guardtest.New(8)
	f.M(0).Lifecycle = "Pending"
	f.M(1).Lifecycle = "Standby"
	f.M(2).Beat.Status = "draining"
	f.In.Reads.Targets = "throttled"
	for i := range f.In.Group.Members {
		f.M(i).Targets = nil
	}
	if v := f.Sweep(); v.Region.Eligible != 5 {
		t.Errorf("%d members told to the Region, want 5", v.Region.Eligible)
	}
}

func TestAWorkerIsBadWhateverCannotBeReadOfTargets(t *testing.T) {
	f := worker(8)
	quietFor(f, 0)
	f.In.Reads.Targets = "throttled"
	f.Sweep()
	if n := f.Remember(0); !n.Bad || n.BadSince != guard.At(f.In.Now) || f.Verdict.Members.Broken != 1 {
		t.Errorf("remembered %+v, members %+v", n, f.Verdict.Members)
	}
}

// TestOneSpellIsOneObservedMark observes with one look to confirm, so that the spell began in the look that marked.
func TestOneSpellIsOneObservedMark(t *testing.T) {
	f := calm(guardtest.New(8))
	f.In.Policy.ConfirmSweeps = 1
	f.Failing = true
	f.Break(0)
	v := f.Sweep()
	want(t, "the first look", fate(v, f.ID(0)), "mark")
	for i := range f.In.State.Marks {
		f.In.State.Marks[i].Observed, f.In.State.Marks[i].Outcome = true, guard.OutcomeDone
	}
	for i := range 30 {
		want(t, fmt.Sprint("look ", i), fate(f.Sweep(), f.ID(0)), "waiting")
	}
}

func TestAnOpenObservedMarkIsToldAsOne(t *testing.T) {
	f := calm(guardtest.New(8))
	f.Break(0)
	f.Sweeps(2)
	f.M(0).Unhealthy = false
	for i := range f.In.State.Marks {
		f.In.State.Marks[i].Observed = true
	}
	f.Heal(0)
	f.Sweep()
	f.Break(0) // another spell, while the slot of the first is not free yet
	f.Sweep()
	if d := deferral(f.Sweep(), f.ID(0)); d.Reason != guard.ReasonWaiting || !strings.HasPrefix(d.Text, "would have been marked at") {
		t.Errorf("deferred %+v", d)
	}
}

func TestAPauseChangesNoCountOfRestoresButOfThoseItKeepsBack(t *testing.T) {
	f := held(t)
	f.Resume("ReplaceUnhealthy") // somebody else; it is to be suspended once more
	f.In.State.Members[0].RestoreTries = 2
	in := f.In
	in.Now = in.Now.Add(guardtest.Interval)
	in.Policy.Mode = guard.ModeObserve
	v := guard.Decide(in)
	if len(v.Actions) == 0 || v.Actions[0].Kind != guard.ActSuspend {
		t.Fatalf("actions %v, want a suspension", v.Actions)
	}
	for _, m := range guard.Withhold(in, v).State.Members {
		if want := map[bool]int{true: 2}[m.ID == in.State.Members[0].ID]; m.RestoreTries != want {
			t.Errorf("%s: %d tries, want %d", m.ID, m.RestoreTries, want)
		}
	}
}

func TestNoticesOfAPauseAreKeptByTheirKeys(t *testing.T) {
	f := held(t)
	f.In.Group.Dependencies = []guard.DependencyReading{{
		Dependency:   guard.Dependency{Alarm: "db", Kind: guard.DependencySoft},
		AlarmReading: guard.AlarmReading{State: guard.AlarmRed, Since: f.In.Now.Add(-48 * time.Hour)},
	}}
	in := f.In
	in.Now = in.Now.Add(guardtest.Interval / 2)
	var keys []string
	for _, p := range guard.Withhold(in, guard.Decide(in)).State.Pages {
		keys = append(keys, p.Key)
	}
	want(t, "keys", strings.Join(keys, ", "), "held, paused-while-held, stuck-alarm db")
}

func TestAReasonWithoutATextIsExplainedWithoutAComma(t *testing.T) {
	v := guard.Verdict{Group: "g", Mode: guard.Watching, Deferred: []guard.Deferral{{Member: "i-1", Reason: guard.ReasonMode}}}
	want(t, "line", v.Explain()[1], "deferred i-1: mode")
}

func TestOnlyFailedLaunchesCountAsLaunchesThatFailed(t *testing.T) {
	f := calm(guardtest.New(20))
	for i := range 2 {
		f.In.Group.Activities = append(f.In.Group.Activities, guard.Activity{ID: fmt.Sprint(i), At: f.In.Now, Kind: "terminate", Status: "Failed", Member: "i-x"})
	}
	f.Break(0)
	f.Sweep()
	want(t, "terminations that failed", fate(f.Sweep(), f.ID(0)), "mark")
}

// TestASuspensionThatIsMissingIsBelievedHalfAnIntervalAfterTheIntent reads the group early: another run may have read it before the call.
func TestASuspensionThatIsMissingIsBelievedHalfAnIntervalAfterTheIntent(t *testing.T) {
	for after, told := range map[time.Duration]string{29 * time.Second: "", 30 * time.Second: "suspension-removed"} {
		f := held(t)
		f.Resume("AZRebalance")
		want(t, fmt.Sprint("after ", after), pages(f.Step(after)), told)
	}
}

func TestTheStrictestModeOfAllLayersIsInForce(t *testing.T) {
	for name, modes := range map[string][2]string{
		"off above observe": {guard.ModeObserve, guard.ModeOff}, "off below observe": {guard.ModeOff, guard.ModeObserve},
		"off above act": {guard.ModeAct, guard.ModeOff}, "observe above act": {guard.ModeAct, guard.ModeObserve},
	} {
		strict := guard.ModeOff
		if name == "observe above act" {
			strict = guard.ModeObserve
		}
		// Both layers are invalid, so that only the modes in them count.
		r := guard.Resolve([]guard.Layer{
			{Name: guard.LayerDefaults, Raw: []byte(`{"typo":1,"mode":"` + modes[0] + `"}`)}, {Name: operatorLayer, Raw: []byte(`{"typo":1,"mode":"` + modes[1] + `"}`)},
		}, guard.Switch{Value: guard.ModeAct, Found: true})
		want(t, name, r.Policy.Mode, strict)
	}
}

func TestSettlingOneMarkOfTheRegionLeavesTheOthers(t *testing.T) {
	r := guard.ReserveRegion(guard.RegionState{}, "g", []guard.Action{{ID: "a"}, {ID: "b"}}, guardtest.Start())
	later := guardtest.Start().Add(time.Minute)
	r = guard.SettleRegion(r, "g", "b", later)
	for _, m := range r.Marks {
		want := guardtest.Start()
		if m.ID == "g/b" {
			want = later
		}
		if m.At != guard.At(want) {
			t.Errorf("%s is from %s, want %s", m.ID, m.At.Time(), want)
		}
	}
}

func TestAMemberInItsFirstGraceDoesNotDisagree(t *testing.T) {
	f := guardtest.New(8)
	f.Replace(0)
	i := len(f.In.Group.Members) - 1
	f.M(i).Beat.Status = "failing"
	want(t, "in its grace", pages(f.Sweep()), "")
	f.M(1).Beat.Status = "failing"
	want(t, "one that serves", pages(f.Sweep()), guard.PageSignalsDisagree)
}

func TestOddClocksAreNamedInTheOrderOfTheirMembers(t *testing.T) {
	f := guardtest.New(8)
	for i, by := range map[int]time.Duration{0: -5 * time.Minute, 1: 5 * time.Minute} {
		f.Mute[f.ID(i)] = true
		f.M(i).Beat.At, f.M(i).Beat.Seq = f.In.Now.Add(guardtest.Interval+by), f.M(i).Beat.Seq+100
	}
	if text := pageText(f.Sweep(), guard.PageClockSkew); !strings.HasSuffix(text, f.ID(0)+", "+f.ID(1)) {
		t.Errorf("the notice says %q", text)
	}
}

func TestARefusalForAgeOfAMemberThatIsForgottenSparesNobodyElse(t *testing.T) {
	s := guard.State{Members: []guard.MemberState{{ID: "i-1"}, {ID: "i-3"}}, Marks: []guard.Mark{{ID: "m", Member: "i-2"}, {ID: "n", Member: "i-3"}}}
	s = guard.GiveBack(s, "m", guardtest.Start())
	for _, m := range s.Members {
		if m.NoMarkBefore != 0 {
			t.Errorf("%s is spared until %s", m.ID, m.NoMarkBefore.Time())
		}
	}
	s = guard.GiveBack(s, "n", guardtest.Start())
	if s.Members[1].NoMarkBefore == 0 || len(s.Marks) != 0 {
		t.Errorf("its own member: %+v", s)
	}
}

func TestAPacedExitWaitsForOneReplacementToo(t *testing.T) {
	for name, c := range map[string]struct {
		gone  bool
		calls string
	}{"one is in flight": {true, ""}, "none is": {false, "resume HealthCheck"}} {
		f := guardtest.New(8)
		f.Suspend(f.In.Now, "HealthCheck")
		f.In.State.Paced = &guard.Paced{Since: guard.At(f.In.Now), Process: &guard.HeldProcess{Process: "HealthCheck", IntentAt: guard.At(f.In.Now), Reason: f.In.Group.Suspended[0].Reason}}
		if c.gone {
			f.In.State.Marks = []guard.Mark{{ID: "x", Member: "gone", At: guard.At(f.In.Now), By: "guard", Outcome: guard.OutcomeDone, Weight: 1}}
			f.In.Group.Members = f.In.Group.Members[:7]
		}
		want(t, name, actions(f.Sweep()), c.calls)
	}
}

func TestACallThatIsKeptBackIsExplainedAsOne(t *testing.T) {
	v := guard.Verdict{Group: "g", Mode: guard.Held, Actions: []guard.Action{
		{Kind: guard.ActMark, Member: "i-1", Withheld: "mode"}, {Kind: guard.ActResume, Processes: []string{"HealthCheck", "AZRebalance"}},
	}}
	want(t, "lines", strings.Join(v.Explain()[1:], " | "), "would mark i-1 (mode) | resume HealthCheck, AZRebalance")
}
