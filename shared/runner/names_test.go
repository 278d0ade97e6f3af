package runner_test

import (
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// names are of groups; AWS allows almost any printable character but the colon and the space.
func names() []string {
	return []string{"team/web", "/", "a*b", `q"u'o`, "-", "%2F", "autoScalingGroupName/x", "{}$<>|&;"}
}

func TestAGroupOfAnyNameIsGuardedAndMissedByThatName(t *testing.T) {
	for _, name := range names() {
		t.Run(strings.ReplaceAll(name, "/", "|"), func(t *testing.T) {
			b := newBench()
			g := b.Add(name, 8)
			b.Add("other", 4)
			b.ticks(t, 7)
			b.Break(g, 0)
			b.before(t, guard.ActMark)
			g.Policy = `{"mode":"observe"}`
			if b.look(t, nil); len(b.Done) != 0 {
				t.Errorf("its own policy was not found: %+v", b.Done)
			}
			g.Policy = ""
			b.ticks(t, 3)
			if len(b.Done) != 1 || b.Done[0].Group != name || b.Done[0].Op != guard.ActMark {
				t.Errorf("calls %+v, want one mark in %s", b.Done, name)
			}
			g.Gone = true
			sum := b.tick(t)
			if r := groupResult(t, sum, name); !strings.Contains(r.Failure, "not any more") {
				t.Errorf("%+v", r)
			}
			told := b.pages(guard.PageConfig)
			if len(told) != 1 || told[0].Group != name || !strings.HasPrefix(told[0].Text, name+" was guarded") {
				t.Errorf("told %+v, want the group %s by its name", told, name)
			}
		})
	}
}
