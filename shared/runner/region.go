package runner

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// writeTries is how often a write that lost a race is tried on fresh versions.
const writeTries = 5

// regionBox is the Region's item during one run: shared by all groups, written under its version.
type regionBox struct {
	mu      sync.Mutex
	rec     RegionRecord
	readErr string
	dirty   bool
	sw      guard.Switch
}

// returned are reservations of the Region's budget that were certainly not used.
type returned struct {
	group string
	ids   []string
}

// answered is a reservation whose call was made, and when it was answered.
type answered struct {
	group, id string
	at        time.Time
}

func (b *regionBox) load(ctx context.Context, l Ledger) {
	rec, err := l.LoadRegion(ctx)
	if err != nil {
		b.readErr = "ledger: " + err.Error()
		return
	}
	b.rec, b.readErr = rec, ""
}

// reload reads the item again during the parallel part of a run.
func (b *regionBox) reload(ctx context.Context, l Ledger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.load(ctx, l)
}

func (b *regionBox) policies(set PolicySet) {
	b.sw = set.Switch
	b.sw.LastGood = b.rec.LastGoodMode
}

func (b *regionBox) lastGood() (defaults []byte, sw guard.Switch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rec.LastGoodDefaults, b.sw
}

// good keeps the last valid content of what all groups share.
func (b *regionBox) good(r guard.Resolution) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := r.Good[guard.LayerDefaults]; !bytes.Equal(d, b.rec.LastGoodDefaults) {
		b.rec.LastGoodDefaults, b.dirty = d, true
	}
	if r.GoodMode != b.rec.LastGoodMode {
		b.rec.LastGoodMode, b.dirty = r.GoodMode, true
	}
}

func (b *regionBox) known() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readErr != "" {
		return nil
	}
	return b.rec.State.Eligible
}

// view is what the groups of this run see: the item as loaded, with what earlier groups of the run added.
func (s *sweep) regionView() (guard.RegionState, string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	return s.region.rec.State, s.region.readErr
}

// addDelta makes one group's onsets seen by the groups after it, and keeps them for the write at the end.
func (s *sweep) addDelta(d guard.RegionDelta) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	state, changed := guard.MergeRegion(s.region.rec.State, d, s.start)
	s.region.rec.State = state
	s.region.dirty = s.region.dirty || changed
	s.deltas = append(s.deltas, d)
}

// saveRegion writes the Region's item once a run, merged again into whatever another run wrote meanwhile.
func (s *sweep) saveRegion() {
	b := &s.region
	if b.readErr != "" || !b.dirty && !s.strayed && len(s.returns) == 0 && len(s.answered) == 0 && len(s.deltas) == 0 {
		return
	}
	mine := b.rec
	for try := 0; try < writeTries; try++ {
		rec := b.rec
		changed := b.dirty || s.strayed
		if s.strayed {
			rec.Strays = s.strays
		}
		for _, d := range s.deltas {
			state, c := guard.MergeRegion(rec.State, d, s.start)
			rec.State, changed = state, changed || c
		}
		for _, a := range s.answered {
			rec.State, changed = guard.SettleRegion(rec.State, a.group, a.id, a.at), true
		}
		for _, r := range s.returns {
			rec.State, changed = guard.Return(rec.State, r.group, r.ids), true
		}
		if !changed {
			return
		}
		rec.LastGoodDefaults, rec.LastGoodMode = mine.LastGoodDefaults, mine.LastGoodMode
		_, err := s.p.Ledger.SaveRegion(s.ctx, rec)
		if err == nil {
			return
		}
		if !isConflict(err) {
			s.regionFailed("save the Region's item: " + err.Error())
			return
		}
		if b.load(s.ctx, s.p.Ledger); b.readErr != "" {
			s.regionFailed("save the Region's item: load it again: " + b.readErr)
			return
		}
	}
	s.regionFailed(fmt.Sprintf("save the Region's item: lost the race %d times", writeTries))
}

func (s *sweep) regionFailed(why string) {
	s.extra = append(s.extra, GroupResult{Group: "region", Failure: why})
}
