package heartbeat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

const tableARN = "arn:aws:dynamodb:us-east-1:111122223333:table/holdfast-heartbeats"

// evaluator carries out the part of IAM's policy language that the rendered policy uses, by the rules of the IAM user guide: a statement
// allows a request if its action and resource match and every operator of every condition holds; else nothing is allowed. An operator,
// key or form that it does not know fails the test, so that the policy cannot outgrow it.
// Source: IAM user guide, "Policy evaluation logic", "Condition operators", "Conditions with multiple context keys or values".
type evaluator struct {
	t      *testing.T
	policy struct {
		Version   string
		Statement []struct {
			Effect, Action, Resource string
			Condition                map[string]map[string]any
		}
	}
}

type request struct {
	action, resource string
	// context has the values of each key that the request carries.
	context map[string][]string
}

func (e *evaluator) allows(r request) bool {
	e.t.Helper()
	if e.policy.Version != "2012-10-17" {
		return false // variables are plain text in the older version
	}
	for _, s := range e.policy.Statement {
		if s.Effect != "Allow" {
			e.t.Fatalf("effect %s is not evaluated here", s.Effect)
		}
		if s.Action == r.action && s.Resource == r.resource && e.holds(s.Condition, r) {
			return true
		}
	}
	return false
}

func (e *evaluator) holds(conditions map[string]map[string]any, r request) bool {
	e.t.Helper()
	for operator, keys := range conditions {
		for key, raw := range keys {
			want, resolved := e.values(raw, r)
			have, present := r.context[key]
			if !resolved || !e.operator(operator, operands{want, have, present}) {
				return false
			}
		}
	}
	return true
}

type operands struct {
	want, have []string
	present    bool
}

func (e *evaluator) operator(name string, o operands) bool {
	e.t.Helper()
	among := func(v string) bool { return slices.Contains(o.want, v) }
	switch name {
	case "ForAllValues:StringEquals": // true for an empty set
		return !slices.ContainsFunc(o.have, func(v string) bool { return !among(v) })
	case "StringEqualsIfExists":
		return !o.present || slices.ContainsFunc(o.have, among)
	case "Null": // "false": the key must be there
		return o.want[0] == fmt.Sprint(!o.present)
	case "NumericGreaterThanEquals":
		return o.present && o.have[0] >= o.want[0] // one digit before the point on both sides
	}
	e.t.Fatalf("operator %s is not evaluated here", name)
	return false
}

// values resolves the variables of a condition's values; one that the request does not carry matches nothing.
func (e *evaluator) values(raw any, r request) (out []string, resolved bool) {
	e.t.Helper()
	list, isList := raw.([]any)
	if !isList {
		list = []any{raw}
	}
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			e.t.Fatalf("value %v is no text", item)
		}
		if name, isVariable := strings.CutPrefix(text, "${"); isVariable {
			values := r.context[strings.TrimSuffix(name, "}")]
			if len(values) != 1 {
				return nil, false
			}
			text = values[0]
		}
		out = append(out, text)
	}
	return out, true
}

// ofCall is the request that the writer's own call makes, with the context keys that DynamoDB derives from it.
// Source: DynamoDB developer guide, "Using IAM policy conditions for fine-grained access control".
func ofCall(in *dynamodb.UpdateItemInput, from string) request {
	attributes := []string{}
	for name := range in.Key {
		attributes = append(attributes, name)
	}
	for _, name := range in.ExpressionAttributeNames {
		attributes = append(attributes, name)
	}
	returned := string(in.ReturnValues)
	if returned == "" {
		returned = "NONE"
	}
	return request{action: "dynamodb:UpdateItem", resource: tableARN, context: map[string][]string{
		"dynamodb:LeadingKeys": {aws.ToString(keyOf(in))}, "dynamodb:Attributes": attributes, "dynamodb:ReturnValues": {returned},
		"ec2:SourceInstanceARN": {from}, "ec2:RoleDelivery": {"2.0"},
	}}
}

func TestAnInstanceMayWriteItsOwnRowAndNothingElse(t *testing.T) {
	rendered, err := heartbeat.Policy(tableARN)
	must(t, err)
	e := &evaluator{t: t}
	must(t, json.Unmarshal([]byte(rendered), &e.policy))
	s := newStore(t)
	s.keep = true
	must(t, s.writer(t, "i-0a", nil).Write(t.Context(), heartbeat.Report{Status: heartbeat.StatusFailing, Failing: []string{"disk"}}))
	own := func(change func(*request)) request {
		r := ofCall(s.inputs[0], key("i-0a"))
		change(&r)
		return r
	}
	cases := []struct {
		name string
		r    request
		want bool
	}{
		{"its own row, as the writer writes it", own(func(*request) {}), true},
		{"another instance's row", own(func(r *request) { r.context["dynamodb:LeadingKeys"] = []string{key("i-0b")} }), false},
		{"its own row and another's", own(func(r *request) { r.context["dynamodb:LeadingKeys"] = []string{key("i-0a"), key("i-0b")} }), false},
		{"a key that only begins like its own", own(func(r *request) { r.context["dynamodb:LeadingKeys"] = []string{key("i-0a1")} }), false},
		{"no key at all", own(func(r *request) { delete(r.context, "dynamodb:LeadingKeys") }), false},
		{"from somewhere that is no instance", own(func(r *request) { delete(r.context, "ec2:SourceInstanceARN") }), false},
		{"with credentials from metadata version 1", own(func(r *request) { r.context["ec2:RoleDelivery"] = []string{"1.0"} }), false},
		{"another attribute", own(func(r *request) { r.context["dynamodb:Attributes"] = append(heartbeat.Attributes(), "note") }), false},
		{"to read the whole row back", own(func(r *request) { r.context["dynamodb:ReturnValues"] = []string{"ALL_OLD"} }), false},
		{"another table", own(func(r *request) { r.resource = strings.Replace(tableARN, "heartbeats", "state", 1) }), false},
	}
	for _, action := range []string{"Scan", "Query", "GetItem", "BatchGetItem", "PutItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "PartiQLUpdate"} {
		cases = append(cases, struct {
			name string
			r    request
			want bool
		}{action + " of its own row", own(func(r *request) { r.action = "dynamodb:" + action }), false})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := e.allows(c.r); got != c.want {
				t.Errorf("allowed %v, want %v", got, c.want)
			}
		})
	}
}
