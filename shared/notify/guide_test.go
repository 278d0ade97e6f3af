package notify_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/report"
)

// pageKeys reads the page keys off guard's source, so that a new one cannot be forgotten here.
func pageKeys(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "guard", "reason.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Page") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, value)
		return true
	})
	if len(keys) < 24 {
		t.Fatalf("%d page keys found, this test looks in the wrong place", len(keys))
	}
	return keys
}

func TestEveryPageKeyHasOneGuide(t *testing.T) {
	var have []string
	for _, g := range notify.Guides(notify.Names{Group: "g", Region: "r"}) {
		have = append(have, g.Key)
	}
	want := append(pageKeys(t), report.KeyAudit)
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("guides %v\nkeys   %v", have, want)
	}
}

func TestEveryGuideIsComplete(t *testing.T) {
	for _, g := range notify.Guides(notify.Names{Group: "web", Region: "eu-west-1", Subject: "s"}) {
		for name, text := range map[string]string{"title": g.Title, "urgency": g.Urgency, "means": g.Means, "did": g.Did, "next": g.Next} {
			if text == "" {
				t.Errorf("%s has no %s", g.Key, name)
			}
		}
		if len(g.Look) == 0 {
			t.Errorf("%s has nothing to look at", g.Key)
		}
		purposes := map[string]int{}
		for _, c := range g.Commands {
			purposes[c.Purpose]++
			if !strings.HasPrefix(c.Line, "aws --region eu-west-1 ") && !strings.HasPrefix(c.Line, "AWS_REGION=eu-west-1 holdfast ") {
				t.Errorf("%s: %s names no Region", g.Key, c.Line)
			}
		}
		if g.OfAccount {
			if purposes[notify.ToLook] < 2 || len(purposes) != 1 {
				t.Errorf("%s: commands for %v, but no group is meant", g.Key, purposes)
			}
			continue
		}
		if purposes[notify.ToLook] < 2 || purposes[notify.ToTune] != 1 || purposes[notify.ToStop] != 1 || purposes[notify.ToStopAll] != 1 || purposes[notify.ToHold]+purposes[notify.ToRelease] != 1 {
			t.Errorf("%s: commands for %v", g.Key, purposes)
		}
		if g.OfHold != (purposes[notify.ToRelease] == 1) {
			t.Errorf("%s: a hold is ended, anything else may be held: %v", g.Key, purposes)
		}
		if g.OfHold && g.Key == guard.PageReleased {
			t.Error("released is of no hold: it is the end of one")
		}
	}
}

// TestWhatTheGuidesTuneIsAPolicy keeps the examples honest: each of them is accepted as a group's layer.
func TestWhatTheGuidesTuneIsAPolicy(t *testing.T) {
	for _, g := range notify.Guides(notify.Names{Group: "web", Region: "r"}) {
		tuned := 0
		for _, c := range g.Commands {
			rest, ok := strings.CutPrefix(c.Line, "AWS_REGION=r holdfast tune web ")
			if !ok || rest == "KEY=VALUE" {
				continue
			}
			tuned++
			doc := map[string]any{}
			for _, pair := range strings.Fields(rest) {
				key, value, _ := strings.Cut(pair, "=")
				doc[key] = value
				if n, err := strconv.Atoi(value); err == nil {
					doc[key] = n
				} else if b, err := strconv.ParseBool(value); err == nil {
					doc[key] = b
				}
			}
			raw, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			res := guard.Resolve([]guard.Layer{{Name: guard.LayerGroups + "web", Raw: raw}}, guard.Switch{Value: guard.ModeAct, Found: true})
			if len(res.Problems) > 0 {
				t.Errorf("%s: %s: %v", g.Key, c.Line, res.Problems)
			}
		}
		if tuned == 0 && !g.OfAccount {
			t.Errorf("%s tunes nothing", g.Key)
		}
	}
}

// TestCommandsSurviveAShell gives the commands names that a shell would take apart.
func TestCommandsSurviveAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here")
	}
	for _, name := range []string{"plain-name_1.x", "it's", `$(id)`, "`id`", `a"b\c`, "*", "-rf", "a;b|c&d", "!x", "~", "#x"} {
		n := noticeOf(guard.PageHeld)
		n.Group = name
		line := notify.GuideOf(n).Commands[0].Line
		out, err := exec.Command(sh, "-c", `show() { printf '%s\n' "$#" "$2"; }; `+strings.Replace(line, "holdfast", "show", 1)).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if have := string(out); have != "2\n"+name+"\n" {
			t.Errorf("%s gives %q", line, have)
		}
	}
}

// TestEveryCommandOfHoldfastNamesItsTable is for a shell that has credentials and nothing else set.
func TestEveryCommandOfHoldfastNamesItsTable(t *testing.T) {
	for _, g := range notify.Guides(notify.Names{Group: "web", Region: "eu-west-1", Subject: "s", StateTable: "holdfast-state"}) {
		for _, c := range g.Commands {
			if !strings.HasPrefix(c.Line, "aws --region eu-west-1 ") && !strings.HasPrefix(c.Line, "AWS_REGION=eu-west-1 HOLDFAST_STATE_TABLE=holdfast-state holdfast ") {
				t.Errorf("%s: %s", g.Key, c.Line)
			}
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here")
	}
	for _, table := range []string{"arn:aws:dynamodb:eu-west-1:111122223333:table/holdfast-state", "it's $(id) odd"} {
		line := notify.Guides(notify.Names{Group: "web", Region: "r", StateTable: table})[0].Commands[0].Line
		out, err := exec.Command(sh, "-c", strings.Replace(line, "holdfast status", `sh -c 'printf %s "$HOLDFAST_STATE_TABLE"'`, 1)).Output()
		if err != nil || string(out) != table {
			t.Errorf("%s gives %q, %v", line, out, err)
		}
	}
}
