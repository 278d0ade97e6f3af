package memledger_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/ledger/ledgertest"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Ledger = (*memledger.Ledger)(nil)

func TestMemoryLedgerKeepsTheContract(t *testing.T) {
	ledgertest.Contract(t, func(*testing.T) ledgertest.Store { return memledger.New() })
}

func TestALedgerOfValuesHasTheSameFenceAndTransactions(t *testing.T) {
	ctx, l := context.Background(), memledger.NewOfValues()
	if _, err := l.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); !errors.Is(err, fault.Conflict) {
		t.Errorf("a save over a newer version: have %v, want a conflict", err)
	}
	if err := l.Reserve(ctx, ledgertest.Reservation(ledgertest.GroupA, 0, 0, 1)); !errors.Is(err, fault.Conflict) {
		t.Errorf("a reservation over a newer version: have %v, want a conflict", err)
	}
	for range 2 { // the second is the same transaction
		if err := l.Reserve(ctx, ledgertest.Reservation(ledgertest.GroupA, 1, 0, 1)); err != nil {
			t.Errorf("a reservation: %v", err)
		}
	}
	rec, err := l.Load(ctx, ledgertest.GroupA)
	if err != nil || rec.Version != 2 || !reflect.DeepEqual(rec.State, ledgertest.Record(0).State) {
		t.Errorf("have %+v, %v; want version 2 and what was saved", rec, err)
	}
	if region, err := l.LoadRegion(ctx); err != nil || region.Version != 1 {
		t.Errorf("the Region's version is %d, %v; want 1", region.Version, err)
	}
}

func TestACallThatFailsBeforeItsEffectWritesNothing(t *testing.T) {
	ctx, l := context.Background(), memledger.New()
	l.FailBefore(1, fault.Throttled)
	if _, err := l.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); !errors.Is(err, fault.Throttled) {
		t.Fatalf("have %v, want throttled", err)
	}
	if rec, err := l.Load(ctx, ledgertest.GroupA); err != nil || rec.Version != 0 {
		t.Errorf("version %d, %v; want nothing written", rec.Version, err)
	}
	if l.Calls() != 2 {
		t.Errorf("%d calls counted, want 2", l.Calls())
	}
}

func TestACallThatFailsAfterItsEffectHasWritten(t *testing.T) {
	ctx, l := context.Background(), memledger.New()
	l.FailAfter(1, fault.Unknown)
	if err := l.Reserve(ctx, ledgertest.Reservation(ledgertest.GroupA, 0, 0, 1)); !errors.Is(err, fault.Unknown) {
		t.Fatalf("have %v, want unknown", err)
	}
	if rec, err := l.Load(ctx, ledgertest.GroupA); err != nil || rec.Version != 1 {
		t.Errorf("version %d, %v; want the reservation written", rec.Version, err)
	}
	if err := l.Reserve(ctx, ledgertest.Reservation(ledgertest.GroupA, 0, 0, 1)); err != nil {
		t.Errorf("the repeat with the same token: %v", err)
	}
}

func TestHooksSeeEveryCallAndMayLetAnotherWriterPass(t *testing.T) {
	ctx, l := context.Background(), memledger.New()
	var seen []memledger.Call
	passed := false
	l.SetHooks(memledger.Hooks{Before: func(c memledger.Call) error {
		seen = append(seen, c)
		if c.Op == memledger.OpSave && !passed {
			passed = true
			_, err := l.Save(ctx, c.Group, ledgertest.Record(0))
			return err
		}
		return nil
	}})
	if _, err := l.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); !errors.Is(err, fault.Conflict) {
		t.Errorf("have %v, want a conflict with the writer that passed", err)
	}
	if len(seen) != 2 || seen[0].N != 1 || seen[1].N != 2 || seen[0].Group != ledgertest.GroupA {
		t.Errorf("the hook saw %+v", seen)
	}
	lost := errors.New("reply lost")
	l.SetHooks(memledger.Hooks{After: func(memledger.Call) error { return lost }})
	if _, err := l.Load(ctx, ledgertest.GroupA); !errors.Is(err, lost) {
		t.Errorf("have %v, want the hook's error", err)
	}
}
