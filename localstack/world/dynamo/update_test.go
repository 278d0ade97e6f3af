package dynamo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
)

func as[E error](t *testing.T, err error) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want %T", err, e)
	}
	return e
}

func (r *rig) update(expression string, vals dynamo.Item, want types.ReturnValue) (dynamo.Item, error) {
	out, err := r.client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("plain"), Key: dynamo.Item{"pk": str("a")}, UpdateExpression: aws.String(expression),
		ExpressionAttributeValues: vals, ReturnValues: want,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

func TestUpdatesChangeWhatTheyName(t *testing.T) {
	set := func(members ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: members} }
	cases := []struct {
		expression string
		values     dynamo.Item
		attribute  string
		want       string
	}{
		{"SET seq = :v", dynamo.Item{":v": num(8)}, "seq", "8"},
		{"SET seq = seq + :v", dynamo.Item{":v": dec("0.1")}, "seq", "7.1"},
		{"SET seq = seq - :v", dynamo.Item{":v": num(10)}, "seq", "-3"},
		{"SET fresh = if_not_exists(fresh, :v) + :v", dynamo.Item{":v": num(1)}, "fresh", "2"},
		{"SET seq = if_not_exists(seq, :v) + :v", dynamo.Item{":v": num(1)}, "seq", "8"},
		{"SET seq = ratio, ratio = seq", nil, "ratio", "7"},
		{"ADD seq :v", dynamo.Item{":v": num(-2)}, "seq", "5"},
		{"ADD fresh :v", dynamo.Item{":v": num(3)}, "fresh", "3"},
		{"ADD tags :v", dynamo.Item{":v": set("y", "z")}, "tags", "x,y,z"},
		{"DELETE tags :v", dynamo.Item{":v": set("y", "z")}, "tags", "x"},
		{"DELETE tags :v", dynamo.Item{":v": set("x", "y")}, "tags", ""},
		{"DELETE fresh :v", dynamo.Item{":v": set("x")}, "fresh", ""},
		{"REMOVE seq", nil, "seq", ""},
		{"REMOVE fresh", nil, "seq", "7"},
		{"SET items1 = list_append(items1, :v)", dynamo.Item{":v": &types.AttributeValueMemberL{Value: []types.AttributeValue{str("three")}}}, "items1", "one,2,three"},
		{"SET items1 = list_append(:v, items1)", dynamo.Item{":v": &types.AttributeValueMemberL{Value: []types.AttributeValue{str("zero")}}}, "items1", "zero,one,2"},
		{"SET items1[9] = :v", dynamo.Item{":v": str("end")}, "items1", "one,2,end"},
		{"SET items1[0] = :v", dynamo.Item{":v": str("first")}, "items1", "first,2"},
		{"REMOVE items1[0], items1[1]", nil, "items1", ""},
		{"REMOVE items1[0]", nil, "items1", "2"},
		{"set seq = :v remove ratio add fresh :v", dynamo.Item{":v": num(1)}, "fresh", "1"},
	}
	for _, tc := range cases {
		t.Run(tc.expression, func(t *testing.T) {
			r := newRig(t)
			r.put(t, "plain", sample())
			got, err := r.update(tc.expression, tc.values, types.ReturnValueAllNew)
			if err != nil {
				t.Fatalf("update: %v", err)
			}
			if flat(got[tc.attribute]) != tc.want {
				t.Errorf("%s is %q, want %q", tc.attribute, flat(got[tc.attribute]), tc.want)
			}
			if stored := r.get(t, "plain", dynamo.Item{"pk": str("a")}); flat(stored[tc.attribute]) != tc.want {
				t.Errorf("stored %s is %q, want %q", tc.attribute, flat(stored[tc.attribute]), tc.want)
			}
		})
	}
}

func flat(v types.AttributeValue) string {
	var parts []string
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		parts = slices.Sorted(slices.Values(v.Value))
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			parts = append(parts, text(e))
		}
	default:
		return text(v)
	}
	return strings.Join(parts, ",")
}

