package chaos_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim/chaos"
)

// Environment of the program that is built without protections: which one to leave out, and which seeds to try.
const (
	envWithout = "HOLDFAST_CHAOS_WITHOUT"
	envFrom    = "HOLDFAST_CHAOS_FROM"
	envTo      = "HOLDFAST_CHAOS_TO"
)

// Seeds that are tried for a protection: with the golden file as it is, and when it is made anew.
const (
	searchKept   = 1000
	searchUpdate = 4000
	// searchRedundant is enough to show that taking away a redundant one changes nothing.
	searchRedundant = 300
)

// protection is one thing that stands between the guard and a wrong call.
type protection struct {
	name string
	// o takes it away between the runner and the world; empty for one that is taken out of the source.
	o chaos.Options
	// by are the rules of which one must be broken without it; none means any.
	by []string
	// redundant says why no rule can be broken without it; "" says that one must be.
	redundant string
}

// protections are the gates of the guard, in its order, and the fence.
func protections() []protection {
	out := []protection{}
	for _, r := range []guard.Reason{
		guard.ReasonBlind, guard.ReasonWarmUp, guard.ReasonGrace, guard.ReasonOptedOut, guard.ReasonProtected, guard.ReasonAlertOnly,
		guard.ReasonHoldOnly, guard.ReasonHeld, guard.ReasonDependency, guard.ReasonRefreshing, guard.ReasonCannotReplace,
		guard.ReasonNotConverging, guard.ReasonWaiting, guard.ReasonSignalsDisagree, guard.ReasonConfirming, guard.ReasonLastInstance,
		guard.ReasonInFlight, guard.ReasonBudget, guard.ReasonRegionBudget, guard.ReasonCapacity, guard.ReasonMinHealthy, guard.ReasonMode,
	} {
		out = append(out, protection{name: string(r), redundant: redundant(r)})
	}
	return append(
		out,
		protection{name: "not-converging + " + triggerConverging},
		protection{name: "signals-disagree + confirming", by: []string{"mark-of-one-witness", "mark-of-silence"}},
		protection{name: "mode + confirming", by: []string{"call-in-mode"}},
		protection{name: observing},
		protection{name: secondLook},
		protection{name: lastLoad},
		protection{name: ceilings},
		protection{name: "version of the group's item", o: chaos.Options{Unfenced: true}},
		protection{name: "version of the Region's item", o: chaos.Options{UnfencedRegion: true}, by: []string{"region-budget"}},
		protection{name: "both versions", o: chaos.Options{Unfenced: true, UnfencedRegion: true}, by: []string{"budget", "in-flight", "region-budget", "mark-twice"}},
	)
}

// redundant are gates behind which another one says no in every case. They are there for the reason that people are told; the two are
// taken away together further down.
func redundant(r guard.Reason) string {
	return map[guard.Reason]string{
		guard.ReasonNotConverging:   "the trigger not-converging begins a hold in the same look, so the gate held says no before",
		guard.ReasonSignalsDisagree: "looks that do not find a member broken confirm nothing, so the gate confirming says no after",
		guard.ReasonMode:            "in mode off every confirmation is void, so the gate confirming says no before",
	}[r]
}

// Protections that are no gates. Names that are joined by plus are taken away together.
const (
	triggerConverging = "its trigger"
	observing         = "observe"
	secondLook        = "second look before acting"
	lastLoad          = "last load before acting"
	ceilings          = "compiled ceilings"
)

// cut is one edit of a source file that makes a protection optional. The old text must stand there exactly once.
type cut struct{ file, old, new string }

// ask is the function that is added to a package: whether a protection is to be left out.
const ask = "\n" + `func without(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("` + envWithout + `"), " + "), name)
}` + "\n\n"

func cuts() []cut {
	unless := func(name string) string { return "without(" + strconv.Quote(name) + ")" }
	return []cut{
		{"guard/gate.go", "import (\n", "import (\n\t\"os\"\n"},
		{"guard/gate.go", "func gates() []gate {\n", "func gates() []gate {\n" +
			"\treturn slices.DeleteFunc(allGates(), func(g gate) bool { return without(string(g.reason)) })\n}\n" + ask + "func allGates() []gate {\n"},
		{"guard/budget.go", "n >= k.p.ConvergeFailures {", "n >= k.p.ConvergeFailures && !" + unless(triggerConverging) + " {"},
		{"guard/budget.go", "\tif value <= ceiling {\n", "\tif value <= ceiling || " + unless(ceilings) + " {\n"},
		{"runner/group.go", "import (\n", "import (\n\t\"os\"\n"},
		{"runner/group.go", "// unread lists the reads", ask + "// unread lists the reads"},
		{"runner/group.go", "if j.closed || !irreversible(first) {", "if j.closed || !irreversible(first) || " + unless(secondLook) + " {"},
		{"runner/group.go", "(j *job) overruled(v guard.Verdict) (why string) {\n", "(j *job) overruled(v guard.Verdict) (why string) {\n" +
			"\tif " + unless(lastLoad) + " {\n\t\treturn \"\"\n\t}\n"},
		{"runner/look.go", "if j.policy.Mode == guard.ModeObserve && ", "if !" + unless(observing) + " && j.policy.Mode == guard.ModeObserve && "},
	}
}

