package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday/season"
)

func TestGameDaysAreWrittenInEveryFormTheSameTwice(t *testing.T) {
	write := func() (texts []string) {
		t.Helper()
		dir := t.TempDir()
		args := []string{"gameday", "--seeds", "2", "--days", "zone-loss,database-failover", "--guardians", "oracle,holdfast"}
		for _, form := range []string{"markdown", "json", "html"} {
			args = append(args, "--"+form, filepath.Join(dir, form))
		}
		if code, out, errOut := holdfast(t, args...); code != exitOK || out != "" || errOut != "" {
			t.Fatalf("exit %d; beside the files it says %q and %q", code, out, errOut)
		}
		for _, form := range []string{"markdown", "json", "html"} {
			text, err := os.ReadFile(filepath.Join(dir, form))
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		return texts
	}
	one, two := write(), write()
	for i, form := range []string{"markdown", "json", "html"} {
		if one[i] != two[i] {
			t.Errorf("%s differs the second time", form)
		}
		if !strings.Contains(one[i], "zone-loss") || strings.Contains(one[i], "two-in-turn") {
			t.Errorf("%s has not the days that were asked for", form)
		}
	}
	var table season.Table
	if err := json.Unmarshal([]byte(one[1]), &table); err != nil {
		t.Fatal(err)
	}
	if table.Seeds != 2 || len(table.Days) != 2 || len(table.Guardians) != 2 || table.Guardians[0] != "holdfast" {
		t.Errorf("the table is %+v", table)
	}
}

func TestGameDaysGoToStandardOutput(t *testing.T) {
	code, out, _ := holdfast(t, "gameday", "--seeds", "1", "--days", "static-200", "--guardians", "oracle")
	if code != exitOK || !strings.Contains(out, "## static-200") || !strings.Contains(out, "| oracle | 0 |") {
		t.Errorf("output is\n%s", out)
	}
}

func TestProgressOfGameDaysIsToldOnlyWhenAskedForAndChangesNoTable(t *testing.T) {
	args := []string{"gameday", "--seeds", "4", "--days", "static-200", "--guardians", "oracle,holdfast"}
	code, plain, errOut := holdfast(t, args...)
	if code != exitOK || errOut != "" {
		t.Fatalf("exit %d, %q", code, errOut)
	}
	code, asked, errOut := holdfast(t, append(args, "--progress")...)
	if code != exitOK || asked != plain {
		t.Errorf("exit %d; the table changed:\n%s", code, asked)
	}
	if want := "holdfast gameday: 10 % plays\nholdfast gameday: 20 % plays\n"; !strings.HasPrefix(errOut, want) || !strings.HasSuffix(errOut, "holdfast gameday: 100 % plays\n") {
		t.Errorf("progress %q", errOut)
	}
}

func TestHoldfastAloneHasNoLimitBesideIt(t *testing.T) {
	code, out, _ := holdfast(t, "gameday", "--seeds", "1", "--days", "static-200", "--guardians", "holdfast")
	if _, beside, found := strings.Cut(out, "## holdfast beside the others"); code != exitOK || !found || strings.Contains(beside, "limit") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if !strings.Contains(out, "\n1 seed from 1 on, 1 day, 1 guardian.") {
		t.Errorf("the counts are not those of one each:\n%s", out)
	}
}

func TestWrongGameDaysAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no seeds":            {[]string{"--seeds", "0"}, "--seeds: 0, want 1 to 1000000"},
		"too many seeds":      {[]string{"--seeds", "1000001"}, "--seeds: 1000001, want 1 to 1000000"},
		"all seeds there are": {[]string{"--seeds", "18446744073709551615"}, "--seeds: 18446744073709551615, want 1 to 1000000"},
		"seeds past the last": {[]string{"--seeds", "10", "--first", "18446744073709551606"}, "--first: 18446744073709551606, want at most 18446744073709551605 for so many seeds"},
		"an unknown day":      {[]string{"--days", "monday"}, `--days: "monday", want of bad-launch-template, `},
		"an unknown guardian": {[]string{"--guardians", "angel"}, `--guardians: "angel", want of holdfast, `},
		"a path in no folder": {[]string{"--json", filepath.Join(t.TempDir(), "none", "x.json")}, "write file: open "},
		"an argument":         {[]string{"all"}, `unexpected argument "all"`},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, complaint := holdfast(t, append([]string{"gameday"}, c.args...)...)
			if code != exitUsage || out != "" || !strings.Contains(complaint, c.want) {
				t.Errorf("exit code %d, output %q, complaint %q; want %q", code, out, complaint, c.want)
			}
		})
	}
}
