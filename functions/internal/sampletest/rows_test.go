package sampletest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/functions/internal/sampletest"
)

func TestEverySampleEventIsInOneRowAndEveryRowHasItsFile(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sampletest.Folder(), "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d sample events, %v", len(paths), err)
	}
	rows := map[string]int{}
	for _, r := range sampletest.Rows() {
		rows[r.File]++
		if len(r.Owners) == 0 && r.Why == "" {
			t.Errorf("%s is nobody's, and no reason says why", r.File)
		}
		if _, err := r.Read(); err != nil {
			t.Errorf("%s: %v", r.File, err)
		}
	}
	for _, path := range paths {
		if n := rows[filepath.Base(path)]; n != 1 {
			t.Errorf("%s is in %d rows, want one", filepath.Base(path), n)
		}
	}
}

// pattern is what the template's rules compare; a key that is not here would make the test wrong, and is refused.
type pattern struct {
	Source     []string `json:"source"`
	DetailType []string `json:"detail-type"`
}

func patterns(t *testing.T) []pattern {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(sampletest.Folder(), "..", "infra", "stack", "testdata", "Guardian.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	var out []pattern
	for name, r := range template.Resources {
		if r.Type != "AWS::Events::Rule" {
			continue
		}
		var rule struct{ EventPattern json.RawMessage }
		if err := json.Unmarshal(r.Properties, &rule); err != nil {
			t.Fatal(err)
		}
		if len(rule.EventPattern) == 0 {
			continue
		}
		var p pattern
		decoder := json.NewDecoder(strings.NewReader(string(rule.EventPattern)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&p); err != nil {
			t.Fatalf("pattern of %s: %v", name, err)
		}
		out = append(out, p)
	}
	return out
}

func TestTheRulesSendTheSamplesOfTheBusThatAreOwnedAndNoOthers(t *testing.T) {
	rules := patterns(t)
	if len(rules) == 0 {
		t.Fatal("the template has no rule with a pattern")
	}
	sent := 0
	for _, r := range sampletest.Rows() {
		raw, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		var envelope struct {
			Source     string `json:"source"`
			DetailType string `json:"detail-type"`
		}
		if err := json.Unmarshal(raw, &envelope); err != nil {
			t.Fatalf("%s: %v", r.File, err)
		}
		matches := slices.ContainsFunc(rules, func(p pattern) bool {
			return slices.Contains(p.Source, envelope.Source) && slices.Contains(p.DetailType, envelope.DetailType)
		})
		if matches != (r.By == sampletest.ByRule) {
			t.Errorf("%s: a rule sends it is %t, the row says it comes by %q", r.File, matches, r.By)
		}
		if matches {
			sent++
		}
	}
	if sent == 0 {
		t.Error("no rule sends anything")
	}
}
