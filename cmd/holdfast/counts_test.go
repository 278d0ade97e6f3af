package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNoCountIsPrintedWithAFixedPlural keeps "1 seeds" out: a count and its noun are written by guard.Counted. Only what
// breaks a bound, and so is never one, and characters, whose number is such a bound, may stand in the text itself.
func TestNoCountIsPrintedWithAFixedPlural(t *testing.T) {
	fixed := regexp.MustCompile(`%d (?:[a-z]+ )?([a-z]+s)\b(, want at)?`)
	read := 0
	for _, folder := range []string{".", "operator", "picture", "../../shared/scenario", "../../shared/sim/gameday/season", "../../shared/sim/gameday/tradeoff", "../../shared/audit/report"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			read++
			for _, found := range fixed.FindAllStringSubmatch(string(text), -1) {
				if found[2] == "" && !slices.Contains([]string{"is", "was", "this", "characters"}, found[1]) {
					t.Errorf("%s prints %q, want guard.Counted", file, found[0])
				}
			}
		}
	}
	if read < 30 {
		t.Errorf("%d files were read: this test looks in the wrong place", read)
	}
}
