package dynamo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
)

func sample() dynamo.Item {
	return dynamo.Item{
		"pk": str("a"), "seq": num(7), "phase": str("held"), "ratio": dec("0.25"),
		"tags":   &types.AttributeValueMemberSS{Value: []string{"x", "y"}},
		"items1": &types.AttributeValueMemberL{Value: []types.AttributeValue{str("one"), num(2)}},
		"hold1":  &types.AttributeValueMemberM{Value: dynamo.Item{"who": str("us"), "since": num(100)}},
		"armed":  &types.AttributeValueMemberBOOL{Value: true},
	}
}

func values() dynamo.Item {
	return dynamo.Item{
		":1": num(1), ":7": num(7), ":9": num(9), ":07": dec("7.0"), ":s": str("held"), ":he": str("he"), ":x": str("x"),
		":us": str("us"), ":t": &types.AttributeValueMemberBOOL{Value: true}, ":q": dec("0.25"), ":two": num(2),
		":S": str("S"), ":four": num(4),
	}
}

// only keeps the values that an expression names, because unused ones are an error.
func only(all dynamo.Item, expression string) dynamo.Item {
	out := dynamo.Item{}
	for name, v := range all {
		for _, word := range strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" ,()=<>+-", r) }) {
			if word == name {
				out[name] = v
			}
		}
	}
	return out
}

func TestConditionsOnAnExistingItem(t *testing.T) {
	cases := []struct {
		expression string
		want       bool
	}{
		{"seq = :7", true},
		{"seq = :07", true},
		{"ratio = :q", true},
		{"seq <> :7", false},
		{"seq < :9 AND seq > :1", true},
		{"seq <= :7 and seq >= :7", true},
		{"seq < :s", false},
		{"absent = :7", false},
		{"absent <> :7", true},
		{"absent < :7", false},
		{"NOT absent < :7", true},
		{"attribute_exists(seq)", true},
		{"attribute_not_exists(seq)", false},
		{"attribute_not_exists(absent) OR seq < :1", true},
		{"attribute_exists(hold1.who)", true},
		{"attribute_exists(hold1.nobody)", false},
		{"attribute_exists(items1[1])", true},
		{"attribute_exists(items1[2])", false},
		{"hold1.who = :us", true},
		{"items1[1] = :two", true},
		{"begins_with(phase, :he)", true},
		{"begins_with(seq, :he)", false},
		{"begins_with(absent, :he)", false},
		{"contains(tags, :x)", true},
		{"contains(phase, :x)", false},
		{"contains(items1, :two)", true},
		{"attribute_type(phase, :S)", true},
		{"seq BETWEEN :1 AND :9", true},
		{"seq BETWEEN :1 AND :9 AND phase = :us", false},
		{"seq IN (:1, :7)", true},
		{"seq IN (:1, :9)", false},
		{"size(phase) = :four", true},
		{"size(tags) = :two", true},
		{"size(seq) = :two", false},
		{"armed = :t", true},
		{"seq = :1 OR seq = :7 AND phase = :s", true},
		{"(seq = :1 OR seq = :7) AND phase = :us", false},
		{"NOT (seq = :1 OR phase = :us)", true},
		{"NOT seq = :1 AND NOT phase = :us", true},
	}
	for _, tc := range cases {
		t.Run(tc.expression, func(t *testing.T) {
			r := newRig(t)
			r.put(t, "plain", sample())
			_, err := r.client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
				TableName: aws.String("plain"), Key: dynamo.Item{"pk": str("a")},
				ConditionExpression: aws.String(tc.expression), ExpressionAttributeValues: nilIfEmpty(only(values(), tc.expression)),
			})
			want := ""
			if !tc.want {
				want = "ConditionalCheckFailedException"
			}
			if got := code(err); got != want {
				t.Errorf("condition %q: code %q (%v), want %q", tc.expression, got, err, want)
			}
			if gone := r.get(t, "plain", dynamo.Item{"pk": str("a")}) == nil; gone != tc.want {
				t.Errorf("condition %q: item gone %v, want %v", tc.expression, gone, tc.want)
			}
		})
	}
}

