package operator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

func TestHoldLeavesARequestForTheNextSweep(t *testing.T) {
	r := newRig(t)
	a, err := r.desk.Hold(t.Context(), "web", " bad deploy ")
	must(t, err)
	want := guard.Request{ID: "hold-20261130T120000Z-id1", Kind: "hold", Reason: "bad deploy", By: "sam", At: now()}
	if got := r.asked(t, "web"); got != want || !a.Changed {
		t.Errorf("request %+v, changed %v; want %+v", got, a.Changed, want)
	}
	tells(t, "lines", a.Lines, "web: asked for a hold as sam: bad deploy (request hold-20261130T120000Z-id1)",
		"suspends ReplaceUnhealthy, HealthCheck, AZRebalance", "holdfast release web --reason TEXT", "holdfast status web")
	tells(t, "warnings", a.Warnings)
}

func TestReleaseLeavesARequestForTheNextSweep(t *testing.T) {
	r := newRig(t)
	r.held(t, nil)
	a, err := r.desk.Release(t.Context(), "web", "database is back")
	must(t, err)
	if got := r.asked(t, "web"); got.Kind != guard.RequestRelease || got.By != "sam" || got.Reason != "database is back" {
		t.Errorf("request %+v", got)
	}
	tells(t, "lines", a.Lines, "asked for a release as sam", "the place of the quiet time only")
	tells(t, "warnings", a.Warnings)
}

// repeats are commands that have nothing to do; each must leave the ledger as it is.
func TestARepeatedCommandChangesNothing(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(*testing.T, *rig)
		release bool
		says    string
	}{
		{"a hold that was asked for already", func(t *testing.T, r *rig) { ask(t, r.desk.Hold, "why") }, false, "sam has asked for this hold already at 2026-11-30 12:00:00Z"},
		{"a release that was asked for already", func(t *testing.T, r *rig) { r.held(t, nil); ask(t, r.desk.Release, "why") }, true, "has asked for this release already"},
		{"a hold of a group that a person holds", func(t *testing.T, r *rig) {
			r.held(t, func(h *guard.Hold) { h.Sticky, h.Cause = true, guard.CauseOperator })
		}, false, "is held since 2026-11-30 11:50:00Z until a person releases it (operator)"},
		{"a release of a group that is not held", func(*testing.T, *rig) {}, true, "is not held: there is nothing to release"},
		{"a release of a hold that is on its way out", func(t *testing.T, r *rig) {
			r.held(t, func(h *guard.Hold) { h.ReleaseBy, h.Stage = "kim", guard.StageHealthCheck })
		}, true, "kim has asked for the release already, it is at stage 3 of 5"},
		{"a release of a hold that was only observed, in mode act", func(t *testing.T, r *rig) {
			r.held(t, func(h *guard.Hold) { h.Observed = true })
		}, true, "is not held"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			c.prepare(t, r)
			was := r.asked(t, "web")
			do := r.desk.Hold
			if c.release {
				do = r.desk.Release
			}
			a, err := do(t.Context(), "web", "why")
			must(t, err)
			tells(t, "lines", a.Lines, c.says, "nothing was changed")
			if got := r.asked(t, "web"); got != was || a.Changed {
				t.Errorf("the request became %+v", got)
			}
		})
	}
}

