package notify

import (
	"context"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// AgainMin is how soon a condition that ended may be told as a new one. Guard keeps its own, longer interval; this one bounds
// what is told when there is no state to keep it in, such as while the ledger cannot be written.
const AgainMin = 10 * time.Minute

// aheadMax is how far a notice may be dated ahead of the clock here. It is far more than clocks of AWS differ.
const aheadMax = 5 * time.Minute

// dated brings a notice of a clock that is fast back to now. Remembered as it came, it would silence the condition until that time.
func (n Notice) dated(now time.Time) Notice {
	if n.At.Sub(now) > aheadMax {
		n.claimed, n.At = n.At, now
	}
	if n.Since.After(n.At) {
		n.Since = n.At
	}
	return n
}

// Told is what a channel was told last of a condition.
type Told struct {
	// Since is when the condition had begun, At when the notice was decided.
	Since  time.Time `json:"since"`
	At     time.Time `json:"at"`
	Urgent bool      `json:"urgent,omitempty"`
	// Claimed is the time that a notice of a clock far ahead gave itself, by which a repeat of it is known; the zero time for others.
	Claimed time.Time `json:"claimed,omitzero"`
}

// Record is what is remembered of a condition.
type Record struct {
	// Version counts writes; 0 means that nothing is stored.
	Version int64
	// Told is by channel.
	Told map[string]Told
	// Busy is until when another delivery may still be sending; the zero time if none is.
	Busy time.Time
	// BusySince is the Since of the notice that it sends, the zero time if none is.
	BusySince time.Time
}

// Memory keeps a Record for each condition. Save writes if the version is still r.Version, and returns the record with the new
// version, or an error of kind fault.Conflict if another writer was faster.
type Memory interface {
	Load(ctx context.Context, c Condition) (Record, error)
	Save(ctx context.Context, c Condition, r Record) (Record, error)
}

// Why a channel was not sent a notice.
const (
	SkipUnwanted = "not for this channel"
	SkipRepeated = "told already, or overtaken by a newer notice"
	SkipSame     = "the first notice of this condition was told already"
	SkipFlapping = "the same condition was told shortly before"
	SkipEnded    = "the hold that it is about has been told as released"
)

// skip says why a channel that was told last is not owed a notice, or "" if it is.
func skip(n Notice, last Told) string {
	switch {
	case last.At.IsZero():
		return ""
	case !n.At.After(last.At), !n.claimed.IsZero() && n.claimed.Equal(last.Claimed):
		return SkipRepeated
	case n.Reminder, n.Urgent && !last.Urgent:
		return ""
	case n.Since.Equal(last.Since):
		return SkipSame
	case happens(n.Key):
		return ""
	case n.Key != guard.PageHeld && n.At.Sub(last.At) < AgainMin:
		return SkipFlapping
	}
	return ""
}

// happens says that a key is an event and no condition that lasts: each one is told.
func happens(key string) bool {
	return key == guard.PageReleased || key == guard.PageSuspensionRemoved
}

// ended says that a notice about a hold comes after the notice that the hold was released.
func ended(n Notice, g Guide, released Told) bool {
	return g.OfHold && !released.At.IsZero() && n.Since.Before(released.Since)
}

// ending is ended for a release that may be on its way to the channel, too.
func ending(n Notice, g Guide, released Record, channel string) bool {
	return ended(n, g, released.Told[channel]) || g.OfHold && n.Since.Before(released.BusySince)
}
