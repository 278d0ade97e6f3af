package stack_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestABadNumberFailsEverySynth runs the program as a deploy does: alone, and under CDK's command line with and without validation. One
// number is of the service that the app has, the other one of a service that only the register has.
func TestABadNumberFailsEverySynth(t *testing.T) {
	needNode(t)
	const root = "../.."
	program := filepath.Join(t.TempDir(), "infra")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	built := code(t)
	type numbers = map[string]map[string]any
	for _, c := range []struct {
		name  string
		spoil func(numbers)
		says  string
	}{
		{"of the example", func(n numbers) { n["example-web"]["restart_seconds"] = 40 }, "restart budget 40s is not below the detection window 3 x 10s + 5s = 35s"},
		{"of another service", func(n numbers) {
			raw := []byte(text(n["example-web"]))
			other := map[string]any{}
			if err := json.Unmarshal(raw, &other); err != nil {
				t.Fatal(err)
			}
			other["unhealthy_count"] = 1
			n["orders"] = other
		}, "unhealthy count 1: one lost probe"},
	} {
		all := numbers{}
		if err := json.Unmarshal([]byte(readAll(t, thresholdsFile)), &all); err != nil {
			t.Fatal(err)
		}
		c.spoil(all)
		thresholds := write(t, text(all))
		app := []string{program, "-cdk", "cdk.json", "-thresholds", thresholds, "-code", built}
		ways := map[string][]string{"alone": app}
		if _, err := os.Stat(filepath.Join(root, "node_modules", "aws-cdk")); err == nil {
			cdk := []string{"npx", "--no-install", "cdk", "synth", "--quiet", "--build", "true", "--output", filepath.Join(t.TempDir(), "cdk.out"), "--app", strings.Join(app, " ")}
			ways["under the command line"], ways["without validation"] = cdk, append(slices.Clone(cdk), "--no-validation")
		} else {
			t.Log("CDK's command line is not installed: run `npm ci --ignore-scripts` to have it asked too")
		}
		for way, command := range ways {
			t.Run(c.name+", "+way, func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
				cmd.Dir, cmd.Env = root, append(os.Environ(), "CDK_OUTDIR="+t.TempDir(), "CDK_DISABLE_CLI_TELEMETRY=true")
				out, err := cmd.CombinedOutput()
				// The table of a report breaks its lines.
				if said := strings.Join(strings.Fields(string(out)), " "); err == nil || !strings.Contains(said, c.says) {
					t.Errorf("have %v and\n%s\nwant %q", err, out, c.says)
				}
			})
		}
	}
}
