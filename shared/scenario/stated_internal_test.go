package scenario

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
)

// staged is the world of a file with the changes of its first step applied, at that step's time.
func staged(t *testing.T, text string) *world {
	t.Helper()
	s, err := Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{now: Start().Add(s.Steps[0].Times[0]), ledger: memledger.New(), mode: guard.ModeAct}
	for i, g := range s.Groups {
		w.places = append(w.places, &place{stated: newStated(g, i)})
	}
	if err := w.seed(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for i, p := range w.places {
		p.change = s.Steps[0].Changes[i]
		p.apply(p.change.Statement, w.now)
	}
	return w
}

func TestANamedPortTakesThePlaceOfTheUnnamedOne(t *testing.T) {
	w := staged(t, "name: ports\ngroup: {name: web}\ntarget_groups: {web: {}, admin: {}}\nfleet: {i1: \"initial web:8080=healthy web:8081=healthy\"}\n"+
		"steps: [{at: 0s, fleet: {i1: \"web:8081=unhealthy[Target.Timeout] admin=draining\"}}]\n")
	g, _ := w.Details(t.Context(), w.places[0].read())
	want := []guard.Target{
		{Group: "admin", Port: 80, State: "draining", Reason: "Target.DeregistrationInProgress"},
		{Group: "web", Port: 8080, State: "healthy"},
		{Group: "web", Port: 8081, State: "unhealthy", Reason: "Target.Timeout"},
	}
	if have := g.Members[0].Targets; !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v\nwant %+v", have, want)
	}
}

func TestAnAlarmEntersItsStateWithTheStepThatStatesIt(t *testing.T) {
	for change, want := range map[string]time.Duration{
		"ALARM":                      0,
		"OK":                         -time.Hour - time.Minute,
		"{state: ALARM, since: -5m}": -5 * time.Minute,
	} {
		w := staged(t, "name: alarms\ngroup: {name: web}\ndependencies: {db: {state: OK, since: -1h}}\nsteps: [{at: 60s, dependencies: {db: "+change+"}}]\n")
		if have := w.Alarms(t.Context(), []string{"db"})["db"].Since.Sub(w.now); have != want {
			t.Errorf("%s: since %s, want %s", change, have, want)
		}
	}
}

func TestAnAlarmThatNoGroupHasIsMissing(t *testing.T) {
	w := staged(t, "name: alarms\ngroup: {name: web}\nsteps: [{at: 0s}]\n")
	if have := w.Alarms(t.Context(), []string{"other"})["other"].State; have != guard.AlarmMissing {
		t.Errorf("state %q, want %q", have, guard.AlarmMissing)
	}
}

func TestSinceWhenAMemberIsInItsState(t *testing.T) {
	for _, tc := range []struct {
		name, head, row string
		// want is the age at the step, -1 when the file says nothing.
		want time.Duration
	}{
		{"the head says nothing", "healthy", "healthy", -1},
		{"the head says how old, and it ages", "entered=10m", "healthy", 11 * time.Minute},
		{"a step counts from itself", "entered=10m", "entered=5s", 5 * time.Second},
		{"a change of state ends the old age", "Standby entered=10m", "InService", -1},
		{"Standby has none", "entered=10m", "Standby", -1},
		{"a change of state can say a new one", "Pending pending=20m", "InService entered=5s", 5 * time.Second},
		{"Pending has its own", "Pending pending=20m entered=1h", "healthy", 21 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := staged(t, "name: since\ngroup: {name: web}\nfleet: {i1: \""+tc.head+"\"}\nsteps: [{at: 60s, fleet: {i1: \""+tc.row+"\"}}]\n")
			since := w.places[0].read().Members[0].Since
			if tc.want < 0 != since.IsZero() || (tc.want >= 0 && w.now.Sub(since) != tc.want) {
				t.Errorf("since %v, want an age of %s", since, tc.want)
			}
		})
	}
}

func TestAMemberThatComesByAStepIsNoNewcomer(t *testing.T) {
	w := staged(t, "name: since\ngroup: {name: web}\nfleet: {i1: healthy}\nsteps: [{at: 0s, fleet: {i2: healthy, i3: Pending}}]\n")
	ms := w.places[0].read().Members
	if have := w.now.Sub(ms[1].Since); have != settledAge {
		t.Errorf("i2 has an age of %s, want %s", have, settledAge)
	}
	if !ms[2].Since.IsZero() {
		t.Errorf("i3 is Pending since %v, want the guard's own first sight", ms[2].Since)
	}
}

