package runner

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// group is one group's look: decide, record, look again before what cannot be undone, act, page, record.
func (s *sweep) group(j *job) {
	defer func() {
		if !j.lostRace {
			s.p.Reporter.Report(s.ctx, j.report)
		}
	}()
	if j.closed {
		return // it panicked before its policy was known
	}
	if err := j.work.Err(); err != nil {
		j.fail(fmt.Errorf("not looked at: %w", err))
		return
	}
	in := j.look(j.work, j.base)
	v, ok := j.claim(&in)
	if !ok {
		return
	}
	j.report.Verdict = v
	s.addDelta(v.Region)
	if !in.Group.OptedIn || in.Group.Operator != "" {
		return
	}
	j.unread(in.Reads)
	v = j.confirm(&in, v)
	v = j.act(v)
	j.report.Verdict = v
	j.finish(v)
}

// claim decides and makes the first write: the state with every intent and reservation. Only the runner whose write succeeds goes
// on; one that lost the race decides again on the winner's state, a few times.
func (j *job) claim(in *guard.Input) (guard.Verdict, bool) {
	for try := 0; try < writeTries; try++ {
		j.remember(in)
		v := j.decide(in)
		if !in.Group.OptedIn || in.Group.Operator != "" || in.Reads.State != "" {
			j.closed = in.Reads.State != ""
			return v, true
		}
		var err error
		if len(v.Marks()) == 0 {
			err = j.write(&v)
		} else {
			v, err = j.claimMarks(in)
		}
		if err == nil {
			return v, true
		}
		if !isConflict(err) {
			return j.unrecorded(v, err), true
		}
		j.load()
		j.region.reload(j.work, j.p.Ledger)
	}
	j.lostRace = true
	j.fail(fmt.Errorf("lost the race for the group's state %d times", writeTries))
	return guard.Verdict{}, false
}

// claimMarks decides again and writes while no other group of the run can reserve: between the two, the Region's budget stands.
func (j *job) claimMarks(in *guard.Input) (guard.Verdict, error) {
	j.marking.Lock()
	defer j.marking.Unlock()
	j.remember(in)
	v := j.decide(in)
	err := j.write(&v)
	return v, err
}

// unread lists the reads that failed among the failures of the look.
func (j *job) unread(r guard.Reads) {
	for _, f := range []struct{ what, why string }{
		{"group", r.Group}, {"targets", r.Targets}, {"heartbeats", r.Heartbeats}, {"activities", r.Activities}, {"instance tags", r.OptOuts},
		{"state", r.State}, {"queue", r.Queue},
	} {
		if f.why != "" {
			j.fail(fmt.Errorf("read %s: %s", f.what, f.why))
		}
	}
}

// write records a verdict: a reservation in one transaction if members are to be marked, a save if not.
func (j *job) write(v *guard.Verdict) error {
	marks := v.Marks()
	j.looked = lookedAt(*v)
	withheld := onlyObserved(marks)
	if withheld {
		v.State = guard.Reserve(v.State, marks, j.start, true)
	}
	if len(marks) == 0 || withheld {
		return j.save(v.State)
	}
	state := guard.Reserve(v.State, marks, j.start, false)
	if err := j.reserve(state, marks); err != nil {
		return err
	}
	v.State = state
	return nil
}

// keepsGood says that the last good contents of a record are those of this look.
func (j *job) keepsGood(kept map[string][]byte) bool {
	if kept == nil {
		return false
	}
	n := 0
	for layer, content := range j.res.Good {
		if layer != guard.LayerDefaults {
			old, known := kept[layer]
			if !known || !bytes.Equal(old, content) {
				return false
			}
			n++
		}
	}
	return n == len(kept)
}

func (j *job) record(state guard.State) Record {
	rec := j.rec
	rec.State, rec.Looked = state, j.looked
	if !j.keepsGood(rec.LastGood) {
		rec.LastGood = map[string][]byte{}
		for layer, content := range j.res.Good {
			if layer != guard.LayerDefaults {
				rec.LastGood[layer] = content
			}
		}
	}
	return rec
}

func (j *job) save(state guard.State) error {
	rec := j.record(state)
	version, err := j.p.Ledger.Save(j.ctx, j.base.ARN, rec)
	if err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	rec.Version = version
	j.rec = rec
	return nil
}

