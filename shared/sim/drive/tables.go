package drive

import (
	"context"
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// tables is a ledger that refuses calls while the simulator throttles the guardian's tables.
type tables struct {
	runner.Ledger
	cloud *sim.Cloud
}

func (t tables) refused(what string) error {
	if t.cloud.TableRefuses() {
		return fmt.Errorf("%s: %w", what, fault.Throttled)
	}
	return nil
}

// Load implements runner.Ledger.
func (t tables) Load(ctx context.Context, groupARN string) (runner.Record, error) {
	if err := t.refused("load state"); err != nil {
		return runner.Record{}, err
	}
	return t.Ledger.Load(ctx, groupARN)
}

// Save implements runner.Ledger.
func (t tables) Save(ctx context.Context, groupARN string, rec runner.Record) (int64, error) {
	if err := t.refused("save state"); err != nil {
		return 0, err
	}
	return t.Ledger.Save(ctx, groupARN, rec)
}

// LoadRegion implements runner.Ledger.
func (t tables) LoadRegion(ctx context.Context) (runner.RegionRecord, error) {
	if err := t.refused("load region"); err != nil {
		return runner.RegionRecord{}, err
	}
	return t.Ledger.LoadRegion(ctx)
}

// SaveRegion implements runner.Ledger.
func (t tables) SaveRegion(ctx context.Context, rec runner.RegionRecord) (int64, error) {
	if err := t.refused("save region"); err != nil {
		return 0, err
	}
	return t.Ledger.SaveRegion(ctx, rec)
}

// Reserve implements runner.Ledger.
func (t tables) Reserve(ctx context.Context, r runner.Reservation) error {
	if err := t.refused("reserve"); err != nil {
		return err
	}
	return t.Ledger.Reserve(ctx, r)
}

// PutAction implements runner.Ledger.
func (t tables) PutAction(ctx context.Context, a runner.ActionRecord) error {
	if err := t.refused("put action"); err != nil {
		return err
	}
	return t.Ledger.PutAction(ctx, a)
}