func nilIfEmpty(m dynamo.Item) dynamo.Item {
	if len(m) == 0 {
		return nil
	}
	return m
}

func TestWrongExpressionsAreRefusedBeforeAnythingIsRead(t *testing.T) {
	cases := []struct {
		name       string
		expression string
		names      map[string]string
		values     dynamo.Item
		message    string
	}{
		{"a reserved word", "status = :v", nil, dynamo.Item{":v": num(1)}, "reserved keyword: status"},
		{"a reserved word inside a path", "a.agent = :v", nil, dynamo.Item{":v": num(1)}, "reserved keyword: agent"},
		{"an undefined value", "a = :v", nil, nil, "attribute value: :v"},
		{"an undefined name", "#a = :v", nil, dynamo.Item{":v": num(1)}, "attribute name: #a"},
		{"a value that is not used", "a = :v", nil, dynamo.Item{":v": num(1), ":w": num(1)}, "keys: {:w}"},
		{"a name that is not used", "a = :v", map[string]string{"#b": "b"}, dynamo.Item{":v": num(1)}, "keys: {#b}"},
		{"an unknown function", "exists(a)", nil, nil, "Invalid function name; function: exists"},
		{"an update function in a condition", "if_not_exists(a, b)", nil, nil, "not allowed to be used this way"},
		{"an open bracket", "(a = :v", nil, dynamo.Item{":v": num(1)}, "Syntax error"},
		{"two conditions side by side", "a = :v b = :v", nil, dynamo.Item{":v": num(1)}, "Syntax error"},
		{"a foreign byte", "a = :v;", nil, dynamo.Item{":v": num(1)}, "Syntax error"},
		{"nothing", " ", nil, nil, "can not be empty"},
		{"an operand alone", "a", nil, nil, "Syntax error"},
		{"begins_with a number", "begins_with(a, :v)", nil, dynamo.Item{":v": num(1)}, "operand type: N"},
		{"less than a boolean", "a < :v", nil, dynamo.Item{":v": &types.AttributeValueMemberBOOL{Value: true}}, "operand type: BOOL"},
		{"bounds the wrong way round", "a BETWEEN :v AND :w", nil, dynamo.Item{":v": num(2), ":w": num(1)}, "upper bound"},
		{"bounds of two types", "a BETWEEN :v AND :w", nil, dynamo.Item{":v": num(2), ":w": str("1")}, "same data type"},
		{"a number that is none", "a = :v", nil, dynamo.Item{":v": dec("1/3")}, "numeric value"},
		{"a number with 39 digits", "a = :v", nil, dynamo.Item{":v": dec("123456789012345678901234567890123456789")}, "38 significant digits"},
		{"a number out of range", "a = :v", nil, dynamo.Item{":v": dec("1e126")}, "overflow"},
		{"an empty set", "a = :v", nil, dynamo.Item{":v": &types.AttributeValueMemberSS{}}, "may not be empty"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			_, err := r.client.PutItem(context.Background(), &dynamodb.PutItemInput{
				TableName: aws.String("plain"), Item: dynamo.Item{"pk": str("a")}, ConditionExpression: aws.String(tc.expression),
				ExpressionAttributeNames: tc.names, ExpressionAttributeValues: tc.values,
			})
			if code(err) != "ValidationException" || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("got %v, want a ValidationException with %q", err, tc.message)
			}
			if len(r.tables.Items("plain")) != 0 {
				t.Error("the item was written")
			}
		})
	}
}

func TestAllOldTellsWhyWithoutASecondRead(t *testing.T) {
	for _, want := range []types.ReturnValuesOnConditionCheckFailure{"", types.ReturnValuesOnConditionCheckFailureAllOld} {
		r := newRig(t)
		r.put(t, "plain", sample())
		_, err := r.client.PutItem(context.Background(), &dynamodb.PutItemInput{
			TableName: aws.String("plain"), Item: dynamo.Item{"pk": str("a")},
			ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: want,
		})
		failed := as[*types.ConditionalCheckFailedException](t, err)
		if got := text(failed.Item["seq"]); (got == "7") != (want == types.ReturnValuesOnConditionCheckFailureAllOld) {
			t.Errorf("with %q: seq of the returned item is %q", want, got)
		}
	}
}
