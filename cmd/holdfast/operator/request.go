package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// errNoLedger is a command that needs the ledger without one.
var errNoLedger = errors.New("no state table: set HOLDFAST_STATE_TABLE or --state-table")

// sweepsMissed is how many intervals without a sweep make a person doubt that anybody is there to obey.
const sweepsMissed = 3

// Hold asks the next sweep to hold a group until a person releases it. A group that is held so already, or for which the same was
// asked, is left as it is.
func (d *Desk) Hold(ctx context.Context, name, reason string) (Answer, error) {
	return d.request(ctx, wish{kind: guard.RequestHold, name: name, reason: reason})
}

// Release asks the next sweep to release a group's hold. It takes the place of the quiet time and of nothing else. A group that is
// not held, or whose release is past the quiet time, is left as it is. While the last look's record has a trigger that keeps the hold, it
// is refused: the request would stand until that ends, perhaps at night, and then skip the quiet time.
func (d *Desk) Release(ctx context.Context, name, reason string) (Answer, error) {
	return d.request(ctx, wish{kind: guard.RequestRelease, name: name, reason: reason})
}

// ReleaseForced asks for the paced exit: what is bad when the next look obeys keeps nothing held any more, and is repaired one by one.
// It passes no limit, and a dependency in ALARM and whoever fails later still hold.
func (d *Desk) ReleaseForced(ctx context.Context, name, reason string) (Answer, error) {
	return d.request(ctx, wish{kind: guard.RequestRelease, name: name, reason: reason, force: true})
}

// wish is what a person asks for.
type wish struct {
	kind, name, reason string
	force              bool
}

func (d *Desk) request(ctx context.Context, w wish) (Answer, error) {
	kind, name := w.kind, w.name
	reason := strings.TrimSpace(w.reason)
	switch {
	case d.p.Ledger == nil:
		return Answer{}, errNoLedger
	case reason == "":
		return Answer{}, refuse("a %s needs a reason, for those who read of it later", kind)
	case strings.TrimSpace(d.o.By) == "":
		return Answer{}, refuse("a %s needs the name of who asks: without one no sweep obeys it", kind)
	case !tellable(reason) || !tellable(d.o.By):
		return Answer{}, refuse("a reason, and who asks, stand on pages and terminals: one line each, at most %d characters, something to see among them, and none of them a control character or one that cannot be seen", textMax)
	}
	for looks := 1; ; looks++ {
		a, err := d.look(ctx, w, reason)
		if !errors.Is(err, fault.Conflict) {
			return a, err
		}
		if looks == looksMax {
			return Answer{}, refuse("others ask for something of %s at the same time, and what they ask for stands: holdfast status %s shows it; nothing was changed", name, quoted(name))
		}
	}
}

// look reads the group and asks; fault.Conflict if somebody else has asked meanwhile, so that it is seen what is replaced.
func (d *Desk) look(ctx context.Context, w wish, reason string) (Answer, error) {
	kind, name := w.kind, w.name
	f, err := d.open(ctx, name)
	if err != nil {
		return Answer{}, err
	}
	switch {
	case f.group.Operator != "":
		return Answer{}, refuse("%s is managed by %s: no sweep touches it", name, f.group.Operator)
	case !f.group.OptedIn:
		return Answer{}, refuse("%s does not carry the tag holdfast:guard=true: no sweep looks at it%s", name, byHand(f, kind))
	}
	var a Answer
	if why := f.done(w, reason); why == "" && f.spent() {
		return Answer{}, refuse("the mode of %s is observe (%s) while a hold of it is in force: a sweep would take the %s as done and change nothing; end that mode first, then ask", name, f.res.Sources["mode"], kind)
	} else if why != "" {
		a.say("%s: %s; nothing was changed", name, why)
		if kind == guard.RequestHold || f.rec.State.Hold != nil {
			d.prospects(&a, f, w)
		}
		return a, nil
	}
	if t := d.keeps(f); kind == guard.RequestRelease && t != nil && !w.force {
		way := "mend it first; or, if each of the members that are still bad is to be replaced, ask with --force: they are then repaired one by one within every limit"
		if t.Cause == guard.CauseDependency {
			way = "mend it first; no request passes a dependency in ALARM"
		}
		return Answer{}, refuse("%s is held by what is still true: %s; a request to release would stand until that ends and then skip the quiet time: %s", name, t.Text, way)
	}
	now := d.o.Now()
	q := guard.Request{ID: kind + "-" + now.UTC().Format("20060102T150405Z") + "-" + d.o.NewID(), Kind: kind, Reason: reason, By: d.o.By, At: now.UTC(), Force: w.force}
	if p := f.pending(); p != nil {
		a.say("%s: replaces the %s that %s asked for at %s (%s), which no sweep has obeyed yet", name, p.Kind, p.By, stamp(p.At), p.Reason)
	}
	if err := d.p.Ledger.ReplaceRequest(ctx, f.group.ARN, q, f.rec.Request.ID); err != nil {
		return Answer{}, fmt.Errorf("ask for the %s of %s: %w", kind, name, written(err))
	}
	a.Changed = true
	a.say("%s: asked for a %s as %s: %s (request %s)", name, kind, q.By, reason, q.ID)
	d.prospects(&a, f, w)
	return a, nil
}

