package report_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
	"github.com/holdfast-aws/holdfast/shared/audit/template"
)

// TestTemplatesOfOthers audits every file of the folder that HOLDFAST_AUDIT_CORPUS names, such as templates of public repositories, and
// logs what it finds; docs/audit-corpus.md has the list and what people made of it. A file that is not read is a failure.
func TestTemplatesOfOthers(t *testing.T) {
	dir := os.Getenv("HOLDFAST_AUDIT_CORPUS")
	if dir == "" {
		t.Skip("HOLDFAST_AUDIT_CORPUS names no folder of templates")
	}
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