func TestALivingBeatAdvancesAndASilentOneDoesNot(t *testing.T) {
	w := staged(t, "name: beats\ngroup: {name: web}\nfleet: {i1: beat=15s/ok, i2: last=15s/failing:disk+dep:db}\nsteps: [{at: 0s}]\n")
	alive, silent := w.places[0].find("i1"), w.places[0].find("i2")
	before, later := w.now, w.now.Add(time.Minute)
	was := alive.beatAt(before)
	alive.beat.Age = 200 * time.Second // a clock that falls back
	if now := alive.beatAt(later); now.Seq <= was.Seq || now.Boot != was.Boot || later.Sub(now.At) != 200*time.Second {
		t.Errorf("have %+v after %+v, want a higher seq of the same boot, 200 s old", now, was)
	}
	if first, second := silent.beatAt(before), silent.beatAt(later); !reflect.DeepEqual(first, second) || before.Sub(first.At) != 15*time.Second {
		t.Errorf("have %+v then %+v, want the same beat, 15 s old at first", first, second)
	}
	if have := silent.beatAt(before); have.Status != "failing" || !slices.Equal(have.Failing, []string{"disk", "dep:db"}) {
		t.Errorf("have %+v, want failing disk and dep:db", have)
	}
}

func TestWhatEarlierSweepsLeft(t *testing.T) {
	w := staged(t, `name: past
policy: {confirm_sweeps: 3, region_marks_per_hour: 5}
group: {name: web, suspended: {AZRebalance: by hand}}
history:
  marks: {i1: -50m, x2: -70m}
  held: {since: -25m, cause: zone}
  quiet_since: -12m
fleet: {i1: Unhealthy, i2: last=400s/ok, i3: beat=none entered=40s, i4: beat=none entered=5m}
steps: [{at: 0s}]
`)
	rec, err := w.ledger.Load(t.Context(), w.places[0].group.ARN)
	if err != nil {
		t.Fatal(err)
	}
	ago := func(d time.Duration) guard.Instant { return guard.At(Start().Add(-d)) }
	text := "User suspended at 2026-11-30T11:35:00Z"
	looked := func(m guard.MemberState) guard.MemberState {
		m.Lifecycle, m.GoodLooks, m.LookAt = "InService", 2, ago(time.Minute)
		return m
	}
	last := Start().Add(-400 * time.Second)
	want := guard.State{
		LastSweep: ago(time.Minute),
		Members: []guard.MemberState{
			looked(guard.MemberState{ID: "i1", Since: ago(settledAge), Beat: true, Boot: "boot-i1", Seq: Start().Add(-time.Minute).Unix(),
				Stamp: ago(75 * time.Second), AdvancedAt: ago(time.Minute)}),
			looked(guard.MemberState{ID: "i2", Since: ago(settledAge), Beat: true, Boot: "boot-i2", Seq: last.Unix(), Stamp: guard.At(last)}),
			looked(guard.MemberState{ID: "i4", Since: ago(5 * time.Minute)}),
		},
		Marks: []guard.Mark{
			{ID: "history-web-x2", Member: "x2", At: ago(70 * time.Minute), By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Gone: true},
			{ID: "history-web-i1", Member: "i1", At: ago(50 * time.Minute), By: "guard", Outcome: guard.OutcomeDone, Weight: 1},
		},
		Hold: &guard.Hold{ID: "history-web", Since: ago(25 * time.Minute), Cause: guard.CauseZone, Text: "held before the scenario began",
			Stage: guard.StageQuiet, StageAt: ago(25 * time.Minute), QuietSince: ago(12 * time.Minute),
			Before: []guard.Suspension{{Process: guard.ProcessAZRebalance, Reason: "by hand"}},
			Ours: []guard.HeldProcess{
				{Process: guard.ProcessReplaceUnhealthy, IntentAt: ago(25 * time.Minute), Reason: text},
				{Process: guard.ProcessHealthCheck, IntentAt: ago(25 * time.Minute), Reason: text},
			}},
	}
	if !reflect.DeepEqual(rec.State, want) {
		t.Errorf("have %+v\nwant %+v", rec.State, want)
	}
	if have := string(rec.LastGood["/holdfast/groups/web"]); have != `{"confirm_sweeps":3}` {
		t.Errorf("last good policy %s, want the head's", have)
	}
	region, err := w.ledger.LoadRegion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	marks := []guard.RegionMark{{ID: "history-web-i1", At: ago(50 * time.Minute)}}
	if !reflect.DeepEqual(region.State.Marks, marks) || string(region.LastGoodDefaults) != `{"region_marks_per_hour":5}` {
		t.Errorf("have %+v, want the mark of the last hour and the defaults", region)
	}
}

