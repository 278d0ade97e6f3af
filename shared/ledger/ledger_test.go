package ledger_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/ledger/ledgertest"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Ledger = (*ledger.Ledger)(nil)

func TestTableLedgerKeepsTheContract(t *testing.T) {
	ledgertest.Contract(t, func(t *testing.T) ledgertest.Store {
		t.Helper()
		return newTable(t).ledger(t)
	})
}

func TestALedgerThatLacksSomethingIsRefused(t *testing.T) {
	_, err := ledger.New(nil, ledger.Options{})
	if err == nil {
		t.Fatal("a ledger without client, table and clock was made")
	}
	for _, want := range []string{"client", "table", "clock"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name the %s", err, want)
		}
	}
}

func overload() error {
	return &wire.Error{Code: "InternalServerError", Message: "Internal server error", Status: http.StatusInternalServerError}
}

func throttle() error {
	return &wire.Error{Code: "ThrottlingException", Message: "Rate exceeded"}
}

func denied() error {
	return &wire.Error{Code: "AccessDeniedException", Message: "not authorized to perform: dynamodb:PutItem"}
}

func TestAWriteWhoseReplyWasLostIsRecognisedByItsRetry(t *testing.T) {
	writes := map[string]struct {
		op    string
		write func(ledgertest.Store) error
	}{
		"a save": {"PutItem", func(s ledgertest.Store) error {
			_, err := s.Save(context.Background(), ledgertest.GroupA, ledgertest.Record(0))
			return err
		}},
		"a reservation": {"TransactWriteItems", func(s ledgertest.Store) error {
			return s.Reserve(context.Background(), ledgertest.Reservation(ledgertest.GroupA, 0, 0, 1))
		}},
	}
	for name, w := range writes {
		for lostAs, reply := range map[string]error{"a broken connection": io.ErrUnexpectedEOF, "an internal error": overload()} {
			t.Run(name+" answered by "+lostAs, func(t *testing.T) {
				tb := newTable(t)
				s := tb.ledger(t)
				tb.after = on(w.op, 1, reply)
				if err := w.write(s); err != nil {
					t.Errorf("the write was done, and yet: %v", err)
				}
				if tb.count[w.op] != 2 {
					t.Errorf("%d requests, want the first and its retry", tb.count[w.op])
				}
				if rec, err := s.Load(context.Background(), ledgertest.GroupA); err != nil || rec.Version != 1 {
					t.Errorf("version %d, %v; want 1", rec.Version, err)
				}
			})
		}
	}
}

func TestARepeatedReservationIsRecognisedAfterItsTokenLapsed(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	r := ledgertest.Reservation(ledgertest.GroupA, 0, 0, 1)
	if err := s.Reserve(ctx, r); err != nil {
		t.Fatal(err)
	}
	tb.now = tb.now.Add(11 * time.Minute) // DynamoDB forgets a token after ten
	if err := s.Reserve(ctx, r); err != nil {
		t.Errorf("the same reservation later: %v", err)
	}
	other := r
	other.Token = "run-2"
	if err := s.Reserve(ctx, other); !errors.Is(err, fault.Conflict) {
		t.Errorf("another run's reservation on the old version: %v, want a conflict", err)
	}
}

func TestAnotherWritersSuccessIsNotTakenForOurOwn(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	other := tb.ledger(t)
	tb.before = func(op string, n int) error {
		if op == "PutItem" && n == 1 { // our first try never arrives, and another writer passes before the retry
			if _, err := other.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); err != nil {
				t.Errorf("the other writer: %v", err)
			}
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	if _, err := s.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); !errors.Is(err, fault.Conflict) {
		t.Errorf("have %v, want a conflict", err)
	}
}

func TestFailuresOfTheTableKeepTheirKind(t *testing.T) {
	ctx := context.Background()
	save := func(s ledgertest.Store) error {
		_, err := s.Save(ctx, ledgertest.GroupA, ledgertest.Record(0))
		return err
	}
	reserve := func(s ledgertest.Store) error {
		return s.Reserve(ctx, ledgertest.Reservation(ledgertest.GroupA, 0, 0, 1))
	}
	load := func(s ledgertest.Store) error { _, err := s.Load(ctx, ledgertest.GroupA); return err }
	cases := map[string]struct {
		op   string
		call func(ledgertest.Store) error
		err  error
		kind error
	}{
		"a save that only meets server errors is unknown":        {"PutItem", save, overload(), fault.Unknown},
		"a save without a connection is unknown":                 {"PutItem", save, io.ErrUnexpectedEOF, fault.Unknown},
		"a throttled save is throttled":                          {"PutItem", save, throttle(), fault.Throttled},
		"a save without permission is refused":                   {"PutItem", save, denied(), fault.Refused},
		"a reservation that only meets server errors is unknown": {"TransactWriteItems", reserve, overload(), fault.Unknown},
		"a throttled reservation is throttled":                   {"TransactWriteItems", reserve, throttle(), fault.Throttled},
		"a reservation still in progress is unknown": {"TransactWriteItems", reserve,
			&wire.Error{Code: "TransactionInProgressException", Message: "in progress"}, fault.Unknown},
		"a throttled load is throttled": {"Query", load, throttle(), fault.Throttled},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t)
			tb.before = always(c.op, c.err)
			if err := c.call(tb.ledger(t)); !errors.Is(err, c.kind) {
				t.Errorf("have %v, want %v", err, c.kind)
			}
			if n := len(tb.Items(tableName)); n != 0 {
				t.Errorf("%d items written", n)
			}
		})
	}
}

