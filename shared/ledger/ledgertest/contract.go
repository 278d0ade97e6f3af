package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Store is what the contract asks for: the runner's ledger and what the command line needs beside it.
type Store interface {
	runner.Ledger
	Actions(ctx context.Context, groupARN string, since time.Time) ([]runner.ActionRecord, error)
	PutRequest(ctx context.Context, groupARN string, q guard.Request) error
	DeleteRequest(ctx context.Context, groupARN string) error
}

// GroupA and GroupB are the groups that the contract writes; the store must be empty.
const (
	GroupA = "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0a:autoScalingGroupName/web*1"
	GroupB = "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0b:autoScalingGroupName/web/2"
)

// Contract runs every rule of runner.Ledger against a fresh store from open.
func Contract(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	rules := []struct {
		name string
		rule func(check)
	}{
		{"what was never written loads as the zero record", emptyLoads},
		{"a saved record loads as it was, without its request", savedLoads},
		{"a save on an old version is a conflict and changes nothing", staleSave},
		{"a first save conflicts with an existing item", firstSaveTwice},
		{"the region's item follows the same rules", region},
		{"of many writers on one version one wins", oneWinner},
		{"a caller's later change does not reach what was saved", noSharing},
		{"a reservation writes state, region and actions", reserved},
		{"a reservation on an old group version writes nothing", staleGroup},
		{"a reservation on an old region version writes nothing", staleRegion},
		{"a repeated reservation with the same token is done once", sameToken},
		{"a token used for other content is refused", otherContent},
		{"a reservation that cannot be written whole is refused", refusedReservations},
		{"two groups race for the region's last mark and one wins", regionRace},
		{"an action's outcome replaces its reservation", actionOutcome},
		{"an operator's request is read with the state and survives saves", request},
		{"a call past its deadline is unknown", pastDeadline},
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.rule(check{t, open(t)}) })
	}
}

// check is one rule's run against one store.
type check struct {
	t *testing.T
	s Store
}

func base() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) }

// Record returns a small record with every kind of content.
func Record(version int64) runner.Record {
	at := guard.At(base())
	return runner.Record{
		Version: version,
		State: guard.State{
			LastSweep: at,
			Members:   []guard.MemberState{{ID: "i-0001", Lifecycle: "InService", Since: at, Seq: 7, Boot: "b1", Bad: true, BadSince: at}},
			Hold:      &guard.Hold{ID: "h1", Since: at, Cause: guard.CauseZone, Ours: []guard.HeldProcess{{Process: guard.ProcessReplaceUnhealthy, IntentAt: at}}},
			Marks:     []guard.Mark{{ID: "m1", Member: "i-0001", At: at, By: "guard", Outcome: guard.OutcomeReserved}},
			Pages:     []guard.PageState{{Key: guard.PageHeld, Since: at, Urgent: true, Open: true}},
		},
		LastGood: map[string][]byte{"/holdfast/groups/web": []byte(`{"mode":"act"}`)},
		Looked: runner.Looked{
			At:       at,
			Triggers: []guard.Trigger{{Cause: guard.CauseZone, Name: "a", Have: 2, Limit: 2, Of: 2, Text: "2 of 2 are bad", Prolongs: true}},
			Deferred: []guard.Deferral{{Member: "i-0001", Reason: guard.ReasonHeld, Have: 2, Limit: 2, Broken: true}},
			LeftOut:  map[guard.Reason]int{guard.ReasonHeld: 3},
		},
	}
}

// Reservation returns a reservation of n actions for a group, on the given versions.
func Reservation(group string, groupVersion, regionVersion int64, n int) runner.Reservation {
	r := runner.Reservation{
		Group: group, Record: Record(groupVersion), Token: "run-1/" + group,
		Region: runner.RegionRecord{Version: regionVersion, State: guard.RegionState{
			Marks: []guard.RegionMark{{ID: "m1", At: guard.At(base())}}, Eligible: map[string]int{group: 8},
		}},
	}
	for i := range n {
		r.Actions = append(r.Actions, Action(group, fmt.Sprintf("mark-%03d", i)))
	}
	return r
}

// Action returns an action item as a reservation writes it.
func Action(group, id string) runner.ActionRecord {
	return runner.ActionRecord{ID: id, Group: group, Kind: guard.ActMark, Member: "i-0001", At: base(), Outcome: guard.OutcomeReserved, Run: "run-1"}
}

func mustSave(t *testing.T, s Store, rec runner.Record) int64 {
	t.Helper()
	v, err := s.Save(context.Background(), GroupA, rec)
	if err != nil {
		t.Fatalf("save: %v", err)
	}
	return v
}

func mustLoad(t *testing.T, s Store, group string) runner.Record {
	t.Helper()
	rec, err := s.Load(context.Background(), group)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return rec
}

func mustLoadRegion(t *testing.T, s Store) runner.RegionRecord {
	t.Helper()
	rec, err := s.LoadRegion(context.Background())
	if err != nil {
		t.Fatalf("load region: %v", err)
	}
	return rec
}

func mustActions(t *testing.T, s Store, group string) []runner.ActionRecord {
	t.Helper()
	list, err := s.Actions(context.Background(), group, time.Time{})
	if err != nil {
		t.Fatalf("actions: %v", err)
	}
	return list
}

func same(t *testing.T, what string, have, want any) {
	t.Helper()
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%s:\nhave %+v\nwant %+v", what, have, want)
	}
}

