package ledgertest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

func mustReserve(t *testing.T, s Store, r runner.Reservation) {
	t.Helper()
	if err := s.Reserve(context.Background(), r); err != nil {
		t.Fatalf("reserve: %v", err)
	}
}

func reserved(c check) {
	t, s := c.t, c.s
	r := Reservation(GroupA, 0, 0, 98)
	mustReserve(t, s, r)
	want := r.Record
	want.Version = 1
	same(t, "group", mustLoad(t, s, GroupA), want)
	wantRegion := r.Region
	wantRegion.Version = 1
	same(t, "region", mustLoadRegion(t, s), wantRegion)
	same(t, "actions", mustActions(t, s, GroupA), r.Actions)
}

func staleGroup(c check) {
	t, s := c.t, c.s
	mustSave(t, s, Record(0))
	wantFault(t, s.Reserve(context.Background(), Reservation(GroupA, 0, 0, 1)), fault.Conflict)
	unchanged(t, s, Record(1))
}

func staleRegion(c check) {
	t, s := c.t, c.s
	mustSave(t, s, Record(0))
	wantFault(t, s.Reserve(context.Background(), Reservation(GroupA, 1, 4, 1)), fault.Conflict)
	unchanged(t, s, Record(1))
}

func unchanged(t *testing.T, s Store, want runner.Record) {
	t.Helper()
	same(t, "group", mustLoad(t, s, GroupA), want)
	same(t, "region", mustLoadRegion(t, s), runner.RegionRecord{})
	if list := mustActions(t, s, GroupA); len(list) != 0 {
		t.Errorf("actions %+v, want none", list)
	}
}

func sameToken(c check) {
	t, s := c.t, c.s
	for range 3 {
		mustReserve(t, s, Reservation(GroupA, 0, 0, 2))
	}
	if v := mustLoad(t, s, GroupA).Version; v != 1 {
		t.Errorf("version %d, want 1", v)
	}
	if n := len(mustActions(t, s, GroupA)); n != 2 {
		t.Errorf("%d actions, want 2", n)
	}
}

func otherContent(c check) {
	t, s := c.t, c.s
	mustReserve(t, s, Reservation(GroupA, 0, 0, 2))
	wantFault(t, s.Reserve(context.Background(), Reservation(GroupA, 1, 1, 1)), fault.Refused)
	if v := mustLoad(t, s, GroupA).Version; v != 1 {
		t.Errorf("version %d, want 1", v)
	}
}

func refusedReservations(c check) {
	t, s := c.t, c.s
	change := map[string]func(*runner.Reservation){
		"without a token":             func(r *runner.Reservation) { r.Token = "" },
		"without a group":             func(r *runner.Reservation) { r.Group = "" },
		"with one action twice":       func(r *runner.Reservation) { r.Actions[1] = r.Actions[0] },
		"with another group's action": func(r *runner.Reservation) { r.Actions[0].Group = GroupB },
		"with an action without id":   func(r *runner.Reservation) { r.Actions[0].ID = "" },
		"with an action without time": func(r *runner.Reservation) { r.Actions[0].At = time.Time{} },
		"with too many actions":       func(r *runner.Reservation) { *r = Reservation(GroupA, 0, 0, 99) },
	}
	for name, f := range change {
		r := Reservation(GroupA, 0, 0, 2)
		f(&r)
		if err := s.Reserve(context.Background(), r); err == nil {
			t.Errorf("a reservation %s was written", name)
		} else {
			wantFault(t, err, fault.Refused)
		}
	}
	unchanged(t, s, runner.Record{})
}

func regionRace(c check) {
	t, s := c.t, c.s
	groups := []string{GroupA, GroupB}
	errs := make([]error, len(groups))
	var wg sync.WaitGroup
	for i, g := range groups {
		wg.Go(func() { errs[i] = s.Reserve(context.Background(), Reservation(g, 0, 0, 1)) })
	}
	wg.Wait()
	won := 0
	for i, g := range groups {
		n := len(mustActions(t, s, g))
		if errs[i] == nil {
			won++
			same(t, "actions of the winner", n, 1)
			continue
		}
		wantFault(t, errs[i], fault.Conflict)
		same(t, "actions of the loser", n, 0)
	}
	if won != 1 {
		t.Errorf("%d reservations won, want 1", won)
	}
}

func actionOutcome(c check) {
	t, s := c.t, c.s
	ctx := context.Background()
	mustReserve(t, s, Reservation(GroupA, 0, 0, 1))
	done := Action(GroupA, "mark-000")
	done.Outcome, done.Detail = guard.OutcomeDone, "accepted"
	hold := runner.ActionRecord{
		ID: "suspend-1", Group: GroupA, Kind: guard.ActSuspend, Processes: []string{guard.ProcessReplaceUnhealthy, guard.ProcessHealthCheck},
		At: base().Add(time.Minute), Outcome: guard.OutcomeDone, Run: "run-2",
	}
	for _, a := range []runner.ActionRecord{hold, done} {
		if err := s.PutAction(ctx, a); err != nil {
			t.Fatalf("put action: %v", err)
		}
	}
	same(t, "actions", mustActions(t, s, GroupA), []runner.ActionRecord{done, hold})
	late, err := s.Actions(ctx, GroupA, base().Add(time.Second))
	if err != nil {
		t.Fatalf("actions: %v", err)
	}
	same(t, "actions since", late, []runner.ActionRecord{hold})
	wantFault(t, s.PutAction(ctx, runner.ActionRecord{Group: GroupA, ID: "x"}), fault.Refused)
}
