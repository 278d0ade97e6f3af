package collect_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// TestTheDocumentNamesEveryCallThatIsMade keeps the list of permissions true: it is what people paste into a role.
func TestTheDocumentNamesEveryCallThatIsMade(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "audit.md"))
	must(t, err)
	var want []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if service, call, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(line, " `|[{") && service != "" && call != "" {
			want = append(want, line)
		}
	}
	l := newLab(t)
	l.fleet(t)
	l.notices(t)
	l.SetStatusChecks(world.StatusCheck{ID: "asc-1", Path: "/"})
	l.Do(func(c *sim.Cloud) { must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy})) })
	before := l.Calls()
	o := l.options()
	o.Metrics = true
	l.read(t, o)
	var have []string
	for call, n := range l.Calls() {
		if n > before[call] {
			have = append(have, call)
		}
	}
	slices.Sort(have)
	if !slices.Equal(have, want) || len(have) < 15 {
		t.Errorf("made are\n%s\nnamed are\n%s\nall so far %v", strings.Join(have, "\n"), strings.Join(want, "\n"), slices.Sorted(maps.Keys(l.Calls())))
	}
}
