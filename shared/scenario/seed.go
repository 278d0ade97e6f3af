package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// seed writes into the ledger what the file says that earlier sweeps left.
func (w *world) seed(ctx context.Context, s *Scenario) error {
	var region runner.RegionRecord
	for i, g := range s.Groups {
		if !g.History.Clean {
			continue
		}
		p := w.places[i]
		layers, defaults := p.policyLayers()
		resolved := guard.Resolve(append([]guard.Layer{{Name: guard.LayerDefaults, Raw: defaults}}, layers...), guard.Switch{Value: w.mode, Found: true})
		rec := runner.Record{LastGood: map[string][]byte{}}
		for name, good := range resolved.Good {
			if name == guard.LayerDefaults {
				region.LastGoodDefaults = good
			} else {
				rec.LastGood[name] = good
			}
		}
		region.LastGoodMode = resolved.GoodMode
		rec.State = p.past(g.History, s.Interval)
		for _, m := range rec.State.Marks {
			if Start().Sub(m.At.Time()) < time.Hour {
				region.State.Marks = append(region.State.Marks, guard.RegionMark{ID: m.ID, At: m.At})
			}
		}
		if _, err := w.ledger.Save(ctx, p.group.ARN, rec); err != nil {
			return fmt.Errorf("seed state of %s: %w", g.Name, err)
		}
	}
	slices.SortStableFunc(region.State.Marks, func(a, b guard.RegionMark) int { return cmp.Compare(a.At, b.At) })
	if _, err := w.ledger.SaveRegion(ctx, region); err != nil {
		return fmt.Errorf("seed region: %w", err)
	}
	return nil
}

// past is the state item after sweeps that saw every member good.
func (p *place) past(h History, interval time.Duration) guard.State {
	last := Start().Add(h.LastSweep)
	st := guard.State{LastSweep: guard.At(last)}
	for _, m := range p.members {
		if m.entered.After(last) || m.pending.After(last) {
			continue // it came after the last sweep
		}
		st.Members = append(st.Members, m.past(last, interval))
	}
	slices.SortFunc(st.Members, func(a, b guard.MemberState) int { return cmp.Compare(a.ID, b.ID) })
	for _, mark := range h.Marks {
		st.Marks = append(st.Marks, guard.Mark{ID: "history-" + p.group.Name + "-" + mark.Member, Member: mark.Member,
			At: guard.At(Start().Add(mark.At)), By: "guard", Outcome: guard.OutcomeDone, Weight: 1, Gone: p.find(mark.Member) == nil})
	}
	slices.SortStableFunc(st.Marks, func(a, b guard.Mark) int { return cmp.Compare(a.At, b.At) })
	if h.Held != nil {
		st.Hold = p.pastHold(h)
	}
	return st
}

func (m *member) past(last time.Time, interval time.Duration) guard.MemberState {
	since := m.since()
	if since.IsZero() {
		since = last.Add(-interval)
		if m.Lifecycle == "InService" {
			since = Start().Add(-settledAge)
		}
	}
	st := guard.MemberState{ID: m.ID, Lifecycle: m.Lifecycle, Since: guard.At(since), GoodLooks: 2, LookAt: guard.At(last)}
	if b := m.beatAt(last); b.Found {
		st.Beat, st.Boot, st.Seq, st.Stamp = true, b.Boot, b.Seq, guard.At(b.At)
		if !m.beat.Silent {
			st.AdvancedAt = guard.At(last)
		}
	}
	return st
}

// pastHold is a hold of ours, with the processes suspended and their text recorded.
func (p *place) pastHold(h History) *guard.Hold {
	since := Start().Add(h.Held.Since)
	hold := &guard.Hold{ID: "history-" + p.group.Name, Since: guard.At(since), Cause: h.Held.Cause, Text: "held before the scenario began",
		Stage: guard.StageQuiet, StageAt: guard.At(since), Sticky: h.Held.Cause == guard.CauseOperator || h.Held.Cause == guard.CauseNotConverging}
	if h.QuietSince != nil {
		hold.QuietSince = guard.At(Start().Add(*h.QuietSince))
	}
	for _, process := range h.Held.Processes {
		if reason, foreign := p.suspended[process]; foreign {
			hold.Before = append(hold.Before, guard.Suspension{Process: process, Reason: reason})
			continue
		}
		p.suspended[process] = suspendedText(since)
		hold.Ours = append(hold.Ours, guard.HeldProcess{Process: process, IntentAt: guard.At(since), Reason: suspendedText(since)})
	}
	return hold
}

// silence makes the ledger believe a step's last beats at once: a member that was seen beating last advanced at that beat.
func (w *world) silence(ctx context.Context, p *place) error {
	var silent []*member
	for _, row := range p.change.Fleet {
		for _, id := range row.Members {
			if m := p.find(id); m != nil && row.Tokens.Beat != nil && row.Tokens.Beat.Silent {
				silent = append(silent, m)
			}
		}
	}
	if len(silent) == 0 {
		return nil
	}
	rec, err := w.ledger.Load(ctx, p.group.ARN)
	if err != nil {
		return fmt.Errorf("load state of %s: %w", p.group.Name, err)
	}
	for _, m := range silent {
		for i := range rec.State.Members {
			st := &rec.State.Members[i]
			if st.ID != m.ID {
				continue
			}
			b := m.beatAt(w.now)
			st.Beat, st.Seq, st.Boot, st.Stamp = true, b.Seq, b.Boot, guard.At(b.At)
			if st.AdvancedAt != 0 {
				st.AdvancedAt = guard.At(b.At)
			}
		}
	}
	if rec.Version == 0 {
		return nil
	}
	if _, err := w.ledger.Save(ctx, p.group.ARN, rec); err != nil {
		return fmt.Errorf("patch state of %s: %w", p.group.Name, err)
	}
	return nil
}
