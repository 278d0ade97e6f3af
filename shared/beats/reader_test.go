package beats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Beats = (*beats.Reader)(nil)

const groupARN = "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0c1d:autoScalingGroupName/web/eu:1"

type row = map[string]types.AttributeValue

// table is a heartbeat table that may give keys back and fail on call N.
type table struct {
	rows  map[string]row
	calls int
	keys  []int // keys asked for, by call
	// serve is how many keys a call processes; 0 is all.
	serve  int
	fail   func(call int) error
	stray  row // a row that is added to each answer
	sleeps []time.Duration
}

func (t *table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	t.calls++
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ask, ok := in.RequestItems["heartbeats"]
	if !ok || len(ask.Keys) == 0 || len(ask.Keys) > 100 || !aws.ToBool(ask.ConsistentRead) {
		return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "unexpected request"}
	}
	t.keys = append(t.keys, len(ask.Keys))
	if t.fail != nil {
		if err := t.fail(t.calls); err != nil {
			return nil, err
		}
	}
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]row{"heartbeats": {}}}
	for i, key := range ask.Keys {
		if t.serve > 0 && i >= t.serve || t.serve < 0 {
			back := out.UnprocessedKeys["heartbeats"]
			back.Keys = append(back.Keys, key)
			out.UnprocessedKeys = map[string]types.KeysAndAttributes{"heartbeats": back}
			continue
		}
		if r, ok := t.rows[key["pk"].(*types.AttributeValueMemberS).Value]; ok {
			out.Responses["heartbeats"] = append(out.Responses["heartbeats"], r)
		}
	}
	if t.stray != nil {
		out.Responses["heartbeats"] = append(out.Responses["heartbeats"], t.stray)
	}
	return out, nil
}

func (t *table) reader() *beats.Reader {
	return beats.New(t, beats.Options{
		Table:  "heartbeats",
		Random: func() float64 { return 0.5 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			t.sleeps = append(t.sleeps, d)
			return ctx.Err()
		},
	})
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// good is a complete row; changes come as name and value in turn, a nil value takes the attribute out.
func good(id string, changes ...any) row {
	r := row{
		"pk": s(beats.Key(groupARN, id)), "beat": n("1796036400000"), "seq": n("42"), "boot": s("b-1"), "status": s("failing"),
		"failing": &types.AttributeValueMemberL{Value: []types.AttributeValue{s("disk"), s("dep:db")}}, "agent": s("1.4.0"),
		"expires": n("1796122800"),
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == nil {
			delete(r, changes[i].(string))
			continue
		}
		r[changes[i].(string)] = changes[i+1].(types.AttributeValue)
	}
	return r
}

func group(n int) guard.Group {
	g := guard.Group{ARN: groupARN, Name: "web/eu:1"}
	for i := range n {
		g.Members = append(g.Members, guard.Member{ID: id(i)})
	}
	return g
}

func id(i int) string { return fmt.Sprintf("i-%04d", i) }

func filled(n int) *table {
	t := &table{rows: map[string]row{}}
	for i := range n {
		t.rows[beats.Key(groupARN, id(i))] = good(id(i))
	}
	return t
}

func TestTheKeyIsTheInstanceARN(t *testing.T) {
	cases := []struct{ name, group, instance, want string }{
		{"in the standard partition", groupARN, "i-0a", "arn:aws:ec2:us-east-1:111122223333:instance/i-0a"},
		{"in another partition", "arn:aws-cn:autoscaling:cn-north-1:111122223333:autoScalingGroup:0c:autoScalingGroupName/w", "i-0a",
			"arn:aws-cn:ec2:cn-north-1:111122223333:instance/i-0a"},
		{"of something that is no group", "arn:aws:ec2:us-east-1:111122223333:instance/i-0a", "i-0a", ""},
		{"of a name", "web", "i-0a", ""},
		{"without an account", "arn:aws:autoscaling:us-east-1::autoScalingGroup:0c:autoScalingGroupName/w", "i-0a", ""},
		{"without an instance", groupARN, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := beats.Key(c.group, c.instance); got != c.want {
				t.Errorf("key %q, want %q", got, c.want)
			}
		})
	}
}

func TestEveryMemberHasItsAnswer(t *testing.T) {
	tab := filled(1)
	tab.rows[beats.Key(groupARN, id(1))] = good(id(1), "boot", nil, "agent", nil, "failing", nil, "status", s("ok"))
	tab.rows[beats.Key(groupARN, id(2))] = good(id(2), "failing", &types.AttributeValueMemberSS{Value: []string{"b", "a"}}, "boot", &types.AttributeValueMemberNULL{Value: true})
	found, err := tab.reader().Beats(t.Context(), group(4))
	if err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(1796036400000).UTC()
	check(t, found, map[string]guard.Beat{
		id(0): {Found: true, At: at, Seq: 42, Boot: "b-1", Status: "failing", Failing: []string{"dep:db", "disk"}, Agent: "1.4.0"},
		id(1): {Found: true, At: at, Seq: 42, Status: "ok"},
		id(2): {Found: true, At: at, Seq: 42, Status: "failing", Failing: []string{"a", "b"}, Agent: "1.4.0"},
		id(3): {},
	})
}

