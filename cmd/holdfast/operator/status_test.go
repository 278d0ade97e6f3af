package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// busy is a group in the middle of a hold, with something to say in every column.
func busy(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	ours := "User suspended at 2026-11-30T11:50:00Z"
	r.edit("web", func(g *guard.Group) {
		g.Suspended = []guard.Suspension{{Process: "HealthCheck", Reason: "somebody"}, {Process: "Launch", Reason: "a migration"}, {Process: "ReplaceUnhealthy", Reason: ours}}
	})
	mark := func(member string, age time.Duration) guard.Mark {
		return guard.Mark{ID: "m-" + member, Member: member, At: before(age), By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Closed: true, Gone: true}
	}
	r.save(t, "web", guard.State{
		LastSweep: before(30 * time.Second),
		Hold: &guard.Hold{
			ID: "hold@1", Since: before(10 * time.Minute), Cause: "zone us-east-1a", Text: "2 of 2 in us-east-1a are bad", Stage: guard.StageQuiet,
			QuietSince: before(2 * time.Minute), Ours: []guard.HeldProcess{{Process: "ReplaceUnhealthy", Reason: ours}, {Process: "HealthCheck", Reason: ours}, {Process: "AZRebalance", Resumed: before(time.Second)}},
		},
		Members: []guard.MemberState{
			{ID: "i-0", Lifecycle: "InService", Bad: true, BadSince: before(9 * time.Minute)},
			{ID: "i-1", Lifecycle: "InService", Bad: true, BadSince: before(11 * time.Minute), BrokenSince: before(10 * time.Minute)},
			{ID: "i-2", Lifecycle: "InService"}, {ID: "i-3", Lifecycle: "InService"},
		},
		Marks: []guard.Mark{mark("i-8", 20*time.Hour), mark("i-9", 40*time.Minute)},
	})
	r.sawLast(t, runner.Looked{
		At:       before(30 * time.Second),
		Triggers: []guard.Trigger{{Cause: guard.CauseOnset, Have: 3, Limit: 3, Text: "3 members began to fail within 5m, the limit is 3"}},
		Deferred: []guard.Deferral{
			{Member: "i-0", Reason: guard.ReasonHeld, Have: 3, Limit: 3, Text: "zone us-east-1a"}, {Member: "i-1", Reason: guard.ReasonHeld, Text: "zone us-east-1a", Broken: true},
			{Member: "i-2", Reason: guard.ReasonGrace, Have: 20, Limit: 300, Text: "in its first grace"},
		},
	})
	return r
}

func TestStatusTellsWhatTheLedgerAndTheGroupSay(t *testing.T) {
	r := busy(t)
	must(t, r.ledger.PutRequest(t.Context(), arn("web"), guard.Request{ID: "q", Kind: "release", Reason: "over", By: "kim", At: now()}))
	s, err := r.desk.Status(t.Context(), nil)
	must(t, err)
	if len(s.Groups) != 1 || s.Switch != "act" || s.SwitchProblem != "" || s.Incomplete() {
		t.Fatalf("status %+v", s)
	}
	var text bytes.Buffer
	must(t, s.WriteText(&text))
	want := `/holdfast/mode: act
marks left in the Region this hour: 6 of 6
GROUP  MODE  HELD SINCE            CAUSE            SUSPECTS  MARKS LEFT 10MIN/HOUR/DAY  IN FLIGHT  FOREIGN  LAST SWEEP
web    held  2026-11-30 11:50:00Z  zone us-east-1a  2         1/2/6                      0 of 1     2        30s ago
web: held for 10m0s; it began with: 2 of 2 in us-east-1a are bad
web: release: stage 1 of 5, quiet for 2m0s
web: suspended by Holdfast: ReplaceUnhealthy, HealthCheck
web: trigger onset is true: 3 members began to fail within 5m, the limit is 3 (it begins a hold and does not keep one from ending)
web: suspect i-1: broken for 11m0s; deferred: held, zone us-east-1a
web: suspect i-0: bad for 9m0s; deferred: held (have 3, limit 3), zone us-east-1a
web: not bad, with a reason all the same: i-2: grace (have 20, limit 300), in its first grace
web: HealthCheck is suspended, not by Holdfast: somebody
web: Launch is suspended, not by Holdfast: a migration
web: release asked for by kim at 2026-11-30 12:00:00Z, not obeyed yet: over
`
	if text.String() != want {
		t.Errorf("have\n%s\nwant\n%s", text.String(), want)
	}
}

