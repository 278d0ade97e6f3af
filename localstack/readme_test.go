package localstack_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

func TestTheREADMEListsWhatCanBreakAndNothingElse(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for head, want := range map[string][]string{
		"| kind | what is the matter |\n":    words(sim.Kinds()),
		"| state | what deep checks see |\n": words(sim.DependencyStates()),
	} {
		_, rest, found := strings.Cut(string(text), head)
		table, _, _ := strings.Cut(rest, "\n\n")
		var have []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(table, -1) {
			have = append(have, row[1])
		}
		if !found || !slices.Equal(have, want) {
			t.Errorf("under %q the README lists %v, want %v", head, have, want)
		}
	}
}

func words[T ~string](all []T) []string {
	var out []string
	for _, w := range all {
		out = append(out, string(w))
	}
	return out
}