// What is suspended is told, and what the next sweep will do only where it makes calls.
func TestARepeatedHoldTellsWhatIsSuspended(t *testing.T) {
	const theirs = "User suspended at 2026-11-30T11:40:00Z"
	suspended := func(r *rig, names ...string) {
		r.edit("web", func(g *guard.Group) {
			for _, n := range names {
				g.Suspended = append(g.Suspended, guard.Suspension{Process: n, Reason: theirs})
			}
		})
	}
	sticky := func(h *guard.Hold) { h.Sticky, h.Cause = true, guard.CauseOperator }
	for _, c := range []struct {
		name     string
		prepare  func(*testing.T, *rig)
		says     []string
		foresees bool
	}{
		{"a part is suspended", func(t *testing.T, r *rig) { r.held(t, sticky); suspended(r, "ReplaceUnhealthy") },
			[]string{"suspended by Holdfast: ReplaceUnhealthy", "at the latest in 1m0s, suspends HealthCheck, AZRebalance;"}, true},
		{"all is suspended, a part by others", func(t *testing.T, r *rig) {
			r.held(t, sticky)
			suspended(r, "ReplaceUnhealthy", "HealthCheck", "AZRebalance")
		}, []string{"suspended by Holdfast: ReplaceUnhealthy", "suspended already, not by Holdfast: HealthCheck, AZRebalance", "has nothing left to suspend"}, true},
		{"only observed", func(t *testing.T, r *rig) {
			r.held(t, func(h *guard.Hold) { sticky(h); h.Observed = true })
			r.shelf.set(guard.ModeParameter, "observe")
		}, []string{"web: would be held (no call was made) since 2026-11-30 11:50:00Z", "would have suspended: ReplaceUnhealthy"}, false},
		{"switched off", func(t *testing.T, r *rig) { r.held(t, sticky); r.shelf.set(guard.ModeParameter, "off") },
			[]string{"web: is held since", "suspended by Holdfast: ReplaceUnhealthy"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			c.prepare(t, r)
			a, err := r.desk.Hold(t.Context(), "web", "why")
			must(t, err)
			tells(t, "lines", a.Lines, c.says...)
			if got := strings.Contains(strings.Join(a.Lines, "\n"), "the next sweep"); got != c.foresees {
				t.Errorf("a forecast %v, want %v:\n%s", got, c.foresees, strings.Join(a.Lines, "\n"))
			}
		})
	}
}

func TestAWriteWhoseOutcomeIsUnknownIsToldFromARead(t *testing.T) {
	unknown := fmt.Errorf("no answer: %w", fault.Unknown)
	for name, c := range map[string]struct {
		spoil func(*rig)
		want  bool
	}{
		"the read":        {func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+1, unknown) }, false},
		"the write":       {func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+3, unknown) }, true},
		"a refused write": {func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+3, fault.Refused) }, false},
	} {
		r := newRig(t)
		c.spoil(r)
		_, err := r.desk.Hold(t.Context(), "web", "why")
		if got := errors.As(err, new(operator.UnsettledError)); err == nil || got != c.want {
			t.Errorf("%s: error %v, unsettled %v, want %v", name, err, got, c.want)
		}
	}
}

func ask(t *testing.T, do func(context.Context, string, string) (operator.Answer, error), reason string) {
	t.Helper()
	_, err := do(t.Context(), "web", reason)
	must(t, err)
}

func TestTheLastRequestBeforeASweepCounts(t *testing.T) {
	r := newRig(t)
	r.held(t, nil)
	ask(t, r.desk.Hold, "first")
	a, err := r.desk.Hold(t.Context(), "web", "second")
	must(t, err)
	tells(t, "lines", a.Lines, "replaces the hold that sam asked for at 2026-11-30 12:00:00Z (first), which no sweep has obeyed yet")
	a, err = r.desk.Release(t.Context(), "web", "third")
	must(t, err)
	tells(t, "lines", a.Lines, "replaces the hold that sam asked for", "(second)")
	if got := r.asked(t, "web"); got.Kind != guard.RequestRelease || got.Reason != "third" {
		t.Errorf("request %+v", got)
	}
}

func TestAnObeyedRequestIsNotPending(t *testing.T) {
	r := newRig(t)
	ask(t, r.desk.Hold, "why")
	id := r.asked(t, "web").ID
	r.save(t, "web", guard.State{LastSweep: before(time.Second), RequestID: id}) // it was held and released since
	a, err := r.desk.Hold(t.Context(), "web", "why")
	must(t, err)
	if got := r.asked(t, "web").ID; got == id || !a.Changed {
		t.Errorf("request %s is the obeyed one", got)
	}
}

func TestAHoldAfterAReleaseWasAskedForIsANewRequest(t *testing.T) {
	r := newRig(t)
	r.held(t, func(h *guard.Hold) { h.Sticky, h.ReleaseBy = true, "kim" })
	a, err := r.desk.Hold(t.Context(), "web", "not yet")
	must(t, err)
	if !a.Changed {
		t.Error("the release goes on")
	}
}