// buildWithout builds this package's tests with every protection optional.
func buildWithout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace, texts := map[string]string{}, map[string]string{}
	for _, c := range cuts() {
		path, err := filepath.Abs(filepath.Join("..", "..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if texts[path] == "" {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path], replace[path] = string(source), filepath.Join(dir, strings.ReplaceAll(c.file, "/", "-"))
		}
		if n := strings.Count(texts[path], c.old); n != 1 {
			t.Fatalf("%s has %q %d times, want once: what the test takes away has moved", c.file, c.old, n)
		}
		texts[path] = strings.Replace(texts[path], c.old, c.new, 1)
	}
	for path, text := range texts {
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "chaos.test")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-c", "-overlay", list, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build without the protections: %v\n%s", err, out)
	}
	return binary
}

// find is the first seed of a range that breaks a rule without a protection.
type find struct {
	Seed uint64
	Rule string
	Text string
}

const foundPrefix = "first seed without it: "

// search runs the built program on a range of seeds; false if none of them breaks a rule.
func search(t *testing.T, binary, name string, from, to uint64) (find, bool) {
	t.Helper()
	run := exec.CommandContext(t.Context(), binary, "-test.run", "^TestChaosWithout$", "-test.v")
	run.Env = append(os.Environ(), envWithout+"="+name, envFrom+"="+strconv.FormatUint(from, 10), envTo+"="+strconv.FormatUint(to, 10))
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, text, ok := strings.Cut(line, foundPrefix); ok {
			var f find
			if err := json.Unmarshal([]byte(text), &f); err != nil {
				t.Fatalf("%s: %v in %q", name, err, line)
			}
			return f, true
		}
	}
	return find{}, false
}

// TestChaosWithout is run by TestChaosGates in a program of its own: it looks for the first seed that breaks a rule.
func TestChaosWithout(t *testing.T) {
	name := os.Getenv(envWithout)
	if name == "" {
		t.Skip("run by TestChaosGates")
	}
	from, _ := strconv.ParseUint(os.Getenv(envFrom), 10, 64)
	to, _ := strconv.ParseUint(os.Getenv(envTo), 10, 64)
	var gone protection
	for _, p := range protections() {
		if p.name == name {
			gone = p
		}
	}
	best := find{Seed: to}
	each(t, from, to, gone.o, func(r chaos.Result) bool {
		if n := slices.IndexFunc(r.Violations, func(v chaos.Violation) bool { return len(gone.by) == 0 || slices.Contains(gone.by, v.Rule) }); n >= 0 && r.Seed < best.Seed {
			best = find{r.Seed, r.Violations[n].Rule, r.Violations[n].Text}
		}
		return best.Seed == to
	})
	if best.Seed == to {
		return
	}
	text, err := json.Marshal(best)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(foundPrefix + string(text))
}

var updateFlag = flag.Bool("update", false, "write testdata/gates.txt anew")

// TestChaosGates takes away each protection of the guard, one at a time, and looks for the first seed that breaks a rule. One that is
// not found fails, unless it is redundant, which must be true. The table is kept in testdata/gates.txt, which tells where to look first.
func TestChaosGates(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the guard without its gates: not with -short")
	}
	binary := buildWithout(t)
	kept := readTable(t)
	table := map[string]string{}
	most := uint64(searchKept)
	if *updateFlag {
		most = searchUpdate
	}
	for _, p := range protections() {
		t.Run(p.name, func(t *testing.T) {
			f, found := find{}, false
			if seed, known := kept[p.name]; known && !*updateFlag {
				f, found = search(t, binary, p.name, seed, seed+1)
			}
			limit := most
			if p.redundant != "" {
				limit = min(most, searchRedundant)
			}
			if !found {
				f, found = search(t, binary, p.name, 0, limit)
			}
			switch {
			case found && p.redundant != "":
				t.Errorf("called redundant (%s), but seed %d breaks %s: %s", p.redundant, f.Seed, f.Rule, f.Text)
			case found:
				table[p.name] = fmt.Sprintf("%d\t%s\t%s", f.Seed, f.Rule, f.Text)
			case p.redundant != "":
				table[p.name] = fmt.Sprintf("-\tredundant\t%s", p.redundant)
			default:
				t.Errorf("no seed below %d breaks a rule without it", limit)
			}
		})
	}
	writeTable(t, table)
}

const tablePath = "testdata/gates.txt"

// readTable is the first seed of each protection in the golden file.
func readTable(t *testing.T) map[string]uint64 {
	t.Helper()
	text, err := os.ReadFile(tablePath)
	if err != nil {
		if *updateFlag {
			return nil
		}
		t.Fatal(err)
	}
	out := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		name, rest, ok := strings.Cut(line, " | ")
		first, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if seed, err := strconv.ParseUint(first, 10, 64); ok && err == nil {
			out[strings.TrimSpace(name)] = seed
		}
	}
	return out
}

// writeTable prints the table, and with -update keeps it.
func writeTable(t *testing.T, table map[string]string) {
	t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "taken away\t| first seed\t| rule\t| what was seen\n")
	for _, p := range protections() {
		row := strings.Split(table[p.name]+"\t\t", "\t")
		fmt.Fprintf(w, "%s\t| %s\t| %s\t| %s\n", p.name, row[0], row[1], row[2])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", b.String())
	if !*updateFlag {
		return
	}
	if err := os.MkdirAll(filepath.Dir(tablePath), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tablePath, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