func TestWhatAPacedExitLeavesSuspendedIsNotForeign(t *testing.T) {
	r := newRig(t)
	r.edit("web", func(g *guard.Group) {
		g.Suspended = []guard.Suspension{{Process: "AZRebalance", Reason: "b"}, {Process: "HealthCheck", Reason: "a"}}
	})
	r.save(t, "web", guard.State{LastSweep: before(time.Second), Paced: &guard.Paced{Process: &guard.HeldProcess{Process: "HealthCheck", Reason: "a"}}})
	s, err := r.desk.Status(t.Context(), nil)
	must(t, err)
	if got := s.Groups[0].Foreign; len(got) != 1 || got[0].Process != "AZRebalance" {
		t.Errorf("foreign %+v", got)
	}
}

func TestStatusTellsWhatAPacedExitLeft(t *testing.T) {
	many := []string{"i-0", "i-1", "i-2", "i-3", "i-4", "i-5", "i-6", "i-7", "i-8", "i-9"}
	for _, c := range []struct {
		name    string
		members []string
		says    string
	}{
		{"two members", many[:2], "to be replaced one by one: i-0, i-1; until then HealthCheck stays suspended by Holdfast"},
		{"many members", many, "i-6, i-7 and 2 more; until then HealthCheck stays suspended by Holdfast"},
		{"the last is marked", nil, "the last replacement has to serve yet; until then HealthCheck stays suspended by Holdfast"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.save(t, "web", guard.State{LastSweep: before(time.Second), Paced: &guard.Paced{
				Since: before(time.Hour), Members: c.members, Process: &guard.HeldProcess{Process: "HealthCheck", Reason: "a"},
			}})
			s, err := r.desk.Status(t.Context(), nil)
			must(t, err)
			var text bytes.Buffer
			must(t, s.WriteText(&text))
			tells(t, "lines", strings.Split(text.String(), "\n"), "web: paced exit since 2026-11-30 11:00:00Z: ", c.says)
			if p := s.Groups[0].PacedExit; p == nil || p.Members == nil || !slices.Equal(p.Members, c.members) || p.Process != "HealthCheck" || !p.Since.Equal(now().Add(-time.Hour)) {
				t.Errorf("paced exit %+v", p)
			}
		})
	}
}

func TestWhatWasOnlyObservedIsNoSuspensionAndNoMarkOfOurs(t *testing.T) {
	r := newRig(t)
	r.edit("web", func(g *guard.Group) {
		g.Suspended = []guard.Suspension{{Process: "ReplaceUnhealthy", Reason: "theirs"}}
	})
	r.save(t, "web", guard.State{
		LastSweep: before(time.Second), Hold: &guard.Hold{Since: before(time.Minute), Observed: true, Stage: 1, Ours: []guard.HeldProcess{{Process: "ReplaceUnhealthy"}}},
		Marks: []guard.Mark{{ID: "m", Member: "i-9", At: before(time.Minute), By: "guard", Outcome: guard.OutcomeDone, Observed: true, Gone: true}},
	})
	for mode, marks := range map[string]int{"act": 0, "observe": 1} { // observing counts its own marks, acting drops them
		r.shelf.set(guard.ModeParameter, mode)
		s, err := r.desk.Status(t.Context(), nil)
		must(t, err)
		if g := s.Groups[0]; len(g.Foreign) != 1 || g.Limits.Hour != marks {
			t.Errorf("mode %s: foreign %+v, marks %d; want 1 and %d", mode, g.Foreign, g.Limits.Hour, marks)
		}
	}
}

func TestStatusWritesNothing(t *testing.T) {
	r := busy(t)
	var ops []string
	r.ledger.SetHooks(memledger.Hooks{Before: func(c memledger.Call) error { ops = append(ops, c.Op); return nil }})
	_, err := r.desk.Status(t.Context(), nil)
	must(t, err)
	slices.Sort(ops)
	if got := strings.Join(ops, ","); got != "load,load region" || r.shelf.puts != 0 {
		t.Errorf("calls %s, %d parameters written", got, r.shelf.puts)
	}
}