func TestWhatStandsInTheWayIsSaid(t *testing.T) {
	const byHand = "aws autoscaling suspend-processes --auto-scaling-group-name web --scaling-processes ReplaceUnhealthy HealthCheck AZRebalance"
	cases := []struct {
		name    string
		prepare func(*testing.T, *rig)
		says    []string
	}{
		{"the switch is off", func(_ *testing.T, r *rig) { r.shelf.set(guard.ModeParameter, "off") }, []string{"the mode is off (/holdfast/mode): no sweep obeys"}},
		{"the group observes", func(_ *testing.T, r *rig) { r.shelf.set("/holdfast/groups/web", `{"mode":"observe"}`) },
			[]string{"the mode is observe (/holdfast/groups/web): no call is made, and what is only observed ends with that mode", byHand}},
		{"the group only alerts", func(_ *testing.T, r *rig) { r.shelf.set("/holdfast/defaults", `{"action":"alert-only"}`) }, []string{"alert-only: no call is made", byHand}},
		{"nobody looked for four minutes", func(t *testing.T, r *rig) { r.save(t, "web", guard.State{LastSweep: before(4 * time.Minute)}) },
			[]string{"the last sweep was 4m0s ago, 2026-11-30 11:56:00Z: perhaps nobody is there to obey", byHand}},
		{"nobody ever looked", func(_ *testing.T, r *rig) { r.add("web", true); r.ledgerless() }, []string{"no sweep has looked at this group yet"}},
		{"the policy cannot be read", func(_ *testing.T, r *rig) { r.shelf.unread = errors.New("throttled") }, []string{"the policy cannot be read, so the mode is not certain: throttled"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			c.prepare(t, r)
			a, err := r.desk.Hold(t.Context(), "web", "why")
			must(t, err)
			tells(t, "warnings", a.Warnings, c.says...)
			if !a.Changed {
				t.Error("nothing was asked for")
			}
		})
	}
}

// ledgerless gives the desk an empty ledger.
func (r *rig) ledgerless() {
	r.ledger = &books{Ledger: memledger.New()}
	r.desk = operator.New(operator.Ports{Fleet: r.fleet, Ledger: r.ledger, Policies: r.shelf, Parameters: r.shelf}, r.options())
}

func TestThreeIntervalsWithoutASweepAreNotLateYet(t *testing.T) {
	r := newRig(t)
	r.save(t, "web", guard.State{LastSweep: before(3 * time.Minute)})
	a, err := r.desk.Hold(t.Context(), "web", "why")
	must(t, err)
	tells(t, "warnings", a.Warnings)
}

func TestARequestThatNobodyWouldObeyIsRefused(t *testing.T) {
	r := newRig(t)
	r.add("plain", false)
	r.add("batch", true)
	r.edit("batch", func(g *guard.Group) { g.Operator = "ecs.amazonaws.com" })
	for _, c := range []struct{ group, reason, says string }{
		{"wbe", "why", `no Auto Scaling group "wbe" in this account and Region`},
		{"plain", "why", "plain does not carry the tag holdfast:guard=true: no sweep looks at it; by hand: aws autoscaling suspend-processes"},
		{"batch", "why", "batch is managed by ecs.amazonaws.com"},
		{"web", "  ", "a hold needs a reason"},
	} {
		_, err := r.desk.Hold(t.Context(), c.group, c.reason)
		refused(t, err, c.says)
	}
	for _, name := range []string{"plain", "batch", "web"} {
		if got := r.asked(t, name); got.ID != "" {
			t.Errorf("%s has the request %+v", name, got)
		}
	}
}

func TestARequestThatASweepWouldUseUpWithoutEffectIsRefused(t *testing.T) {
	r := newRig(t)
	r.held(t, nil)
	r.shelf.set(guard.ModeParameter, "observe")
	const says = "the mode of web is observe (/holdfast/mode) while a hold of it is in force"
	_, err := r.desk.Release(t.Context(), "web", "why")
	refused(t, err, says)
	_, err = r.desk.Hold(t.Context(), "web", "why")
	refused(t, err, says)
	if got := r.asked(t, "web"); got.ID != "" {
		t.Errorf("the request %+v was left", got)
	}
	r.shelf.set(guard.ModeParameter, "off") // in mode off a request waits
	ask(t, r.desk.Release, "why")
	r.shelf.set(guard.ModeParameter, "observe")
	r.held(t, func(h *guard.Hold) { h.Observed = true })
	ask(t, r.desk.Release, "another") // what was only observed can be released while observing
}

