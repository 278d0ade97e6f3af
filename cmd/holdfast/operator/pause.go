package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// meaning is what a value of the switch does, for people.
func meaning(mode string) string {
	switch mode {
	case guard.ModeOff:
		return "every group is only read and recorded, pages go out, nothing is decided; when it ends, quiet and confirmation start again"
	case guard.ModeObserve:
		return "every group is judged and reported, and no call is made"
	case guard.ModeAct:
		return "each group does what its own policy says"
	}
	return "not a mode: the last good value is in force, or observe if there never was one"
}

// looksMax is how often a command looks at most when somebody else is faster to write.
const looksMax = 3

// SetMode turns the one big switch, /holdfast/mode, to act, observe or off. The switch must exist: it is created with the stack, and
// one that does not exist reads as observe. Turned already, it is left as it is. Somebody else's change between look and write is not
// overwritten, but by off, which is stricter than any. Holds in force are told as warnings; that they cannot be read keeps nothing from
// being switched.
func (d *Desk) SetMode(ctx context.Context, mode string) (Answer, error) {
	if mode != guard.ModeAct && mode != guard.ModeObserve && mode != guard.ModeOff {
		return Answer{}, refuse("mode %q, want act, observe or off", mode)
	}
	looks := 1
	if mode == guard.ModeOff {
		looks = looksMax
	}
	return d.turn(ctx, looks, func(string) string { return mode })
}

// Pause turns the switch to observe, unless it is at off, which is stricter.
func (d *Desk) Pause(ctx context.Context) (Answer, error) {
	return d.turn(ctx, looksMax, func(now string) string {
		if now == guard.ModeOff {
			return guard.ModeOff
		}
		return guard.ModeObserve
	})
}

// turn turns the switch to what is chosen for its present value, and looks again, at most so often, when somebody else was faster.
func (d *Desk) turn(ctx context.Context, looks int, choose func(now string) string) (Answer, error) {
	for {
		seen, err := d.parameter(ctx, guard.ModeParameter)
		if err != nil {
			return Answer{}, err
		}
		if seen.Version == 0 {
			return Answer{}, refuse("%s does not exist: Holdfast is not deployed in this account and Region, or the switch was deleted and reads as observe; this makes it again:\n  "+
				"aws ssm put-parameter --type String --name %s --allowed-pattern '%s' --value %s", guard.ModeParameter, guard.ModeParameter, guard.ModePattern, wanted(choose))
		}
		a, err := d.set(ctx, choose(seen.Value), seen)
		if looks--; looks == 0 || !errors.As(err, new(meanwhileError)) {
			return a, err
		}
	}
}

// wanted is the mode to make the switch with when it does not exist: never a looser one than it reads as.
func wanted(choose func(now string) string) string {
	if mode := choose(guard.ModeObserve); mode != guard.ModeAct {
		return mode
	}
	return guard.ModeObserve
}

// set turns the switch from what was seen to a mode.
func (d *Desk) set(ctx context.Context, mode string, seen Parameter) (Answer, error) {
	var a Answer
	if seen.Value == mode {
		a.say("%s is %s already; nothing was changed", guard.ModeParameter, mode)
	} else {
		version, err := d.replace(ctx, guard.ModeParameter, mode, seen)
		if err != nil {
			return Answer{}, err
		}
		a.Changed = true
		a.say("%s: %s -> %s (version %d)", guard.ModeParameter, seen.Value, mode, version)
	}
	a.say("from the next sweep, at the latest in %s: %s", d.o.SweepInterval, meaning(mode))
	d.holdsInForce(ctx, &a, mode)
	return a, nil
}

// holdsInForce warns of what the switch does to holds.
func (d *Desk) holdsInForce(ctx context.Context, a *Answer, mode string) {
	held, err := d.held(ctx)
	if err != nil {
		a.warn("whether holds are in force could not be read: %v", err)
	}
	for _, f := range held {
		h := f.rec.State.Hold
		text := fmt.Sprintf("%s is held since %s (%s), stage %d of %d", f.group.Name, stamp(h.Since.Time()), h.Cause, h.Stage, guard.StageResumed)
		if mode == guard.ModeAct {
			a.warn("%s: the next sweep takes it up again, at stage %d", text, guard.StageQuiet)
			continue
		}
		a.warn("%s: its processes stay suspended, and nothing releases them until the mode is act", text)
	}
}

// held are the guarded groups with a hold that made calls.
func (d *Desk) held(ctx context.Context) ([]*file, error) {
	if d.p.Ledger == nil {
		return nil, errNoLedger
	}
	groups, err := d.p.Fleet.Guarded(ctx)
	if err != nil {
		return nil, err
	}
	var out []*file
	for _, g := range groups {
		rec, err := d.p.Ledger.Load(ctx, g.ARN)
		if err != nil {
			return out, fmt.Errorf("%s: %w", g.Name, err)
		}
		if h := rec.State.Hold; h != nil && !h.Observed {
			out = append(out, &file{group: g, rec: rec})
		}
	}
	return out, nil
}