func TestACollidingTransactionIsAConflict(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	tb.SetHooks(dynamo.Hooks{Refuse: func(string, dynamo.Item) string { return "TransactionConflict" }})
	if _, err := s.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); !errors.Is(err, fault.Conflict) {
		t.Errorf("save: %v, want a conflict", err)
	}
	if err := s.Reserve(ctx, ledgertest.Reservation(ledgertest.GroupA, 0, 0, 1)); !errors.Is(err, fault.Conflict) {
		t.Errorf("reserve: %v, want a conflict", err)
	}
}

func TestActionItemsExpireAfterThirtyDays(t *testing.T) {
	tb := newTable(t)
	a := ledgertest.Action(ledgertest.GroupA, "mark-1")
	if err := tb.ledger(t).PutAction(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	i := tb.Items(tableName)[0]
	if sk := i["sk"].(*types.AttributeValueMemberS).Value; sk != "action#2026-11-30T09:00:00.000Z#mark-1" {
		t.Errorf("sort key %q", sk)
	}
	if have := i["expires"].(*types.AttributeValueMemberN).Value; have != "1798621200" { // 30 December 2026, 09:00 UTC
		t.Errorf("expires %s", have)
	}
}

func TestAStateThatCannotBeDecodedIsAnErrorAndNotEmpty(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	spoil := map[string]types.AttributeValue{
		"data":    &types.AttributeValueMemberB{Value: []byte("not compressed")},
		"version": &types.AttributeValueMemberS{Value: "one"},
	}
	for name, value := range spoil {
		if _, err := s.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); err != nil {
			t.Fatal(err)
		}
		i := tb.Items(tableName)[0]
		i[name] = value
		if err := tb.Put(tableName, i); err != nil {
			t.Fatal(err)
		}
		if rec, err := s.Load(ctx, ledgertest.GroupA); err == nil || !reflect.DeepEqual(rec, runner.Record{}) {
			t.Errorf("spoilt %s: record %+v, error %v", name, rec, err)
		}
		if err := tb.Remove(tableName, dynamo.Item{"pk": i["pk"], "sk": i["sk"]}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRequestsOfOneGroupStayWithIt(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	if err := s.PutRequest(ctx, ledgertest.GroupA, guard.Request{ID: "r1", Kind: "hold", By: "sam"}); err != nil {
		t.Fatal(err)
	}
	rec, err := s.Load(ctx, ledgertest.GroupB)
	if err != nil || !reflect.DeepEqual(rec, runner.Record{}) {
		t.Errorf("the other group has %+v, %v", rec, err)
	}
}

// A sweep would use such a request up and change nothing.
func TestARequestWithoutAKindOrWithoutWhoAsksIsNotStored(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	for want, q := range map[string]guard.Request{
		"who asks":            {ID: "r1", Kind: "release"},
		"(by) is required":    {ID: "r1", Kind: "release", By: " \t"},
		`kind ""`:             {ID: "r1", By: "sam"},
		`kind "resume", want`: {ID: "r1", Kind: "resume", By: "sam"},
	} {
		if err := s.PutRequest(ctx, ledgertest.GroupA, q); !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want a refusal that says %q", q, err, want)
		}
	}
	if got := tb.sortKeys(); len(got) != 0 {
		t.Errorf("stored %v", got)
	}
}

func TestARequestReplacesOnlyTheOneThatWasSeen(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	q := func(id string) guard.Request { return guard.Request{ID: id, Kind: "hold", By: "sam"} }
	stands := func(want string) {
		t.Helper()
		if rec, err := s.Load(ctx, ledgertest.GroupA); err != nil || rec.Request.ID != want {
			t.Errorf("request %+v, %v, want %s", rec.Request, err, want)
		}
	}
	replace := func(id, seen string, want error) {
		t.Helper()
		if err := s.ReplaceRequest(ctx, ledgertest.GroupA, q(id), seen); !errors.Is(err, want) {
			t.Errorf("%s in place of %q: %v, want %v", id, seen, err, want)
		}
	}
	replace("r1", "", nil)
	replace("r2", "", fault.Conflict)
	replace("r2", "other", fault.Conflict)
	stands("r1")
	replace("r2", "r1", nil)
	stands("r2")
	if err := s.PutRequest(ctx, ledgertest.GroupA, q("r3")); err != nil {
		t.Fatal(err)
	}
	replace("r4", "r2", fault.Conflict)
	replace("r4", "r3", nil)
	if err := s.DeleteRequest(ctx, ledgertest.GroupA); err != nil {
		t.Fatal(err)
	}
	replace("r5", "r4", nil) // a sweep has obeyed it meanwhile
	stands("r5")
	replace("", "r5", fault.Refused)
}

func TestARequestOfAnOlderVersionIsReplaced(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	if err := tb.Put(tableName, dynamo.Item{"pk": text(ledgertest.GroupA), "sk": text("request"), "json": text(`{"id":"old","kind":"hold","by":"kim"}`)}); err != nil {
		t.Fatal(err)
	}
	s := tb.ledger(t)
	q := guard.Request{ID: "r1", Kind: "release", By: "sam"}
	if err := s.ReplaceRequest(ctx, ledgertest.GroupA, q, ""); !errors.Is(err, fault.Conflict) {
		t.Errorf("in place of none: %v", err)
	}
	if err := s.ReplaceRequest(ctx, ledgertest.GroupA, q, "old"); err != nil {
		t.Errorf("in place of the old one: %v", err)
	}
}

// The client tries again when an answer is lost, and then meets its own write.
func TestARequestThatTheClientRepeatedIsItsOwn(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	tb.after = on("PutItem", 1, errors.New("connection reset"))
	if err := s.ReplaceRequest(ctx, ledgertest.GroupA, guard.Request{ID: "r1", Kind: "hold", By: "sam"}, ""); err != nil || tb.count["PutItem"] != 2 {
		t.Errorf("error %v after %d tries", err, tb.count["PutItem"])
	}
}