func TestAFailureIsNoAnswer(t *testing.T) {
	broken := errors.New("no route")
	for name, spoil := range map[string]func(*rig){
		"the group":        func(r *rig) { r.fleet.err = broken },
		"the state":        func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+1, broken) },
		"the Region":       func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+2, broken) },
		"the request":      func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+3, broken) },
		"no ledger at all": func(r *rig) { r.desk = r.blind() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			spoil(r)
			a, err := r.desk.Hold(t.Context(), "web", "why")
			if err == nil || errors.Is(err, operator.ErrRefused) || a.Changed {
				t.Errorf("answer %+v, error %v", a, err)
			}
		})
	}
}

func TestNamesAreQuotedForTheShell(t *testing.T) {
	r := newRig(t)
	const name = "shop's *blue*"
	r.add(name, true)
	r.save(t, name, guard.State{LastSweep: before(time.Second)})
	a, err := r.desk.Hold(t.Context(), name, "why")
	must(t, err)
	if all := strings.Join(a.Lines, "\n"); !strings.Contains(all, `holdfast status 'shop'\''s *blue*'`) {
		t.Errorf("lines:\n%s", all)
	}
}

func TestARequestIsRefusedIfItCannotBeShown(t *testing.T) {
	for name, text := range map[string]string{
		"a second line": "first\nsecond", "a terminal's escape": "red \x1b[31m", "a C1 control": "a\u009bb", "bytes that are no text": "a\xff",
		"zero width only": "\u200b\u2060", "zero width beside letters": "bad\u200bdeploy", "another direction": "ok \u202egnp.exe", "an isolated direction": "a\u2066b",
		"a line separator": "first\u2028second", "a paragraph separator": "first\u2029second", "a soft hyphen": "a\u00adb", "a byte order mark": "\ufeffwhy",
		"fillers only": "\u3164\u115f", "a blank of braille": "\u2800", "a mark without a letter": "\u0301", "blanks of other widths": "\u2003\u3000.\u200b",
		"501 characters": strings.Repeat("ä", 501),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if _, err := r.desk.Hold(t.Context(), "web", text); err == nil || !strings.Contains(err.Error(), "control character") {
				t.Errorf("%q: %v", text, err)
			}
			if got := r.asked(t, "web"); got.ID != "" {
				t.Errorf("request %+v was stored", got)
			}
		})
	}
	r := newRig(t)
	for _, text := range []string{strings.Repeat("ä", 500), "設定が悪い", "e\u0301", "schlecht 🔥", "?", "a\u00a0b"} {
		_, err := r.desk.Hold(t.Context(), "web", text)
		must(t, err)
	}
	o := r.options()
	o.By = "s\u202eam"
	_, err := operator.New(r.ports(), o).Hold(t.Context(), "web", "why")
	refused(t, err, "one that cannot be seen")
}

// holding is a look of the sweep 30 s ago, as the rig has it, that found a trigger.
func holding(prolongs bool) runner.Looked {
	return runner.Looked{At: before(30 * time.Second), Triggers: []guard.Trigger{
		{Cause: guard.CauseOnset, Text: "3 members began to fail within 5m"},
		{Cause: guard.CauseDependency, Name: "db", Text: "hard dependency db is in ALARM", Prolongs: prolongs},
	}}
}

func TestAReleaseIsRefusedWhileWhatHoldsIsStillTrue(t *testing.T) {
	for _, c := range []struct {
		name    string
		seen    runner.Looked
		last    time.Duration
		refused bool
	}{
		{"a trigger that keeps the hold", holding(true), 30 * time.Second, true},
		{"triggers that only begin one", holding(false), 30 * time.Second, false},
		{"nothing is true any more", runner.Looked{At: before(30 * time.Second)}, 30 * time.Second, false},
		{"a look of an earlier sweep is no evidence", func() runner.Looked { l := holding(true); l.At = before(90 * time.Second); return l }(), 30 * time.Second, false},
		{"a sweep four minutes ago is no evidence", func() runner.Looked { l := holding(true); l.At = before(4 * time.Minute); return l }(), 4 * time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.held(t, nil)
			rec, err := r.ledger.Load(t.Context(), arn("web"))
			must(t, err)
			rec.State.LastSweep = before(c.last)
			r.save(t, "web", rec.State)
			r.sawLast(t, c.seen)
			_, err = r.desk.Release(t.Context(), "web", "why")
			if got := errors.Is(err, operator.ErrRefused); got != c.refused {
				t.Fatalf("refused is %v (%v), want %v", got, err, c.refused)
			}
			if asked := r.asked(t, "web").ID != ""; asked == c.refused {
				t.Errorf("a request is there: %v", asked)
			}
			if c.refused {
				tells(t, "the refusal", []string{err.Error()}, "hard dependency db is in ALARM")
			}
		})
	}
}