// reserve takes the budget before anything is done: the group's state, the Region's and the actions, all or nothing.
func (j *job) reserve(state guard.State, marks []guard.Action) error {
	b := &j.region
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readErr != "" {
		return fmt.Errorf("reserve: the Region's item: %s: %w", b.readErr, fault.Refused)
	}
	res := Reservation{Group: j.base.ARN, Record: j.record(state), Region: b.rec}
	res.Region.State = guard.ReserveRegion(b.rec.State, j.base.ARN, marks, j.start)
	// An event that is delivered twice gives two runs of one name: each has its own token, or the second would be told that the first's
	// reservation is its own.
	res.Token = fmt.Sprintf("%s|%d|%s|%d|%d", j.req.Run, j.start.UnixNano(), j.base.ARN, res.Record.Version, res.Region.Version)
	for _, m := range marks {
		res.Actions = append(res.Actions, j.actionRecord(m, guard.OutcomeReserved, ""))
	}
	if err := j.p.Ledger.Reserve(j.ctx, res); err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	j.rec = res.Record
	j.rec.Version++
	b.rec = res.Region
	b.rec.Version++
	return nil
}

func (j *job) actionRecord(a guard.Action, outcome, detail string) ActionRecord {
	if a.Note != "" {
		detail = strings.TrimPrefix(detail+"; "+a.Note, "; ")
	}
	return ActionRecord{ID: a.ID, Group: j.base.ARN, Kind: a.Kind, Member: a.Member, Processes: a.Processes, At: j.start, Outcome: outcome, Detail: detail, Run: j.req.Run}
}

// unrecorded is what may go on when the first write failed for another reason than a race: only standing still. Nothing is marked,
// restored or resumed without a record.
func (j *job) unrecorded(v guard.Verdict, err error) guard.Verdict {
	j.closed = true
	j.fail(err)
	var kept []guard.Action
	for _, a := range v.Actions {
		switch a.Kind {
		case guard.ActSuspend:
			kept = append(kept, a)
		case guard.ActMark:
			v.Deferred = append(v.Deferred, guard.Deferral{Member: a.Member, Reason: guard.ReasonBlind, Text: err.Error(), Broken: true})
		}
	}
	v.Actions = kept
	if v.Mode == guard.Watching {
		v.Mode = guard.Blind
	}
	v.Pages = append(slices.Clone(v.Pages), guard.Page{Key: guard.PageBlind, Subject: "ledger", Urgent: len(kept) > 0, Since: guard.At(j.start),
		Text: "the ledger could not be written, so nothing is marked or released, and a hold made now has no record: later it is treated as somebody else's: " + err.Error()})
	return v
}

// irreversible says that a verdict does what cannot be taken back: marks a member, or lets the group replace members again. It asks
// no mode, because observing takes the same path as acting.
func irreversible(v guard.Verdict) bool {
	return slices.ContainsFunc(v.Actions, func(a guard.Action) bool {
		return a.Kind == guard.ActMark || a.Kind == guard.ActResume && slices.Contains(a.Processes, guard.ProcessReplaceUnhealthy)
	})
}

// onlyObserved says that marks are recorded and not sent.
func onlyObserved(marks []guard.Action) bool { return len(marks) > 0 && marks[0].Withheld != "" }

// confirm takes the second look before what cannot be undone. What the second look does not confirm is not done; what it finds
// instead, such as a mass failure, is decided now.
func (j *job) confirm(in *guard.Input, first guard.Verdict) guard.Verdict {
	if j.closed || !irreversible(first) {
		return first
	}
	second, err := j.second(in)
	if err != nil {
		j.fail(err)
		return j.withdraw(first, guard.ReasonBlind, "the second look failed: "+err.Error())
	}
	if sameActions(first, second) {
		if why := j.overruled(first); why != "" {
			second.Actions = first.Actions
			return j.withdraw(second, guard.ReasonLostRace, why)
		}
		second.State = guard.Reserve(second.State, first.Marks(), j.start, onlyObserved(first.Marks()))
		second.Actions = first.Actions
		return second
	}
	return j.reconsider(first, second)
}

// overruled asks the ledger, as the last thing before what cannot be undone, whether another run has decided otherwise since our
// first write: began a hold, or took a release back. Another run that merely looked changes neither.
func (j *job) overruled(v guard.Verdict) (why string) {
	rec, err := j.p.Ledger.Load(j.work, j.base.ARN)
	if err != nil {
		j.fail(fmt.Errorf("load the state before acting: %w", err))
		return "the state could not be read before acting: " + err.Error()
	}
	mine, now := v.State.Hold, rec.State.Hold
	if (mine == nil) != (now == nil) || mine != nil && (mine.ID != now.ID || mine.Stage != now.Stage) {
		j.overtaken = true
		return "another run has decided otherwise meanwhile"
	}
	return ""
}

func sameActions(a, b guard.Verdict) bool {
	return slices.EqualFunc(a.Actions, b.Actions, func(x, y guard.Action) bool {
		return x.Kind == y.Kind && x.Member == y.Member && slices.Equal(x.Processes, y.Processes) && x.Withheld == y.Withheld
	})
}

