package audit_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// read returns a file of this package's test data.
func read(tb testing.TB, path ...string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func dump(tb testing.TB, path ...string) audit.Account {
	tb.Helper()
	a, err := audit.DecodeAccount(read(tb, path...))
	if err != nil {
		tb.Fatalf("%s: %v", filepath.Join(path...), err)
	}
	return a
}

func options(tb testing.TB) audit.Options {
	tb.Helper()
	promises, err := audit.DecodePromises(read(tb, "thresholds.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return audit.Options{Promises: promises}
}

// golden compares text with a file, or writes the file.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if text != string(want) {
		t.Errorf("%s is not what comes out; look at the difference, then write it with -update\n--- have\n%s\n--- want\n%s", path, text, want)
	}
}

// of picks the findings of one rule.
func of(r audit.Report, rule string) []audit.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f audit.Finding) bool { return f.Rule != rule })
}

// shown is a finding as text, with everything that it says.
func shown(r audit.Rule, f audit.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  %s %s\n%s\n", f.Rule, f.Severity, f.Kind, f.Name, r.Title)
	for _, line := range [][2]string{
		{"saw", f.Saw}, {"sum", f.Sum}, {"why", r.Why}, {"source", r.Source}, {"console", f.Fix.Console}, {"command", strings.ReplaceAll(f.Fix.CLI, "\n", "\n           ")},
		{"CDK", f.Fix.CDK}, {"Terraform", f.Fix.Terraform},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "  %-11s%s\n", line[0], line[1])
		}
	}
	return b.String()
}

func TestEveryRuleHasADumpThatBreaksItOneJustInsideAndItsText(t *testing.T) {
	o := options(t)
	for _, r := range audit.Rules() {
		t.Run(r.ID+" "+r.Name, func(t *testing.T) {
			broken := audit.Judge(dump(t, "rules", r.ID, "broken.json"), o)
			found := of(broken, r.ID)
			if len(found) == 0 {
				t.Fatal("the broken dump breaks nothing")
			}
			if inside := of(audit.Judge(dump(t, "rules", r.ID, "inside.json"), o), r.ID); len(inside) > 0 {
				t.Errorf("the dump just inside the limit breaks it: %s", inside[0].Saw)
			}
			var text strings.Builder
			for _, f := range found {
				text.WriteString(shown(r, f))
			}
			var others []string
			for _, f := range broken.Findings {
				if f.Rule != r.ID {
					others = append(others, f.Rule)
				}
			}
			fmt.Fprintf(&text, "the same dump breaks also: %s\n", strings.Join(slices.Compact(others), " "))
			golden(t, filepath.Join("testdata", "rules", r.ID, "text.golden"), text.String())
		})
	}
}

// TestTheTwoDumpsOfARuleAreNeighbours keeps "just inside" honest: the two dumps differ in a few lines only.
func TestTheTwoDumpsOfARuleAreNeighbours(t *testing.T) {
	const most = 8
	for _, r := range audit.Rules() {
		broken, inside := strings.Split(string(read(t, "rules", r.ID, "broken.json")), "\n"), strings.Split(string(read(t, "rules", r.ID, "inside.json")), "\n")
		count := map[string]int{}
		for _, line := range broken {
			count[strings.TrimRight(line, ",")]++
		}
		for _, line := range inside {
			count[strings.TrimRight(line, ",")]--
		}
		differ := 0
		for _, n := range count {
			differ += max(n, -n)
		}
		if differ == 0 || differ > 2*most {
			t.Errorf("%s: the dumps differ in %d lines, want 1 to %d on each side", r.ID, differ, most)
		}
	}
}