// What --force cannot pass must not recommend it.
func TestARefusedReleaseRecommendsForceOnlyWhereItHelps(t *testing.T) {
	bad := guard.Trigger{Cause: guard.CauseCorrelated, Text: "3 of 4 are bad", Prolongs: true}
	red := guard.Trigger{Cause: guard.CauseDependency, Name: "db", Text: "hard dependency db is in ALARM", Prolongs: true}
	for _, c := range []struct {
		name     string
		triggers []guard.Trigger
		says     string
		force    bool
	}{
		{"members that are bad", []guard.Trigger{bad}, "3 of 4 are bad", true},
		{"a dependency", []guard.Trigger{red}, "hard dependency db is in ALARM", false},
		{"both", []guard.Trigger{bad, red}, "hard dependency db is in ALARM", false},
		{"both, in the other order", []guard.Trigger{red, bad}, "hard dependency db is in ALARM", false},
	} {
		r := newRig(t)
		r.held(t, nil)
		r.sawLast(t, runner.Looked{At: before(30 * time.Second), Triggers: c.triggers})
		_, err := r.desk.Release(t.Context(), "web", "why")
		refused(t, err, c.says)
		if got := err != nil && strings.Contains(err.Error(), "--force"); got != c.force {
			t.Errorf("%s: --force recommended is %v, want %v: %v", c.name, got, c.force, err)
		}
	}
}

func TestAForcedReleaseSaysWhatItDoesAndCannotPass(t *testing.T) {
	r := newRig(t)
	r.held(t, nil)
	r.sawLast(t, holding(true))
	a, err := r.desk.ReleaseForced(t.Context(), "web", "why")
	must(t, err)
	if got := r.asked(t, "web"); got.Kind != guard.RequestRelease || !got.Force {
		t.Errorf("request %+v", got)
	}
	tells(t, "lines", a.Lines, "asked for a release as sam", "replaced one by one within every limit", "the budget and the gates stay as they are")
	tells(t, "warnings", a.Warnings, "hard dependency db is in ALARM: nothing is released while that is so")
}

func TestAReleaseWarnsOfADependencyWhoseStateIsNotKnown(t *testing.T) {
	const waits = "the state of the hard dependency typo is not known"
	for _, c := range []struct {
		at    guard.Instant
		warns bool
	}{{before(30 * time.Second), true}, {before(time.Hour), false}} {
		r := newRig(t)
		r.held(t, nil)
		r.sawLast(t, runner.Looked{At: c.at, Unknown: []string{"typo"}})
		a, err := r.desk.Release(t.Context(), "web", "why")
		must(t, err)
		if got := strings.Contains(strings.Join(a.Warnings, "\n"), waits); got != c.warns {
			t.Errorf("a look at %v: warnings %q, want the dependency named: %v", c.at, a.Warnings, c.warns)
		}
	}
}

func TestAForcedReleaseMayFollowAPlainOne(t *testing.T) {
	for name, c := range map[string]struct {
		hold  func(*guard.Hold)
		asked bool
	}{
		"one that waits for what holds":  {func(h *guard.Hold) { h.ReleaseBy = "kim" }, true},
		"one that the budget blocks":     {func(h *guard.Hold) { h.ReleaseBy, h.Stage = "kim", guard.StageResume }, true},
		"one that was forced":            {func(h *guard.Hold) { h.ReleaseBy, h.Forced = "kim", true }, false},
		"one that is a look from ending": {func(h *guard.Hold) { h.ReleaseBy, h.Stage = "kim", guard.StageHealthCheck }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.held(t, c.hold)
			a, err := r.desk.ReleaseForced(t.Context(), "web", "why")
			must(t, err)
			if got := r.asked(t, "web").Force; got != c.asked || a.Changed != c.asked {
				t.Errorf("a forced request: %v, changed %v, want %v", got, a.Changed, c.asked)
			}
		})
	}
	r := newRig(t)
	r.held(t, nil)
	ask(t, r.desk.Release, "why")
	ask(t, r.desk.ReleaseForced, "why")
	if !r.asked(t, "web").Force {
		t.Error("the same reason, now forced, is taken for the same request")
	}
}