// textMax is how many characters a reason or a name may have.
const textMax = 500

// tellable says that a text can be shown as it is, on a page and on a terminal, and that there is something to see.
func tellable(text string) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= textMax && strings.IndexFunc(text, hidden) < 0 && strings.IndexFunc(text, visible) >= 0
}

// hidden says that a character steers how others are shown, and is not shown itself: controls, formats such as the change of direction, and
// the separators of lines and paragraphs.
func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// visible says that a character leaves ink. Fillers count as letters and leave none.
func visible(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && r != brailleBlank
}

// done says why there is nothing to ask for, "" if there is.
func (f *file) done(w wish, reason string) string {
	kind := w.kind
	if p := f.pending(); p != nil {
		if p.Kind == kind && p.Reason == reason && p.Force == w.force {
			return fmt.Sprintf("%s has asked for this %s already at %s", p.By, kind, stamp(p.At))
		}
		return ""
	}
	h := guard.Prepare(f.rec.State, f.res.Policy).Hold
	switch {
	case kind == guard.RequestHold && h != nil && h.Sticky && h.ReleaseBy == "":
		is := "is held"
		if h.Observed {
			is = "would be held (no call was made)"
		}
		return fmt.Sprintf("%s since %s until a person releases it (%s)", is, stamp(h.Since.Time()), h.Cause)
	case kind == guard.RequestRelease && h == nil:
		return "is not held: there is nothing to release"
	case w.force && !h.Forced && (h.Stage == guard.StageQuiet || h.Stage == guard.StageResume):
		return "" // also what was asked for without, and what the budget blocks
	case kind == guard.RequestRelease && h.ReleaseBy != "":
		return fmt.Sprintf("%s has asked for the release already, it is at stage %d of %d", h.ReleaseBy, h.Stage, guard.StageResumed)
	case kind == guard.RequestRelease && h.Stage == guard.StageResume:
		return fmt.Sprintf("is being released already and past its quiet time, at stage %d of %d: there is nothing that a request could skip. If the budget blocks it, --force has those members replaced one by one",
			h.Stage, guard.StageResumed)
	case kind == guard.RequestRelease && h.Stage > guard.StageQuiet:
		return fmt.Sprintf("is being released already and past its quiet time, at stage %d of %d: there is nothing that a request could skip", h.Stage, guard.StageResumed)
	}
	return ""
}

// forced tells what a forced release does, and what it waits for.
func forced(a *Answer, f *file) {
	a.say("forced: the members that are bad when the next sweep obeys keep nothing held; they are set Healthy, and then replaced one by one within every limit; the budget and the gates stay as they are")
	for _, t := range f.rec.Looked.Triggers {
		if f.rec.Looked.At == f.rec.State.LastSweep && t.Cause == guard.CauseDependency {
			a.warn("%s: nothing is released while that is so, forced or not", t.Text)
		}
	}
}

// keeps is a trigger that keeps the hold from ending, as the last look recorded it, a dependency before all others, because nobody can pass
// it; nil if none is, or if that look is too old to tell.
func (d *Desk) keeps(f *file) *guard.Trigger {
	if f.rec.Looked.At != f.rec.State.LastSweep || d.late(f) != "" {
		return nil
	}
	var found *guard.Trigger
	for i := range f.rec.Looked.Triggers {
		if t := &f.rec.Looked.Triggers[i]; t.Prolongs && (found == nil || found.Cause != guard.CauseDependency && t.Cause == guard.CauseDependency) {
			found = t
		}
	}
	return found
}

// spent says that a sweep would use a request up without effect: while observing, a hold that was made for real stays as it is.
func (f *file) spent() bool {
	h := f.rec.State.Hold
	return h != nil && !h.Observed && f.res.Policy.Mode == guard.ModeObserve
}

