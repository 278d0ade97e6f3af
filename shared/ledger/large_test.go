package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/ledger/ledgertest"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

const largeSeed = 20261130

// large is a state of members that are all bad, with ids and boots that do not compress.
func large(version int64, members int) runner.Record {
	random := rand.New(rand.NewPCG(largeSeed, uint64(members)))
	at := guard.At(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC))
	ago := func() guard.Instant { return at - guard.Instant(random.IntN(600_000)) }
	rec := runner.Record{Version: version, State: guard.State{LastSweep: at}}
	for i := range members {
		id := fmt.Sprintf("i-%05x%012x", i, random.Uint64()>>16)
		rec.State.Members = append(rec.State.Members, guard.MemberState{
			ID: id, Lifecycle: "InService", Since: ago(), Seq: random.Int64N(1e6), Stamp: ago(), AdvancedAt: ago(), Beat: true,
			Boot: fmt.Sprintf("%08x-%04x", random.Uint32(), random.Uint32()>>16), Bad: true, BadSince: ago(), BrokenLooks: 2,
			LookAt: at, BrokenSince: ago(), NoMarkBefore: ago(), BadAllHold: true,
		})
		rec.State.Onsets = append(rec.State.Onsets, guard.Onset{Member: id, At: ago()})
		rec.State.Rolling = append(rec.State.Rolling, guard.Onset{Member: id, At: ago()})
	}
	return rec
}