func wantFault(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("have error %v, want %v", err, kind)
	}
}

func emptyLoads(c check) {
	t, s := c.t, c.s
	same(t, "group", mustLoad(t, s, GroupA), runner.Record{})
	same(t, "region", mustLoadRegion(t, s), runner.RegionRecord{})
	if n := len(mustActions(t, s, GroupA)); n != 0 {
		t.Errorf("%d actions, want none", n)
	}
}

func savedLoads(c check) {
	t, s := c.t, c.s
	rec := Record(0)
	rec.Request = guard.Request{ID: "not-ours-to-write"}
	if v := mustSave(t, s, rec); v != 1 {
		t.Errorf("first version is %d, want 1", v)
	}
	same(t, "record", mustLoad(t, s, GroupA), Record(1))
	same(t, "other group", mustLoad(t, s, GroupB), runner.Record{})
}

func staleSave(c check) {
	t, s := c.t, c.s
	mustSave(t, s, Record(0))
	newer := Record(1)
	newer.State.BlindRun = 7
	mustSave(t, s, newer)
	_, err := s.Save(context.Background(), GroupA, Record(1))
	wantFault(t, err, fault.Conflict)
	newer.Version = 2
	same(t, "record", mustLoad(t, s, GroupA), newer)
}

func firstSaveTwice(c check) {
	t, s := c.t, c.s
	mustSave(t, s, Record(0))
	_, err := s.Save(context.Background(), GroupA, Record(0))
	wantFault(t, err, fault.Conflict)
	_, err = s.Save(context.Background(), GroupB, Record(3))
	wantFault(t, err, fault.Conflict)
	same(t, "a version without an item", mustLoad(t, s, GroupB), runner.Record{})
}

func region(c check) {
	t, s := c.t, c.s
	ctx := context.Background()
	rec := runner.RegionRecord{
		State: guard.RegionState{
			Marks:  []guard.RegionMark{{ID: "m1", At: guard.At(base())}},
			Onsets: []guard.RegionOnset{{Group: GroupA, Member: "i-1", At: 5}}, Eligible: map[string]int{GroupA: 8},
		},
		LastGoodDefaults: []byte(`{}`), LastGoodMode: guard.ModeAct, Strays: []runner.Stray{{Name: "/holdfast/groups/wbe", Since: 5, Told: true}},
	}
	if v, err := s.SaveRegion(ctx, rec); err != nil || v != 1 {
		t.Fatalf("save region: version %d, %v", v, err)
	}
	_, err := s.SaveRegion(ctx, rec)
	wantFault(t, err, fault.Conflict)
	rec.Version = 1
	same(t, "region", mustLoadRegion(t, s), rec)
}

func oneWinner(c check) {
	t, s := c.t, c.s
	mustSave(t, s, Record(0))
	const writers = 8
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			rec := Record(1)
			rec.State.RequestID = fmt.Sprint("writer-", i)
			_, errs[i] = s.Save(context.Background(), GroupA, rec)
		})
	}
	wg.Wait()
	won := []string{}
	for i, err := range errs {
		if err == nil {
			won = append(won, fmt.Sprint("writer-", i))
			continue
		}
		wantFault(t, err, fault.Conflict)
	}
	if len(won) != 1 {
		t.Fatalf("winners %v, want one", won)
	}
	same(t, "content", mustLoad(t, s, GroupA).State.RequestID, won[0])
}

func noSharing(c check) {
	t, s := c.t, c.s
	rec := Record(0)
	mustSave(t, s, rec)
	rec.State.Members[0].ID = "i-changed"
	rec.LastGood["/holdfast/groups/web"][0] = '!'
	loaded := mustLoad(t, s, GroupA)
	same(t, "record", loaded, Record(1))
	loaded.State.Hold.Cause = "changed"
	same(t, "record", mustLoad(t, s, GroupA), Record(1))
}

func request(c check) {
	t, s := c.t, c.s
	ctx := context.Background()
	q := guard.Request{ID: "r1", Kind: "release", Reason: "all clear", By: "operator", At: base()}
	if err := s.PutRequest(ctx, GroupA, q); err != nil {
		t.Fatalf("put request: %v", err)
	}
	same(t, "before any state", mustLoad(t, s, GroupA), runner.Record{Request: q})
	mustSave(t, s, Record(0))
	want := Record(1)
	want.Request = q
	same(t, "after a save", mustLoad(t, s, GroupA), want)
	for range 2 { // the second finds nothing, which is no error
		if err := s.DeleteRequest(ctx, GroupA); err != nil {
			t.Fatalf("delete request: %v", err)
		}
	}
	same(t, "after the delete", mustLoad(t, s, GroupA), Record(1))
	for _, bad := range []guard.Request{
		{Kind: guard.RequestHold, By: "somebody"}, {ID: "r", Kind: guard.RequestHold}, {ID: "r", By: "somebody"}, {ID: "r", Kind: "wait", By: "somebody"},
	} {
		wantFault(t, s.PutRequest(ctx, GroupA, bad), fault.Refused)
	}
}

func pastDeadline(c check) {
	t, s := c.t, c.s
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Save(ctx, GroupA, Record(0))
	wantFault(t, err, fault.Unknown)
	wantFault(t, s.Reserve(ctx, Reservation(GroupA, 0, 0, 1)), fault.Unknown)
	if _, err := s.Load(ctx, GroupA); err == nil || !strings.Contains(err.Error(), "load") {
		t.Errorf("load past the deadline: %v", err)
	}
}
