package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const metScenario = `name: met
group: {name: web}
fleet: {i1-i4: healthy}
steps: [{at: 0s, repeat: 2, expect: {mode: watching}}]
`

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func holdfast(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, streams{&o, &e})
	return code, o.String(), e.String()
}

func TestReplayExitsWithWhatCameOfIt(t *testing.T) {
	met := file(t, "met.yaml", metScenario)
	unmet := file(t, "unmet.yaml", strings.NewReplacer("name: met", "name: unmet", "watching", "held").Replace(metScenario))
	bad := file(t, "bad.yaml", "name: bad\ngroup: {name: web}\nfleet: {i1: helthy}\nsteps: [{at: 0s}]\n")
	for _, tc := range []struct {
		name        string
		args        []string
		code        int
		out, errOut string
	}{
		{"all expectations met", []string{"replay", met}, exitOK, "met: 3 looks, every expectation met\n\n1 file, 3 looks, every expectation met\n", ""},
		{"one expectation unmet", []string{"replay", met, unmet}, exitNo, "FAILED   mode: want held, have watching", ""},
		{"one line a file", []string{"replay", "--quiet", met}, exitOK, "met: 3 looks, every expectation met\n1 file, 3 looks, every expectation met\n", ""},
		{"what was not met, in full", []string{"replay", met, unmet, "--quiet"}, exitNo, "unmet.yaml\n\n12:02:00 (120s)  web  watching\n" +
			"  4 eligible, 4 healthy, 0 bad, 0 broken, 0 outside\n  FAILED   mode: want held, have watching\n\n" +
			"unmet: 3 looks, 1 expectation not met\n2 files, 6 looks, 1 expectation not met\n", ""},
		{"two ways to write at once", []string{"replay", "--quiet", "--json", met}, exitUsage, "", "--quiet beside --json"},
		{"a bad file", []string{"replay", met, bad}, exitUsage, "", "holdfast replay: " + bad + `:3: fleet.i1: unknown token "helthy"`},
		{"a file that is not there", []string{"replay", "nowhere.yaml"}, exitUsage, "", "read scenario: open nowhere.yaml"},
		{"the same name twice", []string{"replay", met, met}, exitUsage, "", `name: "met" is the name of`},
		{"no file", []string{"replay"}, exitUsage, "", "no file"},
		{"an unknown flag", []string{"replay", "--yaml", met}, exitUsage, "", "usage: holdfast replay [--quiet | --json] FILE..."},
		{"the help of a command", []string{"replay", "-h"}, exitOK, "usage: holdfast replay [--quiet | --json] FILE...", ""},
		{"an unknown command", []string{"replya"}, exitUsage, "", `unknown command "replya"`},
		{"no command", nil, exitUsage, "", "usage: holdfast COMMAND"},
		{"help", []string{"help"}, exitOK, "holdfast replay [--quiet | --json] FILE...", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errOut := holdfast(t, tc.args...)
			if code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			if !strings.Contains(out, tc.out) || (tc.out == "" && out != "") {
				t.Errorf("standard output %q, want %q in it", out, tc.out)
			}
			if !strings.Contains(errOut, tc.errOut) || (tc.errOut == "" && errOut != "") {
				t.Errorf("standard error %q, want %q in it", errOut, tc.errOut)
			}
		})
	}
}

func TestReplayWithJSONWritesOneObjectASweepAndNothingElse(t *testing.T) {
	path := file(t, "unmet.yaml", strings.Replace(metScenario, "watching", "held", 1))
	code, out, errOut := holdfast(t, "replay", "--json", path)
	if code != exitNo || errOut != "" {
		t.Errorf("exit %d and %q, want %d and nothing", code, errOut, exitNo)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want one for each of 3 sweeps", len(lines))
	}
	for i, line := range lines {
		var s struct {
			Step     int      `json:"step"`
			Failures []string `json:"failures"`
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil || s.Step != i {
			t.Errorf("line %d: %v %s", i, err, line)
		}
		if want := i == 2; want != (len(s.Failures) == 1) {
			t.Errorf("line %d has failures %q, want one on the last only", i, s.Failures)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestReplaySaysThatItsOutputCouldNotBeWritten(t *testing.T) {
	path := file(t, "met.yaml", metScenario)
	for _, args := range [][]string{{"replay", path}, {"replay", "--json", path}} {
		var e bytes.Buffer
		if code := run(t.Context(), args, streams{brokenWriter{}, &e}); code != exitUsage || !strings.Contains(e.String(), "no space left") {
			t.Errorf("%v: exit %d and %q, want %d and the reason", args, code, e.String(), exitUsage)
		}
	}
}
