package report_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
	"github.com/holdfast-aws/holdfast/shared/audit/template"
)

// TestTemplatesOfOthers audits every file of the folder that HOLDFAST_AUDIT_CORPUS names, such as templates of public repositories, and
// logs what it finds; docs/audit-corpus.md has the list and what people made of it. A file that is not read is a failure, and so is one
// in which something else is found than the list says.
func TestTemplatesOfOthers(t *testing.T) {
	dir := os.Getenv("HOLDFAST_AUDIT_CORPUS")
	if dir == "" {
		t.Skip("HOLDFAST_AUDIT_CORPUS names no folder of templates")
	}
	listed := listedFindings(t)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		t.Run(entry.Name(), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			a, err := template.Read(entry.Name(), text)
			if err != nil {
				t.Fatal(err)
			}
			r := audit.Judge(a, audit.Options{})
			byRule := map[string]int{}
			for _, f := range r.Findings {
				byRule[f.Rule]++
			}
			if want, ok := listed[entry.Name()]; ok && want != summary(byRule) {
				t.Errorf("found are %s, and docs/audit-corpus.md says %s", summary(byRule), want)
			}
			t.Logf("groups %d, target groups %d, alarms %d, findings %d %v, unread %d", r.Groups, r.TargetGroups, len(a.Alarms), len(r.Findings), byRule, len(r.Unread))
			for _, f := range r.Findings {
				t.Logf("%s %s %s %s: %s | %s", f.Rule, f.Severity, f.Kind, f.Name, f.Saw, f.Sum)
			}
			for _, u := range r.Unread {
				t.Logf("unread: %s %s, %s: %s", u.Kind, u.Name, u.What, u.Why)
			}
			var page, sarif, words bytes.Buffer
			for _, err := range []error{report.HTML(&page, r), report.SARIF(&sarif, r, ""), report.Text(&words, r, report.TextOptions{Width: 80})} {
				if err != nil {
					t.Error(err)
				}
			}
			if out := os.Getenv("HOLDFAST_AUDIT_CORPUS_OUT"); out != "" {
				for name, b := range map[string]*bytes.Buffer{".html": &page, ".sarif": &sarif, ".txt": &words} {
					if err := os.WriteFile(filepath.Join(out, strings.TrimSuffix(entry.Name(), name)+name), b.Bytes(), 0o600); err != nil {
						t.Error(err)
					}
				}
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// listedFindings are the findings of docs/audit-corpus.md by the name that each file has in the folder.
func listedFindings(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "audit-corpus.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) == 8 && strings.HasPrefix(cells[1], "`") {
			repository := strings.Replace(strings.TrimPrefix(cells[0], "| "), "/", "+", 1)
			out[repository+"__"+strings.ReplaceAll(strings.Trim(cells[1], "`"), "/", "__")] = cells[5]
		}
	}
	if len(out) < 20 {
		t.Fatalf("docs/audit-corpus.md lists %d templates, want 20 or more", len(out))
	}
	return out
}

// summary writes counts as the list does.
func summary(byRule map[string]int) string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(byRule)) {
		if n := byRule[id]; n > 1 {
			id = fmt.Sprintf("%s x %d", id, n)
		}
		out = append(out, id)
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