func TestEveryRuleSaysAllThatAPersonNeeds(t *testing.T) {
	id, name := regexp.MustCompile(`^HF\d{3}$`), regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	place, resourceType := regexp.MustCompile(`\{(name|arn|detail)\}`), regexp.MustCompile(`AWS::[A-Za-z0-9]+::[A-Za-z]+`)
	seen := map[string]bool{}
	for i, r := range audit.Rules() {
		if want := fmt.Sprintf("HF%03d", i+1); r.ID != want || !id.MatchString(r.ID) {
			t.Errorf("rule %d has id %s, want %s", i, r.ID, want)
		}
		if !name.MatchString(r.Name) || seen[r.Name] {
			t.Errorf("%s: name %q is none, or stands twice", r.ID, r.Name)
		}
		seen[r.Name] = true
		if !slices.Contains([]audit.Severity{audit.Critical, audit.High, audit.Medium, audit.Low}, r.Severity) {
			t.Errorf("%s: severity %q", r.ID, r.Severity)
		}
		for what, text := range map[string]string{
			"title": r.Title, "why": r.Why, "source": r.Source, "console": r.Fix.Console, "CLI": r.Fix.CLI, "CloudFormation": r.Fix.CloudFormation, "CDK": r.Fix.CDK, "Terraform": r.Fix.Terraform,
		} {
			if len(text) < 10 {
				t.Errorf("%s: %s is %q", r.ID, what, text)
			}
		}
		if !resourceType.MatchString(r.Fix.CloudFormation) && !strings.Contains(r.Fix.CloudFormation, "no property") {
			t.Errorf("%s: names no type of CloudFormation and does not say that there is none: %s", r.ID, r.Fix.CloudFormation)
		}
		if !place.MatchString(r.Fix.CLI) {
			t.Errorf("%s: the command names no resource: %s", r.ID, r.Fix.CLI)
		}
	}
}

func TestTheNumbersOfAFindingStandInItsPropertiesToo(t *testing.T) {
	found := of(audit.Judge(dump(t, "rules", "HF005", "broken.json"), options(t)), "HF005")
	want := regexp.MustCompile(`^AWS::AutoScaling::AutoScalingGroup: \{ HealthCheckGracePeriod: [1-9]\d* \}$`)
	if len(found) != 1 || !want.MatchString(found[0].Fix.CloudFormation) {
		t.Errorf("findings %+v", found)
	}
}

func TestEveryFolderOfDumpsIsARule(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join("testdata", "rules"))
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for _, r := range audit.Rules() {
		rules[r.ID] = true
	}
	for _, f := range folders {
		if !rules[f.Name()] {
			t.Errorf("dumps of %s, which is no rule", f.Name())
		}
	}
}

// deepPaths says which paths count as deep, from the code that judges them.
func deepPaths() string {
	return "A path is deep by one of these words in it, whole and in any case: `" + strings.Join(timing.DeepWords(), "`, `") + "`.\n" +
		"`/ready` and `/health?check=db` are deep, `/already` is not. `" + timing.ActuatorPath + "`, Spring Boot's whole health endpoint, asks each indicator that Spring Boot finds something for; it is found as high, because an\n" +
		"application without any asks little more than its disk, and so is `/`, the front page. `" + timing.ActuatorPath + "/liveness` is not found. HF006 takes the same paths for deep.\n"
}

func TestTheListOfRulesInTheDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What the audit looks for\n\n" +
		"Written from the rules themselves: `go test ./shared/audit -run Docs -update`. In commands, `{name}` and `{arn}` stand for the resource, `{detail}` for what else\n" +
		"the finding names; a finding has them filled in and quoted for a shell. Unknown is never a finding: it is listed as unread.\n\n" +
		"| id | severity | what |\n|---|---|---|\n")
	rules := audit.Rules()
	for _, r := range rules {
		fmt.Fprintf(&b, "| [%s](#%s-%s) | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Name, r.Severity, r.Title)
	}
	for _, r := range rules {
		fmt.Fprintf(&b, "\n## %s %s\n\n**%s** (%s). %s\n\nSource: %s.\n\n- Console: %s\n- CloudFormation: `%s`\n- CDK: `%s`\n- Terraform: `%s`\n\n```sh\n%s\n```\n",
			r.ID, r.Name, r.Title, r.Severity, r.Why, r.Source, r.Fix.Console, r.Fix.CloudFormation, r.Fix.CDK, r.Fix.Terraform, r.Fix.CLI)
		if r.ID == "HF001" {
			b.WriteString("\n" + deepPaths())
		}
	}
	golden(t, filepath.Join("..", "..", "docs", "audit-rules.md"), b.String())
}