func TestStatusAsJSONHasTheSame(t *testing.T) {
	r := busy(t)
	s, err := r.desk.Status(t.Context(), []string{"web"})
	must(t, err)
	text, err := json.Marshal(s)
	must(t, err)
	for _, want := range []string{
		`"switch":"act"`, `"group":"web"`, `"mode":"held"`, `"policy_mode":"act"`, `"policy_mode_from":"built-in"`, `"since":"2026-11-30T11:50:00Z"`,
		`"cause":"zone us-east-1a"`, `"suspects":[{"member":"i-1","since":"2026-11-30T11:49:00Z","broken":true,"deferred":{"member":"i-1","reason":"held","have":0,"limit":0,"text":"zone us-east-1a","broken":true}},{"member":"i-0"`,
		`"triggers":[{"cause":"onset","have":3,"limit":3,"text":"3 members began to fail within 5m, the limit is 3"}]`, `"also_deferred":[{"member":"i-2","reason":"grace"`,
		`"hour":1,"hour_max":3`, `"foreign_suspensions":[{"process":"HealthCheck","reason":"somebody"},{"process":"Launch"`, `"last_sweep":"2026-11-30T11:59:30Z"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "pending_request") || strings.Contains(string(text), "0001-01-01") {
		t.Errorf("what is not there is shown:\n%s", text)
	}
}

func TestTheModeIsThatOfTheLastSweep(t *testing.T) {
	sweep := before(30 * time.Second)
	for _, c := range []struct {
		name, setting string
		state         guard.State
		want          string
	}{
		{"watching", "act", guard.State{LastSweep: sweep}, "watching"},
		{"blind", "act", guard.State{LastSweep: sweep, BlindRun: 1}, "blind"},
		{"held and blind", "act", guard.State{LastSweep: sweep, BlindRun: 1, Hold: &guard.Hold{Stage: 1}}, "held"},
		{"releasing", "act", guard.State{LastSweep: sweep, Hold: &guard.Hold{Stage: 2}}, "releasing"},
		{"off", "off", guard.State{LastSweep: sweep, Hold: &guard.Hold{Stage: 1}}, "off"},
		{"never looked at", "act", guard.State{}, ""},
	} {
		r := newRig(t)
		r.shelf.set(guard.ModeParameter, c.setting)
		r.save(t, "web", c.state)
		s, err := r.desk.Status(t.Context(), nil)
		must(t, err)
		if got := s.Groups[0].Mode; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStatusSaysWhatIsUnusual(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(*testing.T, *rig)
		says    []string
	}{
		{"a switch that is not there", func(_ *testing.T, r *rig) { delete(r.shelf.values, guard.ModeParameter) },
			[]string{"/holdfast/mode: observe (does not exist; it reads as observe)", "web: mode observe, by /holdfast/mode"}},
		{"an invalid layer", func(_ *testing.T, r *rig) { r.shelf.set(webLayer, `{"mode":"off","quiet_seconds":"6O"}`) },
			[]string{`web: policy: /holdfast/groups/web: quiet_seconds: "6O" is not a number; the layer below stays in force`, "web: mode off, by"}},
		{"another action", func(_ *testing.T, r *rig) { r.shelf.set(webLayer, `{"action":"hold-only"}`) }, []string{"web: action hold-only"}},
		{"nobody looks", func(t *testing.T, r *rig) { r.save(t, "web", guard.State{LastSweep: before(5 * time.Minute)}) }, []string{"5m0s ago", "web: the last sweep was 5m0s ago"}},
		{"nobody ever looked", func(_ *testing.T, r *rig) { r.ledgerless() }, []string{"not seen yet", "never", "web: no sweep has looked at this group yet"}},
		{"a hold that only a person ends", func(t *testing.T, r *rig) { r.held(t, func(h *guard.Hold) { h.Sticky = true }) }, []string{"only a person ends this hold (holdfast release)"}},
		{"a hold that somebody resumed twice", func(t *testing.T, r *rig) { r.held(t, func(h *guard.Hold) { h.Conflict = true }) }, []string{"a trigger is still true", "it is left to people"}},
		{"a release by a person", func(t *testing.T, r *rig) { r.held(t, func(h *guard.Hold) { h.ReleaseBy, h.Stage = "kim", 3 }) }, []string{"releasing", "stage 3 of 5, asked for by kim"}},
		{"a hold that was only observed", func(t *testing.T, r *rig) { r.held(t, func(h *guard.Hold) { h.Observed = true }) }, []string{"would be held for 10m0s, no call was made", "web    held (observed)", "web: would have suspended: ReplaceUnhealthy\n"}},
		{"a release that is only observed", func(t *testing.T, r *rig) {
			r.held(t, func(h *guard.Hold) { h.Observed, h.Stage = true, guard.StageHealthCheck })
		}, []string{"releasing (observed)"}},
		{"a clock ahead of this one", func(t *testing.T, r *rig) {
			r.save(t, "web", guard.State{LastSweep: before(-91 * time.Minute)})
		}, []string{"  in the future by 1h31m: clocks differ\n", "web: the last sweep was in the future by 1h31m: clocks differ\n"}},
		{"a clock a few seconds ahead of this one", func(t *testing.T, r *rig) {
			r.save(t, "web", guard.State{LastSweep: before(-5 * time.Second)})
		}, []string{"  0s ago\n"}},
		{"many suspects", func(t *testing.T, r *rig) {
			var members []guard.MemberState
			for i := range 11 {
				members = append(members, guard.MemberState{ID: fmt.Sprintf("i-%02d", i), Bad: true})
			}
			r.save(t, "web", guard.State{LastSweep: before(time.Second), Members: members})
			r.sawLast(t, runner.Looked{At: before(time.Second), Deferred: []guard.Deferral{
				{Member: "i-08", Reason: guard.ReasonHeld}, {Member: "i-09", Reason: guard.ReasonBudget}, {Member: "i-10", Reason: guard.ReasonHeld},
			}})
		}, []string{"web: suspect i-00: bad", "web: suspect i-07: bad", "web: suspects: and 3 more; deferred: budget 1, held 2"}},
		{"a hold without a trigger", func(t *testing.T, r *rig) {
			r.held(t, nil)
			r.sawLast(t, runner.Looked{At: before(30 * time.Second)})
		}, []string{"web: the last look saw no trigger"}},
		{"a state of a release that kept no reasons", func(t *testing.T, r *rig) { r.held(t, nil) }, []string{"web: the sweep that looked last kept no record of reasons and triggers"}},
		{"a dependency whose state is not known", func(t *testing.T, r *rig) {
			r.save(t, "web", guard.State{LastSweep: before(time.Second)})
			r.sawLast(t, runner.Looked{At: before(time.Second), Unknown: []string{"typo"}})
		}, []string{"web: the state of the hard dependency typo is not known (no data, no such alarm, or unreadable): nothing is released until it is, and unless it only lacks data no member is marked"}},
		{"reasons of another look", func(t *testing.T, r *rig) {
			r.held(t, nil)
			r.sawLast(t, runner.Looked{At: before(5 * time.Hour), Triggers: []guard.Trigger{{Cause: guard.CauseOnset}}})
		}, []string{"web: the sweep that looked last kept no record of reasons and triggers"}},
		{"a suspect that was marked", func(t *testing.T, r *rig) {
			r.save(t, "web", guard.State{
				LastSweep: before(time.Second), Members: []guard.MemberState{{ID: "i-1", Bad: true, BadSince: before(time.Minute), BrokenSince: before(time.Minute)}},
				Marks: []guard.Mark{{ID: "m", Member: "i-1", At: before(10 * time.Second), By: "guard", Outcome: guard.OutcomeDone}},
			})
			r.sawLast(t, runner.Looked{At: before(time.Second)})
		}, []string{"web: suspect i-1: broken for 1m0s; marked 10s ago"}},
		{"no group", func(_ *testing.T, r *rig) { delete(r.fleet.groups, "web") }, []string{"no group carries the tag holdfast:guard=true"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			c.prepare(t, r)
			s, err := r.desk.Status(t.Context(), nil)
			must(t, err)
			var text bytes.Buffer
			must(t, s.WriteText(&text))
			tells(t, "lines", strings.Split(text.String(), "\n"), c.says...)
		})
	}
}

func TestAGroupThatIsNotGuardedAnyMoreIsStillShown(t *testing.T) {
	r := newRig(t)
	r.held(t, nil)
	rec, err := r.ledger.LoadRegion(t.Context())
	must(t, err)
	rec.State.Eligible = map[string]int{arn("web"): 4}
	_, err = r.ledger.SaveRegion(t.Context(), rec)
	must(t, err)
	r.edit("web", func(g *guard.Group) { g.OptedIn = false })
	s, err := r.desk.Status(t.Context(), nil)
	must(t, err)
	if len(s.Groups) != 1 || s.Groups[0].Guarded || s.Groups[0].Group != "web" || s.Groups[0].Hold == nil {
		t.Fatalf("groups %+v", s.Groups)
	}
	s, err = r.desk.Status(t.Context(), []string{"web"})
	must(t, err)
	var text bytes.Buffer
	must(t, s.WriteText(&text))
	tells(t, "lines", strings.Split(text.String(), "\n"), "not guarded", "web: no sweep looks at it", "web: held for 10m0s")
}

func TestWhatCannotBeReadIsSaidAndTheRestIsShown(t *testing.T) {
	r := newRig(t)
	r.add("api", true)
	r.save(t, "api", guard.State{LastSweep: before(10 * time.Second)})
	broken := errors.New("throttled: slow down")
	r.ledger.SetHooks(memledger.Hooks{Before: func(c memledger.Call) error {
		if c.Op == memledger.OpLoadRegion || c.Group == arn("web") {
			return broken
		}
		return nil
	}})
	s, err := r.desk.Status(t.Context(), []string{"web", "api", "wbe"})
	must(t, err)
	var text bytes.Buffer
	must(t, s.WriteText(&text))
	tells(t, "lines", strings.Split(text.String(), "\n"), "what the groups share could not be read: throttled", "web: could not be read: throttled: slow down",
		"wbe: no Auto Scaling group of this name", "10s ago", "web    unread    -           -      -         -")
	if strings.Contains(text.String(), "never") {
		t.Errorf("what was not read is told as never looked at:\n%s", text.String())
	}
	if !s.Incomplete() || s.Groups[0].Mode != "watching" || s.Groups[2].Mode != "" {
		t.Errorf("status %+v", s)
	}
}

func TestTheStatusOfAGroupThatDoesNotExistIsTheReasonAlone(t *testing.T) {
	s, err := newRig(t).desk.Status(t.Context(), []string{"wbe"})
	must(t, err)
	var text bytes.Buffer
	must(t, s.WriteText(&text))
	if want := "wbe: no Auto Scaling group of this name in this account and Region\n"; text.String() != want || !s.Incomplete() {
		t.Errorf("have %q, want %q", text.String(), want)
	}
}

func TestStatusWithoutGroupsOrLedgerIsAnError(t *testing.T) {
	r := newRig(t)
	r.fleet.err = errors.New("denied")
	for _, names := range [][]string{nil, {"web"}} {
		if _, err := r.desk.Status(t.Context(), names); err == nil {
			t.Errorf("%v: no error", names)
		}
	}
	if _, err := r.blind().Status(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "HOLDFAST_STATE_TABLE") {
		t.Errorf("error %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAStatusThatCannotBeWrittenIsAnError(t *testing.T) {
	r := newRig(t)
	s, err := r.desk.Status(t.Context(), nil)
	must(t, err)
	if err := s.WriteText(full{}); err == nil {
		t.Error("no error")
	}
}

// oneUnread fails the read of one group.
type oneUnread struct {
	*fleet
	name string
}

func (f oneUnread) Group(ctx context.Context, name string) (guard.Group, error) {
	if name == f.name {
		return guard.Group{}, fmt.Errorf("describe group %s: %w", name, fault.Throttled)
	}
	return f.fleet.Group(ctx, name)
}

func TestANamedGroupThatCannotBeReadHidesNoOther(t *testing.T) {
	r := newRig(t)
	p := r.ports()
	p.Fleet = oneUnread{r.fleet, "bad"}
	d := operator.New(p, r.options())
	s, err := d.Status(t.Context(), []string{"web", "bad"})
	must(t, err)
	if len(s.Groups) != 2 || s.Groups[0].Group != "bad" || s.Groups[1].Mode != guard.Watching || len(s.Groups[1].Unread) > 0 || !s.Incomplete() {
		t.Fatalf("status %+v", s)
	}
	var text strings.Builder
	must(t, s.WriteText(&text))
	tells(t, "status", []string{text.String()}, "web    watching", "bad: the group could not be read: describe group bad: throttled")
	if s, err := d.Status(t.Context(), []string{"bad", "bad"}); !errors.Is(err, fault.Throttled) {
		t.Errorf("no group could be read: %+v, %v", s, err)
	}
}

func TestAGroupThatIsNamedTwiceIsShownOnce(t *testing.T) {
	r := newRig(t)
	s, err := r.desk.Status(t.Context(), []string{"web", "wbe", "web", "wbe"})
	must(t, err)
	if len(s.Groups) != 2 || s.Groups[0].Group != "wbe" || s.Groups[1].Group != "web" {
		t.Errorf("groups %+v", s.Groups)
	}
}