func TestNestedUpdates(t *testing.T) {
	r := newRig(t)
	r.put(t, "plain", sample())
	got, err := r.update("SET hold1.since = hold1.since + :v REMOVE hold1.#who", dynamo.Item{":v": num(5)}, "")
	if code(err) != "ValidationException" || got != nil {
		t.Fatalf("an undefined name: %v", err)
	}
	if _, err = r.update("SET hold1.since = hold1.since + :v", dynamo.Item{":v": num(5)}, ""); err != nil {
		t.Fatalf("update: %v", err)
	}
	m := r.get(t, "plain", dynamo.Item{"pk": str("a")})["hold1"].(*types.AttributeValueMemberM)
	if text(m.Value["since"]) != "105" || text(m.Value["who"]) != "us" {
		t.Errorf("hold1 is %v", m.Value)
	}
}

func TestReturnValuesOfAnUpdate(t *testing.T) {
	cases := []struct {
		want types.ReturnValue
		seq  string
		size int
	}{
		{types.ReturnValueNone, "", 0},
		{types.ReturnValueAllOld, "7", 8},
		{types.ReturnValueUpdatedOld, "7", 1},
		{types.ReturnValueAllNew, "9", 9},
		{types.ReturnValueUpdatedNew, "9", 2},
	}
	for _, tc := range cases {
		r := newRig(t)
		r.put(t, "plain", sample())
		got, err := r.update("SET seq = :v, fresh = :v", dynamo.Item{":v": num(9)}, tc.want)
		if err != nil {
			t.Fatalf("update: %v", err)
		}
		if text(got["seq"]) != tc.seq || len(got) != tc.size {
			t.Errorf("%s: seq %q and %d attributes, want %q and %d", tc.want, text(got["seq"]), len(got), tc.seq, tc.size)
		}
	}
}

func TestWrongUpdatesAreRefusedAndChangeNothing(t *testing.T) {
	one := dynamo.Item{":v": num(1)}
	word := dynamo.Item{":v": str("x")}
	cases := []struct {
		expression string
		values     dynamo.Item
		message    string
	}{
		{"SET pk = :v", word, "part of the key"},
		{"SET seq = nothing + :v", one, "does not exist in the item"},
		{"SET seq = phase + :v", one, "incorrect data type"},
		{"SET seq = seq + :v", word, "operand type: S"},
		{"ADD phase :v", one, "incorrect data type"},
		{"ADD phase :v", word, "operand type: S"},
		{"DELETE seq :v", one, "operand type: N"},
		{"SET seq = :v, seq = :v", one, "overlap"},
		{"SET hold1.since = :v REMOVE hold1", one, "overlap"},
		{"SET seq = :v SET ratio = :v", one, "only be used once"},
		{"SET nowhere.deep = :v", one, "invalid for update"},
		{"SET seq.deep = :v", one, "invalid for update"},
		{"SET seq :v", one, "Syntax error"},
		{"CHANGE seq = :v", one, "Syntax error"},
		{"SET seq = begins_with(phase, :v)", word, "not allowed to be used this way"},
		{"SET seq = list_append(items1, :v)", one, "operand type: N"},
		{"SET seq = seq + :v + :v", one, "Syntax error"},
		{"SET status = :v", one, "reserved keyword"},
	}
	for _, tc := range cases {
		t.Run(tc.expression, func(t *testing.T) {
			r := newRig(t)
			r.put(t, "plain", sample())
			_, err := r.update(tc.expression, tc.values, "")
			if code(err) != "ValidationException" || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("got %v, want a ValidationException with %q", err, tc.message)
			}
			after := r.get(t, "plain", dynamo.Item{"pk": str("a")})
			if text(after["seq"]) != "7" || len(after) != len(sample()) {
				t.Errorf("the item changed: %v", after)
			}
		})
	}
}

func TestAnUpdateCreatesTheItemThatIsNotThere(t *testing.T) {
	r := newRig(t)
	if _, err := r.update("SET seq = :v", dynamo.Item{":v": num(1)}, ""); err != nil {
		t.Fatalf("update: %v", err)
	}
	if got := r.get(t, "plain", dynamo.Item{"pk": str("a")}); text(got["seq"]) != "1" || text(got["pk"]) != "a" {
		t.Errorf("item is %v", got)
	}
}