func TestAGroupWithoutMembersMakesNoCall(t *testing.T) {
	tab := filled(0)
	found, err := tab.reader().Beats(t.Context(), group(0))
	if err != nil || len(found) != 0 || tab.calls != 0 {
		t.Errorf("found %v, error %v, %d calls", found, err, tab.calls)
	}
}

func TestARowThatMakesNoSenseIsUnreadableWithItsReason(t *testing.T) {
	list := func(n int, word string) types.AttributeValue {
		l := &types.AttributeValueMemberL{}
		for range n {
			l.Value = append(l.Value, s(word))
		}
		return l
	}
	cases := []struct {
		name    string
		changes []any
		want    string
	}{
		{"no beat", []any{"beat", nil}, "beat is absent, want a number"},
		{"a beat that is a string", []any{"beat", s("1796036400000")}, "beat is a string, want a number"},
		{"a beat with a fraction", []any{"beat", n("1796036400000.5")}, `beat is "1796036400000.5", want a whole number`},
		{"a beat of zero", []any{"beat", n("0")}, "beat is 0, want Unix milliseconds"},
		{"a beat before 1970", []any{"beat", n("-5")}, `beat is "-5"`},
		{"a beat after the year 9999", []any{"beat", n("253402300800000")}, "beat is 253402300800000"},
		{"no seq", []any{"seq", nil}, "seq is absent, want a number"},
		{"a seq too large for an integer", []any{"seq", n("9223372036854775808")}, `seq is "9223372036854775808"`},
		{"no status", []any{"status", nil}, `status is "", want ok, failing or draining`},
		{"an unknown status", []any{"status", s("sick")}, `status is "sick", want ok, failing or draining`},
		{"a status that is a number", []any{"status", n("1")}, "status is a number, want a string"},
		{"a boot that is a number", []any{"boot", n("1")}, "boot is a number, want a string"},
		{"an agent that is too long", []any{"agent", s(strings.Repeat("x", 257))}, "agent has 257 bytes, want at most 256"},
		{"failing checks as one string", []any{"failing", s("disk")}, "failing is a string, want a list or a set of strings"},
		{"failing checks that are numbers", []any{"failing", &types.AttributeValueMemberNS{Value: []string{"1"}}}, "failing is of another type"},
		{"a failing check that is a boolean", []any{"failing", &types.AttributeValueMemberL{
			Value: []types.AttributeValue{&types.AttributeValueMemberBOOL{Value: true}}}}, "failing holds a boolean, want strings"},
		{"too many failing checks", []any{"failing", list(101, "x")}, "failing holds 101 names, want at most 100"},
		{"a failing check that is too long", []any{"failing", list(1, strings.Repeat("x", 257))}, "failing holds a name of 257 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tab := filled(2)
			tab.rows[beats.Key(groupARN, id(1))] = good(id(1), c.changes...)
			found, err := tab.reader().Beats(t.Context(), group(2))
			if b := found[id(1)]; b.Found || !b.Unreadable || !strings.Contains(b.Detail, c.want) {
				t.Errorf("got %+v, want it unreadable because %q", b, c.want)
			}
			if !found[id(0)].Found || err != nil {
				t.Errorf("error %v, want the other member's beat and no error: one row must not blind the group", err)
			}
		})
	}
	for _, edge := range [][]any{
		{"beat", n("253402300799999")}, {"seq", n("0")}, {"agent", s(strings.Repeat("x", 256))}, {"failing", list(100, "x")},
	} {
		tab := filled(1)
		tab.rows[beats.Key(groupARN, id(0))] = good(id(0), edge...)
		if found, err := tab.reader().Beats(t.Context(), group(1)); err != nil || !found[id(0)].Found {
			t.Errorf("%v just inside its bound: %+v, error %v", edge[0], found, err)
		}
	}
}

func TestLargeGroupsAreReadInBatchesOfAHundred(t *testing.T) {
	tab := filled(250)
	found, err := tab.reader().Beats(t.Context(), group(251))
	if err != nil {
		t.Fatal(err)
	}
	check(t, tab.keys, []int{100, 100, 51})
	for i := range 250 {
		if !found[id(i)].Found {
			t.Fatalf("%s has no beat", id(i))
		}
	}
	check(t, found[id(250)], guard.Beat{})
}

func TestUnprocessedKeysAreAskedForAgainWithGrowingPauses(t *testing.T) {
	tab := filled(10)
	tab.serve = 3
	found, err := tab.reader().Beats(t.Context(), group(11))
	if err != nil {
		t.Fatal(err)
	}
	check(t, tab.keys, []int{11, 8, 5, 2})
	check(t, tab.sleeps, []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond})
	for i := range 10 {
		if !found[id(i)].Found {
			t.Errorf("%s has no beat", id(i))
		}
	}
	check(t, found[id(10)], guard.Beat{})
}

