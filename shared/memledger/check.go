package memledger

import (
	"context"
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// timeLayout has a fixed width, so that keys sort by time.
const timeLayout = "2006-01-02T15:04:05.000Z"

func keyOf(a runner.ActionRecord) actionKey {
	return actionKey{group: a.Group, at: a.At.UTC().Format(timeLayout), id: a.ID}
}

func checkAction(a runner.ActionRecord) error {
	if a.Group == "" || a.ID == "" || a.At.IsZero() {
		return fmt.Errorf("put action: %w: group, id and time are required", fault.Refused)
	}
	return nil
}

func checkReservation(r runner.Reservation) error {
	if r.Group == "" || r.Token == "" {
		return fmt.Errorf("reserve: %w: group and token are required", fault.Refused)
	}
	if len(r.Actions) > ReservedActionsMax {
		return fmt.Errorf("reserve: %w: %d actions, at most %d", fault.Refused, len(r.Actions), ReservedActionsMax)
	}
	seen := map[actionKey]bool{}
	for _, a := range r.Actions {
		if err := checkAction(a); err != nil {
			return err
		}
		if a.Group != r.Group {
			return fmt.Errorf("reserve: %w: action %s is of another group", fault.Refused, a.ID)
		}
		if seen[keyOf(a)] {
			return fmt.Errorf("reserve: %w: action %s twice", fault.Refused, a.ID)
		}
		seen[keyOf(a)] = true
	}
	return nil
}

// alive is the table's answer to a call whose deadline has passed: whether it took effect cannot be told.
func alive(ctx context.Context, what string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w: %w", what, fault.Unknown, err)
	}
	return nil
}

func overtaken(what string, have, want int64) error {
	return fmt.Errorf("%s: %w: version is %d, not %d", what, fault.Conflict, have, want)
}
