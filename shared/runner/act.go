package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Outcomes of a call, besides those that the ledger knows.
const (
	outcomeRefused   = "refused"
	outcomeWithheld  = "withheld"
	outcomeCancelled = "cancelled"
)

// restoresPerRun bounds the calls of one run; the rest is restored by the next ones.
const restoresPerRun = 100

// act makes the calls of a verdict: standing still first, marks last. It returns the verdict with what came of them in its state.
func (j *job) act(v guard.Verdict) guard.Verdict {
	restores := 0
	for _, kind := range []string{guard.ActSuspend, guard.ActRestore, guard.ActResume, guard.ActMark} {
		for _, a := range v.Actions {
			switch {
			case a.Kind != kind:
			case a.Withheld != "":
				j.called(a, outcomeWithheld, nil)
			case kind == guard.ActRestore && restores >= restoresPerRun:
				v.State = j.learn(v.State, func(s guard.State) guard.State { return untried(s, a.Member) })
			default:
				if kind == guard.ActRestore {
					restores++
				}
				v.State = j.call(v.State, a)
			}
		}
	}
	return v
}

// untried takes back the count of a restore that was put off.
func untried(s guard.State, member string) guard.State {
	s.Members = slices.Clone(s.Members)
	for i := range s.Members {
		if s.Members[i].ID == member {
			s.Members[i].RestoreTries--
		}
	}
	return s
}

// call makes one call, notes its outcome, and returns the state with it.
func (j *job) call(s guard.State, a guard.Action) guard.State {
	var err error
	switch a.Kind {
	case guard.ActSuspend:
		err = j.p.Actor.Suspend(j.work, j.base.Name, a.Processes)
	case guard.ActRestore:
		err = j.p.Actor.Restore(j.work, a.Member)
	case guard.ActResume:
		err = j.p.Actor.Resume(j.work, j.base.Name, a.Processes)
	case guard.ActMark:
		err = j.p.Actor.Mark(j.work, a.Member)
	}
	outcome := outcomeOf(err)
	j.called(a, outcome, err)
	switch {
	case a.Kind == guard.ActSuspend && outcome != outcomeRefused:
		s = j.readBack(s)
	case a.Kind == guard.ActMark:
		s = j.settle(s, a, outcome, err)
	}
	return s
}

// outcomeOf says what a call came to: certainly done, certainly nothing, or unknown.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return guard.OutcomeDone
	case errors.Is(err, fault.TooYoung), errors.Is(err, fault.Gone), errors.Is(err, fault.Refused), errors.Is(err, fault.Throttled), errors.Is(err, fault.Conflict):
		return outcomeRefused
	}
	return guard.OutcomeUnknown
}

// settle records what became of a mark: a refused one costs nothing, one whose outcome is unknown stays spent.
func (j *job) settle(s guard.State, a guard.Action, outcome string, err error) guard.State {
	if outcome != outcomeRefused {
		at := j.o.Now()
		j.mu.Lock()
		j.answered = append(j.answered, answered{j.base.ARN, a.ID, at})
		j.mu.Unlock()
		return j.learn(s, func(s guard.State) guard.State { return guard.Settle(s, a.ID, outcome, at) })
	}
	j.giveBack([]string{a.ID})
	var young time.Time
	if errors.Is(err, fault.TooYoung) {
		young = j.start
	}
	return j.learn(s, func(s guard.State) guard.State { return guard.GiveBack(s, a.ID, young) })
}

// readBack notes the reason texts of what was just suspended; if that cannot be read, the next run settles it.
func (j *job) readBack(s guard.State) guard.State {
	g, err := j.p.Fleet.Group(j.work, j.base.Name)
	if err != nil {
		return s
	}
	return j.learn(s, func(s guard.State) guard.State { return guard.RecordSuspended(s, g.Suspended) })
}

// learn applies what a call has shown to a state, and keeps it for the case that another runner has written meanwhile.
func (j *job) learn(s guard.State, fact func(guard.State) guard.State) guard.State {
	j.learned = append(j.learned, fact)
	return fact(s)
}

// called puts a call into the report and the ledger's list of actions. That list is for people: the state, not the list, is what
// counts, so a failure to write it is only reported.
func (j *job) called(a guard.Action, outcome string, err error) {
	c := Call{Action: a, Outcome: outcome}
	if err != nil {
		c.Error = err.Error()
	}
	j.report.Calls = append(j.report.Calls, c)
	if j.readErr != "" {
		return
	}
	if err := j.p.Ledger.PutAction(j.ctx, j.actionRecord(a, outcome, c.Error)); err != nil {
		j.fail(err)
	}
}

// finish delivers the pages and records outcomes and deliveries. A page that could not be delivered stays in the state and is
// sent by the next sweep.
func (j *job) finish(v guard.Verdict) {
	var delivered []guard.Page
	for _, p := range v.Pages {
		if j.overtaken {
			break // the runner that took over pages
		}
		n := Notice{GroupARN: j.base.ARN, Group: j.base.Name, Page: p, At: j.start, Mode: j.policy.Mode}
		if err := j.p.Reporter.Page(j.ctx, n); err != nil {
			j.fail(err)
			continue
		}
		delivered = append(delivered, p)
	}
	if j.closed || len(delivered) == 0 && len(j.report.Calls) == 0 {
		return
	}
	j.looked = lookedAt(v)
	j.learned = append(j.learned, func(s guard.State) guard.State { return guard.Delivered(s, delivered) })
	switch err := j.note(guard.Delivered(v.State, delivered)); {
	case err == nil:
	case isConflict(err):
		j.overtaken = true // the runs that were faster settle what became of our calls
	default:
		j.fail(err)
	}
}

// note makes the last write. If another runner has written since our first one, what it found is newer and stays; only what our
// own calls have shown is added to it.
func (j *job) note(state guard.State) error {
	var err error
	for try := 0; try < writeTries; try++ {
		if err = j.save(state); err == nil || !isConflict(err) {
			return err
		}
		rec, loadErr := j.p.Ledger.Load(j.ctx, j.base.ARN)
		if loadErr != nil {
			return fmt.Errorf("load the state again: %w", loadErr)
		}
		j.rec, j.looked, state = rec, rec.Looked, rec.State
		for _, fact := range j.learned {
			state = fact(state)
		}
	}
	return err
}
