package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheHelpOfEveryCommandShowsItsFlagsWithTwoDashes(t *testing.T) {
	single := regexp.MustCompile(`(?m)^\s*-[a-z]`)
	for _, c := range commands() {
		code, out, errOut := holdfast(t, c.name, "--help")
		if code != exitOK || errOut != "" || !strings.HasPrefix(out, "usage: holdfast "+c.name) || !strings.Contains(out, c.about) {
			t.Errorf("%s: exit %d, %q, %q", c.name, code, out, errOut)
		}
		bare := c.name == "limits" || c.name == "version"
		if !bare && !strings.Contains(out, "\nflags:\n  --") || single.MatchString(out) {
			t.Errorf("%s: the flags are not shown as they are typed:\n%s", c.name, out)
		}
		if _, byName, _ := holdfast(t, "help", c.name); byName != out {
			t.Errorf("%s: help by its name says\n%s", c.name, byName)
		}
	}
	for name, says := range map[string]string{
		"tune": `hold_processes='["ReplaceUnhealthy","HealthCheck"]'`, "timing": "examples of Holdfast's", "hold": "or the account's name", "status": "HOLDFAST_SWEEP_INTERVAL", "gameday": "  bad-launch-template, ",
		"defaults": "correlated_percent,", "demo": "no AWS account",
	} {
		if _, out, _ := holdfast(t, name, "-h"); !strings.Contains(out, says) {
			t.Errorf("the help of %s does not say %q:\n%s", name, says, out)
		}
	}
}

func TestTheUsageLineNamesEveryFlagOrSaysThatThereAreMore(t *testing.T) {
	shown := regexp.MustCompile(`(?m)^  (--[a-z-]+) ?(\S*)$`)
	for _, c := range commands() {
		_, out, _ := holdfast(t, c.name, "--help")
		for _, f := range shown.FindAllStringSubmatch(out, -1) {
			if !strings.Contains(c.usage, f[1]) && !strings.Contains(c.usage, "[FLAG...]") {
				t.Errorf("%s has %s, and its usage is %s", c.name, f[1], c.usage)
			}
			if slices.Contains([]string{"string", "int", "uint", "float", "value"}, f[2]) {
				t.Errorf("%s: %s takes a %s, which is a word of the program's own language", c.name, f[1], f[2])
			}
		}
		for _, f := range regexp.MustCompile(`--[a-z-]+`).FindAllString(c.usage, -1) {
			if !strings.Contains(out, "\n  "+f) {
				t.Errorf("%s: its usage names %s, which it does not have", c.name, f)
			}
		}
	}
}

func TestTheOverviewSaysWhereTheFlagsStand(t *testing.T) {
	code, out, errOut := holdfast(t, "--help")
	if code != exitOK || errOut != "" || !strings.Contains(out, "holdfast COMMAND --help") || !strings.Contains(out, "Exit code: 0 ") {
		t.Errorf("exit %d, %q\n%s", code, errOut, out)
	}
	if code, out, errOut := holdfast(t, "help", "nonsense"); code != exitUsage || out != "" || !strings.HasPrefix(errOut, `holdfast: unknown command "nonsense"`) {
		t.Errorf("exit %d, %q, %q", code, out, errOut)
	}
}

func TestEveryComplaintBeginsWithTheCommand(t *testing.T) {
	for _, c := range commands() {
		for _, args := range [][]string{{"--no-such-flag"}, {"--seed=x", "--interval=x", "--dry-run=x"}, {"a", "b", "c", "--html"}} {
			code, out, errOut := holdfast(t, append([]string{c.name}, args...)...)
			if code != exitUsage || out != "" || !strings.HasPrefix(errOut, "holdfast "+c.name+": ") {
				t.Errorf("%s %v: exit %d, %q, %q", c.name, args, code, out, errOut)
			}
		}
	}
}

func TestAWrongFlagIsToldWithItsRule(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"simulate brownout --seed x", `holdfast simulate: --seed: "x", want a whole number of 0 or more`},
		{"simulate brownout --seed -1", `holdfast simulate: --seed: "-1", want a whole number of 0 or more`},
		{"simulate brownout --seed", "holdfast simulate: --seed has no value, want a whole number of 0 or more"},
		{"simulate brownout --html", "holdfast simulate: --html has no value, want a text"},
		{"replay --quiet=perhaps x.yaml", `holdfast replay: --quiet: "perhaps", want true or false`},
		{"replay --yaml x.yaml", "holdfast replay: unknown flag --yaml"},
		{"demo ---seed", "holdfast demo: bad flag syntax: ---seed"},
	} {
		code, out, errOut := holdfast(t, strings.Fields(c.args)...)
		if first, _, _ := strings.Cut(errOut, "\n"); code != exitUsage || out != "" || first != c.says {
			t.Errorf("%s: exit %d, %q\nhave %s\nwant %s", c.args, code, out, first, c.says)
		}
	}
}

func TestAnEmptyTextIsNoValue(t *testing.T) {
	for command, flags := range map[string]string{
		"audit": "from template dump thresholds acknowledged html sarif region group", "gameday": "days guardians markdown json html",
		"defaults": "keys markdown", "simulate brownout": "html", "demo": "html",
	} {
		words := strings.Fields(command)
		for _, name := range strings.Fields(flags) {
			code, out, errOut := holdfast(t, append(words, "--"+name, "")...)
			want := "holdfast " + words[0] + ": --" + name + ": \"\", want a text\nusage: "
			if code != exitUsage || out != "" || !strings.HasPrefix(errOut, want) {
				t.Errorf("%s --%s: exit %d, %q, %q", command, name, code, out, errOut)
			}
		}
	}
	code, _, errOut := holdfast(t, "audit", "--fail-on=")
	if !strings.HasPrefix(errOut, `holdfast audit: --fail-on: "", want critical, high, medium or low`) || code != exitUsage {
		t.Errorf("exit %d, %q", code, errOut)
	}
}

func TestNoLineOfTheOverviewEndsInASpace(t *testing.T) {
	_, out, _ := holdfast(t, "help")
	for _, line := range strings.Split(out, "\n") {
		if strings.HasSuffix(line, " ") {
			t.Errorf("%q", line)
		}
	}
}