func TestTheSecondLookIsInForceUntilACall(t *testing.T) {
	w := staged(t, "name: again\ngroup: {name: web}\nfleet: {i1-i2: healthy}\nsteps: [{at: 0s, reread: {fleet: {i1: initial, i2: gone}, group: {desired: 9}}}]\n")
	ctx := t.Context()
	members := func() int {
		all, err := w.Guarded(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(all[0].Members)
	}
	read := func() guard.Group {
		g, err := w.Group(ctx, "web")
		if err != nil {
			t.Fatal(err)
		}
		g, _ = w.Details(ctx, g)
		return g
	}
	if members() != 2 {
		t.Error("the first look sees the reread world")
	}
	if g := read(); len(g.Members) != 1 || g.Desired != 9 || g.Members[0].Targets[0].State != "initial" {
		t.Errorf("have %+v, want the reread world on the second look", g)
	}
	if err := w.Suspend(ctx, "web", []string{guard.ProcessReplaceUnhealthy}); err != nil {
		t.Fatal(err)
	}
	if g := read(); len(g.Members) != 2 || len(g.Suspended) != 1 || g.Suspended[0].Reason != "User suspended at 2026-11-30T12:00:00Z" {
		t.Errorf("have %+v, want the stated world with the call's effect when it is read back", g)
	}
}

func TestAGroupThatCannotBeReadHasNoMembersOrHalfOfThem(t *testing.T) {
	for how, want := range map[string]int{readFailed: 0, readPartial: 2} {
		w := staged(t, "name: unread\ngroup: {name: web}\nfleet: {i1-i4: healthy}\nsteps: [{at: 0s, reads: {group: "+how+"}}]\n")
		all, err := w.Guarded(t.Context())
		if err != nil || len(all) != 1 || len(all[0].Members) != want || !all[0].OptedIn {
			t.Errorf("%s: have %+v %v, want the group with %d members", how, all, err, want)
		}
		if _, reads := w.Details(t.Context(), all[0]); reads.Group == "" {
			t.Errorf("%s: the reads say that the group was read", how)
		}
		if _, err := w.Group(t.Context(), "web"); err == nil {
			t.Errorf("%s: the second read is complete", how)
		}
	}
}

func TestTheRegionsItemFailsOnlyWithThatOfEveryGroup(t *testing.T) {
	head := "name: region\ngroups: {web: {}, api: {}}\nsteps: [{at: 0s, groups: {"
	for text, want := range map[string]bool{
		"web: {reads: {ledger: failed}}":                                  false,
		"web: {reads: {ledger: failed}}, api: {reads: {ledger: partial}}": true,
	} {
		w := staged(t, head+text+"}}]\n")
		w.ledger.SetHooks(memledger.Hooks{Before: w.ledgerFault})
		if _, err := w.ledger.LoadRegion(t.Context()); (err != nil) != want {
			t.Errorf("%s: have %v, want an error: %t", text, err, want)
		}
		if _, err := w.ledger.Load(t.Context(), w.places[0].group.ARN); err == nil {
			t.Errorf("%s: the item of web was loaded", text)
		}
	}
}

func TestAPartialReadLeavesHalfOut(t *testing.T) {
	w := staged(t, "name: partial\ngroup: {name: web}\ndependencies: {a: {}, b: {}}\nfleet: {i1-i4: healthy}\n"+
		"steps: [{at: 0s, reads: {heartbeats: partial, targets: partial, alarms: partial}}]\n")
	g, reads := w.Details(t.Context(), w.places[0].read())
	beats, err := w.Beats(t.Context(), g)
	alarms := w.Alarms(t.Context(), []string{"a", "b"})
	if reads.Targets == "" || err == nil {
		t.Errorf("have %+v and %v, want both reads failed", reads, err)
	}
	for i, m := range g.Members {
		if out := i%2 == 0; out != (len(m.Targets) == 0) || out != beats[m.ID].Unreadable {
			t.Errorf("member %d has %+v and %+v, want every second one left out", i, m.Targets, beats[m.ID])
		}
	}
	if alarms["a"].State != guard.AlarmUnread || alarms["b"].State != guard.AlarmOK {
		t.Errorf("have %+v, want a unread and b OK", alarms)
	}
}
