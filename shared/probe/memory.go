package probe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Record is the last result of one source. Times are milliseconds since 1970.
type Record struct {
	// Source is a fingerprint of the source as it was: what is counted for one check says nothing about another.
	Source string `json:"source"`
	// At is when it was last checked, with or without a result.
	At int64 `json:"at"`
	// Outcome, Cause and Detail are what was found then.
	Outcome Outcome `json:"outcome"`
	Cause   Cause   `json:"cause,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	// InRow counts failed checks since the last one that passed, 0 or more; Since is when the first of them was. A check
	// without a result changes neither.
	InRow int   `json:"in_row,omitempty"`
	Since int64 `json:"since,omitempty"`
}

// Remembered is all that one run leaves for the next.
type Remembered struct {
	// Version is the memory's own: what Load gave must come back to Save, 0 when there was nothing.
	Version int64
	// Records are by the source's name.
	Records map[string]Record
	// LastGood are the last sources that were accepted, as written, "" for none.
	LastGood string
}

// Memory keeps what is remembered, for as long as it likes but never changed.
type Memory interface {
	// Load gives the zero value when nothing was ever saved.
	Load(ctx context.Context) (Remembered, error)
	// Save replaces what has the same version; fault.Conflict says that another run was faster.
	Save(ctx context.Context, r Remembered) error
}

// fingerprint changes with everything that a source says.
func fingerprint(s Source) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", s))
	return hex.EncodeToString(sum[:8])
}

// early is how long before its time a source is due, so that a late tick does not push the next one out and a repeated one does
// nothing. It is half of the shortest interval, whatever the document's: the schedule may tick as often as that, and half of a longer
// interval would let a source be checked up to twice as often as the load says.
const early = IntervalMin * time.Second / 2

// due says whether a source is to be checked now. A record from the future is no reason to wait.
func due(s Source, last Record, now time.Time) bool {
	since := now.Sub(time.UnixMilli(last.At))
	return last.Source != fingerprint(s) || since < 0 || since >= s.Every-early
}

// next is the record after a check.
func next(last Record, v Verdict, now time.Time) Record {
	mark := fingerprint(v.Source)
	if last.Source != mark {
		last = Record{}
	}
	r := Record{Source: mark, At: now.UnixMilli(), Outcome: v.Outcome, Cause: v.Cause, Detail: v.Detail, InRow: last.InRow, Since: last.Since}
	switch v.Outcome {
	case Passed:
		r.InRow, r.Since = 0, 0
	case Failed:
		if r.InRow == 0 {
			r.Since = r.At
		}
		r.InRow++
	case Unknown:
	}
	return r
}

// count tells the verdict what was remembered before it and what is after it.
func (v *Verdict) count(before, after Record) {
	v.Counted, v.InRow = true, after.InRow
	if before.Source == after.Source {
		v.Before = before
	}
	if after.InRow > 0 {
		v.Since = time.UnixMilli(after.Since)
	}
}

// uncount takes back what was counted when it could not be kept: each run then begins from the same record, and a row that is told
// as too short for down would be told so for as long as that lasts. A row that is long enough is down all the same, and a check
// that passed needs no memory.
func (v *Verdict) uncount() {
	if v.Outcome == Passed || v.Down() {
		return
	}
	v.Counted, v.InRow, v.Since = false, 0, time.Time{}
}
