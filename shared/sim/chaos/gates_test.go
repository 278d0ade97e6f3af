package chaos_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// redundant are gates behind which another rule of the guard stands, so that taking one away changes no call: a group that does not
// converge is held, and with one slot in flight no second member is lost to capacity in a group of more than one.
func redundant(gate string) string {
	return map[string]string{
		"NotConverging": "the trigger not-converging holds the group first",
		"Capacity":      "the slots in flight are the tighter limit in most groups",
	}[gate]
}

// TestChaosGates builds the guard anew without each of its gates, one at a time, and runs the seeds until one breaks a rule. It
// compiles once for each gate, so it runs only when it is asked for: HOLDFAST_CHAOS_GATES=1.
func TestChaosGates(t *testing.T) {
	if os.Getenv("HOLDFAST_CHAOS_GATES") == "" {
		t.Skip("set HOLDFAST_CHAOS_GATES=1 to take each gate of the guard away and see which seed finds it")
	}
	path, err := filepath.Abs("../../guard/gate.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gates := regexp.MustCompile(`(?m)^\t\t\{Reason(\w+), gate\w+\},\n`).FindAllStringSubmatch(string(source), -1)
	if len(gates) < 20 {
		t.Fatalf("only %d gates were found in %s", len(gates), path)
	}
	for _, g := range gates {
		t.Run(g[1], func(t *testing.T) {
			out, found := without(t, path, strings.Replace(string(source), g[0], "\t\t{Reason"+g[1]+", func(*look, *view) answer { return answer{} }},\n", 1))
			switch why := redundant(g[1]); {
			case found:
				t.Logf("found: %s", first(out))
			case why != "":
				t.Logf("not found, as expected: %s", why)
			default:
				t.Errorf("not found:\n%s", out)
			}
		})
	}
}

// without runs the seeds against a changed file and says whether a rule was broken.
func without(t *testing.T, path, changed string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "gate.go")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: file}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "chaos.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-c", "-overlay", list, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build without the gate: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "-test.run", "TestChaosSafetyThenHeal")
	run.Env = append(os.Environ(), "HOLDFAST_CHAOS_STOP=1")
	out, err := run.CombinedOutput()
	return string(out), err != nil
}

// first is the seed and the rule of a failed run.
func first(out string) string {
	seed := regexp.MustCompile(`seed \d+`).FindString(out)
	rule := regexp.MustCompile(`run-\d+: ([a-z-]+): `).FindStringSubmatch(out)
	if rule == nil {
		return seed + ", not healed"
	}
	return seed + ", " + rule[1]
}