func TestAStateOfTenThousandBadMembersFits(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	t.Logf("seed %d", largeSeed)
	if _, err := s.Save(ctx, ledgertest.GroupA, large(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, i := range tb.Items(tableName) {
		size := dynamo.ItemSize(i)
		if size > 400<<10 {
			t.Errorf("an item of %d bytes", size)
		}
		total += size
	}
	t.Logf("%d bytes in %d items", total, len(tb.Items(tableName)))
	if total > 2<<20 {
		t.Errorf("%d bytes in all, want at most 2 MiB", total)
	}
	rec, err := s.Load(ctx, ledgertest.GroupA)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rec, large(1, 10_000)) {
		t.Error("the state that was loaded is not the state that was saved")
	}
}

func TestPartsAreWrittenBeforeTheHeadAndRemovedAfterTheNext(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	if _, err := s.Save(ctx, ledgertest.GroupA, large(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	first := tb.sortKeys()
	if len(first) < 3 || first[0] != "state" || !strings.HasPrefix(first[1], "state#00000000000000000001#") {
		t.Fatalf("items %v, want a head and its parts", first)
	}
	for _, i := range tb.Items(tableName)[1:] {
		if _, ok := i["expires"].(*types.AttributeValueMemberN); !ok {
			t.Error("a part without an expiry")
		}
	}
	if err := s.Reserve(ctx, reservationOf(large(1, 10_000))); err != nil {
		t.Fatal(err)
	}
	for _, sk := range tb.sortKeys() {
		if strings.HasPrefix(sk, "state#00000000000000000001#") {
			t.Errorf("part %s of the version before is still there", sk)
		}
	}
	if rec, err := s.Load(ctx, ledgertest.GroupA); err != nil || !reflect.DeepEqual(rec, large(2, 10_000)) {
		t.Errorf("after the reservation: version %d, %v", rec.Version, err)
	}
	if _, err := s.Save(ctx, ledgertest.GroupA, ledgertest.Record(2)); err != nil {
		t.Fatal(err)
	}
	if have := tb.sortKeys(); !reflect.DeepEqual(have, []string{"state", "budget"}) && !reflect.DeepEqual(have, []string{"budget", "state"}) {
		t.Errorf("items %v after the state shrank, want the heads only", have)
	}
}

func reservationOf(rec runner.Record) runner.Reservation {
	r := ledgertest.Reservation(ledgertest.GroupA, rec.Version, 0, 0)
	r.Record = rec
	return r
}

func TestALostRaceLeavesTheWinnersPartsAlone(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	winner := large(0, 10_000)
	if _, err := s.Save(ctx, ledgertest.GroupA, winner); err != nil {
		t.Fatal(err)
	}
	loser := large(0, 10_001)
	if _, err := s.Save(ctx, ledgertest.GroupA, loser); !errors.Is(err, fault.Conflict) {
		t.Fatalf("have %v, want a conflict", err)
	}
	rec, err := s.Load(ctx, ledgertest.GroupA)
	winner.Version = 1
	if err != nil || !reflect.DeepEqual(rec, winner) {
		t.Errorf("the winner's state is damaged: version %d, %v", rec.Version, err)
	}
	if _, err := s.Save(ctx, ledgertest.GroupA, large(1, 10_000)); err != nil {
		t.Fatal(err)
	}
	for _, sk := range tb.sortKeys() {
		if strings.HasPrefix(sk, "state#00000000000000000001#") {
			t.Errorf("part %s, also the loser's, should be gone", sk)
		}
	}
}

func TestTheSameTokenWithAnotherLargeStateDamagesNothing(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	if err := s.Reserve(ctx, reservationOf(large(0, 10_000))); err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(ctx, reservationOf(large(0, 10_001))); !errors.Is(err, fault.Refused) {
		t.Errorf("have %v, want refused", err)
	}
	if rec, err := s.Load(ctx, ledgertest.GroupA); err != nil || len(rec.State.Members) != 10_000 {
		t.Errorf("%d members, %v", len(rec.State.Members), err)
	}
}

func TestAMissingPartIsAnErrorAndNotAnEmptyState(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	if _, err := s.Save(ctx, ledgertest.GroupA, large(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	part := tb.Items(tableName)[1]
	if err := tb.Remove(tableName, dynamo.Item{"pk": part["pk"], "sk": part["sk"]}); err != nil {
		t.Fatal(err)
	}
	if rec, err := s.Load(ctx, ledgertest.GroupA); !errors.Is(err, fault.Partial) || !reflect.DeepEqual(rec, runner.Record{}) {
		t.Errorf("version %d, error %v; want partial", rec.Version, err)
	}
}

func TestALoadThatIsOvertakenWhileItReadsPartsStartsAgain(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s, other := tb.ledger(t), tb.ledger(t)
	if _, err := s.Save(ctx, ledgertest.GroupA, large(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	overtaken := false
	start := tb.count["Query"]
	tb.before = func(op string, n int) error {
		if op == "Query" && n == start+2 && !overtaken { // the head was read, its parts not yet
			overtaken = true
			_, err := other.Save(ctx, ledgertest.GroupA, large(1, 10_000))
			return err
		}
		return nil
	}
	rec, err := s.Load(ctx, ledgertest.GroupA)
	if err != nil || rec.Version != 2 || !overtaken {
		t.Errorf("version %d, %v, overtaken %v; want the newer version", rec.Version, err, overtaken)
	}
}

func TestASaveThatCannotRemoveOldPartsStillSucceeds(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	if _, err := s.Save(ctx, ledgertest.GroupA, large(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	tb.before = always("DeleteItem", denied())
	if v, err := s.Save(ctx, ledgertest.GroupA, large(1, 10_000)); err != nil || v != 2 {
		t.Errorf("version %d, %v", v, err)
	}
	if rec, err := s.Load(ctx, ledgertest.GroupA); err != nil || rec.Version != 2 {
		t.Errorf("load: version %d, %v", rec.Version, err)
	}
}

func TestPartsOfAWriterThatLostToASmallStateGoWithTheNextLargeOne(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	if _, err := s.Save(ctx, ledgertest.GroupA, ledgertest.Record(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(ctx, ledgertest.GroupA, large(0, 10_000)); !errors.Is(err, fault.Conflict) {
		t.Fatalf("have %v, want a conflict", err)
	}
	if len(tb.sortKeys()) < 3 {
		t.Fatal("the loser left no parts, so this test shows nothing")
	}
	if _, err := s.Save(ctx, ledgertest.GroupA, large(1, 10_000)); err != nil {
		t.Fatal(err)
	}
	for _, sk := range tb.sortKeys() {
		if strings.HasPrefix(sk, "state#00000000000000000001#") {
			t.Errorf("part %s of the loser is still there", sk)
		}
	}
}

func TestEveryLoadIsStronglyConsistent(t *testing.T) {
	ctx, tb := context.Background(), newTable(t)
	s := tb.ledger(t)
	if _, err := s.Save(ctx, ledgertest.GroupA, large(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(ctx, ledgertest.GroupA); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LoadRegion(ctx); err != nil {
		t.Fatal(err)
	}
	if tb.count["Query"] < 3 || tb.eventual != 0 {
		t.Errorf("%d of %d queries may have answered with an older state", tb.eventual, tb.count["Query"])
	}
}
