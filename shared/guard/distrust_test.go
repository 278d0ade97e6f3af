package guard_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

func TestAFailedReadMakesTheLookBlind(t *testing.T) {
	tests := map[string]func(*guard.Reads) *string{
		"group":         func(r *guard.Reads) *string { return &r.Group },
		"targets":       func(r *guard.Reads) *string { return &r.Targets },
		"heartbeats":    func(r *guard.Reads) *string { return &r.Heartbeats },
		"activities":    func(r *guard.Reads) *string { return &r.Activities },
		"instance tags": func(r *guard.Reads) *string { return &r.OptOuts },
		"state":         func(r *guard.Reads) *string { return &r.State },
		"queue":         func(r *guard.Reads) *string { return &r.Queue },
	}
	for name, field := range tests {
		t.Run(name, func(t *testing.T) {
			f := ready(8)
			*field(&f.In.Reads) = "throttled"
			v := f.Sweep()
			want(t, "mode", v.Mode, guard.Blind)
			want(t, "actions", actions(v), "")
			want(t, "pages", pages(v), "blind")
			want(t, "text", pageText(v, guard.PageBlind), "cannot trust what was read: "+name+": throttled; nothing is marked or released")
		})
	}
}

func TestAHoldGoesOutOnWhatCanBeRead(t *testing.T) {
	tests := map[string]func(*guardtest.Fleet){
		"without heartbeats": func(f *guardtest.Fleet) { f.In.Reads.Heartbeats = "refused" },
		"without activities": func(f *guardtest.Fleet) { f.In.Reads.Activities = "refused" },
		"without the state": func(f *guardtest.Fleet) {
			f.In.Reads.State, f.In.State = "refused", guard.State{}
		},
		"without the Region": func(f *guardtest.Fleet) { f.In.Reads.Region = "refused" },
		"in the first look":  func(f *guardtest.Fleet) { f.In.State = guard.State{} },
		"after a gap":        func(f *guardtest.Fleet) { f.In.State.LastSweep = guard.At(f.In.Now.Add(-time.Hour)) },
	}
	for name, lay := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			lay(f)
			f.Break(0, 1)
			want(t, "actions", actions(f.Sweep()), "suspend AZRebalance,HealthCheck,ReplaceUnhealthy")
		})
	}
}

func TestAGroupThatCannotBeReadKeepsItsMemory(t *testing.T) {
	f := ready(8)
	f.Sweep()
	before, members := f.In.State, f.In.Group
	f.In.Group = guard.Group{ARN: members.ARN, Name: members.Name, OptedIn: true}
	f.In.Reads.Group = "throttled"
	v := f.Sweep()
	same := func(what string, a, b any) {
		t.Helper()
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		want(t, what, string(x), string(y))
	}
	same("marks", f.In.State.Marks, before.Marks)
	same("members", f.In.State.Members, before.Members)
	same("rolling", f.In.State.Rolling, before.Rolling)
	want(t, "pages", pages(v), "blind")
	if v.Limits.InFlight != 1 {
		t.Errorf("%d in flight, want 1: what cannot be seen has not arrived", v.Limits.InFlight)
	}
	f.In.Reads.Group, f.In.Group = "", members
	f.Break(1)
	f.In.Policy.MarksPer10Minutes = 8
	f.Sweep()
	want(t, "a second broken member", fate(f.Sweep(), f.ID(1)), "in-flight=1/1")
}

func TestAReadThatFailsShrinksNoLimit(t *testing.T) {
	blindGroup := func(f *guardtest.Fleet) {
		f.In.Reads.Group, f.In.Group.Members, f.In.Group.Desired = "throttled", nil, 0
	}
	blindTargets := func(f *guardtest.Fleet) {
		f.In.Reads.Targets = "throttled"
		for i := range f.In.Group.Members {
			f.M(i).Targets = nil
		}
	}
	partial := func(f *guardtest.Fleet) { f.In.Reads.Targets = "admin: throttled" }
	for name, lay := range map[string]func(*guardtest.Fleet){"the group": blindGroup, "the targets": blindTargets, "one of two target groups": partial} {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(400) // onset from 4, rolling from 100, correlated from 100
			f.Aim(0, "unhealthy", "Target.Timeout")
			f.Aim(1, "unhealthy", "Target.Timeout")
			f.Aim(2, "unhealthy", "Target.Timeout")
			want(t, "with every read", causes(f.Sweep()), "")
			lay(f)
			v := f.Sweep()
			want(t, "without", causes(v), "")
			if v.Region.Eligible != 400 {
				t.Errorf("the Region hears of %d eligible members, want the 400 that there are", v.Region.Eligible)
			}
		})
	}
	f := guardtest.New(400)
	f.In.Policy.MaxInFlight, f.In.Policy.MarksPer10Minutes = 2, 2
	f.Sweep()
	blindGroup(f)
	want(t, "pages about ceilings of members that cannot be seen", pages(f.Sweep()), "blind")
}

