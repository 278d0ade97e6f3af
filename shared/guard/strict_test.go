package guard_test

import (
	"strings"
	"testing"
)

func TestWhatStandsInsideAPolicyIsStrictToo(t *testing.T) {
	const list, queue = " is not a list of {alarm, kind, missing}", " is not {sqs_url | namespace, metric, dimensions; deep}"
	for name, test := range map[string]struct{ key, value, rule string }{
		"a key of a dependency twice":        {"dependencies", `[{"alarm":"db","kind":"hard","kind":"soft"}]`, list},
		"a key in other letters":             {"dependencies", `[{"alarm":"db","Kind":"hard"}]`, list},
		"a key twice, once in other letters": {"dependencies", `[{"alarm":"db","kind":"hard","KIND":"soft"}]`, list},
		"a key with the long s of Unicode":   {"dependencies", `[{"alarm":"db","kind":"hard","miſſing":"ok"}]`, list},
		"a null for a word":                  {"dependencies", `[{"alarm":"db","kind":"hard","missing":null}]`, list},
		"a null for a dependency":            {"dependencies", `[null]`, list},
		"a queue's key twice":                {"queue", `{"sqs_url":"https://a/1/q","deep":5,"deep":9}`, queue},
		"a queue's key in other letters":     {"queue", `{"sqs_url":"https://a/1/q","Deep":9}`, queue},
		"a null for the depth":               {"queue", `{"sqs_url":"https://a/1/q","deep":null}`, queue},
		"a text for the depth":               {"queue", `{"namespace":"n","metric":"m","deep":"9","dimensions":{"a":"1"}}`, queue},
		"a number for a dimension":           {"queue", `{"namespace":"n","metric":"m","dimensions":{"a":1}}`, queue},
		"a dimension twice":                  {"queue", `{"namespace":"n","metric":"m","dimensions":{"a":"1","a":"2"}}`, queue},
		"a null for a dimension":             {"queue", `{"namespace":"n","metric":"m","dimensions":{"a":null}}`, queue},
		"a null for all dimensions":          {"queue", `{"namespace":"n","metric":"m","dimensions":null}`, queue},
		"good dependencies":                  {"dependencies", `[{"alarm":"db","kind":"hard","missing":"ok"},{"alarm":"Db","kind":"soft"}]`, ""},
		"dimensions that differ in letters":  {"queue", `{"namespace":"n","metric":"m","dimensions":{"a":"1","A":"2"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := rule(one(`{"` + test.key + `": ` + test.value + `}`))
			if test.rule == "" && got != "" || !strings.HasSuffix(got, test.rule) {
				t.Errorf("%s: %q, want a rule that ends in %q", test.value, got, test.rule)
			}
		})
	}
}
