package main

import (
	"strings"
	"testing"
)

func TestDefaultsWritesATableForEachKey(t *testing.T) {
	code, out, complaint := holdfast(t, "defaults", "--seeds", "1", "--keys", "correlated_min,onset_count")
	if code != exitOK || complaint != "" {
		t.Fatalf("exit %d: %s", code, complaint)
	}
	for _, want := range []string{"1 seed from 1 on, 22 days", "### `correlated_min`", "### `onset_count`", "| **3** |", "healthy lost"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "### `quiet_seconds`") {
		t.Error("a key that was not asked for is there")
	}
}

func TestDefaultsRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an unknown key":             {[]string{"--keys", "quiet"}, `"quiet"`},
		"no seeds":                   {[]string{"--seeds", "0"}, "--seeds: 0, want 1 to 1000000"},
		"too many seeds":             {[]string{"--seeds", "1000001"}, "--seeds: 1000001, want 1 to 1000000"},
		"seeds past the last":        {[]string{"--seeds", "10", "--first", "18446744073709551615"}, "--first: 18446744073709551615, want at most 18446744073709551605"},
		"a negative number":          {[]string{"--seeds", "-1"}, "-1"},
		"an extra argument":          {[]string{"web"}, "web"},
		"a folder that is not there": {[]string{"--seeds", "1", "--keys", "correlated_min", "--markdown", t.TempDir() + "/none/page.md"}, "none/page.md"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, complaint := holdfast(t, append([]string{"defaults"}, c.args...)...)
			if code != exitUsage || !strings.Contains(complaint, c.want) {
				t.Errorf("exit %d and %q, want %d and %q in it", code, complaint, exitUsage, c.want)
			}
		})
	}
}
