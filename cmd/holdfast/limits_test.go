package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

var update = flag.Bool("update", false, "write the README's table of limits anew")

const (
	readme      = "../../README.md"
	limitsBegin = "<!-- limits:begin -->\n"
	limitsEnd   = "<!-- limits:end -->\n"
)

func TestTheREADMEHasTheTableOfLimits(t *testing.T) {
	code, table, errOut := holdfast(t, "limits")
	if code != exitOK || errOut != "" {
		t.Fatalf("exit %d, %q", code, errOut)
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := strings.Cut(string(text), limitsBegin)
	have, tail, ended := strings.Cut(rest, limitsEnd)
	if !begun || !ended {
		t.Fatalf("the README lacks %q or %q", limitsBegin, limitsEnd)
	}
	if have == table {
		return
	}
	if !*update {
		t.Fatalf("the README's table differs from that of the keys; write it anew with: go test ./cmd/holdfast -run README -update\nwant\n%s", table)
	}
	if err := os.WriteFile(readme, []byte(head+limitsBegin+table+limitsEnd+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheTableHasARowForEveryKey(t *testing.T) {
	_, table, _ := holdfast(t, "limits")
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	keys := guard.Keys()
	if len(lines) != len(keys)+2 {
		t.Fatalf("%d lines for %d keys", len(lines), len(keys))
	}
	for i, k := range keys {
		row := lines[i+2]
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		if len(cells) != 5 || !strings.HasPrefix(row, "| `"+k.Name+"` | "+k.Default+" | ") || !strings.Contains(row, k.Meaning) {
			t.Errorf("row of %s: %s", k.Name, row)
		}
	}
	for _, want := range []string{
		"| `marks_per_hour` | 3 | 0 or more | max(3, 10 % of the members) |", "| `hold_exit` | operator | operator, paced |", "| `dependencies` | none | at most 50 |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q", want)
		}
	}
}

func TestLimitsTakesNoArgument(t *testing.T) {
	if code, out, errOut := holdfast(t, "limits", "web"); code != exitUsage || out != "" || !strings.Contains(errOut, `unexpected argument "web"`) {
		t.Errorf("exit %d, %q, %q", code, out, errOut)
	}
	var e bytes.Buffer
	if code := run(t.Context(), []string{"limits"}, streams{brokenWriter{}, &e}); code != exitUsage || !strings.Contains(e.String(), "no space left") {
		t.Errorf("exit %d, %q", code, e.String())
	}
}