func TestAReleaseThatIsPastItsQuietTimeHasNothingToSkip(t *testing.T) {
	for stage := guard.StageRestore; stage <= guard.StageResumed; stage++ {
		if stage == guard.StageResume {
			continue // there a forced one has something to do
		}
		r := newRig(t)
		r.held(t, func(h *guard.Hold) { h.Stage = stage })
		for what, release := range map[string]func(context.Context, string, string) (operator.Answer, error){"plain": r.desk.Release, "forced": r.desk.ReleaseForced} {
			a, err := release(t.Context(), "web", "why")
			must(t, err)
			tells(t, what, a.Lines, fmt.Sprintf("past its quiet time, at stage %d of 5", stage), "nothing was changed")
			if r.asked(t, "web").ID != "" || a.Changed {
				t.Errorf("stage %d, %s: a request was left", stage, what)
			}
		}
	}
}

func TestAReleaseOfWhatIsNotHeldSaysNoMore(t *testing.T) {
	r := newRig(t)
	a, err := r.desk.Release(t.Context(), "web", "why")
	must(t, err)
	if len(a.Lines) != 1 {
		t.Errorf("it says %q", a.Lines)
	}
}

// A sweep knows by the name that somebody asked for a release.
func TestARequestByNobodyIsRefused(t *testing.T) {
	for _, by := range []string{"", " ", "\t\n"} {
		r := newRig(t)
		r.held(t, func(h *guard.Hold) { h.Sticky = true })
		o := r.options()
		o.By = by
		d := operator.New(r.ports(), o)
		for kind, do := range map[string]func(context.Context, string, string) (operator.Answer, error){"hold": d.Hold, "release": d.Release, "release --force": d.ReleaseForced} {
			if _, err := do(t.Context(), "web", "mended"); !errors.Is(err, operator.ErrRefused) || !strings.Contains(err.Error(), "needs the name of who asks") {
				t.Errorf("%s by %q: %v", kind, by, err)
			}
		}
		if got := r.asked(t, "web"); got.ID != "" {
			t.Errorf("request %+v was stored", got)
		}
	}
}

func TestARequestThatComesBetweenIsNotLostWithoutAWord(t *testing.T) {
	r := newRig(t)
	r.held(t, nil)
	other := guard.Request{ID: "theirs", Kind: guard.RequestHold, Reason: "in the middle of a restore", By: "kim", At: now()}
	r.ledger.asking = func() {
		r.ledger.asking = nil
		must(t, r.ledger.PutRequest(t.Context(), arn("web"), other))
	}
	a, err := r.desk.Release(t.Context(), "web", "mended")
	must(t, err)
	tells(t, "lines", a.Lines, "web: replaces the hold that kim asked for at 2026-11-30 12:00:00Z (in the middle of a restore), which no sweep has obeyed yet", "asked for a release as sam")
	if got := r.asked(t, "web"); got.Kind != guard.RequestRelease || got.By != "sam" {
		t.Errorf("request %+v", got)
	}
}

func TestTheSameRequestThatComesBetweenIsLeft(t *testing.T) {
	r := newRig(t)
	r.ledger.asking = func() {
		must(t, r.ledger.PutRequest(t.Context(), arn("web"), guard.Request{ID: "theirs", Kind: guard.RequestHold, Reason: "bad deploy", By: "kim", At: now()}))
	}
	a, err := r.desk.Hold(t.Context(), "web", "bad deploy")
	must(t, err)
	tells(t, "lines", a.Lines, "kim has asked for this hold already", "nothing was changed")
}

func TestWhoIsNeverTheFasterOneIsTold(t *testing.T) {
	r := newRig(t)
	n := 0
	r.ledger.asking = func() {
		n++
		must(t, r.ledger.PutRequest(t.Context(), arn("web"), guard.Request{ID: fmt.Sprint("theirs", n), Kind: guard.RequestHold, Reason: fmt.Sprint("reason ", n), By: "kim", At: now()}))
	}
	a, err := r.desk.Hold(t.Context(), "web", "bad deploy")
	refused(t, err, "others ask for something of web at the same time")
	if n != 3 || a.Changed || r.asked(t, "web").ID != "theirs3" {
		t.Errorf("%d tries, answer %+v, request %+v", n, a, r.asked(t, "web"))
	}
}