func TestBlindLooksPauseAndThenVoidConfirmations(t *testing.T) {
	for blind, fates := range map[int]string{1: "mark", 3: "mark", 4: "confirming=1/2"} {
		f := ready(8)
		f.In.Reads.Activities = "throttled"
		f.Sweeps(blind)
		want(t, "while blind", fate(f.Verdict, f.ID(0)), "blind")
		f.In.Reads.Activities = ""
		want(t, "after blind looks", fate(f.Sweep(), f.ID(0)), fates)
	}
}

func TestABlindLookTakesBackNoBrokenness(t *testing.T) {
	f := calm(guardtest.New(8))
	f.M(0).OptedOut = true
	f.Sweep()
	quietFor(f, 0)
	f.Aim(0, "unhealthy", "Target.Timeout")
	f.Sweeps(15)
	since := f.Remember(0).BrokenSince
	quietFor(f, 1, 2, 3, 4, 5)
	want(t, "when most are silent", f.Sweep().Mode, guard.Blind)
	if f.Verdict.Members.Broken != 0 {
		t.Errorf("members %+v, want none broken on silence that proves nothing", f.Verdict.Members)
	}
	f.Heal(1, 2, 3, 4, 5)
	f.Sweep()
	if got := f.Remember(0).BrokenSince; got != since || got == 0 {
		t.Errorf("broken since %v, want %v as before", got, since)
	}
	f.Heal(0)
	f.Sweep()
	if got := f.Remember(0).BrokenSince; got != 0 {
		t.Errorf("broken since %v after it recovered", got)
	}
}

func TestBlindPageTurnsUrgent(t *testing.T) {
	f := guardtest.New(8)
	f.In.Reads.Heartbeats = "throttled"
	for look, told := range []string{"blind", "", "", "blind! again", ""} {
		want(t, "look "+string(rune('1'+look)), pages(f.Sweep()), told)
	}
}

func TestAnAlarmThatCannotBeRead(t *testing.T) {
	f := ready(8)
	depend(f, guard.AlarmUnread)
	for look, told := range []string{"", "", "", "blind/alarms!", ""} {
		v := f.Sweep()
		want(t, "look "+string(rune('1'+look)), pages(v), told)
		want(t, "mode", v.Mode, guard.Watching)
	}
	f = ready(8)
	depend(f, guard.AlarmMissing)
	for look, told := range []string{"config/db", "", "", "", "", ""} {
		want(t, "missing, look "+string(rune('1'+look)), pages(f.Sweep()), told)
	}
}

func TestAGroupThatIsNotOursIsLeftAlone(t *testing.T) {
	for name, lay := range map[string]func(*guardtest.Fleet){
		"without the tag":        func(f *guardtest.Fleet) { f.In.Group.OptedIn = false },
		"managed by an operator": func(f *guardtest.Fleet) { f.In.Group.Operator = "eks.amazonaws.com" },
	} {
		f := guardtest.New(4)
		lay(f)
		f.Break(0, 1, 2, 3)
		v := f.Sweep()
		want(t, name, actions(v)+pages(v)+causes(v), "")
		if len(v.Notes) != 1 || v.Mode != guard.Watching {
			t.Errorf("%s: notes %q, mode %s", name, v.Notes, v.Mode)
		}
		f.In.Policy.Mode = guard.ModeOff
		want(t, name+", mode off", f.Sweep().Mode, guard.Off)
	}
}