func TestKeysThatStayUnprocessedAreUnreadableAndNotAbsent(t *testing.T) {
	tab := filled(150)
	tab.serve = 10
	found, err := tab.reader().Beats(t.Context(), group(150))
	check(t, tab.calls, 10)
	unread := 0
	for _, b := range found {
		if b.Unreadable {
			unread++
		} else if !b.Found {
			t.Error("an unprocessed key is called absent")
		}
	}
	check(t, unread, 50)
	if !errors.Is(err, fault.Partial) || !strings.Contains(err.Error(), "50 of 150 unreadable") || strings.Count(err.Error(), "i-0") != 3 {
		t.Errorf("error %v, want partial, 50 of 150, three members named", err)
	}
}

func TestNothingProcessedAtAllIsUnreadable(t *testing.T) {
	tab := filled(2)
	tab.serve = -1
	found, err := tab.reader().Beats(t.Context(), group(2))
	check(t, found, map[string]guard.Beat{id(0): {Unreadable: true}, id(1): {Unreadable: true}})
	if !errors.Is(err, fault.Partial) {
		t.Errorf("error %v, want partial", err)
	}
	check(t, tab.calls, 5)
}

func TestAFailedCallLeavesTheOtherBatches(t *testing.T) {
	cases := []struct {
		name string
		err  error
		want error
	}{
		{"throttled", &smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException"}, fault.Throttled},
		{"denied", &smithy.GenericAPIError{Code: "AccessDeniedException"}, fault.Refused},
		{"a table that does not exist", &smithy.GenericAPIError{Code: "ResourceNotFoundException"}, fault.Gone},
		{"a server's fault", &smithy.GenericAPIError{Code: "InternalServerError", Fault: smithy.FaultServer}, fault.Unknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tab := filled(200)
			tab.rows[beats.Key(groupARN, id(0))] = good(id(0), "seq", nil)
			tab.fail = func(call int) error {
				if call == 2 {
					return c.err
				}
				return nil
			}
			found, err := tab.reader().Beats(t.Context(), group(200))
			for i := range 200 {
				if got, want := found[id(i)].Unreadable, i == 0 || i >= 100; got != want {
					t.Fatalf("%s unreadable: %t, want %t", id(i), got, want)
				}
			}
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestAFailureAfterUnprocessedKeysKeepsWhatWasRead(t *testing.T) {
	tab := filled(4)
	tab.serve = 3
	tab.fail = func(call int) error {
		if call == 2 {
			return &smithy.GenericAPIError{Code: "ThrottlingException"}
		}
		return nil
	}
	found, err := tab.reader().Beats(t.Context(), group(4))
	check(t, []bool{found[id(2)].Found, found[id(3)].Unreadable}, []bool{true, true})
	if !errors.Is(err, fault.Throttled) {
		t.Errorf("error %v, want throttled", err)
	}
}

func TestTheWaitEndsWithTheContext(t *testing.T) {
	tab := filled(2)
	tab.serve = -1
	ctx, cancel := context.WithCancel(t.Context())
	reader := beats.New(tab, beats.Options{Table: "heartbeats", Random: func() float64 { cancel(); return 1 }})
	found, err := reader.Beats(ctx, group(2))
	check(t, found, map[string]guard.Beat{id(0): {Unreadable: true}, id(1): {Unreadable: true}})
	if !errors.Is(err, fault.Unknown) || tab.calls != 1 {
		t.Errorf("error %v after %d calls, want unknown after 1", err, tab.calls)
	}
}

func TestARowThatCannotBeNamedLeavesNobodyAbsent(t *testing.T) {
	for name, stray := range map[string]row{"without a key": {"seq": n("1")}, "of somebody else": good("i-other")} {
		t.Run(name, func(t *testing.T) {
			tab := filled(1)
			tab.stray = stray
			found, err := tab.reader().Beats(t.Context(), group(2))
			check(t, []bool{found[id(0)].Found, found[id(1)].Unreadable}, []bool{true, true})
			if !errors.Is(err, fault.Partial) {
				t.Errorf("error %v, want partial", err)
			}
		})
	}
}

func TestAGroupWithoutAnARNIsUnreadable(t *testing.T) {
	tab := filled(1)
	found, err := tab.reader().Beats(t.Context(), guard.Group{Name: "web", Members: []guard.Member{{ID: id(0)}}})
	check(t, found, map[string]guard.Beat{id(0): {Unreadable: true}})
	if err == nil || tab.calls != 0 {
		t.Errorf("error %v, %d calls", err, tab.calls)
	}
}

func check(t *testing.T, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("got %s\nwant %s", g, w)
	}
}
