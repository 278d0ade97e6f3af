package main

import (
	"os"
	"strings"
	"testing"
)

func TestTheExampleOfTheScenarioFormatMeetsItsExpectations(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenario-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begins := strings.Cut(string(text), "```yaml\n")
	example, _, ends := strings.Cut(rest, "```\n")
	if !begins || !ends {
		t.Fatal("the text has no example")
	}
	code, out, errOut := holdfast(t, "replay", file(t, "example.yaml", example))
	for _, want := range []string{"one-broken-of-four: ", "  did      mark i1\n", "1 file, 3 looks, every expectation met\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the story does not say %q", want)
		}
	}
	if code != exitOK || errOut != "" {
		t.Errorf("exit %d, %s\n%s", code, errOut, out)
	}
}
