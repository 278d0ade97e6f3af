package scenario_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/scenario"
)

// caseFiles are the acceptance cases.
func caseFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 95 {
		t.Fatalf("have %d case files, want the 95 of the design", len(files))
	}
	return files
}

func load(t *testing.T, file string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func replay(t *testing.T, s *scenario.Scenario, o scenario.Options) scenario.Result {
	t.Helper()
	r, err := scenario.Replay(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func asJSON(t *testing.T, r scenario.Result) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func caseName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".yaml") }

func TestEveryCaseOfTheDesignIsMet(t *testing.T) {
	for _, file := range caseFiles(t) {
		t.Run(caseName(file), func(t *testing.T) {
			s := load(t, file)
			if s.Name != caseName(file) {
				t.Errorf("name %q, want the file's", s.Name)
			}
			r := replay(t, s, scenario.Options{})
			for _, sweep := range r.Sweeps {
				for _, f := range sweep.Failures {
					t.Errorf("%s at %s: %s", sweep.Group, sweep.At, f)
				}
			}
			if first, second := asJSON(t, r), asJSON(t, replay(t, s, scenario.Options{})); first != second {
				t.Error("a second replay gives other bytes")
			}
		})
	}
}