// withdraw gives up everything that was decided and gives the reservations back. The state stays what was saved, without them.
func (j *job) withdraw(v guard.Verdict, reason guard.Reason, why string) guard.Verdict {
	marks := v.Marks()
	j.cancel(marks, why)
	for _, a := range v.Actions {
		if a.Kind != guard.ActMark {
			j.called(a, outcomeCancelled, errors.New(why))
		}
	}
	state := j.rec.State
	for _, m := range marks {
		state = guard.GiveBack(state, m.ID, time.Time{})
		v.Deferred = append(v.Deferred, guard.Deferral{Member: m.Member, Reason: reason, Text: why, Broken: true})
	}
	state = voidResumes(state, v)
	v.Actions, v.State = nil, state
	sortDeferred(&v)
	return v
}

// voidResumes takes back the intent of a resume that was not made.
func voidResumes(s guard.State, v guard.Verdict) guard.State {
	if s.Hold == nil {
		return s
	}
	h := *s.Hold
	h.Ours = slices.Clone(h.Ours)
	for _, a := range v.Actions {
		for i := range h.Ours {
			if a.Kind == guard.ActResume && slices.Contains(a.Processes, h.Ours[i].Process) {
				h.Ours[i].Resumed = 0
				h.Stage = guard.StageResume
			}
		}
	}
	s.Hold = &h
	return s
}

// reconsider follows the second look where the two differ: marks that both agree on keep their reservation, the others give
// theirs back, and a mark that only the second look wants has none, so it waits.
func (j *job) reconsider(first, second guard.Verdict) guard.Verdict {
	var confirmed, dropped []guard.Action
	wanted := second.Marks()
	for _, m := range first.Marks() {
		if slices.ContainsFunc(wanted, func(w guard.Action) bool { return w.Member == m.Member }) {
			confirmed = append(confirmed, m)
		} else {
			dropped = append(dropped, m)
		}
	}
	j.cancel(dropped, "the second look did not agree")
	for _, m := range dropped {
		if !slices.ContainsFunc(second.Deferred, func(d guard.Deferral) bool { return d.Member == m.Member }) {
			second.Deferred = append(second.Deferred, guard.Deferral{Member: m.Member, Reason: guard.ReasonRecovered, Text: "not broken at the second look"})
		}
	}
	var actions []guard.Action
	for _, a := range second.Actions {
		switch {
		case a.Kind != guard.ActMark:
			actions = append(actions, a)
		case !slices.ContainsFunc(confirmed, func(c guard.Action) bool { return c.Member == a.Member }):
			second.Deferred = append(second.Deferred, guard.Deferral{Member: a.Member, Reason: guard.ReasonLostRace, Text: "found broken at the second look only, without a reservation", Broken: true})
		}
	}
	second.Actions = append(actions, confirmed...)
	second.State = guard.Reserve(second.State, confirmed, j.start, onlyObserved(confirmed))
	sortDeferred(&second)
	j.looked = lookedAt(second)
	if err := j.save(second.State); err != nil {
		if isConflict(err) {
			return j.lost(second, confirmed, err)
		}
		j.cancel(confirmed, "the ledger could not be written")
		return j.unrecorded(second, err)
	}
	return second
}

func sortDeferred(v *guard.Verdict) {
	slices.SortStableFunc(v.Deferred, func(a, b guard.Deferral) int { return strings.Compare(a.Member, b.Member) })
}

// lost ends the group's part of the run: another runner wrote after our first write, and what it found is newer. What was
// reserved is given back.
func (j *job) lost(v guard.Verdict, confirmed []guard.Action, err error) guard.Verdict {
	j.overtaken = true
	v.Notes = append(slices.Clone(v.Notes), "another run was faster: "+err.Error())
	j.cancel(confirmed, "another run wrote the group's state")
	v.Actions = nil
	return v
}

// cancel notes reservations that were certainly not used, so that they are given back.
func (j *job) cancel(marks []guard.Action, why string) {
	var ids []string
	for _, m := range marks {
		ids = append(ids, m.ID)
		j.called(m, outcomeCancelled, errors.New(why))
	}
	j.giveBack(ids)
	j.learned = append(j.learned, func(s guard.State) guard.State {
		for _, id := range ids {
			s = guard.GiveBack(s, id, time.Time{})
		}
		return s
	})
}

// giveBack returns reservations to the Region's budget at the end of the run.
func (j *job) giveBack(ids []string) {
	if len(ids) == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.returns = append(j.returns, returned{j.base.ARN, ids})
}
