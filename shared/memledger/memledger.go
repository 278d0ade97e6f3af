package memledger

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// ReservedActionsMax is how many action items fit into one reservation beside the two states. Source: DynamoDB developer
// guide, TransactWriteItems takes at most 100 actions.
const ReservedActionsMax = 98

// Ledger is a runner.Ledger in memory. It is safe for concurrent use.
type Ledger struct {
	mu sync.Mutex
	// values says that contents are kept as they are and not as JSON.
	values   bool
	groups   map[string]item
	region   item
	requests map[string]kept
	actions  map[actionKey]kept
	tokens   map[string]kept

	hooks                 Hooks
	failBefore, failAfter map[int]error
	calls                 int
}

type item struct {
	version int64
	content kept
}

type actionKey struct{ group, at, id string }

// New returns an empty ledger.
func New() *Ledger {
	return &Ledger{
		groups:     map[string]item{},
		requests:   map[string]kept{},
		actions:    map[actionKey]kept{},
		tokens:     map[string]kept{},
		failBefore: map[int]error{},
		failAfter:  map[int]error{},
	}
}

// NewOfValues returns an empty ledger that keeps contents as they are, without a way through JSON: several times faster, for runs
// of which there are many. What a caller has handed in or got out is shared then, and nobody may change it.
func NewOfValues() *Ledger {
	l := New()
	l.values = true
	return l
}

// Load reads a group's item and its operator request; no item is the zero Record but for the request.
func (l *Ledger) Load(ctx context.Context, groupARN string) (runner.Record, error) {
	var rec runner.Record
	err := l.around(OpLoad, groupARN, func() (err error) {
		if err := alive(ctx, "load state"); err != nil {
			return err
		}
		one := l.groups[groupARN]
		if rec, err = taken[runner.Record](one.content); err != nil {
			return err
		}
		rec.Version = one.version
		rec.Request, err = taken[guard.Request](l.requests[groupARN])
		return err
	})
	if err != nil {
		return runner.Record{}, err
	}
	return rec, nil
}

// Save writes a group's item if its version is still rec.Version and returns the new version; otherwise fault.Conflict. The
// record's Request is not written.
func (l *Ledger) Save(ctx context.Context, groupARN string, rec runner.Record) (int64, error) {
	next := rec.Version + 1
	err := l.around(OpSave, groupARN, func() error {
		if err := alive(ctx, "save state"); err != nil {
			return err
		}
		content, err := l.keepRecord(rec)
		if err != nil {
			return err
		}
		if have := l.groups[groupARN].version; have != rec.Version {
			return overtaken("save state", have, rec.Version)
		}
		l.groups[groupARN] = item{version: next, content: content}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return next, nil
}

// LoadRegion reads the Region's item; no item is the zero RegionRecord.
func (l *Ledger) LoadRegion(ctx context.Context) (runner.RegionRecord, error) {
	var rec runner.RegionRecord
	err := l.around(OpLoadRegion, "", func() (err error) {
		if err := alive(ctx, "load region"); err != nil {
			return err
		}
		rec, err = taken[runner.RegionRecord](l.region.content)
		rec.Version = l.region.version
		return err
	})
	if err != nil {
		return runner.RegionRecord{}, err
	}
	return rec, nil
}

// SaveRegion writes the Region's item on the same terms as Save.
func (l *Ledger) SaveRegion(ctx context.Context, rec runner.RegionRecord) (int64, error) {
	next := rec.Version + 1
	err := l.around(OpSaveRegion, "", func() error {
		if err := alive(ctx, "save region"); err != nil {
			return err
		}
		content, err := l.keep("region", rec)
		if err != nil {
			return err
		}
		if l.region.version != rec.Version {
			return overtaken("save region", l.region.version, rec.Version)
		}
		l.region = item{version: next, content: content}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return next, nil
}

// Reserve writes all of a reservation or nothing. A repeat with the same token and the same content succeeds and changes
// nothing; one with other content is fault.Refused.
func (l *Ledger) Reserve(ctx context.Context, r runner.Reservation) error {
	return l.around(OpReserve, r.Group, func() error {
		if err := alive(ctx, "reserve"); err != nil {
			return err
		}
		return l.reserve(r)
	})
}

func (l *Ledger) reserve(r runner.Reservation) error {
	if err := checkReservation(r); err != nil {
		return err
	}
	whole, err := l.keep("reservation", r)
	if err != nil {
		return err
	}
	if seen, ok := l.tokens[r.Token]; ok {
		if seen.equal(whole) {
			return nil
		}
		return fmt.Errorf("reserve: %w: token %q was used for another reservation", fault.Refused, r.Token)
	}
	group, err := l.keepRecord(r.Record)
	if err != nil {
		return err
	}
	region, err := l.keep("region", r.Region)
	if err != nil {
		return err
	}
	if have := l.groups[r.Group].version; have != r.Record.Version {
		return overtaken("reserve state", have, r.Record.Version)
	}
	if l.region.version != r.Region.Version {
		return overtaken("reserve region", l.region.version, r.Region.Version)
	}
	for _, a := range r.Actions {
		if err := l.putAction(a); err != nil {
			return err
		}
	}
	l.groups[r.Group] = item{version: r.Record.Version + 1, content: group}
	l.region = item{version: r.Region.Version + 1, content: region}
	l.tokens[r.Token] = whole
	return nil
}

// PutAction writes one action item, or replaces the one with the same group, time and id.
func (l *Ledger) PutAction(ctx context.Context, a runner.ActionRecord) error {
	return l.around(OpPutAction, a.Group, func() error {
		if err := alive(ctx, "put action"); err != nil {
			return err
		}
		if err := checkAction(a); err != nil {
			return err
		}
		return l.putAction(a)
	})
}

func (l *Ledger) putAction(a runner.ActionRecord) error {
	content, err := l.keep("action", a)
	if err != nil {
		return err
	}
	l.actions[keyOf(a)] = content
	return nil
}

// Actions returns a group's action items of since or later, oldest first.
func (l *Ledger) Actions(ctx context.Context, groupARN string, since time.Time) ([]runner.ActionRecord, error) {
	var out []runner.ActionRecord
	err := l.around(OpActions, groupARN, func() error {
		if err := alive(ctx, "list actions"); err != nil {
			return err
		}
		for key, content := range l.actions {
			a, err := taken[runner.ActionRecord](content)
			if err != nil {
				return err
			}
			if key.group == groupARN && !a.At.Before(since) {
				out = append(out, a)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := keyOf(out[i]), keyOf(out[j])
		return a.at < b.at || a.at == b.at && a.id < b.id
	})
	return out, nil
}

// PutRequest stores what an operator asks for a group, in place of an earlier request.
func (l *Ledger) PutRequest(ctx context.Context, groupARN string, q guard.Request) error {
	return l.around(OpPutRequest, groupARN, func() error {
		if err := alive(ctx, "put request"); err != nil {
			return err
		}
		if groupARN == "" || q.ID == "" || q.By == "" || q.Kind != guard.RequestHold && q.Kind != guard.RequestRelease {
			return fmt.Errorf("put request: %w: no group, id, kind or nobody who asks", fault.Refused)
		}
		content, err := l.keep("request", q)
		if err != nil {
			return err
		}
		l.requests[groupARN] = content
		return nil
	})
}

// DeleteRequest removes a group's operator request; there need not be one.
func (l *Ledger) DeleteRequest(ctx context.Context, groupARN string) error {
	return l.around(OpDeleteRequest, groupARN, func() error {
		if err := alive(ctx, "delete request"); err != nil {
			return err
		}
		delete(l.requests, groupARN)
		return nil
	})
}