// prospects tells what will come of a request, and what stands in its way.
func (d *Desk) prospects(a *Answer, f *file, w wish) {
	name, p, kind := f.group.Name, f.res.Policy, w.kind
	switch {
	case kind == guard.RequestHold:
		d.suspending(a, f)
		a.say("to end it: holdfast release %s --reason TEXT", quoted(name))
	case w.force:
		forced(a, f)
	default:
		a.say("it takes the place of the quiet time only: a trigger that is still true, the restores, the wait after HealthCheck and the budget stay as they are")
	}
	a.say("to watch it: holdfast status %s", quoted(name))
	if looked := f.rec.Looked; kind == guard.RequestRelease && looked.At == f.rec.State.LastSweep {
		for _, alarm := range looked.Unknown {
			a.warn("%s", unknownLine(alarm))
		}
	}
	if msg := f.readError(); msg != "" {
		a.warn("the policy cannot be read, so the mode is not certain: %s", msg)
	}
	switch {
	case p.Mode == guard.ModeOff:
		a.warn("the mode is off (%s): no sweep obeys until it is act or observe", f.res.Sources["mode"])
	case p.Mode == guard.ModeObserve:
		a.warn("the mode is observe (%s): no call is made, and what is only observed ends with that mode%s", f.res.Sources["mode"], byHand(f, kind))
	case p.Action == guard.ActionAlertOnly:
		a.warn("the group's action is alert-only: no call is made%s", byHand(f, kind))
	}
	switch late := d.late(f); {
	case late == "":
	case f.rec.State.LastSweep.Time().After(d.o.Now()):
		a.warn("%s", late)
	default:
		a.warn("%s: perhaps nobody is there to obey%s", late, byHand(f, kind))
	}
}

// suspending tells what a hold has suspended and what the next sweep will. Where no call is made there is nothing to foretell.
func (d *Desk) suspending(a *Answer, f *file) {
	h := holdOf(guard.Prepare(f.rec.State, f.res.Policy).Hold)
	switch {
	case h == nil || len(h.Processes) == 0:
	case h.Observed:
		a.say("would have suspended: %s", strings.Join(h.Processes, ", "))
	default:
		a.say("suspended by Holdfast: %s", strings.Join(h.Processes, ", "))
	}
	if f.res.Policy.Mode != guard.ModeAct || f.res.Policy.Action == guard.ActionAlertOnly {
		return
	}
	var missing, foreign []string
	for _, p := range f.res.Policy.HoldProcesses {
		switch {
		case !slices.ContainsFunc(f.group.Suspended, func(s guard.Suspension) bool { return s.Process == p }):
			missing = append(missing, p)
		case h == nil || h.Observed || !slices.Contains(h.Processes, p):
			foreign = append(foreign, p)
		}
	}
	if len(foreign) > 0 {
		a.say("suspended already, not by Holdfast: %s", strings.Join(foreign, ", "))
	}
	what := "has nothing left to suspend"
	if len(missing) > 0 {
		what = "suspends " + strings.Join(missing, ", ")
	}
	a.say("the next sweep, at the latest in %s, %s; until a release nobody in the group is marked", d.o.SweepInterval, what)
}

// late says that the group was not looked at for too long, or by a clock that differs; "" if neither.
func (d *Desk) late(f *file) string {
	last := f.rec.State.LastSweep
	if last == 0 {
		return "no sweep has looked at this group yet"
	}
	switch age := d.o.Now().Sub(last.Time()); {
	case age > sweepsMissed*d.o.SweepInterval:
		return "the last sweep was " + sweptAgo(d.o.Now(), last.Time()) + ", " + stamp(last.Time())
	case age < -skewAllowed:
		return "the last sweep was " + sweptAgo(d.o.Now(), last.Time())
	}
	return ""
}

// byHand is the way to hold a group without Holdfast. There is none for a release here: which members are then terminated has to be
// looked at first, and the README says how.
func byHand(f *file, kind string) string {
	if kind != guard.RequestHold {
		return ""
	}
	return fmt.Sprintf("; by hand: aws autoscaling suspend-processes --auto-scaling-group-name %s --scaling-processes %s",
		quoted(f.group.Name), strings.Join(f.res.Policy.HoldProcesses, " "))
}

// quoted writes a name for a shell if it needs it: a group's name may hold almost any character.
func quoted(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._/", r)
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 && name[0] != '-' {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
